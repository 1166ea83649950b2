"""Nested fields: ``a/0/b`` reaches into dicts and lists, ``a/*/b`` into each member.

A path is compiled once. Reading never copies; writing and deleting copy the containers along the path, so a value
that two rows or two fields share is never changed under the other. A row that has the whole path as a literal key
(``"a/b"``) means that key.

Grammar: components joined by ``/``; a component is a name (word characters, blanks, dots, dashes), an index into a
list, or ``*``. A leading ``/`` is ignored, a trailing one means ``/*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from proctor.errors import DataError, MissingFieldError, did_you_mean

Row = dict[str, Any]

_INDEX = re.compile(r"-?\d+")
_NAME = re.compile(r"[\w. -]+")


class _Missing:
    """The value of a field that is not there; falsy, so that it cannot be taken for data."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


@lru_cache(maxsize=8192)
def split_path(path: str) -> tuple[str, ...]:
    """Return the components of a path.

    Raises:
        DataError: The path is empty or a component is not a name, index or ``*``.
    """
    text = path.replace("//", "/").strip().removeprefix("/")
    parts = tuple(part.strip() for part in (text + "*" if text.endswith("/") else text).split("/"))
    for part in parts:
        if part != "*" and not _NAME.fullmatch(part):
            raise DataError(f"'{path}' is not a field path", why=f"'{part}' is not a name, index or '*'")
    return parts


def is_subpath(inner: str, outer: str) -> bool:
    """Whether ``outer`` starts with all components of ``inner``."""
    head = split_path(inner)
    return split_path(outer)[: len(head)] == head


def _key(component: str) -> str | int:
    return int(component) if _INDEX.fullmatch(component) else component


# -- reading --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def finder(path: str) -> Callable[[Any], Any]:
    """Return a function that reads a path of a row, and returns :data:`MISSING` where there is nothing.

    A path with ``*`` reads a list of all that it matches.
    """
    literal = path.strip()
    if not literal:
        return lambda row: row
    parts = split_path(path)
    if len(parts) == 1:
        return _plain_finder(literal, parts[0])
    if "*" not in parts:
        return _path_finder(literal, tuple(map(_key, parts)))
    keys = tuple(map(_key, parts))

    def find(row: Any) -> Any:
        if isinstance(row, dict) and literal in row:
            return row[literal]
        return _find_all(row, keys, 0)

    return find


def _plain_finder(literal: str, name: str) -> Callable[[Any], Any]:
    if literal == name:
        return lambda row: row.get(name, MISSING) if isinstance(row, dict) else MISSING
    return lambda row: row.get(literal, row.get(name, MISSING)) if isinstance(row, dict) else MISSING


def _path_finder(literal: str, keys: tuple[str | int, ...]) -> Callable[[Any], Any]:
    def find(row: Any) -> Any:
        if isinstance(row, dict) and literal in row:
            return row[literal]
        for key in keys:
            row = _member(row, key)
            if row is MISSING:
                return MISSING
        return row

    return find


def _member(container: Any, key: str | int) -> Any:
    try:
        return container[key]
    except (KeyError, IndexError, TypeError, AttributeError):
        return MISSING


def _find_all(current: Any, keys: tuple[str | int, ...], depth: int) -> Any:
    if depth == len(keys):
        return current
    if keys[depth] != "*":
        member = _member(current, keys[depth])
        return MISSING if member is MISSING else _find_all(member, keys, depth + 1)
    if not isinstance(current, (list, dict)):
        return MISSING
    members = current.values() if isinstance(current, dict) else current
    found = [each for member in members if (each := _find_all(member, keys, depth + 1)) is not MISSING]
    return found if found or depth == len(keys) - 1 else MISSING


@lru_cache(maxsize=8192)
def getter(path: str) -> Callable[[Any], Any]:
    """Return a function that reads a path of a row.

    Raises (the function):
        MissingFieldError: The row has no such field; the message lists those it has.
    """
    find = finder(path)

    def get(row: Any) -> Any:
        value = find(row)
        if value is MISSING:
            raise missing_field(path, row)
        return value

    return get


def missing_field(path: str, row: Any) -> MissingFieldError:
    """Return the error for a field that a row does not have."""
    names = [str(name) for name in row] if isinstance(row, dict) else []
    has = f"it has {', '.join(names)}" if names else f"it is a {type(row).__name__}"
    return MissingFieldError(f"the row has no field '{path}'", why=has, hint=did_you_mean(path, names))


def get_field(row: Any, path: str, default: Any = MISSING) -> Any:
    """Return a field of a row, or ``default`` where one is given and there is nothing.

    Raises:
        MissingFieldError: There is nothing and no default.
    """
    value = finder(path)(row)
    if value is not MISSING:
        return value
    if default is MISSING:
        raise missing_field(path, row)
    return default


# -- writing --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def setter(path: str, create: bool = True, each: bool = False) -> Callable[[Any, Any], None]:
    """Return a function that writes a value to a path of a row.

    Containers on the way are made where ``create`` is on (lists for indexes and ``*``, dicts for names).

    Args:
        path: Where to write; the empty path replaces the whole row.
        create: Make what is missing; without it a missing path is an error.
        each: The value is a list with one member for each match of the first ``*``.
    """
    literal = path.strip()
    if not literal:
        return _replace_row
    parts = split_path(path)
    if len(parts) == 1 and create and parts[0] == literal and literal != "*" and not _INDEX.fullmatch(literal):
        return lambda row, value: row.__setitem__(literal, value)
    keys = tuple(map(_key, parts))

    def write(row: Any, value: Any) -> None:
        if isinstance(row, dict) and literal in row:
            row[literal] = value
            return
        if each and not (isinstance(value, list) and value):
            raise DataError(f"'{path}' cannot be set to each of {value!r}", why="a list with members is needed")
        updated = _written(row, keys, 0, value, create, each)
        if updated is MISSING:
            raise missing_field(path, row)
        _replace_row(row, updated)

    return write


