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
from typing import Final

from proctor.lazy import np
from proctor.settings import settings
from proctor.statistics.arrays import Floats
from proctor.statistics.bounded import within
from proctor.statistics.distributions import normal_quantile, t_quantile
from proctor.statistics.question_clusters import CLUSTER, ClusterPart, are_clusters, cluster_part

QUESTION, COMBINATIONS, REST, BY_QUESTION = "question", "combinations", "rest", " by question"
_DRAWS: Final = 4_000
_STEPS: Final = 200  # of Fisher's scoring; ten or so are needed
_CLOSE: Final = 1e-10  # of the total variance: estimates move less when they have converged
_FLOOR: Final = 1e-8  # of the total variance: the least rest, without which some wording is the sum of others
_TINY: Final = 1e-9  # of the largest eigenvalue: below it a direction is not there
_FEWEST: Final = 8  # degrees of freedom from which on a variance's own interval is better than a normal one


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the variance of a single score, in squared units of it, with its interval.

    Its name is a dimension, ``question``, ``cluster`` of questions, ``DIMENSION by question``, ``combinations`` of
    dimensions, or ``rest``. The mean of all scores averages it over so many independent draws; ``share`` is its part of
    the mean's variance.
    """

    name: str
    variance: float
    low: float
    high: float
    share: float
    averaged: float


@dataclass(frozen=True, slots=True)
class Components:
    """Where the variance of a score comes from: its components, those of wordings first.

    ``mean`` has a standard error and an interval over other wordings and other questions; ``naive_low`` to
    ``naive_high`` is the interval of questions alone. ``levels`` says how many levels each dimension has.
    """

    mean: float
    error: float
    low: float
    high: float
    naive_low: float
    naive_high: float
    parts: tuple[Component, ...]
    questions: int
    levels: Mapping[str, int]


def components_of(
    scores: Floats,
    factors: Mapping[str, Sequence[Hashable]],
    *,
    whole: float | None = None,
    level: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> Components:
    """Return the variance components of scores.

    Args:
        scores: A row for each wording, a column for each question, at least two of both; without gaps.
        factors: By dimension, the level that each wording has. Dimensions of one level, and those that divide the
            wordings as another one does, have no component.
        whole: The full score, where scores lie between 0 and it: intervals stay within, and shut out nothing that
            questions could add which nobody has seen.
        level: Of the intervals of the mean.
        clusters: A key for each question: those with the same one belong together, and are a component of their own.
    """
    if min(scores.shape) < 2:  # noqa: PLR2004 - of one nothing varies
        raise ValueError("variance components need two wordings and two questions")
    model = _Model(scores, factors)
    values, errors = _fitted(model)
    found = None
    if clusters is not None and are_clusters(clusters):
        stream = np.random.default_rng([settings.seed & 0xFFFFFFFF, 1])
        found = cluster_part(scores.mean(axis=0), clusters, stream, _DRAWS)
    alone, variances, normal = _drawn(model, values, errors, found)
    bounds = {name: np.quantile(alone[name], [0.025, 0.975]).tolist() for name in model.between}
    bounds |= {name: _bounds(values[name], errors[name]) for name in model.within}
    columns = {**model.between, **model.within}
    n, count = model.questions, len(scores)
    averaged = {
        name: (n if name in model.within else 1) * count**2 / float((z.sum(axis=0) ** 2).sum())
        for name, z in columns.items()
    }
    names = list(columns)
    if found is not None:
        values[QUESTION], values[CLUSTER] = max(values[QUESTION] - found.less, 0.0), found.variance
        bounds |= {QUESTION: _bounds(values[QUESTION], errors[QUESTION]), CLUSTER: [found.low, found.high]}
        averaged[CLUSTER] = found.averaged
        names.insert(names.index(QUESTION), CLUSTER)
    total = sum(values[name] / averaged[name] for name in names)
    parts = []
    for name in names:
        value, (low, high), share = values[name], bounds[name], values[name] / averaged[name] / (total or 1.0)
        parts.append(Component(name, value, min(low, value), max(high, value), share, averaged[name]))
    mean = float(scores.mean())
    reach = float(np.quantile(np.abs(normal) * np.sqrt(variances), level))
    alone_error, freedom = float(scores.mean(axis=0).std(ddof=1)) / math.sqrt(n), n - 1
    if found is not None:
        alone_error, freedom = found.error, found.freedom
    alone_reach = t_quantile((1 + level) / 2, freedom) * alone_error
    reach = max(reach, alone_reach)  # equal means of two wordings by luck would say less than the questions
    ends = [(mean - reach, mean + reach), (mean - alone_reach, mean + alone_reach)]
    if whole is not None:  # scores that are all 0 do not say that others would be
        units, full = n if clusters is None else len(set(clusters)), whole
        shares = [within(low / full, high / full, mean / full, units, level) for low, high in ends]
        ends = [(full * low, full * high) for low, high in shares]
    (low, high), (naive_low, naive_high) = ends
    levels = {name: z.shape[1] for name, z in model.factors.items()}
    return Components(mean, math.sqrt(total), low, high, naive_low, naive_high, tuple(parts), n, levels)


class _Model:
    """The sufficient statistics of scores; effects within questions, the rest last, and between wordings."""

    def __init__(self, scores: Floats, factors: Mapping[str, Sequence[Hashable]]) -> None:
        count, self.questions = scores.shape
        self.means = scores.mean(axis=1)
        self.centred = scores - self.means[:, None]
        self.spread = self.centred @ self.centred.T / (self.questions - 1)
        found: dict[tuple[int, ...], tuple[str, Floats]] = {}
        for name, values in factors.items():
            order = {value: place for place, value in enumerate(dict.fromkeys(values))}
            codes = tuple(order[value] for value in values)
            if len(order) > 1 and codes not in found:
                found[codes] = name, np.eye(len(order))[list(codes)]
        one, unit = np.ones((count, 1)), np.eye(count)
        self.factors: dict[str, Floats] = dict(found.values()) or {COMBINATIONS: unit}
        self.residual = _without([one, *self.factors.values()])
        self.freedom = round(float(np.trace(self.residual)))
        several = {f"{name}{BY_QUESTION}": z for name, z in self.factors.items() if z.shape[1] < count}
        self.within = {QUESTION: one, **several, REST: unit}
        self.between = {**self.factors, **({COMBINATIONS: unit} if self.freedom > 0 else {})}


def _fitted(model: _Model) -> tuple[dict[str, float], dict[str, float]]:
    """Return the estimates, which are not negative, by Fisher's scoring; and standard errors of those of questions."""
    names, size = [*model.within, *model.between], len(model.within)
    total = float(np.trace(model.spread)) / len(model.means)
    if total <= 0:  # all questions score alike: the means of the wordings are all there is
        nothing = dict.fromkeys(names, 0.0)
        return {**nothing, next(iter(model.between)): float(model.means.var(ddof=1))}, nothing
    floor = np.zeros(len(names))
    floor[size - 1] = _FLOOR * total
    values = np.full(len(names), total / size)
    values[size:] = float(model.means.var()) / len(model.between)
    likelihood, slope, information = _state(model, values)
    for _ in range(_STEPS):
        free, step, before, new, length = (values > floor) | (slope > 0), np.zeros(len(names)), likelihood, values, 1.0
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], slope[free], rcond=None)[0]
        while length > _CLOSE:
            new = np.maximum(values + length * step, floor)
            likelihood, slope, information = _state(model, new)
            if likelihood >= before - 1e-12 * abs(before):
                break
            length /= 2
        moved, values = float(np.abs(new - values).max()), new
        if moved <= _CLOSE * total:
            break
    errors = _errors(model, values[:size])
    return dict(zip(names, map(float, values), strict=True)), dict(zip(model.within, errors.tolist(), strict=True))


