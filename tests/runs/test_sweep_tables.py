"""What is said of two sweeps in words."""

import pytest

from proctor.runs.sweep_tables import difference_told

FOUND = {
    "mean": 0.1,
    "naive_low": 0.05,
    "naive_high": 0.15,
    "wordings": 4,
    "questions": 1200,
    "baseline": "old",
    "sweep": "new",
    "unpaired": 0,
    "higher_under": "3 of 4 wordings",
    "quantiles": [{"of": 0.5, "first": 0.4, "second": 0.55, "difference": 0.15}],
}


@pytest.mark.parametrize(
    "low, high, decided",
    [
        (0.01, 0.2, "decided"),
        (-0.2, -0.01, "decided"),
        (0.0, 0.2, "not decided"),
        (-0.2, 0.0, "not decided"),
        (-0.1, 0.1, "not decided"),
    ],
)
def test_a_difference_is_decided_where_its_interval_is_on_one_side_of_0(low, high, decided):
    said, table = difference_told({**FOUND, "low": low, "high": high})
    assert f"[{low:+.4f} to {high:+.4f}] over wordings and questions, {decided}; questions alone" in said
    assert [row[-1] for row in table.rows] == ["+0.1500"]
    assert said.startswith("new beside old (4 wordings, 1,200 questions): +0.1000")
    assert "estimated" not in table.title


def test_answers_of_a_part_are_counted():
    said, table = difference_told({**FOUND, "low": 0.01, "high": 0.2, "answers": 60, "unpaired": 2, "notes": ["so"]})
    assert "60 answers of either; 2 that ask otherwise, or only one has, are left out)" in said
    assert said.endswith("\nso")
    assert table.title.endswith("estimated from a part")
