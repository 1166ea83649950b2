"""Files of runs are told from exams and from data by their first keys."""

import json

import pytest

from proctor.running.run_files import can_be_repeated, is_run_file


@pytest.mark.parametrize(
    "name, text, is_run",
    [
        ("run.yaml", "model: dummy\ntasks: [a]\n", True),
        ("run.yml", "# words\n'model' : dummy\n", True),
        ("run", '"schema_version": 1\n', True),
        ("RUN.YAML", "schema_version: 1\n", True),
        ("run.yaml", "tasks: [samples.science]\n", True),
        ("run.yaml", "tasks: ['a']\n", True),
        ("run.yaml", "output: x\ntasks:\n  - samples.science\n", True),
        ("eval.yaml", "tasks:\n  - id: a\n    field: b\n", False),
        ("eval.yaml", "tasks: [{id: a}]\n", False),
        ("task.yaml", "task: a\nmetadata:\n  model: x\n", False),
        ("task.yaml", "# model: x\ntask: a\n", False),
        ("rows.jsonl", '{"model": "x"}\n', False),
        ("results.json", json.dumps({"schema_version": 1}), True),
        ("results.json", f" {json.dumps({'model': 'x'})}", True),
        ("recipe.json", json.dumps({"card": "x"}), False),
        ("broken.json", '{"model": ', False),
        ("deep.json", '{"a": ' * 100_000, False),
        ("late.yaml", "#" * 65_536 + "\nmodel: x\n", False),
    ],
)
def test_a_file_is_a_run_where_a_key_that_no_exam_has_begins_it(tmp_path, name, text, is_run):
    (tmp_path / name).write_text(text)
    assert is_run_file(tmp_path / name) is is_run
    assert can_be_repeated(tmp_path / name) is is_run


def test_a_folder_can_be_repeated_where_a_run_lies_in_it(tmp_path):
    assert not can_be_repeated(tmp_path)
    assert not can_be_repeated(tmp_path / "none.yaml")
    (tmp_path / "run.yaml").write_text("")
    assert can_be_repeated(tmp_path)
    assert not is_run_file(tmp_path)
