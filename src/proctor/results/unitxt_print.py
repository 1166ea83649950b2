"""Nested values as indented lines: name and type, then the value; the layout that Unitxt prints."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.errors import UsageError, did_you_mean

MARGIN = 10
"""Characters of the terminal's width that stay free."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of printed values.

    Attributes:
        width: Characters a line may have, its indentation included twice; what is longer goes on in the next line.
        step: Characters of indentation for each level.
        float_format: A format specification of numbers with a fraction, such as ``.2g``.
        indent: Characters of indentation of this level.
    """

    width: int
    step: int = 4
    float_format: str = ""
    indent: int = 0


def pretty_text(
    value: Any,
    *,
    indent: int = 0,
    step: int = 4,
    width: int | None = None,
    keys: Sequence[str] | None = None,
    float_format: str = "",
) -> str:
    """Return a value as indented lines, with a newline after the last one.

    Args:
        value: A value; dicts, lists, tuples and data frames are laid out.
        indent: Characters of indentation of the first level.
        step: Characters of indentation for each further level.
        width: Characters a line may have; without it, as the terminal is wide.
        keys: Of a dict, the keys to show, in this order.
        float_format: A format specification of numbers with a fraction, such as ``.2g``.

    Raises:
        UsageError: The dict lacks one of ``keys``.
    """
    if keys is not None:
        if missing := [key for key in keys if key not in value]:
            hint = did_you_mean(missing[0], map(str, value)) or f"its keys are {', '.join(map(str, value))}"
            raise UsageError(f"there is no key '{missing[0]}' to show", hint=hint)
        value = {key: value[key] for key in keys}
    layout = Layout(width or shutil.get_terminal_size()[0] - MARGIN, step, float_format, indent)
    return "".join(f"{line}\n" for line in _lines(value, layout))


def _lines(value: Any, layout: Layout) -> Iterator[str]:
    if isinstance(value, dict):
        labelled: Iterator[tuple[Any, Any]] = iter(value.items())
    elif isinstance(value, (list, tuple)):
        opening, closing = "[]" if isinstance(value, list) else "()"
        labelled = ((f"{opening}{place}{closing}", each) for place, each in enumerate(value))
    else:
        yield from _wrapped(_text(value, layout), layout)
        return
    inner = replace(layout, indent=layout.indent + layout.step)
    for label, each in labelled:
        yield f"{' ' * layout.indent}{label} ({type(each).__name__}):"
        yield from _lines(each, inner)


def _text(value: Any, layout: Layout) -> str:
    if isinstance(value, float) and layout.float_format:
        return format(value, layout.float_format)
    if type(value).__name__ != "DataFrame":
        return str(value)
    import pandas as pd

    options: list[Any] = ["display.width", layout.width - layout.indent]
    for name in ("max_rows", "max_columns", "max_colwidth"):
        options += [f"display.{name}", None]
    if layout.float_format:
        options += ["display.float_format", f"{{:,{layout.float_format}}}".format]
    with pd.option_context(*options):
        return repr(value)


def _wrapped(text: str, layout: Layout) -> Iterator[str]:
    pad, width = " " * layout.indent, max(1, layout.width - layout.indent)
    for line in text.split("\n"):
        if len(line) + layout.indent > width:
            yield from (f"{pad}{line[start : start + width].rstrip()}" for start in range(0, len(line), width))
        else:
            yield f"{pad}{line.rstrip()}"
