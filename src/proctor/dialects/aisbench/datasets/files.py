"""Files of the data folders that configs name: real ones where they exist, otherwise the same rows from a hub dataset.

OpenCompass and AISBench read local files in a layout of their own (``data/ARC/ARC-c/ARC-Challenge-Test.jsonl``).
``paths.json`` maps the ids that configs use to places in that layout; ``hub.json`` says which dataset of the hub has
the rows of such a file, and what they look like there.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.fields import Row
from proctor.data.row_files import PLAIN, FileFormat, read_rows
from proctor.effects import Effect, author_of_file, reading, require
from proctor.errors import DataError, DatasetNotFoundError, Location
from proctor.ir import Failure
from proctor.lazy import Deferred
from proctor.safe_python import compile_expression

if TYPE_CHECKING:
    from proctor.data import hub
else:
    hub = Deferred("proctor.data.hub")

_ROOT_VARIABLES = ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE")
_HINT = "put it there, or set COMPASS_DATA_CACHE or AIS_BENCH_DATASETS_CACHE to the folder that holds it"
_PACKAGES = {"ais-bench-benchmark": "", "bfcl-eval": "bfcl_eval/data"}
"""Installed packages that bring data, with the folder in it; AISBench looks there, too."""


@cache
def _table(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


def local_path(path: str) -> str:
    """Return the place of a dataset id in the data folder; anything that is not an id is returned as it is."""
    known: Mapping[str, str] = _table("paths.json")
    return known.get(path, path)


def roots(place: Location | None = None) -> list[Path]:
    """Return the folders in which relative paths of a config are looked for, in order.

    Args:
        place: Where the config is; its folder is one of them.
    """
    folders = [Path(os.environ[name]) for name in _ROOT_VARIABLES if os.environ.get(name)]
    folders.append(Path())
    if place is not None and place.file:
        folders.append(Path(place.file).parent)
    folders.append(Path.home() / ".cache" / "opencompass")
    for name, folder in _PACKAGES.items():
        with suppress(PackageNotFoundError):  # its data folder is one place less to look in
            folders.append(Path(str(distribution(name).locate_file(folder))))
    return folders


def find_file(path: str, place: Location | None = None) -> Path | None:
    """Return the file or folder that a path of a config names, or ``None``.

    Raises:
        NotAllowedError: It is outside the folders of data and of the config, and nobody allowed it.
    """
    for root in roots(place):
        candidate = root / path
        if candidate.exists():
            _let_read(candidate, root, place)
            return candidate
    return None


def path_effects(values: Mapping[str, Any], place: Location | None) -> list[Effect]:
    """Return the effects of reading what a dataset of a config names: values whose key speaks of a path or a file."""
    if place is None or not place.file:
        return []
    who, found = author_of_file(place.file), []
    for key, value in values.items():
        if isinstance(value, str) and any(word in key for word in ("path", "file", "dir")):
            wanted = next((root / value for root in roots(place) if (root / value).exists()), None)
            found += reading(wanted, who, f"the dataset's {key}") if wanted is not None else []
    return found


def _let_read(path: Path, root: Path, place: Location | None) -> None:
    """Pass the gate: below the root in which it was looked for, everybody may read."""
    if place is None or not place.file or (root != Path() and path.resolve().is_relative_to(root.resolve())):
        return
    who = author_of_file(place.file)
    require(reading(path, who, "a dataset of the config"), who)


def found_file(path: str, place: Location | None = None) -> Path:
    """Return the file or folder that a path of a config names.

    Raises:
        DatasetNotFoundError: There is none.
    """
    found = find_file(path, place)
    if found is None:
        raise DatasetNotFoundError(
            f"there is no file '{path}'",
            location=place,
            why=_looked_in(path, place),
            hint=f"{_HINT}, or name another file in the JSON file of PROCTOR_DATASET_MAP",
        )
    return found


def file_rows(path: str, layout: FileFormat = PLAIN, place: Location | None = None) -> list[Row]:
    """Return the rows of a file of the data folder.

    Args:
        path: The file; relative ones are looked for in :func:`roots`.
        layout: How to read it.
        place: Where the config names it.

    Raises:
        DatasetNotFoundError: There is neither the file nor a hub dataset known to have its rows.
        DataError: The file is not what its name says.
    """
    rows: list[Row] = []
    for row in iter_rows(path, layout, place):
        if isinstance(row, Failure):
            raise DataError(row.message)
        rows.append(row)
    return rows


def iter_rows(path: str, layout: FileFormat = PLAIN, place: Location | None = None) -> Iterator[Row | Failure]:
    """Yield the rows of a file of the data folder; a line of JSON that is damaged is a failure.

    Args:
        path: The file; relative ones are looked for in :func:`roots`.
        layout: How to read it.
        place: Where the config names it.

    Raises:
        DatasetNotFoundError: There is neither the file nor a hub dataset known to have its rows.
        DataError: The file is not what its name says.
    """
    found = find_file(path, place)
    if found is not None and found.is_file():
        return read_rows(found, layout, passing=True)
    source = hub_source(path)
    if source is not None and not Path(path).is_absolute():
        return _hub_rows(source, path, place)
    if glob.has_magic(path) and (files := _matching(path, place)):
        return (row for file in files for row in read_rows(file, layout, passing=True))
    return read_rows(found_file(path, place), layout, passing=True)


def _hub_rows(source: HubSource, path: str, place: Location | None) -> Iterator[Row]:
    try:
        yield from source.rows(path)
    except DatasetNotFoundError as error:
        problem = error.diagnostics[0]
        raise DatasetNotFoundError(
            f"there is no file '{path}', and {problem.what}",
            location=place,
            why=f"{_looked_in(path, place)}; {problem.why}",
            hint=f"{_HINT}; or {problem.hint}",
        ) from error


def _matching(pattern: str, place: Location | None) -> list[Path]:
    """Return the files that a pattern names, sorted; upstream takes them in the folder's own order."""
    names = (sorted(glob.glob(str(root / pattern))) for root in roots(place))  # noqa: PTH207 - may be absolute
    found = ([Path(name) for name in listed] for listed in names)
    files = next((files for files in found if files), [])
    for file in files:
        _let_read(file, Path(), place)
    return files


