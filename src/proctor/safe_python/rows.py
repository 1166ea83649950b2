"""Expressions over the fields of a row: compiled once, run for each row within a budget of its own.

Allowed are literals, fields, operators, comparisons, ``if``/``else``, subscripts, comprehensions, f-strings, plain
lambdas, and the functions and methods of the tables that read and do not change. There are no statements, no
attributes, and no calls of anything that a row brings.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from typing_extensions import override

from proctor.errors import DataError, MissingFieldError, TrustError, did_you_mean
from proctor.safe_python.budget import Budget, ExhaustedError, RefusalError
from proctor.safe_python.calls import Arguments, Invocable, Named
from proctor.safe_python.compiler import Code, Compiler
from proctor.safe_python.comprehensions import Comprehension
from proctor.safe_python.containers import Stream, consume
from proctor.safe_python.functions import BUILTINS, READING, Builtin
from proctor.safe_python.methods import CHANGING, METHODS, methods_of
from proctor.safe_python.modules import MODULES
from proctor.safe_python.plain import held, plain, plain_row
from proctor.safe_python.scope import Frame
from proctor.safe_python.targets import Bind, unpacking

MAX_EXPRESSION = 10_000
"""Characters of an expression: the longest of the datasets that come along has 1,400."""

_NODES_PER_STEP = 4
"""Parts of an expression that cost as much as a step of a loop."""

# Modules that touch neither files nor the network, and that have stand-ins here.
_IMPORTABLE = ("re", "json", "math", "itertools")
_FORMATTING = frozenset({"format", "format_map"})
"""Methods that f-strings stand for in expressions."""

_METHODS = frozenset(name for table in METHODS.values() for name in table) - CHANGING - _FORMATTING
_NONE: Named = {}
_ABSENT = object()


class RowFunction(Invocable):
    """A lambda of an expression."""

    __slots__ = ("_body", "_frame", "_names", "_text", "_weight")

    def __init__(self, names: Sequence[str], body: Code, frame: Frame, weight: int, text: str) -> None:
        self._names = names
        self._body = body
        self._frame = frame
        self._weight = weight
        self._text = text

    def invoke(self, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Return the value of the body."""
        if named or len(arguments) != len(self._names):
            raise TypeError(f"<lambda>() takes {len(self._names)} positional arguments but {len(arguments)} were given")
        frame.budget.spend(self._weight)
        names = self._names
        values = {names[0]: arguments[0]} if len(names) == 1 else dict(zip(names, arguments, strict=True))
        return self._body(Frame(values, frame.budget, self._frame))

    def __call__(self, *arguments: Any) -> Any:
        """Return the value of the body, within a budget of its own."""
        return run(lambda frame: self.invoke(frame, list(arguments), _NONE), Frame({}, Budget()), self._text)


