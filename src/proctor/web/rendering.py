"""Templates and what they may call. Needs nothing but Jinja, so that reports can be written without a web server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from proctor.prompts.origins import COLOURS, label_of, part_of
from proctor.results.summary import interval, shown, unit_of
from proctor.runs.answer_notes import THUMBS
from proctor.web.run_lines import ago
from proctor.web.verdicts import SIGNS


@cache
def environment() -> Environment:
    """Return the templates: everything is escaped, an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("proctor.web", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "shown": shown,
        "unit": unit_of,
        "interval": interval,
        "visible": visible,
        "breakable": breakable,
        "pretty": pretty,
        "duration": duration,
        "numeric": numeric,
        "ago": ago,
    }
    made.globals |= {
        "label_of": label_of,
        "part_class": part_class,
        "parts": COLOURS,
        "signs": SIGNS,
        "static": False,
        "thumbs": THUMBS,
    }
    return made


def render(name: str, **values: Any) -> str:
    """Return a page."""
    return environment().get_template(name).render(**values)


def part_class(origin: str) -> str:
    """Return the style class of a part of a prompt."""
    return "part-" + part_of(origin).replace(" ", "-")


@cache
def part_styles() -> str:
    """Return the style sheet that gives parts their colours, made of the one table of colours."""
    return "".join(f".part-{part.replace(' ', '-')} {{ color: {colour}; }}\n" for part, colour in COLOURS.items())


@cache
def file_styles() -> str:
    """Return the style sheet of files that need nothing else."""
    return files("proctor.web").joinpath("static", "app.css").read_text(encoding="utf-8") + part_styles()


_BREAKS = re.compile(r"(?<=[._,/=:-])")


def breakable(text: object) -> Markup:
    """Return a name that a line may break within, behind its dots and lines: escaped, and nowhere else broken."""
    return Markup("<wbr>").join(_BREAKS.split(visible(text)))


_BIDI = {code: f"[U+{code:04X}]" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_CONTROL = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {0x7F: "␡"}
_VISIBLE = {**_BIDI, **_CONTROL}


_NUMBER = re.compile(r"$|[-+$]?\d|-$|no number$")
_MINUTE, _HOUR = 60, 3600


def duration(seconds: object) -> str:
    """Return seconds as people say them; an empty text where there are none.

    >>> duration(1.52), duration(415.8), duration(7265), duration("")
    ('1.5 s', '6 min 56 s', '2 h 1 min', '')
    """
    if not isinstance(seconds, int | float):
        return ""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def visible(text: object) -> str:
    """Return a text whose control characters and direction marks can be seen and do nothing."""
    said = str(text)
    return said if said.isascii() and said.isprintable() else said.translate(_VISIBLE)  # nearly all of a page's


def numeric(rows: Iterable[Sequence[object]]) -> set[int]:
    """Return which columns of a table hold numbers; the first names its row."""
    columns = enumerate(zip(*rows, strict=True))
    return {number for number, cells in columns if number and all(_NUMBER.match(str(cell)) for cell in cells)}


def pretty(value: object) -> str:
    """Return a value as people read it: text as it is, everything else as indented JSON."""
    if isinstance(value, str):
        return visible(value)
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))
