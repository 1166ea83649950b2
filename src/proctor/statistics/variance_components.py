"""Variance components of scores that were measured under crossed wordings: templates, formats, demos, …, questions.

The score of a question under a wording is the sum of a mean, an effect of each dimension of the wording (and of their
combinations), an effect of the question, and effects of a question under a dimension; effects are drawn at random and
independent. Their variances are estimated by REML (Patterson and Thompson 1971, Biometrika 58:545). All wordings ask
the same questions, so means and contrasts of questions are independent, and both have covariances of one row for each
wording: nothing larger is ever held. In designs without empty cells, estimates above 0 are those of the analysis of
variance (Searle, Casella and McCulloch 1992, Variance Components, chapter 6).

Intervals of dimensions of wordings, of which there are few levels, are generalised confidence intervals (Weerahandi
1993, JASA 88:899) of Wald's sums of squares (1940, Annals 11:96). Those of questions come from the sandwich of the
scores, since right and wrong are not normal. The interval of the mean holds for other wordings and other questions of
the same kind ("total evaluation error": arXiv 2604.11581).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from proctor.lazy import Deferred
from proctor.settings import settings
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.distributions import normal_quantile, t_quantile

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

QUESTION, COMBINATIONS, REST = "question", "combinations", "rest"
_DRAWS: Final = 4_000
_STEPS: Final = 200  # of Fisher's scoring; ten or so are needed
_CLOSE: Final = 1e-10  # of the total variance: estimates move less when they have converged
_FLOOR: Final = 1e-8  # of the total variance: the least rest
_TINY: Final = 1e-9  # of the largest eigenvalue: below it a direction is not there
_FEWEST: Final = 8  # degrees of freedom from which on a variance's own interval is better than a normal one


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the variance of a single score.

    Attributes:
        name: A dimension, ``question``, ``DIMENSION by question``, ``combinations`` of dimensions, or ``rest``.
        variance: The estimate, in squared units of the score.
        low, high: Its 95% interval.
        share: Of the variance of the mean of all scores, which part is its.
    """

    name: str
    variance: float
    low: float
    high: float
    share: float


@dataclass(frozen=True, slots=True)
class Components:
    """Where the variance of a score comes from.

    Attributes:
        mean: Of all scores.
        error: Standard error of the mean over other wordings and other questions.
        low, high: The interval that holds for both.
        naive_low, naive_high: The interval of questions alone, which wordings do not widen.
        parts: The components, wordings first.
        wordings, questions: How many were asked.
        averaged: By component, over how many independent draws the mean averages it.
        levels: By dimension, how many levels it has.
    """

    mean: float
    error: float
    low: float
    high: float
    naive_low: float
    naive_high: float
    parts: tuple[Component, ...]
    wordings: int
    questions: int
    averaged: Mapping[str, float]
    levels: Mapping[str, int]

    def variance_of(self, name: str) -> float:
        """Return the estimate of a component; 0 where the design has none of the name."""
        return next((each.variance for each in self.parts if each.name == name), 0.0)


def components_of(
    scores: Floats, factors: Mapping[str, Sequence[Hashable]], *, whole: float | None = None, level: float = 0.95
) -> Components:
    """Return the variance components of scores.

    Args:
        scores: A row for each wording, a column for each question; without gaps.
        factors: By dimension, the level that each wording has. Dimensions of one level, and those that divide the
            wordings as another one does, have no component.
        whole: The full score, where scores lie between 0 and it: intervals stay within.
        level: Confidence level.

    Raises:
        ValueError: There are fewer than two wordings or questions.
    """
    if min(scores.shape) < 2:  # noqa: PLR2004 - of one nothing varies
        raise ValueError("variance components need two wordings and two questions")
    model = _Model.of(scores, _coded(factors, len(scores)))
    fitted = _fitted(model)
    return _told(model, fitted, whole, level)


def _coded(factors: Mapping[str, Sequence[Hashable]], count: int) -> dict[str, Indices]:
    """Return the levels of each dimension as numbers, without dimensions that add nothing."""
    found: dict[str, Indices] = {}
    seen: set[bytes] = set()
    for name, values in factors.items():
        first: dict[Hashable, int] = {}
        codes = np.array([first.setdefault(value, len(first)) for value in values])
        if len(first) > 1 and codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            found[name] = codes
    return found or {COMBINATIONS: np.arange(count)}


