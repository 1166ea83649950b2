"""Runs as they lie on disk: finished, going on, stopped, or damaged."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

from proctor.errors import ProctorError
from proctor.foreign_text import parse_json
from proctor.running.folder import RESULTS, SAMPLES, SPEC
from proctor.running.progress_file import PROGRESS, STALE_SECONDS
from proctor.running.spec import SCHEMA_VERSION, RunSpec
from proctor.runs.stored_shapes import checked_entry, checked_run
from proctor.safe_files import opened, read_bytes, write_text
from proctor.scoring.judges.judged import JUDGED, notes_of
from proctor.settings import settings

_MOST_BYTES = 64 << 20
"""Bytes of ``results.json``: ten thousand exams with all their scores take half of it."""

State = Literal["done", "running", "stopped", "damaged"]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run folder, read.

    Attributes:
        path: The folder.
        state: ``done``; ``running`` (its progress was written seconds ago); ``stopped`` before its end; ``damaged``.
        problem: Why it is damaged, or what of it cannot be read.
        spec: What was run; ``None`` where ``run.yaml`` cannot be read.
        results: By exam, as in ``results.json``; empty before the end.
        run: Time, machine, versions, tokens.
        progress: Counts of a run that is going on.
    """

    path: Path
    state: State
    problem: str = ""
    spec: RunSpec | None = None
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The engine's name for people."""
        engine = self.run.get("engine")
        label = engine.get("label") if isinstance(engine, dict) else None
        return str(label or (self.spec.model if self.spec else "?"))

    @property
    def exams(self) -> list[str]:
        """Names of the exams, in the order of the spec where it is known."""
        if self.spec and self.spec.exams:
            return list(self.spec.exams)
        return list(self.results) or list(self.spec.tasks if self.spec else ())

    @property
    def started(self) -> str:
        """The start of the run, in ISO 8601, or ``""``."""
        return str(self.run.get("started") or "")

    @property
    def samples(self) -> Path | None:
        """``samples.jsonl``, where it is there; a link that leads out of the folder is not."""
        path = self.path / SAMPLES
        return path if path.is_file() and not _why_unread(path) else None


def load_run(path: Path, *, with_spec: bool = True) -> StoredRun:
    """Read a run folder, perhaps without ``spec``; what cannot be read is named in ``problem``, nothing is raised."""
    problems: list[str] = []
    spec: RunSpec | None = None
    try:
        spec = _spec_of(path) if with_spec else None
    except ProctorError as error:
        problems.append(error.diagnostics[0].what)
    document, problem = _read_json(path / RESULTS)
    problems += [each for each in (problem, _why_unread(path / SAMPLES)) if each]
    results: dict[str, dict[str, Any]] = {}
    for name, entry in _mapping(document.get("results")).items():
        if isinstance(entry, dict):
            results[name], odd = checked_entry(name, entry)
            problems += odd
    run, odd = checked_run(_mapping(document.get("run")))
    problems += odd
    progress = read_progress(path)
    state: State = "done" if results else "running" if progress else "stopped"
    if problems:
        state = "damaged"
    ordered = {name: results[name] for name in (spec.exams if spec else {}) if name in results} | results
    return StoredRun(path, state, "; ".join(problems), spec, ordered, run, progress)


