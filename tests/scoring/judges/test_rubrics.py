"""Rubrics in a column of each row, as HealthBench has them: each criterion is judged, points are added."""

from __future__ import annotations

import json

import pytest

from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.assertion_metrics import AnswerAssertion, RowAssertions
from proctor.scoring.assertions import parse_assertion
from proctor.scoring.columns import Columns
from proctor.scoring.judges.assertions import with_criteria

RUBRICS = [
    {"criterion": "says when to see a doctor", "points": 5, "tags": []},
    {"criterion": "is longer than a page", "points": -3},
    {"criterion": "asks about medicine", "points": 2},
]


def judge_who_says_yes_to(*words: str) -> tuple[list[str], ScriptedEngine]:
    asked: list[str] = []

    def decide(prompt) -> str:
        text = prompt.payload if isinstance(prompt.payload, str) else prompt.payload[-1]["content"]
        asked.append(text)
        criterion = text.partition("<criterion>")[2].partition("</criterion>")[0]
        return json.dumps({"reason": "so", "pass": any(word in criterion for word in words)})

    return asked, ScriptedEngine(function=decide)


def columns(*cells: object, name: str = "rubrics") -> Columns:
    rows = [{"question": "My head hurts", name: cell} for cell in cells]
    return Columns(["Rest."] * len(rows), [[]] * len(rows), rows)


@pytest.mark.parametrize(
    "words, share", [(["doctor", "medicine"], 1.0), (["doctor", "page"], 2 / 7), (["page"], -3 / 7), ([], 0.0)]
)
def test_points_of_what_is_met_are_a_share_of_what_could_be_had(words, share):
    asked, judge = judge_who_says_yes_to(*words)
    found = AnswerAssertion(assertion="rubrics", judge=judge).measure(columns(RUBRICS, json.dumps(RUBRICS)))
    assert found.instances["rubrics"] == pytest.approx([share, share])
    assert found.scores[0].value == pytest.approx(share)
    assert len(asked) == 6
    assert "My head hurts" in asked[0]
    lines = found.instances["rubrics_assessment"][0].splitlines()
    assert lines[0] == f"+5 {'met' if 'doctor' in words else 'not met'}: says when to see a doctor"


def test_another_column_and_what_is_enough_of_it():
    _, judge = judge_who_says_yes_to("doctor")
    metric = RowAssertions(columns=["asserts"], judge=judge)
    row = {"question": "q", "own": RUBRICS, "asserts": [{"type": "rubrics", "value": "own", "threshold": 0.7}]}
    found = metric.measure(Columns(["Rest."], [[]], [row]))
    assert found.instances["passed"] == [1.0]


@pytest.mark.parametrize("cell", [None, [], [{"criterion": "x"}], [{"criterion": "x", "points": -1}], "no JSON"])
def test_rows_without_rubrics_fail_with_what_is_wanted(cell):
    with pytest.raises(ScoringError, match="the column 'rubrics' has no"):
        with_criteria(parse_assertion("rubrics"), {"rubrics": cell})
    _, judge = judge_who_says_yes_to("doctor")
    found = AnswerAssertion(assertion="rubrics", judge=judge).measure(columns(cell, RUBRICS))
    assert isinstance(found.failures[0], Failure)
    assert found.instances["rubrics"][1] == pytest.approx(5 / 7)


def test_a_judge_that_cannot_be_read_is_a_failure_of_its_row():
    found = AnswerAssertion(assertion="rubrics", judge=ScriptedEngine(answer="hm")).measure(columns(RUBRICS))
    assert "no verdict" in found.failures[0].message


# -- HealthBench ------------------------------------------------------------------------------------------------------

WORDS = '''
from . import common
raise SystemExit("this file must not run")
GRADER_TEMPLATE = """
Read this:
<<conversation>>
Is it so? <<rubric_item>>
""".strip()
'''
TALK = [
    {"role": "user", "content": "My head hurts"},
    {"role": "assistant", "content": "Since when?"},
    {"role": "user", "content": "Today"},
]


def healthbench(judge: ScriptedEngine, answer: str = "Rest.") -> list[float]:
    row = {"prompt": TALK, "rubrics": RUBRICS}
    metric = AnswerAssertion(assertion="healthbench", judge=judge)
    return list(metric.measure(Columns([answer], [[]], [row])).instances["healthbench"])


def test_healthbench_is_judged_in_the_words_of_its_authors_where_they_are_here(tmp_path, monkeypatch):
    (tmp_path / "simple_evals").mkdir()
    (tmp_path / "simple_evals" / "healthbench_eval.py").write_text(WORDS)
    monkeypatch.syspath_prepend(tmp_path)
    asked = []

    def decide(prompt):
        asked.append(prompt.payload[-1]["content"])
        return '```json\n{"explanation": "so", "criteria_met": %s}\n```' % str("[5] says" in asked[-1]).lower()  # noqa: UP031

    judge = ScriptedEngine(function=decide)
    assert healthbench(judge) == [pytest.approx(5 / 7)]
    assert asked[0] == (
        "Read this:\nuser: My head hurts\n\nassistant: Since when?\n\nuser: Today\n\nassistant: Rest.\n"
        "Is it so? [5] says when to see a doctor"
    )
    with_words = AnswerAssertion(assertion="healthbench", judge=judge).asked_with()
    assert (with_words["words"], "note" in with_words) == ("simple-evals", False)


def test_without_them_it_says_so_before_anybody_is_asked():
    asked, judge = judge_who_says_yes_to("doctor", "page")
    assert healthbench(judge) == [pytest.approx(2 / 7)]
    assert "<criterion>" in asked[0]
    assert "in Proctor's words" in AnswerAssertion(assertion="healthbench", judge=judge).asked_with()["note"]


def test_words_in_another_form_are_not_guessed_at(tmp_path, monkeypatch):
    (tmp_path / "simple_evals").mkdir()
    (tmp_path / "simple_evals" / "healthbench_eval.py").write_text(WORDS.replace("<<rubric_item>>", ""))
    monkeypatch.syspath_prepend(tmp_path)
    metric = AnswerAssertion(assertion="healthbench", judge=ScriptedEngine(answer="{}"))
    assert any("in the form that is known" in each.what for each in metric.check())


def test_a_verdict_that_is_no_truth_value_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "simple_evals").mkdir()
    (tmp_path / "simple_evals" / "healthbench_eval.py").write_text(WORDS)
    monkeypatch.syspath_prepend(tmp_path)
    metric = AnswerAssertion(assertion="healthbench", judge=ScriptedEngine(answer='{"criteria_met": "yes"}'))
    found = metric.measure(Columns(["Rest."], [[]], [{"prompt": TALK, "rubrics": RUBRICS}]))
    assert "criteria_met" in found.failures[0].message
