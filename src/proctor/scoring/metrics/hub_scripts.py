"""Metrics of the hub whose results have a form of their own: SQuAD 2.0 and BERTScore."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import MissingExtraError, ScoringError
from proctor.scoring.distances import normalize_answer
from proctor.scoring.metrics.strings import token_overlap

Rows = Mapping[str, tuple[float, float]]


def squad_with_no_answers(
    predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]], no_answer_threshold: float = 1.0
) -> dict[str, Any]:
    """Return exact match and F1 in percent: over all, over questions with and without answer, at the best threshold.

    Args:
        predictions: ``id``, ``prediction_text`` and ``no_answer_probability``.
        references: ``id`` and ``answers`` with ``text``.
        no_answer_threshold: A probability above which the prediction is that there is no answer.

    Raises:
        ScoringError: A question has no prediction.

    Source: Rajpurkar et al. 2018, "Know What You Don't Know", and the evaluation script of SQuAD 2.0.
    """
    answers = {each["id"]: list(each["answers"]["text"]) for each in references}
    texts = {each["id"]: str(each["prediction_text"]) for each in predictions}
    doubts = {each["id"]: float(each["no_answer_probability"]) for each in predictions}
    if missing := [key for key in answers if key not in texts]:
        raise ScoringError(f"{len(missing)} questions have no prediction", why=f"the first is {missing[0]!r}")
    rows = {key: _matched(texts[key], golds) for key, golds in answers.items()}
    held = {
        key: (float(not answers[key]),) * 2 if doubts[key] > no_answer_threshold else row for key, row in rows.items()
    }
    found = _shares(held, "")
    for prefix, is_answered in (("HasAns_", True), ("NoAns_", False)):
        if kept := {key: row for key, row in held.items() if bool(answers[key]) is is_answered}:
            found |= _shares(kept, prefix)
    for place, name in enumerate(("exact", "f1")):
        best, threshold = _best(answers, texts, doubts, {key: row[place] for key, row in rows.items()})
        found |= {f"best_{name}": best, f"best_{name}_thresh": threshold}
    return found


def _matched(prediction: str, golds: Sequence[str]) -> tuple[float, float]:
    """Return exact match and F1, the best over the answers; no answer equals no answer."""
    given = normalize_answer(prediction)
    wanted = [gold for gold in golds if normalize_answer(gold)] or [""]
    exact = max(float(given == normalize_answer(gold)) for gold in wanted)
    overlaps = [token_overlap(prediction, gold)[2] if given and gold else float(given == gold) for gold in wanted]
    return exact, max(overlaps)


def _shares(rows: Rows, prefix: str) -> dict[str, Any]:
    count = len(rows)
    exact, overlap = (100.0 * sum(row[place] for row in rows.values()) / count for place in (0, 1))
    return {f"{prefix}exact": exact, f"{prefix}f1": overlap, f"{prefix}total": count}


def _best(
    answers: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    doubts: Mapping[str, float],
    scores: Mapping[str, float],
) -> tuple[float, float]:
    """Return the best score in percent and its threshold: predictions count as answers in the order of their doubt."""
    current = best = float(sum(not golds for golds in answers.values()))
    threshold = 0.0
    for key in sorted(answers, key=lambda each: doubts[each]):
        current += scores[key] if answers[key] else (-1.0 if texts[key] else 0.0)
        if current > best:
            best, threshold = current, doubts[key]
    return 100.0 * best / len(answers), threshold


def bertscore(
    predictions: Sequence[str],
    references: Sequence[Any],
    lang: str | None = None,
    model_type: str | None = None,
    num_layers: int | None = None,
    batch_size: int = 64,
) -> dict[str, Any]:
    """Return lists of precision, recall and F1 of BERTScore, the best over the references.

    Args:
        predictions: Texts.
        references: A text or a list of texts for each.
        lang: A language, whose usual model is taken.
        batch_size: Texts at once.

    Raises:
        MissingExtraError: ``bert-score`` is not installed.
        ScoringError: Neither a language nor a model is named.
    """
    from proctor.scoring.metrics.embeddings import bert_scorer

    if model_type is None and lang is None:
        raise ScoringError("bertscore needs lang or model_type", hint='lang="en" takes the usual model for English')
    scorer = bert_scorer(model_type or _model_of(str(lang)), num_layers, batch_size)
    listed = [[each] if isinstance(each, str) else list(each) for each in references]
    found = scorer.score(cands=list(predictions), refs=listed, batch_size=batch_size)
    return {name: part.tolist() for name, part in zip(("precision", "recall", "f1"), found, strict=True)}


def _model_of(language: str) -> str:
    try:
        from bert_score.utils import lang2model
    except ImportError as error:
        raise MissingExtraError.of("bert-score", "embeddings", "BERTScore") from error
    return str(lang2model[language.lower()])


NEEDED: Mapping[str, Callable[[], object]] = {"bertscore": lambda: _model_of("en")}
"""Metrics that say at once what they miss, rather than after a model was asked."""
