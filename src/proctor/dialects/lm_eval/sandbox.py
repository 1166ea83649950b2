"""The sandbox in which templates of task files run: no way to Python's insides, and bounds on steps, sizes and time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import monotonic
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from proctor.regexes import bounded

MAX_STEPS = 200_000
"""Most loop steps and macro calls of one rendering."""

MAX_WIDTH = 99_999
"""Widest field of a format."""

MAX_CHARACTERS = 10_000_000
"""Most characters (or list entries) that one operation of a template may make."""

MAX_SECONDS = 20.0
"""Longest time of one rendering."""

_CHARACTERS_PER_STEP = 1_000


class RunawayTemplateError(SecurityError):
    """A template that does not end, or whose output does not."""


class _Allowance:
    """What one rendering may still use up."""

    __slots__ = ("deadline", "steps")

    def __init__(self) -> None:
        self.steps = float(MAX_STEPS)
        self.deadline = monotonic() + MAX_SECONDS

    def take(self, steps: float = 1) -> None:
        """Use up steps.

        Raises:
            RunawayTemplateError: There are none left, or no time is.
        """
        self.steps -= steps
        if self.steps < 0:
            raise RunawayTemplateError(f"the template takes more than {MAX_STEPS:,} steps")
        if monotonic() > self.deadline:
            raise RunawayTemplateError(f"the template takes more than {MAX_SECONDS:g} seconds")


_allowance: ContextVar[_Allowance] = ContextVar("proctor_template_allowance")


@contextmanager
def one_rendering() -> Iterator[None]:
    """Give what happens inside the steps and the time of one rendering."""
    token = _allowance.set(_Allowance())
    try:
        yield
    finally:
        _allowance.reset(token)


def _bounded_steps(items: Iterable[Any]) -> Iterator[Any]:
    allowance = _allowance.get()
    for item in items:
        allowance.take()
        yield item


def _check_size(size: float) -> None:
    """Refuse a value that is too large; others count as steps, so that a loop that makes them ends, too."""
    check_length(size)
    if (allowance := _allowance.get(None)) is not None:
        allowance.take(size / _CHARACTERS_PER_STEP)


def check_length(size: float) -> None:
    """Refuse a value that is too large."""
    if size > MAX_CHARACTERS:
        raise RunawayTemplateError(f"the template makes a value of more than {MAX_CHARACTERS:,} characters or entries")


def _size(value: object) -> int:
    return len(value) if isinstance(value, (str, list, tuple, dict)) else 0


def _joined(parts: list[Any]) -> str:
    texts = [str(part) for part in parts]
    _check_size(sum(map(len, texts)))
    return "".join(texts)


def regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Replace a regular expression; the filter that lm-eval adds to Jinja, with a bound on its time."""
    return bounded(pattern).sub(repl, string, count)


_WIDTH_METHODS = frozenset({"ljust", "rjust", "center", "zfill", "expandtabs"})
_WIDTH_FILTERS = ("center", "indent", "wordwrap", "truncate", "slice", "batch", "round")
_FORMAT_WIDTH = re.compile(r"\d{6,}")


_INTERNAL = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")