class _RowCompiler(Compiler):
    def __init__(self, text: str, imports: Sequence[str]) -> None:
        super().__init__()
        self._text = text
        self._modules = imports
        self._scopes: list[frozenset[str]] = []

    @override
    def finished(self, node: ast.expr, code: Code) -> Code:
        return code

    @override
    def refused(self, node: ast.expr, what: str) -> Code:
        raise self._refusal(node, f"it {what}")

    def _refusal(self, node: ast.AST, why: str = "") -> TrustError:
        return TrustError(
            f"'{ast.unparse(node)}' is not allowed in an expression",
            path=self._text,
            why=why,
            hint="write a Python operator for what expressions cannot do",
        )

    # -- names --------------------------------------------------------------------------------------------------------

    @override
    @contextmanager
    def scope(self, names: frozenset[str]) -> Iterator[None]:
        self._scopes.append(names)
        try:
            yield
        finally:
            self._scopes.pop()

    @override
    def name(self, node: ast.Name) -> Code:
        name = node.id
        if name.startswith("__"):
            raise self._refusal(node)
        for hops, names in enumerate(reversed(self._scopes)):
            if name in names:
                return _local(name, hops)
        return self._field(name, len(self._scopes))

    def _field(self, name: str, hops: int) -> Code:
        known = BUILTINS[name] if name in READING else _ABSENT

        def code(frame: Frame) -> Any:
            for _ in range(hops):
                frame = frame.parent  # type: ignore[assignment]  # the compiler counted the scopes
            row = frame.names
            if name in row:
                return row[name]
            if known is not _ABSENT:
                return known
            raise self._missing(name, row)

        def direct(frame: Frame) -> Any:
            row = frame.names
            if name in row:
                return row[name]
            if known is not _ABSENT:
                return known
            raise self._missing(name, row)

        return code if hops else direct

    def _missing(self, name: str, row: Mapping[str, Any]) -> MissingFieldError:
        missing = name in _IMPORTABLE and name not in self._modules
        there = "it has to be in imports_list" if missing else f"the row has {', '.join(map(str, row))}"
        return MissingFieldError(
            f"name '{name}' is not defined",
            why=f"the expression '{self._text}' names it, and {there}",
            hint=did_you_mean(name, map(str, row)),
        )

    @override
    def walrus(self, node: ast.NamedExpr) -> Code:
        raise self._refusal(node, "an expression changes no names")

    @override
    def target(self, node: ast.expr) -> Bind:
        if isinstance(node, ast.Name):
            name = node.id

            def bind(frame: Frame, value: Any) -> None:
                frame.names[name] = value

            return bind
        if isinstance(node, (ast.Tuple, ast.List)):
            return unpacking(
                [
                    (isinstance(each, ast.Starred), self.target(each.value if isinstance(each, ast.Starred) else each))
                    for each in node.elts
                ]
            )
        raise self._refusal(node)

    @override
    def new_dict(self, node: ast.expr) -> Callable[[Frame], dict[Any, Any]]:
        return lambda frame: {}

    @override
    def entering(self, node: Comprehension) -> Callable[[Frame], Frame]:
        return lambda frame: Frame({}, frame.budget, frame)

    @override
    def weight(self, nodes: Sequence[ast.AST]) -> int:
        return 1 + sum(1 for node in nodes for _ in ast.walk(node)) // _NODES_PER_STEP

    # -- calls --------------------------------------------------------------------------------------------------------

    @override
    def function(self, node: ast.Lambda) -> Code:
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
            raise self._refusal(node, why="only plain parameters")
        names = [argument.arg for argument in given.args]
        with self.scope(frozenset(names)):
            body = self.compile(node.body)
        weight, text = self.weight([node.body]), self._text
        return lambda frame: RowFunction(names, body, frame, weight, text)

    @override
    def called(self, node: ast.Call) -> Code:
        if isinstance(node.func, ast.Name):
            builtin = BUILTINS.get(node.func.id) if node.func.id in READING else None
            if not isinstance(builtin, Builtin):
                raise self._refusal(node.func, why=f"'{node.func.id}' is not a function that expressions may call")
            return self._call_known(builtin, node)
        if isinstance(node.func, ast.Attribute):
            member = self._member(node.func)
            if isinstance(member, Builtin):
                return self._call_known(member, node)
            if member is _ABSENT:
                return self._call_method(node.func, node)
        return self.called_value(self.compile(node.func), node)

    def _call_known(self, builtin: Builtin, node: ast.Call) -> Code:
        function, arguments, keywords = builtin.function, self.items(node.args), self.keywords(node)

        def code(frame: Frame) -> Any:
            frame.budget.steps -= 1
            return function(frame, arguments(frame), _NONE if keywords is None else keywords(frame))

        return code

    def _call_method(self, function: ast.Attribute, node: ast.Call) -> Code:
        name = function.attr
        if name not in _METHODS:
            raise self._refusal(function)
        value, arguments, keywords = self.compile(function.value), self.items(node.args), self.keywords(node)

        def code(frame: Frame) -> Any:
            owner = value(frame)
            method = methods_of(owner.__class__).get(name)
            if method is None:
                raise RefusalError(f"may not use '{name}' of a {type(owner).__name__}")
            frame.budget.steps -= 1
            return method(frame, owner, arguments(frame), _NONE if keywords is None else keywords(frame))

        return code

    @override
    def attribute(self, node: ast.Attribute) -> Code:
        member = self._member(node)
        if member is _ABSENT:
            raise self._refusal(node, why="a value's attributes are not for expressions")
        return lambda frame: member

    def _member(self, node: ast.Attribute) -> Any:
        """Return what a module that is imported has under a name; :data:`_ABSENT` where the node names no module."""
        module = node.value.id if isinstance(node.value, ast.Name) else ""
        if module not in self._modules:
            return _ABSENT
        if node.attr not in MODULES[module].members:
            raise self._refusal(node)
        return MODULES[module].members[node.attr]


def _local(name: str, hops: int) -> Code:
    if not hops:

        def nearest(frame: Frame) -> Any:
            try:
                return frame.names[name]
            except KeyError:
                raise _unbound(name) from None

        return nearest

    def code(frame: Frame) -> Any:
        for _ in range(hops):
            frame = frame.parent  # type: ignore[assignment]  # the compiler counted the scopes
        try:
            return frame.names[name]
        except KeyError:
            raise _unbound(name) from None

    return code


