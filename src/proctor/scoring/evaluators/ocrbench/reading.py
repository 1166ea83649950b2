"""Long texts that were read from pictures: the mean of BLEU, METEOR, F-measure and edit similarity."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from proctor.errors import MissingExtraError
from proctor.scoring.distances import levenshtein
from proctor.scoring.metrics.text_packages import words_meteor
from proctor.scoring.text.postprocessors.general import chinese_words

_CHINESE = re.compile(r"[\u4e00-\u9fa5]")


def reading_score(said: str, answer: str) -> float:
    """Return how near a text comes to the right one, as the mean of four scores.

    Words are those between spaces; jieba cuts both texts where one has Chinese characters.

    Raises:
        ValueError: Both texts are empty, or the answer is not a text.
        MissingExtraError: ``nltk``, its WordNet, or ``jieba`` is not there.
    """
    if not isinstance(answer, str) or not (said or answer):
        raise ValueError(f"a text cannot be compared with {answer!r}")
    cut = chinese_words if _CHINESE.search(said) or _CHINESE.search(answer) else str.split
    given, wanted = cut(said), cut(answer)
    similarity = 1 - levenshtein(said, answer) / max(len(said), len(answer))
    return (
        _bleu(given, wanted)
        + words_meteor(given, wanted, extra="ocr")
        + _f_measure(set(given), set(wanted))
        + similarity
    ) / 4


def _f_measure(given: set[str], wanted: set[str]) -> float:
    shared = len(given & wanted)
    return 1 / (0.5 / (shared / len(given)) + 0.5 / (shared / len(wanted))) if shared else 0.0


def _bleu(given: Sequence[str], wanted: Sequence[str]) -> float:
    try:
        from nltk.translate.bleu_score import sentence_bleu
    except ImportError as error:
        raise MissingExtraError.of("nltk", "ocr", "the comparison of long texts") from error
    return float(sentence_bleu([wanted], given, smoothing_function=_least))


def _least(precisions: Sequence[Fraction], **more: Any) -> list[Fraction | float]:
    """Return precisions with the least number in place of 0: what NLTK does without smoothing, and warns of."""
    del more
    return [each if each.numerator else sys.float_info.min for each in precisions]
