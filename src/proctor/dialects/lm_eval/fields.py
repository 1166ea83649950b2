"""Compiles ``doc_to_text`` and its kin, once for each task.

A specification is a function, a column name, a Jinja template, or a plain value. What a template renders is text; text
that looks like a position or a list becomes one, by the rules of each field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import TemplateError, did_you_mean
from proctor.foreign_text import parse_literal
from proctor.lazy import Deferred

if TYPE_CHECKING:
    from proctor.dialects.lm_eval import functions, jinja
else:
    functions = Deferred("proctor.dialects.lm_eval.functions")
    jinja = Deferred("proctor.dialects.lm_eval.jinja")


Document = Mapping[str, Any]
Find = Callable[[Document], Any]


def as_function(spec: object, purpose: str) -> Callable[..., Any] | None:
    """Return the function that a specification is or names; ``None`` where it is something else.

    Raises:
        TrustError: It is named by a task file, and code is not trusted.
    """
    if isinstance(spec, FunctionReference):
        found = functions.resolve_function(spec, purpose)
        if not callable(found):
            return None
        return functions.with_given(functions.guarded(found, f"{purpose} ('{spec.name}')", spec.location), spec.given)
    return spec if callable(spec) else None


def value_of(spec: Any, purpose: str) -> Any:
    """Return what a specification stands for: a function or other object that ``!function`` names, or itself."""
    return functions.resolve_function(spec, purpose) if isinstance(spec, FunctionReference) else spec


def _constant_named(spec: Any, purpose: str) -> Any:
    """Return the constant that ``!function`` names, as if the file had it; a function stays as it is named."""
    found = value_of(spec, purpose)
    return spec if callable(found) else found


def find_text(spec: Any, columns: Collection[str], purpose: str, *, positions: bool) -> Find:
    """Return ``doc_to_text``: text, or with ``positions`` a number where the template gives digits only."""
    spec = _constant_named(spec, purpose)
    if isinstance(spec, int):
        return lambda doc: spec
    if (function := as_function(spec, purpose)) is not None:
        return function
    if not isinstance(spec, str):
        raise TemplateError(f"{purpose} is {spec!r}", hint="a column name, a template, or a function")
    if spec in columns:
        return _column(spec, purpose)
    _refuse_missing_column(spec, columns, purpose)
    render = _renderer(spec)
    if not positions:
        return render
    return _constant(spec, _position) or (lambda doc: _position(render(doc)))


def find_target(spec: Any, columns: Collection[str], purpose: str, *, positions: bool) -> Find:
    """Return ``doc_to_target``: text, a position, or a list of acceptable answers."""
    spec = _constant_named(spec, purpose)
    if isinstance(spec, int | list):
        return lambda doc: spec
    if isinstance(spec, FunctionReference) or callable(spec):
        return find_text(spec, columns, purpose, positions=positions)
    if not isinstance(spec, str):
        raise TemplateError(f"{purpose} is {spec!r}", hint="a column name, a template, a list, or a function")
    if spec in columns:
        return _column(spec, purpose)
    render = _renderer(spec)

    def interpret(text: str) -> Any:
        if positions and text.isdigit():
            return int(text)
        if text[:1] == "[" and text[-1:] == "]":
            try:
                return parse_literal(text)
            except (SyntaxError, ValueError):
                return text
        return text

    return _constant(spec, interpret) or (lambda doc: interpret(render(doc)))


def find_choices(spec: Any, columns: Collection[str], purpose: str) -> Find:
    """Return ``doc_to_choice``: a list of texts."""
    spec = _constant_named(spec, purpose)
    if isinstance(spec, list):
        return lambda doc: spec
    if isinstance(spec, dict):
        values = list(spec.values())
        return lambda doc: values
    if (function := as_function(spec, purpose)) is not None:
        return function
    if not isinstance(spec, str):
        raise TemplateError(f"{purpose} is {spec!r}", hint="a list, a column name, a template, or a function")
    if spec in columns:
        return _column(spec, purpose)
    return _literal(spec, purpose)


def find_literal(spec: Any, columns: Collection[str], purpose: str) -> Find:
    """Return ``doc_to_image`` or ``doc_to_audio``: a column, or what a template's text means as a literal."""
    spec = _constant_named(spec, purpose)
    if isinstance(spec, list):
        parts = [find_literal(each, columns, purpose) for each in spec]
        return lambda doc: [found for part in parts if (found := part(doc)) is not None]
    if (function := as_function(spec, purpose)) is not None:
        return function
    if isinstance(spec, str) and spec in columns:
        return _column(spec, purpose)
    return _literal(str(spec), purpose)


def find_plain(spec: Any, purpose: str) -> Find | None:
    """Return ``description`` or ``gen_prefix``: a column where the document has it, else a template's text."""
    spec = _constant_named(spec, purpose)
    if not spec:
        return None
    if (function := as_function(spec, purpose)) is not None:
        return function
    text = str(spec)
    render = _renderer(text)
    if jinja.is_template(text):
        return render
    return lambda doc: doc.get(text, text)


def _column(name: str, purpose: str) -> Find:
    def find(doc: Document) -> Any:
        try:
            return doc[name]
        except KeyError:
            raise TemplateError(
                f"{purpose} is '{name}', and the document has no such column",
                why=f"the columns are {', '.join(map(str, doc))}",
            ) from None

    return find


def _refuse_missing_column(spec: str, columns: Collection[str], purpose: str) -> None:
    """Refuse a question that is one bare name and not a column: the same word for every document is a mistake."""
    if columns and spec.isidentifier():
        raise TemplateError(
            f"{purpose} is '{spec}', and the documents have no such column",
            why=f"the columns are {', '.join(map(str, sorted(columns)))}",
            hint=did_you_mean(spec, columns) or f"text that is meant literally is written {{{{ '{spec}' }}}}",
        )


def _renderer(spec: str) -> Callable[[Document], str]:
    return jinja.compile_text(spec) if jinja.is_template(spec) else lambda doc: spec


def _constant(spec: str, interpret: Callable[[str], Any]) -> Find | None:
    if jinja.is_template(spec):
        return None
    value = interpret(spec)
    return lambda doc: value


def _position(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def _literal(spec: str, purpose: str) -> Find:
    render = _renderer(spec)

    def parsed(doc: Document) -> Any:
        text = render(doc)
        try:
            return parse_literal(text)
        except (SyntaxError, ValueError):
            raise TemplateError(
                f"{purpose} does not give a list",
                why=f"{spec!r} renders to {text[:200]!r}; the columns are {', '.join(map(str, doc))}",
                hint="a template for choices renders to a list of quoted texts, as {{choices}} does for a list column",
            ) from None

    native = jinja.compile_expression(spec) if jinja.is_template(spec) and spec == spec.strip() else None
    if native is None:
        return parsed
    find = native

    def shortcut(doc: Document) -> Any:
        """Return a list of texts as it is: writing it down and reading it back would give the same."""
        found = find(doc)
        if type(found) is list and all(type(each) is str for each in found):
            return found
        return parsed(doc)

    return shortcut
