"""Intervals of a width that was fixed beforehand: they hold under the rule that stops a run, and ask few questions."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from scipy.stats import hypergeom, t

from proctor.statistics import fixed_width
from proctor.statistics.fixed_width import FixedWidthMean, Moments, fixed_width_bounds, next_look, units_needed


def looked_at(total: int, drawn: int, right: np.ndarray) -> Moments:
    mean = right / drawn
    return Moments(total, np.full(len(right), drawn), mean, mean * (1 - mean), mean * (1 - mean) * (1 - 2 * mean))


def exact_coverage(total: int, right: int, precision: float) -> tuple[float, float]:
    """Return how often the interval holds the share of right answers, and how many questions are asked.

    Nothing is simulated: the chances of all numbers of right answers are followed from look to look.
    """
    waiting = {fixed_width.FIRST_LOOK: dict(_outcomes(total, right, 0, 0, fixed_width.FIRST_LOOK))}
    order = list(waiting)
    missed = asked = 0.0
    while order:
        drawn = heapq.heappop(order)
        chances = waiting.pop(drawn)
        sums = np.array(sorted(chances))
        seen = looked_at(total, drawn, sums)
        low, high = fixed_width_bounds(seen, precision)
        low, high = np.maximum(low, sums / total), np.minimum(high, (sums + total - drawn) / total)
        for place, each in enumerate(sums):
            chance = chances[each]
            if drawn == total or (high[place] - low[place]) / 2 <= precision:
                missed += chance * (not low[place] - 1e-12 <= right / total <= high[place] + 1e-12)
                asked += chance * drawn
                continue
            size = min(int(next_look(looked_at(total, drawn, sums[[place]]), precision)[0]), total - drawn)
            if drawn + size not in waiting:
                waiting[drawn + size] = {}
                heapq.heappush(order, drawn + size)
            found = waiting[drawn + size]
            for one, share in _outcomes(total, right, drawn, each, size):
                found[one] = found.get(one, 0.0) + chance * share
    return 1.0 - missed, asked


def _outcomes(total: int, right: int, drawn: int, seen: int, size: int):
    new = np.arange(max(0, size - (total - drawn - right + seen)), min(size, right - seen) + 1)
    chances = hypergeom.pmf(new, total - drawn, right - seen, size)
    return [(int(seen + one), float(chance)) for one, chance in zip(new, chances, strict=True) if chance > 1e-9]


@pytest.mark.parametrize("share", [0.06, 0.2, 0.86])
def test_it_holds_in_95_of_100_runs_by_the_chances_of_every_way_a_run_can_end(share):
    held, asked = exact_coverage(500, round(share * 500), 0.05)
    assert 0.945 <= held <= 0.966
    assert asked <= 1.06 * float(units_needed(share * (1 - share), 500, 0.05)) + 16


@pytest.mark.parametrize("total, right", [(60, 1), (100, 2), (500, 5), (500, 495), (1_319, 13), (5_000, 100)])
def test_it_holds_near_the_ends_where_a_run_may_see_none_or_all(total, right):
    held, _ = exact_coverage(total, right, 0.05)
    assert held >= 0.94


SCORES = {
    "five levels": ([0, 0.25, 0.5, 0.75, 1], [0.1, 0.2, 0.3, 0.2, 0.2]),
    "mostly 0.9, now and then 0": ([0, 0.9], [0.03, 0.97]),
    "next to nothing, now and then 1": ([0.01, 0.02, 1], [0.5, 0.45, 0.05]),
    "half, now and then 0": ([0.5, 0], [0.96, 0.04]),
}


@pytest.mark.parametrize("kind", SCORES)
def test_graded_scores_have_it_too_and_equal_ones_do_not_end_it_early(kind):
    values, chances = map(np.array, SCORES[kind])
    stream = np.random.default_rng(5)
    exam = np.repeat(values, (chances * 1000).astype(int))
    held = []
    for _ in range(300):
        scores = stream.permutation(exam)
        found = FixedWidthMean(len(exam), len(exam), 0.03)
        asked, low, high = 0, 0.0, 1.0
        while (high - low) / 2 > 0.03:
            size = found.next_look()
            found.add([score] for score in scores[asked : asked + size])
            asked += size
            low, high = found.bounds()
        held.append(low <= exam.mean() <= high)
    assert np.mean(held) >= 0.915  # 95%, and the noise of 300 runs


def test_clusters_count_as_much_as_they_differ():
    stream = np.random.default_rng(3)
    sizes = stream.integers(1, 12, 400)
    clusters = [(stream.random(size) < stream.choice([0.2, 0.9])).astype(float).tolist() for size in sizes]
    mean = sum(map(sum, clusters)) / sizes.sum()
    held, asked = [], []
    for _ in range(120):
        order = stream.permutation(len(clusters))
        found = FixedWidthMean(len(clusters), int(sizes.sum()), 0.05)
        drawn = 0
        while (found.bounds()[1] - found.bounds()[0]) / 2 > 0.05:
            found.add(clusters[place] for place in order[drawn : drawn + 8])
            drawn += 8
        low, high = found.bounds()
        held.append(low <= mean <= high)
        asked.append(sizes[order[:drawn]].sum())
    assert np.mean(held) >= 0.88  # 95%, and the noise of 120 runs
    assert np.mean(asked) > 1.5 * float(units_needed(mean * (1 - mean), int(sizes.sum()), 0.05))


def test_one_cluster_says_nothing_and_all_of_them_everything():
    found = FixedWidthMean(2, 10, 0.05)
    found.add([[1.0] * 5])
    assert found.bounds() == (0.5, 1.0)
    found.add([[0.0] * 5])
    assert found.bounds() == (0.5, 0.5)


def test_missing_scores_may_be_anything_and_never_narrow_the_bounds():
    scores = [float(n % 5 != 0) for n in range(200)]
    whole, holes = FixedWidthMean(1_000, 1_000, 0.05), FixedWidthMean(1_000, 1_000, 0.05)
    whole.add([each] for each in scores)
    holes.add([None if n % 20 == 7 else each] for n, each in enumerate(scores))
    assert holes.bounds()[0] < whole.bounds()[0] < whole.bounds()[1] <= holes.bounds()[1]
    for _ in range(8):
        holes.add([None] for _ in range(100))
    assert holes.bounds() == pytest.approx((0.150, 0.960))


def test_a_handful_of_equal_scores_is_no_proof():
    for score in (0.0, 0.4, 1.0):
        found = FixedWidthMean(10_000, 10_000, 0.02)
        found.add([[score]] * 64)
        low, high = found.bounds()
        assert low <= score <= high
        assert high - low > 0.04


def test_right_and_wrong_answers_have_wilsons_interval():
    found = FixedWidthMean(10**9, 10**9, 0.02)
    found.add([[1.0]] * 600 + [[0.0]] * 400)
    z, n, p = 1.959964 * fixed_width._CAUTION, 1000, 0.6
    centre, margin = (p + z * z / 2 / n), z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    scale = 1 + z * z / n
    assert found.bounds() == pytest.approx(((centre - margin) / scale, (centre + margin) / scale), abs=1e-6)


@pytest.mark.parametrize("freedom", [8, 20, 100, 10_000])
def test_the_quantile_is_students(freedom):
    assert float(fixed_width._t_quantile(0.975, freedom)) == pytest.approx(t.ppf(0.975, freedom), abs=0.0005)


def test_looks_come_after_as_many_again_at_most_and_sixteen_at_least():
    found = FixedWidthMean(10_000, 10_000, 0.01)
    assert found.next_look() == fixed_width.FIRST_LOOK
    found.add([[float(n % 2)] for n in range(32)])
    assert found.next_look() == 32
    near = FixedWidthMean(10_000, 10_000, 0.2)
    near.add([[float(n % 2)] for n in range(32)])
    assert near.next_look() == 16
