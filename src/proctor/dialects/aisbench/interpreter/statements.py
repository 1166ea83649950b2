"""Runs the statements of a config: assignments, loops, conditions, functions, imports.

An import binds a :class:`Reference`, a name that nobody imports. Names of base files (``with read_base():``) are bound
before anything else runs, as in mmengine, so an assignment in the file wins over a base wherever it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeGuard

from proctor.dialects.aisbench.interpreter import containers, operators
from proctor.dialects.aisbench.interpreter.budget import Budget, RefusalError
from proctor.dialects.aisbench.interpreter.expressions import MAX_CALLS, Expressions
from proctor.dialects.aisbench.interpreter.files import TextFile
from proctor.dialects.aisbench.interpreter.functions import Builtin
from proctor.dialects.aisbench.interpreter.methods import Arguments, Named
from proctor.dialects.aisbench.interpreter.modules import modules_for
from proctor.dialects.aisbench.interpreter.scope import ConfigModule, Frame, Function, local_names, share
from proctor.dialects.aisbench.values import ConfigFunction, Reference
from proctor.errors import Location

Signal = tuple[str, Any] | None
"""How a block ended: ``None`` at its end, else ``("break", …)``, ``("continue", …)`` or ``("return", value)``."""

BASE_KEY = "_base_"

_BREAK: Signal = ("break", None)
_CONTINUE: Signal = ("continue", None)

CONSTRUCTS: dict[type[ast.AST], str] = {
    ast.AsyncFor: "uses 'async'",
    ast.AsyncFunctionDef: "uses 'async'",
    ast.AsyncWith: "uses 'async'",
    ast.ClassDef: "defines a class",
    ast.Match: "uses 'match'",
}


class Closure(ConfigFunction):
    """A function of a config with the names around it."""

    __slots__ = ("_machine", "defaults", "frame", "named_defaults", "node", "owned")

    def __init__(self, node: Function, frame: Frame, machine: Interpreter) -> None:
        name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        super().__init__(name, frame.module.location(node))
        self.node = node
        self.frame = frame
        self.owned = local_names(node)
        signature = node.args
        self.defaults = [machine.evaluate(default, frame) for default in signature.defaults]
        self.named_defaults = {
            argument.arg: machine.evaluate(default, frame)
            for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
            if default is not None
        }
        self._machine = machine

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns, with a budget of its own."""
        return self._machine.called_from_outside(self, list(arguments), named)


