"""The sandbox in which templates of task files run: Jinja with the allow-list and the budget of all safe Python.

Operators are those of :mod:`proctor.safe_python.operators`, methods of values those of its table, less the ones that
change their owner; functions are Jinja's own and nothing else. Loops, macros, filters, tests, comparisons, slices and
what is printed draw from one budget for each rendering (:mod:`~proctor.dialects.lm_eval.template_filters`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType, MethodType
from typing import Any

from jinja2 import StrictUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner

from proctor.dialects.lm_eval import template_filters as priced
from proctor.safe_python import operators
from proctor.safe_python.methods import CHANGING, BoundMethod, methods_of
from proctor.safe_python.scope import Frame

_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
}

_INTERNAL = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
"""What attributes of generators, coroutines, frames, tracebacks, code objects and functions start with."""

NO_FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType({})

_OF_JINJA = (Macro, LoopContext, BlockReference, Joiner, Undefined)
"""Values of templates that may be called."""

_STEPS_PER_CALL = 8
"""Steps that a macro costs, which makes a frame of Jinja's."""

_NODES_PER_STEP = 8
"""Nodes of a template that cost as much as one round of a loop."""


def _printing(text_of: Callable[[Any], str]) -> Callable[[Context, Any], Any]:
    """Return the function that says what ``{{ value }}`` prints, measured first."""

    @pass_context  # or else constants would be computed while the template is compiled
    def printed(context: Context, value: Any) -> Any:
        del context
        if isinstance(value, Undefined):
            return value
        text = text_of(value)
        priced.current_budget().hold_text(len(text))
        return text

    return printed


class TaskEnvironment(ImmutableSandboxedEnvironment):
    """lm-eval's Jinja (undefined names are errors, a last newline is kept) in a sandbox with bounds.

    Args:
        text_of: How values are printed; by default as Python does.
        filters: Further filters by name.
    """

    intercepted_binops = frozenset(_OPERATORS)

    def __init__(
        self, text_of: Callable[[Any], str] = priced.text_of, filters: Mapping[str, Callable[..., Any]] = NO_FILTERS
    ) -> None:
        super().__init__(
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            autoescape=False,
            optimized=False,  # what filters make of constants belongs to the rendering and its budget
            finalize=_printing(text_of),
        )
        self.globals.pop("lipsum")  # draws from the global random generator
        self._functions = frozenset(map(id, self.globals.values()))
        originals = dict(self.filters)
        self.filters.update({name: priced.priced(name, each) for name, each in originals.items()})
        self.filters["replace"] = priced.replaced(originals["replace"])
        self.filters["format"] = priced.formatted
        self.filters["join"] = priced.joined_filter(originals["join"])
        self.filters["sum"] = priced.summed(originals["sum"])
        self.filters["regex_replace"] = priced.regex_replace
        self.filters.update(filters)
        self.filters["__steps"] = priced.bounded_steps
        self.filters["__joined"] = priced.joined
        self.filters["__measured"] = priced.measured
        self.filters["__sliced"] = priced.sliced
        tests: dict[str, Any] = self.tests
        self.tests.update({name: priced.priced_test(tests[name]) for name in priced.COMPARING})
        self.tests.update(priced.TESTS)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse what Jinja refuses, and all that frames, generators and code objects are made of."""
        return not attr.startswith(_INTERNAL) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return ``format`` and ``format_map`` of a text as methods that follow keys and positions only."""
        owner, name = getattr(value, "__self__", None), getattr(value, "__name__", "")
        if not isinstance(owner, str) or name not in {"format", "format_map"}:
            return None
        return BoundMethod(owner, name, methods_of(str)[name])  # type: ignore[return-value]  # call() knows it

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operation after a look at how large its result would be."""
        del context
        return operators.binary(_OPERATORS[operator], left, right, priced.current_budget())

    def call(__self, __context: Context, __obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - keyword names are free
        """Call a function of Jinja, or a method of the table, within the budget."""
        budget = priced.current_budget()
        budget.spend(_STEPS_PER_CALL)
        if isinstance(__obj, BoundMethod):
            return __obj.invoke(Frame({}, budget), [*args], kwargs)
        if isinstance(__obj, _OF_JINJA) or id(__obj) in __self._functions or _is_of_jinja(__obj):
            made = super().call(__context, __obj, *args, **kwargs)
            if isinstance(made, str):
                budget.hold_text(len(made))
            return made
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        method = ({} if owner is None else methods_of(type(owner))).get(name)
        if method is None or name in CHANGING:
            raise SecurityError(f"{name or 'a value'!r} of a {type(owner or __obj).__name__} may not be called")
        return method(Frame({}, budget), owner, [*args], kwargs)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_with_bounds(source), *args, **kwargs)


def _is_of_jinja(function: Any) -> bool:
    """Return whether a function is a method of a loop or of a cycler: ``loop.cycle``, ``cycler.next``."""
    return isinstance(function, MethodType) and isinstance(function.__self__, (LoopContext, Cycler))


# -- templates that count their steps ---------------------------------------------------------------------------------


def _with_bounds(template: nodes.Template) -> nodes.Template:
    """Count the steps of every loop; measure what is joined, compared and cut before it is."""
    for loop in template.find_all(nodes.For):
        parts = [
            each for body in (loop.body, loop.else_) for part in body for each in (part, *part.find_all(nodes.Node))
        ]
        written = sum(len(each.data) for each in parts if isinstance(each, nodes.TemplateData))
        arguments: list[nodes.Expr] = [nodes.Const(1 + len(parts) // _NODES_PER_STEP), nodes.Const(written)]
        loop.iter = _filtered(loop.iter, "__steps", arguments)
    _replace_in(template)
    return template


def _filtered(node: Any, name: str, arguments: list[nodes.Expr] | None = None) -> nodes.Filter:
    return nodes.Filter(node, name, arguments or [], [], None, None, lineno=node.lineno)


def _replace_in(node: nodes.Node) -> None:
    for name, value in list(node.iter_fields()):
        if isinstance(value, nodes.Node):
            setattr(node, name, _bounded(value))
        elif isinstance(value, list):
            setattr(node, name, [_bounded(each) if isinstance(each, nodes.Node) else each for each in value])


def _bounded(node: nodes.Node) -> nodes.Node:
    _replace_in(node)
    if isinstance(node, nodes.Concat):
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "__joined")
    if isinstance(node, (nodes.Compare, nodes.Operand)):
        node.expr = node.expr if isinstance(node.expr, nodes.Const) else _filtered(node.expr, "__measured")
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        node.node = _filtered(node.node, "__sliced")
    return node


@lru_cache(maxsize=1)
def task_environment() -> TaskEnvironment:
    """Return the environment that all task files share."""
    return TaskEnvironment()
