"""Reading task files: YAML whose tags do nothing, and ``include``.

``!function module.name`` becomes a :class:`FunctionReference`, a value that knows where it stands. Reading never runs
code. YAML 1.1 rules apply, as lm-eval reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from proctor import effects
from proctor.errors import DataError, Diagnostic, Location, NotAllowedError, ProctorError, did_you_mean
from proctor.foreign_text import read_source
from proctor.foreign_yaml import MOST_BYTES, BoundedLoader, compose_yaml, yaml_fault

BUILT_IN_INCLUDES: dict[str, dict[str, Any]] = {"unitxt": {}}
"""Includes that mean something of ours where no such file exists (``include: unitxt`` beside ``recipe:``)."""

NOT_INHERITED = ("task_list",)
"""Keys that say something about the included file only."""


class TaskFileError(DataError):
    """A task file that cannot be read."""


@dataclass(frozen=True, slots=True)
class FunctionReference:
    """A reference ``!function utils.process_docs``; nothing is imported.

    Attributes:
        name: The words behind the tag: dotted module path, then the function.
        location: Where the tag stands. The module is looked for beside that file.
        given: What the function gets beside the document, where a task of lmms-eval says so.
    """

    name: str
    location: Location
    given: Mapping[str, Any] | None = field(default=None, compare=False)

    @property
    def folder(self) -> Path:
        """The folder of the file that holds the tag."""
        return Path(self.location.file).parent

    @property
    def module(self) -> str:
        """The module: a dotted name, or a path as in ``../shared/utils``."""
        return self.name.rpartition(".")[0]

    @property
    def file(self) -> Path:
        """The file beside the one that holds the tag that the module would be, whether it is there or not."""
        return self.folder / f"{self.module if '/' in self.module else self.module.replace('.', '/')}.py"

    def __str__(self) -> str:
        return f"!function {self.name}"


@dataclass(frozen=True, slots=True)
class UnknownTag:
    """A value with a YAML tag that means nothing here."""

    tag: str
    value: str
    location: Location


def _location(loader: Any, node: yaml.Node) -> Location:
    mark = node.start_mark
    return Location(loader.proctor_file, mark.line + 1, mark.column + 1)


def _function(loader: Any, node: yaml.Node) -> FunctionReference:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.constructor.ConstructorError(None, None, "!function names a function", node.start_mark)
    return FunctionReference(node.value, _location(loader, node))


def _unknown_tag(loader: Any, suffix: str, node: yaml.Node) -> UnknownTag:
    value = node.value if isinstance(node, yaml.ScalarNode) else f"<{len(node.value)} parts>"
    return UnknownTag(f"!{suffix}", value, _location(loader, node))


class TaskLoader(BoundedLoader):
    """A safe loader in which every tag of its own is inert, and that takes no longer than honest files need."""

    proctor_file = ""


yaml.add_constructor("!function", _function, Loader=TaskLoader)
yaml.add_multi_constructor("!", _unknown_tag, Loader=TaskLoader)


def parse(content: bytes, file: str) -> Any:
    """Return what a task file says.

    Raises:
        TaskFileError: The content is not YAML; with line and column.
    """
    loader = None
    try:
        loader = TaskLoader(content)
        loader.proctor_file = file
        return loader.get_single_data()
    except yaml.YAMLError as error:
        place, why, hint = yaml_fault(error, file)
        raise TaskFileError("this is not valid YAML", location=place, why=why, hint=hint) from None
    except UnicodeDecodeError as error:
        raise TaskFileError("this is not valid YAML", location=Location(file), why=str(error)) from None
    finally:
        if loader is not None:
            loader.dispose()


def key_locations(content: bytes, file: str) -> dict[str, Location]:
    """Return where each key stands, by its path (``metric_list[0].metric``); a second parse, for errors only."""
    try:
        node = compose_yaml(content)
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return dict(_walk(node, "", file)) if node is not None else {}


def repeated_keys(content: bytes, file: str) -> Iterator[tuple[str, Location]]:
    """Yield keys that one mapping has twice, by their paths, and where they stand again: YAML keeps the last."""
    seen: dict[str, Location] = {}
    again = ""
    try:
        node = compose_yaml(content)
    except (yaml.YAMLError, UnicodeDecodeError):
        return
    for path, place in _walk(node, "", file) if node is not None else ():
        if again and path.startswith((f"{again}.", f"{again}[")):
            continue  # what is in it is there again because it is
        again = ""
        if path in seen and not path.endswith(("?", "<<", "]")) and place != seen[path]:
            again = path
            yield path, place
        seen[path] = place


def _walk(node: yaml.Node, path: str, file: str) -> Iterator[tuple[str, Location]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            inner = f"{path}.{name}" if path else name
            yield inner, Location(file, key.start_mark.line + 1, key.start_mark.column + 1)
            yield from _walk(value, inner, file)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            inner = f"{path}[{number}]"
            yield inner, Location(file, value.start_mark.line + 1, value.start_mark.column + 1)
            yield from _walk(value, inner, file)


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task file with everything it includes.

    Attributes:
        path: The file that was asked for.
        values: The merged keys. Shared between readers of the same base: never change them.
        files: Every file that was read, the one that wins first.
        own: The keys that the file itself sets.
        disputed: Keys that it leaves to files which it includes beside each other, and which say different things.
    """

    path: str
    values: Mapping[str, Any]
    files: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()

    def location(self, path: str, item: str = "") -> Location:
        """Return where a key (``metric_list[0].metric``) is set, looking in the file itself and then in its bases.

        Args:
            path: The key.
            item: The entry of a list or the child that has it, or has it from what is around it.
        """
        parts = path
        if item:
            places = key_locations(_read_bytes(self.path, None), self.path)
            parts = path if path in places and f"{item}.{path}" not in places else f"{item}.{path}"
        while parts:
            for file in self.files:
                found = key_locations(_read_bytes(file, None), file).get(parts)
                if found is not None:
                    return found
            parts = parts[: max(parts.rfind("."), parts.rfind("["), 0)]
        return Location(self.path)