class Interpreter(Expressions):
    """Runs the statements of one file after another within one budget."""

    def __init__(self, budget: Budget, explain: Callable[[Interpreter, Exception], Exception]) -> None:
        super().__init__(budget)
        self._explain = explain
        self._statements: dict[type[ast.stmt], Callable[[Any, Frame], Signal]] = {
            ast.AnnAssign: self._annotated,
            ast.Assert: self._assert,
            ast.Assign: self._assign,
            ast.AugAssign: self._augmented,
            ast.Break: lambda node, frame: _BREAK,
            ast.Continue: lambda node, frame: _CONTINUE,
            ast.Delete: self._delete,
            ast.Expr: self._expression,
            ast.For: self._for,
            ast.FunctionDef: self._define,
            ast.Global: self._share,
            ast.If: self._if,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Nonlocal: self._share,
            ast.Pass: lambda node, frame: None,
            ast.Raise: self._raise,
            ast.Return: self._return,
            ast.Try: self._try,
            ast.While: self._while,
            ast.With: self._with,
        }
        self._modules: dict[str, dict[str, Any]] = {}

    def run(self, body: list[ast.stmt], module: ConfigModule) -> None:
        """Run the statements of a file; its names are in ``module.names`` then."""
        self.block(body, Frame(module.names, module))

    def block(self, body: list[ast.stmt], frame: Frame) -> Signal:
        """Run statements one after another."""
        for statement in body:
            try:
                self.budget.spend(1)
                signal = self._statements.get(statement.__class__, _refuse)(statement, frame)
            except Exception as error:
                self.blame(error, statement, frame)
                raise
            if signal is not None:
                return signal
        return None

    # -- simple statements --------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr, frame: Frame) -> Signal:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value, frame)
        return None

    def _assign(self, node: ast.Assign, frame: Frame) -> Signal:
        value = self.evaluate(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)
        return None

    def _annotated(self, node: ast.AnnAssign, frame: Frame) -> Signal:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, frame), frame)
        return None

    def _augmented(self, node: ast.AugAssign, frame: Frame) -> Signal:
        target, kind = node.target, type(node.op)
        if isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, frame)
            key = self.evaluate(target.slice, frame)
            old = operators.item_of(owner, key, self.budget)
            new = operators.in_place(kind, old, self.evaluate(node.value, frame), self.budget)
            operators.set_item(owner, key, new, self.budget)
            return None
        old = self.evaluate(_loaded(target), frame)
        self.assign(target, operators.in_place(kind, old, self.evaluate(node.value, frame), self.budget), frame)
        return None

    def _delete(self, node: ast.Delete, frame: Frame) -> Signal:
        for target in node.targets:
            self._delete_target(target, frame)
        return None

    def _delete_target(self, target: ast.expr, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            frame.unbind(target.id)
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, frame)
            operators.delete_item(owner, self.evaluate(target.slice, frame), self.budget)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self._delete_target(each, frame)
        else:
            raise RefusalError("deletes an attribute")

    def _assert(self, node: ast.Assert, frame: Frame) -> Signal:
        if not self.evaluate(node.test, frame):
            message = [] if node.msg is None else [self.evaluate(node.msg, frame)]
            raise AssertionError(*message)
        return None

    def _raise(self, node: ast.Raise, frame: Frame) -> Signal:
        raised = None if node.exc is None else self.evaluate(node.exc, frame)
        if isinstance(raised, Builtin) and raised.kind is not None and issubclass(raised.kind, Exception):
            raised = raised.kind()
        if not isinstance(raised, Exception):
            raise RefusalError("raises something that is no plain exception")
        raise raised

    def _return(self, node: ast.Return, frame: Frame) -> Signal:
        return ("return", None if node.value is None else self.evaluate(node.value, frame))

    def _share(self, node: ast.Global | ast.Nonlocal, frame: Frame) -> Signal:
        if frame.parent is not None:
            share(frame, node)
        return None

    # -- compound statements ------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, frame: Frame) -> Signal:
        return self.block(node.body if self.evaluate(node.test, frame) else node.orelse, frame)

    def _for(self, node: ast.For, frame: Frame) -> Signal:
        for item in containers.iterate(self.evaluate(node.iter, frame), self.budget):
            self.assign(node.target, item, frame)
            signal = self.block(node.body, frame)
            if signal is _BREAK:
                return None
            if signal is not None and signal is not _CONTINUE:
                return signal
        return self.block(node.orelse, frame)

    def _while(self, node: ast.While, frame: Frame) -> Signal:
        while self.evaluate(node.test, frame):
            signal = self.block(node.body, frame)
            if signal is _BREAK:
                return None
            if signal is not None and signal is not _CONTINUE:
                return signal
        return self.block(node.orelse, frame)

    def _with(self, node: ast.With, frame: Frame) -> Signal:
        if is_read_base(node):
            raise RefusalError("reads base files inside another statement")
        for item in node.items:
            opened = self.evaluate(item.context_expr, frame)
            if not isinstance(opened, TextFile):
                raise RefusalError("uses 'with' on something that is no file")
            if item.optional_vars is not None:
                self.assign(item.optional_vars, opened, frame)
        return self.block(node.body, frame)

    def _try(self, node: ast.Try, frame: Frame) -> Signal:
        try:
            signal = self._guarded(node, frame)
        except Exception as error:
            if not isinstance(error, RefusalError):  # what is refused ends the reading: nothing more runs
                ended = self.block(node.finalbody, frame)
                if ended is not None:
                    return ended
            raise
        return self.block(node.finalbody, frame) or signal

    def _guarded(self, node: ast.Try, frame: Frame) -> Signal:
        try:
            signal = self.block(node.body, frame)
        except (RefusalError, RecursionError):
            raise
        except Exception as error:  # a failure of the config, offered to the handlers that the config has for it
            handler = next((each for each in node.handlers if self._handles(each, error, frame)), None)
            if handler is None:
                raise
            if handler.name:
                frame.bind(handler.name, error)
            signal = self.block(handler.body, frame)
            if handler.name and handler.name in frame.names:
                frame.unbind(handler.name)
            return signal
        return signal if signal is not None else self.block(node.orelse, frame)

    def _handles(self, handler: ast.ExceptHandler, error: Exception, frame: Frame) -> bool:
        if handler.type is None:
            return True
        wanted = self.evaluate(handler.type, frame)
        for each in wanted if isinstance(wanted, tuple) else (wanted,):
            if not isinstance(each, Builtin) or each.kind is None:
                raise RefusalError("handles exceptions of an imported class")
            if isinstance(error, each.kind):
                return True
        return False

    # -- functions ----------------------------------------------------------------------------------------------------

    def _define(self, node: ast.FunctionDef, frame: Frame) -> Signal:
        if node.decorator_list:
            self.blame(refusal := RefusalError("decorates a function"), node.decorator_list[0], frame)
            raise refusal
        frame.bind(node.name, self.make_function(node, frame))
        return None

    def make_function(self, node: Function, frame: Frame) -> ConfigFunction:
        """Return the function of a ``def`` or ``lambda``."""
        frame.module.defines_functions = True
        self.budget.hold(400)
        return Closure(node, frame, self)

    def call_function(self, function: ConfigFunction, arguments: Arguments, named: Named, frame: Frame) -> Any:
        """Call a function that a config defines."""
        if not isinstance(function, Closure):
            return super().call_function(function, arguments, named, frame)
        if frame.depth >= MAX_CALLS:
            raise RefusalError(f"calls functions more than {MAX_CALLS} deep")
        names = _bind_arguments(function, arguments, named)
        inner = Frame(names, function.frame.module, function.frame, function.owned, depth=frame.depth + 1)
        body = function.node.body
        if not isinstance(body, list):
            return self.evaluate(body, inner)
        signal = self.block(body, inner)
        return None if signal is None else signal[1]

    def called_from_outside(self, function: Closure, arguments: Arguments, named: Named) -> Any:
        """Call a function after its config was read; failures become errors with a place."""
        self.budget = Budget()
        try:
            return self.call(function, arguments, named, function.frame)
        except Exception as error:  # noqa: BLE001 - a refusal or a failure of the config, said with its place
            raise self._explain(self, error) from None

    # -- imports ------------------------------------------------------------------------------------------------------

    def _import(self, node: ast.Import, frame: Frame) -> Signal:
        place = frame.module.location(node)
        for alias in node.names:
            full = alias.name if alias.asname else alias.name.partition(".")[0]
            self._bind_import(alias.asname or full, self._known(full, frame) or Reference(full, place), frame)
        return None

    def _import_from(self, node: ast.ImportFrom, frame: Frame) -> Signal:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                raise RefusalError(f"imports everything of '{module}' outside 'with read_base():'")
            place = frame.module.location(alias)
            value = self._member(module, alias.name, place, frame)
            self._bind_import(alias.asname or alias.name, value, frame)
        return None

    def _member(self, module: str, name: str, place: Location, frame: Frame) -> Any:
        known = self._known(module, frame)
        if known is not None and name in known.members:
            return known.members[name]
        return self._known(f"{module}.{name}", frame) or Reference(_joined_name(module, name), place)

    def _known(self, name: str, frame: Frame) -> Any:
        path = str(frame.module.path)
        if path not in self._modules:
            self._modules[path] = dict(modules_for(frame.module))
        return self._modules[path].get(name)

    @staticmethod
    def _bind_import(name: str, value: Any, frame: Frame) -> None:
        frame.bind(name, value)
        if frame.parent is None:
            frame.module.imported.add(name)


