"""Expressions of source files: names come from scopes, attributes from values, and a failure remembers its place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from typing_extensions import override

from proctor.safe_python import containers, operators
from proctor.safe_python.budget import RefusalError
from proctor.safe_python.calls import Arguments, Named, call
from proctor.safe_python.compiler import Code, Compiler, refusing
from proctor.safe_python.comprehensions import Comprehension, targets_of
from proctor.safe_python.functions import BUILTINS, CLASS_METHODS, PYTHON_BUILTINS, TYPES, Builtin, make_dict
from proctor.safe_python.methods import METHODS, BoundMethod, methods_of
from proctor.safe_python.modules import ModuleValue
from proctor.safe_python.scope import Frame
from proctor.safe_python.targets import Bind, unpacking
from proctor.safe_python.values import ConfigDict, InheritedDict, Reference


class FileCompiler(Compiler):
    """Compiles the expressions of one reading.

    Attributes:
        failure: The innermost node at which the last exception was raised, with the frame.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failure: tuple[BaseException, ast.AST, Frame] | None = None

    def blame(self, error: BaseException, node: ast.AST, frame: Frame) -> None:
        """Remember where an exception was raised first."""
        if self.failure is None or self.failure[0] is not error:
            self.failure = (error, node, frame)

    @override
    def finished(self, node: ast.expr, code: Code) -> Code:
        """Return the code with a step for the node, and its place for a failure."""
        if isinstance(node, ast.Constant):
            return code  # it takes no work and cannot fail, but for numbers that are too large, said of what is around
        blame = self.blame

        def located(frame: Frame) -> Any:
            budget = frame.budget
            budget.steps -= 1
            try:
                if budget.steps < 0:
                    budget.refill()
                return code(frame)
            except Exception as error:
                blame(error, node, frame)
                raise

        return located

    @override
    def refused(self, node: ast.expr, what: str) -> Code:
        return refusing(what)

    # -- names --------------------------------------------------------------------------------------------------------

    @override
    def name(self, node: ast.Name) -> Code:
        name = node.id

        def code(frame: Frame) -> Any:
            holder = frame.find(name)
            if holder is not None:
                return holder.names[name]
            if name in BUILTINS:
                return BUILTINS[name]
            if name in PYTHON_BUILTINS or (name.startswith("__") and name.endswith("__")):
                raise RefusalError(f"uses '{name}'")
            raise NameError(f"name '{name}' is not defined")

        return code

    @override
    def walrus(self, node: ast.NamedExpr) -> Code:
        name, value = node.target.id, self.compile(node.value)

        def code(frame: Frame) -> Any:
            made = value(frame)
            frame.beyond_comprehensions().bind(name, made)
            return made

        return code

    @override
    def new_dict(self, node: ast.expr) -> Callable[[Frame], dict[Any, Any]]:
        def make(frame: Frame) -> ConfigDict:
            frame.budget.hold(232)
            return ConfigDict(location=frame.source.location(node))

        return make

    @override
    def entering(self, node: Comprehension) -> Callable[[Frame], Frame]:
        owned = targets_of(node)

        def enter(frame: Frame) -> Frame:
            inner = frame.inner({}, frame.budget, owned)
            inner.comprehension = True
            inner.depth = frame.depth
            return inner

        return enter

    # -- targets ------------------------------------------------------------------------------------------------------

    @override
    def target(self, node: ast.expr) -> Bind:
        bind = self._bind(node)

        def counted(frame: Frame, value: Any) -> None:
            frame.budget.steps -= 1
            bind(frame, value)

        return counted

    def _bind(self, node: ast.expr) -> Bind:
        if isinstance(node, ast.Name):
            name = node.id
            return lambda frame, value: frame.bind(name, value)
        if isinstance(node, (ast.Tuple, ast.List)):
            return unpacking(
                [
                    (isinstance(each, ast.Starred), self.target(each.value if isinstance(each, ast.Starred) else each))
                    for each in node.elts
                ]
            )
        if isinstance(node, ast.Subscript):
            owner, key = self.compile(node.value), self.compile(node.slice)
            return lambda frame, value: operators.set_item(owner(frame), key(frame), value, frame.budget)
        if isinstance(node, ast.Attribute):
            owner, name = self.compile(node.value), node.attr
            return lambda frame, value: _set_attribute(owner(frame), name, value, frame)
        refuse = refusing(f"assigns to '{type(node).__name__}'")
        return lambda frame, value: refuse(frame)

    @override
    def scope(self, names: frozenset[str]) -> AbstractContextManager[None]:
        return nullcontext()  # names are found when the code runs: a function may have made them global

    @override
    def weight(self, nodes: Sequence[ast.AST]) -> int:
        return 1  # each node takes a step where it runs

    # -- parts of values ----------------------------------------------------------------------------------------------

    @override
    def subscript(self, node: ast.Subscript) -> Code:
        value, key = self.compile(node.value), self.compile(node.slice)

        def code(frame: Frame) -> Any:
            owner = value(frame)
            if isinstance(owner, Builtin) and owner.kind is not None:
                return owner  # dict[str, int] is made and used like dict
            if isinstance(owner, Reference) and owner.name.startswith("typing."):
                return owner
            return operators.item_of(owner, key(frame), frame.budget)

        return code

    @override
    def attribute(self, node: ast.Attribute) -> Code:
        value = self.compile(node.value)
        return lambda frame: attribute_of(value(frame), node, frame)

    # -- calls --------------------------------------------------------------------------------------------------------

    @override
    def called(self, node: ast.Call) -> Code:
        if isinstance(node.func, ast.Attribute):
            return self._call_method(node.func, node)
        function, arguments, keywords = self.compile(node.func), self.items(node.args), self.keywords(node)
        dictionary = TYPES["dict"]

        def code(frame: Frame) -> Any:
            callee = function(frame)
            given, named = arguments(frame), {} if keywords is None else keywords(frame)
            if callee is not dictionary:
                return call(frame, callee, given, named)
            made = make_dict(frame, given, named)
            if isinstance(made, ConfigDict):
                made.location = frame.source.location(node)
            return made

        return code

    def _call_method(self, function: ast.Attribute, node: ast.Call) -> Code:
        value, name = self.compile(function.value), function.attr
        arguments, keywords = self.items(node.args), self.keywords(node)

        def code(frame: Frame) -> Any:
            owner = value(frame)
            method = methods_of(owner.__class__).get(name)
            called = attribute_of(owner, function, frame) if method is None else None
            given, named = arguments(frame), {} if keywords is None else keywords(frame)
            return call(frame, called, given, named) if method is None else method(frame, owner, given, named)

        return code