def _state(model: _Model, values: Floats) -> tuple[float, Floats, Floats]:
    """Return the restricted log-likelihood at some variances, its slope, and the expected information."""
    n, inner, outer = model.questions, list(model.within.values()), list(model.between.values())
    size, every = len(inner), [*inner, *outer]
    a = _sum(inner, values)
    v = a + n * _sum(outer, values[size:])
    of_a, of_v = (np.asarray(each, dtype=np.float64) for each in (np.linalg.inv(a), np.linalg.inv(v)))
    ones = of_v.sum(axis=1)
    p = of_v - np.outer(ones, ones) / ones.sum()
    py = math.sqrt(n) * (p @ model.means)
    logarithms = (n - 1) * np.linalg.slogdet(a)[1] + np.linalg.slogdet(v)[1] + math.log(float(ones.sum()))
    squares = (n - 1) * float((of_a * model.spread).sum()) + math.sqrt(n) * float(model.means @ py)
    scale = np.array([1.0] * size + [float(n)] * len(outer))
    slope = scale * np.array([float(((z.T @ py) ** 2).sum()) - _traced(p, z) for z in every])
    weighted = of_a @ model.spread @ of_a
    slope[:size] += [(n - 1) * (_traced(weighted, z) - _traced(of_a, z)) for z in inner]
    information = np.outer(scale, scale) * _crossed(p, every)
    information[:size, :size] += (n - 1) * _crossed(of_a, inner)
    return -0.5 * float(logarithms + squares), 0.5 * slope, 0.5 * information


def _errors(model: _Model, values: Floats) -> Floats:
    """Return the standard errors of what differs between questions, by the sandwich of the questions' scores."""
    inner, n = list(model.within.values()), model.questions
    inverse = np.asarray(np.linalg.inv(_sum(inner, values)), dtype=np.float64)
    weighted = inverse @ model.centred
    each = np.array([((z.T @ weighted) ** 2).sum(axis=0) * n / (n - 1) - _traced(inverse, z) for z in inner]) / 2
    information = 0.5 * (n - 1) * _crossed(inverse, inner)
    errors = 1.0 / np.sqrt(np.diag(information))
    kept = np.flatnonzero(values > _FLOOR * 1.1 * float(values.sum()))
    bread = np.linalg.pinv(information[np.ix_(kept, kept)])  # what is 0 says nothing of the others
    meat = each[kept] @ each[kept].T * (n / max(n - len(kept) - 1, 1))
    errors[kept] = np.sqrt(np.maximum(np.diag(bread @ meat @ bread), 0.0))
    return np.asarray(errors)


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


