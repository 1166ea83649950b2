"""Fields of a task that templates wrap: a column, a template, a function of the row, or a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proctor.dialects.lm_eval.functions import guarded, resolve_function
from proctor.dialects.lm_eval.jinja import compile_expression, compile_text, is_template
from proctor.dialects.lm_eval.reader import FunctionReference

Row = Mapping[str, Any]
FieldSpec = Any
"""A column name, a template, a function of the row, a literal value, or ``None``."""


def process_field(doc: Row, field_spec: FieldSpec, default: Any = None) -> Any:
    """Return what a field specification finds in a row.

    ``{{ expression }}`` alone keeps its type; any other template gives text; a name gives that column, or ``default``
    where the row has no such column; a function is called; anything else is the value itself.
    """
    return compile_field(field_spec, default)(doc)


def compile_field(field_spec: FieldSpec, default: Any = None) -> Callable[[Row], Any]:
    """Return :func:`process_field` for one specification, compiled once."""
    if field_spec is None:
        return lambda doc: default
    if isinstance(field_spec, FunctionReference):
        return _on_first_use(field_spec)
    if callable(field_spec):
        return field_spec  # type: ignore[no-any-return]
    if not isinstance(field_spec, str):
        return lambda doc: list(field_spec.values()) if isinstance(field_spec, dict) else field_spec
    if not is_template(field_spec):
        return lambda doc: doc.get(field_spec, default)
    return compile_expression(field_spec) or compile_text(field_spec)


def _on_first_use(reference: FunctionReference) -> Callable[[Row], Any]:
    """Return a function of the task file, which is looked for when the first document needs it."""
    found: list[Callable[[Row], Any]] = []

    def call(doc: Row) -> Any:
        if not found:
            what = f"'{reference.name}', wrapped by a template,"
            found.append(guarded(resolve_function(reference, what), what, reference.location))
        return found[0](doc)

    return call