@dataclass(frozen=True, slots=True)
class _Model:
    """The sufficient statistics of scores, and which effects they have.

    Attributes:
        means: Of each wording.
        centred: Scores less the means of their wordings.
        spread: Covariance of the wordings over questions.
        within: Effects that differ between questions, as columns of 0 and 1 for each level; the rest is the last one.
        between: Effects of wordings.
        codes: The levels of each dimension.
    """

    means: Floats
    centred: Floats
    spread: Floats
    within: Mapping[str, Floats]
    between: Mapping[str, Floats]
    codes: Mapping[str, Indices]

    @classmethod
    def of(cls, scores: Floats, codes: Mapping[str, Indices]) -> _Model:
        """Return the model of scores."""
        count, questions = scores.shape
        means = scores.mean(axis=1)
        centred = scores - means[:, None]
        columns = {name: np.eye(int(each.max()) + 1)[each] for name, each in codes.items()}
        one, unit = np.ones((count, 1)), np.eye(count)
        free = count - int(np.linalg.matrix_rank(np.hstack([one, *columns.values()])))
        several = {name: each for name, each in columns.items() if each.shape[1] < count}
        within = {QUESTION: one, **{f"{name} by question": each for name, each in several.items()}, REST: unit}
        between = {**columns, **({COMBINATIONS: unit} if free > 0 else {})}
        return cls(means, centred, centred @ centred.T / (questions - 1), within, between, codes)

    @property
    def questions(self) -> int:
        return int(self.centred.shape[1])


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Estimates by name, and the covariance of those that differ between questions."""

    within: Mapping[str, float]
    between: Mapping[str, float]
    errors: Mapping[str, float]


# -- REML -------------------------------------------------------------------------------------------------------------


def _fitted(model: _Model) -> _Fitted:
    """Maximise the restricted likelihood by Fisher's scoring, over variances that are not negative."""
    names = [*model.within, *model.between]
    total = float(np.trace(model.spread)) / len(model.means)
    if total <= 0:
        nothing = dict.fromkeys(model.within, 0.0)
        return _Fitted(nothing, {**dict.fromkeys(model.between, 0.0), **_between_alone(model)}, nothing)
    floor = np.zeros(len(names))
    floor[len(model.within) - 1] = _FLOOR * total  # without a rest, wordings would be exact sums of others
    values = np.full(len(names), total / len(model.within))
    values[len(model.within) :] = float(model.means.var()) / len(model.between)
    found = _State.at(model, values)
    for _ in range(_STEPS):
        free = (values > floor) | (found.slope > 0)
        step = np.zeros(len(names))
        step[free] = np.linalg.lstsq(found.information[np.ix_(free, free)], found.slope[free], rcond=None)[0]
        size, new, ahead = 1.0, values, found
        while size > _CLOSE:
            new = np.maximum(values + size * step, floor)
            ahead = _State.at(model, new)
            if ahead.likelihood >= found.likelihood - 1e-12 * abs(found.likelihood):
                break
            size /= 2
        moved = float(np.abs(new - values).max())
        values, found = new, ahead
        if moved <= _CLOSE * total:
            break
    estimates = dict(zip(names, map(float, values), strict=True))
    return _Fitted(
        {name: estimates[name] for name in model.within},
        {name: estimates[name] for name in model.between},
        _errors(model, values),
    )


def _between_alone(model: _Model) -> dict[str, float]:
    """Return estimates where questions do not differ: all there is are the means of the wordings."""
    return {next(iter(model.between)): float(model.means.var(ddof=1))}


@dataclass(frozen=True, slots=True)
class _State:
    """The restricted log-likelihood at some variances, its slope, and the information."""

    likelihood: float
    slope: Floats
    information: Floats

    @classmethod
    def at(cls, model: _Model, values: Floats) -> _State:
        """Return the state at some variances."""
        n = model.questions
        inner, outer = list(model.within.values()), list(model.between.values())
        a = _sum(inner, values)
        v = a + n * _sum(outer, values[len(inner) :])
        a_inverse, v_inverse = _inverse(a), _inverse(v)
        ones = v_inverse.sum(axis=1)
        p = v_inverse - np.outer(ones, ones) / ones.sum()
        py = math.sqrt(n) * (p @ model.means)
        asa = a_inverse @ model.spread @ a_inverse
        likelihood = -0.5 * (
            (n - 1) * (np.linalg.slogdet(a)[1] + float((a_inverse * model.spread).sum()))
            + np.linalg.slogdet(v)[1] + math.log(float(ones.sum())) + math.sqrt(n) * float(model.means @ py)
        )  # fmt: skip
        every, size = [*inner, *outer], len(inner)
        scale = np.array([1.0] * size + [float(n)] * len(outer))
        means = np.array([float(((z.T @ py) ** 2).sum()) - _traced(p, z) for z in every]) * scale
        contrasts = np.array([(n - 1) * (_traced(asa, z) - _traced(a_inverse, z)) for z in inner])
        slope = 0.5 * (means + np.concatenate([contrasts, np.zeros(len(outer))]))
        information = 0.5 * np.outer(scale, scale) * _crossed(p, every)
        information[:size, :size] += 0.5 * (n - 1) * _crossed(a_inverse, inner)
        return cls(float(likelihood), slope, information)


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _sum(columns: Sequence[Floats], values: Floats) -> Floats:
    found: Floats = sum(value * (z @ z.T) for z, value in zip(columns, values, strict=False))
    return found


