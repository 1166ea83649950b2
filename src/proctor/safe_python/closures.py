"""Functions that a source file defines: how their parameters take arguments, and what calls them afterwards."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from proctor.safe_python.budget import MAX_CALLS, Budget, RefusalError
from proctor.safe_python.calls import Arguments, Invocable, Named
from proctor.safe_python.scope import Frame, Function, local_names
from proctor.safe_python.values import ConfigFunction


class Closure(ConfigFunction, Invocable):
    """A function of a source file with the names around it.

    Args:
        node: The ``def`` or ``lambda``.
        frame: The scope in which it stands.
        run: What gives the function's result in a frame of its own.
        evaluate: What evaluates a default, in the scope around.
        explain: What turns an exception of a later call into an error with a place.
    """

    __slots__ = ("_explain", "_run", "defaults", "frame", "named_defaults", "owned", "signature")

    def __init__(
        self,
        node: Function,
        frame: Frame,
        run: Callable[[Frame], Any],
        evaluate: Callable[[ast.expr], Any],
        explain: Callable[[Exception], Exception],
    ) -> None:
        name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        super().__init__(name, frame.source.location(node))
        self.signature = node.args
        self.frame = frame
        self.owned = local_names(node)
        self.defaults = [evaluate(default) for default in self.signature.defaults]
        self.named_defaults = {
            argument.arg: evaluate(default)
            for argument, default in zip(self.signature.kwonlyargs, self.signature.kw_defaults, strict=True)
            if default is not None
        }
        self._run = run
        self._explain = explain

    def invoke(self, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Call the function within the caller's budget."""
        if frame.depth >= MAX_CALLS:
            raise RefusalError(f"calls functions more than {MAX_CALLS} deep")
        inner = self.frame.inner(_bind_arguments(self, arguments, named), frame.budget, self.owned)
        inner.depth = frame.depth + 1
        return self._run(inner)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns, with a budget of its own."""
        outermost = Frame({}, Budget())
        try:
            return self.invoke(outermost, list(arguments), named)
        except Exception as error:  # noqa: BLE001 - a refusal or a failure of the file, said with its place
            raise self._explain(error) from None


def _bind_arguments(function: Closure, arguments: Arguments, named: Named) -> dict[str, Any]:
    """Return the parameters of a call by name."""
    signature = function.signature
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
    signature = function.signature
    if signature.vararg is not None:
        names[signature.vararg.arg] = tuple(rest)
    elif rest:
        count = len(signature.posonlyargs) + len(signature.args)
        raise TypeError(f"{function.name}() takes {count} positional arguments but {count + len(rest)} were given")


def _fill_defaults(function: Closure, names: dict[str, Any]) -> None:
    signature = function.signature
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
