"""Evaluates the expressions of a config: the part of Python that computes values and reaches nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from proctor.dialects.aisbench.interpreter import containers, operators
from proctor.dialects.aisbench.interpreter.budget import SCALARS, Budget, RefusalError
from proctor.dialects.aisbench.interpreter.functions import (
    BUILTINS,
    CLASS_METHODS,
    PYTHON_BUILTINS,
    TYPES,
    Builtin,
    make_dict,
)
from proctor.dialects.aisbench.interpreter.methods import METHODS, Arguments, BoundMethod, Method, Named
from proctor.dialects.aisbench.interpreter.modules import ModuleValue
from proctor.dialects.aisbench.interpreter.scope import Frame
from proctor.dialects.aisbench.interpreter.text import format_value, text_of
from proctor.dialects.aisbench.values import ConfigDict, ConfigFunction, InheritedDict, Reference

Handler = Callable[[Any, Frame], Any]
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

MAX_CALLS = 40
"""How deep functions of a config may call each other."""

CONSTRUCTS = {
    ast.Await: "uses 'await'",
    ast.Yield: "defines a generator with 'yield'",
    ast.YieldFrom: "defines a generator with 'yield from'",
}


class Expressions:
    """Evaluates expressions within a budget.

    Attributes:
        budget: What is left of steps and memory.
        failure: The innermost node at which the last exception was raised, with the frame.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.failure: tuple[BaseException, ast.AST, Frame] | None = None
        self._expressions: dict[type[ast.AST], Handler] = {
            ast.Attribute: self._attribute,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.Constant: self._constant,
            ast.Dict: self._dict,
            ast.DictComp: self._dict_comprehension,
            ast.FormattedValue: self._formatted,
            ast.GeneratorExp: self._generator,
            ast.IfExp: self._conditional,
            ast.JoinedStr: self._joined,
            ast.Lambda: self.make_function,
            ast.List: self._list,
            ast.ListComp: self._list_comprehension,
            ast.Name: self._name,
            ast.NamedExpr: self._walrus,
            ast.Set: self._set,
            ast.SetComp: self._set_comprehension,
            ast.Slice: self._slice,
            ast.Subscript: self._subscript,
            ast.Tuple: self._tuple,
            ast.UnaryOp: self._unary,
        }

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """Return the value of an expression.

        Raises:
            RefusalError: It does what a config may not do, or costs too much.
            Exception: It fails, as it would in Python.
        """
        budget = self.budget
        budget.steps -= 1
        try:
            if budget.steps < 0:
                budget.refill()
            handler: Handler = self._expressions.get(node.__class__, _refuse)
            return handler(node, frame)
        except Exception as error:
            self.blame(error, node, frame)
            raise

    def blame(self, error: BaseException, node: ast.AST, frame: Frame) -> None:
        """Remember where an exception was raised first."""
        if self.failure is None or self.failure[0] is not error:
            self.failure = (error, node, frame)

    # -- names, constants, displays -----------------------------------------------------------------------------------

    def _name(self, node: ast.Name, frame: Frame) -> Any:
        name = node.id
        holder = frame.find(name)
        if holder is not None:
            return holder.names[name]
        if name in BUILTINS:
            return BUILTINS[name]
        if name in PYTHON_BUILTINS or (name.startswith("__") and name.endswith("__")):
            raise RefusalError(f"uses '{name}'")
        raise NameError(f"name '{name}' is not defined")

    def _constant(self, node: ast.Constant, frame: Frame) -> Any:  # noqa: ARG002 - handlers share one signature
        return self.budget.check_number(node.value)

    def _items(self, nodes: list[ast.expr], frame: Frame) -> list[Any]:
        self.budget.hold(56 + 8 * len(nodes))
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                starred = containers.consume(self.evaluate(node.value, frame), self.budget)
                self.budget.hold_items(len(starred))
                items.extend(starred)
            else:
                items.append(self.evaluate(node, frame))
        return items

    def _list(self, node: ast.List, frame: Frame) -> list[Any]:
        return self._items(node.elts, frame)

    def _tuple(self, node: ast.Tuple, frame: Frame) -> tuple[Any, ...]:
        return tuple(self._items(node.elts, frame))

    def _set(self, node: ast.Set, frame: Frame) -> set[Any]:
        return containers.fill_set(self._items(node.elts, frame), self.budget)

    def _dict(self, node: ast.Dict, frame: Frame) -> ConfigDict:
        made = ConfigDict(location=frame.module.location(node))
        self.budget.hold(232)
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                given = self.evaluate(value, frame)
                if not isinstance(given, dict):
                    raise TypeError(f"'{type(given).__name__}' object is not a mapping")
                containers.update(made, containers.pairs_of(given, self.budget), self.budget)
            else:
                name = self.evaluate(key, frame)
                containers.put(made, name, self.evaluate(value, frame), self.budget)
        return made

    # -- comprehensions -----------------------------------------------------------------------------------------------

    def _generator(self, node: ast.GeneratorExp, frame: Frame) -> containers.Stream:
        first = self._first(node, frame)
        return containers.Stream(self._comprehended(node, frame, first), self.budget, first)

    def _comprehended(self, node: Comprehension, frame: Frame, first: Any) -> Iterator[Any]:
        """Return the items; the first iterable was evaluated at once, in the scope around, as Python does."""
        inner = Frame({}, frame.module, frame, _targets(node), comprehension=True, depth=frame.depth)
        return self._generate(node, 0, containers.iterate(first, self.budget), inner)

    def _first(self, node: Comprehension, frame: Frame) -> Any:
        return self.evaluate(node.generators[0].iter, frame)

    def _generate(self, node: Comprehension, level: int, items: Iterator[Any], frame: Frame) -> Iterator[Any]:
        clause = node.generators[level]
        if clause.is_async:
            raise RefusalError("uses 'async'")
        for item in items:
            self.assign(clause.target, item, frame)
            if not all(self.evaluate(condition, frame) for condition in clause.ifs):
                continue
            if level + 1 < len(node.generators):
                deeper = self.evaluate(node.generators[level + 1].iter, frame)
                yield from self._generate(node, level + 1, containers.iterate(deeper, self.budget), frame)
            elif isinstance(node, ast.DictComp):
                yield self.evaluate(node.key, frame), self.evaluate(node.value, frame)
            else:
                yield self.evaluate(node.elt, frame)

    def _list_comprehension(self, node: ast.ListComp, frame: Frame) -> list[Any]:
        return containers.consume(self._comprehended(node, frame, self._first(node, frame)), self.budget)

    def _set_comprehension(self, node: ast.SetComp, frame: Frame) -> set[Any]:
        items = self._comprehended(node, frame, self._first(node, frame))
        return containers.fill_set(containers.consume(items, self.budget), self.budget)

    def _dict_comprehension(self, node: ast.DictComp, frame: Frame) -> ConfigDict:
        made = ConfigDict(location=frame.module.location(node))
        self.budget.hold(232)
        for key, value in self._comprehended(node, frame, self._first(node, frame)):
            containers.put(made, key, value, self.budget)
        return made

    # -- operators ----------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp, frame: Frame) -> Any:
        left = self.evaluate(node.left, frame)
        return operators.binary(type(node.op), left, self.evaluate(node.right, frame), self.budget)

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Any:
        return operators.UNARY[type(node.op)](self.evaluate(node.operand, frame))

    def _boolean(self, node: ast.BoolOp, frame: Frame) -> Any:
        value: Any = None
        stop = isinstance(node.op, ast.Or)
        for each in node.values:
            value = self.evaluate(each, frame)
            if bool(value) is stop:
                break
        return value

    def _compare(self, node: ast.Compare, frame: Frame) -> Any:
        left = self.evaluate(node.left, frame)
        result: Any = True
        for kind, following in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(following, frame)
            result = operators.compare(type(kind), left, right, self.budget)
            if not result:
                return result
            left = right
        return result

    def _conditional(self, node: ast.IfExp, frame: Frame) -> Any:
        return self.evaluate(node.body if self.evaluate(node.test, frame) else node.orelse, frame)

    def _walrus(self, node: ast.NamedExpr, frame: Frame) -> Any:
        value = self.evaluate(node.value, frame)
        frame.beyond_comprehensions().bind(node.target.id, value)
        return value

    # -- texts --------------------------------------------------------------------------------------------------------

    def _joined(self, node: ast.JoinedStr, frame: Frame) -> str:
        pieces = [text_of(self.evaluate(each, frame), self.budget) for each in node.values]
        self.budget.hold_text(sum(map(len, pieces)))
        return "".join(pieces)

    def _formatted(self, node: ast.FormattedValue, frame: Frame) -> str:
        value = self.evaluate(node.value, frame)
        spec = self.evaluate(node.format_spec, frame) if node.format_spec is not None else ""
        conversion = chr(node.conversion) if node.conversion >= 0 else None
        return format_value(value, conversion, spec, self.budget)

    # -- parts of values ----------------------------------------------------------------------------------------------

    def _slice(self, node: ast.Slice, frame: Frame) -> slice:
        return slice(
            *(None if part is None else self.evaluate(part, frame) for part in (node.lower, node.upper, node.step))
        )

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        value = self.evaluate(node.value, frame)
        if isinstance(value, Builtin) and value.kind is not None:
            return value  # dict[str, int] is made and used like dict
        if isinstance(value, Reference) and value.name.startswith("typing."):
            return value
        return operators.item_of(value, self.evaluate(node.slice, frame), self.budget)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return self.attribute_of(self.evaluate(node.value, frame), node, frame)

    def attribute_of(self, value: Any, node: ast.Attribute, frame: Frame) -> Any:
        """Return an attribute of a value, where configs may ask for it."""
        name = node.attr
        if name.startswith("__"):
            raise RefusalError(f"asks for the attribute '{name}'")
        if isinstance(value, Reference):
            return Reference(f"{value.name}.{name}", value.location)
        if isinstance(value, ModuleValue):
            other = Reference(f"{value.name}.{name}", frame.module.location(node))
            return value.members.get(name, other)
        method = self._method(value, name)
        if method is not None:
            return BoundMethod(value, name, method)
        return _attribute_of_data(value, name)

    @staticmethod
    def _method(value: Any, name: str) -> Method | None:
        table = METHODS.get(value.__class__)
        return None if table is None else table.get(name)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, frame: Frame) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = self.evaluate(function.value, frame)
            method = self._method(owner, function.attr)
            if method is not None:
                return method(self, frame, owner, *self._arguments(node, frame))
            called = self.attribute_of(owner, function, frame)
        else:
            called = self.evaluate(function, frame)
        arguments, named = self._arguments(node, frame)
        if called is TYPES["dict"]:
            made = make_dict(self, frame, arguments, named)
            made.location = frame.module.location(node)
            return made
        return self.call(called, arguments, named, frame)

    def _arguments(self, node: ast.Call, frame: Frame) -> tuple[Arguments, Named]:
        arguments = self._items(node.args, frame) if node.args else []
        named: Named = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, frame)
            if keyword.arg is not None:
                pairs: list[tuple[Any, Any]] = [(keyword.arg, value)]
            elif isinstance(value, dict):
                pairs = containers.pairs_of(value, self.budget)
            else:
                raise TypeError(f"argument after ** must be a mapping, not {type(value).__name__}")
            for name, each in pairs:
                if not isinstance(name, str):
                    raise TypeError("keywords must be strings")
                if name in named:
                    raise TypeError(f"got multiple values for keyword argument '{name}'")
                named[name] = each
        return arguments, named

    def call(self, function: Any, arguments: Arguments, named: Named, frame: Frame) -> Any:
        """Call a value.

        Raises:
            RefusalError: It is something imported, whose code would run.
            TypeError: It cannot be called.
        """
        if isinstance(function, (Builtin, BoundMethod)):
            return function.invoke(self, frame, arguments, named)
        if isinstance(function, ConfigFunction):
            return self.call_function(function, arguments, named, frame)
        if isinstance(function, Reference):
            raise RefusalError(f"calls '{function.name}', which it imports")
        raise TypeError(f"'{type(function).__name__}' object is not callable")

    # -- what statements add ------------------------------------------------------------------------------------------

    def make_function(self, node: Any, frame: Frame) -> ConfigFunction:
        """Return the function of a ``def`` or ``lambda``."""
        raise RefusalError(f"defines a function, '{getattr(node, 'name', '<lambda>')}' ({frame.module.path})")

    def call_function(self, function: ConfigFunction, arguments: Arguments, named: Named, frame: Frame) -> Any:
        """Call a function that a config defines."""
        raise RefusalError(f"calls '{function.name}' ({frame.module.path}, {len(arguments) + len(named)} arguments)")

    # -- targets ------------------------------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Bind a target: a name, an item, an attribute of an inherited dictionary, or several at once."""
        self.budget.steps -= 1
        if isinstance(target, ast.Name):
            frame.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, frame)
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, frame)
            operators.set_item(owner, self.evaluate(target.slice, frame), value, self.budget)
        elif isinstance(target, ast.Attribute):
            self._set_attribute(self.evaluate(target.value, frame), target.attr, value)
        else:
            raise RefusalError(f"assigns to '{type(target).__name__}'")

    def _set_attribute(self, owner: Any, name: str, value: Any) -> None:
        if not isinstance(owner, InheritedDict) or name.startswith("__") or name in METHODS[InheritedDict]:
            raise RefusalError(f"sets the attribute '{name}'")
        containers.put(owner, name, value, self.budget)

    def _unpack(self, targets: list[ast.expr], value: Any, frame: Frame) -> None:
        if isinstance(value, str) or value.__class__ not in SCALARS:
            items = iter(containers.iterate(value, self.budget))
        else:
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")
        star = next((position for position, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if star is None:
            taken = [item for _, item in zip(range(len(targets) + 1), items, strict=False)]
            if len(taken) > len(targets):
                raise ValueError(f"too many values to unpack (expected {len(targets)})")
            if len(taken) < len(targets):
                raise ValueError(f"not enough values to unpack (expected {len(targets)}, got {len(taken)})")
        else:
            every = containers.consume(items, self.budget)
            after = len(targets) - star - 1
            if len(every) < star + after:
                raise ValueError(f"not enough values to unpack (expected at least {star + after}, got {len(every)})")
            rest = len(every) - after
            taken = [*every[:star], every[star:rest], *every[rest:]]
        for target, item in zip(targets, taken, strict=True):
            self.assign(target.value if isinstance(target, ast.Starred) else target, item, frame)


def _refuse(node: ast.expr, frame: Frame) -> Any:  # noqa: ARG001 - one signature for all expressions
    raise RefusalError(CONSTRUCTS.get(type(node), f"uses '{type(node).__name__}'"))


def _targets(node: Comprehension) -> frozenset[str]:
    return frozenset(
        each.id
        for clause in node.generators
        for each in ast.walk(clause.target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def _attribute_of_data(value: Any, name: str) -> Any:
    if isinstance(value, Builtin) and value.kind is not None:
        return _class_method(value, name)
    if isinstance(value, InheritedDict) and name in value:
        return value[name]
    if isinstance(value, Exception) and name == "args":
        return value.args
    if hasattr(type(value), name):
        raise RefusalError(f"uses '{type(value).__name__}.{name}'")
    raise AttributeError(f"'{type(value).__name__}' object has no attribute '{name}'")


def _class_method(kind: Builtin, name: str) -> Builtin:
    """Return ``dict.fromkeys``, or a method taken from a type: ``str.lower``."""
    if (kind.name, name) in CLASS_METHODS:
        return Builtin(f"{kind.name}.{name}", CLASS_METHODS[kind.name, name])
    method = METHODS.get(kind.kind or object, {}).get(name)
    if method is None:
        raise RefusalError(f"uses '{kind.name}.{name}'")

    def invoke(machine: Any, frame: Frame, arguments: Arguments, named: Named) -> Any:
        if not arguments or METHODS.get(arguments[0].__class__) is not METHODS[kind.kind or object]:
            raise TypeError(f"{kind.name}.{name} takes a {kind.name}")
        return method(machine, frame, arguments[0], arguments[1:], named)

    return Builtin(f"{kind.name}.{name}", invoke)
