"""What no exam can mean, seen in its first questions; and no alarm where one can."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import yaml

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.prompts.doubts import doubts_of

ROWS = [
    {"q": f"How much is {n} and {n}?", "ans": str(2 * n), "ch": [str(2 * n), str(2 * n + 1)], "gold": 0}
    for n in range(9)
]


def task(tmp_path, rows=ROWS, **values):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = {
        "task": "t",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{q}}\nAnswer:",
        "doc_to_target": "{{ans}}",
        "metric_list": [{"metric": "exact_match"}],
        **values,
    }
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(made))
    return tmp_path / "t.yaml"


def doubts(tmp_path, **values):
    (exam,) = resolve_tasks([str(task(tmp_path, **values))])
    return doubts_of(exam)


@pytest.mark.parametrize(
    "values, said",
    [
        ({"doc_to_text": "Answer the question below."}, "all the same, whatever the row"),
        ({"doc_to_text": "{q} {{ans}}?"}, "'{q}' as it stands, and the data has that column: is '{{q}}' meant"),
        ({"doc_to_text": "Question:\\n{{q}}\\n\\nAnswer:"}, "a backslash and an n"),
        ({"doc_to_text": "{{q}} {{ans}}", "doc_to_target": "It is {{ans}}"}, None),
        ({"doc_to_text": "{{q}} It is {{ans}}", "doc_to_target": "It is {{ans}}"}, "ends with its right answer"),
        (
            {"doc_to_target": "It is {{ans}}", "generation_kwargs": {"until": [" "]}},
            "which stands in the right answers",
        ),
        ({"doc_to_target": "{{ans}}.", "generation_kwargs": {"until": ["."]}}, None),
        (
            {
                "output_type": "multiple_choice",
                "doc_to_choice": ["yes", "yes"],
                "doc_to_target": 0,
                "metric_list": None,
            },
            "choices 1 and 2 are alike",
        ),
        ({"doc_to_text": "Solve $x_{q}$ or \\frac{q}{2} \\neq 0: {{q}}"}, None),
    ],
)
def test_a_mistake_of_the_words_is_in_every_question(tmp_path, values, said):
    found = doubts(tmp_path, **values)
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_what_rows_hold_themselves_is_no_mistake(tmp_path):
    rows = [{**row, "q": f"print('a\\n{{q}}') # {n}"} for n, row in enumerate(ROWS)]
    assert doubts(tmp_path, rows=rows) == []
    alike = [{**row, "q": "same"} for row in ROWS[:1]] * 5
    assert doubts(tmp_path, rows=alike) == []  # equal rows have equal prompts


def test_two_questions_may_be_alike_by_accident(tmp_path):
    assert doubts(tmp_path, rows=ROWS[:2], doc_to_text="Answer the question below.") == []


@pytest.mark.parametrize("command", [["validate"], ["show"], ["run", "--model", "dummy", "--output", "out"]])
def test_it_is_said_once_before_anybody_is_asked(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    path = task(tmp_path, doc_to_text="Answer the question below.")
    assert main([command[0], str(path), *command[1:], *(["--no-wall"] if command == ["show"] else [])]) == 0
    assert capsys.readouterr().err.count("warning: t: the first 8 prompts are all the same") == 1


def test_the_next_pass_goes_on_where_the_look_ended(tmp_path):
    (exam,) = resolve_tasks([str(task(tmp_path))])
    expected = [question.digest for question in exam.questions()]
    begun, compile_ = [], exam.asker.compile
    exam.asker.__dict__["compile"] = lambda *given: begun.append(1) or compile_(*given)
    doubts_of(exam)
    assert [question.digest for question in exam.questions()] == expected
    assert len(begun) == 1
    assert [question.digest for question in exam.questions()] == expected  # a pass that nobody began
    assert len(begun) == 2


def test_questions_that_failed_or_ask_nothing_are_left_out_and_are_still_there_for_whoever_asks():
    questions = [SimpleNamespace(failure=None, requests=()), SimpleNamespace(failure="no", requests=("r",))]
    left = []
    exam = SimpleNamespace(questions=lambda: iter(questions), resume=left.extend, dialect="tables")
    assert (doubts_of(exam), left) == ([], questions)
