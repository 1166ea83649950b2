"""Questions that belong together: intervals of clusters, in every dialect, on the command line and in a task file."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.statistics.two_level import clustered_error

TEXTS, EACH = 12, 5
RIGHT = [float(text % 3 != 0) for text in range(TEXTS) for _ in range(EACH)]  # all questions on a text alike


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"q": f"{text} {n}", "a": "yes" if text % 3 else "no", "text": f"t{text}"}
        for text in range(TEXTS)
        for n in range(EACH)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = (
        "task: {name}\ndataset_path: json\ndataset_kwargs: {{data_files: {{test: rows.jsonl}}}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{{{q}}}}'\ndoc_to_target: '{{{{a}}}}'\n"
        "generation_kwargs: {{until: [x], max_gen_toks: 4}}\nmetric_list: [{{metric: exact_match}}]\n{more}"
    )
    (tmp_path / "plain.yaml").write_text(base.format(name="plain", more=""))
    (tmp_path / "own.yaml").write_text(base.format(name="own", more="clusters: text\n"))
    (tmp_path / "cfg.py").write_text(
        "datasets = [dict(type='CustomDataset', abbr='cfg', path='rows.jsonl',\n"
        "  reader_cfg=dict(input_columns=['q'], output_column='a'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )


def entry(task, tmp_path, answer="yes", **options):
    exams = resolve_tasks([task], ExamOptions(**options))
    result = run_exams(exams, ScriptedEngine(answer=answer), log=tmp_path / "l.db")
    (found,) = result.results.values()
    return found


@pytest.mark.parametrize("task, unit", [("plain.yaml", 1), ("cfg.py", 100)])
def test_intervals_are_those_of_clusters(tasks, tmp_path, task, unit):
    alone, together = entry(task, tmp_path), entry(task, tmp_path, clusters="text")
    error, count = clustered_error(RIGHT, [n // EACH for n in range(len(RIGHT))])
    assert together["clusters"] == {"by": "text", "count": TEXTS, "stderr": pytest.approx(error * unit)}
    assert count == TEXTS
    assert together["score"] == alone["score"] == pytest.approx(np.mean(RIGHT) * unit)
    wide = together["score_ci_high"] - together["score_ci_low"]
    assert wide > 1.5 * (alone["score_ci_high"] - alone["score_ci_low"])
    main = together["score_name"]
    assert [together[f"{main}{end}"] for end in ("_ci_low", "_ci_high")] == pytest.approx(
        [together["score_ci_low"], together["score_ci_high"]]
    )


def test_a_task_file_says_it_itself(tasks, tmp_path):
    own, given = entry("own.yaml", tmp_path), entry("plain.yaml", tmp_path, clusters="text")
    assert own["clusters"] == given["clusters"]
    (stderr,) = [value for name, value in own.items() if "_stderr" in name]
    assert stderr == own["clusters"]["stderr"]


def test_clusters_and_repeats_go_together(tasks, tmp_path):
    found = entry("plain.yaml", tmp_path, clusters="text", repeats=2)
    assert found["clusters"]["count"] == TEXTS
    assert found["repeats"]["repeats"] == 2


def test_one_cluster_has_no_interval(tasks, tmp_path):
    found = entry("plain.yaml", tmp_path, clusters="text", limit=EACH)
    assert "score_ci_low" not in found
    assert found["clusters"] == {"by": "text", "count": 1, "stderr": None}


def test_a_field_that_there_is_not_is_refused_before_anybody_is_asked(tasks, tmp_path):
    with pytest.raises(ProctorError, match="txet"):
        entry("plain.yaml", tmp_path, clusters="txet")


def test_a_score_of_a_whole_corpus_says_that_it_has_no_clusters(tmp_path):
    found = entry("samples.sentiment", tmp_path, "positive", clusters="text")
    assert "not a mean of instances" in found["metric_failures"]["clusters"]
    assert not math.isnan(found["score"])


def put_eval_yaml(folder, **more):
    import pyarrow as pa
    import yaml
    from pyarrow import parquet

    place = folder / "org" / "data"
    place.mkdir(parents=True)
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    parquet.write_table(pa.Table.from_pylist(rows), place / "test-00000-of-00001.parquet")
    task = {
        "id": "write",
        "field_spec": {"input": "q", "target": "a", "metadata": ["text"]},
        "solvers": [{"name": "generate"}],
        "scorers": [{"name": "exact"}],
        **more,
    }
    (place / "eval.yaml").write_text(yaml.safe_dump({"evaluation_framework": "inspect-ai", "tasks": [task]}))
    return str(place / "eval.yaml")


def test_an_eval_yaml_says_it_itself(tasks, tmp_path):
    found = entry(put_eval_yaml(tmp_path, clusters="text"), tmp_path)
    assert (found["clusters"]["by"], found["clusters"]["count"]) == ("text", TEXTS)
    assert found["score_ci_high"] - found["score_ci_low"] > 0.3


def test_an_eval_yaml_with_clusters_that_are_no_text_is_refused(tasks, tmp_path):
    with pytest.raises(ProctorError, match="clusters is 3"):
        entry(put_eval_yaml(tmp_path, clusters=3), tmp_path)


def test_a_config_says_it_itself(tasks, tmp_path):
    plain = (tmp_path / "cfg.py").read_text()
    (tmp_path / "own.py").write_text(plain.replace("abbr='cfg'", "abbr='own', clusters='text'"))
    own, given = entry("own.py", tmp_path), entry("cfg.py", tmp_path, clusters="text")
    assert own["clusters"] == given["clusters"]
    assert (own["score_ci_low"], own["score_ci_high"]) == (given["score_ci_low"], given["score_ci_high"])
    (tmp_path / "bad.py").write_text(plain.replace("abbr='cfg'", "abbr='bad', clusters=3"))
    with pytest.raises(ProctorError, match="clusters is 3"):
        entry("bad.py", tmp_path)


def test_a_recipe_says_it_itself(tmp_path):
    own = entry("samples.science[clusters=topic]", tmp_path, "A")
    given = entry("samples.science", tmp_path, "A", clusters="topic")
    assert own["clusters"] == given["clusters"]
    assert own["clusters"]["by"] == "topic"
