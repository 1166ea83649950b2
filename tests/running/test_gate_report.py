"""What a gate says, to people and to programs; and the files of scores that it is held against."""

import json
import math
from xml.etree import ElementTree as ET

import pytest

from proctor.errors import OutputError, UsageError
from proctor.ir import Usage
from proctor.running.baselines import Baseline, ExamBaseline, is_log, keys_of, load_baseline, save_baseline
from proctor.running.gate import ExamVerdict, GateResult, GateRules
from proctor.running.gate_report import as_data, junit_xml, paragraph
from proctor.running.log_place import LogAddress


def exam(verdict="passed", name="e", **more):
    said = {"questions": 100, "asked": 40, "decided_after": None, "failed": 0, "metric": "acc", "model": 0.75, "baseline": 0.7,
            "difference": 0.05, "low": -0.01, "high": 0.11}  # fmt: skip
    return ExamVerdict(name, verdict, **{**said, **more})


def result(*exams, usd=None, **rules):
    return GateResult(exams, GateRules(**rules), "base", "m", {"asked": 1200, "from_log": 3}, Usage(5000, 60), usd)


COST = "It took 1,200 requests, 3 answers from the log, 5,000 tokens in, 60 out"


@pytest.mark.parametrize(
    "verdict, rules, claim",
    [
        ("passed", {}, "m is not worse than the baseline by more than 3 points"),
        ("failed", {"margin": 0.01}, "m is worse than the baseline by more than 1 point"),
        (
            "undecided",
            {"margin": 0.025},
            "it is not known whether m is worse than the baseline by more than 2.5 points",
        ),
        ("passed", {"at_least": 0.5}, "m scores at least 0.5"),
        ("failed", {"at_least": 0.8}, "m scores less than 0.8"),
        ("undecided", {"at_least": 0.7}, "it is not known whether m scores at least 0.7"),
    ],
)
def test_the_claim_is_that_of_the_verdict(verdict, rules, claim):
    first, cost = paragraph(result(exam(verdict), **rules)).splitlines()
    assert first.startswith(f"{verdict.upper()}: e: {claim}. 40 of 100 questions were asked; ")
    assert cost == f"{COST}."


@pytest.mark.parametrize(
    "given, rules, said",
    [
        (
            {},
            {},
            "the difference of acc is +5.00 points (95% bounds -1.00 and +11.00; 0.7500 against 0.7000 on what was asked).",
        ),
        ({}, {"level": 0.995}, "(99.5% bounds -1.00 and +11.00;"),
        ({}, {"at_least": 0.5, "level": 0.999}, "acc 0.7500 (99.9% bounds -0.0100 and 0.1100)."),
        ({"asked": 100}, {}, "(on all questions; 0.7500"),
        ({"asked": 100}, {"at_least": 0.5}, "acc 0.7500 (on all questions)."),
        ({"asked": 100, "failed": 1}, {"at_least": 0.5}, "bounds -0.0100"),
        ({"asked": 100, "is_corrected": True}, {"at_least": 0.5}, "bounds -0.0100"),
        ({"difference": math.nan}, {}, "none of them has a score."),
        ({"baseline": None}, {}, "0.7500 against 0.0000"),
        ({"failed": 2}, {}, "2 questions have no score and count against either verdict."),
        ({"why": "x"}, {}, "Why: x."),
        ({"note": "y"}, {}, "Note: y."),
        ({"decided_after": 30}, {}, "questions were asked, 30 were enough;"),
        ({"decided_after": 40}, {}, "questions were asked;"),
        (
            {"clusters": "page", "units": 12},
            {},
            "questions were asked (whole clusters of 'page', of which there are 12);",
        ),
    ],
)
def test_numbers_say_what_they_stand_on(given, rules, said):
    assert said in paragraph(result(exam(**given), **rules))


@pytest.mark.parametrize("level, chance", [(0.95, "5%"), (0.995, "0.5%"), (0.9999, "0.01%")])
def test_several_exams_are_wrong_together_with_the_chance_that_was_wanted(level, chance):
    first = paragraph(result(exam(), exam("undecided", "f"), level=level)).splitlines()[0]
    assert first == f"UNDECIDED: m; all 2 exams together are wrong with a chance of at most {chance}."
    assert result(exam(), exam("failed"), exam("undecided")).verdict == "failed"
    assert result(exam(), exam()).verdict == "passed"


def test_the_cost_is_told():
    assert paragraph(result(exam(), usd=1.5)).endswith(f"{COST}, $1.5000 at list prices.")
    assert paragraph(result(exam(is_corrected=True))).endswith(f"{COST} of all answers.")


