"""The parts of a prompt, as people see them: one name and one colour for each origin.

The colours serve terminals and web pages alike. Each has a contrast of at least 4.5 : 1 against black and against
white (WCAG 2.1, 1.4.3), so one table serves dark and light backgrounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

COLOURS = {
    "system": "#b63ecf",
    "instruction": "#1870ec",
    "demo question": "#0f8471",
    "demo answer": "#18882b",
    "question": "#b65d05",
    "choice": "#df2070",
    "answer prefix": "#867507",
    "layout": "#757575",
}
"""Colour of each part as ``#rrggbb``, in the order in which legends list them."""

_DEMO = re.compile(r"demo\[(\d+)\]\.(question|answer)")


def part_of(origin: str) -> str:
    """Return the part that an origin belongs to, a key of :data:`COLOURS`; unknown origins are ``layout``.

    >>> part_of("demo[2].answer"), part_of("choice[0]"), part_of("answer_prefix")
    ('demo answer', 'choice', 'answer prefix')
    """
    if demo := _DEMO.fullmatch(origin):
        return f"demo {demo[2]}"
    head = origin.partition("[")[0].replace("_", " ")
    return head if head in COLOURS else "layout"


def label_of(origin: str) -> str:
    """Return the label of an origin; demos and choices count from 1.

    >>> label_of("demo[2].answer"), label_of("choice[0]"), label_of("question")
    ('demo 3 answer', 'choice 1', 'question')
    """
    if demo := _DEMO.fullmatch(origin):
        return f"demo {int(demo[1]) + 1} {demo[2]}"
    head, bracket, rest = origin.partition("[")
    if bracket and rest.rstrip("]").isdecimal():
        return f"{head.replace('_', ' ')} {int(rest.rstrip(']')) + 1}"
    return origin.replace("_", " ")


def parts_in(origins: Iterable[str]) -> list[str]:
    """Return the parts that occur, in legend order."""
    present = {part_of(origin) for origin in origins}
    return [part for part in COLOURS if part in present]
