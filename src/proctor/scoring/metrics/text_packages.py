"""Packages that score texts: one place that imports each, and says what to install where it is not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.errors import MissingExtraError, needed

METEOR_DATA = "python -m nltk.downloader wordnet omw-1.4"
"""The command that fetches what NLTK's METEOR reads."""
WORDNET = f"nltk:corpora/wordnet={METEOR_DATA}"
"""What METEOR needs, as a requirement."""


def words_meteor(given: Sequence[str], wanted: Sequence[str], purpose: str = "METEOR", extra: str = "text") -> float:
    """Return METEOR (Banerjee & Lavie 2005) of words, by NLTK with WordNet.

    Args:
        given: Words of the text.
        wanted: Words of the reference.
        purpose: What needs it, for messages.
        extra: The extra that installs NLTK.

    Raises:
        MissingExtraError: NLTK or its data is not there.
    """
    with needed("nltk", extra, purpose):
        from nltk.translate.meteor_score import meteor_score
    try:
        return float(meteor_score([wanted], given))
    except LookupError as error:
        raise MissingExtraError("METEOR needs data of NLTK that is not here", hint=METEOR_DATA) from error


def sacrebleu_scorer(name: str, purpose: str, **options: Any) -> Any:
    """Return a scorer of SacreBLEU with ``corpus_score`` and ``sentence_score``.

    Args:
        name: ``bleu``, ``chrf``, ``chrf++`` or ``ter``.
        purpose: What needs it, for the message.
        options: Its own arguments (``tokenize``, ``effective_order`` …).

    Raises:
        MissingExtraError: ``sacrebleu`` is not installed.
    """
    with needed("sacrebleu", "text", purpose):
        from sacrebleu.metrics import BLEU, CHRF, TER
    if name == "chrf++":
        return CHRF(word_order=2, **options)
    return {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name](**options)
