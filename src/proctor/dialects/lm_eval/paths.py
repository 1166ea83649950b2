"""The fast path of templates: expressions that only walk through a row become plain functions.

``question``, ``choices[0]``, ``choices.text``, ``question.strip()`` and ``choices.label.index(answerKey)`` are such
expressions. Whatever else Jinja can do stays with Jinja; where a walk fails, so does Jinja, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import nodes

Walk = Callable[[Mapping[str, Any]], Any]

# Names that Jinja itself defines: they are not columns of a row.
_GLOBALS = frozenset({"range", "dict", "lipsum", "cycler", "joiner", "namespace", "self", "loop", "super", "caller"})
_OWN_NAMES = frozenset(dir(dict)) | frozenset(dir(list)) | frozenset(dir(str)) | frozenset(dir(int))
_TEXT_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "swapcase", "casefold"}
)
_CONSTANT_TYPES = (str, int, float, bool, type(None))


def compile_path(node: nodes.Node) -> Walk | None:
    """Return a function from a row to the expression's value, or ``None`` where the expression does more than walk.

    The function raises ``KeyError``, ``IndexError``, ``TypeError``, ``AttributeError`` or ``ValueError`` where the row
    does not have what the expression asks for.
    """
    if isinstance(node, nodes.Name):
        return _name(node)
    if isinstance(node, nodes.Getattr):
        return _attribute(node)
    if isinstance(node, nodes.Getitem):
        return _item(node)
    if isinstance(node, nodes.Call):
        return _call(node)
    return None


def _name(node: nodes.Name) -> Walk | None:
    name = node.name
    if name in _GLOBALS:
        return None
    return lambda row: row[name]


def _attribute(node: nodes.Getattr) -> Walk | None:
    inner, name = compile_path(node.node), node.attr
    if inner is None or name in _OWN_NAMES or name.startswith("_"):
        return None

    def walk(row: Mapping[str, Any]) -> Any:
        value = inner(row)
        if type(value) is dict:
            return value[name]
        raise TypeError(name)

    return walk


def _item(node: nodes.Getitem) -> Walk | None:
    inner = compile_path(node.node)
    if inner is None or not isinstance(node.arg, nodes.Const):
        return None
    key = node.arg.value
    if not isinstance(key, (int, str)) or (isinstance(key, str) and key in _OWN_NAMES):
        return None

    def walk(row: Mapping[str, Any]) -> Any:
        value = inner(row)
        if type(value) in (dict, list, str, tuple):
            return value[key]
        raise TypeError(key)

    return walk


def _call(node: nodes.Call) -> Walk | None:
    function = node.node
    if not isinstance(function, nodes.Getattr) or node.kwargs or node.dyn_args or node.dyn_kwargs:
        return None
    inner = compile_path(function.node)
    arguments = [_argument(each) for each in node.args]
    if inner is None or any(each is None for each in arguments):
        return None
    if function.attr in _TEXT_METHODS and len(arguments) <= 1:
        return _text_method(inner, function.attr, arguments)
    if function.attr == "index" and len(arguments) == 1 and arguments[0] is not None:
        return _index(inner, arguments[0])
    return None


def _argument(node: nodes.Node) -> Walk | None:
    if isinstance(node, nodes.Const) and isinstance(node.value, _CONSTANT_TYPES):
        value = node.value
        return lambda row: value
    return compile_path(node)


def _text_method(inner: Walk, name: str, arguments: list[Walk | None]) -> Walk:
    method = getattr(str, name)
    if arguments and (argument := arguments[0]) is not None:
        return lambda row: method(_text(inner(row)), argument(row))
    return lambda row: method(_text(inner(row)))


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    raise TypeError(type(value))


def _index(inner: Walk, argument: Walk) -> Walk:
    def walk(row: Mapping[str, Any]) -> Any:
        value = inner(row)
        if type(value) in (list, str):
            return value.index(argument(row))
        raise TypeError(type(value))

    return walk
