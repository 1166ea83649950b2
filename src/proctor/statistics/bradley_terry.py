"""Strengths of models from battles of two: Bradley and Terry's, with ties, and judges who tell them apart unequally.

The chances of win, tie and loss are in the ratios exp(d/2) : exp(t) : exp(-d/2) (Davidson 1970, JASA 65:317; for arenas
arXiv:2412.18407), where d is the difference of strengths times the judge's discrimination (arXiv:2601.21817), whose
mean over judges is 1: 0 is a judge who tosses a coin. Fitted by Fisher scoring. Intervals are sandwiches over
questions, so that battles about one question, in both orders or before several judges, count as depending on each
other. :func:`corrected` puts people's verdicts on some pairs in the place of judges': prediction-powered estimating
equations (Angelopoulos and others 2023, arXiv:2301.09633, with the weight of PPI++, arXiv:2311.01453).
"""

from __future__ import annotations

from typing import NamedTuple

from proctor.lazy import np
from proctor.statistics.arrays import Bools, Floats, Indices
from proctor.statistics.distributions import t_cdf, t_quantile
from proctor.statistics.rank_sets import Place, level_of_pairs, places_of

_ROUNDS = 200
_SMALL = 1e-10  # a step below it changes no digit that is shown
_TOO_LONG = 2.0  # a step in strengths beyond it leaves where the quadratic holds: it is cut
_FLAT = 1e10  # of the condition of the information: beyond it half of the digits of an interval are lost
_ALPHA = 0.05
_EVEN = 0.5  # what a tie counts


class Battles(NamedTuple):
    """Battles: who met whom, before which judge, about which question, as numbers; 1, 0.5 or 0 for the first one.

    Where people decided ``known`` ones, ``won`` and ``tied`` of all are corrected, and contain ``weight`` already.
    """

    first: Indices
    second: Indices
    won: Floats
    judge: Indices
    question: Indices
    tied: Floats
    weight: Floats | float = 1.0
    known: Bools | None = None


class Strengths(NamedTuple):
    """Strengths, in logarithms of odds with mean 0, and what judges can tell apart; each with its 95% interval.

    Attributes:
        models: Strength, low and high of each model.
        judges: Discrimination, low and high of each judge.
        tie: The logarithm of a tie's odds against a win, of equals; ``None`` where there was no tie.
        places: The places that each model may hold, all together.
    """

    models: Floats
    judges: Floats
    tie: float | None
    places: list[Place]


def apart(battles: Battles, models: int) -> tuple[list[int], bool] | None:
    """Return models whose distance to the others no battle tells, and whether they met any of these; else ``None``."""
    lost = np.eye(models, dtype=bool)
    lost[battles.first[battles.won < 1], battles.second[battles.won < 1]] = True
    lost[battles.second[battles.won > 0], battles.first[battles.won > 0]] = True
    for reached, met in ((_closure(lost | lost.T), False), (_closure(lost), True)):
        fewest = reached[int(reached.sum(axis=1).argmin())]
        if not fewest.all():
            return np.flatnonzero(fewest).tolist(), met
    return None


def _closure(edges: Bools) -> Bools:
    while (further := edges @ edges).sum() > edges.sum():
        edges = further
    return edges


def strengths(battles: Battles, models: int, judges: int) -> Strengths | None:
    """Return the strengths; ``None`` where they have no end, since a judge never contradicts them."""
    has_ties = bool(battles.tied.any())
    theta, keen, tie = np.zeros(models), np.ones(judges), 0.0
    free = _free(models, judges, has_ties)
    for _ in range(_ROUNDS):
        (places, slopes), information = _derivatives(battles, theta, keen, tie if has_ties else None)
        total = np.bincount(places.ravel(), slopes.ravel(), len(information))
        inverse = np.linalg.pinv(free.T @ information @ free, hermitian=True)  # equal models tell nothing of judges
        step = free @ (inverse @ (free.T @ total))
        step *= min(1.0, _TOO_LONG / max(float(np.abs(step).max()), _SMALL))
        theta, keen, tie = theta + step[:models], keen + step[models:-1], tie + float(step[-1])
        if np.abs(step).max() < _SMALL:
            return _made(battles, (theta, keen, tie if has_ties else None), free)
    return None