class TaskEnvironment(ImmutableSandboxedEnvironment):
    """lm-eval's Jinja (undefined names are errors, a last newline is kept) in a sandbox with bounds."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
        self.globals.pop("lipsum")  # draws from the global random generator
        self.filters["regex_replace"] = regex_replace
        self.filters["__steps"] = _bounded_steps
        self.filters["__joined"] = _joined
        for name in _WIDTH_FILTERS:
            self.filters[name] = _checked_width(self.filters[name])
        self.filters["replace"] = _checked_replace(self.filters["replace"])
        self.filters["format"] = _checked_format(self.filters["format"])
        self.filters["join"] = _checked_join(self.filters["join"])

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse what Jinja refuses, and all that frames, generators and code objects are made of."""
        return not attr.startswith(_INTERNAL) and super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute an operation after a look at how large its result would be."""
        if operator == "**" and isinstance(right, (int, float)):
            _check_size(abs(right) * max(left.bit_length() if isinstance(left, int) else 1, 1) / 32)
        elif operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(other, int):
                    _check_size(_size(one) * other)
            if isinstance(left, int) and isinstance(right, int):
                _check_size((left.bit_length() + right.bit_length()) / 32)
        elif operator == "+":
            _check_size(_size(left) + _size(right))
        elif isinstance(left, str) and _FORMAT_WIDTH.search(left):
            raise RunawayTemplateError("the template formats a number with a width of six digits or more")
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - keyword names are free
        """Call a function after a look at how large its result would be."""
        _allowance.get().take()
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        if isinstance(owner, (str, bytes)):
            _check_text_call(str(owner), name, args)
        return super().call(__context, __obj, *args, **kwargs)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_with_bounds(source), *args, **kwargs)


def _check_text_call(owner: str, name: str, args: tuple[Any, ...]) -> None:
    if name in _WIDTH_METHODS:
        width = args[0] if args and isinstance(args[0], int) else 8
        _check_size(width * (owner.count("\t") if name == "expandtabs" else 1))
    elif name in {"format", "format_map"} and _FORMAT_WIDTH.search(owner):
        raise RunawayTemplateError("the template formats a value with a width of six digits or more")
    elif name == "replace" and len(args) > 1:
        _check_size(_replaced_size(owner, *map(str, args[:2])))
    elif name == "join" and args and isinstance(args[0], (list, tuple)):
        _check_size(len(owner) * len(args[0]) + sum(map(_size, args[0])))


def _replaced_size(text: str, old: str, new: str) -> int:
    return len(text) + (text.count(old) if old else len(text) + 1) * len(new)


def _checked_width(original: Any) -> Any:
    def checked(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, int):
                _check_size(value)
        return original(*args, **kwargs)

    return _like(original, checked)


def _checked_replace(original: Any) -> Any:
    def checked(context: Any, text: Any, old: Any, new: Any, count: int | None = None) -> Any:
        _check_size(_replaced_size(str(text), str(old), str(new)))
        return original(context, text, old, new, count)

    return _like(original, checked)


def _checked_format(original: Any) -> Any:
    def checked(value: Any, *args: Any, **kwargs: Any) -> Any:
        if _FORMAT_WIDTH.search(str(value)) or ("*" in str(value) and any(_size_of_width(each) for each in args)):
            raise RunawayTemplateError("the template formats a value with a width of six digits or more")
        return original(value, *args, **kwargs)

    return _like(original, checked)


def _size_of_width(value: object) -> bool:
    return isinstance(value, int) and abs(value) > MAX_WIDTH


def _checked_join(original: Any) -> Any:
    def checked(context: Any, value: Any, d: Any = "", attribute: Any = None) -> Any:
        items = list(value)
        _check_size(_size(d) * len(items) + sum(map(_size, items)))
        return original(context, items, d, attribute)

    return _like(original, checked)


def _like(original: Any, wrapper: Any) -> Any:
    """Mark a wrapper the way Jinja marks filters that want the environment or the context."""
    mark = getattr(original, "jinja_pass_arg", None)
    if mark is not None:
        wrapper.jinja_pass_arg = mark
    return wrapper


def _with_bounds(template: nodes.Template) -> nodes.Template:
    """Count the steps of every loop, and let long texts be joined where they can be measured."""
    for loop in template.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, "__steps", [], [], None, None, lineno=loop.lineno)
    _replace_concat(template)
    return template


def _replace_concat(node: nodes.Node) -> None:
    for name, value in list(node.iter_fields()):
        if isinstance(value, nodes.Node):
            setattr(node, name, _joined_node(value))
        elif isinstance(value, list):
            setattr(node, name, [_joined_node(each) if isinstance(each, nodes.Node) else each for each in value])


def _joined_node(node: nodes.Node) -> nodes.Node:
    _replace_concat(node)
    if isinstance(node, nodes.Concat):
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "__joined", [], [], None, None, lineno=node.lineno)
    return node


@lru_cache(maxsize=1)
def task_environment() -> TaskEnvironment:
    """Return the environment that all task files share."""
    return TaskEnvironment()
