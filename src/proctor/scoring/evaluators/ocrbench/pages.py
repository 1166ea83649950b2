"""Pages of documents: similarity of two outlines as trees (STEDS)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.scoring.distances import Tree, tree_distance

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
