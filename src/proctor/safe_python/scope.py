"""Names: which file or row they belong to, and which function they are local to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from proctor.errors import Location
from proctor.safe_python.budget import Budget, RefusalError

Function = ast.FunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class SourceFile:
    """One file while it is read.

    Attributes:
        path: The file, absolute.
        text: Its source.
        folder: What ``open`` may read: files in this folder and below.
        readable: Environment variables that it may read.
        names: Its top-level names; what ``locals()`` and ``globals()`` give.
        imported: Names that an import statement bound.
        files: Other files it read.
        variables: Environment variables it asked for.
        tree: Its syntax tree, once parsed.
        defines_functions: Whether it made any function, whose calls could change what it holds.
    """

    def __init__(self, path: Path, text: str, folder: Path, readable: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.text = text
        self.folder = folder
        self.readable = readable
        self.names: dict[str, Any] = {"__file__": str(path)}
        self.imported: set[str] = set()
        self.files: list[Path] = []
        self.variables: dict[str, str | None] = {}
        self.tree: ast.Module | None = None
        self.defines_functions = False
        self._file = str(path)

    @cached_property
    def _lines(self) -> list[bytes] | None:
        return None if self.text.isascii() else self.text.encode().splitlines()

    def location(self, node: ast.AST) -> Location:
        """Return the location of a node; columns count characters."""
        line = getattr(node, "lineno", 0)
        offset = getattr(node, "col_offset", -1)
        if self._lines is not None and offset > 0 and 0 < line <= len(self._lines):
            offset = len(self._lines[line - 1][:offset].decode(errors="replace"))
        return Location(self._file, line, offset + 1)


class Frame:
    """The names that an expression sees.

    What most frames do not need is an attribute of the class, so that a frame for each row costs little.

    Attributes:
        names: Values of the names of this scope: of the file, a function or a comprehension; or the row.
        budget: What the work may still cost.
        parent: The scope around it; ``None`` for the file or row itself.
        module: The file that the code stands in; ``None`` for expressions over rows.
        owned: Names that are local to a function, bound or not.
        shared: Names that ``global`` or ``nonlocal`` declares: the frame that holds each.
        comprehension: Whether this is the scope of a comprehension, which ``:=`` reaches through.
        depth: How many calls surround it.
    """

    module: SourceFile | None = None
    owned: frozenset[str] = frozenset()
    shared: Mapping[str, Frame] = MappingProxyType({})
    comprehension = False
    depth = 0

    def __init__(self, names: Any, budget: Budget, parent: Frame | None = None) -> None:
        self.names = names
        self.budget = budget
        self.parent = parent

    @classmethod
    def of_file(cls, module: SourceFile, budget: Budget) -> Frame:
        """Return the frame of a file."""
        frame = cls(module.names, budget)
        frame.module = module
        return frame

    def inner(self, names: dict[str, Any], budget: Budget, owned: frozenset[str]) -> Frame:
        """Return the frame of a function or comprehension that stands in this one."""
        frame = Frame(names, budget, self)
        frame.module = self.module
        frame.owned = owned
        return frame

    @property
    def source(self) -> SourceFile:
        """The file that the code stands in.

        Raises:
            RefusalError: It stands in none.
        """
        if self.module is None:
            raise RefusalError("looks at a file, and there is none around it")
        return self.module

    @property
    def outermost(self) -> Frame:
        """The frame of the file."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def find(self, name: str) -> Frame | None:
        """Return the frame that binds a name; ``None`` where none does.

        Raises:
            UnboundLocalError: A function reads its local name before it has a value.
        """
        frame: Frame | None = self
        while frame is not None:
            if name in frame.shared:
                shared = frame.shared[name]
                return shared if name in shared.names else None
            if name in frame.names:
                return frame
            if name in frame.owned:
                raise UnboundLocalError(
                    f"cannot access local variable '{name}' where it is not associated with a value"
                )
            frame = frame.parent
        return None

    def bind(self, name: str, value: Any) -> None:
        """Give a name of this scope a value."""
        frame = self.shared.get(name)
        (self if frame is None else frame).names[name] = value

    def unbind(self, name: str) -> None:
        """Forget a name of this scope.

        Raises:
            NameError: It has no value.
        """
        names = self.shared.get(name, self).names
        if name not in names:
            if name in self.owned:
                raise UnboundLocalError(
                    f"cannot access local variable '{name}' where it is not associated with a value"
                )
            raise NameError(f"name '{name}' is not defined")
        del names[name]

    def beyond_comprehensions(self) -> Frame:
        """Return the frame that ``:=`` binds in."""
        frame = self
        while frame.comprehension and frame.parent is not None:
            frame = frame.parent
        return frame


def local_names(function: Function) -> frozenset[str]:
    """Return the names that are local to a function: parameters, and what it binds anywhere and does not share."""
    signature = function.args
    every = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs, signature.vararg, signature.kwarg]
    names = {argument.arg for argument in every if argument is not None}
    shared: set[str] = set()
    body = function.body if isinstance(function.body, list) else [function.body]
    for node in _own_nodes(body):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            shared.update(node.names)
        else:
            names.update(_bound(node))
    return frozenset(names - shared)


def _own_nodes(body: list[Any]) -> Iterator[ast.AST]:
    """Yield the nodes of a function that bind in its own scope: not those of inner functions and comprehensions."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while waiting:
        node, inside = waiting.pop()
        if not inside or isinstance(node, ast.NamedExpr):
            yield node
        if isinstance(node, _SCOPES):
            continue
        inner = inside or isinstance(node, _COMPREHENSIONS)
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def share(frame: Frame, statement: ast.Global | ast.Nonlocal) -> None:
    """Let a function bind names of the file (``global``) or of the functions around it (``nonlocal``)."""
    shared = frame.shared = dict(frame.shared)
    for name in statement.names:
        if isinstance(statement, ast.Global):
            shared[name] = frame.outermost
            continue
        holder = frame.parent
        while holder is not None and not (holder.parent is not None and name in holder.owned):
            holder = holder.parent
        if holder is None:
            raise RefusalError(f"declares '{name}' nonlocal, but no function around it has the name")
        shared[name] = holder
