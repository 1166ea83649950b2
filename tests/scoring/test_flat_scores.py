import math

import pytest

from proctor.ir import Failure
from proctor.scoring.flat_scores import ScoreSheet, flat_view, is_beside_scores, main_of, merged, read_flat, units_of
from proctor.scoring.grades import Measured
from proctor.scoring.scores import Score


def a_sheet(**changes):
    sheet = ScoreSheet("squad", 4, "share", True, **changes)
    sheet.count()
    sheet.put("f1", 0.5)
    sheet.put("em", 0.25)
    sheet.bound("f1", 0.125, 0.75)
    return sheet


def test_a_metric_lists_its_scores_in_the_order_in_which_they_come():
    sheet = a_sheet()
    sheet.name_main("f1")
    sheet.bound_main()
    assert list(sheet.measured().overall.items()) == [
        ("num_of_instances", 4),
        ("f1", 0.5),
        ("em", 0.25),
        ("f1_ci_low", 0.125),
        ("f1_ci_high", 0.75),
        ("score", 0.5),
        ("score_name", "f1"),
        ("score_ci_low", 0.125),
        ("score_ci_high", 0.75),
    ]


def test_reducing_metrics_list_the_main_score_backwards():
    sheet = a_sheet()
    sheet.name_main("f1", backwards=True)
    sheet.bound_main(backwards=True)
    assert list(sheet.flat)[-4:] == ["score_name", "score", "score_ci_high", "score_ci_low"]
    assert (sheet.flat["score"], sheet.flat["score_name"], sheet.flat["score_ci_high"]) == (0.5, "f1", 0.75)


def test_a_listed_score_has_its_unit_its_n_and_its_interval():
    sheet = a_sheet(raw=frozenset({"em"}))
    sheet.name_main("em")
    sheet.bound_main()  # it has no interval
    reason = Failure("metric", "odd")
    found = sheet.measured({2: reason}, reason)
    assert found.scores == [
        Score("f1", 0.5, 0.125, 0.75, n=4, unit="share", higher_is_better=True, metric="squad"),
        Score("em", 0.25, n=4, unit="raw", higher_is_better=None, metric="squad"),
    ]
    assert (found.main, found.failures, found.failure) == ("em", {2: reason}, reason)
    assert not {"score_ci_low", "score_ci_high"} & set(found.overall)
    assert a_sheet().measured().failures == {}


def test_an_interval_may_be_of_a_score_that_is_listed_elsewhere():
    sheet = a_sheet()
    sheet.bound("bleu", 1.0, 2.0)
    assert (sheet.flat["bleu_ci_low"], sheet.flat["bleu_ci_high"]) == (1.0, 2.0)
    assert "bleu" not in sheet.scores


def test_the_flat_view_of_a_scorer_that_keeps_none():
    scores = [Score("em", 0.25), Score("f1", 0.5, 0.125, 0.75), Score("half", 1.0, low=0.5)]
    assert flat_view(Measured(scores, "f1")) == {
        "em": 0.25,
        "f1": 0.5,
        "f1_ci_low": 0.125,
        "f1_ci_high": 0.75,
        "half": 1.0,  # one bound is not an interval
        "score": 0.5,
        "score_name": "f1",
        "score_ci_low": 0.125,
        "score_ci_high": 0.75,
    }
    assert flat_view(Measured(scores[:1])) == {"em": 0.25}
    own = a_sheet().measured()
    assert flat_view(own) is own.overall


def test_the_main_score_has_the_interval_of_the_last_view_or_none():
    first = {"score": 1, "score_ci_low": 0, "score_ci_high": 2, "a": 1}
    assert merged([first, {"score": 3, "b": 2}]) == {"score": 3, "a": 1, "b": 2}
    assert merged([{"score": 3, "a": 2}, first]) == first
    assert merged([]) == {}


