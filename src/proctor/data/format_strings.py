"""Python format strings as templates, checked once and rendered many times.

Format strings may come from strangers, so a replacement field may follow keys and public attributes only: names that
start with an underscore lead to the interpreter's inside and are refused.
"""

from __future__ import annotations

from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from operator import itemgetter
from string import Formatter
from typing import Any, Final, NamedTuple

from proctor.errors import ProctorError, TemplateError, did_you_mean
from proctor.safe_python.budget import Budget, ExhaustedError, RefusalError
from proctor.safe_python.plain import plain_row
from proctor.safe_python.text import check_layout, format_text

Piece = tuple[str, str | None]
"""Literal text, and the name of the field that follows it (``None`` at the end)."""


@lru_cache(maxsize=4096)
def pieces_of(text: str) -> tuple[Piece, ...]:
    """Return the literals and fields of a format string, in order.

    Raises:
        TemplateError: The braces do not match, or a field reaches for a private attribute.
    """
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise TemplateError(
            f"the format string {text!r} cannot be read", why=str(error), hint="write {{ and }} for literal braces"
        ) from None
    found: list[Piece] = []
    for literal, field, spec, _ in parsed:
        if field is None:
            found.append((literal, None))
            continue
        _check_widths(text, spec or "")
        first, rest = formatter_field_name_split(field)
        steps = [step for is_attribute, step in rest if is_attribute]
        if any(str(step).startswith("_") for step in steps) or ("{" in (spec or "") and "_" in (spec or "")):
            raise TemplateError(
                f"the format string {text!r} reaches for a private attribute",
                why=f"'{field}' names something that starts with '_'",
                hint="templates may use fields, their keys and their public attributes",
            )
        found.append((literal, str(first)))
    return tuple(found)


def _check_widths(text: str, spec: str) -> None:
    try:
        check_layout(spec)
    except ExhaustedError as error:
        raise TemplateError(f"the format string {text!r} {error}", hint="pad to what a reader can see") from None


def _computes_width(text: str) -> bool:
    return any("{" in (spec or "") for _, _, spec, _ in Formatter().parse(text))


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """Fill a format string whose widths come from fields: they are looked at first."""
    try:
        return format_text(text, (), values, Budget())
    except RefusalError as error:
        raise TemplateError(f"the format string {text!r} {error}") from None


def fields_of(text: str) -> tuple[str, ...]:
    """Return the names of the fields that a format string uses, each once."""
    return tuple(dict.fromkeys(field for _, field in pieces_of(text) if field is not None))


class _Pattern(NamedTuple):
    """A format string that only puts fields one behind the other: how it is filled with texts, as it mostly is.

    Attributes:
        text: The string with ``%s`` for each field.
        fields: Returns the fields of a row, in the order in which the string has them.
    """

    text: str
    fields: Callable[[Mapping[str, Any]], tuple[Any, ...]]


_TEXT: Final = frozenset({str})


def _of_texts(text: str) -> _Pattern | None:
    """Return the pattern of a format string; ``None`` where a field is converted, padded or looked into."""
    pieces = list(Formatter().parse(text))
    names = [name for _, name, _, _ in pieces if name is not None]
    if any(spec or conversion for _, _, spec, conversion in pieces) or not all(map(str.isidentifier, names)):
        return None
    filled = [literal.replace("%", "%%") + ("" if name is None else "%s") for literal, name, _, _ in pieces]
    take = itemgetter(*names)
    return _Pattern("".join(filled), take if len(names) > 1 else lambda values: (take(values),))


def compile_format(text: str, owner: str, name: str, kind: str = "input field") -> Callable[[Mapping[str, Any]], str]:
    """Return a function that fills a format string.

    Args:
        text: The format string.
        owner, name: The artifact and the field that it comes from, for errors.
        kind: What the values are called in errors.
    """
    if not fields_of(text):
        constant = text.format()
        return lambda values: constant

    fill = text.format_map if not _computes_width(text) else partial(_filled, text)

    names = fields_of(text)
    pattern = _of_texts(text)

    def render(values: Mapping[str, Any]) -> str:
        try:
            if pattern is not None and _TEXT.issuperset(map(type, given := pattern.fields(values))):
                return pattern.text % given
            return fill(plain_row(values, names))
        except RefusalError as error:
            raise TemplateError(f"{owner}.{name} cannot be filled: it {error}") from None
        except KeyError:
            raise missing_field(text, owner, name, kind, values) from None
        except ProctorError:
            raise
        except (ValueError, IndexError, AttributeError, TypeError) as error:
            raise TemplateError(f"{owner}.{name} cannot be filled: {text!r}", why=str(error)) from None

    return render


def missing_field(text: str, owner: str, name: str, kind: str, values: Iterable[str]) -> TemplateError:
    """Say which field a format string needs and which there are."""
    available = list(values)
    missing = [field for field in fields_of(text) if field not in available]
    named = ", ".join(f"{{{field}}}" for field in missing)
    return TemplateError(
        f"Available {kind}s are [{', '.join(available)}] but {owner}.{name} format requires a different ones: '{text}'",
        path=f"$.{name}",
        why=f"{named} is not among them",
        hint=did_you_mean(missing[0], available) if missing else "",
    )
