"""What an exam's numbers have to be, counted from the plan of its model by a few lines of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

from conformance.own.options.exams import Model, Row


@dataclass(frozen=True)
class Expected:
    """The numbers of an exam or of a group of it.

    Attributes:
        asked, scored: Questions, and those of which every answer can be scored.
        score: What the answers come to; ``None`` where nothing was scored.
    """

    asked: int
    scored: int
    score: float | None


def chosen(rows: Sequence[Row], options: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the questions that are asked."""
    if "samples" in options:
        (places,) = options["samples"].values()
        return sorted(set(places))
    limit = options.get("limit")
    end = len(rows) if limit is None else ceil(limit * len(rows)) if limit < 1 else int(limit)
    return list(range(min(end, len(rows))))


def expected(model: Model, numbers: Iterable[int], options: Mapping[str, Any]) -> Expected:
    """Return the numbers of some questions."""
    values, asked = [], 0
    for number in numbers:
        asked += 1
        if (value := value_of(model, number, options)) is not None:
            values.append(value)
    return Expected(asked, len(values), sum(values) / len(values) if values else None)


def value_of(model: Model, number: int, options: Mapping[str, Any]) -> float | None:
    """Return what the answers to a question come to; ``None`` where one of them has no score."""
    plans = [model.plan(number, time) for time in range(options.get("repeats") or 1)]
    lost = {"failed", "length"} if options.get("truncated") == "fail" else {"failed"}
    if any(reason in lost for reason, _ in plans):
        return None
    return reduced((options.get("reduce") or ("mean",))[0], [right for _, right in plans])


def reduced(name: str, right: Sequence[bool]) -> float:
    """Return what right and wrong answers come to."""
    total, good = len(right), sum(right)
    if name == "best":
        return float(good > 0)
    if name == "majority":  # there are two answers; the one that came first wins a tie
        counts = Counter(right)
        return float(max(counts, key=lambda each: (counts[each], -right.index(each))))
    kind, _, of = name.partition("@" if "@" in name else "^")
    if kind == "pass":
        size = int(of)
        if "^" in name:
            return comb(good, size) / comb(total, size)
    if kind == "g-pass":
        size = int(of)
        ways = sum(comb(good, k) * comb(total - good, size - k) for k in range(ceil(size / 2), size + 1))
        return ways / comb(total, size)
    if kind == "pass":
        return 1 - comb(total - good, size) / comb(total, size)
    return good / total
