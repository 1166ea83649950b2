"""Questions drawn for what they tell: unbiased whatever the predictions, intervals that hold, fewer questions."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest

from proctor.statistics.adaptive import AdaptiveMean
from proctor.statistics.item_models import ItemModel


def answers(models: int = 13, questions: int = 400, seed: int = 1) -> np.ndarray:
    stream = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-(stream.normal(1, 3, questions) + stream.normal(0, 1, (models, 1)))))
    return (stream.random(chance.shape) < chance).astype(float)


TABLE = answers()
MODEL = ItemModel.fit(TABLE[1:])


def measured(scores, model, asked, seed):
    drawn = AdaptiveMean(len(scores), model, Random(seed).random)
    while drawn.count < asked:
        drawn.take([float(scores[place]) for place in drawn.draw(min(32, asked - drawn.count))])
    return drawn


def test_questions_are_drawn_once_and_everything_asked_is_everything_known():
    drawn = measured(TABLE[0], MODEL, 400, 1)
    assert sorted(drawn.places) == list(range(400))
    assert drawn.estimate() == pytest.approx((TABLE[0].mean(),) * 3)


@pytest.mark.parametrize("scores", [TABLE[0], 1 - TABLE[0]], ids=["like the others", "unlike the others"])
def test_the_estimate_is_unbiased_and_its_interval_holds_whatever_the_model_is(scores):
    found = [measured(scores, MODEL, 96, seed).estimate() for seed in range(150)]
    means = np.array([mean for mean, _, _ in found])
    assert abs(means.mean() - scores.mean()) < 4 * means.std() / np.sqrt(len(means)) + 1e-3
    held = np.mean([low <= scores.mean() <= high for _, low, high in found])
    assert held >= 0.89  # 95%, and the noise of 150 runs


def test_others_answers_are_worth_questions():
    plain, helped = (
        np.std([measured(TABLE[0], model, 96, seed).estimate()[0] for seed in range(60)]) for model in (None, MODEL)
    )
    assert helped < 0.93 * plain  # worth a fifth more questions, and the noise of 60 runs


def test_missing_scores_may_be_anything():
    known, missing = (AdaptiveMean(400, MODEL, Random(1).random) for _ in range(2))
    places = known.draw(64)
    assert missing.draw(64) == places
    known.take([float(TABLE[0][place]) for place in places])
    missing.take([None if n < 4 else float(TABLE[0][place]) for n, place in enumerate(places)])
    assert missing.estimate()[1] <= known.estimate()[1] < known.estimate()[2] <= missing.estimate()[2]


def test_what_a_round_was_cut_off_before_can_be_drawn_again():
    drawn = AdaptiveMean(400, MODEL, Random(1).random)
    places = drawn.draw(32)
    drawn.take([1.0] * 10)
    assert drawn.places == places[:10]
    rest = [place for _ in range(40) for place in take_all(drawn)]
    assert sorted([*places[:10], *rest]) == list(range(400))


def take_all(drawn):
    places = drawn.draw(32)
    drawn.take([1.0] * len(places))
    return places


def test_nothing_asked_is_nothing_known():
    assert AdaptiveMean(10, None, Random(1).random).estimate() == (0.5, 0.0, 1.0)


def test_predictions_follow_the_answers_of_a_new_model():
    before = MODEL.predictions(np.array([], dtype=np.intp), [])
    places = np.arange(0, 400, 2)
    after = MODEL.predictions(places, TABLE[0][places])
    left = np.arange(1, 400, 2)
    wrong = [float(((each - TABLE[0]) ** 2)[left].mean()) for each in (before, after)]
    assert wrong[1] < wrong[0] < TABLE[0].var()
    assert after.min() >= 0.02
    assert after.max() <= 0.98


def test_answers_that_are_missing_are_no_wrong_ones():
    table = TABLE[1:].copy()
    table[np.random.default_rng(5).random(table.shape) < 0.3] = np.nan
    found = ItemModel.fit(table).predictions(np.arange(100), TABLE[0][:100])
    assert float(((found - TABLE[0]) ** 2).mean()) < 0.8 * TABLE[0].var()


def test_too_few_models_are_refused():
    with pytest.raises(ValueError, match="3 models"):
        ItemModel.fit(TABLE[:2])


def test_the_same_answers_draw_the_same_questions():
    places = [json.dumps(measured(TABLE[0], MODEL, 96, 3).places) for _ in range(2)]
    assert places[0] == places[1]
