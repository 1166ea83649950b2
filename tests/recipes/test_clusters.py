"""Questions that belong together: intervals of clusters, in every dialect, on the command line and in a task file."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.ir import Exchange, Failure
from proctor.ir.question import Answered, Question
from proctor.recipes.clusters import graded_in_clusters
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score
from proctor.statistics.two_level import clustered_error, two_level

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


def regraded(values, keys, *, unit="share", main=True, scale=1.0, whole_corpus=False, flat=None):
    """Grade instances whose scores are given, in clusters."""
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) * scale if known else math.nan
    score = Score("acc,none", 0.123 if whole_corpus else mean, low=mean - 1, high=mean + 1, stderr=0.7, unit=unit)
    other = Score("f1", 0.25, low=0.2, high=0.3)
    first = {"score": mean, "score_ci_low": 1, "score_ci_high": 2, "acc,none_ci_low": 1, "acc,none_ci_high": 2}
    grade = Grade(
        {**first, "acc_stderr,none": 0.7, "f1_ci_low": 0.2, **(flat or {})}, {"acc,none": list(values)},
        table=[other, score], main=score if main else None,
    )  # fmt: skip
    answered = [Answered(Question(n, {"by": key}, Exchange(()), ()), ()) for n, key in enumerate(keys)]
    return graded_in_clusters(lambda given: list(given) and grade, answered, "by")


@pytest.mark.parametrize("unit, scale", [("share", 1.0), ("percent", 100.0)])
def test_a_score_that_is_no_mean_keeps_its_own_interval_and_is_named(unit, scale):
    values, keys = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0], list("aabbcc")
    found = regraded(values, keys, unit=unit, scale=scale)
    level = two_level([[value] for value in values], keys)
    low, high = (scale * bound for bound in level.interval())
    assert found.main == found.table[1]
    assert (found.main.low, found.main.high, found.main.stderr) == pytest.approx((low, high, scale * level.error))
    assert (found.main.value, found.main.name, found.main.unit) == (pytest.approx(scale * 4 / 6), "acc,none", unit)
    assert found.table[0] == Score("f1", 0.25, low=0.2, high=0.3)
    assert found.scores == {
        "score": pytest.approx(scale * 4 / 6), "f1_ci_low": 0.2, "acc_stderr,none": found.main.stderr,
        **{f"{name}_ci_{end}": getattr(found.main, end) for name in ("score", "acc,none") for end in ("low", "high")},
        "clusters": {"by": "by", "count": 3, "stderr": found.main.stderr, "without": ["f1"]},
    }  # fmt: skip


def test_instances_in_percent_have_the_interval_of_shares_in_percent():
    keys = list("aabbcc")
    shares = regraded([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], keys).main
    percent = regraded([100.0, 0.0, 100.0, 100.0, 0.0, 100.0], keys, unit="percent").main
    assert (percent.low, percent.high, percent.stderr) == pytest.approx(
        (100 * shares.low, 100 * shares.high, 100 * shares.stderr)
    )
    raw = regraded([7.0, 3.0, 7.0, 7.0, 3.0, 7.0], keys, unit="raw").main
    assert (raw.low + raw.high) / 2 == pytest.approx(raw.value)
    small = regraded([0.7, 0.3, 0.7, 0.7, 0.3, -0.7], keys, unit="raw").main
    assert (small.low + small.high) / 2 == pytest.approx(small.value)


def test_instances_without_a_score_are_in_no_cluster():
    with_gaps = regraded([1.0, None, 0.0, None, 1.0, 0.0], ["a", "z", "a", "b", "b", "c"])
    without = regraded([1.0, 0.0, 1.0, 0.0], list("aabc"))
    assert with_gaps.main == without.main
    assert with_gaps.scores["clusters"] == without.scores["clusters"]
    assert without.scores["clusters"]["count"] == 3


def test_one_cluster_says_nothing_of_an_error():
    found = regraded([1.0, 0.0, 1.0], "aaa")
    assert (found.main.low, found.main.high, found.main.stderr) == (None, None, None)
    assert not [name for name in found.scores if name.startswith(("score_ci", "acc,none_ci"))]
    assert found.scores["acc_stderr,none"] == "N/A"
    assert found.scores["clusters"] == {"by": "by", "count": 1, "stderr": None, "without": ["f1"]}


def test_clusters_of_equal_means_have_an_interval_where_scores_have_an_end():
    shares = regraded([1.0, 0.0] * 3, "aabbcc")
    assert 0 < shares.main.low < 0.5 < shares.main.high < 1
    assert shares.main.stderr == 0.0
    endless = regraded([7.0, 3.0] * 3, "aabbcc", unit="raw")
    assert (endless.main.low, endless.main.high) == (None, None)
    assert "score_ci_low" not in endless.scores


def test_what_is_not_a_mean_of_instances_has_no_clusters():
    whole = regraded([1.0, 0.0], "ab", whole_corpus=True)
    assert "'acc,none' is not a mean of instances" in whole.metric_failures["clusters"].message
    assert not whole.metric_failures["clusters"].retryable
    assert (whole.main.low, whole.scores["score_ci_low"]) == (-0.5, 1)
    fewer = regraded([1.0, 0.0], "abc")
    assert "clusters" in fewer.metric_failures
    for nothing in (regraded([1.0, 0.0], "ab", main=False), regraded([None, None], "ab")):
        assert not nothing.metric_failures
        assert "clusters" not in nothing.scores


def test_rows_that_belong_together_are_known_by_any_value():
    values = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    wanted = regraded(values, "aabbcc").main
    for one, two, three in (([1], [2], [3]), (1, 2, 3), ({"x": 1}, {"x": 2}, {"x": [3]}), ("x", True, [])):
        assert regraded(values, [one, one, two, two, three, three]).main == wanted
    failed = Answered(Question(0, {}, Exchange(()), (), failure=Failure("row", "torn")), ())
    grade = regraded(values, "aabbcc")
    clusters = graded_in_clusters(lambda given: list(given) and grade, [failed] * 6, "by").scores["clusters"]
    assert (clusters["count"], clusters["instances_without_key"]) == (6, 6)


@pytest.mark.parametrize("missing", [None, ""])
def test_a_row_without_a_key_belongs_to_no_other_and_is_counted(missing):
    values = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    found = regraded(values, ["a", "a", missing, missing, "b", "b"])
    assert found.scores["clusters"]["count"] == 4
    assert found.scores["clusters"]["instances_without_key"] == 2
    assert found.main.low == regraded(values, "aacdbb").main.low
