"""What Unitxt's programs ask of types: texts of types in older spellings, types of values, subtypes."""

from __future__ import annotations

import ast
import collections.abc
import io
import re
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypedDict, Union

from proctor.artifacts.types import UnsupportedTypeError, is_of_type
from proctor.artifacts.types import parse_type_string as parsed
from proctor.artifacts.types import to_type_string as written
from proctor.errors import ArtifactError, DataError

Type = typing.Any


class TypeTextSyntaxError(ArtifactError, SyntaxError):
    """A text that is not Python's spelling of anything."""


class TypeTextError(ArtifactError, TypeError):
    """A text that spells no type."""


class GenericTypedDict(TypedDict):
    """A dict with named members: the class that all such types are of."""


def is_new_type(object: Any) -> bool:  # noqa: A002 - the name that programs may give
    """Whether something was made by ``NewType``."""
    return callable(object) and hasattr(object, "__supertype__")


def is_typed_dict(object: Any) -> bool:  # noqa: A002
    """Whether something is a ``TypedDict``."""
    return isinstance(object, type(GenericTypedDict))


def is_type(object: Any) -> bool:  # noqa: A002
    """Whether something is a type: a class, a generic, a ``Literal``, a ``TypedDict`` or a ``NewType``."""
    if object in (type, Any, Literal):
        return True
    return isinstance(object, (type, UnionType)) or typing.get_origin(object) is not None or is_new_type(object)


def is_type_dict(object: Any) -> bool:  # noqa: A002
    """Whether every value of a dict, and of dicts in it, is a type.

    Raises:
        ValueError: It is not a dict.
    """
    if not isinstance(object, dict):
        raise ArtifactError(f"a dict of types is expected, got {type(object).__name__}")
    return all(is_type_dict(each) if isinstance(each, dict) else is_type(each) for each in object.values())


# -- texts --------------------------------------------------------------------------------------------------------


class _Spelling:
    """Reads the text of a type, and writes it with ``Union[…]`` where it has ``|``."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def types(self) -> str:
        """Return types with commas between, up to the bracket that ends them."""
        found = [self._alternatives()]
        while self._next() == ",":
            self._at += 1
            found.append(self._alternatives())
        return ",".join(found)

    def ended(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._text)

    def _alternatives(self) -> str:
        found = [self._one()]
        while self._next() == "|":
            self._at += 1
            found.append(self._one())
        return found[0] if len(found) == 1 else f"Union[{','.join(found)}]".replace("|", ",")

    def _one(self) -> str:
        match = re.compile(r"\s*([^\[\],|]*)").match(self._text, self._at)
        word = match.group(1).strip() if match else ""
        self._at = match.end() if match else self._at
        if self._next() != "[":
            return word
        return f"{word}{self._values()}" if word == "Literal" else f"{word}{self._inside()}"

    def _inside(self) -> str:
        self._at += 1
        inner = self.types()
        if self._next() != "]":
            raise TypeTextSyntaxError(f"the text of a type has a bracket that does not end: {self._text!r}")
        self._at += 1
        return f"[{inner}]{self._rest()}"

    def _rest(self) -> str:
        match = re.compile(r"\s*").match(self._text, self._at)
        self._at = match.end() if match else self._at
        return ""

    def _values(self) -> str:
        """Return the values of a ``Literal``, which may have brackets in texts."""
        end = self._text.find("]", self._at)
        while end != -1:
            inside = self._text[self._at : end + 1]
            try:
                ast.literal_eval(inside)
            except (ValueError, SyntaxError):
                end = self._text.find("]", end + 1)
            else:
                self._at = end + 1
                return inside + self._rest()
        raise ArtifactError(f"the text of a type has a Literal without values: {self._text!r}")

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]


def convert_union_type(type_string: str) -> str:
    """Return the text of a type with ``Union[int,str]`` for ``int|str``."""
    spelling = _Spelling(type_string.strip())
    text = spelling.types()
    if not spelling.ended():
        raise TypeTextSyntaxError(f"the text of a type has a bracket too many: {type_string!r}")
    return text


_OLD = (("list", "List"), ("tuple", "Tuple"), ("dict", "Dict"), ("typing.", ""), (" ", ""))


def format_type_string(type_string: str) -> str:
    """Return the text of a type as Python 3.9 has it: ``List``, ``Union``, no blanks."""
    for new, old in _OLD:
        type_string = type_string.replace(new, old)
    return convert_union_type(type_string)


def parse_type_string(type_string: str) -> Any:
    """Return the type that a text names.

    Raises:
        TypeTextSyntaxError: It is not Python's spelling of anything (a ``SyntaxError``).
        TypeTextError: It has lists where types belong (a ``TypeError``).
        ArtifactError: A name that is not registered (a ``ValueError``).
    """
    try:
        tree = ast.parse(type_string.strip(), mode="eval")
    except SyntaxError as error:
        raise TypeTextSyntaxError(f"{type_string!r} does not spell a type", why=str(error)) from None
    literals = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and _is_literal(node)]
    inside = {id(each) for literal in literals for each in ast.walk(literal)}
    if any(isinstance(node, ast.List) and id(node) not in inside for node in ast.walk(tree)):
        raise TypeTextError(f"{type_string!r} does not spell a type", why="a list is not a type")
    if any(isinstance(node, ast.Name) and node.id == "Set" for node in ast.walk(tree) if id(node) not in inside):
        raise ArtifactError(f"{type_string!r} does not spell a type", why="sets are not among the types of fields")
    return parsed(type_string)


def _is_literal(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "Literal"


def strtype(typing_type: Any) -> str:
    """Return the text of a type; a text as it is.

    Raises:
        UnsupportedTypeError: It is not a type.
    """
    if isinstance(typing_type, str):
        return typing_type
    if not is_type(typing_type):
        raise UnsupportedTypeError(f"{typing_type!r} is not a type")
    return written(typing_type)


def to_type_string(typing_type: Any) -> str:
    """Return the text of a type, which can be read again.

    Raises:
        UnsupportedTypeError: It is not a type.
        ArtifactError: It is a text that names none.
    """
    text = strtype(typing_type)
    parse_type_string(text)
    return text


def to_type_dict(dict_of_typing_types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types in a dict, and in dicts in it, as texts."""
    return {
        name: to_type_dict(each) if isinstance(each, dict) else strtype(each)
        for name, each in dict_of_typing_types.items()
    }


