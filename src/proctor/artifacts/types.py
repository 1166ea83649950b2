"""Types of fields: from text to type and back, and checks compiled from types.

Type strings are read through an allow-list over Python's syntax tree, never evaluated: names of registered types,
subscripts, unions (``int | str`` or ``Union[int, str]``) and literals. Checks follow the types' shape to any depth::

    check = compile_check(parse_type_string("List[Tuple[str, int]]"))
    check([("a", 1)])                       # True
    explain_mismatch([("a", "b")], List[Tuple[str, int]])   # "expected int, got 'b' (str) at [0][1]"

A tuple is checked as far as both sides reach, and a ``TypedDict`` accepts keys beyond its own, because saved data of
the ecosystems relies on it (``unitxt.type_utils.isoftype``).
"""

# ruff: noqa: UP006, UP007, UP035 - types are written as files show them

from __future__ import annotations

import ast
import typing
from collections.abc import Callable
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Dict, List, Literal, Optional, Set, Tuple, Union, get_args, get_origin, is_typeddict

from proctor.artifacts.field_types import FIELD_TYPES
from proctor.errors import ArtifactError, did_you_mean

Check = Callable[[Any], bool]

_BUILTIN: dict[str, Any] = {
    "Any": Any,
    "List": List,
    "Dict": Dict,
    "Tuple": Tuple,
    "Set": Set,
    "Union": Union,
    "Optional": Optional,
    "Literal": Literal,
    "list": List,
    "dict": Dict,
    "tuple": Tuple,
    "set": Set,
    "int": int,
    "str": str,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "object": object,
    "None": NoneType,
    "NoneType": NoneType,
    "Type": typing.Type,
}
_SHOWN = 60  # characters of a value, which stands in a sentence with its type: one line of a terminal in all
_GENERIC_NAMES: dict[Any, str] = {list: "List", dict: "Dict", tuple: "Tuple", set: "Set"}
_names: dict[str, Any] = {**_BUILTIN, **FIELD_TYPES}


def register_type(new_type: Any) -> None:
    """Make a type known by its name in type strings.

    Args:
        new_type: A ``NewType``, a ``TypedDict``, or a class with a class method ``__verify_type__(value) -> bool``.

    Raises:
        ArtifactError: It is none of these, or it would replace a type of Python's own.
    """
    if not (_is_new_type(new_type) or is_typeddict(new_type) or hasattr(new_type, "__verify_type__")):
        raise ArtifactError(
            f"{new_type!r} cannot be registered as a type",
            hint="register a NewType, a TypedDict, or a class with a class method __verify_type__",
        )
    name = new_type.__name__
    if name in _BUILTIN:
        raise ArtifactError(f"a type cannot be registered as '{name}'", why="Python's own type has that name")
    _names[name] = new_type


# -- text to type and back ------------------------------------------------------------------------------------


