"""LV-Eval's evaluators: words that say nothing are left out, and keywords have to be there."""
# ruff: noqa: E501, RUF001, SIM905 - lists of words

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal

from proctor.scoring.distances import normalize_answer
from proctor.scoring.evaluators.answers import chinese_tokens, english_tokens, f1, plain_chinese_word
from proctor.scoring.evaluators.cases import Cases, Verdict, share
from proctor.scoring.evaluators.long_texts import rouge_l
from proctor.scoring.text.postprocessors.general import chinese_words

_ENGLISH_BLACKLIST = frozenset(
    [
        "and",
        "to",
        "of",
        "in",
        "her",
        "was",
        "with",
        "for",
        "it",
        "from",
        "is",
        "that",
        "his",
        "he",
        "by",
        "she",
        "they",
        "or",
        "at",
        "because",
        "be",
        "on",
        "are",
        "their",
        "what",
        "as",
        "had",
        "were",
        "about",
        "being",
        "this",
        "who",
        "but",
        "have",
        "has",
        "when",
        "which",
        "does",
    ]
)
_CHINESE_BLACKLIST = frozenset(
    "的 和 是 等 在 年 可以 为 与 ‰ 了 或 一种 月 c 至 日 有 进行 于 不 中 × 根据 小 由 亩 也 要 指 法 会 元 主要 以及 通过 首先 对 然后 号 "
    "以 所 后 丁 包括 无 将 用 能 形 方面 因素 位于 而 从 到 一定 用于 但 使用 让 具有 并 亿元 万元 上 类 基于 才 来 地 片 其他 个 或者 变得 时 给 "
    "你 使 条 受 已经 带 度".split()
)
_WORDS: Mapping[str, tuple[Callable[[str], list[str]], frozenset[str], float]] = {
    "en": (english_tokens, _ENGLISH_BLACKLIST, 0.2),
    "zh": (chinese_tokens, _CHINESE_BLACKLIST, 0.4),
}
"""Languages: how texts are cut into words, words that do not count, and the share of keywords an answer needs."""


def lveval_f1(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """F1 of the words shared with the first reference (``LVEvalF1Evaluator``), in percent."""
    words, _, _ = _WORDS[language]
    return share([f1(words(given), words(gold[0])) for given, gold in cases.pairs()], "f1", details=False)


def lveval_f1_keywords(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """F1 with the first reference where enough keywords of the last are there (``LVEvalOPTF1Evaluator``)."""
    words, blacklist, least = _WORDS[language]
    marks = []
    for given, gold in cases.pairs():
        said = words(given)
        keywords = words(gold[-1] or (gold[0] if language == "zh" else ""))
        shared = sum(
            (
                Counter({word: n for word, n in Counter(said).items() if word not in blacklist}) & Counter(keywords)
            ).values()
        )
        enough = not keywords if language == "en" and not gold[-1] else shared / len(keywords) >= least
        marks.append(f1(said, words(gold[0])) if enough else 0.0)
    return share(marks, "LVEval_f1", details=False)


def lveval_rouge(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """ROUGE-L with the first reference, without common words (``LVEvalOPTRougeEvaluator``), in percent."""
    _, blacklist, _ = _WORDS[language]

    def kept(text: str) -> str:
        words = _plain_chinese(text) if language == "zh" else normalize_answer(text).split()
        return " ".join(word for word in words if word not in blacklist)

    marks = [rouge_l(kept(given), kept(gold[0])) for given, gold in cases.pairs()]
    return share(marks, "LVEval_rouge", details=False)


def _plain_chinese(text: str) -> list[str]:
    return [plain_chinese_word(word) for word in chinese_words(text)]
