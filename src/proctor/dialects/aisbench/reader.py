"""Reads a config of OpenCompass or AISBench without running it.

The rules are mmengine's: a file that imports anything, or has ``with read_base():``, binds the names of its base files
first, each value a fresh copy; a file without imports may name old-style bases in ``_base_``, whose dictionaries are
merged (``_delete_`` replaces), and has ``{{ fileDirname }}`` and its like filled in.
"""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.exporting import data_names, exported, merged, with_registered
from proctor.dialects.aisbench.sources import (
    absolute,
    base_names,
    base_path,
    is_lazy,
    named_stamp,
    nested_too_deeply,
    parsed,
    readable_folder,
    source_of,
)
from proctor.dialects.aisbench.values import ConfigDict, ConfigFileError, InheritedDict
from proctor.errors import Diagnostic, Location, ProctorError, TrustError, did_you_mean
from proctor.lazy import Deferred
from proctor.safe_files import Stamp, is_unchanged
from proctor.safe_python.budget import Budget, RefusalError, check_length
from proctor.safe_python.constructs import refused_constructs
from proctor.safe_python.containers import imported
from proctor.safe_python.files import variable
from proctor.safe_python.scope import SourceFile
from proctor.safe_python.statements import BASE_KEY, Interpreter, is_read_base
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.dialects.aisbench import trusted
else:
    trusted = Deferred("proctor.dialects.aisbench.trusted")

MAX_FILES = 5_000
"""Files that one read may open, bases included: more than the largest collections import."""

MAX_DEPTH = 50
"""How long a chain of bases may be: real ones are a few long, and each needs frames of Python."""

VARIABLES = frozenset(
    {
        *("TOKENIZER_MODEL", "LMUData", "MMBENCH_SAMPLE_LIMIT", "MMMU_PRO_SAMPLE_LIMIT", "COMPASS_DATA_CACHE"),
        "DATASET_SOURCE",
    }
)
"""Environment variables whose value any config may read; ``PROCTOR_CONFIG_ENV`` names more, separated by commas."""

TRUST_HINT = "if you trust it, add --trust-code (or set PROCTOR_TRUST_CODE=1): the file is then run with Python"
_INSPECT_HINT = "tasks of inspect_ai are not read: write their samples as JSON lines; proctor import reads their logs"
_WHY = "configs are read without running code"

