"""What is said at the end of a run, and the exit code."""

import pytest

from proctor.cli.conclusion import _cost, conclude
from proctor.cli.thresholds import parsed
from proctor.ir import Failure
from proctor.running.run import RunResult
from proctor.scoring.grades import Grade

FINE = {"score": 0.5, "score_name": "acc", "acc": 0.5, "unit": "share", "n": 4, "failures": 0}


def end(capsys, results=None, grades=None, run=None, **how):
    given = {"allow_failures": False, "every_score": False, "as_json": False}
    named = {key: how.pop(key) for key in ("stopped", "output") if key in how}
    result = RunResult({"e": FINE} if results is None else results, run or {}, grades or {}, **named)
    code = conclude(result, **{**given, **how})
    return code, capsys.readouterr()


def failed(*kinds, n=4):
    lost = {place: Failure(kind, f"because {kind}") for place, kind in enumerate(kinds)}
    counts = {kind: kinds.count(kind) for kind in kinds}
    entry = {**FINE, "n": n, "failures": len(kinds), "failure_kinds": counts}
    return {"results": {"e": entry}, "grades": {"e": Grade({}, {}, failures=lost)}}


def test_a_run_without_trouble_ends_quietly_with_its_score(capsys, tmp_path):
    code, said = end(capsys)
    assert code == 0
    assert "0.5" in said.out
    assert "warning" not in said.err
    assert "run folder" not in said.err
    code, said = end(capsys, output=tmp_path / "out")
    assert f"run folder: {tmp_path / 'out'}" in said.err
    code, said = end(capsys, as_json=True)
    assert said.out.startswith("{")


@pytest.mark.parametrize("allow, code", [(False, 1), (True, 0)])
def test_failures_are_told_and_end_with_a_code_of_their_own(capsys, allow, code):
    found, said = end(capsys, **failed("server_error", "server_error"), allow_failures=allow)
    assert found == code
    assert "server_error: because server_error" in said.err
    assert "to ask again what failed: the same command" in said.err


@pytest.mark.parametrize(
    "kinds, told",
    [
        (("truncated",), "asking the same again would end the same"),
        (("truncated", "thinking"), "asking the same again would end the same"),
        (("truncated", "scoring"), "nobody is asked again: all answers are in the log"),
        (("scoring",), "nobody is asked again: all answers are in the log"),
        (("row",), "nobody can be asked about these rows before they, or the exam, are mended"),
        (("budget",), "the same command with a larger budget asks what is left"),
        (("budget", "row"), "to ask again what failed: "),
        (("truncated", "server_error"), "to ask again what failed: "),
    ],
)
@pytest.mark.parametrize("has_folder", [True, False])
def test_what_is_said_of_failures_fits_their_kind(capsys, tmp_path, kinds, told, has_folder):
    _, said = end(capsys, **failed(*kinds), **({"output": tmp_path} if has_folder else {}))
    last = [line for line in said.err.splitlines() if told in line]
    assert len(last) == 1
    assert last[0].startswith("samples.jsonl has the reasons; ") is has_folder


def test_a_run_that_stopped_has_failed_whatever_is_allowed(capsys):
    code, said = end(capsys, stopped="the budget is used up", allow_failures=True)
    assert code == 1
    assert "stopped: the budget is used up; not everything was asked" in said.err


def test_an_exam_that_could_not_be_graded_has_failed_whatever_is_allowed(capsys):
    code, said = end(capsys, results={"e": {"error": "no package"}}, allow_failures=True)
    assert code == 1
    assert "e could not be graded: no package" in said.err
    assert "to grade again: the same command" in said.err
    assert "nothing scores" not in said.err


def test_a_threshold_counts_where_nothing_else_failed(capsys):
    assert end(capsys, thresholds=parsed(["e=0.9"]))[0] == 1
    assert end(capsys, thresholds=parsed(["e=0.5"]))[0] == 0


def test_what_the_log_had_is_told(capsys):
    run = {"requests": {"damaged": 2, "writers": ["a", "b"]}, "log": "my log.db"}
    _, said = end(capsys, run=run)
    assert "2 damaged entries of the response log" in said.err
    assert "proctor log verify --log 'my log.db'" in said.err
    assert "answers of other writers were used from the response log, by their keys: a, b" in said.err


def test_an_exam_without_a_metric_is_told_unless_no_scores_are_wanted(capsys):
    assert "nothing scores the answers to bare" in end(capsys, results={"bare": {}})[1].err
    assert "nothing scores" not in end(capsys, results={"bare": {}}, wants_scores=False)[1].err
    all_failed = {"n": 2, "failures": 2, "failure_kinds": {"row": 2}}
    assert "nothing scores" not in end(capsys, results={"bare": all_failed})[1].err


def test_judgements_without_a_verdict_are_told(capsys):
    grade = Grade({}, {}, unread=frozenset({1, 2}))
    for as_json in (True, False):
        _, said = end(capsys, grades={"e": grade}, as_json=as_json)
        assert "e: judgements without a verdict" in said.err + said.out


@pytest.mark.parametrize(
    "run, told",
    [
        ({}, ""),
        ({"engine": {"label": "m"}, "cost": {"usd_of_this_run": 0.0}}, ""),
        ({"engine": {"label": "m"}, "cost": {"usd_of_this_run": 0.5}}, "m $0.5000"),
        ({"engine": {"label": "m"}, "cost": {"usd_of_this_run": 0.5, "usd_is_at_most": True}}, "m at most $0.5000"),
        ({"engine": {"label": "m"}, "cost": {"usd_of_this_run": 0.5, "usd_is_about": True}}, "m about $0.5000"),
        ({"engine": {"label": "m"}, "cost": {"usd_of_this_run": 0.5},
          "judges": {"j": {"asked": 1, "usd_of_this_run": None}, "k": {"asked": 0, "usd_of_this_run": 3}}},
         "m $0.5000, j of unknown price"),
        ({"judges": {"j": {"asked": 1, "usd_of_this_run": 2.0, "usd_is_at_least": True}}}, "j at least $2.00"),
    ],
)  # fmt: skip
def test_what_a_run_cost(run, told):
    assert _cost(run) == told
