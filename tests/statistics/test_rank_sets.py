"""The places of several models at once, and the level that holds for all their pairs."""

from __future__ import annotations

import numpy as np
import pytest

from proctor.settings import settings
from proctor.statistics import rank_sets
from proctor.statistics.distributions import normal_cdf
from proctor.statistics.paired_shares import mcnemar_p
from proctor.statistics.rank_sets import level_of_pairs, places_of


@pytest.mark.parametrize("models", [2, 5, 20])
def test_equal_models_are_seldom_told_apart(models):
    """`benchmarks/rank_sets.py` measures it for 2 to 60 models; here is a hundred of each."""
    wrong, runs = 0, 100
    for run in range(runs):
        stream = np.random.default_rng([models, run])
        ease = stream.normal(0.5, 1.5, 80)
        scores = (stream.random((models, 80)) < 1 / (1 + np.exp(-ease))).astype(float)
        level = level_of_pairs(scores)
        places = places_of(models, lambda one, two, scores=scores, level=level: sign(scores, one, two, level))
        wrong += any(place != (1, models) for place in places)
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def sign(scores, one, two, level):
    won, lost = int((scores[two] > scores[one]).sum()), int((scores[two] < scores[one]).sum())
    return (won > lost) - (won < lost) if mcnemar_p(won, lost) < level else 0


def test_the_level_of_two_models_is_the_level_and_of_many_lies_above_bonferronis():
    stream = np.random.default_rng(5)
    ease = stream.normal(0.5, 1.5, 300)
    scores = (stream.random((20, 300)) < 1 / (1 + np.exp(-ease))).astype(float)
    assert level_of_pairs(scores[:2]) == pytest.approx(0.05, abs=0.006)
    assert 0.05 / 190 < level_of_pairs(scores) < 0.05 / 10
    assert level_of_pairs(np.ones((3, 50))) == pytest.approx(0.05 / 3)
    assert level_of_pairs(scores[:3, :1]) == pytest.approx(0.05 / 3)


def test_ranks_by_hand():
    signs = {(0, 1): 1, (0, 2): 0, (1, 2): -1}
    assert places_of(3, lambda one, two: signs[one, two]) == [(2, 3), (1, 1), (2, 3)]


def test_places_count_those_that_are_better_and_worse():
    order = [3, 1, 1, 0]  # the larger, the better
    places = places_of(4, lambda one, two: (order[two] > order[one]) - (order[two] < order[one]))
    assert places == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert places_of(1, lambda one, two: 1) == [(1, 1)]


def graded(models, questions, seed=3):
    return np.random.default_rng(seed).random((models, questions))


def test_few_clusters_and_few_graded_scores_divide_the_error():
    scores = graded(4, 100)
    groups = [place // 2 for place in range(100)]
    divided = pytest.approx(0.05 / 6)
    assert level_of_pairs(scores[:, :49]) == level_of_pairs(scores, [place // 3 for place in range(100)]) == divided
    for resampled in (scores[:, :50], (scores[:, :20] > 0.5).astype(float)):
        assert level_of_pairs(resampled) > 1.05 * 0.05 / 6
    assert level_of_pairs(scores, groups) > 1.05 * 0.05 / 6
    assert level_of_pairs((scores > 0.5).astype(float), [place // 3 for place in range(100)]) == divided
    assert level_of_pairs(scores[:, :49], alpha=0.1) == pytest.approx(0.1 / 6)


def test_questions_of_one_group_are_drawn_together():
    """A question that is asked twice is one."""
    scores = graded(3, 60)
    twice, names = np.repeat(scores, 2, axis=1), [f"{place // 2:02}" for place in range(120)]
    assert level_of_pairs(twice, names) == pytest.approx(level_of_pairs(scores))
    mixed = [f"q{place}" for place in range(60)]
    assert level_of_pairs(scores, mixed) == pytest.approx(level_of_pairs(scores), rel=0.15)


def test_the_level_is_that_of_the_largest_of_all_studentised_differences(monkeypatch):
    scores = graded(3, 80)
    monkeypatch.setattr(rank_sets, "_RESAMPLES", 40)
    found = level_of_pairs(scores)
    centred = scores - scores.mean(axis=1, keepdims=True)
    stream, largest = np.random.default_rng(settings.seed), []
    for _ in range(40):
        drawn = centred @ stream.standard_normal(80)
        pairs = [(0, 1), (0, 2), (1, 2)]
        largest.append(
            max(abs(drawn[a] - drawn[b]) / np.sqrt(((centred[a] - centred[b]) ** 2).sum()) for a, b in pairs)
        )
    assert found == pytest.approx(min(0.05, 2 * normal_cdf(-np.quantile(largest, 0.95))))
    monkeypatch.setattr(rank_sets, "_AT_ONCE", 80 * 7)  # in parts
    assert level_of_pairs(scores) == pytest.approx(found)


def test_models_that_are_the_same_are_no_pair():
    scores = graded(2, 200)
    assert level_of_pairs(scores[[0, 1, 1, 0]]) == pytest.approx(level_of_pairs(scores), abs=0.01)
