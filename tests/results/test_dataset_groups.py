"""Groups of datasets: the unit of their scores, and what a mean of repeats is called."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import ScoringError
from proctor.results.dataset_groups import SummaryBoard, summary_groups
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score, Unit


def grade(value: float, unit: Unit, **scores: Any) -> Grade:
    score = Score("accuracy", value, unit=unit)
    return Grade(scores, table=[score], main=score)


def scored(grades: dict[str, Grade], **how: Any) -> dict[str, Any]:
    (group,) = summary_groups({"summary_groups": [{"name": "g", "subsets": list(grades), **how}]})
    return group.score(grades)


@pytest.mark.parametrize(
    "units, how, unit",
    [
        (("share", "share"), {}, "share"),
        (("percent", "percent"), {}, "percent"),
        (("percent", "share"), {}, "percent"),
        (("raw", "raw"), {}, None),
        (("raw", "share"), {}, None),
        (("share", "share"), {"sum": True}, None),
        (("share", "share"), {"std": True}, None),
        (("share", "share"), {"transforms": {"b": "x * 2"}}, None),
        (("share", "share"), {"weights": {"a": 1, "b": 1}}, "share"),
        (("share", "share"), {"harmonic_mean": True}, "share"),
        (("share", "share"), {"metric": "mine"}, None),
    ],
)
def test_means_are_in_the_unit_of_what_they_are_means_of(units, how, unit) -> None:
    found = scored({name: grade(0.5, each) for name, each in zip("ab", units, strict=True)}, **how)
    assert found.get("unit") == unit


def test_a_mean_of_repeats_is_called_by_its_own_name() -> None:
    found = scored({"a": grade(0.5, "share", repeats={"n": 2}), "b": grade(0.7, "share")})
    assert (found["score"], found["score_name"]) == (pytest.approx(0.6), "naive_average")


def test_a_group_of_what_was_not_graded_has_no_scores() -> None:
    assert scored({"a": Grade({})}) == {}
    (group,) = summary_groups({"summary_groups": [{"name": "g", "subsets": ["a", "b"]}]})
    assert group.score({"a": grade(0.5, "share")}) == {}


@pytest.mark.parametrize("listed", ["x", {"name": "g"}, 3])
def test_groups_are_a_list(listed) -> None:
    with pytest.raises(ScoringError, match="summary_groups is not a list"):
        summary_groups({"summary_groups": listed})


@pytest.mark.parametrize(
    "group", [{"subsets": ["a"]}, {"name": "g"}, {"name": "g", "subsets": "a"}, {"name": "g", "subsets": [["a"]]}, "g"]
)
def test_a_group_has_a_name_and_datasets(group) -> None:
    with pytest.raises(ScoringError, match="has no name or no subsets"):
        summary_groups({"summary_groups": [group]})
    assert summary_groups(None) == summary_groups({}) == []


def test_a_table_of_models_has_what_each_of_them_has() -> None:
    results = {"m": {"a": {"accuracy": 50.0}}, "n": {"b": {"f1": 20.0}, "c": {"error": "late"}}}
    board = SummaryBoard.of(results, {"a": "gen", "b": "ppl"})
    assert board.table(None, {"a": "v1", "b": "v2", "c": "v3"})[1:] == [
        ["a", "v1", "accuracy", "gen", "50.00", "-"],
        ["b", "v2", "f1", "ppl", "-", "20.00"],
        ["c", "-", "-", "-", "-", "-"],
    ]
    assert board.table([["b", "f1"], ["b", "nothing"]], {})[1:] == [
        ["b", "-", "f1", "ppl", "-", "20.00"],
        ["b", "-", "-", "-", "-", "-"],
    ]
