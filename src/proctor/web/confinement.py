"""Confines pages to reading below the folders that the viewer was started with.

Whoever sends a request chooses what is built for it, so nothing of a page is the user's own. Two things hold it:

* the gate (:func:`proctor.effects.confined`), which says what is refused and what to do instead;
* a watch over what Python opens and starts, for whatever does not ask at the gate: a file that a file includes, a
  link out of a folder, a library. It sees nothing of other threads than the page's.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from proctor import effects
from proctor.artifacts.catalogs import LocalCatalog, catalogs
from proctor.plugins import exam_folders
from proctor.running.folder import SAMPLES
from proctor.settings import settings
from proctor.state import state_folder
from proctor.wall.rules import SYSTEM, installed
from proctor.wall.watch import CHANGES, STARTS, Places, changed, place_of
from proctor.web.library import Library

MOST_BYTES = 2 << 30
"""Bytes of the data files that one page opens, together: more than the exams of any catalog have, less than memory."""

_PROGRAM = (".py", ".pyc", ".so", ".pyd")  # endings of files that an import opens
_LISTS = frozenset({"os.listdir", "os.scandir"})


@contextmanager
def page_of(library: Library) -> Iterator[None]:
    """Confine what is done inside to what a page of a library may do."""
    folders = list(map(str, library.folders))
    with settings.context(trust_code=False, allow=""), effects.confined(folders):
        token = _current.set(_Bounds(tuple(folders), tuple(map(str, library.roots)), _named(), MOST_BYTES))
        try:
            yield
        finally:
            _current.reset(token)


def _named() -> tuple[str, ...]:
    """Return the folders that settings name, and those of catalogs: links below them are the user's own."""
    known = [str(each.folder) for each in catalogs() if isinstance(each, LocalCatalog)]
    return tuple(
        map(os.path.abspath, (*map(str, effects.named_folders()), *known, *map(str, exam_folders()), *_caches()))
    )


@dataclass(slots=True)
class _Bounds:
    """What one page may touch.

    Attributes:
        folders: Where it may read; links out of them lead nowhere.
        runs: Those of them that hold runs.
        named: Where it may read, links included.
        left: Bytes of data files that it may still open.
        made: Temporary files and folders that it made.
    """

    folders: tuple[str, ...]
    runs: tuple[str, ...]
    named: tuple[str, ...]
    left: int
    made: set[str] = field(default_factory=set)

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse an event that a page must not cause.

        Raises:
            PermissionError: It is one.
        """
        if event in STARTS:
            raise PermissionError(errno.EACCES, f"no page starts programs, and this would start {arguments[0]}")
        if event in CHANGES:
            for place in changed(event, arguments):
                self._check_writing(place, is_new=event == "os.mkdir")
        elif event in _LISTS:
            self._check_listing(arguments[0])
        elif event == "open":
            path, _, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
                self._check_writing(path, is_new=bool(flags & os.O_EXCL))
            else:
                self._check_reading(path)

    def _check_writing(self, path: Any, *, is_new: bool = False) -> None:
        """Let a page write in our cache and those of hubs, make folders above them, and temporary files of its own."""
        if (place := place_of(path)) is None or place == os.devnull:
            return
        real = os.path.realpath(place)
        if (_is_below(real, _caches()) and not _is_below(real, (os.path.realpath(state_folder()),))) or (
            f"{os.sep}__pycache__{os.sep}" in real and _always()[1].hold(real)
        ):
            return
        if is_new and _is_below(real, (_temporary(),)):
            self.made.add(real)
        is_above_caches = is_new and any(_is_below(each, (real,)) for each in _caches())
        if not is_above_caches and not _is_below(real, self.made):
            raise PermissionError(errno.EACCES, f"no page writes files, and this would write {place}")

    def _check_listing(self, path: Any) -> None:
        place = place_of(Path.cwd() if path is None else path)
        if place is None or place in _search_path():
            return
        real = os.path.realpath(place)
        is_known = _is_below(place, self.named) or _always()[1].hold(place)
        if not is_known and not _is_below(real, (*self.folders, *self.made)):
            raise _unreadable(place)

    def _check_reading(self, path: Any) -> None:
        place = place_of(path)
        if place is None or any(places.hold(place) for places in _always()):
            return
        if place.endswith(_PROGRAM) and os.path.dirname(place) and _is_below(place, _search_path()):  # noqa: PTH120
            return
        real = os.path.realpath(place)
        if not (_is_below(place, self.named) or _is_below(real, (*self.folders, *self.named, *self.made))):
            raise _unreadable(place)
        self._count(real)

    def _count(self, place: str) -> None:
        """Count what a file holds, but not samples of a run: they are read in pieces, however many there are."""
        try:
            status = os.stat(place)  # noqa: PTH116 - for every file that a page opens
        except OSError:
            return  # whoever opens it says so
        if stat.S_ISDIR(status.st_mode):
            return
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EACCES, f"{place} is not an ordinary file")
        if os.path.basename(place) == SAMPLES and _is_below(place, self.runs):  # noqa: PTH119 - as above
            return
        self.left -= status.st_size
        if self.left < 0:
            raise PermissionError(
                errno.EFBIG, f"a page reads {MOST_BYTES >> 30} GiB of data, and {place} is too much: use proctor show"
            )


def _unreadable(place: str) -> PermissionError:
    return PermissionError(
        errno.EACCES,
        f"{place} lies outside the folders that proctor view was started with; --include-path FOLDER adds one",
    )


def _is_below(place: str, folders: Iterable[str]) -> bool:
    return any(place == folder or place.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


@cache
def _always() -> tuple[Places, Places]:
    """Return what libraries read of a machine, and the folders of Python and of installed packages."""
    own = {place for each in installed() for place in (os.path.abspath(each), os.path.realpath(each))}  # noqa: PTH100
    return Places(SYSTEM), Places(tuple(own - {"/usr", "/"}))


def _caches() -> tuple[str, ...]:
    """Return the folders of caches: ours, those of hubs, Python's own."""
    homes = (Path.home() / ".cache", os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    hubs = [Path(each) / "huggingface" for each in homes]
    hubs += [Path(each) for name in _HUB_CACHES if (each := os.environ.get(name))]
    loaded = sys.modules.get("datasets.config")
    used = [getattr(loaded, name, None) for name in ("HF_DATASETS_CACHE", "HF_CACHE_HOME")]
    return tuple(os.path.realpath(each) for each in (settings.cache_dir, *hubs, *used, sys.pycache_prefix) if each)


_HUB_CACHES = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_DATASETS_CACHE")


def _search_path() -> tuple[str, ...]:
    return tuple(os.path.abspath(each) for each in sys.path)  # noqa: PTH100 - as written, for every import


_current: ContextVar[_Bounds | None] = ContextVar("proctor_page_bounds", default=None)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    bounds = _current.get()
    if bounds is None:
        return
    if event == "open" or event in STARTS or event in _LISTS or event in CHANGES:
        token = _current.set(None)  # what the check itself looks at is not the page's doing
        try:
            bounds.check(event, arguments)
        finally:
            _current.reset(token)


@cache
def _temporary() -> str:
    return os.path.realpath(tempfile.gettempdir())


@cache
def watch() -> None:
    """Begin to watch what Python does; it cannot end, and costs nothing outside pages."""
    _temporary()  # to find it, Python writes a file: inside the hook that would be asked about in a circle
    _always()
    sys.addaudithook(_hook)
