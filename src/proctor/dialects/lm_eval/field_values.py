"""Fields of a task that templates wrap: a column, a template, a function of the row, or a value.

:func:`process_field` finds whatever is there. What a template wraps has a type, and is refused by name where it has
another: the question is text, the choices are a list, and a column that is named is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import Diagnostic, TemplateError, did_you_mean
from proctor.foreign_text import parse_literal
from proctor.lazy import Deferred

if TYPE_CHECKING:
    from proctor.dialects.lm_eval import functions, jinja
else:
    functions = Deferred("proctor.dialects.lm_eval.functions")
    jinja = Deferred("proctor.dialects.lm_eval.jinja")


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
    if not jinja.is_template(field_spec):
        return lambda doc: doc.get(field_spec, default)
    evaluate = jinja.compile_expression(field_spec)
    return jinja.compile_text(field_spec) if evaluate is None else lambda doc: _item_of(evaluate(doc))


def _item_of(found: Any) -> Any:
    """Return the nested column that a name means where mappings have a method of that name (``{{x.values}}``)."""
    if type(found) is not BuiltinMethodType:
        return found
    owner, name = found.__self__, found.__name__
    return owner[name] if isinstance(owner, Mapping) and name in owner else found


def _on_first_use(reference: FunctionReference) -> Callable[[Row], Any]:
    """Return a function of the task file, which is looked for when the first document needs it."""
    found: list[Callable[[Row], Any]] = []

    def call(doc: Row) -> Any:
        if not found:
            what = f"'{reference.name}', wrapped by a template,"
            found.append(functions.guarded(functions.resolve_function(reference, what), what, reference.location))
        return found[0](doc)

    return call


_SHOWN_LENGTH = 80  # characters of a wrong value in a message: one line of a terminal
_PATH = re.compile(r"[^\W\d]\w*(\.\w+)*\Z")


def find_question(spec: FieldSpec) -> Callable[[Row], str]:
    """Return a function that finds the question of a row.

    The function raises a TemplateError where a column is missing, or where what is found is not text.
    """
    find = _column_of(spec, "doc_to_text") if _is_plain(spec) else compile_field(spec, "")

    def question(doc: Row) -> str:
        found = find(doc)
        if type(found) is str:
            return found
        if found is None or isinstance(found, list | tuple | Mapping):
            raise TemplateError(f"doc_to_text gives {_shown(found)}, not text", hint="a template wraps one question")
        return str(found)

    return question


def find_choices(spec: FieldSpec) -> Callable[[Row], list[str]]:
    """Return a function that finds the choices of a row, as texts; text that reads as a list is one.

    The function raises a TemplateError where a column is missing, or where what is found is not a list.
    """
    find = _column_of(spec, "doc_to_choice") if _is_plain(spec) else compile_field(spec, [])

    def choices(doc: Row) -> list[str]:
        found = find(doc)
        if type(found) is str and (written := _literal_list(found)) is not None:
            found = written
        if not isinstance(found, list | tuple):
            raise TemplateError(
                f"doc_to_choice gives {_shown(found)}, not a list", hint=_way_to_a_list(spec, found) or _LIST_HINT
            )
        return [each if type(each) is str else str(each) for each in found]

    return choices


def find_answer(spec: FieldSpec) -> Callable[[Row], Any]:
    """Return a function that finds the answer of a row; plain text that is not a column is the answer itself."""
    if not _is_plain(spec):
        return compile_field(spec)
    constant = int(spec) if spec.isdigit() else spec
    return lambda doc: doc.get(spec, constant)


def missing_column(spec: FieldSpec, field: str, row: Row) -> Sequence[Diagnostic]:
    """Return the problem of a field that names a column which a row does not have; nothing where all is well."""
    if _is_plain(spec) and _PATH.match(spec) and spec not in row:
        return _no_column(spec, field, row).diagnostics
    return ()


def refuse_missing_answer(spec: FieldSpec, doc: Row) -> None:
    """Refuse an answer that is one bare name and not a column: the same word for every document is a mistake."""
    if _is_plain(spec) and _PATH.match(spec) and spec not in doc:
        raise _no_column(spec, "doc_to_target", doc)


_LIST_HINT = "a template wraps a list of texts, such as {{choices}} of a list column"


def _is_plain(spec: FieldSpec) -> bool:
    return isinstance(spec, str) and not jinja.is_template(spec)


def _column_of(name: str, field: str) -> Callable[[Row], Any]:
    """Return a function that finds a column; text that cannot be the name of one is meant literally."""
    is_name = _PATH.match(name) is not None

    def find(doc: Row) -> Any:
        if name in doc:
            return doc[name]
        if is_name:
            raise _no_column(name, field, doc)
        return name

    return find


def _no_column(name: str, field: str, doc: Row) -> TemplateError:
    first, dot, _ = name.partition(".")
    hint = f"nested columns are written {{{{{name}}}}}" if dot and first in doc else did_you_mean(name, doc)
    return TemplateError(
        f"{field} is '{name}', and the document has no such column",
        why=f"the columns are {', '.join(map(str, doc))}",
        hint=hint or f"text that is meant literally is written {{{{ '{name}' }}}}",
    )


def _literal_list(text: str) -> list[Any] | None:
    """Return the list that a text spells, as lm-eval reads templates that write one; ``None`` where it spells none."""
    if text[:1] not in "[(" or text[-1:] not in "])" or not text:
        return None
    try:
        found = parse_literal(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return list(found) if isinstance(found, list | tuple) else None


def _way_to_a_list(spec: FieldSpec, found: Any) -> str:
    """Return how to get at the list inside a mapping, where there is one."""
    if not isinstance(found, Mapping):
        return ""
    column = str(spec).strip("{} ")
    lists = [key for key, value in found.items() if isinstance(value, list | tuple)]
    if lists:
        return f"did you mean {' or '.join(f'{{{{{column}.{key}}}}}' for key in lists)}?"
    return f"the texts of a mapping are {{{{{column}.values() | list}}}}"


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + '…'}"
