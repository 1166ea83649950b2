"""The same questions in five dialects: ``compare`` pairs them by what they hold, whatever the order, and in one unit."""

import itertools
import json
import re

import pytest
import yaml

from proctor.cli.__main__ import main

ROWS = [{"question": f"Is {n} even or odd?", "answer": ("even", "odd")[n % 2]} for n in range(12)]


def as_csv(folder, rows):
    lines = "".join(f"{row['question']},{row['answer']}\n" for row in rows)
    (folder / "parity.csv").write_text(f"question,answer\n{lines}")
    return str(folder / "parity.csv")


def as_jsonl(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def as_yaml(folder, rows):
    task = {
        "task": "parity_yaml",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(as_jsonl(folder, rows))}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "Q: {{question}}",
        "doc_to_target": "{{answer}}",
        "metric_list": [{"metric": "exact_match"}],
    }
    (folder / "parity.yaml").write_text(yaml.safe_dump(task))
    return str(folder / "parity.yaml")


def as_config(folder, rows):
    as_jsonl(folder, rows)
    (folder / "parity.py").write_text(
        f"""
datasets = [dict(
    abbr="parity_config", type="CustomDataset", path={str(folder / "rows.jsonl")!r},
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(
        prompt_template=dict(type="PromptTemplate", template="Say: {{question}}"),
        retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="AccEvaluator")),
)]
"""
    )
    return str(folder / "parity.py")


def as_recipe(folder, rows):
    loader = {"__type__": "load_json_file", "files": {"test": str(as_jsonl(folder, rows))}, "lines": True}
    fields = {"input_fields": {"question": "str"}, "reference_fields": {"answer": "str"}, "prediction_type": "str"}
    task = {"__type__": "task", **fields, "metrics": ["metrics.accuracy"]}
    template = {"__type__": "input_output_template", "input_format": "{question}", "output_format": "{answer}"}
    card = {"__type__": "task_card", "loader": loader, "task": task, "templates": [template]}
    (folder / "recipe.json").write_text(
        json.dumps({"__type__": "dataset_recipe", "card": card, "template_card_index": 0})
    )
    return str(folder / "recipe.json")


def as_eval_yaml(folder, rows):
    place = folder / "hub" / "org" / "parity"
    place.mkdir(parents=True, exist_ok=True)
    (place / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    task = {"id": "parity", "split": "test", "field_spec": {"input": "question", "target": "answer"}}
    task |= {"solvers": [{"name": "generate"}], "scorers": [{"name": "match", "args": {"location": "exact"}}]}
    (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [task]}))
    return "hf/org/parity"


DIALECTS = {"csv": as_csv, "yaml": as_yaml, "config": as_config, "recipe": as_recipe, "eval.yaml": as_eval_yaml}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run folder of a dialect with some rows; each made once."""
    made = {}

    def make(dialect, name="all", rows=ROWS):
        if (dialect, name) not in made:
            folder = tmp_path_factory.mktemp(dialect.replace(".", "_"))
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PROCTOR_HUB_DIR", str(folder / "hub"))
                exam = DIALECTS[dialect](folder, rows)
                words = ["run", "--tasks", exam, "--model", "scripted", "--model-args", "answer=even"]
                assert main([*words, "--log", str(folder / "log.db"), "--output", str(folder / dialect)]) == 0
            made[dialect, name] = folder / dialect
        return made[dialect, name]

    return make


def compared(capsys, one, two):
    capsys.readouterr()
    assert main(["compare", str(one), str(two)]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 60
    assert main(["compare", str(one), str(two), "--json"]) == 0
    return text, json.loads(capsys.readouterr().out)


PAIRS = list(itertools.combinations(DIALECTS, 2))


@pytest.mark.parametrize("one, two", PAIRS)
def test_the_same_answers_in_two_dialects_do_not_differ(one, two, run, capsys):
    text, found = compared(capsys, run(one), run(two))
    assert f"on {len(ROWS)} common instances" in text, text
    assert re.search(r"B - A +\+0\.0000 +95% -\d", text), text
    assert re.search(r"p +1\.0000 +McNemar, exact", text), text
    assert '"difference": 0.0' in json.dumps(found)


@pytest.mark.parametrize("one, two", PAIRS)
def test_a_row_less_on_one_side_leaves_the_others_paired(one, two, run, capsys):
    text, _ = compared(capsys, run(one), run(two, "less", ROWS[1:]))
    assert f"on {len(ROWS) - 1} common instances" in text, text
    assert "only in A: 1, only in B: 0" in " ".join(text.split())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_order_changes_nothing(dialect, run, capsys):
    text, _ = compared(capsys, run(dialect), run(dialect, "reversed", ROWS[::-1]))
    assert f"on {len(ROWS)} common instances" in text
    assert "+0.0000" in text