def _spec_of(path: Path) -> RunSpec:
    """Return what was run; what a long run file says is kept as JSON in the cache folder, to be read at once.

    Raises:
        ProctorError: It cannot be read.
    """
    stamp = _stamp(path / SPEC)
    if stamp is None or stamp[1] < _LONG:
        return RunSpec.load(path)
    name = blake2b(f"{path.resolve()}|{stamp}|{SCHEMA_VERSION}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    kept = Path(settings.cache_dir) / "specs" / f"{name}.json"
    with suppress(OSError, ValueError, TypeError):
        values = parse_json(kept.read_text(encoding="utf-8"))
        return RunSpec(**{**values, "tasks": tuple(values["tasks"]), "tags": tuple(values.get("tags", ()))})
    spec = RunSpec.load(path)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_text(kept, json.dumps(spec.to_dict()))
    return spec


_LONG: Final = 16_000
"""Bytes of a run file that take ten milliseconds to read as YAML."""


def files_stamp(path: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """Return what changes where a file that :func:`load_run` reads of a folder changes."""
    return tuple(_stamp(f"{path}/{name}") for name in (SPEC, RESULTS, SAMPLES, PROGRESS))


def _stamp(path: Path | str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ctime_ns, found.st_size, found.st_ino


def state_notes(run: StoredRun) -> list[str]:
    """Return caveats about a run's scores: that it did not end, or not with everything.

    Nothing for a run that ended and asked everything.
    """
    if run.state in ("running", "stopped"):
        done, total = run.progress.get("done"), run.progress.get("total")
        counted = f" ({done:,} of {total:,} answered)" if isinstance(done, int) and isinstance(total, int) else ""
        how = "goes on at the moment" if run.state == "running" else "was stopped before its end"
        hint = "" if run.state == "running" else f"; proctor run {shlex.quote(str(run.path))} goes on with it"
        return [f"the run {how}{counted}: it has no scores yet{hint}"]
    if (stopped := run.run.get("stopped")) and isinstance(stopped, str):
        return [f"the run was stopped: {stopped}; not everything was asked, and the scores are of what was"]
    return [note for entry in run.results.values() for note in notes_of(entry.get(JUDGED))]


def runs_in(path: Path) -> str:
    """Return a hint about a folder that is not a run: the runs in it, where it holds some."""
    inner = sorted(each for each in path.iterdir() if each.is_dir() and is_run(each)) if path.is_dir() else []
    if not inner:
        return "it has neither run.yaml nor results.json"
    return f"it holds {len(inner)} run{'s' * (len(inner) > 1)}: {' '.join(map(str, inner[-3:]))}"


def is_run(path: Path) -> bool:
    """Whether a folder holds a run."""
    return os.path.isfile(f"{path}/{SPEC}") or os.path.isfile(f"{path}/{RESULTS}")  # noqa: PTH113 - of hundreds for a page


def find_runs(root: Path, depth: int = 3) -> Iterator[Path]:
    """Yield the run folders in a folder, itself included, newest first within each folder."""
    if is_run(root):
        yield root
        return
    if depth == 0 or not root.is_dir():
        return
    with os.scandir(root) as found:
        inner = [each for each in found if each.name[:1] != "." and each.is_dir(follow_symlinks=False)]
    for each in sorted(inner, key=lambda each: (-each.stat().st_mtime, each.name)):
        yield from find_runs(root / each.name, depth - 1)


def read_progress(path: Path) -> dict[str, Any]:
    """Return the counts of a run that is going on; empty where none is."""
    file = path / PROGRESS
    try:
        if time.time() - file.stat().st_mtime > STALE_SECONDS:
            return {}
    except OSError:
        return {}
    return _read_json(file)[0]


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _why_unread(path: Path) -> str:
    """Return why a file that is there is not read."""
    if not path.exists():
        return ""
    try:
        opened(path, within=path.parent).close()
    except OSError as error:
        return f"{path.name} cannot be read: {error.strerror}"
    return ""


def _read_json(path: Path) -> tuple[dict[str, Any], str]:
    if not path.exists():
        return {}, ""
    try:
        data = parse_json(read_bytes(path, _MOST_BYTES, within=path.parent).decode("utf-8", "replace"))
    except OSError as error:
        return {}, f"{path.name} cannot be read: {error.strerror}"
    except ValueError as error:
        return {}, f"{path.name} cannot be read: {error}"
    except RecursionError:
        return {}, f"{path.name} cannot be read: it is nested too deeply"
    return (data, "") if isinstance(data, dict) else ({}, f"{path.name} does not hold a JSON object")