def test_a_score_of_two_metrics_has_the_interval_of_the_last_or_none():
    first = {"f1": 0.0, "f1_ci_low": 0.0, "f1_ci_high": 0.8, "score": 0.0}
    assert merged([first, {"f1": 0.6, "score": 0.6}]) == {"f1": 0.6, "score": 0.6}
    assert merged([{"f1": 0.6}, first]) == first
    assert list(merged([first, {**first, "g": 1}])) == [*first, "g"]


def test_a_file_says_the_unit_of_the_main_score_and_of_those_that_differ():
    f1, em, bleu = Score("f1", 50, unit="percent"), Score("em", 25, unit="percent"), Score("bleu", 7, unit="raw")
    assert units_of([f1, em], f1) == {"unit": "percent"}
    assert units_of([f1, em, bleu], f1) == {"unit": "percent", "units": {"bleu": "raw"}}
    assert units_of([f1], None) == {}


FILE = {
    "f1": 0.5,
    "f1_ci_low": 0.125,
    "f1_ci_high": 0.75,
    "bleu": 7,
    "words": "many",
    "is_final": True,
    "score": 0.5,
    "score_name": "f1",
    "score_ci_low": 0.125,
    "score_ci_high": 0.75,
    "num_of_instances": 4,
    "num_of_failures": 1,
    "unit": "share",
    "units": {"bleu": "raw"},
}


def test_the_scores_of_a_file_are_read_back_with_their_units():
    assert read_flat(FILE) == [Score("f1", 0.5, 0.125, 0.75, unit="share"), Score("bleu", 7, unit="raw")]
    assert read_flat({"loss": 2.5}) == [Score("loss", 2.5, unit="raw")]


def test_what_stands_beside_a_score_is_not_a_score():
    task = {"acc,none": 0.5, "acc_stderr,none": 0.1, "acc,none_n": 8, "mean": 1.0, "mean_stderr": 0.2, "mean_n": 3}
    assert [score.name for score in read_flat(task)] == ["acc,none", "mean"]
    alone = {"loss_stderr": 0.1, "word_n": 3.0, "x_ci_low": 1.0, "acc_stderr,strict": 0.5, "acc,none": 1.0}
    assert [score.name for score in read_flat(alone)] == list(alone)


def test_scores_that_somebody_changed_keep_what_the_dictionary_does_not_say():
    known = [
        Score("f1", 0.1, 0.0, 0.2, n=9, unit="percent", higher_is_better=True, metric="squad"),
        Score("loss", 3.0, n=7, higher_is_better=False),
    ]
    changed = {
        "f1": 0.5,
        "loss": [1, 2],
        "new": 4.0,
        "new_stderr": 0.5,
        "score": 0.5,
        "f1_ci_low": 0.4,
        "f1_ci_high": 0.6,
    }
    assert read_flat(changed, known) == [
        Score("f1", 0.5, 0.4, 0.6, n=9, unit="percent", higher_is_better=True, metric="squad"),
        Score("loss", [1, 2], n=7, higher_is_better=False),
        # What a step adds is taken for a score like the first one.
        Score("new", 4.0, n=9, unit="percent", higher_is_better=True, metric="squad"),
        Score("new_stderr", 0.5, n=9, unit="percent", higher_is_better=True, metric="squad"),
    ]


def test_the_main_score_of_a_file():
    assert main_of(FILE) == Score("f1", 0.5, 0.125, 0.75, unit="share")
    assert main_of({}) == Score("score", None)
    assert main_of({"score": True, "score_name": None}) == Score("score", None)
    assert math.isnan(main_of({"score": math.nan}).value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["0.5", None, [0.5]])
def test_a_main_score_that_is_not_a_number_has_no_value(value):
    assert main_of({"score": value, "score_name": "x"}).value is None


@pytest.mark.parametrize(
    "name, value, is_beside", [("acc_stderr,none", 0.25, True), ("num_of_instances", 7, True), ("acc,none", 0.5, False)]
)
def test_errors_and_counts_are_no_scores(name, value, is_beside):
    assert is_beside_scores(name, value) is is_beside
