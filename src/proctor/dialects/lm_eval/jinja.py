"""Jinja templates of task files: compiled once, and run in a sandbox with bounds.

Task files are data. A template may compute text, but it reaches no Python object's internals, changes nothing, and
cannot run or grow without end (:mod:`~proctor.dialects.lm_eval.sandbox`). Templates that only name fields compile to
plain functions (:mod:`~proctor.dialects.lm_eval.paths`), which cost a tenth of what Jinja costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2 import TemplateError as JinjaTemplateError
from jinja2.exceptions import SecurityError, UndefinedError

from proctor.dialects.lm_eval.paths import compile_path
from proctor.dialects.lm_eval.sandbox import TaskEnvironment, task_environment
from proctor.dialects.lm_eval.template_filters import one_rendering
from proctor.errors import DataError, ScoringError, TemplateError
from proctor.regexes import SlowPatternError
from proctor.safe_python.budget import MAX_TEXT, ExhaustedError, RefusalError, check_length
from proctor.safe_python.plain import FLAT_IN_TEMPLATES, plain

Row = Mapping[str, Any]
Render = Callable[[Row], str]
Evaluate = Callable[[Row], Any]


@lru_cache(maxsize=4096)
def compile_text(template: str) -> Render:
    """Return a function from a row to the template's text.

    Raises:
        TemplateError: The template does not parse; when called, a field is missing or the template is refused.
    """
    parsed = parse_template(template)
    fast = _text_of_paths(parsed)
    slow = rendering(template)
    if fast is None:
        return slow
    parts = fast

    def render(row: Row) -> str:
        try:
            return "".join([part if type(part) is str else _text(part(row)) for part in parts])
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RefusalError):
            return slow(row)  # for the reason in the template's own words

    return _single(parts, slow) if len(parts) == 1 else render


def _single(parts: list[Any], slow: Render) -> Render:
    only = parts[0]
    if isinstance(only, str):
        return lambda row: only

    def render(row: Row) -> str:
        try:
            return _text(only(row))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RefusalError):
            return slow(row)

    return render


def _text(value: Any) -> str:
    """Return what ``{{ value }}`` prints; long lists are printed within the budget, by Jinja."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind not in FLAT_IN_TEMPLATES:
        value = plain(value, FLAT_IN_TEMPLATES)
        if isinstance(value, (list, tuple, dict)) and len(value) > _FEW_PARTS:
            raise ValueError
    return str(value)


_FEW_PARTS = 1_000
"""Parts of a value that is printed without a look at its length."""


@lru_cache(maxsize=4096)
def compile_expression(template: str) -> Evaluate | None:
    """Return a function from a row to the value of ``{{ expression }}``, with its type; ``None`` for other templates.

    Raises:
        TemplateError: The template does not parse.
    """
    expression = single_expression(template)
    if expression is None:
        return None
    fast = compile_path(expression)
    slow = _evaluation(template)
    if fast is None:
        return slow
    path = fast

    def evaluate(row: Row) -> Any:
        try:
            return plain(path(row), FLAT_IN_TEMPLATES)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, RefusalError):
            return slow(row)

    return evaluate


def single_expression(template: str) -> nodes.Expr | None:
    """Return the expression of a template that is nothing but ``{{ expression }}``, white space around it aside."""
    body = parse_template(template.strip()).body
    if len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1:
        only = body[0].nodes[0]
        return None if isinstance(only, nodes.TemplateData) else only
    return None


def is_template(text: str) -> bool:
    """Return whether a text has anything that Jinja would act on."""
    return "{{" in text or "{%" in text or "{#" in text


def field_names(template: str, environment: Callable[[], TaskEnvironment] = task_environment) -> frozenset[str]:
    """Return the names that a template takes from the row."""
    from jinja2.meta import find_undeclared_variables

    return frozenset(find_undeclared_variables(parse_template(template, environment)))


# -- inside -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def parse_template(template: str, environment: Callable[[], TaskEnvironment] = task_environment) -> nodes.Template:
    """Return a template's syntax tree; do not change it, it is kept.

    Raises:
        TemplateError: The template does not parse.
    """
    try:
        check_length(template)
        parsed = environment().parse(template)
    except ExhaustedError as error:
        raise TemplateError(f"the template {error}", why=f"in {_shortened(template)!r}") from None
    except TemplateSyntaxError as error:
        raise TemplateError(
            f"the template does not parse: {error.message}",
            why=f"in {_shortened(template)!r}, line {error.lineno}",
            hint="braces that are meant literally are written {{ '{{' }}",
        ) from None
    except ValueError as error:  # a whole number with more digits than Python reads
        raise TemplateError(
            "the template does not parse", why=f"{str(error).partition(';')[0]}, in {_shortened(template)!r}"
        ) from None
    except RecursionError:
        raise _nested_too_deeply(template) from None
    level: list[nodes.Node] = [parsed]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in node.iter_child_nodes()]
    if level:
        raise _nested_too_deeply(template)
    return parsed


