"""Which instances of two files are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from proctor.exchange.observed import Observed

Pair = tuple[Observed, Observed]


def paired(
    first: Sequence[Observed], second: Sequence[Observed]
) -> tuple[list[Pair], tuple[list[Observed], list[Observed]], str]:
    """Return pairs, what only one side has, and what says that two are the same.

    By content where both files hold it, by what was asked and is right where they do not and most pairs agree in it,
    by number else.
    """
    for by in ("content", "words"):
        keys, others = [_key(each, by) for each in first], [_key(each, by) for each in second]
        if not any(keys) or not any(others):
            continue
        pairs, alone = _matched(first, second, keys, others)
        if pairs:  # what was sent and is right tells the rest; else where it stood, with the same answer
            again = [_key(each, "words") for each in alone[0]], [_key(each, "words") for each in alone[1]]
            if by == "words":
                again = _places(alone[0]), _places(alone[1])
            more, alone = _matched(*alone, *again)
            pairs = sorted([*pairs, *more], key=lambda pair: pair[0].number)
        if pairs:
            return pairs, alone, by
    numbers = [str(each.number) for each in first]
    return (*_matched(first, second, numbers, [str(each.number) for each in second]), "number")


def _places(side: Sequence[Observed]) -> list[str]:
    return [f"{each.number}\0{each.references}" for each in side]


def _key(each: Observed, by: str) -> str:
    if by == "content":
        return each.digest
    return f"{each.prompt}\0{each.references}" if each.prompt is not None else ""


def _matched(
    first: Sequence[Observed], second: Sequence[Observed], keys: Sequence[str], others: Sequence[str]
) -> tuple[list[Pair], tuple[list[Observed], list[Observed]]]:
    waiting: dict[str, list[Observed]] = defaultdict(list)
    for each, key in zip(second, others, strict=True):
        if key:
            waiting[key].append(each)
    pairs: list[Pair] = []
    alone: list[Observed] = []
    for each, key in zip(first, keys, strict=True):
        if key and waiting[key]:
            pairs.append((each, waiting[key].pop(0)))
        else:
            alone.append(each)
    taken = {id(b) for _, b in pairs}
    return pairs, (alone, [each for each in second if id(each) not in taken])
