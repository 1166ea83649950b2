"""Scorers of SacreBLEU: one place that imports it, and says what to install where it is not there."""

from __future__ import annotations

from typing import Any

from proctor.errors import MissingExtraError


def sacrebleu_scorer(name: str, purpose: str, **options: Any) -> Any:
    """Return a scorer of SacreBLEU with ``corpus_score`` and ``sentence_score``.

    Args:
        name: ``bleu``, ``chrf``, ``chrf++`` or ``ter``.
        purpose: What needs it, for the message.
        options: Its own arguments (``tokenize``, ``effective_order`` …).

    Raises:
        MissingExtraError: ``sacrebleu`` is not installed.
    """
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER
    except ImportError as error:
        raise MissingExtraError.of("sacrebleu", "text", purpose) from error
    if name == "chrf++":
        return CHRF(word_order=2, **options)
    return {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name](**options)
