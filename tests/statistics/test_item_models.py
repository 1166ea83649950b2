"""Models of questions from other models' answers: which questions are drawn depends on their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from proctor.statistics.item_models import ItemModel

MISSING = float("nan")
TABLE = [
    [1, 1, 1, 0, 1, 0, 0, 0],
    [1, 1, 0, 1, 0, 0, 1, 0],
    [1, 0, 1, 1, 1, 1, 0, 0],
    [0, 1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1, 1, 0],
    [1, 1, 1, 0, 1, 0, MISSING, 0],
    [0, 0, 1, 0, 1, 0, 0, 0],
    [1, 1, 0, 1, 0.5, 0, 1, 1],
]


def predicted(model: ItemModel, answers: dict[int, float]) -> list[float]:
    return model.predictions(np.array(list(answers), dtype=np.intp), list(answers.values())).tolist()


@pytest.mark.parametrize(
    "answers, expected",
    [
        ({}, [0.6419, 0.6336, 0.5837, 0.5004, 0.6155, 0.3718, 0.4565, 0.3046]),
        ({0: 0.0, 3: 1.0}, [0.5915, 0.6236, 0.4856, 0.4728, 0.5252, 0.3186, 0.4502, 0.3032]),
        ({4: 1.0, 2: 1.0}, [0.8018, 0.7198, 0.8019, 0.6685, 0.8157, 0.603, 0.5884, 0.4158]),
    ],
)
def test_runs_that_were_begun_draw_on_alike_because_predictions_stay_the_same(answers, expected) -> None:
    assert predicted(ItemModel.fit(TABLE), answers) == pytest.approx(expected, abs=1e-4)


def test_a_few_models_have_one_factor_and_eight_have_two() -> None:
    assert [ItemModel.fit(TABLE[:count]).loadings.shape for count in (3, 7, 8)] == [(8, 1), (8, 1), (8, 2)]
    expected = [0.742, 0.6561, 0.662, 0.6611, 0.662, 0.5717, 0.5654, 0.4705]
    assert predicted(ItemModel.fit(TABLE[:3]), {1: 1.0}) == pytest.approx(expected, abs=1e-4)


def test_more_right_answers_never_lower_what_is_expected() -> None:
    model = ItemModel.fit(TABLE)
    assert np.all(np.array(predicted(model, {0: 1.0, 1: 1.0})) >= predicted(model, {0: 0.0, 1: 0.0}))


def test_nothing_is_expected_for_sure() -> None:
    sure = ItemModel.fit([[1.0, 0.0]] * 40)
    assert predicted(sure, {0: 1.0, 1: 0.0}) == pytest.approx([0.98, 0.02], abs=0.05)
    assert all(0.02 <= each <= 0.98 for each in predicted(sure, dict.fromkeys((0, 1), 1.0)))


def test_some_questions_in_another_order_are_the_same_questions() -> None:
    model = ItemModel.fit(TABLE)
    turned = model.of([7, 0])
    assert predicted(turned, {}) == pytest.approx([predicted(model, {})[place] for place in (7, 0)])


@pytest.mark.parametrize("table", [TABLE[:2], [[], [], []], [1.0, 0.0, 1.0]])
def test_too_little_to_learn_from_is_refused(table) -> None:
    with pytest.raises(ValueError, match="a model of questions needs 3 models and a question"):
        ItemModel.fit(table)