def test_programs_get_shares_and_no_numbers_that_are_none():
    made = as_data(result(exam(difference=math.nan), exam("undecided"), margin=0.02))
    assert (made["verdict"], made["exit_code"], made["margin"], made["at_least"]) == ("undecided", 4, 0.02, None)
    assert made["exams"][0]["difference"] is None
    assert made["usage"] == {"prompt_tokens": 5000, "completion_tokens": 60}
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert as_data(result(exam("failed"), at_least=0.9))["margin"] is None
    assert [as_data(result(exam(each)))["exit_code"] for each in ("passed", "failed", "undecided")] == [0, 1, 4]


def test_continuous_integration_gets_a_case_for_each_exam():
    suite = ET.fromstring(junit_xml(result(exam(), exam("failed", "f\x01"), exam("undecided", "u"))))
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert [[inner.tag for inner in case] for case in suite] == [["system-out"], ["failure"], ["error"]]
    assert suite[1][0].get("message") == suite[1][0].text
    assert suite[1][0].text.startswith("FAILED: f")
    assert suite[2][0].get("type") == "undecided"


@pytest.mark.parametrize(
    "rules, told",
    [({"margin": 1.0}, "--margin is a share"), ({"margin": 3}, "3 points are 0.03"), ({"margin": -0.1}, "three points"), ({"at_least": 1.1}, "--at-least is a share"),
     ({"level": 0.4}, "--level is between 0.5 and 1"), ({"level": 1.0}, "--level is between"), ({"at_least": 80}, "80 points are 0.8")],
)  # fmt: skip
def test_rules_that_are_none(rules, told):
    with pytest.raises(UsageError) as raised:
        GateRules(**rules)
    assert told in str(raised.value)
    assert (GateRules(level=0.5).threshold, GateRules(at_least=1.0).threshold, GateRules(margin=0.0).threshold) == (
        0.485,
        1.0,
        0.5,
    )


# -- what it is held against --------------------------------------------------------------------------------------------


def test_scores_are_written_and_read_again(tmp_path):
    baseline = Baseline({"b": ExamBaseline({"k": 1.0, "a": 0.5}, metric="acc"), "a": ExamBaseline({})}, "x", "m")
    save_baseline(baseline, tmp_path / "b.json")
    found = load_baseline(tmp_path / "b.json")
    assert (found.model, found.source) == ("m", str(tmp_path / "b.json"))
    assert {name: (each.scores, each.metric, each.failed) for name, each in found.exams.items()} == {
        "a": ({}, "", 0), "b": ({"a": 0.5, "k": 1.0}, "acc", 0),
    }  # fmt: skip
    text = (tmp_path / "b.json").read_text()
    save_baseline(found, tmp_path / "c.json")
    assert (tmp_path / "c.json").read_text() == text
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        save_baseline(baseline, tmp_path / "file" / "b.json")


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda made: made.pop("format"), "it does not say"),
        (lambda made: made.update(version=99), "it has version 99"),
        (lambda made: made.update(exams=[]), "'exams' is not a mapping"),
        (lambda made: made["exams"].update(a=3), "'exams' is not a mapping"),
        (lambda made: made["exams"]["b"].update(scores={"k": 1.1}), "the scores of 'b' are not numbers from 0 to 1"),
        (lambda made: made["exams"]["b"].update(scores={"k": -0.1}), "are not numbers"),
        (lambda made: made["exams"]["b"].update(scores={"k": True}), "are not numbers"),
        (lambda made: made["exams"]["b"].update(scores=[1]), "are not numbers"),
    ],
)
def test_what_is_no_file_of_scores(tmp_path, change, told):
    made = Baseline({"b": ExamBaseline({"k": 1.0})}).to_dict()
    change(made)
    (tmp_path / "b.json").write_text(json.dumps(made))
    with pytest.raises(UsageError, match="this is not a baseline") as raised:
        load_baseline(tmp_path / "b.json")
    assert told in str(raised.value)


def test_what_cannot_be_read_is_no_baseline(tmp_path):
    (tmp_path / "b.json").write_text("{")
    for name in ("b.json", "none.json"):
        with pytest.raises(UsageError, match="this is not a baseline"):
            load_baseline(tmp_path / name)
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0 and more")
    assert [is_log(tmp_path / name) for name in ("a.db", "b.json", "none")] == [True, False, False]
    assert is_log(LogAddress("postgresql://host/db"))


def test_equal_questions_are_numbered():
    assert keys_of(["a", "b", "a", "a"]) == ["a", "b", "a#1", "a#2"]