def _traced(matrix: Floats, z: Floats) -> float:
    """Return the trace of a matrix times z z'."""
    return float(((matrix @ z) * z).sum())


def _crossed(matrix: Floats, columns: Sequence[Floats]) -> Floats:
    """Return the traces of M z z' M y y' for each two effects."""
    products = [matrix @ z for z in columns]
    return np.array([[float(((y.T @ product) ** 2).sum()) for y in columns] for product in products])


def _errors(model: _Model, values: Floats) -> dict[str, float]:
    """Return the standard errors of what differs between questions, by the sandwich of the questions' scores."""
    inner = list(model.within.values())
    inverse = _inverse(_sum(inner, values))
    weighted = inverse @ model.centred
    n = model.questions
    each = np.array([((z.T @ weighted) ** 2).sum(axis=0) * n / (n - 1) - _traced(inverse, z) for z in inner]) / 2
    information = 0.5 * (n - 1) * _crossed(inverse, inner)
    errors = 1.0 / np.sqrt(np.diag(information))
    kept = np.flatnonzero(values[: len(inner)] > _FLOOR * 1.1 * float(values[: len(inner)].sum()))
    bread = np.linalg.pinv(information[np.ix_(kept, kept)])  # what is 0 says nothing of the others
    meat = each[kept] @ each[kept].T * (n / max(n - len(kept) - 1, 1))
    errors[kept] = np.sqrt(np.maximum(np.diag(bread @ meat @ bread), 0.0))
    return dict(zip(model.within, errors.tolist(), strict=True))


# -- intervals --------------------------------------------------------------------------------------------------------


def _told(model: _Model, fitted: _Fitted, whole: float | None, level: float) -> Components:
    n, count = model.questions, len(model.means)
    averaged = {name: count**2 / float((z.sum(axis=0) ** 2).sum()) for name, z in model.between.items()}
    averaged |= {name: n * count**2 / float((z.sum(axis=0) ** 2).sum()) for name, z in model.within.items()}
    every = {**fitted.between, **fitted.within}
    shares = {name: value / averaged[name] for name, value in every.items()}
    total = sum(shares.values())
    draws = _drawn(model, fitted)
    bounds = {name: _quantiles(draws.alone[name], level) for name in fitted.between}
    bounds |= {name: _bounds(value, fitted.errors[name], level) for name, value in fitted.within.items()}
    parts = [
        Component(name, value, min(low, value), max(high, value), shares[name] / total if total else 0.0)
        for name, value in every.items()
        for low, high in [bounds[name]]
    ]
    mean = float(model.means.mean())
    reach = float(np.quantile(np.abs(draws.normal) * np.sqrt(draws.variance), level))
    each = model.centred.mean(axis=0)
    naive = t_quantile((1 + level) / 2, n - 1) * float(each.std(ddof=1)) / math.sqrt(n)
    ends = [mean - reach, mean + reach, mean - naive, mean + naive]
    if whole is not None:
        ends = [min(max(each, 0.0), whole) for each in ends]
    low, high, naive_low, naive_high = ends
    levels = {name: int(codes.max()) + 1 for name, codes in model.codes.items()}
    error = math.sqrt(total)
    return Components(mean, error, low, high, naive_low, naive_high, tuple(parts), count, n, averaged, levels)


def _bounds(value: float, error: float, level: float) -> tuple[float, float]:
    """Return the interval of a variance: of a multiple of a chi-square, where that has many degrees of freedom."""
    z = normal_quantile((1 + level) / 2)
    freedom = 2 * value**2 / error**2 if error > 0 else math.inf
    if not math.isfinite(freedom) or freedom < _FEWEST:
        return max(0.0, value - z * error), value + z * error
    return value / _chi_square(freedom, z), value / _chi_square(freedom, -z)


def _chi_square(freedom: float, z: float) -> float:
    """Return a quantile of a chi-square by its degrees of freedom (Wilson and Hilferty 1931, PNAS 17:684)."""
    return (1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))) ** 3


