"""Evaluators of P-MMEval: options, numbers and translations in many languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from proctor.errors import needed
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.metrics.text_packages import sacrebleu_scorer

_JSON = (
    r"\{\s*?\"answer\"\s*?\:\s*?\"?(A|B|C|D).*?\"?\s*?\}",
    r"\{\s*?[\'\"]answer[\'\"]\s*?\:\s*?[\'\"](A|B|C|D).*?[\'\"]\s*?\}",
    r"\"answer\"\s*:\s*\"?(A|B|C|D)\"?",
    r"[\'\"]answer[\'\"]\s*:\s*[\'\"](A|B|C|D)[\'\"]",
)
_PHRASES = {
    "fr": ("La réponse est", "la réponse est"),
    "en": ("the answer is", "The answer is"),
    "vi": ("Câu trả lời là", "câu trả lời là"),
    "ar": ("الجواب هو",),
    "th": ("คำตอบคือ",),
    "zh": ("答案是",),
    "ko": ("답변은",),
    "pt": ("A resposta é",),
    "ja": ("答えは",),
    "id": ("Jawaban adalah", "jawaban adalah"),
    "es": ("La respuesta es",),
}


def _option(text: str, language: str) -> str | None:
    """Return the option that an answer names: as JSON, after the language's phrase, or the first letter of four.

    Languages are codes: ``fr``, or ``FR-FR`` as in MMMLU.
    """
    for pattern in _JSON:
        if found := re.findall(pattern, text, flags=re.DOTALL):
            return str(found[-1])
    for phrase in _PHRASES[language.partition("-")[0].lower()]:
        if phrase in text and phrase != text:
            rest = text.rsplit(phrase, maxsplit=1)[-1].strip()
            if rest[:1] in [*"ABCDabcd"]:
                return rest[0]
            break
    return next((letter for letter in "ABCD" if letter in text), None)


def _named_options(cases: Cases, answer: Callable[[Any], str]) -> Verdict:
    marks = []
    for (text, language), gold in cases.pairs():
        said = _option(text, language)
        marks.append(said is not None and said.lower() == answer(gold).lower())
    return Verdict({"accuracy": round(percent(marks), 2)}, {"accuracy": [100.0 * m for m in marks]})


def _by_number(gold: Any) -> str:
    return chr(int(gold) + 65)


def hellaswag(cases: Cases) -> Verdict:
    """Share of right options, to two digits (``PMMEvalMHellaswagEvaluator``)."""
    return _named_options(cases, _by_number)


def logiqa(cases: Cases) -> Verdict:
    """Share of right options, to two digits (``PMMEvalMLogiQAEvaluator``)."""
    return _named_options(cases, _by_number)


def mmlu(cases: Cases) -> Verdict:
    """Share of right options, to two digits (``PMMEvalMMMLUEvaluator``)."""
    return _named_options(cases, str)


def xnli(cases: Cases) -> Verdict:
    """Share of right options, to two digits (``PMMEvalXNLIEvaluator``)."""
    return _named_options(cases, str)


_LAST_NUMBER = re.compile(r"([+-])?(?=([0-9]|\.[0-9]))(0|([1-9](\d{0,2}(,\d{3})*)|\d*))?(\.\d*)?(?=\D|$)")


def mgsm(cases: Cases) -> Verdict:
    """Share of predictions whose last number is the reference, to two digits (``PMMEvalMGSMEvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        last = None
        for last in _LAST_NUMBER.finditer(given):  # noqa: B007 - the last one is wanted
            pass
        said = None if last is None else last.group().replace(",", "").replace("+", "").strip().strip(".")
        marks.append(said == gold.replace(",", ""))
    return Verdict({"accuracy": round(percent(marks), 2)}, {"accuracy": [100.0 * m for m in marks]}, marks)


# -- translations -------------------------------------------------------------------------------------------------

_EAST_ASIAN = re.compile("([\u2e80-\u9fff]|[\ua960-\ua97f]|[\uac00-\ud7ff]|[\u0e00-\u0e7f])")
_SPACED = frozenset({"Japanese", "Korean", "Thai"})


def flores(cases: Cases) -> Verdict:
    """Corpus BLEU of the part of each answer that scores best, to two digits (``PMMEvalFloresEvaluator``).

    Raises:
        MissingExtraError: ``sacrebleu`` is not installed.
    """
    with needed("sacrebleu", "text", "PMMEvalFloresEvaluator"):
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
        from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
    scorer = sacrebleu_scorer("bleu", "PMMEvalFloresEvaluator", tokenize="13a", effective_order=True)
    chinese, plain = TokenizerZh(), Tokenizer13a()

    def tokens(text: str, language: str) -> str:
        text = "\n".join(line for each in text.strip().split("\n") if (line := each.strip()))
        if language == "Chinese":
            return str(plain(chinese(text)))
        spaced = _EAST_ASIAN.sub(r" \1 ", text) if language in _SPACED else text
        return str(plain(" ".join(spaced.split())))

    best = []
    for (text, language), gold in cases.pairs():
        lines = [tokens(line, language) for each in text.split("\n") if (line := each.strip())]
        parts = [" ".join(lines[i : j + 1]) for i in range(len(lines)) for j in range(i, len(lines))] or [""]
        wanted = tokens(gold, language)
        best.append(max((scorer.sentence_score(part, [wanted]) for part in parts), key=lambda found: found.score))
    counts, totals = (
        [sum(column) for column in zip(*(getattr(each, name) for each in best), strict=True)]
        for name in ("counts", "totals")
    )
    whole = scorer.compute_bleu(
        correct=counts,
        total=totals,
        sys_len=sum(each.sys_len for each in best),
        ref_len=sum(each.ref_len for each in best),
    )
    return Verdict({"BLEU": round(whole.score, 2)}, {"sentence_bleu": [each.score for each in best]})
