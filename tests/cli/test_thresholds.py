"""The least score with which a run passes: what is too low, what is not certain, and what cannot be held to it."""

from types import SimpleNamespace

import pytest

from proctor.cli.error_reporting import UNDECIDED
from proctor.cli.thresholds import Threshold, check_names, check_scored, check_units, parsed, verdict
from proctor.errors import UsageError
from proctor.scoring.scores import Score


@pytest.mark.parametrize(
    "text, threshold",
    [
        ("e=0.7", ("e", 0.7, False)),
        ("e=70%", ("e", 70.0, True)),
        ("a=b,c=1", ("a=b,c", 1.0, False)),
        ("e=-1", ("e", -1.0, False)),
    ],
)
def test_a_threshold_is_a_name_and_a_number(text, threshold):
    assert Threshold.parse(text) == Threshold(*threshold, text)


@pytest.mark.parametrize("text", ["e", "=0.7", "e=", "e=x", "e=nan", "e=inf", "e=%", "0.7"])
def test_what_is_no_threshold(text):
    with pytest.raises(UsageError, match="is not TASK=SCORE"):
        Threshold.parse(text)


def entry(score, unit="share", n=10, failures=0, **more):
    return {"score": score, "score_name": "acc", "unit": unit, "n": n, "failures": failures, **more}


@pytest.mark.parametrize(
    "text, result, said",
    [
        ("e=0.7", entry(0.7), ""),
        ("e=0.7", entry(0.69), "e: acc is 0.6900, under 0.7000"),
        ("e=70%", entry(0.7), ""),
        ("e=70%", entry(0.6), "e: acc is 0.6000, under 0.7000"),
        ("e=0.7", entry(70.0, "percent"), ""),
        ("e=0.7", entry(69.0, "percent"), "e: acc is 0.6900, under 0.7000"),
        ("e=1", entry(1.0), ""),
        ("e=0", entry(0.0), ""),
        ("e=12", entry(12.0, "raw"), ""),
        ("e=12", entry(11.0, "raw"), "e: acc is 11.00, under 12.00"),
        ("e=0.7", entry(None), "e has no score"),
        ("e=0.7", {}, "e has no score"),
    ],
)
def test_what_is_too_low(text, result, said):
    assert Threshold.parse(text).missed(result) == said


@pytest.mark.parametrize(
    "text, main, told, hint",
    [
        ("e=70", Score("acc", 0.5, unit="share"), "acc is a share, between 0 and 1", "e=70%"),
        ("e=101", Score("acc", 0.5, unit="share"), "acc is a share, between 0 and 1", "as in e=0.7, or e=70%"),
        ("e=101%", Score("acc", 0.5, unit="percent"), "acc is a share, between 0 and 1", "as in e=0.7, or e=70%"),
        ("e=-0.1", Score("acc", 0.5, unit="share"), "acc is a share, between 0 and 1", "as in e=0.7, or e=70%"),
        ("e=7%", Score("acc", 0.5, unit="raw"), "acc is not a share", "leave out %"),
        (
            "e=7",
            Score("acc", 0.5, unit="raw", higher_is_better=False),
            "of acc less is better",
            "there is no least score",
        ),
        ("e=100%", Score("acc", 0.5, unit="share"), "", ""),
        ("e=0", Score("acc", 0.5, unit="percent"), "", ""),
        ("e=7", Score("acc", 0.5, unit="raw"), "", ""),
    ],
)
def test_scores_that_cannot_be_held_to_a_threshold(text, main, told, hint):
    found = Threshold.parse(text).refusal(main)
    assert (found is None) is not told
    if found is not None:
        assert (found.what, found.hint) == (f"--fail-under {text}: {told}", hint)
        with pytest.raises(UsageError):
            check_units([Threshold.parse(text)], [SimpleNamespace(name="e", declared_main=main)])
    check_units(
        [Threshold.parse(text)],
        [SimpleNamespace(name="e", declared_main=None), SimpleNamespace(name="f", declared_main=main)],
    )


@pytest.mark.parametrize(
    "text, results, said",
    [
        ("e=0.7", {"e": entry(0.9)}, ""),
        ("e=0.7", {"e": entry(0.9, failures=2)}, ""),  # 0.72 at least
        ("e=0.75", {"e": entry(0.9, failures=2)}, "e: 2 of 10 instances have no score, and with them as 0 acc would be 0.7200"),
        ("e=72%", {"e": entry(90.0, "percent", failures=2)}, ""),
        ("e=73%", {"e": entry(90.0, "percent", failures=2)}, "e: 2 of 10 instances have no score, and with them as 0 acc would be 0.7200"),
        ("e=1", {"e": entry(5.0, "raw", failures=2)}, "e: 2 of 10 instances have no score, and nothing bounds acc"),
        ("e=0.5", {"e": entry(None, failures=2)}, ""),
        ("e=0.5", {"e": entry(0.9, n=0, failures=2)}, ""),
        ("e=0.5", {"e": entry(0.9, n=1, failures=2)}, "e: 1 of 1 instances have no score, and with them as 0 acc would be 0.0000"),
        ("e=0.5", {}, ""),
        ("s=0.5", {"s": entry(0.9, failures=5, members=["a", "b", "gone"]), "a": entry(1.0, failures=5), "b": entry(0.8)},
         "s: 5 of 10 instances have no score, and with them as 0 acc would be 0.4500"),
        ("s=0.5", {"s": entry(0.9, failures=1, members=["gone"])}, ""),
    ],
)  # fmt: skip
def test_what_is_high_enough_and_not_certain(text, results, said):
    assert Threshold.parse(text).open_question(results) == said


@pytest.mark.parametrize(
    "texts, code, words",
    [
        (["e=0.5"], 0, []),
        (["e=0.9"], 1, ["FAILED: e"]),
        (["u=0.75"], UNDECIDED, ["UNDECIDED: u"]),
        (["u=0.75", "e=0.9"], 1, ["FAILED: e"]),
        (["gone=0.5"], 1, ["FAILED: gone has no score"]),
        ([], 0, []),
    ],
)
def test_the_verdict_is_an_exit_code_and_words(capsys, texts, code, words):
    assert verdict(parsed(texts), {"e": entry(0.8), "u": entry(0.9, failures=2)}) == code
    said = capsys.readouterr().err.splitlines()
    assert [each.partition(":")[0] for each in said] == [each.partition(":")[0] for each in words]
    assert all(one.startswith(other) for one, other in zip(said, words, strict=True))


def test_names_that_are_not_run_are_refused_together():
    check_names(parsed(["e=1"]), ["e", "f"])
    with pytest.raises(UsageError) as raised:
        check_names(parsed(["scince=1", "zzz=1", "e=1"]), ["science", "e", "e"])
    assert [each.hint for each in raised.value.diagnostics] == ["did you mean 'science'?", "the exams are science, e"]
    exams = [SimpleNamespace(options=SimpleNamespace(predict_only=each)) for each in (False, True)]
    check_scored(exams[:1])
    with pytest.raises(UsageError, match="--predict-only makes none"):
        check_scored(exams)
