"""REML of crossed effects: the closed form of balanced designs, statsmodels, nested and lacking cells, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proctor.statistics import variance_components
from proctor.statistics.variance_components import COMBINATIONS, QUESTION, REST, components_of


def simulated(stream, templates, demos, questions, *, template=0.1, demo=0.08, question=0.3, both=0.1, rest=0.2):
    """Return scores of crossed templates and demos, and the levels of each wording."""
    t, d = np.repeat(np.arange(templates), demos), np.tile(np.arange(demos), templates)
    scores = (
        0.5
        + stream.normal(0, template, templates)[t][:, None]
        + stream.normal(0, demo, demos)[d][:, None]
        + stream.normal(0, question, questions)
        + stream.normal(0, both, (templates, questions))[t]
        + stream.normal(0, rest, (templates * demos, questions))
    )
    return scores, t, d


RECORDED = {
    "template": 0.087168, "demos": 0.028527, COMBINATIONS: 0.004026, QUESTION: 0.051696,
    "template by question": 0.007576, "demos by question": 0.000318, REST: 0.03446,
}  # fmt: skip
"""By Nelder and Mead's method, whose likelihood is the largest of three."""


def variances(found):
    return {each.name: each.variance for each in found.parts}


def test_one_dimension_is_the_analysis_of_variance():
    scores, t, _ = simulated(np.random.default_rng(3), 7, 1, 60, demo=0)
    k, n = scores.shape
    rows, columns, mean = scores.mean(axis=1), scores.mean(axis=0), scores.mean()
    rest = ((scores - rows[:, None] - columns + mean) ** 2).sum() / ((k - 1) * (n - 1))
    found = components_of(scores, {"template": t})
    assert variances(found) == pytest.approx({
        "template": n * rows.var(ddof=1) / n - rest / n, QUESTION: columns.var(ddof=1) - rest / k, REST: rest,
    }, rel=1e-6)  # fmt: skip
    assert found.error**2 == pytest.approx(rows.var(ddof=1) / k + columns.var(ddof=1) / n - rest / (k * n), rel=1e-6)
    # both ends: of the template's variance as Wald and Weerahandi have it, of the mean as Student's
    assert all(each.low < each.variance < each.high for each in found.parts)
    assert found.low < found.naive_low < found.mean < found.naive_high < found.high


def test_two_dimensions_are_the_analysis_of_variance():
    y, t, d = simulated(np.random.default_rng(8), 6, 5, 80)
    cube = y.reshape(6, 5, 80)
    means = {
        axes: cube.mean(axis=axes, keepdims=True) for axes in ((1, 2), (0, 2), (0, 1), (2,), (1,), (0,), (0, 1, 2))
    }
    m = means[0, 1, 2]
    tt, dd, qq = means[1, 2] - m, means[0, 2] - m, means[0, 1] - m
    td, tq, dq = means[2,] - m - tt - dd, means[1,] - m - tt - qq, means[0,] - m - dd - qq
    left = cube - m - tt - dd - qq - td - tq - dq

    def square(part, freedom):
        return float((np.broadcast_to(part, cube.shape) ** 2).sum()) / freedom

    rest, c = square(left, 5 * 4 * 79), square(td, 20)
    of_t, of_d, of_q = square(tt, 5), square(dd, 4), square(qq, 79)
    of_tq, of_dq = square(tq, 5 * 79), square(dq, 4 * 79)
    expected = {
        "template": (of_t - of_tq - c + rest) / 400, "demos": (of_d - of_dq - c + rest) / 480,
        COMBINATIONS: (c - rest) / 80, QUESTION: (of_q - of_tq - of_dq + rest) / 30,
        "template by question": (of_tq - rest) / 5, "demos by question": (of_dq - rest) / 6, REST: rest,
    }  # fmt: skip
    found = variances(components_of(y, {"template": t, "demos": d}))
    assert found == pytest.approx({name: max(value, 0) for name, value in expected.items()}, rel=0.02, abs=3e-4)
    if min(expected.values()) > 0:
        assert found == pytest.approx(expected, rel=1e-5)


def test_estimates_are_those_of_statsmodels():
    """Recorded of statsmodels 0.15.0, MixedLM with variance components, REML, a cell of twelve lacking."""
    scores, t, d = simulated(np.random.default_rng(11), 4, 3, 12, template=0.3, demo=0.3)
    kept = np.arange(12) != 5
    found = components_of(scores[kept], {"template": t[kept], "demos": d[kept]})
    assert variances(found) == pytest.approx(RECORDED, rel=2e-3, abs=2e-5)


def test_a_wording_for_each_level_has_no_combinations_and_draws_of_demos_lie_within_their_number():
    scores, t, _ = simulated(np.random.default_rng(1), 6, 1, 30)
    assert [each.name for each in components_of(scores, {"template": t, "same": t, "one": [0] * 6}).parts] == [
        "template", QUESTION, REST,
    ]  # fmt: skip
    stream = np.random.default_rng(4)
    demos = ["0", "1", "1", "1", "5", "5", "5"]
    draws = [("0", "none"), ("1", "a"), ("1", "b"), ("1", "c"), ("5", "a"), ("5", "b"), ("5", "c")]
    level, draw = stream.normal(0, 0.3, 3), stream.normal(0, 0.05, 7)
    y = 0.5 + stream.normal(0, 0.3, 500) + stream.normal(0, 0.1, (7, 500)) + draw[:, None]
    y += level[[0, 1, 1, 1, 2, 2, 2]][:, None]
    found = components_of(y, {"demos": demos, "draw": draws})
    assert {"demos", "draw", "demos by question"} < set(variances(found))
    assert found.levels == {"demos": 3, "draw": 7}
    assert variances(found)["demos"] > variances(found)["draw"] > 0