def _bounds(value: float, error: float) -> tuple[float, float]:
    """Return the interval of a variance: of a multiple of a chi-square, where that has many degrees of freedom."""
    z = normal_quantile(0.975)
    freedom = 2 * value**2 / error**2 if error > 0 else 0.0
    if freedom < _FEWEST:
        return max(0.0, value - z * error), value + z * error
    # quantiles of a chi-square by Wilson and Hilferty (1931, PNAS 17:684)
    low, high = ((1 - 2 / (9 * freedom) + each * math.sqrt(2 / (9 * freedom))) ** 3 for each in (z, -z))
    return value / low, value / high


def _drawn(
    model: _Model, values: Mapping[str, float], errors: Mapping[str, float], clusters: ClusterPart | None
) -> tuple[dict[str, Floats], Floats, Floats]:
    """Draw the components of wordings given those of questions, the variance of the mean, and standard normals."""
    stream = np.random.default_rng(settings.seed & 0xFFFFFFFF)
    n, count, rest = model.questions, len(model.means), values[REST] / model.questions
    has_own = any(z.shape[1] == count for z in model.factors.values())  # the rest is then part of that dimension's
    error = np.full(_DRAWS, 0.0 if has_own else rest)
    if model.freedom > 0:
        square = float(model.means @ model.residual @ model.means)
        error = np.maximum(square / stream.chisquare(model.freedom, _DRAWS), rest)
    of_question, its_error = values[QUESTION], errors[QUESTION]
    freedom = min(n - 1.0, 2 * of_question**2 / its_error**2) if its_error else n - 1.0
    if freedom < _FEWEST:
        questions = np.maximum(of_question + its_error * stream.standard_normal(_DRAWS), 0.0)
    else:
        questions = of_question * freedom / stream.chisquare(freedom, _DRAWS)
    questions = questions / n
    if clusters is not None:  # what is not of questions is what the mean of each has of the rest
        others = (float(model.centred.mean(axis=0).var(ddof=1)) - of_question) / n
        freedom = clusters.freedom
        questions = max(clusters.error**2 - others, 0.0) * freedom / stream.chisquare(freedom, _DRAWS)
    variance = error / count + questions
    alone, pivots = {COMBINATIONS: np.maximum(error - rest, 0.0)}, dict[str, Floats]()
    for name in sorted(model.factors, key=lambda each: -model.factors[each].shape[1]):  # nested ones come first
        pivot = pivots[name] = _pivot(name, model, error, pivots, stream)
        alone[name] = np.maximum(pivot - values.get(f"{name}{BY_QUESTION}", values[REST]) / n, 0.0)
        variance = variance + pivot * float((model.factors[name].sum(axis=0) ** 2).sum()) / count**2
    return alone, variance, stream.standard_normal(_DRAWS)


def _pivot(
    name: str, model: _Model, error: Floats, pivots: Mapping[str, Floats], stream: np.random.Generator
) -> Floats:
    """Return draws of the variance of a dimension, with what it has of questions' in the means of wordings.

    Its sum of squares, each direction divided by its variance, is a chi-square, which is solved for the variance.
    """
    z = model.factors[name]
    nested = [other for other in pivots if _is_within(model.factors[other], z)]
    others = [each for other, each in model.factors.items() if other != name and other not in nested]
    projected = _without([np.ones((len(z), 1)), *others]) @ z
    sizes, directions = np.linalg.eigh(z.T @ projected)
    kept = sizes > _TINY * max(float(sizes.max()), 1.0)
    if not kept.any():
        return np.zeros(_DRAWS)
    sizes, axes = sizes[kept], projected @ directions[:, kept] / np.sqrt(sizes[kept])
    squares, known = (axes.T @ model.means) ** 2, np.repeat(error[:, None], len(sizes), axis=1)
    for other in nested:
        known = known + pivots[other][:, None] * ((model.factors[other].T @ axes) ** 2).sum(axis=0)
    wanted = stream.chisquare(len(sizes), _DRAWS)
    high = float((squares / sizes).sum()) / wanted
    low = np.zeros_like(high)
    for _ in range(60):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            is_above = (squares / (known + middle[:, None] * sizes)).sum(axis=1) > wanted
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return np.asarray(high)


def _without(columns: Sequence[Floats]) -> Floats:
    """Return the projection on what is orthogonal to columns."""
    u, sizes, _ = np.linalg.svd(np.hstack(columns), full_matrices=False)
    basis = u[:, sizes > _TINY * sizes.max()]
    found: Floats = np.eye(len(u)) - basis @ basis.T
    return found


def _is_within(inner: Floats, outer: Floats) -> bool:
    """Whether each level of one dimension has one level of another."""
    return inner.shape[1] > outer.shape[1] and bool((((inner.T @ outer) > 0).sum(axis=1) == 1).all())
