import pytest

from proctor.scoring.columns import Columns
from proctor.scoring.grades import Measured
from proctor.scoring.grading.column_store import Store, StoredColumn
from proctor.scoring.scores import Score

FULL = Columns(
    ["a", "b", "c"],
    [["A"], ["B"], ["C"]],
    task_data=[{"n": 0}, {"n": 1}, {"n": 2}],
    responses=[("ra",), ("rb",), ("rc",)],  # type: ignore[list-item]
    classes=[["public"], ["pii"], []],
    rows=[{"r": 0}, {"r": 1}, {"r": 2}],
    prompts=["pa", "pb", "pc"],
    raw=["wa", "wb", "wc"],
)


@pytest.mark.parametrize("positions", [[2, 0], range(2, -1, -2), range(2, -1, -1), [2, 1, 0], [1, 1, 1], [0], []])
def test_a_selection_has_every_column_at_its_positions(positions):
    found = FULL.select(positions)
    assert len(found) == len(positions)
    for name in ("predictions", "references", "task_data", "responses", "classes", "rows", "prompts", "raw"):
        assert getattr(found, name) == [getattr(FULL, name)[position] for position in positions], name


def test_a_selection_of_everything_copies_nothing():
    assert FULL.select(range(3)) is FULL
    assert FULL.select([0, 1, 2]) is FULL


def test_columns_that_are_not_there_stay_away():
    found = Columns(["a", "b"], [["A"], ["B"]]).select([1])
    assert (found.task_data, found.responses, found.rows) == ((), (), ())
    assert found.all_fields() == [{}]
    assert FULL.all_fields() is FULL.task_data


def test_columns_in_a_store_are_selected_there():
    column = StoredColumn(Store(), ["a", "b", "c"])
    found = Columns(column, FULL.references).select([2, 0]).predictions
    assert isinstance(found, StoredColumn)
    assert found == ["c", "a"]


def test_a_score_is_found_by_its_name():
    scores = [Score("f1", 0.5), Score("em", 0.25)]
    assert Measured(scores).score("em") is scores[1]
    assert Measured(scores).score("bleu") is None