@pytest.mark.parametrize("scores", [np.zeros((3, 5)), np.ones((3, 5)), np.repeat([[0.0], [1.0], [1.0]], 5, axis=1)])
def test_scores_that_do_not_differ_between_questions(scores):
    found = components_of(scores, {"template": [0, 1, 2]})
    assert all(each.variance == 0 for each in found.parts[1:])
    assert math.isfinite(found.error)
    assert found.parts[0].variance == pytest.approx(scores.mean(axis=1).var(ddof=1))


def test_equal_wordings_have_no_variance_and_bounds_stay_on_the_scale():
    row = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    found = components_of(np.array([row, row, row]), {"template": [0, 1, 2]}, whole=1.0)
    assert variances(found)["template"] == pytest.approx(0, abs=1e-6)
    assert variances(found)[QUESTION] == pytest.approx(row.var(ddof=1), rel=1e-4)
    assert 0 <= found.low < found.high <= 1
    with pytest.raises(ValueError, match="two wordings"):
        components_of(np.array([row]), {})


def test_intervals_hold_what_is_true(monkeypatch):
    """The whole table is in ``benchmarks/wording_components.py``."""
    monkeypatch.setattr(variance_components, "_DRAWS", 1_000)
    stream, runs = np.random.default_rng(21), 200
    held, mean, naive, estimates = [0, 0, 0], 0, 0, []
    truth = (0.04**2, 0.3**2, 0.2**2 + 0.05**2)
    for _ in range(runs):
        scores, t, _ = simulated(stream, 8, 1, 300, template=0.04, demo=0, both=0.05)
        found = components_of(scores, {"template": t})
        held = [
            hits + (part.low <= value <= part.high) for hits, part, value in zip(held, found.parts, truth, strict=True)
        ]
        estimates.append([part.variance for part in found.parts])
        mean, naive = mean + (found.low <= 0.5 <= found.high), naive + (found.naive_low <= 0.5 <= found.naive_high)
    assert all(0.90 <= hits / runs <= 0.99 for hits in held)
    assert mean / runs >= 0.91
    assert naive / runs < 0.88
    assert np.mean(estimates, axis=0) == pytest.approx(truth, rel=0.12)


def test_scores_that_are_all_equal_do_not_say_that_all_others_would_be():
    found = components_of(np.zeros((3, 40)), {"template": list("abc")}, whole=1.0)
    assert (found.mean, found.low, found.naive_low) == (0.0, 0.0, 0.0)
    assert found.high == found.naive_high == pytest.approx(1 - 0.025 ** (1 / 40))
    percent = components_of(np.full((3, 40), 100.0), {"template": list("abc")}, whole=100.0)
    assert percent.low == pytest.approx(100 - 100 * found.high)


def test_the_interval_over_wordings_is_never_narrower_than_that_of_questions():
    one = np.tile([1.0, 0.0, 0.0, 0.0], 10)
    found = components_of(np.array([one, np.roll(one, 1)]), {"template": ["a", "b"]}, whole=1.0)  # never both right
    assert found.low <= found.naive_low < found.naive_high <= found.high


def test_the_parts_of_a_small_grid_with_pairs_of_questions_are_those_that_were_recorded():
    stream, t, d = np.random.default_rng(3), np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    scores = 0.5 + stream.normal(0, 0.2, 3)[t][:, None] + stream.normal(0, 0.1, 2)[d][:, None]
    scores = np.clip(scores + stream.normal(0, 0.3, 24) + stream.normal(0, 0.2, (6, 24)), 0, 1).round(2)
    factors, pairs = {"template": t.tolist(), "demos": d.tolist()}, [place // 2 for place in range(24)]
    alone, together = (components_of(scores, factors, whole=1.0, clusters=each) for each in (None, pairs))
    assert [each.name for each in together.parts] == [
        "template", "demos", COMBINATIONS, "cluster", QUESTION, "template by question", "demos by question", REST
    ]  # fmt: skip
    near = {"abs": 2e-5}
    assert (alone.mean, alone.error, together.error) == pytest.approx((0.480694, 0.189818, 0.191627), **near)
    assert (alone.naive_low, alone.naive_high) == pytest.approx((0.392201, 0.569188), **near)
    assert (together.naive_low, together.naive_high) == pytest.approx((0.353479, 0.618128), **near)
    cluster, question, by_template = together.parts[3:6]
    assert (cluster.variance, cluster.low, cluster.high, cluster.share, cluster.averaged) == pytest.approx(
        (0.015878, 0.0, 0.071442, 0.036033, 12.0), **near
    )
    assert (question.variance, question.high, question.share) == pytest.approx((0.021722, 0.051062, 0.024647), **near)
    assert (by_template.low, by_template.high, by_template.averaged) == pytest.approx((0.0, 0.023718, 72.0), **near)
    [rest] = [each for each in alone.parts if each.name == REST]
    assert (rest.variance, rest.low, rest.high, rest.share) == pytest.approx(
        (0.022411, 0.014283, 0.040199, 0.004319), **near
    )
    assert sum(each.share for each in together.parts) == pytest.approx(1.0)
