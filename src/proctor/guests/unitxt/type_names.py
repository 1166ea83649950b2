"""Types from texts and texts of types, with the errors that Unitxt's programs catch."""

from __future__ import annotations

import ast
import typing
from types import UnionType
from typing import Any, Literal, NewType

from proctor.artifacts.types import UnsupportedTypeError
from proctor.artifacts.types import parse_type_string as parsed
from proctor.artifacts.types import to_type_string as written
from proctor.errors import ArtifactError

Type = typing.Any


class TypeTextSyntaxError(ArtifactError, SyntaxError):
    """A text that is not Python's spelling of anything."""


class TypeTextError(ArtifactError, TypeError):
    """A text that spells no type."""


def is_type(object: Any) -> bool:  # noqa: A002
    """Whether something is a type: a class, a generic, a ``Literal``, a ``TypedDict`` or a ``NewType``."""
    if object in (type, Any, Literal):
        return True
    return isinstance(object, (type, UnionType)) or typing.get_origin(object) is not None or isinstance(object, NewType)


# -- texts --------------------------------------------------------------------------------------------------------


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
