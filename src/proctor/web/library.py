"""The runs that the app shows, each under an id that stands for its folder and for nothing else on the disk."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from proctor.errors import DataError, ProctorError, UsageError
from proctor.running.sweeps import is_sweep
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import StoredRun, files_stamp, find_runs, is_run, load_run
from proctor.web.kept_lines import KeptLine, keep_lines, read_lines, without_details
from proctor.web.run_lines import RunLine, line_of
from proctor.web.run_matrix import Matrix, matrix_of

_MATRIX_SECONDS = 60.0  # a matrix says minutes at best
_FIRST_BUILD_SECONDS = 0.2  # most runs are indexed by then; the page of a larger one appears and says how far it is


class Library:
    """Run folders below some roots, and the indexes of their samples.

    Args:
        roots: Run folders, or folders that hold some.
        include_paths: More folders with exams, for the explorer.
    """

    def __init__(self, roots: Sequence[Path], include_paths: Sequence[str] = ()) -> None:
        self.folds_sweeps = True  # whether the list says how many wordings a sweep has instead of naming each
        self.takes_notes = False  # whether a page may send notes: only where whoever sends them has the token
        self.include_paths = tuple(include_paths)
        self.roots = [root.resolve() for root in roots]
        self.folders = [*self.roots, *(Path(each).expanduser().resolve() for each in include_paths)]
        self._ids: dict[str, str] = {}
        self._paths: dict[str, Path] = {}
        self._runs: dict[Path, tuple[object, StoredRun]] = {}
        self._matrix: tuple[object, float, list[RunLine], Matrix] | None = None  # with its lines: ids are of objects
        self._lines: dict[str, KeptLine] | None = None
        self._indexes: dict[tuple[Path, int, int], SampleIndex] = {}
        self._building: dict[Path, threading.Thread] = {}
        self._lock = threading.Lock()

    def runs(self) -> list[tuple[str, StoredRun]]:
        """Return every run with its id, the one that began last first."""
        found = [(self._known_id(path), self._load(path)) for root in self.roots for path in find_runs(root)]
        found.sort(key=lambda entry: entry[1].started, reverse=True)
        return sorted(found, key=lambda entry: entry[1].state != "running")

    def lines(self) -> list[RunLine]:
        """Return every run as lists show it, made once for each state of its files."""
        known = read_lines(self.roots) if self._lines is None else self._lines
        found = {str(path): self._line(path, known) for root in self.roots for path in find_runs(root)}
        if any(known.get(path) is not each and not each.line.run.progress for path, each in found.items()):
            keep_lines(self.roots, found)
        self._lines = found
        return [each.line for each in found.values()]

    def _line(self, path: Path, known: Mapping[str, KeptLine]) -> KeptLine:
        """Return the line of a run, made anew where one of its files has changed, and while it goes on."""
        run_id, stamp, kept = self._known_id(path), files_stamp(path), known.get(str(path))
        if kept is not None and kept.stamp == stamp and not kept.line.run.progress:
            return kept
        run = load_run(path)
        return KeptLine(stamp, without_details(line_of(run_id, run, self.place_of(run))))

    def sweeps(self, lines: Sequence[RunLine]) -> dict[str, int]:
        """Return how many of some lines are wordings of sweeps, by the sweep's place; nothing where all are."""
        places = {line.place: line.run.path.parent for line in lines if line.place and self.folds_sweeps}
        found = {place for place, folder in places.items() if is_sweep(folder)}
        counts = Counter(line.place for line in lines if line.place in found)
        return dict(counts) if counts.total() < len(lines) else {}

    def matrix(self, lines: Sequence[RunLine], *, everything: bool, by: int | None) -> Matrix:
        """Return the matrix of some lines, made anew once a minute: it says how long ago runs were."""
        key, now = (*map(id, lines), everything, by), time.monotonic()
        known = self._matrix
        if known is None or known[0] != key or now - known[1] > _MATRIX_SECONDS:
            made = matrix_of(lines, everything=everything, by=by)
            known = self._matrix = (key, now, list(lines), made)
        return known[3]

    def place_of(self, run: StoredRun) -> str:
        """Return the folder that a run lies in, below the root that it was found in; empty directly below it."""
        for root in self.roots:
            with suppress(ValueError):
                return "/".join(run.path.resolve().relative_to(root).parts[:-1])
        return ""

    def _known_id(self, path: Path) -> str:
        """Return the id of a folder that was found: no link leads to it, so it is resolved once."""
        found = self._ids.get(str(path))
        if found is None:
            found = self._ids[str(path)] = self.id_of(path)
        return found

    def id_of(self, path: Path) -> str:
        """Return the id of a run folder."""
        resolved = path.resolve()
        digest = blake2b(str(resolved).encode("utf-8", "surrogateescape"), digest_size=5).hexdigest()
        self._paths[digest] = resolved
        return digest

    def get(self, run_id: str) -> StoredRun:
        """Return the run of an id.

        Raises:
            UsageError: No run folder below the roots has this id.
        """
        path = self._paths.get(run_id)
        if path is None:
            for root in self.roots:
                for found in find_runs(root):
                    self.id_of(found)
            path = self._paths.get(run_id)
        if path is None or not is_run(path):
            raise UsageError("there is no such run", hint="it was moved or deleted, or the link is of another machine")
        return self._load(path)

    def _load(self, path: Path) -> StoredRun:
        """Return the run of a folder; its files are read again where one has changed, and while it goes on."""
        stamp = files_stamp(path)
        known = self._runs.get(path)
        if known is None or known[0] != stamp or known[1].progress:
            known = self._runs[path] = (stamp, load_run(path))
        return known[1]

    def index(self, run: StoredRun) -> SampleIndex:
        """Return the index of a run's samples; the rest of a large one is built in a thread.

        Raises:
            DataError: The run has no samples.
        """
        if run.samples is None:
            hint = "it was run with --no-log-samples" if run.state == "done" else "they are written when the run ends"
            raise DataError("this run has no samples", hint=hint)
        stat = run.samples.stat()
        with self._lock:
            key = (run.samples, stat.st_mtime_ns, stat.st_size)
            index = self._indexes.get(key)
            if index is None:
                index = self._indexes[key] = SampleIndex.of_run(run.samples, run.results, run.spec)
                if not index.build(_FIRST_BUILD_SECONDS):
                    self._build_rest(index)
        return index

    def _build_rest(self, index: SampleIndex) -> None:
        thread = threading.Thread(target=index.build, name=f"index {index.path}", daemon=True)
        self._building[index.index] = thread
        thread.start()

    def wait(self) -> None:
        """Wait until every index is complete."""
        for thread in list(self._building.values()):
            thread.join()


def roots_of(given: Sequence[Path]) -> list[Path]:
    """Return the folders to look for runs in: those given, or ``runs`` here.

    Raises:
        ProctorError: A folder does not exist.
    """
    for path in given:
        if not path.is_dir():
            raise ProctorError(f"there is no folder {path}", hint="proctor run says where it puts its folder")
    return list(given) or [Path("runs")]