def _refuse(node: ast.stmt, frame: Frame) -> Signal:  # noqa: ARG001 - one signature for all statements
    raise RefusalError(CONSTRUCTS.get(type(node), f"uses '{type(node).__name__}'"))


def is_read_base(node: ast.stmt) -> TypeGuard[ast.With]:
    """Return whether a statement is ``with read_base():``."""
    if not isinstance(node, ast.With) or len(node.items) != 1:
        return False
    called = node.items[0].context_expr
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == "read_base"


def _joined_name(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def _bind_arguments(function: Closure, arguments: Arguments, named: Named) -> dict[str, Any]:
    """Return the parameters of a call by name.

    Raises:
        TypeError: Too many, too few or unknown arguments.
    """
    signature = function.node.args
    positional = [*signature.posonlyargs, *signature.args]
    names = {parameter.arg: value for parameter, value in zip(positional, arguments, strict=False)}
    _bind_rest(function, arguments[len(positional) :], names)
    only_positional = {parameter.arg for parameter in signature.posonlyargs}
    allowed = {parameter.arg for parameter in (*signature.args, *signature.kwonlyargs)}
    others: dict[str, Any] = {}
    for name, value in named.items():
        if name in allowed and name not in only_positional:
            if name in names:
                raise TypeError(f"{function.name}() got multiple values for argument '{name}'")
            names[name] = value
        elif signature.kwarg is not None:
            others[name] = value
        else:
            raise TypeError(f"{function.name}() got an unexpected keyword argument '{name}'")
    if signature.kwarg is not None:
        names[signature.kwarg.arg] = others
    _fill_defaults(function, names)
    return names


def _bind_rest(function: Closure, rest: Arguments, names: dict[str, Any]) -> None:
    signature = function.node.args
    if signature.vararg is not None:
        names[signature.vararg.arg] = tuple(rest)
    elif rest:
        count = len(signature.posonlyargs) + len(signature.args)
        raise TypeError(f"{function.name}() takes {count} positional arguments but {count + len(rest)} were given")


def _fill_defaults(function: Closure, names: dict[str, Any]) -> None:
    signature = function.node.args
    positional = [*signature.posonlyargs, *signature.args]
    defaults = dict(zip([each.arg for each in positional[::-1]], function.defaults[::-1], strict=False))
    defaults.update(function.named_defaults)
    missing = []
    for parameter in (*positional, *signature.kwonlyargs):
        if parameter.arg in names:
            continue
        if parameter.arg in defaults:
            names[parameter.arg] = defaults[parameter.arg]
        else:
            missing.append(f"'{parameter.arg}'")
    if missing:
        raise TypeError(f"{function.name}() missing {len(missing)} required arguments: {', '.join(missing)}")