def corrected(judged: Battles, won: Floats, tied: Floats) -> Battles:
    """Return battles whose strengths are those people see, given their verdicts on answers drawn with equal chances.

    Elsewhere ``won`` is NaN and ``tied`` 0.
    """
    known = np.isfinite(won)
    weights, told, said = known / known.mean(), judged.won - _EVEN, np.where(known, won - _EVEN, 0.0)
    trust = np.clip((told @ said) / ((told * known) @ told + _SMALL), 0.0, 1.0)  # as of PPI++
    even = trust * judged.tied * tied.any()  # where people know no ties, judges' count as half a win
    won, tied = trust * told + weights * (said - trust * told), even + weights * (tied - even)
    weight = trust + weights * (1.0 - trust)
    return Battles(*judged[:2], won + _EVEN * weight, 0 * judged.judge, judged.question, tied, weight, known)


def _free(models: int, judges: int, has_ties: bool) -> Floats:
    """Return a basis of what may change: strengths with sum 0, discriminations with a sum that stays, ties."""
    blocks = [np.linalg.qr(np.eye(n)[:, 1:] - 1.0 / n)[0] for n in (models, judges)]
    found = np.zeros((models + judges + 1, models + judges - 2 + has_ties))
    found[:models, : models - 1] = blocks[0]
    found[models:-1, models - 1 : models + judges - 2] = blocks[1]
    found[-1, models + judges - 2 :] = 1.0
    return found


def _derivatives(
    battles: Battles, theta: Floats, keen: Floats, tie: float | None
) -> tuple[tuple[Indices, Floats], Floats]:
    """Return the slopes of the log-likelihood, the places of each battle's and their values, and the information."""
    apart, last = theta[battles.first] - theta[battles.second], len(theta) + len(keen)
    sharp = keen[battles.judge]
    d = sharp * apart
    shares = np.exp(np.stack([d / 2, -d / 2, np.full(len(d), -np.inf if tie is None else tie)]) - np.abs(d) / 2)
    win, loss, even = shares / shares.sum(axis=0)
    weight, gained = battles.weight, (win - loss) / 2
    surprise, odd = battles.won - weight * (_EVEN + gained), battles.tied - weight * even
    places = np.stack([battles.first, battles.second, len(theta) + battles.judge, np.full(len(d), last)])
    by_d = np.stack([sharp, -sharp, apart])
    spread, common = weight * ((win + loss) / 4 - gained**2), -weight * gained * even
    pairs = [(i, j, spread * by_d[i] * by_d[j]) for i in range(3) for j in range(3)]
    pairs += [(*ends, common * by_d[i]) for i in range(3) for ends in ((i, 3), (3, i))]
    information = np.zeros((last + 1, last + 1))
    for i, j, values in [*pairs, (3, 3, weight * even * (1 - even))]:
        information += np.bincount(places[i] * (last + 1) + places[j], values, information.size).reshape(last + 1, -1)
    return (places, np.concatenate([by_d * surprise, odd[np.newaxis] * (tie is not None)])), information


def _made(battles: Battles, found: tuple[Floats, Floats, float | None], free: Floats) -> Strengths | None:
    theta, keen, tie = found
    (places, slopes), information = _derivatives(battles, *found)
    if np.linalg.cond(free.T @ information @ free) > _FLAT:
        return None
    _, place = np.unique(battles.question, return_inverse=True)
    decided = np.unique(place if battles.known is None else place[battles.known])
    units, count = int(place.max()) + 1, len(decided)
    width = len(information)
    sums = np.bincount((place * width + places).ravel(), slopes.ravel(), units * width).reshape(units, width).T
    influence = free @ np.linalg.solve(free.T @ information @ free, free.T @ sums)
    covariance = influence @ influence.T * count / (count - free.shape[1])  # as of a regression
    margin = t_quantile(1 - _ALPHA / 2, count - 1) * np.sqrt(np.diag(covariance))
    values = np.concatenate([theta, keen])
    bounds = np.column_stack([values, values - margin[:-1], values + margin[:-1]])
    level = level_of_pairs(influence[: len(theta), decided], None, _ALPHA)

    def sign(one: int, two: int) -> int:
        error = np.sqrt(covariance[one, one] + covariance[two, two] - 2 * covariance[one, two])
        difference = theta[two] - theta[one]
        t = (abs(difference) - _SMALL) / max(error, _SMALL)  # of equals, who differ by rounding, not above 0
        return int(np.sign(difference)) if 2 * t_cdf(-t, count - 1) < level else 0

    return Strengths(bounds[: len(theta)], bounds[len(theta) :], tie, places_of(len(theta), sign))