def _looked_in(path: str, place: Location | None) -> str:
    return "looked in " + ", ".join(dict.fromkeys(str(root / path) for root in roots(place)))


# -- the same rows from the hub -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HubSource:
    """A hub dataset that has the rows of files.

    Attributes:
        pattern: The end of the files' paths; its groups fill ``config`` and ``split``.
        dataset: Id on the hub.
        config, split: Templates over the pattern's groups.
        names: Other names for what a group matched.
        columns: The file's columns as expressions over the hub's.
        where: Condition on the hub's rows.
        rest: Whether the hub's other columns stay.
    """

    pattern: re.Pattern[str]
    dataset: str
    config: str = ""
    split: str = "test"
    names: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    rest: bool = False

    def place(self, path: str) -> tuple[hub.Dataset, str]:
        """Return the dataset and the split that have the rows of a file."""
        match = self.pattern.search(_plain(path))
        groups = {name: self.names.get(text, text) for name, text in (match.groupdict() if match else {}).items()}
        return hub.Dataset(self.dataset, self.config.format(**groups) or None), self.split.format(**groups)

    def rows(self, path: str) -> Iterator[Row]:
        """Yield the rows of a file, as the file has them."""
        dataset, split = self.place(path)
        keep = compile_expression(self.where) if self.where else None
        made = {name: compile_expression(text, ("re",)) for name, text in self.columns.items()}
        for row in (row for part in split.split("+") for row in hub.rows(dataset, part)):
            if keep is not None and not keep(row):
                continue
            named = {**row, "row": row}
            new = {name: make(named) for name, make in made.items()}
            yield {**row, **new} if self.rest or not made else new


@cache
def _sources() -> tuple[HubSource, ...]:
    return tuple(HubSource(**{**entry, "pattern": re.compile(entry["pattern"] + "$")}) for entry in _table("hub.json"))


def hub_id(path: str) -> str:
    """Return the hub's id of a folder of the data folder; any other path is returned as it is."""
    known: Mapping[str, str] = _table("hub_ids.json")
    return known.get(_plain(path), path)


def hub_source(path: str) -> HubSource | None:
    """Return the hub dataset known to have the rows of a file of the data folder."""
    return next((source for source in _sources() if source.pattern.search(_plain(path))), None)


def _plain(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")
