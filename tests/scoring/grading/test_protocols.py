import pytest

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grades import Measured
from proctor.scoring.grading.protocols import Counts, Mark, MetricNames, OnPredictions, ScoreNames, as_step
from proctor.scoring.scores import Score

LATE, ODD = Failure("timeout", "late"), Failure("processor", "odd")


class Suffix:
    """Appends a field of the row; texts that begin with ``?`` cannot be read."""

    name, scope = "suffix", "row"

    def apply(self, values, rows):
        return [ODD if value[0] == "?" else value + row["end"] for value, row in zip(values, rows, strict=True)]


ROWS = [{"end": "!"}, {"end": "."}, {"end": ";"}]


def test_a_function_of_predictions_leaves_references_and_failures_alone():
    step = as_step(Suffix())
    assert isinstance(step, OnPredictions)
    assert as_step(step) is step
    assert (step.name, step.scope) == ("suffix", "row")
    found = step.process(Columns(["a", LATE, "c"], [["A"], ["B"], ["C"]], ROWS))
    assert found.predictions == ["a!", LATE, "c;"]
    assert found.references == [["A"], ["B"], ["C"]]
    assert step.process(Columns(["a", "?", "c"], [[]] * 3, ROWS)).predictions == ["a!", ODD, "c;"]


MEASURED = [
    Mark("", "f1", Measured([Score("f1", 0.5, 0.25, 0.75), Score("precision", 0.375)], "f1")),
    Mark("", "accuracy", Measured([Score("accuracy", 1.0), Score("precision", 9.0)], "accuracy")),
]


def test_scores_are_listed_with_their_bounds_then_the_main_one_then_the_counts():
    table = [Score("f1", 0.5, 0.25, 0.75), Score("accuracy", 1.0)]
    assert list(ScoreNames().flat(MEASURED, table, table[0], Counts(5, 2)).items()) == [
        ("f1", 0.5),
        ("f1_ci_low", 0.25),
        ("f1_ci_high", 0.75),
        ("accuracy", 1.0),
        ("score", 0.5),
        ("score_name", "f1"),
        ("score_ci_low", 0.25),
        ("score_ci_high", 0.75),
        ("num_of_instances", 3),
        ("num_of_failures", 2),
    ]
    assert ScoreNames().flat([], [], None, Counts(5, 0)) == {"num_of_instances": 5}


def test_a_score_of_a_named_grading_has_the_name_behind_it():
    assert ScoreNames().key("exact_match", "strict") == "exact_match,strict"
    assert ScoreNames().key("exact_match", "") == "exact_match"
    assert ScoreNames().order(MEASURED) == MEASURED


def test_of_metrics_with_equal_scores_the_first_one_counts():
    flat = MetricNames().flat(MEASURED, [], None, Counts(3, 0))
    assert (flat["score"], flat["score_name"], flat["score_ci_low"]) == (0.5, "f1", 0.25)
    assert (flat["precision"], flat["accuracy"]) == (0.375, 1.0)
    assert not {"num_of_failures", "metric_failures"} & set(flat)


def test_metrics_that_failed_are_listed_with_their_reason():
    broken = Mark("", "rouge", Measured(failure=Failure("metric", "no package")))
    flat = MetricNames().flat([MEASURED[1], broken], [], None, Counts(3, 1))
    assert (flat["score"], flat["num_of_failures"]) == (1.0, 1)
    assert flat["metric_failures"] == {"rouge": "no package"}


@pytest.mark.parametrize("failed", [0, 2])
def test_without_metrics_there_are_counts(failed):
    flat = MetricNames().flat([], [], None, Counts(5, failed))
    assert flat == ({"num_of_instances": 5} if not failed else {"num_of_instances": 3, "num_of_failures": 2})


class First:
    """Forgets all but the first value."""

    name, scope = "first", "value"

    def apply(self, values, rows):
        return values[:1]


@pytest.mark.parametrize("predictions", [["a", "b", "c"], ["a", LATE, "c"]])
def test_a_function_that_loses_answers_is_refused(predictions):
    with pytest.raises(ScoringError, match="'first' made 1 values of "):
        OnPredictions(First()).process(Columns(predictions, [[]] * 3))