def _unbound(name: str) -> NameError:
    return NameError(f"name '{name}' has no value yet")


def run(code: Code, frame: Frame, text: str) -> Any:
    """Return the value of an expression, generators run to their end; what it may not do becomes an error of ours.

    Raises:
        TrustError: It does what is not allowed.
        DataError: It takes too much work.
    """
    try:
        value = code(frame)
        return iter(consume(value, frame.budget)) if value.__class__ is Stream else value
    except ExhaustedError as error:
        raise DataError(f"the expression {error}", path=text) from None
    except RefusalError as error:
        raise TrustError(f"the expression {error}", path=text) from None
    except RecursionError:
        raise DataError("an expression is nested too deeply", path=text) from None


# -- compiling --------------------------------------------------------------------------------------------------------


def _tree(text: str, imports: Sequence[str]) -> ast.expr:
    if len(text) > MAX_EXPRESSION:
        raise TrustError("an expression is too long", why=f"{len(text)} characters; at most {MAX_EXPRESSION} are read")
    for name in imports:
        if name not in _IMPORTABLE:
            raise TrustError(f"an expression may not import '{name}'", hint=f"allowed are {', '.join(_IMPORTABLE)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python dislikes and reads: its author's affair
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        pointer = f"{text}\n{' ' * (column - 1)}^" if "\n" not in text else text
        raise DataError(f"an expression does not parse\n{pointer}", why=getattr(error, "msg", str(error))) from None


@lru_cache(maxsize=2048)
def _compiled(text: str, imports: tuple[str, ...]) -> tuple[Code, frozenset[str]]:
    """Return an expression's code, and the names in it."""
    try:
        tree = _tree(text, imports)
        code = _RowCompiler(text, imports).compile(tree)
        return code, frozenset(each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    except RecursionError:
        raise TrustError("an expression is nested too deeply", path=text[:100]) from None


def compile_expression(text: str, imports: Sequence[str] = ()) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function from a row to the value of an expression over its fields.

    Args:
        text: The expression.
        imports: Modules it uses, of ``re``, ``json``, ``math`` and ``itertools``.

    Raises:
        DataError: The expression does not parse; when called, it takes too much work.
        TrustError: It uses what is not allowed.
    """
    code, names = _compiled(text, tuple(imports))

    def evaluate(row: Mapping[str, Any]) -> Any:
        values = _as_data(row, names, text)
        found = run(code, Frame(values, Budget()), text)
        return found if values is row else _handed_on(found)

    return evaluate


def _as_data(row: Mapping[str, Any], names: frozenset[str], text: str) -> Mapping[str, Any]:
    try:
        seen: Mapping[str, Any] = plain_row(row, names)
    except RefusalError as error:
        raise DataError(f"the expression {error}", path=text) from None
    return seen


def _handed_on(found: Any) -> Any:
    """Return what an expression made, objects in place of their handles."""
    return iter(held(list(found))) if isinstance(found, _LIST_ITERATOR) else held(found)


_LIST_ITERATOR: type[Any] = type(iter([]))


def safe_function(name: str) -> Callable[..., Any]:
    """Return a function of the tables by its name: ``sorted``, ``str.lower``, ``json.loads``; each call has a budget.

    Raises:
        KeyError: No expression may call it.
    """
    owner, _, member = name.rpartition(".")
    if owner in MODULES:
        function: Invocable = MODULES[owner].members[member]
    elif owner:
        method = METHODS[BUILTINS[owner].kind][member]
        function = Builtin(name, lambda frame, given, named: method(frame, given[0], given[1:], named))
    else:
        function = {each: BUILTINS[each] for each in READING}[name]

    def called(*arguments: Any, **named: Any) -> Any:
        values = [plain(each) for each in arguments]
        return held(run(lambda frame: function.invoke(frame, values, named), Frame({}, Budget()), name))

    return called


def compile_predicate(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function from a row to whether ``lambda row: expression`` holds for it.

    Raises:
        DataError: The text is not a lambda with one parameter.
        TrustError: It uses what is not allowed.
    """
    tree = _tree(text, ())
    if not isinstance(tree, ast.Lambda) or len(tree.args.args) != 1:
        raise DataError(f"'{text}' is not a function of a row", hint="write it as in: lambda x: x['lang'] == 'en'")
    code, _ = _compiled(text, ())

    def holds(row: Mapping[str, Any]) -> bool:
        frame = Frame({}, Budget())
        return bool(run(lambda _: code(frame).invoke(frame, [plain(dict(row))], _NONE), frame, text))

    return holds
