"""Questions in clusters: a component of their own, and intervals of clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from proctor.statistics import variance_components
from proctor.statistics.decision_study import QUESTIONS, decisions_of
from proctor.statistics.question_clusters import CLUSTER, are_clusters, summed
from proctor.statistics.two_level import clustered_error
from proctor.statistics.variance_components import QUESTION, REST, components_of
from proctor.statistics.wording_spread import best_of, spread_of


def _simulated(stream, wordings: int, sizes, *, template=0.05, cluster=0.15, question=0.25, rest=0.2):
    """Return scores, and the cluster of each question."""
    keys = np.repeat(np.arange(len(sizes)), sizes)
    y = 0.5 + stream.normal(0, template, wordings)[:, None] + stream.normal(0, cluster, len(sizes))[keys]
    y = y + stream.normal(0, question, len(keys)) + stream.normal(0, rest, (wordings, len(keys)))
    return y, keys.tolist()


def test_estimates_are_those_of_statsmodels():
    pandas = pytest.importorskip("pandas")
    mixedlm = pytest.importorskip("statsmodels.formula.api").mixedlm
    y, keys = _simulated(np.random.default_rng(2), 4, [4] * 8, template=0.4, cluster=0.6, question=0.5, rest=0.6)
    rows = [(y[t, q], t, q, keys[q], 1) for t in range(4) for q in range(32)]
    table = pandas.DataFrame(rows, columns=["y", "t", "q", "g", "one"])
    formulas = {"t": "0 + C(t)", "q": "0 + C(q)", "g": "0 + C(g)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mixedlm("y ~ 1", table, groups="one", vc_formula=formulas, re_formula="0")
        fitted = model.fit(reml=True, method=["bfgs"], gtol=1e-10)
    theirs = {**dict(zip(model.exog_vc.names, fitted.vcomp, strict=True)), "rest": fitted.scale}
    ours = {part.name: part.variance for part in components_of(y, {"template": range(4)}, clusters=keys).parts}
    expected = {"template": theirs["t"], CLUSTER: theirs["g"], QUESTION: theirs["q"], REST: theirs["rest"]}
    assert min(expected.values()) > 0.01
    assert ours == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sizes", [[5] * 40, [1, 2, 3, 4, 5, 6, 9] * 6])
def test_intervals_hold_where_questions_come_in_clusters(monkeypatch, sizes):
    """The whole table is in ``benchmarks/wording_components.py``."""
    monkeypatch.setattr(variance_components, "_DRAWS", 1_000)
    stream, runs, held = np.random.default_rng(5), 150, np.zeros(5)
    for _ in range(runs):
        y, keys = _simulated(stream, 8, sizes)
        found, without = components_of(y, {"template": range(8)}, clusters=keys), components_of(y, {"t": range(8)})
        part = next(each for each in found.parts if each.name == CLUSTER)
        mine = [part.low <= 0.15**2 <= part.high, found.low <= 0.5 <= found.high, found.naive_low <= 0.5]
        held += [*mine, without.low <= 0.5 <= without.high, part.variance / 0.15**2]
    assert held[0] / runs >= 0.90
    assert held[1] / runs >= 0.91
    assert held[3] < held[1]
    assert held[4] / runs == pytest.approx(1, abs=0.1)


def test_what_is_computed_of_single_questions_is_computed_of_clusters():
    y, keys = _simulated(np.random.default_rng(3), 6, [4] * 30, cluster=0.4)
    sums = summed(y - y.mean(axis=1)[:, None], keys)
    n = y.shape[1]
    for row, each in zip(y, sums, strict=True):
        assert np.sqrt((each**2).sum() / (n - 1) / n) == pytest.approx(clustered_error(row, keys)[0], rel=1e-12)
    plain, mine = spread_of(y)[0][0.5], spread_of(y, clusters=keys)[0][0.5]
    assert mine[0] == plain[0]
    assert mine[2] - mine[1] > 1.3 * (plain[2] - plain[1])
    assert spread_of(y, clusters=list(range(n)))[0][0.5] == plain
    assert np.ptp(best_of(y, clusters=keys).corrected) > np.ptp(best_of(y).corrected)
    found = components_of(y, {"template": range(6)}, clusters=keys)
    assert found.naive_high - found.mean == pytest.approx(2.045 * clustered_error(y.mean(axis=0), keys)[0], rel=1e-3)
    more = next(each for each in decisions_of(found) if each.what == QUESTIONS)
    assert more.error < found.error


@pytest.mark.parametrize("keys", [None, [1] * 30, list(range(30))])
def test_what_are_no_clusters_changes_nothing(keys):
    y, _ = _simulated(np.random.default_rng(3), 4, [1] * 30)
    assert not are_clusters(keys)
    assert components_of(y, {"template": range(4)}, clusters=keys) == components_of(y, {"template": range(4)})
    assert summed(y, keys) is y
