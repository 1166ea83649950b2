"""A folder of pages for whoever has no Proctor: the viewer's own pages, made once, with links that lead to files.

What a link means is asked of the viewer's own pages, from the list of runs on, breadth first. A link that leads to no
file (a search, a filter of one's own) is text there. Pages need no server, no address outside and no script.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from html import escape, unescape
from importlib.resources import files
from os import walk
from os.path import relpath
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urljoin

from starlette.requests import Request
from starlette.routing import Match, Route

from proctor.errors import ProctorError, UsageError
from proctor.runs.stored_run import is_run
from proctor.safe_files import subfolder, write_bytes
from proctor.web.app import PAGES
from proctor.web.compare_pages import FEWEST, MOST_RUNS
from proctor.web.confinement import page_of, watch
from proctor.web.library import Library
from proctor.web.rendering import part_styles, render
from proctor.web.report import report_of

MARK: Final = ".proctor-site"
"""A file that says that a folder was exported, so that exporting again may replace its pages."""
MOST_PAGES: Final = 10_000
"""Files of one run, and of all comparisons: some 100 MB, and a minute or two of work."""
STATIC: Final = ("app.css", "app.js", "icon.svg")

_LINK = re.compile(r' (href|src)="([^"]*)"')  # in text, quotation marks are escaped
_ROUTES = [
    (Route(path, lambda _: None), page)
    for path, page in PAGES.items()
    if not path.startswith("/explore") and path != "/runs/{run}/label"
]
_HELD = {"/runs": {"page", "exams", "by"}, "/items": {"run"}, "/report": set[str]()}
"""The parameters with which a page is worth a file; of instances all but a search, of comparisons all."""
_OURS = re.compile(r"(?:(?:index|items|report)(?:-[0-9a-f]{10})?|(?:runs|compare)/.+)\.html")


def export_site(roots: Sequence[Path], folder: Path, say: Callable[[str], None]) -> int:
    """Write the pages of runs into a folder that opens from ``index.html``; return how many.

    Args:
        roots: Run folders, or folders that hold some.
        folder: A new or empty folder, or one that was exported before: its pages are replaced.
        say: Told what was left out.

    Raises:
        UsageError: There are other things in the folder.
        OSError: It cannot be written.
    """
    _check(folder)
    watch()
    library = Library(roots)
    site = _Site(library, folder)
    subfolder(folder)
    write_bytes(folder / MARK, b"Pages of proctor view --export: exporting here again replaces them.\n")
    for name in STATIC:
        site.write(f"static/{name}", files("proctor.web").joinpath("static", name).read_bytes())
    site.write("static/parts.css", part_styles().encode())
    count = sum(1 for _ in site.pages())
    site.remove_others()
    for note in site.notes:
        say(note)
    return count


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", hint="name a folder after --export")
    mark = folder / MARK
    if folder.is_dir() and any(folder.iterdir()) and not (mark.is_file() and not mark.is_symlink()):
        raise UsageError(
            f"{folder} is not empty",
            why="only a folder that proctor view exported before is replaced",
            hint=f"name a new folder, such as --export {folder.with_name(folder.name + '-site')}",
        )


class _Site:
    """The files of a site: which address lies where, and what is still to be made.

    Args:
        library: The runs.
        folder: Where the files are written.
    """

    def __init__(self, library: Library, folder: Path) -> None:
        self.notes: list[str] = []
        self._library, self._folder = library, folder
        library.folds_sweeps = False  # no link of a file leads to a search
        self._places: dict[str, str] = {}
        self._waiting: deque[tuple[str, str]] = deque()
        self._counts: Counter[str] = Counter()
        self._written: set[str] = set()
        self._chosen = self._compared()
        asked = urlencode([("run", each) for each in self._chosen])
        links = [(f"/compare?{asked}", "Compare")] if len(self._chosen) >= FEWEST else []
        self._extra = [*links, (f"/items?{asked}", "Questions"), ("/report", "Report")] if self._chosen else []

    def _compared(self) -> list[str]:
        """Return the runs that are compared with each other, the baseline first: that named first, or the oldest."""
        known = {run_id: run for run_id, run in reversed(self._library.runs()) if run.samples and run.results}
        if all(map(is_run, self._library.roots)):
            known = {each: known[each] for root in self._library.roots if (each := self._library.id_of(root)) in known}
        ids = list(known)
        if len(ids) > MOST_RUNS:
            ids = [ids[0], *ids[1 - MOST_RUNS :]]
            self.notes.append(f"Compare and Report have {MOST_RUNS} of {len(known)} runs: name those that you mean")
        for each in ids:
            self._library.index(known[each])
        self._library.wait()
        return ids

    def pages(self) -> Iterator[str]:
        """Write every page that links lead to, from the list of runs on; yield their addresses."""
        self._place_of("/runs")
        while self._waiting:
            address, place = self._waiting.popleft()
            self.write(place, self._linked(self._page(address), address, place).encode("utf-8", "backslashreplace"))
            yield address

    def write(self, place: str, content: bytes) -> None:
        """Write a file below the folder."""
        *folders, name = place.split("/")
        write_bytes(subfolder(self._folder, *folders) / name, content)
        self._written.add(place)

    def remove_others(self) -> None:
        """Remove the pages of an export before that this one has not."""
        for place, _, names in walk(self._folder):
            for name in names:
                found = Path(place, name)
                relative = found.relative_to(self._folder).as_posix()
                if _OURS.fullmatch(relative) and relative not in self._written:
                    found.unlink()

    def _page(self, address: str) -> str:
        path, _, query = address.partition("?")
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": []}
        with page_of(self._library):
            try:
                if path == "/report":
                    return report_of([self._library.get(each) for each in self._chosen])
                for route, page in _ROUTES:
                    match, found = route.matches(scope)
                    if match is Match.FULL:
                        name, values = page(self._library, Request({**scope, **found}))
                        return render(name, path=path, **{**values, "live": False}, static=True, extra=self._extra)
            except (ProctorError, OSError) as error:
                told = error if isinstance(error, ProctorError) else ProctorError(f"the page cannot be made: {error}")
                return render("error.html", path=path, problems=told.diagnostics, static=True, extra=self._extra)
        raise UsageError(f"there is no page {path}")

    def _linked(self, page: str, address: str, place: str) -> str:
        """Return a page with links to files; those that lead to none are text."""

        def link(found: re.Match[str]) -> str:
            name, target = found[1], unescape(found[2])
            if target.startswith(("#", "data:")):
                return found[0]
            target, mark, part = urljoin(address, target).partition("#")
            file = target[1:] if target.startswith("/static/") else self._place_of(target)
            here = quote(relpath(file, Path(place).parent)) if file else ""
            return f' {name}="{escape(here)}{mark}{part}"' if file else ""

        return _LINK.sub(link, page)

    def _place_of(self, address: str) -> str:
        """Return the file of an address, empty where it has none; one that is new is made later."""
        path, _, query = address.partition("?")
        given = [(name, value) for name, value in parse_qsl(query) if value]
        names = path.strip("/").split("/")
        match names:
            case ["runs"] | ["items"] | ["report"]:
                stem = "index" if path == "/runs" else names[0]
                is_held = {name for name, _ in given} <= _HELD[path]
            case ["compare"]:
                stem = "compare/runs"
                is_held = len({value for name, value in given if name in ("run", "baseline")}) >= FEWEST
            case ["runs", run]:
                stem, given, is_held = f"runs/{run}/index", [], True
            case ["runs", run, "samples"]:
                stem, given = f"runs/{run}/samples", sorted(given)
                is_held = "q" not in dict(given)
            case ["runs", run, "samples", number]:
                stem, given, is_held = f"runs/{run}/samples/{number}", [], True
            case _:
                return ""
        whole = f"{path}?{urlencode(given)}" if given else path
        if not is_held or whole in self._places:
            return self._places.get(whole, "")
        owner = names[1] if len(names) > 1 else names[0]
        self._counts[owner] += 1
        if self._counts[owner] > MOST_PAGES:
            if self._counts[owner] == MOST_PAGES + 1:
                name = self._library.get(owner).path.name if path.startswith("/runs/") else path
                self.notes.append(f"{name} has more than {MOST_PAGES:,} pages: the others are in proctor view only")
            return ""
        digest = "-" + blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=5).hexdigest() if given else ""
        self._places[whole] = f"{stem}{digest}.html"
        self._waiting.append((whole, self._places[whole]))
        return self._places[whole]