def _as_now(values: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a file with ``group`` of a single task, as before lm-eval 0.4.4, read as tags."""
    if "group" not in values or "children" in values or not isinstance(values.get("task"), str):
        return values
    from proctor.dialects.lm_eval.index import tag_names

    tags = dict.fromkeys((*tag_names(values.get("tag")), *tag_names(values["group"])))
    return {**{key: each for key, each in values.items() if key != "group"}, "tag": list(tags)}


def repeated_children(read: TaskFile) -> Iterator[Diagnostic]:
    """Yield children of a group that have a name that another child before them has."""
    if "children" not in read.own:
        return
    for path, place in repeated_keys(_read_bytes(read.path, None), read.path):
        if path.startswith("children."):
            yield Diagnostic(
                f"the child '{path.rpartition('.')[2]}' is there twice", place, f"$.{path}", hint="rename one"
            )


def _read_bytes(path: str, asked_by: Location | None) -> bytes:
    try:
        return read_source(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        file = f"the {'task' if asked_by is None else 'included'} file '{path}'"
        what = f"{file} is missing" if isinstance(error, FileNotFoundError) and asked_by else f"{file} cannot be read"
        neighbours = [each.name for each in islice(_beside(path), _MOST_NEIGHBOURS)]
        hint = (
            did_you_mean(Path(path).name, neighbours) or "an include is looked for relative to the file that names it"
        )
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise TaskFileError(what, location=asked_by, why=why, hint=hint) from None


_MOST_NEIGHBOURS = 1_000
"""Files of a folder among which a mistyped name is looked for."""


def _beside(path: str) -> Iterator[Path]:
    try:
        yield from (each for each in Path(path).parent.glob("*") if each.is_file())
    except (OSError, ValueError):  # a folder that cannot be read, a name that no file can have
        return


class TaskReader:
    """Reads task files; each base is parsed once, however many files include it.

    Args:
        roots: Folders of task files that the user named: files below them include each other freely.

    Attributes:
        roots: These folders, each with a slash at its end.
        tried: The included files that the last :meth:`read` looked at, missing ones too.
    """

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self.roots = [f"{root}/" for root in roots]
        self._bases: dict[str, TaskFile] = {}
        self.tried: list[str] = []

    def read(self, path: str | Path) -> TaskFile:
        """Return a file with its includes merged in: shallow, later includes win over earlier, local keys over all.

        Raises:
            TaskFileError: A file is missing, no YAML, or no mapping, or the includes lead in a circle.
        """
        self.tried = []
        return self._read(_absolute(str(path)), (), None)

    def read_bytes(self, path: str, content: bytes) -> TaskFile:
        """Like :meth:`read`, for a file whose content is at hand."""
        return self._merge(path, content, ())

    def _read(self, path: str, below: tuple[str, ...], asked_by: Location | None) -> TaskFile:
        if path in below:
            circle = " → ".join(Path(each).name for each in (*below[below.index(path) :], path))
            raise TaskFileError("the includes lead in a circle", location=asked_by, why=circle)
        if below:
            self.tried.append(path)
        known = self._bases.get(path)
        if known is None:
            known = self._merge(path, _read_bytes(path, asked_by), below)
            if below:
                self._bases[path] = known
        return known

    def _merge(self, path: str, content: bytes, below: tuple[str, ...]) -> TaskFile:
        own = parse(content, path)
        if not isinstance(own, dict):
            raise TaskFileError(
                "a task file is a mapping of keys", location=Location(path), why=f"this is a {type(own).__name__}",
                hint="write task: NAME, dataset_path: …; a table of questions is a .csv or .jsonl file",
            )  # fmt: skip
        includes = own.pop("include", None)
        if includes is None:
            return TaskFile(path, _as_now(own), (path,), frozenset(own))
        merged: dict[str, Any] = {}
        files: list[str] = []
        disputed: set[str] = set()
        for name in includes if isinstance(includes, list) else [includes]:
            base = self._include(name, path, content, (*below, path))
            if base is not None:
                disputed |= base.disputed
                disputed |= {key for key, value in base.values.items() if merged.get(key, value) != value}
                merged.update((key, value) for key, value in base.values.items() if key not in NOT_INHERITED)
                files[:0] = base.files
        merged.update(own)
        return TaskFile(path, _as_now(merged), (path, *files), frozenset(own), frozenset(disputed - own.keys()))

    def _include(self, name: object, path: str, content: bytes, below: tuple[str, ...]) -> TaskFile | None:
        folder = path.rpartition("/")[0]
        target = _absolute(name if str(name).startswith("/") else f"{folder}/{name}") if isinstance(name, str) else ""
        try:
            if not target:
                return _refuse_include(name)
            self._check_include(target, below)
            return self._read(target, below, Location(path))
        except ProctorError as error:
            if isinstance(name, str) and name in BUILT_IN_INCLUDES and not Path(target).exists():
                return TaskFile(name, BUILT_IN_INCLUDES[name], ())
            if error.diagnostics[0].location == Location(path):
                place = key_locations(content, path).get("include", Location(path))
                first = error.diagnostics[0]
                raise type(error)(first.what, location=place, why=first.why, hint=first.hint) from None
            raise

    def _check_include(self, target: str, below: tuple[str, ...]) -> None:
        """Let files include others of their tree of tasks, of their own folder, and of that of the outermost file."""
        path = below[-1]
        if any(path.startswith(root) and target.startswith(root) for root in self.roots):
            return
        authors = [effects.author_of_file(each) for each in dict.fromkeys((path, below[0]))]
        wanted = [effects.reading(target, who, "include") for who in authors]
        try:
            effects.require(wanted[0] if all(wanted) else [], authors[0])
        except NotAllowedError as error:
            first = error.diagnostics[0]
            raise NotAllowedError(
                first.what,
                location=Location(path),
                why="a task file includes files of its own folder and of the tree of tasks that you name",
                hint=f"--include-path names a tree of tasks; or {first.hint}",
            ) from None


def _refuse_include(name: object) -> TaskFile:
    raise TaskFileError(f"include names files, not {name!r}", hint="write a file name or a list of file names")


def _absolute(path: str) -> str:
    if "//" in path or "/." in path or "~" in path or not path.startswith("/"):
        return str(Path(path).expanduser().resolve())
    return path
