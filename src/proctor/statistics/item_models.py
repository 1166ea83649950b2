"""Item response models from other models' answers: a logistic factor model, fitted with few models.

The chance that model m answers question i is logistic(b_i + a_i . u_m): b_i says how easy the question is, a_i what it
asks for, u_m what the model knows. With one factor that is the 2PL model of item response theory (Birnbaum 1968); with
more it knows models that are good at different things (arXiv 2601.20251, section 3). The fit is the mode of the
posterior under normal priors, found by Newton steps for all questions at once and all models at once in turn.

Predictions need not be right: whoever uses them corrects for them (:mod:`proctor.statistics.adaptive`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from proctor.statistics.arrays import Bools, Floats, Indices

FEWEST_MODELS = 3
"""Models that have to have answered: two say nothing of what a third one knows better."""

_MODELS_PER_FACTOR = 4
_MOST_FACTORS = 5
"""Factors: one for each four models, at most five. More of them follow the noise of single answers."""

_TURNS = 12
"""Of Newton steps for questions and models in turn; predictions then change in the third decimal."""

_LOADING_SPREAD = 0.7
_EASE_SPREAD = (0.5, 2.5)
"""Prior spreads in logits: of loadings, and the least and the most of how easy questions are."""

_LONGEST_STEP = 2.0
"""Logits that a Newton step may move a question or a model: a full step overshoots where all answers are equal."""

_NEW_SCALE, _NEW_SHIFT = (1.0, 0.4), 1.0
"""Of a model that nobody has asked: how much of the questions' differences holds for it (mean and spread), and by how
many logits it may be better or worse on all."""

_WIDER = 1.5
"""How much more a new model may differ from those that were fitted than these differ."""

_SURE = 0.02
"""No answer is predicted more surely than that: one that is taken for granted would never be asked about."""

_DIGITS = 6
"""Decimals of predictions, so that they do not depend on the order in which a machine adds up."""


@dataclass(frozen=True)
class ItemModel:
    """A fitted model of the questions of an exam.

    Attributes:
        ease: How easy each question is, in logits.
        loadings: What each asks for: a row for each question, a column for each factor.
        abilities: What the fitted models know: a row for each of them.
        doubt: For each question, the covariance of its ease and loadings: few models answered it.
    """

    ease: Floats
    loadings: Floats
    abilities: Floats
    doubt: Floats

    @classmethod
    def fit(cls, table: ArrayLike) -> ItemModel:
        """Fit the answers of some models.

        Args:
            table: Scores from 0 to 1, a row for each model and a column for each question; NaN where one is missing.

        Raises:
            ValueError: There are fewer than three models, or no question.
        """
        answers = np.asarray(table, dtype=np.float64)
        if answers.ndim != _TABLE or answers.shape[0] < FEWEST_MODELS or not answers.shape[1]:
            raise ValueError(f"a model of questions needs {FEWEST_MODELS} models and a question, not {answers.shape}")
        return _fitted(answers)

    def of(self, places: Sequence[int]) -> ItemModel:
        """Return the model of some questions, in another order."""
        return replace(self, ease=self.ease[places], loadings=self.loadings[places], doubt=self.doubt[places])

    def predictions(self, places: Indices, scores: ArrayLike) -> Floats:
        """Return what a new model is expected to score on each question, after some of its answers.

        Args:
            places: Questions that it has answered.
            scores: Its scores there.
        """
        features = np.column_stack([self.loadings, self.ease, np.ones(len(self.ease))])
        mean, precision = self._prior()
        found = mean
        given = features[places]
        y = np.asarray(scores, dtype=np.float64)
        for _ in range(_TURNS if len(y) else 0):
            found = found + _step(given, y, found, mean, precision)
        expected = _logistic(features @ found / np.sqrt(1.0 + math.pi / 8.0 * self._variances(found)))
        return np.asarray(np.round(np.clip(expected, _SURE, 1.0 - _SURE), _DIGITS))

    def _variances(self, coefficients: Floats) -> Floats:
        """Return how uncertain the logit of each question is (and so how near to one half its chance: MacKay 1992)."""
        count = self.loadings.shape[1]
        weights = np.concatenate([[coefficients[count]], coefficients[:count]])
        return np.asarray(np.einsum("k,nkl,l->n", weights, self.doubt, weights))

    def _prior(self) -> tuple[Floats, Floats]:
        """Return mean and precision of a new model's coefficients: abilities, share of the ease, shift."""
        count = self.loadings.shape[1]
        mean = np.concatenate([self.abilities.mean(axis=0), [_NEW_SCALE[0], 0.0]])
        spread = np.zeros((count + 2, count + 2))
        known = np.atleast_2d(np.cov(self.abilities, rowvar=False))
        spread[:count, :count] = _WIDER**2 * known + 0.05 * np.eye(count)
        spread[count, count], spread[count + 1, count + 1] = _NEW_SCALE[1] ** 2, _NEW_SHIFT**2
        return mean, np.asarray(np.linalg.inv(spread))


