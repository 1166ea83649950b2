"""Compiles expressions to functions of a frame: the part of Python that computes values and reaches nothing else.

Expressions over rows and the expressions of source files are compiled here, with the same operators, methods and
functions. What differs is how a name is found, what may be called, and what is said of a failure:
:mod:`~proctor.safe_python.rows` and :mod:`~proctor.safe_python.file_expressions` fill that in.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from proctor.safe_python import containers, operators
from proctor.safe_python.budget import MAX_BITS, RefusalError
from proctor.safe_python.calls import Arguments, Named, call
from proctor.safe_python.comprehensions import Comprehension, Loops, targets_of
from proctor.safe_python.scope import Frame
from proctor.safe_python.targets import Bind, naming
from proctor.safe_python.text import format_value, text_of

Code = Callable[[Frame], Any]
"""What an expression becomes: from a frame to its value."""

REFUSED: dict[type[ast.AST], str] = {
    ast.Await: "uses 'await'",
    ast.Yield: "defines a generator with 'yield'",
    ast.YieldFrom: "defines a generator with 'yield from'",
}


class Compiler(ABC):
    """Turns syntax trees of expressions into functions."""

    def __init__(self) -> None:
        self._makers: dict[type[ast.expr], Callable[[Any], Code]] = {
            ast.Attribute: self.attribute,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.Call: self.called,
            ast.Compare: self._compare,
            ast.Constant: self._constant,
            ast.Dict: self._dict,
            ast.DictComp: self._dict_comprehension,
            ast.FormattedValue: self._formatted,
            ast.GeneratorExp: self._generator,
            ast.IfExp: self._conditional,
            ast.JoinedStr: self._joined,
            ast.Lambda: self.function,
            ast.List: lambda node: self.items(node.elts),
            ast.ListComp: self._list_comprehension,
            ast.Name: self.name,
            ast.NamedExpr: self.walrus,
            ast.Set: self._set,
            ast.SetComp: self._set_comprehension,
            ast.Slice: self._slice,
            ast.Subscript: self.subscript,
            ast.Tuple: self._tuple,
            ast.UnaryOp: self._unary,
        }

    def compile(self, node: ast.expr) -> Code:
        """Return the function that an expression becomes."""
        maker = self._makers.get(type(node))
        if maker is not None:
            return self.finished(node, maker(node))
        what = REFUSED.get(type(node), f"uses '{type(node).__name__}'")
        return self.finished(node, self.refused(node, what))

    # -- what expressions over rows and those of files do each in their own way ---------------------------------------

    @abstractmethod
    def finished(self, node: ast.expr, code: Code) -> Code:
        """Return the code of a node with what is done around it."""

    @abstractmethod
    def refused(self, node: ast.expr, what: str) -> Code:
        """Refuse a construct, now or when it would run."""

    @abstractmethod
    def name(self, node: ast.Name) -> Code:
        """Return the code that finds a name."""

    @abstractmethod
    def attribute(self, node: ast.Attribute) -> Code:
        """Return the code that asks for an attribute without calling it."""

    @abstractmethod
    def called(self, node: ast.Call) -> Code:
        """Return the code of a call."""

    @abstractmethod
    def function(self, node: ast.Lambda) -> Code:
        """Return the code that makes a function."""

    @abstractmethod
    def walrus(self, node: ast.NamedExpr) -> Code:
        """Return the code of ``name := value``."""

    @abstractmethod
    def target(self, node: ast.expr) -> Bind:
        """Return what gives a target its value."""

    @abstractmethod
    def new_dict(self, node: ast.expr) -> Callable[[Frame], dict[Any, Any]]:
        """Return what makes the dictionary of a display."""

    @abstractmethod
    def entering(self, node: Comprehension) -> Callable[[Frame], Frame]:
        """Return what makes the frame of a comprehension."""

    @abstractmethod
    def scope(self, names: frozenset[str]) -> AbstractContextManager[None]:
        """Note that what is compiled inside stands in a scope with these names."""

    @abstractmethod
    def weight(self, nodes: Sequence[ast.AST]) -> int:
        """Return the steps that one round over some nodes takes beside those that they take themselves."""

    def subscript(self, node: ast.Subscript) -> Code:
        """Return the code of ``value[key]``."""
        value = self.compile(node.value)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, (str, int)):
            constant = node.slice.value
            return lambda frame: value(frame)[constant]
        key, item_of = self.compile(node.slice), operators.item_of
        return lambda frame: item_of(value(frame), key(frame), frame.budget)

    # -- displays -----------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Code:
        value = node.value
        if _is_usual(value):
            return lambda frame: value
        return lambda frame: frame.budget.check_number(value)

    def items(self, nodes: Sequence[ast.expr]) -> Callable[[Frame], list[Any]]:
        """Return the code that lists the values of some expressions, starred ones spread out."""
        constants = [node.value for node in nodes if isinstance(node, ast.Constant) and _is_usual(node.value)]
        if len(constants) == len(nodes):
            return _copying(constants)
        if any(isinstance(node, ast.Starred) for node in nodes):
            return self._spread(nodes)
        parts = [self.compile(node) for node in nodes]
        size = 56 + 8 * len(parts)
        if len(parts) == 1:
            only = parts[0]
            return lambda frame: [only(frame)]

        def code(frame: Frame) -> list[Any]:
            frame.budget.hold(size)
            return [part(frame) for part in parts]

        return code

    def _spread(self, nodes: Sequence[ast.expr]) -> Callable[[Frame], list[Any]]:
        parts = [
            (isinstance(node, ast.Starred), self.compile(node.value if isinstance(node, ast.Starred) else node))
            for node in nodes
        ]

        def code(frame: Frame) -> list[Any]:
            items: list[Any] = []
            for starred, part in parts:
                if starred:
                    items.extend(containers.consume(part(frame), frame.budget))
                    frame.budget.hold_items(len(items))
                else:
                    items.append(part(frame))
            return items

        return code

    def _tuple(self, node: ast.Tuple) -> Code:
        items = self.items(node.elts)
        return lambda frame: tuple(items(frame))

    def _set(self, node: ast.Set) -> Code:
        items = self.items(node.elts)
        return lambda frame: containers.fill_set(items(frame), frame.budget)

    def _dict(self, node: ast.Dict) -> Code:
        new = self.new_dict(node)
        pairs = [
            (None if key is None else self.compile(key), self.compile(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]

        def code(frame: Frame) -> dict[Any, Any]:
            made, budget = new(frame), frame.budget
            for key, value in pairs:
                if key is not None:
                    name = key(frame)
                    containers.put(made, name, value(frame), budget)
                    continue
                given = value(frame)
                if not isinstance(given, dict):
                    raise TypeError(f"'{type(given).__name__}' object is not a mapping")
                containers.update(made, containers.pairs_of(given, budget), budget)
            return made

        return code

    # -- comprehensions -----------------------------------------------------------------------------------------------

    def _loops(self, node: Comprehension, *parts: ast.expr) -> tuple[Loops, list[Code]]:
        """Return what goes through the clauses of a comprehension, and the code of its element."""
        first = self.compile(node.generators[0].iter)
        with self.scope(targets_of(node)):
            clauses = [
                (
                    None if not number else self.compile(clause.iter),
                    self.target(clause.target),
                    [self.compile(test) for test in clause.ifs],
                )
                for number, clause in enumerate(node.generators)
            ]
            codes = [self.compile(part) for part in parts]
        weight = self.weight([*parts, *(test for clause in node.generators for test in clause.ifs)])
        refusal = next((clause.iter for clause in node.generators if clause.is_async), None)
        if refusal is not None:
            first = self.refused(refusal, "uses 'async'")
        return Loops(first, clauses, self.entering(node), weight), codes

    def _generator(self, node: ast.GeneratorExp) -> Code:
        loops, (element,) = self._loops(node, node.elt)

        def code(frame: Frame) -> containers.Stream:
            first = loops.first(frame)
            items = (element(inner) for inner in loops.run(frame, first))
            return containers.Stream(items, frame.budget, first, counted=True)

        return code

    def _list_comprehension(self, node: ast.ListComp) -> Code:
        loops, (element,) = self._loops(node, node.elt)

        def code(frame: Frame) -> list[Any]:
            items = [element(inner) for inner in loops.run(frame, loops.first(frame))]
            frame.budget.hold_items(len(items))
            return items

        return code

    def _set_comprehension(self, node: ast.SetComp) -> Code:
        loops, (element,) = self._loops(node, node.elt)

        def code(frame: Frame) -> set[Any]:
            items = [element(inner) for inner in loops.run(frame, loops.first(frame))]
            return containers.fill_set(items, frame.budget)

        return code

    def _dict_comprehension(self, node: ast.DictComp) -> Code:
        loops, (key, value) = self._loops(node, node.key, node.value)
        new = self.new_dict(node)

        def code(frame: Frame) -> dict[Any, Any]:
            made, budget = new(frame), frame.budget
            for inner in loops.run(frame, loops.first(frame)):
                name = key(inner)
                containers.put(made, name, value(inner), budget)
            return made

        return code

    # -- operators ----------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Code:
        left, right = self.compile(node.left), self.compile(node.right)
        operation = operators.BINARY.get(type(node.op))
        if operation is None:
            return self.refused(node, "multiplies matrices with '@'")
        return lambda frame: operation(left(frame), right(frame), frame.budget)

    def _unary(self, node: ast.UnaryOp) -> Code:
        function, operand = operators.UNARY[type(node.op)], self.compile(node.operand)
        return lambda frame: function(operand(frame))

    def _boolean(self, node: ast.BoolOp) -> Code:
        parts, stop = [self.compile(each) for each in node.values], isinstance(node.op, ast.Or)

        def code(frame: Frame) -> Any:
            value: Any = None
            for part in parts:
                value = part(frame)
                if bool(value) is stop:
                    break
            return value

        return code

    def _compare(self, node: ast.Compare) -> Code:
        first = self.compile(node.left)
        rest = [
            (operators.COMPARE[type(kind)], self.compile(each))
            for kind, each in zip(node.ops, node.comparators, strict=True)
        ]
        if len(rest) == 1:
            operation, second = rest[0]
            return lambda frame: operation(first(frame), second(frame), frame.budget)

        def code(frame: Frame) -> Any:
            left, result = first(frame), True
            for operation, part in rest:
                right = part(frame)
                result = operation(left, right, frame.budget)
                if not result:
                    break
                left = right
            return result

        return code

    def _conditional(self, node: ast.IfExp) -> Code:
        test, then, otherwise = self.compile(node.test), self.compile(node.body), self.compile(node.orelse)
        return lambda frame: then(frame) if test(frame) else otherwise(frame)

    # -- texts and parts ----------------------------------------------------------------------------------------------

    def _joined(self, node: ast.JoinedStr) -> Code:
        parts = [self.compile(each) for each in node.values]

        def code(frame: Frame) -> str:
            pieces = [part(frame) for part in parts]
            frame.budget.hold_text(sum(map(len, pieces)))
            return "".join(pieces)

        return code

    def _formatted(self, node: ast.FormattedValue) -> Code:
        value = self.compile(node.value)
        layout = None if node.format_spec is None else self.compile(node.format_spec)
        conversion = chr(node.conversion) if node.conversion >= 0 else None
        if conversion is None and layout is None:
            return lambda frame: text_of(value(frame), frame.budget)

        def code(frame: Frame) -> str:
            shown = value(frame)
            return format_value(shown, conversion, "" if layout is None else layout(frame), frame.budget)

        return code

    def _slice(self, node: ast.Slice) -> Code:
        parts = [None if part is None else self.compile(part) for part in (node.lower, node.upper, node.step)]
        return lambda frame: slice(*[None if part is None else part(frame) for part in parts])

    # -- calls --------------------------------------------------------------------------------------------------------

    def keywords(self, node: ast.Call) -> Callable[[Frame], Named] | None:
        """Return the code of the named arguments of a call, ``None`` where there are none."""
        if not node.keywords:
            return None
        parts = [(keyword.arg, self.compile(keyword.value)) for keyword in node.keywords]

        return naming(parts)

    def called_value(self, function: Code, node: ast.Call) -> Code:
        """Return the code that calls whatever an expression gives."""
        arguments, keywords = self.items(node.args), self.keywords(node)

        def code(frame: Frame) -> Any:
            callee = function(frame)
            given: Arguments = arguments(frame)
            return call(frame, callee, given, None if keywords is None else keywords(frame))

        return code


def _is_usual(constant: Any) -> bool:
    return constant.__class__ is not int or constant.bit_length() <= MAX_BITS


def _copying(constants: list[Any]) -> Callable[[Frame], list[Any]]:
    count = len(constants)
    if count <= 1:
        return lambda frame: constants[:]

    def code(frame: Frame) -> list[Any]:
        frame.budget.hold_items(count)
        return constants[:]

    return code


def refusing(what: str) -> Code:
    """Return code that refuses when it runs."""

    def code(frame: Frame) -> Any:  # noqa: ARG001 - one signature for all code
        raise RefusalError(what)

    return code
