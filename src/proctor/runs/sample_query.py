"""Selects instances of a run, as SQL for the index in :mod:`proctor.runs.sample_index`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

MOST_FOUND = 100_000
"""Instances that a search looks at; it says so where there are more."""

Order = Literal["place", "score", "-score"]
"""As written, worst first, best first."""
EVERYTHING = "TRUE"
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """A query for instances.

    Attributes:
        exam: Only of this exam.
        subset: Only of these exams: the members of a benchmark or a group of tasks.
        group: Only of this group, as :func:`proctor.results.score_grid.group_label` names it.
        text: Words that all occur in input, prompt, output or references; a word may end in ``*``.
        failed: Only those that failed, or only those that did not.
        lowest, highest: Bounds of the main score.
        order: How they are sorted.
        numbers: Only those of these numbers; ``None`` is all.
    """

    exam: str | None = None
    subset: tuple[str, ...] = ()
    group: str | None = None
    text: str = ""
    failed: bool | None = None
    lowest: float | None = None
    highest: float | None = None
    order: Order = "place"
    numbers: tuple[int, ...] | None = None


def selection(query: SampleQuery, start: int, count: int) -> tuple[str, tuple[Any, ...]]:
    """Return the statement that finds the numbers of a page."""
    source, where, values = conditions(query)
    if source == SAMPLES and where == EVERYTHING and query.order == "place":  # numbers have no gaps: go there
        return "SELECT id FROM samples WHERE id >= ? ORDER BY id LIMIT ?", (start, count)
    place, score = source.place, source.score
    order = {"place": place, "score": f"{score} ASC, {place}", "-score": f"{score} DESC, {place}"}[query.order]
    statement = f"SELECT {place} FROM {source.table} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608
    return statement, (*values, count, start)


class Source(NamedTuple):
    """The table of instances, and its names of columns."""

    table: str
    place: str
    score: str
    exam: str
    needs_failure: str


SAMPLES = Source("samples", "id", "score", "exam", "failure")
MEMBERS = Source("members", "sample", "mark", "exam", "(SELECT failure FROM samples WHERE id = sample)")


def conditions(query: SampleQuery) -> tuple[Source, str, tuple[Any, ...]]:
    """Return the table for a query's instances, the condition, and its values."""
    parts: list[str] = []
    values: list[Any] = []
    source = SAMPLES if query.group is None else MEMBERS
    if query.group is not None:
        parts.append("grp = (SELECT id FROM groups WHERE label = ?)")
        values.append(query.group)
    if query.exam is not None:
        parts.append("exam = (SELECT id FROM names WHERE name = ?)")
        values.append(query.exam)
    if query.subset:
        # the plus keeps SQLite from sorting all of them where the order asked for has an index of its own
        sign = "" if query.order == "place" and query.group is None else "+"
        marks = ",".join("?" * len(query.subset))
        parts.append(f"{sign}exam IN (SELECT id FROM names WHERE name IN ({marks}))")  # noqa: S608 - question marks
        values.extend(query.subset)
    if query.failed is not None:
        parts.append(f"{source.needs_failure} IS {'NOT ' if query.failed else ''}NULL")
    for bound, sign in ((query.lowest, ">="), (query.highest, "<=")):
        if bound is not None:
            parts.append(f"{source.score} {sign} ?")
            values.append(bound)
    if query.numbers is not None:
        parts.append(f"{source.place} IN ({','.join(map(str, map(int, query.numbers)))})")
    if match_expression(query.text):
        parts.append(f"{source.place} IN (SELECT id FROM found)")  # noqa: S608 - what the search found
    return source, " AND ".join(parts) or EVERYTHING, tuple(values)


def match_expression(text: str) -> str:
    """Return a search text as an FTS5 expression; nothing in it is an operator."""
    words = re.findall(r"\w+\*?", text)
    return " ".join(f'"{word.rstrip("*")}"{"*" if word.endswith("*") else ""}' for word in words)


def steps(
    source: Source, order: Order, here: tuple[float | None, int], *, after: bool
) -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """Yield where to look for the next instance, nearest first: condition, its values, order.

    Instances without a score come first where the worst do, and last where the best do.
    """
    score, number = here
    sign, by = (">", f"{source.place} ASC") if after else ("<", f"{source.place} DESC")
    if order == "place":
        yield f"{source.place} {sign} ?", (number,), by
        return
    yield f"{source.score} IS ? AND {source.place} {sign} ?", (score, number), by
    upwards = (order == "score") == after
    if score is None:
        if upwards:
            yield f"{source.score} IS NOT NULL", (), f"{source.score} ASC, {by}"
        return
    if upwards:
        yield f"{source.score} > ?", (score,), f"{source.score} ASC, {by}"
        return
    yield f"{source.score} < ?", (score,), f"{source.score} DESC, {by}"
    yield f"{source.score} IS NULL", (), by
