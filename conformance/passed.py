"""What has passed for this tree: what was equal is not run again until something that decides it changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

_DECIDE = ("src", "conformance")
_WRITTEN = ("recordings", "__pycache__", "explanations.json")
"""Written by the comparisons, or words that decide nothing."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A comparison that was equal."""

    seconds: float
    said: str


def digest(root: Path) -> str:
    """Return a digest of all files that decide what a comparison finds."""
    found = hashlib.sha256()
    for path in sorted(_files(root)):
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    for folder in _DECIDE:
        for path in (root / folder).rglob("*"):
            if path.is_file() and not any(part in _WRITTEN for part in path.parts):
                yield path


class State:
    """The comparisons that have passed for one tree, in a file.

    Args:
        path: The file; what it holds of another tree is forgotten.
        tree: The tree's digest.
    """

    def __init__(self, path: Path, tree: str) -> None:
        self._path, self._tree = path, tree
        self._lock = Lock()  # comparisons end in several threads
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        self._passed: dict[str, Passed] = (
            {name: Passed(**each) for name, each in kept["passed"].items()} if kept.get("tree") == tree else {}
        )

    def get(self, name: str) -> Passed | None:
        """Return what a comparison said when it passed, ``None`` where it has not."""
        return self._passed.get(name)

    def add(self, name: str, passed: Passed) -> None:
        """Keep that a comparison has passed."""
        with self._lock:
            self._passed[name] = passed
            self._write()

    def forget(self, names: Iterable[str]) -> None:
        """Run these again."""
        with self._lock:
            for name in names:
                self._passed.pop(name, None)
            self._write()

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"tree": self._tree, "passed": {name: asdict(each) for name, each in self._passed.items()}}
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        beside.replace(self._path)
