"""Statistics of an exam's questions as tables of texts: for terminals, documents, pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from proctor.runs.exam_items import Duplicate, ExamItems, Item

COLUMNS: Final = (
    *("exam", "instance", "question", "gold", "models", "right", "difficulty", "difficulty_low", "difficulty_high"),
    *("discrimination", "discrimination_low", "discrimination_high", "instead", "instead_by", "weight", "in_doubt"),
)
_LONGEST: Final = 160  # characters of a question: two lines
_MOST_NAMES: Final = 3  # of models: the best of those that agree


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Questions of one kind.

    Attributes:
        title: What they have in common.
        header: Names of the columns; the second one is the question.
        rows: Their texts.
        left_out: How many more there are.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


def heading(found: ExamItems) -> str:
    """Return how many questions there are, of whom, and how they were answered."""
    questions, models = len(found.items), len(found.models)
    extremes = f"{len(found.by_all)} answered by every model, {len(found.by_none)} by none"
    return f"{_counted(questions, 'question')}, {_counted(models, 'model')} ({found.metric}): {extremes}"


def tables(found: ExamItems, most: int) -> Iterator[ItemTable]:
    """Yield the tables that have rows, the most urgent first.

    Args:
        found: The questions of an exam.
        most: Rows of a table, at most.
    """
    doubtful = found.doubtful
    inverse = [each for each in found.items if each not in doubtful and each.discrimination]
    inverse = [each for each in inverse if each.discrimination and each.discrimination.high < 0]
    different = [each for each in found.duplicates if each.differs]
    same = [each for each in found.duplicates if not each.differs]
    header = ("instance", "question", "gold", "right", "difficulty", "discrimination", "instead", "given by")
    for title, items in (
        ("Golds in doubt: the better models agree on another answer", doubtful),
        ("Better models miss these more often", inverse),
    ):
        yield from _table(title, header, [_cells(each) for each in items], most)
    for title, groups in (("Asked more than once, with different golds", different), ("Asked more than once", same)):
        yield from _table(title, ("instances", "question", "golds"), [_group(each) for each in groups], most)
    alone = [each for each in found.by_none if each not in doubtful]
    yield from _table("No model answers these", header, [_cells(each) for each in alone], most)


def _table(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int) -> Iterator[ItemTable]:
    if rows:
        yield ItemTable(title, header, tuple(rows[:most]), max(len(rows) - most, 0))


def _cells(item: Item) -> tuple[str, ...]:
    by = item.instead_by
    names = ", ".join(by[:_MOST_NAMES]) + (", …" if len(by) > _MOST_NAMES else "")
    return (
        str(item.number),
        _excerpt(item.question),
        item.gold,
        f"{item.right} of {item.models}",
        f"{item.difficulty:.2f} ({item.low:.2f} to {item.high:.2f})",
        _discrimination(item),
        item.instead,
        f"{_counted(len(by), 'model')}: {names}" if by else "",
    )


def _discrimination(item: Item) -> str:
    found = item.discrimination
    return "-" if found is None else f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _group(each: Duplicate) -> tuple[str, ...]:
    golds = each.golds if each.differs else each.golds[:1]
    return ", ".join(map(str, each.numbers)), _excerpt(each.question), "; ".join(golds)


def records(found: ExamItems) -> Iterator[dict[str, object]]:
    """Yield a record for each question, under :data:`COLUMNS`."""
    for each in found.items:
        seen = each.discrimination
        told = (None, None, None) if seen is None else (seen.value, seen.low, seen.high)
        values = (
            *(found.exam, each.number, each.question, each.gold, each.models, each.right),
            *(each.difficulty, each.low, each.high, *told),
            *(each.instead, ", ".join(each.instead_by), each.weight, each.is_doubtful),
        )
        yield dict(zip(COLUMNS, values, strict=True))


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
