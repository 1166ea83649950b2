"""Templates in braces, filled with values of a sample and with answers that are not known yet.

What is filled in is a tuple of texts and of numbers: a number stands for an earlier answer of the model.
"""

from __future__ import annotations

from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from proctor.errors import ProctorError, TemplateError
from proctor.safe_python.budget import Budget, RefusalError
from proctor.safe_python.text import format_value, known

Said = tuple[str | int, ...]
"""Words, and the numbers of answers that stand between them."""


def said(*parts: str | int) -> Said:
    """Return parts with neighbouring words joined."""
    found: list[str | int] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return tuple(found)


def text_of(parts: Said) -> str:
    """Return words that hold no answer as one text; an answer is shown as a mark."""
    return "".join(part if isinstance(part, str) else f"⟨answer {part + 1}⟩" for part in parts)


def is_known(parts: Said) -> bool:
    """Whether words hold no answer."""
    return all(isinstance(part, str) for part in parts)


def pieces_of(template: str, owner: str) -> list[tuple[str, str | None, str, str | None]]:
    """Return literals and fields of a template.

    Raises:
        TemplateError: Its braces do not match, or there is no such conversion.
    """
    try:
        return [(text, field, spec or "", known(how)) for text, field, spec, how in Formatter().parse(template)]
    except ValueError as error:
        raise TemplateError(
            f"the template of {owner} cannot be read", why=str(error), hint="write {{ and }} for literal braces"
        ) from None


def filled(template: str, values: Mapping[str, Any], owner: str, *, strict: bool = False) -> Said:
    """Return a template with its fields filled in.

    Args:
        template: Text with fields in braces, as of :meth:`str.format`.
        values: By name; a value may be :data:`Said`.
        owner: What the template is of, for messages.
        strict: Whether an unknown field is an error; if not, it stays as it stands.

    Raises:
        TemplateError: The template cannot be read, or (strict) names what there is not.
    """
    budget = Budget()
    parts: list[str | int] = []
    for number, (text, field, spec, how) in enumerate(pieces_of(template, owner)):
        parts.append(text)
        if field is None:
            continue
        name = field or str(number)
        try:
            parts.extend(_value(name, spec, how, values, budget))
        except RefusalError as error:
            raise TemplateError(f"the template of {owner} {error}") from None
        except ProctorError:
            raise
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            if strict:
                raise _unknown(name, values, owner) from None
            parts.append(_as_it_stands(name, spec, how, budget))
    return said(*parts)


def _value(name: str, spec: str, how: str | None, values: Mapping[str, Any], budget: Budget) -> Iterable[str | int]:
    first, rest = formatter_field_name_split(name)
    value = values[str(first)]
    if value is None:
        raise KeyError(name)
    for is_attribute, key in rest:
        if is_attribute:
            raise AttributeError(key)
        value = value[key]
    if isinstance(value, tuple) and not is_known(value):
        if spec or how:
            raise ValueError(spec)
        return value
    value = text_of(value) if isinstance(value, tuple) else value
    return (format_value(value, how, _filled_spec(spec, values, budget), budget),)


def _filled_spec(spec: str, values: Mapping[str, Any], budget: Budget) -> str:
    """Return a width or precision that a field gives: ``{text:{width}}``."""
    if "{" not in spec:
        return spec
    return "".join(
        text + ("" if field is None else format_value(values[field], how, inner, budget))
        for text, field, inner, how in pieces_of(spec, "a field")
    )


def _as_it_stands(name: str, spec: str, how: str | None, budget: Budget) -> str:
    """Return an unknown field as inspect leaves it: with what ``!r`` and a layout make of its name."""
    text = format_value(f"{{{name}}}", how, "", budget)
    try:
        return format_value(text, None, spec, budget)
    except (ValueError, TypeError):
        return f"{{{text}:{spec}}}"


def _unknown(name: str, values: Mapping[str, Any], owner: str) -> TemplateError:
    known = ", ".join(f"{{{each}}}" for each in values)
    return TemplateError(
        f"the template of {owner} names {{{name}}}, which cannot be filled in", why=f"there is {known}"
    )