_TABLE = 2  # dimensions


def _step(features: Floats, scores: Floats, at: Floats, mean: Floats, precision: Floats) -> Floats:
    """Return a Newton step towards the mode of one model's coefficients, not too long."""
    expected = _logistic(features @ at)
    slope = features.T @ (scores - expected) - precision @ (at - mean)
    bend = (features * (expected * (1 - expected))[:, np.newaxis]).T @ features + precision
    return _bounded(np.linalg.solve(bend, slope))


def _bounded(step: Any) -> Floats:
    longest = np.abs(step).max(axis=-1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1e-12)))


def _logistic(logits: Any) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))))


def _logit(share: Any) -> Floats:
    return np.asarray(np.log(share / (1.0 - share)))


# -- fitting --------------------------------------------------------------------------------------------------


def _fitted(answers: Floats) -> ItemModel:
    known = np.isfinite(answers)
    filled = np.where(known, answers, 0.0)
    ease, abilities, loadings = _start(filled, known)
    first = np.zeros(loadings.shape[1])
    first[0] = 1.0
    about = np.concatenate([[float(ease.mean())], first])
    spread = float(np.clip(ease.std(), *_EASE_SPREAD))
    tight = np.diag([spread**-2, *[_LOADING_SPREAD**-2] * loadings.shape[1]])
    items = np.column_stack([ease, loadings])
    count = loadings.shape[1]
    for _ in range(_TURNS):
        features = np.column_stack([np.ones(len(abilities)), abilities])
        items = items + _all_steps(features, filled, known, items, about, tight)
        offsets = np.broadcast_to(items[:, 0], filled.shape)
        none = np.zeros(count)
        abilities = abilities + _all_steps(
            items[:, 1:], filled.T, known.T, abilities, none, np.eye(count), offsets=offsets.T
        )
    features = np.column_stack([np.ones(len(abilities)), abilities])
    doubt = np.asarray(np.linalg.inv(_bends(features, _logistic(features @ items.T), known) + tight), dtype=np.float64)
    return ItemModel(items[:, 0], items[:, 1:], abilities, doubt)


def _start(filled: Floats, known: Bools) -> tuple[Floats, Floats, Floats]:
    """Return where the search begins: shares of right answers, and the singular vectors of what these leave."""
    models, questions = filled.shape
    shares = (filled.sum(axis=0) + 1.0) / (known.sum(axis=0) + 2.0)
    levels = _logit((filled.sum(axis=1) + 1.0) / (known.sum(axis=1) + 2.0))
    count = int(np.clip(models // _MODELS_PER_FACTOR, 1, min(_MOST_FACTORS, questions + 1)))
    first = levels - levels.mean()
    left = np.where(known, filled - shares, 0.0)
    left = left - left.mean(axis=1, keepdims=True)
    vectors = np.linalg.svd(left, full_matrices=False)[0]
    more = vectors[:, : count - 1] * np.sign(vectors[:, : count - 1].sum(axis=0) + 1e-9) * math.sqrt(models) * 0.5
    loadings = np.zeros((questions, count))
    loadings[:, 0] = 1.0
    return _logit(shares), np.column_stack([first, more]), loadings


def _all_steps(
    features: Floats,
    scores: Floats,
    known: Bools,
    at: Floats,
    mean: Floats,
    precision: Floats,
    *,
    offsets: Floats | float = 0.0,
) -> Floats:
    """Return Newton steps for many logistic regressions on the same features, one for each column of scores."""
    expected = _logistic(features @ at.T + offsets)
    slope = np.where(known, scores - expected, 0.0).T @ features - (at - mean) @ precision
    bend = _bends(features, expected, known) + precision
    return _bounded(np.linalg.solve(bend, slope[:, :, np.newaxis])[:, :, 0])


def _bends(features: Floats, expected: Floats, known: Bools) -> Floats:
    """Return the second derivatives of many logistic regressions on the same features."""
    weights = np.where(known, expected * (1.0 - expected), 0.0)
    return np.asarray(np.einsum("fk,fn,fl->nkl", features, weights, features, optimize=True))
