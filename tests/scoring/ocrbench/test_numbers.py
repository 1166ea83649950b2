"""Counts and boxes are as right as they are near."""

from __future__ import annotations

import pytest

from proctor.scoring.evaluators.ocrbench.matching import box_said, count_said, last_box, signed_overlap


@pytest.mark.parametrize(
    "said, score",
    [("I count 8", 0.8), ("10, not 3", 1.0), ("5", 0.0), ("15", 0.0), ("20", 0.0), ("none", 0.0), ("0", 0.0)],
)
def test_the_first_number_counts_by_its_nearness(said: str, score: float) -> None:
    assert count_said(said, ["10"], "regression") == pytest.approx(score)


def test_the_best_of_several_answers_counts() -> None:
    assert count_said("8", [20, "10"], "regression") == pytest.approx(0.8)
    assert count_said("it has 7 words", [6, 7], "exact match") == 1


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="'nearest'"):
        count_said("8", ["8"], "nearest")
    with pytest.raises(ValueError, match="not a list"):
        count_said("8", "8", "regression")
    with pytest.raises(ValueError, match="invalid literal"):
        count_said("8", ["eight"], "regression")


def test_the_last_box_inside_the_picture_is_taken() -> None:
    assert last_box("[1,2,3,4] then ( 5, 6, 7, 8 ) and [0,0,1001,4]") == (5, 6, 7, 8)
    assert last_box("[1,2,3]") is None
    assert box_said("no box", [0, 0, 10, 10]) == 0
    assert box_said("[0,0,10,5]", ["0", "0", "10", "10"]) == 0.5


def test_a_reversed_box_has_a_negative_side() -> None:
    assert signed_overlap([10, 0, 0, 10], [0, 0, 10, 10]) == 0
    assert signed_overlap([0, 0, 10, 10], ["left", 0, 10, 10]) == 0
    assert signed_overlap([0, 0, 0, 0], [0, 0, 0, 0]) == 0
