"""Scores of whole wordings from a part of their answers: PromptEval (Polo and others 2024, arXiv 2405.17202).

The chance that a question is answered right under a wording is logistic(theta - beta): theta says how good the wording
is, beta how hard the question. As in the paper's version with covariates, theta is the sum of a mean, an effect of each
level of the dimensions of wordings and one of the wording itself. Unlike there, questions are integrated out on a grid
(marginal maximum likelihood: Bock and Aitkin 1981, Psychometrika 46:443), since five answers say too little of a
question to estimate it, and effects have a prior: a skewed Student's t, so that some wordings may break everything,
with spreads that are estimated. The mode is found by Newton steps. Around it the likelihood is taken as normal, and a
Gibbs sampler draws effects and their spreads, then questions, then the answers that were not asked for. Priors of
spreads are half-Cauchy (Wand and others 2011, Bayesian Analysis 6:847) times the spread: one near 0 would make equal of
wordings that a few answers do not tell apart. A quantile of the wordings is averaged over draws of all wordings, since
the quantile of single estimates, each with its noise, lies too far out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from proctor.lazy import np
from proctor.settings import settings
from proctor.statistics.arrays import Floats
from proctor.statistics.distributions import t_quantile
from proctor.statistics.wording_spread import QUANTILES, Bounded

WORDING: Final = "wording"
FEW: Final = 5
"""Levels of a dimension: of fewer, what other levels are like is not known, and the interval is for those there are."""
_DRAWS: Final = 400  # the ends of intervals then move by a tenth of their width from seed to seed
_APART: Final = 3  # Gibbs steps between them
_BURNT: Final = 200  # and before the first: it begins at the mode
_TURNS: Final = 200  # of the search for spreads: some dozens are needed
_STEPS: Final = 30  # Newton steps in a turn: one or two after the first turn
_CLOSE: Final = 0.01  # relative changes of spreads: the sampler draws them anyway
_SETTLED: Final = 1e-4  # logits: a Newton step that changes no fourth decimal of a score
_NODES: Final = 41  # of the grid of difficulties: less than a quarter of a standard deviation apart
_REACH: Final = 4.5  # standard deviations where it ends
_FLAT: Final = 1e-4  # precision of the prior of the mean: 100 logits either way
_TAIL: Final = 5.0  # degrees of freedom of effects: heavier tails widen the quantiles of ordinary wordings
_WIDE: Final = 1.0  # logits: the scale of the half-Cauchy prior of spreads, wide beside 0.2 to 0.6 of real wordings
_HALF: Final = math.sqrt(2.0 / math.pi)  # the mean of a half-normal
_WEIGHED: Final = 3  # times that the weight of graded scores is found: it then changes by less than a tenth
_PUREST: Final = 0.02  # of the variance of right and wrong: graded scores may vary less, and then weigh like that
_WIDER: Final = 1.3  # than the model has them are intervals of quantiles, which held in 89% of simulations
_WIDER_ENDS: Final = 1.65  # and those of the lowest and the highest, which held in 77%
_WIDER_MEAN: Final = 1.15  # and that of the mean, which held in 90% of simulations with 5% asked
_LEAST: Final = 1e-6  # of a variance, whose inverse is used


@dataclass(frozen=True, slots=True)
class WordingModel:
    """Estimates for all wordings on all questions, as shares of the full score, with 95% intervals.

    Attributes:
        wordings: The score of each wording.
        quantiles: Those of the wordings' scores, by :data:`~proctor.statistics.wording_spread.QUANTILES`.
        mean: Of these wordings on these questions.
        over: The same, with an interval that holds for other wordings and other questions, too; of dimensions of
            fewer than :data:`FEW` levels for these levels.
        alone: The same, with an interval of questions alone.
        error: The standard error of ``over``.
    """

    wordings: tuple[Bounded, ...]
    quantiles: Mapping[float, Bounded]
    mean: Bounded
    over: Bounded
    alone: Bounded
    error: float


def modelled(scores: Floats, factors: Mapping[str, Sequence[Hashable]]) -> WordingModel:
    """Return what the scores of a whole grid are, of which a part was asked that was drawn at random.

    Args:
        scores: Shares from 0 to 1, a row for each wording and a column for each question; NaN where it was not asked.
        factors: By dimension, the level that each wording has.
    """
    fit = _Fit(scores, factors)
    found = np.array(list(fit.drawn()))
    means, ordered = found.mean(axis=1), np.quantile(found, QUANTILES, axis=1)
    wider = {q: _WIDER_ENDS if q in (0.0, 1.0) else _WIDER for q in QUANTILES}
    quantiles = {q: _bounded(draws, wider[q]) for q, draws in zip(QUANTILES, ordered, strict=True)}
    parts = [*fit.parts(), (float(means.var()) * _WIDER_MEAN**2, math.inf)]
    over, error = _reaching(float(means.mean()), parts)
    alone, _ = _reaching(float(means.mean()), parts[-2:])
    return WordingModel(tuple(map(_bounded, found.T)), quantiles, _bounded(means, _WIDER_MEAN), over, alone, error)


def few_of(factors: Mapping[str, Sequence[Hashable]]) -> str:
    """Return in words for which dimensions an interval holds at these levels only, as they are few; ``""`` for none."""
    counts = {name: (len(set(values)), len(values)) for name, values in factors.items()}
    return ", ".join(f"{name} ({levels})" for name, (levels, count) in counts.items() if 1 < levels < min(FEW, count))


def _bounded(draws: Floats, wider: float = 1.0) -> Bounded:
    mean, (low, high) = float(draws.mean()), np.quantile(draws, [0.025, 0.975]).tolist()
    return mean, max(mean - wider * (mean - low), 0.0), min(mean + wider * (high - mean), 1.0)


def _reaching(mean: float, parts: Sequence[tuple[float, float]]) -> tuple[Bounded, float]:
    """Return a mean with its interval, and its standard error, from variances with their degrees of freedom.

    Those of the sum are Satterthwaite's (1946, Biometrics Bulletin 2:110).
    """
    total = sum(variance for variance, _ in parts)
    freedom = total**2 / max(sum(variance**2 / degrees for variance, degrees in parts), 1e-300)
    reach = t_quantile(0.975, max(freedom, 1.0)) * math.sqrt(total)
    return (mean, max(0.0, mean - reach), min(1.0, mean + reach)), math.sqrt(total)


class _Fit:
    """The mode of the posterior: the mean, effects of levels and wordings, and the log of the questions' spread."""

    def __init__(self, scores: Floats, factors: Mapping[str, Sequence[Hashable]]) -> None:
        count, self.questions = scores.shape
        is_asked = ~np.isnan(scores)
        self.asked, self.points = is_asked.astype(np.float64), np.where(is_asked, scores, 0.0)
        self.pairs, self.sums = np.nonzero(is_asked), self.points.sum(axis=1)
        self.dispersion = 1.0
        blocks: dict[str, Floats] = {}
        for name, values in factors.items():
            order = {value: place for place, value in enumerate(dict.fromkeys(values))}
            if 1 < len(order) < count:
                blocks[name] = np.eye(len(order))[[order[value] for value in values]]
        blocks[WORDING] = np.eye(count)
        self.columns = np.hstack([np.ones((count, 1)), *blocks.values()])
        ends = np.cumsum([1, *(each.shape[1] for each in blocks.values())]).tolist()
        self.blocks = {name: slice(*ends[place : place + 2]) for place, name in enumerate(blocks)}
        self.nodes = np.linspace(-_REACH, _REACH, _NODES)
        self.prior_of_nodes = -0.5 * self.nodes**2
        self.prior_of_nodes -= np.log(np.exp(self.prior_of_nodes).sum())
        share = (self.points.sum() + 1.0) / (self.asked.sum() + 2.0)
        self.found = np.zeros(self.columns.shape[1] + 1)
        self.found[0] = math.log(share / (1.0 - share))
        self.variances = dict.fromkeys(blocks, 0.1)
        is_graded = bool(((self.points > 0) & (self.points < 1)).any())
        self.bend = self._searched()
        for _ in range(_WEIGHED if is_graded else 0):
            self._weigh(scores)
            self.bend = self._searched()

    def _weigh(self, scores: Floats) -> None:
        """Let graded scores count for as many answers as they vary less than right and wrong (Wedderburn 1974)."""
        right, likely = self.chances(self.found)
        counts, points = (self.dispersion * each @ likely for each in (self.asked, self.points))
        squares = float(np.nansum(scores**2)) + float((right**2 * counts - 2.0 * right * points).sum())
        self.asked, self.points = self.asked * self.dispersion, self.points * self.dispersion
        self.dispersion = max(squares / float((right * (1.0 - right) * counts).sum()), _PUREST)
        self.asked, self.points = self.asked / self.dispersion, self.points / self.dispersion

    def _searched(self) -> Floats:
        """Move to the mode, with spreads estimated by EM; return the second derivatives there.

        Of the sum of m squares m - 1 is taken, so that spreads of few levels are not 0 (Chung and others 2013,
        Psychometrika 78:685).
        """
        bend = np.eye(len(self.found))
        for _ in range(_TURNS):
            bend = self._mode()
            doubt, before = np.diag(np.linalg.inv(bend)), dict(self.variances)
            for name, place in self.blocks.items():
                squares = float((self.found[place] ** 2 + doubt[place]).sum())
                self.variances[name] = max(squares / max(place.stop - place.start - 1, 1), _LEAST)
            if all(abs(self.variances[name] - before[name]) <= _CLOSE * before[name] for name in before):
                break
        return self._mode()

    def _mode(self) -> Floats:
        bend = np.eye(len(self.found))
        for _ in range(_STEPS):
            slope, bend = self._state()
            step = np.linalg.solve(bend, slope)
            longest = float(np.abs(step).max())
            self.found = self.found + step * min(1.0, 1.0 / max(longest, _SETTLED))
            if longest < _SETTLED:
                break
        return bend

    def precisions(self, variances: Mapping[str, float], weights: Floats | float = 1.0) -> Floats:
        """Return those of the priors: of effects, weights over variances; of the logarithm of a spread 1."""
        found = np.full(len(self.found), _FLAT)
        for name, place in self.blocks.items():
            found[place] = 1.0 / variances[name]
        found[1:-1] *= weights
        found[-1] = 1.0
        return found

    def chances(self, found: Floats) -> tuple[Floats, Floats]:
        """Return the chance of each wording at each node, and how likely each question lies at each node."""
        logits = (self.columns @ found[:-1])[:, None] - math.exp(min(found[-1], _REACH)) * self.nodes
        right = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
        wrong = np.log1p(-right)
        joint = self.points.T @ (np.log(right) - wrong) + self.asked.T @ wrong + self.prior_of_nodes
        likely = np.exp(joint - joint.max(axis=1, keepdims=True))
        return right, likely / likely.sum(axis=1, keepdims=True)

    def _state(self) -> tuple[Floats, Floats]:
        """Return the slope of the log-posterior and its negative second derivatives.

        These are those with known difficulties less what is lost since they are not known (Louis 1982, JRSS B 44:226);
        between effects the loss is that along the mean of a difficulty, which is nearly all.
        """
        right, likely = self.chances(self.found)
        b, z, spread = self.nodes, self.columns, math.exp(min(self.found[-1], _REACH))
        counts = self.asked @ likely
        left, weights = self.points @ likely - right * counts, right * (1.0 - right) * counts
        slope = np.append(z.T @ left.sum(axis=1), -spread * float((left @ b).sum()))
        mean = likely @ b
        deviation = np.sqrt(np.maximum(likely @ b**2 - mean**2, 1e-12))
        expected = right @ likely.T
        lost = z.T @ (self.asked * ((right * b) @ likely.T - expected * mean) / deviation)
        of_spread = -spread * b * (self.points.sum(axis=0)[:, None] - self.asked.T @ right)
        centre = (likely * of_spread).sum(axis=1)
        with_spread = (self.asked * (right @ (likely * of_spread).T - expected * centre)).sum(axis=1)
        both = z.T @ (with_spread - spread * (weights @ b))
        alone = spread**2 * float((weights @ b**2).sum())
        alone -= float(((likely * of_spread**2).sum(axis=1) - centre**2).sum())
        effects = (z.T * weights.sum(axis=1)) @ z - lost @ lost.T
        bend = np.block([[effects, both[:, None]], [both[None, :], np.array([[max(alone, 0.0)]])]])
        prior = self.precisions(self.variances)
        return slope - prior * self.found, bend + np.diag(prior)

    def drawn(self) -> Iterator[Floats]:
        """Yield draws of the scores of all wordings on all questions."""
        stream = np.random.default_rng(settings.seed & 0xFFFFFFFF)
        for place, found in enumerate(self._effects(stream)):
            if place >= _BURNT and (place - _BURNT) % _APART == 0:
                yield self._scores(found, stream)

    def _effects(self, stream: np.random.Generator) -> Iterator[Floats]:
        """Yield draws; an effect is a leaning times a centred half-normal, plus Student's t (Azzalini 1985)."""
        told = self.bend - np.diag(self.precisions(self.variances))  # by the answers, without the prior
        toward, variances = self.bend @ self.found, dict(self.variances)
        weights, scales = np.ones(len(self.found) - 2), dict.fromkeys(variances, 1.0)
        leaning, around, own = 0.0, np.zeros(len(self.found)), self.blocks[WORDING]
        halves = np.abs(stream.standard_normal(own.stop - own.start))
        for _ in range(_BURNT + _APART * _DRAWS):
            prior = self.precisions(variances, weights)
            root = np.linalg.inv(np.linalg.cholesky(told + np.diag(prior)))
            found = root.T @ (root @ (toward + prior * around) + stream.standard_normal(len(toward)))
            for name, place in self.blocks.items():
                inside = slice(place.start - 1, place.stop - 1)
                squares, size = (found - around)[place] ** 2, place.stop - place.start
                half = float((weights[inside] * squares).sum()) / 2.0 + 1.0 / scales[name]
                variances[name] = max(half / stream.gamma(size / 2.0), _LEAST)
                scales[name] = (1.0 / _WIDE**2 + 1.0 / variances[name]) / stream.gamma(1.0)
                weights[inside] = stream.gamma((_TAIL + 1.0) / 2.0, 2.0 / (_TAIL + squares / variances[name]))
            precise = weights[own.start - 1 : own.stop - 1] / variances[WORDING]
            halves = _halves(halves, leaning, found[own], precise, stream)
            apart = halves - _HALF
            bend = float(precise @ apart**2) + 1.0 / _WIDE**2
            leaning = float(precise @ (apart * found[own])) / bend + stream.standard_normal() / math.sqrt(bend)
            around[own] = leaning * apart
            yield found

    def _scores(self, found: Floats, stream: np.random.Generator) -> Floats:
        """Return scores where difficulties and the answers that were not asked for are drawn."""
        right, likely = self.chances(found)
        n, (rows, columns) = self.questions, self.pairs
        chosen = (np.cumsum(likely, axis=1) < stream.random((n, 1))).sum(axis=1).clip(0, _NODES - 1)
        of_asked = np.bincount(rows * _NODES + chosen[columns], minlength=right.size).reshape(right.shape)
        counts = np.bincount(chosen, minlength=_NODES) - of_asked
        noise = np.sqrt(self.dispersion * (right * (1.0 - right) * counts).sum(axis=1)) * stream.standard_normal(
            len(right)
        )
        scores: Floats = np.clip((self.sums + (right * counts).sum(axis=1) + noise) / n, 0.0, 1.0)
        return scores

    def parts(self) -> list[tuple[float, float]]:
        """Return what each kind of effect adds to the variance of the mean score, with degrees of freedom.

        The last is that of questions, which are taken as drawn from all alike. Levels of which there are few are taken
        as they are: with two of them, 12.7 standard errors to either side would be the whole scale.
        """
        right, likely = self.chances(self.found)
        slope = float(((right * (1.0 - right)) @ likely.mean(axis=0)).mean())
        sizes = {name: place.stop - place.start for name, place in self.blocks.items()}
        sizes = {name: size for name, size in sizes.items() if size >= FEW or name == WORDING}
        found = [(slope**2 * self.variances[name] / size, size - 1.0) for name, size in sizes.items()]
        mean, prior = right.mean(axis=0), np.exp(self.prior_of_nodes)
        return [*found, (float(prior @ mean**2 - (prior @ mean) ** 2) / self.questions, self.questions - 1.0)]


def _halves(before: Floats, leaning: float, effects: Floats, precise: Floats, stream: np.random.Generator) -> Floats:
    """Return a Gibbs step of half-normals by slices (Damien and Walker 2001, JCGS 10:206)."""
    variance = 1.0 / (1.0 + precise * leaning**2)
    mean = variance * precise * leaning * (effects + leaning * _HALF)
    reach = np.sqrt((before - mean) ** 2 + 2.0 * variance * stream.standard_exponential(len(before)))
    low = np.maximum(mean - reach, 0.0)
    found: Floats = low + (mean + reach - low) * stream.random(len(before))
    return found
