"""Equal instance scores are kept once, and stay what they are."""

from __future__ import annotations

import math
from typing import Any

import pytest

from proctor.scoring.columns import Columns
from proctor.scoring.map_reduce import ReductionInstanceMetric
from proctor.scoring.reductions import AggregationReduction, MeanReduction


class Said(ReductionInstanceMetric[Any, dict[str, Any]]):
    """Returns what the prediction is."""

    main_score: str = "said"
    reduction: AggregationReduction = MeanReduction()

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the prediction as a score."""
        return {"said": prediction}


def said(predictions: list[Any]) -> list[Any]:
    columns = Columns(predictions, [["x"]] * len(predictions))
    return list(Said(n_resamples=None).measure(columns).instances["said"])


def test_equal_scores_share_their_memory():
    metric = Said(n_resamples=None)
    mapped = metric.map_stream((value, ["x"], {}) for value in [1.0, 0.0, 1.0, 0.5] * 500)
    assert len({id(each) for each in mapped}) == 3


def test_more_different_scores_than_are_kept_are_right():
    values = [float(n) for n in range(3000)] * 2
    assert said(values) == values


@pytest.mark.parametrize("values", [[1.0, 1, True, 1.0], [0.0, -0.0, 0, False, 0.0], [0.5, math.nan, 0.5]])
def test_scores_that_are_equal_but_not_the_same_stay_apart(values):
    assert [repr(each) for each in said(values)] == [repr(each) for each in values]