_DEEPEST = 200
"""Levels of a template's syntax tree; compiling takes several frames of Python for each."""


def _nested_too_deeply(template: str) -> TemplateError:
    return TemplateError("the template is nested too deeply", why=f"in {_shortened(template)!r}")


def _text_of_paths(parsed: nodes.Template) -> list[Any] | None:
    parts: list[Any] = []
    for statement in parsed.body:
        if not isinstance(statement, nodes.Output):
            return None
        for node in statement.nodes:
            part = node.data if isinstance(node, nodes.TemplateData) else compile_path(node)
            if part is None:
                return None
            parts.append(part)
    return parts or [""]


def rendering(template: str, environment: Callable[[], TaskEnvironment] = task_environment) -> Render:
    """Return the function from a row to the template's text, in an environment."""
    compiled: list[Any] = []
    names: list[str] = []

    def render(row: Row) -> str:
        try:
            with one_rendering():
                if not compiled:
                    compiled.append(environment().from_string(template))
                    names.extend(field_names(template, environment))
                text = []
                length = 0
                for piece in compiled[0].root_render_func(compiled[0].new_context(_seen(row, names))):
                    length += len(piece)
                    if length > MAX_TEXT:
                        raise ExhaustedError(f"makes a text of more than {MAX_TEXT:,} characters")
                    text.append(piece)
                return "".join(text)
        except _REASONS as error:
            raise explained(error, template, row) from None

    return render


def _evaluation(template: str) -> Evaluate:
    compiled: list[Any] = []
    names: list[str] = []

    def evaluate(row: Row) -> Any:
        try:
            with one_rendering():
                if not compiled:
                    compiled.append(task_environment().compile_expression(_inside(template), undefined_to_none=False))
                    names.extend(field_names(template))
                value = compiled[0](_seen(row, names))
                if isinstance(value, StrictUndefined):
                    str(value)  # says what is undefined
                return value
        except _REASONS as error:
            raise explained(error, template, row) from None

    return evaluate


def _seen(row: Row, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what a template sees of a row: the fields that it names, as data and handles."""
    found: dict[str, Any] = {}
    for name in row if names is None else names:
        if name in row:
            found[name] = plain(row[name], FLAT_IN_TEMPLATES)
    return found


def _inside(template: str) -> str:
    """Return what stands between the braces of ``{{ expression }}``, without marks of white space control."""
    inside = template.strip()[2:-2]
    inside = inside[1:] if inside.startswith(("-", "+")) else inside
    return inside[:-1] if inside.endswith(("-", "+")) else inside


_REASONS = (
    *(JinjaTemplateError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError),
    *(NotImplementedError, RecursionError, RuntimeError, TypeError, ValueError, DataError, RefusalError),
    *(ScoringError, re.error),
)


def explained(error: BaseException, template: str, row: Row) -> TemplateError:
    """Return what went wrong in a template, with the columns that there are."""
    columns = f"the columns are {', '.join(map(str, row))}"
    if isinstance(error, ExhaustedError):
        return TemplateError(f"the template is stopped: it {error}", why=f"in {_shortened(template)!r}")
    if isinstance(error, (SecurityError, RefusalError)):
        return TemplateError(
            f"the template is refused: {'it ' if isinstance(error, RefusalError) else ''}{error}",
            why=f"{_shortened(template)!r} reaches for what templates may not touch; task files are data",
            hint="compute it in a function (`!function`) that the user can trust, or in a column",
        )
    if isinstance(error, UndefinedError):
        return TemplateError(
            f"the template uses something that is not there: {error}",
            why=f"in {_shortened(template)!r}; {columns}",
            hint=_document(row),
        )
    if isinstance(error, TemplateSyntaxError):
        return TemplateError(f"the template does not parse: {error.message}", why=f"in {_shortened(template)!r}")
    if isinstance(error, (ScoringError, DataError)):
        problem = error.diagnostics[0]
        how = "is stopped" if isinstance(error, SlowPatternError) else "fails"
        return TemplateError(
            f"the template {how}: {problem.what}", why=f"{problem.why}; in {_shortened(template)!r}", hint=problem.hint
        )
    return TemplateError(
        f"the template fails: {type(error).__name__}: {error}", why=f"in {_shortened(template)!r}; {columns}"
    )


def _document(row: Row) -> str:
    try:
        return f"the document is {_shortened(repr(_seen(row)), 300)}"
    except (RefusalError, RecursionError, ValueError):  # nested too deep, or a number with too many digits
        return ""


def _shortened(text: str, length: int = 120) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def apply_template(template: str, doc: Mapping[str, Any]) -> str:
    """Return a Jinja template filled with a document."""
    return str(compile_text(template)(doc))