def set_field(row: Any, path: str, value: Any) -> None:
    """Write a value to a path of a row, making containers that are missing."""
    setter(path)(row, value)


def _replace_row(row: Any, value: Any) -> None:
    if row is value:
        return
    if not isinstance(value, type(row)) or not isinstance(row, (dict, list)):
        raise DataError(
            f"a {type(value).__name__} cannot replace a whole row", why=f"the row is a {type(row).__name__}"
        )
    row.clear()
    row.update(value) if isinstance(row, dict) else row.extend(value)


def _written(current: Any, keys: tuple[str | int, ...], depth: int, value: Any, create: bool, each: bool) -> Any:  # noqa: C901, PLR0911, PLR0912 - the cases of the grammar
    """Return ``current`` with the value written below it, as a new container; MISSING where that cannot be."""
    if depth == len(keys):
        return value
    if not isinstance(current, (list, dict)):
        current = None
    if current is None and not create:
        return MISSING
    key = keys[depth]
    if key == "*":
        return _written_everywhere(current, keys, depth, value, create, each)
    if isinstance(key, int):
        if not isinstance(current, list):
            if not create:
                return MISSING
            current = []
        if key >= len(current) and not create:
            return MISSING
        copy: Any = [*current, *[None] * (key + 1 - len(current))]
        if key < -len(copy):
            return MISSING
        member = copy[key]
    else:
        if not isinstance(current, dict):
            if not create:
                return MISSING
            current = {}
        if key not in current and not create:
            return MISSING
        copy = dict(current)
        member = copy.get(key)
    member = _written(member, keys, depth + 1, value, create, each)
    if member is MISSING:
        return MISSING
    copy[key] = member
    return copy


def _written_everywhere(
    current: Any, keys: tuple[str | int, ...], depth: int, value: Any, create: bool, each: bool
) -> Any:
    last = depth == len(keys) - 1
    if current is not None and each:
        if (len(current) != len(value)) if isinstance(current, dict) else (len(current) > len(value)):
            return MISSING
        if len(current) < len(value):
            if not create:
                return MISSING
            current = [*current, *[None] * (len(value) - len(current))]
    if current is None or current == []:
        count = len(value) if each else int(not isinstance(value, list) or len(value) > 0 or not last)
        current = [None] * count
    copy = dict(current) if isinstance(current, dict) else list(current)
    names: Any = sorted(copy) if isinstance(copy, dict) else range(len(copy))
    reached = not names and last
    for i, name in enumerate(names):
        member = _written(copy[name], keys, depth + 1, value[i] if each else value, create, False)
        if member is not MISSING:
            reached = True
            copy[name] = member
    return copy if reached else MISSING


# -- deleting -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def deleter(path: str, missing_ok: bool = False, prune: bool = False) -> Callable[[Any], None]:
    """Return a function that removes what a path matches from a row.

    Args:
        path: What to remove.
        missing_ok: Do nothing where there is nothing, instead of raising :class:`MissingFieldError`.
        prune: Remove containers that become empty, too.
    """
    literal = path.strip()
    keys = tuple(map(_key, split_path(path)))

    def delete(row: Any) -> None:
        if isinstance(row, dict) and literal in row:
            del row[literal]
            return
        updated = _without(row, keys, 0, prune)
        if updated is not MISSING:
            _replace_row(row, updated)
        elif not missing_ok:
            raise missing_field(path, row)

    return delete


def delete_field(row: Any, path: str, missing_ok: bool = False) -> None:
    """Remove a field from a row."""
    deleter(path, missing_ok)(row)


def _without(current: Any, keys: tuple[str | int, ...], depth: int, prune: bool) -> Any:  # noqa: PLR0911 - the cases of the grammar
    key, last = keys[depth], depth == len(keys) - 1
    if not isinstance(current, (list, dict)):
        return MISSING
    if last and key == "*":
        return [] if isinstance(current, list) else {}
    copy: Any = dict(current) if isinstance(current, dict) else list(current)
    if last:
        if _member(copy, key) is MISSING:
            return MISSING
        del copy[key]
        return copy
    if key == "*":
        return _without_everywhere(copy, keys, depth, prune)
    inner = _without(_member(copy, key), keys, depth + 1, prune)
    if inner is MISSING:
        return MISSING
    if prune and not inner:
        del copy[key]
    else:
        copy[key] = inner
    return copy


def _without_everywhere(copy: Any, keys: tuple[str | int, ...], depth: int, prune: bool) -> Any:
    reached = False
    names = list(copy) if isinstance(copy, dict) else range(len(copy))
    for name in reversed(names):
        inner = _without(copy[name], keys, depth + 1, prune)
        if inner is MISSING:
            continue
        reached = True
        if prune and not inner:
            del copy[name]
        else:
            copy[name] = inner
    return copy if reached else MISSING
