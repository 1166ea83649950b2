"""Long texts that were read from pictures: the mean of BLEU, METEOR, F-measure and edit similarity."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from proctor.errors import needed
from proctor.scoring.distances import Tree, levenshtein, tree_distance
from proctor.scoring.metrics.text_packages import words_meteor
from proctor.scoring.text.postprocessors.general import chinese_words

_RULES = (
    (re.compile(r"<bos>|<eos>|<pad>|<unk>"), ""),
    (re.compile(r"\s##(\S)"), r"\1"),
    (re.compile(r"\\\s"), r"\\"),
    (re.compile(r"\s\*\s\*\s"), "**"),
    (re.compile(r"{\s"), "{"),
    (re.compile(r"\s}"), "}"),
    (re.compile(r"\s}"), "}"),
    (re.compile(r"\\begin\s"), r"\\begin"),
    (re.compile(r"\\end\s"), r"\\end"),
    (re.compile(r"\\end{table}"), r"\\end{table} \n\n"),
    (re.compile(r"[\n*_]"), " "),
)
"""What is cleaned in a line before it is compared, in this order."""


def page_similarity(said: str, answer: str) -> float:
    """Return how alike two pages in Markdown are: 1 minus the distance of their outlines by the nodes of the larger.

    Words do not count: two lines are alike unless one is empty. That is how the benchmark's program has it.
    """
    one, two = outline(said), outline(answer)
    return 1 - tree_distance(one, two, _unlike) / max(one.size(), two.size())


def outline(page: str) -> Tree[str]:
    """Return the headings of a page below ``ROOT``, each with its lines; lines before the first are below ``TITLE``.

    A line goes below the first node that has the heading's words, be that a heading or an earlier line.
    """
    root = Tree("ROOT", [Tree("TITLE")])
    heading = ""
    for line in page.split("\n"):
        text = _cleaned(line)
        if text.startswith("#"):
            heading = text.replace("#", "")
            root.children.append(Tree(heading))
        else:
            place = next(node for node in _nodes(root) if node.label == (heading or "TITLE"))
            place.children.append(Tree(text))
    return root


def _nodes(tree: Tree[str]) -> Iterator[Tree[str]]:
    yield tree
    for child in tree.children:
        yield from _nodes(child)


def _cleaned(line: str) -> str:
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    return line


def _unlike(one: str, two: str) -> float:
    return float(not one.strip() or not two.strip())


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
    with needed("nltk", "ocr", "the comparison of long texts"):
        from nltk.translate.bleu_score import sentence_bleu
    return float(sentence_bleu([wanted], given, smoothing_function=_least))


def _least(precisions: Sequence[Fraction], **more: Any) -> list[Fraction | float]:
    """Return precisions with the least number in place of 0: what NLTK does without smoothing, and warns of."""
    del more
    return [each if each.numerator else sys.float_info.min for each in precisions]
