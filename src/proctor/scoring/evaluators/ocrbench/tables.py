"""Tables and charts: similarity of two tables as trees (TEDS, Zhong et al. 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.errors import needed
from proctor.foreign_text import parse_literal
from proctor.scoring.distances import Tree, levenshtein, tree_distance

_FENCED = re.compile(r"```(?:python|json)?\n(.*?)\n```", re.DOTALL | re.IGNORECASE)
_ASSIGNED = re.compile(r"^\s*\w+\s*=\s*")
_COMMENT = re.compile(r"#.*")

_AROUND_MARKDOWN = "`markdown"
"""Signs that the benchmark's program strips at both ends of a table, meaning a fence with its name."""

_Cell = tuple[Any, int | None, int | None, Sequence[str]]
"""Tag, columns and rows that a cell spans, and its characters and tags; only cells have more than a tag."""


def html_table_similarity(said: str, answer: str) -> float:
    """Return the TEDS of the table in what was said; 0 where there is none, or where it cannot be read.

    What stands before ``<body`` or ``<table`` does not count.
    """
    joined = said.replace("\n", "")
    start = next((joined.index(tag) for tag in ("<body", "<table") if tag in joined), None)
    if start is None:
        return 0.0
    try:
        return table_similarity(_whole(joined[start:]), _whole(answer))
    except (ValueError, ZeroDivisionError):
        return 0.0


def markdown_table_similarity(said: str, answer: str) -> float:
    """Return the TEDS of two Markdown tables; their second lines are not read."""
    return table_similarity(_table_of(_markdown_rows(said)), _table_of(_markdown_rows(answer)))


def chart_similarity(said: str, answer: Mapping[Any, Any]) -> float:
    """Return the TEDS of a Python dictionary that was said, as a table of two columns, with the right one.

    Values are compared as texts, spaces between all their characters, and nested values not as trees.

    Raises:
        ValueError: A dictionary was said, and the answer is none.
    """
    found = _said_dictionary(said)
    if not found:
        return 0.0
    if not isinstance(answer, Mapping):
        raise ValueError(f"the answer is not a dictionary: {answer!r}")  # noqa: TRY004 - a row that is wrong
    return table_similarity(_table_of(_spaced(found)), _table_of(_spaced(answer)))


def table_similarity(first: str, second: str) -> float:
    """Return the TEDS of two HTML pages that have a table in their body; 0 where one has not.

    Raises:
        ValueError: A page cannot be read, or a span is not a number.
        ZeroDivisionError: Both tables are empty.
        MissingExtraError: The package ``lxml`` is not installed.
    """
    one, two = _table_in(first), _table_in(second)
    if one is None or two is None:
        return 0.0
    most = max(sum(isinstance(each.tag, str) for each in table.iterdescendants()) for table in (one, two))
    return 1 - tree_distance(_tree(one), _tree(two), _unlike) / most


def _table_in(page: str) -> Any:
    with needed("lxml", "ocr", "the comparison of tables"):
        from lxml import etree, html
    parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
    try:
        return next(iter(html.fromstring(page, parser=parser).xpath("body/table")), None)
    except etree.LxmlError as error:
        raise ValueError(f"a page cannot be read: {error}") from None


def _tree(node: Any) -> Tree[_Cell]:
    if node.tag != "td":
        return Tree((node.tag, None, None, ()), [_tree(each) for each in node])
    spans = (int(node.attrib.get(name, "1")) for name in ("colspan", "rowspan"))
    return Tree((node.tag, *spans, list(_signs(node))[1:-1]))


def _signs(node: Any) -> Iterable[str]:
    """Yield the characters and tags of a cell, those of its own element included."""
    yield f"<{node.tag}>"
    yield from node.text or ""
    for each in node:
        yield from _signs(each)
    if node.tag != "unk":
        yield f"</{node.tag}>"
    if node.tag != "td":
        yield from node.tail or ""


def _unlike(one: _Cell, two: _Cell) -> float:
    if one[:3] != two[:3]:
        return 1.0
    longest = max(len(one[3]), len(two[3]))
    return levenshtein(one[3], two[3]) / longest if longest else 0.0


def _whole(table: str) -> str:
    """Return a piece of HTML as a page; the tags that are missing are put around it."""
    page = table.replace("\n", "")
    if "<table" not in page:
        page = f"<table>{page}"
    if "</table>" not in page:
        page = f"{page}</table>"
    if "<body>" not in page:
        page = f"<body>{page}</body>"
    return page if "<html>" in page else f"<html>{page}</html>"


def _markdown_rows(text: str) -> list[list[str]]:
    lines = text.strip(_AROUND_MARKDOWN).strip("`").strip().split("\n")
    return [[_cell(each) for each in line.strip().split("|")[1:-1]] for line in [lines[0], *lines[2:]]]


def _cell(text: str) -> str:
    return " " if set(text) == {" "} else text.strip()


def _table_of(rows: Iterable[Iterable[str]]) -> str:
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<html><body><table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table></body></html>"


def _spaced(chart: Mapping[Any, Any]) -> Iterable[tuple[str, str]]:
    return ((str(key), " ".join(str(value))) for key, value in chart.items())


def _said_dictionary(said: str) -> dict[Any, Any]:
    """Return the dictionary in the longest block of code, or in the whole text; empty where there is none."""
    blocks = _FENCED.findall(said)
    text = max(blocks, key=len) if blocks else said
    text = _COMMENT.sub("", _ASSIGNED.sub("", text.strip(), count=1))
    try:
        found = parse_literal(text[: text.rfind("}") + 1] or text)
    except (ValueError, SyntaxError):
        return {}
    return found if isinstance(found, dict) else {}
