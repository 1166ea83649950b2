"""Runs the statements of a source file: assignments, loops, conditions, functions, imports.

An import binds a :class:`Reference`, a name that nobody imports. Names of base files (``with read_base():``) are bound
before anything else runs, as in mmengine, so an assignment in the file wins over a base wherever it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

from proctor.errors import Location
from proctor.safe_python import containers, operators
from proctor.safe_python.budget import Budget, RefusalError
from proctor.safe_python.closures import Closure
from proctor.safe_python.compiler import Code
from proctor.safe_python.file_expressions import FileCompiler
from proctor.safe_python.file_modules import modules_for
from proctor.safe_python.files import TextFile
from proctor.safe_python.functions import Builtin
from proctor.safe_python.scope import Frame, SourceFile, share
from proctor.safe_python.targets import Bind
from proctor.safe_python.values import ConfigFunction, Reference

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


class Interpreter(FileCompiler):
    """Runs the statements of files; an expression is compiled when it is first reached, for it may come again."""

    def __init__(self, explain: Callable[[Interpreter, Exception], Exception]) -> None:
        super().__init__()
        self._explain = explain
        self._codes: dict[ast.expr, Code] = {}
        self._targets: dict[ast.expr, Bind] = {}
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

    def run(self, body: list[ast.stmt], module: SourceFile, budget: Budget) -> None:
        """Run the statements of a file; its names are in ``module.names`` then."""
        self.block(body, Frame.of_file(module, budget))

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """Return the value of an expression.

        Raises:
            RefusalError: It does what a source file may not do, or costs too much.
            Exception: It fails, as it would in Python.
        """
        code = self._codes.get(node)
        if code is None:
            code = self._codes[node] = self.compile(node)
        return code(frame)

    def assign(self, node: ast.expr, value: Any, frame: Frame) -> None:
        """Bind a target: a name, an item, an attribute of an inherited dictionary, or several at once."""
        bind = self._targets.get(node)
        if bind is None:
            bind = self._targets[node] = self.target(node)
        bind(frame, value)

    def block(self, body: list[ast.stmt], frame: Frame) -> Signal:
        """Run statements one after another."""
        for statement in body:
            try:
                frame.budget.spend(1)
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
            old = operators.item_of(owner, key, frame.budget)
            new = operators.in_place(kind, old, self.evaluate(node.value, frame), frame.budget)
            operators.set_item(owner, key, new, frame.budget)
            return None
        old = self.evaluate(_loaded(target), frame)
        self.assign(target, operators.in_place(kind, old, self.evaluate(node.value, frame), frame.budget), frame)
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
            operators.delete_item(owner, self.evaluate(target.slice, frame), frame.budget)
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
            raise RefusalError("raises something that is not a plain exception")
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
        for item in containers.each_of(self.evaluate(node.iter, frame), frame.budget):
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
                raise RefusalError("uses 'with' on something that is not a file")
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
        frame.bind(node.name, self._made(node, frame))
        return None

    def function(self, node: ast.Lambda) -> Code:
        """Return the code that makes the function of a ``lambda``."""
        return lambda frame: self._made(node, frame)

    def _made(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> ConfigFunction:
        frame.source.defines_functions = True
        frame.budget.hold(400)
        run: Callable[[Frame], Any] = partial(self.evaluate, node.body)  # type: ignore[arg-type]
        if isinstance(node, ast.FunctionDef):
            run = partial(self._result, node.body)
        return Closure(node, frame, run, partial(self.evaluate, frame=frame), partial(self._explain, self))

    def _result(self, body: list[ast.stmt], frame: Frame) -> Any:
        signal = self.block(body, frame)
        return None if signal is None else signal[1]

    # -- imports ------------------------------------------------------------------------------------------------------

    def _import(self, node: ast.Import, frame: Frame) -> Signal:
        place = frame.source.location(node)
        for alias in node.names:
            full = alias.name if alias.asname else alias.name.partition(".")[0]
            self._bind_import(alias.asname or full, self._known(full, frame) or Reference(full, place), frame)
        return None

    def _import_from(self, node: ast.ImportFrom, frame: Frame) -> Signal:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                raise RefusalError(f"imports everything of '{module}' outside 'with read_base():'")
            place = frame.source.location(alias)
            value = self._member(module, alias.name, place, frame)
            self._bind_import(alias.asname or alias.name, value, frame)
        return None

    def _member(self, module: str, name: str, place: Location, frame: Frame) -> Any:
        known = self._known(module, frame)
        if known is not None and name in known.members:
            return known.members[name]
        return self._known(f"{module}.{name}", frame) or Reference(_joined_name(module, name), place)

    def _known(self, name: str, frame: Frame) -> Any:
        path = str(frame.source.path)
        if path not in self._modules:
            self._modules[path] = dict(modules_for(frame.source))
        return self._modules[path].get(name)

    @staticmethod
    def _bind_import(name: str, value: Any, frame: Frame) -> None:
        frame.bind(name, value)
        if frame.parent is None:
            frame.source.imported.add(name)


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