_Stamps = tuple[tuple[str, Stamp], ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """What a file gave.

    Attributes:
        names: Its top-level names, imported ones included.
        imported: Names that import statements bound, in the file or its bases.
        stamps: Files it depends on, with what tells a change.
        variables: Environment variables it depends on.
        reusable: Whether nothing in it can change: it made no function.
    """

    names: dict[str, Any]
    imported: frozenset[str]
    stamps: _Stamps
    variables: tuple[tuple[str, str | None], ...]
    reusable: bool


_known: dict[str, _Read] = {}
_KNOWN_LIMIT = 1_024  # files: the bases of a large collection, so that its configs read each base once


def read_config(path: Path | str, *, trust_code: bool | None = None) -> dict[str, Any]:
    """Return the top-level names of a config after reading it and its bases.

    Imported names, modules and the functions that the file defines are left out; a class that a value names is a
    :class:`Reference`.

    Args:
        path: The file.
        trust_code: Whether to run with Python what cannot be read without; ``settings.trust_code`` where not given.

    Raises:
        TrustError: The config does what reading it does not allow; every such place of the file is named.
        ConfigFileError: It is not Python, fails, or a base file is missing.
    """
    trust = bool(settings.trust_code) if trust_code is None else trust_code
    reading = _Reading(trust)
    try:
        read = reading.read(file := absolute(Path(path)), None)
        return with_registered(exported(read.names, read.imported, reading.budget), read.names, file)
    except RefusalError as refusal:
        raise _refused(None, Location(str(path)), refusal) from None
    except RecursionError:
        raise nested_too_deeply(str(path)) from None


def datasets_of(values: Mapping[str, Any]) -> list[ConfigDict]:
    """Return the datasets of a config: ``datasets``, or else every ``*_datasets`` list one after another, each once.

    Args:
        values: What :func:`read_config` returned.
    """
    if isinstance(values.get("datasets"), (list, tuple)):
        return _each_once([values["datasets"]])
    return _each_once(value for name, value in values.items() if name.endswith("_datasets"))


def models_of(values: Mapping[str, Any]) -> list[ConfigDict]:
    """Return the models of a config."""
    return _each_once([values.get("models")])


def summarizer_of(values: Mapping[str, Any]) -> ConfigDict | None:
    """Return the summarizer of a config; ``None`` where it has none."""
    summarizer = values.get("summarizer")
    return summarizer if isinstance(summarizer, ConfigDict) else None


def _each_once(lists: Iterable[Any]) -> list[ConfigDict]:
    found: list[ConfigDict] = []
    seen: dict[str, list[ConfigDict]] = {}
    for each in lists:
        for entry in each if isinstance(each, (list, tuple)) else [each]:
            if not isinstance(entry, ConfigDict):
                continue
            same = seen.setdefault(str(entry.get("abbr")), [])
            if entry not in same:
                same.append(entry)
                found.append(entry)
    return found


# -- reading ----------------------------------------------------------------------------------------------------------


class _Reading:
    """One call of :func:`read_config`: its budget, and the files it is in the middle of."""

    def __init__(self, trust: bool) -> None:
        self.budget = Budget()
        self._trust = trust
        self._open: list[Path] = []
        self._count = 0

    def read(self, path: Path, asked_by: Location | None, *, run: bool = False) -> _Read:
        """Return what a file gives, from memory where nothing it depends on has changed."""
        key = str(path)
        known = _known.get(key)
        if known is not None and not run and _unchanged(known):
            return known
        if path in self._open:
            circle = " → ".join(each.name for each in (*self._open[self._open.index(path) :], path))
            raise ConfigFileError("the base files lead in a circle", location=asked_by, why=circle)
        self._count += 1
        if self._count > MAX_FILES or len(self._open) > MAX_DEPTH:
            raise ConfigFileError("the config has too many base files", location=asked_by)
        self._open.append(path)
        try:
            read = self._fresh(path, asked_by, run=run)
        finally:
            self._open.pop()
        if read.reusable and not run:
            if len(_known) >= _KNOWN_LIMIT:
                del _known[next(iter(_known))]
            _known[key] = read
        return read

    def _fresh(self, path: Path, asked_by: Location | None, *, run: bool) -> _Read:
        started = time.thread_time()
        module = SourceFile(path, source_of(path, asked_by), readable_folder(path), VARIABLES)
        if not self._trust:
            _check_length(module)
        tree = module.tree = parsed(module)
        self.budget.extend(time.thread_time() - started)  # the budget is for what the file does, not for its length
        if not run:
            try:
                return self._interpreted(module, tree)
            except TrustError:
                if not self._trust:
                    raise
            module = SourceFile(path, module.text, module.folder, VARIABLES)
        return self._run(module, tree)

    def _interpreted(self, module: SourceFile, tree: ast.Module) -> _Read:
        machine = Interpreter(explained)
        try:
            bases, body = self._prepared(module, tree)
            machine.run(body, module, self.budget)
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - a refusal or a failure of the config, said with its place
            raise explained(machine, error, module) from None
        if BASE_KEY in module.names:
            module.names = merged(module.names.pop(BASE_KEY), module.names)
        return _result(module, bases, reusable=not module.defines_functions)

    def _prepared(self, module: SourceFile, tree: ast.Module) -> tuple[list[_Read], list[ast.stmt]]:
        if is_lazy(tree):
            return self._bases(module, tree, run=False)
        text = self._filled(module)
        return self._old_bases(module, tree if text == module.text else parsed(module, text))

    def _run(self, module: SourceFile, tree: ast.Module) -> _Read:
        bases, body = self._bases(module, tree, run=True)
        names = trusted.execute(module, body)
        module.names = names
        return _result(module, bases, reusable=False)

    # -- bases --------------------------------------------------------------------------------------------------------

    def _bases(self, module: SourceFile, tree: ast.Module, *, run: bool) -> tuple[list[_Read], list[ast.stmt]]:
        """Bind the names of base files; return the files and the statements that are left to run."""
        body: list[ast.stmt] = []
        bases: dict[str, _Read] = {}
        copies: dict[tuple[str, str], Any] = {}
        problems: list[Diagnostic] = []
        for statement in tree.body:
            for inner in statement.body if is_read_base(statement) else [statement]:
                if not isinstance(inner, ast.ImportFrom) or (inner is statement and not _takes_all(inner)):
                    body.append(inner)
                    continue
                try:
                    path = base_path(module, inner)
                    if str(path) not in bases:
                        bases[str(path)] = self.read(path, module.location(inner), run=run)
                    self._bind(module, inner, str(path), bases[str(path)], copies)
                except ConfigFileError as error:
                    problems.extend(error.diagnostics)
        if problems:
            raise ConfigFileError(list(dict.fromkeys(problems)))
        return [*bases.values()], body

    def _bind(
        self, module: SourceFile, node: ast.ImportFrom, path: str, base: _Read, copies: dict[tuple[str, str], Any]
    ) -> None:
        for alias in node.names:
            for name in base.names if alias.name == "*" else [alias.name]:
                if name.startswith("__") and alias.name == "*":
                    continue
                if name not in base.names:
                    known = ", ".join(sorted(data_names(base.names, base.imported)))
                    hint = did_you_mean(name, base.names) or f"it has {known}"
                    raise ConfigFileError(
                        f"'{Path(path).name}' has no name '{name}'", location=module.location(alias), hint=hint
                    )
                if (path, name) not in copies:
                    copies[path, name] = imported(base.names[name], self.budget)
                module.names[alias.asname or name] = copies[path, name]

    def _old_bases(self, module: SourceFile, tree: ast.Module) -> tuple[list[_Read], list[ast.stmt]]:
        """Read the files that ``_base_`` names; they stand under that name until the file has run."""
        body = []
        named: list[str] = []
        for statement in tree.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not (isinstance(statement, ast.Assign) and isinstance(target, ast.Name) and target.id == BASE_KEY):
                body.append(statement)
            elif not named:
                named = base_names(module, statement)
                place = module.location(statement)
        if not named:
            return [], body
        bases = []
        united = InheritedDict()
        for name in named:
            base = self.read(absolute(module.path.parent / name), place)
            own = {key: value for key, value in base.names.items() if key in data_names(base.names, base.imported)}
            if double := sorted(own.keys() & united.keys()):
                raise ConfigFileError(f"two bases have the name '{double[0]}'", location=place)
            united.update({key: imported(value, self.budget) for key, value in own.items()})
            bases.append(base)
        module.names[BASE_KEY] = united
        return bases, body

    def _filled(self, module: SourceFile) -> str:
        """Return the source with ``{{ fileDirname }}``, ``{{$VARIABLE:default}}`` and ``{{_base_.name}}`` filled in."""
        text = module.text
        if "{{" not in text:
            return text
        path = module.path
        fixed = {
            "fileDirname": str(path.parent),
            "fileBasename": path.name,
            "fileBasenameNoExtension": path.stem,
            "fileExtname": path.suffix,
        }
        for key, value in fixed.items():
            text = re.sub(r"\{\{\s*" + key + r"\s*\}\}", value.replace("\\", "/").replace("\\", r"\\"), text)
        try:
            text = _VARIABLE.sub(lambda found: _variable_or(module, found), text)
        except RefusalError as refusal:
            raise _refused(module, Location(str(path)), refusal) from None
        return re.sub(r"\{\{\s*(" + BASE_KEY + r"\.[\w.]+)\s*\}\}", r"\1", text)


def _check_length(module: SourceFile) -> None:
    try:
        check_length(module.text)
    except RefusalError as refusal:
        raise _refused(None, Location(str(module.path)), refusal) from None


def _takes_all(node: ast.ImportFrom) -> bool:
    """Return whether an import outside ``with read_base():`` can only mean a base: ``from .file import *``."""
    return node.level > 0 and any(alias.name == "*" for alias in node.names)


_VARIABLE = re.compile(r"\{\{['\"]?\s*\$(\w+)\s*:\s*(\S*?)\s*['\"]?\}\}")


def _variable_or(module: SourceFile, found: re.Match[str]) -> str:
    value = variable(module, found[1]) or found[2]
    if not value:
        raise ConfigFileError(
            f"the config needs the environment variable '{found[1]}'", location=Location(str(module.path))
        )
    return value


def _result(module: SourceFile, bases: list[_Read], *, reusable: bool) -> _Read:
    stamps = [named_stamp(module.path), *(named_stamp(path) for path in module.files)]
    variables = dict(module.variables)
    for base in bases:
        stamps.extend(base.stamps)
        variables.update(base.variables)
    names = frozenset(module.imported).union(*(base.imported for base in bases))
    reusable = reusable and all(base.reusable for base in bases)
    return _Read(module.names, names, tuple(dict.fromkeys(stamps)), tuple(variables.items()), reusable)


def _unchanged(read: _Read) -> bool:
    return all(is_unchanged(path, stamp) for path, stamp in read.stamps) and all(
        os.environ.get(name) == value for name, value in read.variables
    )


# -- errors -----------------------------------------------------------------------------------------------------------


def explained(machine: Interpreter, error: Exception, module: SourceFile | None = None) -> Exception:
    """Return the error that a user sees for a refusal or a failure, with its place."""
    if isinstance(error, ProctorError):
        return error
    place = None if module is None else Location(str(module.path))
    if machine.failure is not None and machine.failure[0] is error:
        _, node, frame = machine.failure
        place, module = frame.source.location(node), frame.source
    if isinstance(error, RefusalError):
        return _refused(module, place, error)
    if isinstance(error, (RecursionError, MemoryError)):
        return nested_too_deeply(place.file if place is not None else "", place)
    text = str(error) if error.args else ""
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return ConfigFileError(f"the config fails: {said}", location=place)


def _refused(module: SourceFile | None, place: Location | None, refusal: RefusalError) -> TrustError:
    hint = _INSPECT_HINT if module is not None and "inspect_ai" in module.text else TRUST_HINT
    first = Diagnostic(f"the config {refusal}", place, why=_WHY, hint=hint)
    others = [] if module is None or module.tree is None else refused_constructs(module, module.tree)
    more = [Diagnostic(f"the config {what}", where) for what, where in others if where != place]
    return TrustError([first, *more])