def _quantiles(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class _Draws:
    """Draws of what components may be.

    Attributes:
        alone: Of each dimension of wordings.
        variance: Of the mean.
        normal: Standard normal ones.
    """

    alone: Mapping[str, Floats]
    variance: Floats
    normal: Floats


def _drawn(model: _Model, fitted: _Fitted) -> _Draws:
    """Draw the generalised pivots of the components of wordings, given those that questions tell of."""
    stream = np.random.default_rng(settings.seed & 0xFFFFFFFF)
    n, count = model.questions, len(model.means)
    rest = fitted.within[REST] / n
    factors = {name: z for name, z in model.between.items() if name != COMBINATIONS or name in model.codes}
    residual = _without([np.ones((count, 1)), *factors.values()], count)
    freedom = round(float(np.trace(residual)))
    error = np.full(_DRAWS, rest if all(z.shape[1] < count for z in factors.values()) else 0.0)
    if freedom > 0:
        error = np.maximum(float(model.means @ residual @ model.means) / stream.chisquare(freedom, _DRAWS), rest)
    variance = error / count
    freedom_of_questions = min(n - 1.0, _freedom(fitted.within[QUESTION], fitted.errors[QUESTION]))
    variance = variance + fitted.within[QUESTION] * freedom_of_questions / n / stream.chisquare(
        freedom_of_questions, _DRAWS
    )
    alone: dict[str, Floats] = {COMBINATIONS: np.maximum(error - rest, 0.0)} if freedom > 0 else {}
    pivots: dict[str, Floats] = {}
    for name in sorted(factors, key=lambda each: -factors[each].shape[1]):  # what is nested in others comes first
        pivots[name] = pivot = _pivot(name, factors, model.means, error, pivots, stream)
        of_questions = fitted.within.get(f"{name} by question", fitted.within[REST]) / n
        alone[name] = np.maximum(pivot - of_questions, 0.0)
        variance = variance + pivot * float((factors[name].sum(axis=0) ** 2).sum()) / count**2
    return _Draws(alone, variance, stream.standard_normal(_DRAWS))


def _freedom(value: float, error: float) -> float:
    return 2 * value**2 / error**2 if error > 0 and value > 0 else math.inf


def _without(columns: Sequence[Floats], count: int) -> Floats:
    """Return the projection on what is orthogonal to columns."""
    u, sizes, _ = np.linalg.svd(np.hstack(columns), full_matrices=False)
    basis = u[:, sizes > _TINY * sizes.max()]
    found: Floats = np.eye(count) - basis @ basis.T
    return found


def _pivot(
    name: str,
    factors: Mapping[str, Floats],
    means: Floats,
    error: Floats,
    pivots: Mapping[str, Floats],
    stream: np.random.Generator,
) -> Floats:
    """Return draws of the variance of a dimension, with what it has of questions' in the means of wordings.

    Its sum of squares, weighted by the variances of its directions, is a chi-square at the true variance.
    """
    z, count = factors[name], len(means)
    nested = [other for other in pivots if _is_within(factors[other], z)]
    others = [each for other, each in factors.items() if other != name and other not in nested]
    projection = _without([np.ones((count, 1)), *others], count)
    sizes, directions = np.linalg.eigh(z.T @ projection @ z)
    kept = sizes > _TINY * max(float(sizes.max()), 1.0)
    if not kept.any():
        return np.zeros(_DRAWS)
    axes = projection @ z @ directions[:, kept] / np.sqrt(sizes[kept])
    squares, sizes = (axes.T @ means) ** 2, sizes[kept]
    known = error[:, None] + sum(
        pivots[other][:, None] * ((factors[other].T @ axes) ** 2).sum(axis=0)[None, :] for other in nested
    )
    return _solved(squares, sizes, np.broadcast_to(known, (_DRAWS, len(sizes))), stream.chisquare(len(sizes), _DRAWS))


def _is_within(inner: Floats, outer: Floats) -> bool:
    """Whether each level of one dimension has one level of another."""
    return bool((((inner.T @ outer) > 0).sum(axis=1) == 1).all()) and inner.shape[1] > outer.shape[1]


def _solved(squares: Floats, sizes: Floats, known: Floats, wanted: Floats) -> Floats:
    """Return for each draw the variance at which the weighted sum of squares is what was drawn; 0 where none is."""
    high = float((squares / sizes).sum()) / wanted
    low = np.zeros_like(high)
    for _ in range(60):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            is_above = (squares / (known + middle[:, None] * sizes)).sum(axis=1) > wanted
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return np.asarray(high)
