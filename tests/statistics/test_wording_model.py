"""Estimates of whole wordings from a part of their answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_expit, logsumexp

from proctor.statistics.wording_model import _Fit, few_of, modelled


def _grid(wordings: int, questions: int, seed: int = 3) -> np.ndarray:
    stream = np.random.default_rng(seed)
    logits = 0.4 + stream.normal(0, 0.5, wordings)[:, None] - stream.normal(0, 1.3, questions)
    return (stream.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)


def _part(grid: np.ndarray, share: float, seed: int = 5) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(grid.shape) < share, grid, np.nan)


def test_a_whole_grid_is_told_as_it_was_measured():
    grid = _grid(6, 50)
    found = modelled(grid, {})
    truth = grid.mean(axis=1)
    for (value, low, high), score in zip(found.wordings, truth, strict=True):
        assert (value, low, high) == pytest.approx((score, score, score), abs=1e-12)
    assert [each[0] for each in found.quantiles.values()] == pytest.approx(np.quantile(truth, list(found.quantiles)))
    assert found.over[1] < found.mean[1] == pytest.approx(truth.mean())


@pytest.mark.parametrize("factors", [{}, {"family": [str(each % 5) for each in range(40)]}])
def test_a_part_tells_the_distribution_and_the_same_every_time(factors):
    grid = _grid(40, 400)
    found = modelled(_part(grid, 0.1), factors)
    truth = grid.mean(axis=1)
    for q in (0.25, 0.5, 0.75):
        value, low, high = found.quantiles[q]
        assert value == pytest.approx(np.quantile(truth, q), abs=0.08)
        assert low < value < high
        assert high - low < 0.15
    held = [low <= score <= high for (_, low, high), score in zip(found.wordings, truth, strict=True)]
    assert np.mean(held) > 0.85
    assert found.over[1] <= found.mean[1]
    assert found.over[2] >= found.mean[2]
    assert modelled(_part(grid, 0.1), factors) == found


def test_questions_that_nobody_was_asked_count():
    part = _part(_grid(20, 200), 0.2)
    few, many = modelled(part, {}), modelled(np.hstack([part, np.full((20, 2_000), np.nan)]), {})
    assert many.mean[0] == pytest.approx(few.mean[0], abs=0.03)
    assert many.mean[2] - many.mean[1] > few.mean[2] - few.mean[1]


def test_a_wording_that_breaks_everything_is_told_apart():
    grid = _grid(30, 300)
    grid[7] = 0.0
    found = modelled(_part(grid, 0.15), {})
    assert found.wordings[7][0] < 0.1
    assert found.quantiles[0.0][0] < 0.1
    assert found.quantiles[0.5][0] == pytest.approx(np.median(grid.mean(axis=1)), abs=0.04)


def test_the_mode_is_that_of_the_marginal_likelihood():
    part = _part(_grid(12, 150), 0.3)
    fit = _Fit(part, {"family": [str(each % 3) for each in range(12)]})
    prior, asked = fit.precisions(fit.variances), ~np.isnan(part)

    def posterior(found: np.ndarray) -> float:
        logits = (fit.columns @ found[:-1])[:, None, None] - np.exp(found[-1]) * fit.nodes
        each = np.where(np.nan_to_num(part)[:, :, None] > 0, log_expit(logits), log_expit(-logits))
        joint = (each * asked[:, :, None]).sum(axis=0) + fit.prior_of_nodes
        return float(logsumexp(joint, axis=1).sum() - 0.5 * (prior * found**2).sum())

    assert approx_fprime(fit.found, posterior, 1e-6) == pytest.approx(0, abs=0.02)
    bend = -np.array([
        (approx_fprime(fit.found + step, posterior, 1e-5) - approx_fprime(fit.found - step, posterior, 1e-5)) / 2e-3
        for step in 1e-3 * np.eye(len(fit.found))
    ])  # fmt: skip
    errors = np.sqrt(np.diag(np.linalg.inv(bend)))
    assert np.sqrt(np.diag(np.linalg.inv(fit.bend))) == pytest.approx(errors, rel=0.05)


def test_two_levels_say_nothing_of_others_and_the_interval_is_for_them():
    lopsided = {"template": [str(each // 2) for each in range(40)], "demos": [str(each % 2) for each in range(40)]}
    part = _part(_grid(40, 200), 0.2)
    found = modelled(part, lopsided)
    assert found.over[2] - found.over[1] < 0.2  # as draws of many levels they would make it the whole scale
    assert few_of(lopsided) == "demos (2)"
    assert few_of({"template": ["a", "b"], "format": ["x", "x"]}) == ""


def test_a_small_part_is_told_as_it_was_recorded():
    """Other draws would be as true, and other numbers: the same run gives the same ones."""
    part = _part(_grid(8, 40), 0.5)
    graded = np.where(np.isnan(part), part, part * np.random.default_rng(4).random(part.shape))
    plain, shares = modelled(part, {"family": list("aabbccdd")}), modelled(graded, {})
    near = {"abs": 5e-4}
    assert plain.wordings[0] == pytest.approx((0.68303, 0.54905, 0.81237), **near)
    assert plain.mean == pytest.approx((0.47310, 0.41412, 0.52416), **near)
    assert (plain.over[1:], plain.alone[1:]) == (
        pytest.approx((0.31750, 0.62870), **near), pytest.approx((0.38378, 0.56241), **near)
    )  # fmt: skip
    assert (plain.error, shares.error) == (pytest.approx(0.07386, **near), pytest.approx(0.03079, **near))
    assert plain.quantiles[0.0] == pytest.approx((0.20634, 0.0, 0.45540), **near)
    assert shares.wordings[7] == pytest.approx((0.26233, 0.19028, 0.34913), **near)
    assert shares.mean == pytest.approx((0.24115, 0.20416, 0.27974), **near)