def attribute_of(value: Any, node: ast.Attribute, frame: Frame) -> Any:
    """Return an attribute of a value, where source files may ask for it.

    Raises:
        RefusalError: It leads to Python's inside.
        AttributeError: The value has none.
    """
    name = node.attr
    if name.startswith("__"):
        raise RefusalError(f"asks for the attribute '{name}'")
    if isinstance(value, Reference):
        return Reference(f"{value.name}.{name}", value.location)
    if isinstance(value, ModuleValue):
        other = Reference(f"{value.name}.{name}", frame.source.location(node))
        return value.members.get(name, other)
    method = methods_of(value.__class__).get(name)
    return _attribute_of_data(value, name) if method is None else BoundMethod(value, name, method)


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
    table = METHODS.get(kind.kind or object, {})
    method = table.get(name)
    if method is None:
        raise RefusalError(f"uses '{kind.name}.{name}'")

    def invoke(frame: Frame, arguments: Arguments, named: Named) -> Any:
        if not arguments or methods_of(arguments[0].__class__) is not table:
            raise TypeError(f"{kind.name}.{name} takes a {kind.name}")
        return method(frame, arguments[0], arguments[1:], named)

    return Builtin(f"{kind.name}.{name}", invoke)


def _set_attribute(owner: Any, name: str, value: Any, frame: Frame) -> None:
    if not isinstance(owner, InheritedDict) or name.startswith("__") or name in METHODS[InheritedDict]:
        raise RefusalError(f"sets the attribute '{name}'")
    containers.put(owner, name, value, frame.budget)