def parse_type_dict(type_dict: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types that the texts in a dict, and in dicts in it, name.

    Raises:
        ValueError: A value is neither.
    """
    found: dict[str, Any] = {}
    for name, each in type_dict.items():
        if not isinstance(each, (str, dict)):
            raise ArtifactError(f"'{name}' is neither the text of a type nor a dict of them", why=f"it is {each!r}")
        found[name] = parse_type_dict(each) if isinstance(each, dict) else parse_type_string(each)
    return found


def replace_class_names(full_string: str) -> str:
    """Return a text with the last part only of every dotted name."""
    return re.sub(r"(?:\w+\.)*<locals>\.(\w+)|(?:\w+\.)*(\w+)", lambda found: found[1] or found[2], full_string)


# -- types of values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shape:
    """A type as a tree; ``parts`` of a union are its members."""

    name: str
    parts: tuple[_Shape, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(str, self.parts))}]" if self.parts else self.name

    def within(self, other: _Shape) -> bool:
        """Whether every value of this type is one of the other."""
        if self == other:
            return True
        if self.name == "Union":
            return all(each.within(other) for each in self.parts)
        if other.name == "Union":
            return any(self.within(each) for each in other.parts)
        if self.parts and self.name == other.name and len(self.parts) == len(other.parts):
            return all(left.within(right) for left, right in zip(self.parts, other.parts, strict=True))
        return self.name == "Any" or (self.name, other.name) == ("bool", "int")


_ANY = _Shape("Any")
_PLAIN = (bool, int, str, float)  # bool first, because it is an int, too


def _shape(obj: Any) -> _Shape:
    for kind in _PLAIN:
        if isinstance(obj, kind):
            return _Shape(kind.__name__)
    if isinstance(obj, list):
        return _Shape("List", (_covering(map(_shape, obj)),))
    if isinstance(obj, dict):
        return _Shape("Dict", (_covering(map(_shape, obj)), _covering(map(_shape, obj.values()))))
    if isinstance(obj, tuple):
        return _Shape("Tuple", tuple(map(_shape, obj)) or (_ANY,))
    return _ANY


def _covering(shapes: Iterable[_Shape]) -> _Shape:
    """Return the narrowest type that has all values of some."""
    kept: list[_Shape] = []
    for shape in dict.fromkeys(shapes):
        if not any(shape.within(other) for other in kept):
            kept = [other for other in kept if not other.within(shape)] + [shape]
    if len(kept) < len(("a", "union")):
        return kept[0] if kept else _ANY
    return _Shape("Union", tuple(sorted(kept, key=str)))


def infer_type_string(obj: Any) -> str:
    """Return the text of the type of a value: ``List[Union[int,str]]`` for ``[1, "a"]``."""
    return str(_shape(obj))


def infer_type(obj: Any) -> Any:
    """Return the type of a value."""
    return parse_type_string(infer_type_string(obj))


def to_float_or_default(v: Any, failure_default: float | None = 0) -> Any:
    """Return a value as a number, or the default; without one, what ``float`` raises."""
    try:
        return float(v)
    except (TypeError, ValueError):
        if failure_default is None:
            raise
        return failure_default


def verify_required_schema(
    required_schema_dict: Mapping[str, Any],
    input_dict: Mapping[str, Any],
    class_name: str = "schema",
    id: str | None = "",  # noqa: A002 - the name that programs may give
    description: str | None = "",
) -> None:
    """Check that a row has all fields of a schema, with values of their types.

    Raises:
        MissingSchemaFieldError: It lacks one.
        DataError: A value is of another type.
    """
    about = f"{class_name} ('{id}'){': ' * bool(description)}{description or ''}"
    for name, kind in required_schema_dict.items():
        if name not in input_dict:
            raise MissingSchemaFieldError(f"{about} expects a field '{name}'", why=f"there are {list(input_dict)}")
        if not is_of_type(input_dict[name], kind):
            what = f"Passed value '{input_dict[name]}' of field '{name}' is not of required type: ({strtype(kind)})"
            raise DataError(what, why=about)


class MissingSchemaFieldError(DataError, KeyError):
    """A row without a field of its schema."""

    __str__ = DataError.__str__


# -- subtypes -----------------------------------------------------------------------------------------------------

BUILTINS_MAPPING: dict[Any, Any] = {
    typing.List: list,  # noqa: UP006 - the spellings that are mapped
    typing.Set: set,  # noqa: UP006
    typing.Dict: dict,  # noqa: UP006
    typing.Tuple: tuple,  # noqa: UP006
    typing.Callable: collections.abc.Callable,
    typing.Sequence: collections.abc.Sequence,
    NoneType: None,
}
"""Generics in the module ``typing``, with the classes that they stand for."""
STATIC_SUBTYPE_MAPPING: dict[type, Any] = {
    io.TextIOWrapper: typing.TextIO,
    io.TextIOBase: typing.TextIO,
    io.StringIO: typing.TextIO,
    io.BufferedReader: typing.BinaryIO,
    io.BufferedWriter: typing.BinaryIO,
    io.BytesIO: typing.BinaryIO,
}
"""Classes of files, with the types that they have."""


def optional_all(elements: Iterable[bool | None]) -> bool | None:
    """Return whether all are true; ``None`` where that is unknown."""
    found = list(elements)
    return True if all(found) else False if all(each is False for each in found) else None


def optional_any(elements: Iterable[bool | None]) -> bool | None:
    """Return whether one is true; ``None`` where that is unknown."""
    found = list(elements)
    return True if any(found) else None if any(each is None for each in found) else False


def get_origin(type_: Any) -> Any:
    """Return the class behind a generic; a class itself."""
    found = typing.get_origin(type_)
    if found is UnionType:
        return Union
    return BUILTINS_MAPPING.get(type_, type_) if found is None else found


def get_args(type_: Any) -> tuple[Any, ...]:
    """Return the arguments of a generic."""
    return typing.get_args(type_)


def eval_forward_ref(ref: Any, forward_refs: Mapping[str, Any] | None = None) -> Any:
    """Return the type that a name stands for.

    Raises:
        NameError: No type has the name.
    """
    name = getattr(ref, "__forward_arg__", ref)
    known = {**BUILTINS_MAPPING, **(forward_refs or {})}
    if name in known:
        return known[name]
    try:
        return parsed(name)
    except ArtifactError as error:
        raise NameError(f"no type has the name '{name}'", name=str(name)) from error


def issubtype(left: Any, right: Any, forward_refs: Mapping[str, Any] | None = None) -> bool:
    """Whether every value of one type is one of the other: a union's members each, a generic's arguments too.

    Args:
        left: The narrower type.
        right: The wider one.
        forward_refs: Types by the names under which they stand in others.
    """

    def within(one: Any, other: Any) -> bool:
        return issubtype(one, other, forward_refs)

    left, right = (_known(each, forward_refs) for each in (left, right))
    if right in (Any, object) or left == right:
        return True
    if get_origin(left) is Union:
        return all(within(each, right) for each in get_args(left))
    if get_origin(right) is Union:
        return any(within(left, each) for each in get_args(right))
    if get_origin(left) is Literal or get_origin(right) is Literal:
        return _literals(left, right)
    return _origins(left, right) and _arguments(left, right, within)


def _known(kind: Any, forward_refs: Mapping[str, Any] | None) -> Any:
    if isinstance(kind, (str, typing.ForwardRef)):
        return eval_forward_ref(kind, forward_refs)
    return NoneType if kind is None else kind


def _literals(left: Any, right: Any) -> bool:
    if get_origin(left) is not Literal:
        return False
    if get_origin(right) is Literal:
        return set(get_args(left)) <= set(get_args(right))
    return all(isinstance(value, get_origin(right)) for value in get_args(left))


def _origins(left: Any, right: Any) -> bool:
    one, other = get_origin(left), get_origin(right)
    if one in STATIC_SUBTYPE_MAPPING and STATIC_SUBTYPE_MAPPING[one] is other:
        return True
    if not (isinstance(one, type) and isinstance(other, type)):
        return bool(one == other)
    try:
        return issubclass(one, other)
    except TypeError:  # protocols and typed dicts have no subclasses
        return one is other


def _arguments(left: Any, right: Any, within: typing.Callable[[Any, Any], bool]) -> bool:
    ours, theirs = get_args(left), get_args(right)
    if not theirs:
        return True
    if not ours:
        return all(each in (Any, object) for each in theirs)
    if theirs[-1] is Ellipsis:
        return all(within(each, theirs[0]) for each in ours if each is not Ellipsis)
    return len(ours) == len(theirs) and all(within(*pair) for pair in zip(ours, theirs, strict=True))
