"""Difficulty, discrimination and the answers that speak against a gold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from proctor.statistics.item_quality import difficulty, discriminations, rest_means, rival_of


def answers(models: int, questions: int, seed: int = 1) -> np.ndarray:
    stream = np.random.default_rng(seed)
    skill, ease = stream.normal(0, 1, models), stream.normal(0, 1, questions)
    return (stream.random((models, questions)) < 1 / (1 + np.exp(-(skill[:, None] + ease)))).astype(float)


def test_difficulty_is_the_share_of_points_lost_with_the_interval_of_that_share():
    value, (low, high) = difficulty(np.array([1.0, 1.0, 1.0, 0.0]))
    assert value == 0.25
    assert (low, high) == pytest.approx(stats.binomtest(1, 4).proportion_ci(method="wilson"), abs=0.06)


def test_a_question_that_all_answer_is_not_known_to_be_answered_by_every_model():
    value, (low, high) = difficulty(np.ones(5))
    assert (value, low) == (0.0, 0.0)
    assert 0.4 < high < 0.7


def test_equal_grades_between_the_ends_say_nothing_of_other_models():
    assert difficulty(np.array([0.5, 0.5, 0.5])) == (0.5, (0.0, 1.0))


def test_discrimination_is_the_correlation_with_the_mean_of_all_other_questions():
    table = answers(12, 30)
    found = discriminations(table)
    for place in range(30):
        rest = np.delete(table, place, axis=1).mean(axis=1)
        if np.ptp(table[:, place]):
            expected = stats.pearsonr(table[:, place], rest)
            bounds = expected.confidence_interval(0.95)
            assert (found[place].value, found[place].low, found[place].high) == pytest.approx(
                (expected.statistic, bounds.low, bounds.high), abs=1e-9
            )
        else:
            assert found[place] is None


def test_missing_scores_are_left_out_of_both():
    table = answers(12, 30)
    table[:6, 7], table[6:9, 7], table[9:, 7] = math.nan, 0.0, 1.0
    rest = np.delete(table[6:], 7, axis=1).mean(axis=1)
    assert rest_means(table)[6:, 7] == pytest.approx(rest)
    assert discriminations(table)[7].value == pytest.approx(np.corrcoef(table[6:, 7], rest)[0, 1])


@pytest.mark.parametrize("models", [1, 2, 3])
def test_fewer_than_four_models_have_no_discrimination(models):
    assert discriminations(answers(models, 10)) == [None] * 10


def test_models_that_do_not_differ_have_no_discrimination():
    assert discriminations(np.tile([1.0, 0.0, 1.0], (5, 1))) == [None] * 3


def test_the_answer_of_the_better_models_outweighs_that_of_more_weaker_ones():
    scores, skills = np.zeros(5), np.array([0.95, 0.95, 0.5, 0.5, 0.5])
    found = rival_of(scores, skills, ["b", "b", "c", "c", "c"])
    assert (found.answer, found.models) == ("b", (0, 1))
    assert found.weight > 0


def test_right_answers_of_better_models_outweigh_a_rival():
    found = rival_of(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.9, 0.9, 0.7, 0.7]), ["a", "a", "b", "b"])
    assert (found.answer, found.weight) == ("b", 0.0)


def test_models_no_better_than_guessing_do_not_vote():
    assert rival_of(np.zeros(3), np.array([0.3, 0.4, 0.5]), ["b", "b", "b"]).weight == 0.0


@pytest.mark.parametrize("given", [[None, None], ["a", "a"]])
def test_without_a_wrong_answer_that_is_known_there_is_no_rival(given):
    scores = np.array([0.0, 0.0]) if given[0] is None else np.ones(2)
    assert rival_of(scores, np.array([0.9, 0.9]), given) is None


def test_few_models_on_a_line_leave_an_interval_open():
    (found, *_) = discriminations(np.eye(5))
    assert found.value == pytest.approx(-1.0)
    assert (found.low, found.high) == pytest.approx((-1.0, -0.51), abs=0.01)