def parse_type_string(text: str) -> Any:
    """Return the type that a text such as ``"List[Tuple[str, int]]"`` means.

    Raises:
        ArtifactError: The text is not a type: unknown names, calls, attributes or anything else but a type.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ArtifactError(f"'{text}' is not a type", hint="write it as in 'List[Tuple[str, int]]'") from None
    return _read(tree, text)


def _read(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="typing"), attr=name):
            return _lookup(name, text)
        case ast.Constant(value=None):
            return NoneType
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Union[_read(left, text), _read(right, text)]
        case ast.Subscript(value=ast.Name() | ast.Attribute() as head, slice=inner):
            return _subscript(_read(head, text), inner, text)
    raise ArtifactError(f"'{text}' is not a type", why=f"'{ast.unparse(node)}' is not allowed in a type")


def _lookup(name: str, text: str) -> Any:
    if name not in _names:
        raise ArtifactError(
            f"'{text}' is not a type",
            why=f"no type is named '{name}'",
            hint=did_you_mean(name, _names) or "register it with register_type",
        )
    return _names[name]


def _subscript(head: Any, inner: ast.expr, text: str) -> Any:
    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if head is Literal:
        return Literal[tuple(_literal(item, text) for item in items)]
    arguments = tuple(... if _is_ellipsis(item) else _read(item, text) for item in items)
    try:
        return head[arguments if len(arguments) != 1 else arguments[0]]
    except TypeError as error:
        raise ArtifactError(f"'{text}' is not a type", why=str(error)) from None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _literal(node: ast.expr, text: str) -> Any:
    try:
        value = ast.literal_eval(node)
        hash(value)
    except (ValueError, TypeError):
        raise ArtifactError(f"'{text}' is not a type", why="Literal takes plain values") from None
    return value


def to_type_string(typing_type: Any) -> str:  # noqa: C901, PLR0911 - one line for each kind of type
    """Return the text of a type, as files show it: ``List[Tuple[str, int]]``, ``Optional[str]``, ``Dialog``.

    Raises:
        ArtifactError: It is not a type that :func:`parse_type_string` could read back.
    """
    if isinstance(typing_type, str):
        return typing_type
    if typing_type is None or typing_type is NoneType:
        return "None"
    if typing_type is Any:
        return "Any"
    if _is_new_type(typing_type) or is_typeddict(typing_type):
        return str(typing_type.__name__)
    origin, arguments = get_origin(typing_type), get_args(typing_type)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is Union or origin is UnionType:
        return _union_string(arguments)
    if origin in _GENERIC_NAMES:
        if not arguments:
            return _GENERIC_NAMES[origin]
        inner = ", ".join("..." if each is ... else to_type_string(each) for each in arguments)
        return f"{_GENERIC_NAMES[origin]}[{inner}]"
    if typing_type is typing.Type:
        return "Type"
    name = getattr(typing_type, "__name__", None)
    if isinstance(typing_type, type) and name is not None:
        return str(name)
    raise ArtifactError(f"{typing_type!r} has no name in files", hint="use typing's generics, or register_type")


def _union_string(arguments: tuple[Any, ...]) -> str:
    if arguments[-1] is not NoneType:
        return f"Union[{', '.join(map(to_type_string, arguments))}]"
    *others, _ = arguments
    return f"Optional[{to_type_string(others[0]) if len(others) == 1 else _union_string(tuple(others))}]"


def _is_new_type(value: Any) -> bool:
    return callable(value) and hasattr(value, "__supertype__")


# -- checks ---------------------------------------------------------------------------------------------------


class UnsupportedTypeError(ArtifactError):
    """Something that is not a type."""


def is_of_type(value: object, typing_type: object) -> bool:
    """Whether a value has a type, to any depth."""
    return compile_check(typing_type)(value)


isoftype = is_of_type


def compile_check(typing_type: object) -> Check:
    """Return a fast function that says whether a value has a type.

    Raises:
        ArtifactError: It is not a type.
    """
    try:
        return _cached_check(typing_type)
    except TypeError:  # unhashable, as Literal of a list
        return _make_check(typing_type)


@lru_cache(maxsize=4096)
def _cached_check(typing_type: Any) -> Check:
    return _make_check(typing_type)


def _make_check(typing_type: Any) -> Check:  # noqa: C901, PLR0911 - one line for each kind of type
    if hasattr(typing_type, "__verify_type__"):
        verify: Check = typing_type.__verify_type__
        return verify
    while _is_new_type(typing_type):
        typing_type = typing_type.__supertype__
    if typing_type is Any or typing_type is object:
        return lambda _: True
    if typing_type is None or typing_type is NoneType:
        return lambda value: value is None
    if typing_type is typing.Type:
        return _is_type
    if is_typeddict(typing_type):
        return _typed_dict_check(typing_type)
    origin, arguments = get_origin(typing_type), get_args(typing_type)
    if origin is Literal:
        return lambda value: value in arguments
    if origin is Union or origin is UnionType:
        return _union_check(arguments)
    if origin in _GENERIC_NAMES:
        return _generic_check(origin, arguments)
    if isinstance(typing_type, type):
        return lambda value: isinstance(value, typing_type)
    raise UnsupportedTypeError(f"{typing_type!r} is not a type that values can be checked against")


def _is_type(value: object) -> bool:
    return isinstance(value, type) or get_origin(value) is not None or value is Any or _is_new_type(value)


def _union_check(arguments: tuple[Any, ...]) -> Check:
    if all(
        isinstance(each, type) and not hasattr(each, "__verify_type__") and not is_typeddict(each) for each in arguments
    ):
        plain = tuple(each for each in arguments if each is not Any)
        if len(plain) == len(arguments):
            return lambda value: isinstance(value, plain)
    checks = tuple(map(compile_check, arguments))

    def check(value: Any) -> bool:
        return any(each(value) for each in checks)

    return check


def _generic_check(origin: type, arguments: tuple[Any, ...]) -> Check:
    if not arguments or all(each is Any or each is ... for each in arguments):
        return lambda value: isinstance(value, origin)
    if origin is dict:
        return _dict_check(*map(compile_check, arguments))
    if origin is tuple and arguments[-1] is not ...:
        return _tuple_check(tuple(map(compile_check, arguments)))
    inner = compile_check(arguments[0])
    if arguments[0] in _BUILT_IN:
        exact = frozenset({arguments[0]})  # nearly always true of all members, and seen in half the time
        return lambda value: (
            isinstance(value, origin) and (exact.issuperset(map(type, value)) or all(map(inner, value)))  # type: ignore[call-overload]
        )
    return lambda value: isinstance(value, origin) and all(map(inner, value))  # type: ignore[call-overload]


_BUILT_IN = (str, int, float, bool)
"""Types whose instances are told by ``type`` alone, subclasses aside."""


def _dict_check(key_check: Check, value_check: Check) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(map(key_check, value)) and all(map(value_check, value.values()))
    )


def _tuple_check(checks: tuple[Check, ...]) -> Check:
    def check(value: Any) -> bool:
        return isinstance(value, tuple) and all(each(item) for each, item in zip(checks, value, strict=False))

    return check


def _typed_dict_check(typed_dict: Any) -> Check:
    required: list[tuple[str, Check]] = []
    optional: list[tuple[str, Check]] = []
    for key, expected in _hints(typed_dict).items():
        (optional if _is_optional(expected) else required).append((key, compile_check(expected)))

    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(key in value and each(value[key]) for key, each in required)
            and all(key not in value or each(value[key]) for key, each in optional)
        )

    return check


def _hints(typed_dict: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(typed_dict)
    except NameError as error:
        raise ArtifactError(
            f"the keys of {typed_dict.__name__} have types that cannot be resolved",
            why=str(error),
            hint="define the TypedDict at the top of its module",
        ) from None


def _is_optional(typing_type: Any) -> bool:
    return get_origin(typing_type) in (Union, UnionType) and NoneType in get_args(typing_type)


# -- explanations ---------------------------------------------------------------------------------------------


def explain_mismatch(value: object, typing_type: object) -> str:
    """Return where and why a value has not the type, ``""`` where it has: ``expected int, got 'x' (str) at [0].id``."""
    return "" if is_of_type(value, typing_type) else _explain(value, typing_type, "")


def _explain(value: Any, typing_type: Any, path: str) -> str:
    inner = typing_type
    while _is_new_type(inner):
        inner = inner.__supertype__
    for part, expected, place in _parts(value, inner):
        if not is_of_type(part, expected):
            return _explain(part, expected, path + place)
    if is_typeddict(inner) and isinstance(value, dict):
        missing = [key for key, each in _hints(inner).items() if key not in value and not _is_optional(each)]
        if missing:
            return f"expected {to_type_string(typing_type)}, which needs the key '{missing[0]}'{_at(path)}"
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:57]}..."
    return f"expected {to_type_string(typing_type)}, got {shown} ({type(value).__name__}){_at(path)}"


def _is_instance(value: Any, origin: Any) -> bool:
    return isinstance(origin, type) and isinstance(value, origin)


def _at(path: str) -> str:
    return f" at {path}" if path else ""


def _parts(value: Any, typing_type: Any) -> list[tuple[Any, Any, str]]:
    origin: Any = get_origin(typing_type)
    arguments = get_args(typing_type)
    if is_typeddict(typing_type) and isinstance(value, dict):
        hints = _hints(typing_type)
        return [(value[key], expected, f".{key}") for key, expected in hints.items() if key in value]
    if not arguments or not _is_instance(value, origin):
        return []
    if origin is dict:
        keys = [(key, arguments[0], f".{key}") for key in value]
        return keys + [(item, arguments[1], f"[{key!r}]") for key, item in value.items()]
    if origin is tuple and arguments[-1] is not ...:
        return [(item, each, f"[{i}]") for i, (item, each) in enumerate(zip(value, arguments, strict=False))]
    return [(item, arguments[0], f"[{i}]") for i, item in enumerate(value)]
