"""Catalogs: named, saved artifacts, one JSON file each.

A name is a path: ``templates.qa.open`` is ``templates/qa/open.json`` in the catalog's folder. When several catalogs
have a name, the first of these wins: paths of ``PROCTOR_CATALOGS`` from last to first, then catalogs registered in
the program from newest to oldest, then the user's own catalog, then the built-in one, then those of installed packages,
then Unitxt's. What Unitxt's judges are asked is Unitxt's before it is the built-in catalog's (:data:`JUDGING`);
``proctor.NAME`` is the built-in artifact whatever other catalogs have.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from proctor.artifacts.names import is_name
from proctor.errors import ArtifactError, Location, UnknownArtifactError, did_you_mean, reason_of
from proctor.foreign_text import NotAFileError, parse_json, read_source_text
from proctor.packages import package_folder
from proctor.plugins import exam_folders, plugins
from proctor.safe_files import Stamp, stamp_of, subfolder, write_text
from proctor.settings import settings
from proctor.state import data_home

_METRICS = "metrics."
"""Where catalogs keep metrics: people write ``metrics.NAME`` for those of packages, too."""


class Catalog(Protocol):
    """A store of artifacts by name."""

    def path_of(self, name: str) -> Path | None:
        """Return the file of an artifact, or ``None`` where this catalog does not have it."""

    def names(self) -> Iterator[str]:
        """Yield every name in alphabetical order."""


class LocalCatalog:
    """A catalog in a folder.

    Args:
        folder: The folder; it is made when something is added. ``location`` is the same, as text.
        title: What people call the catalog.
    """

    def __init__(self, folder: str | os.PathLike[str], title: str = "") -> None:
        self.folder = Path(folder).expanduser()
        self.title = title or str(self.folder)
        self.location = str(self.folder)
        self._prefix = f"{self.folder}{os.sep}"

    def path_of(self, name: str) -> Path | None:
        """Return the file of an artifact, or ``None``."""
        path = self.file_for(name)
        return path if path.is_file() else None

    def file_for(self, name: str) -> Path:
        """Return the file of an artifact of this name, whether it exists or not."""
        if not is_name(name) or "" in name.split("."):
            raise ArtifactError(f"'{name}' cannot name an artifact", why="names are words joined by dots")
        return Path(f"{self._prefix}{name.replace('.', os.sep)}.json")

    def names(self) -> Iterator[str]:
        """Yield every name in alphabetical order."""
        for path in sorted(self.folder.rglob("*.json")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            if all(is_name(part) and "." not in part for part in parts):
                yield ".".join(parts)

    def save(self, name: str, data: dict[str, Any], *, overwrite: bool = False) -> Path:
        """Write an artifact's data; the file is complete or not there at all.

        Raises:
            ArtifactError: The name is taken and ``overwrite`` is off, or the folder cannot be written.
        """
        path = self.file_for(name)
        if path.exists() and not overwrite:
            raise ArtifactError(f"'{name}' already exists in the catalog {self.title}", hint="pass overwrite=True")
        try:
            subfolder(self.folder, *path.parent.relative_to(self.folder).parts)
            write_text(path, json.dumps(data, indent=4, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ArtifactError(f"'{name}' cannot be saved in {self.folder}", why=reason_of(error)) from error
        return path

    def __repr__(self) -> str:
        return f"LocalCatalog({str(self.folder)!r})"


@cache
def builtin_catalog() -> LocalCatalog:
    """Return the catalog that ships with the package."""
    return LocalCatalog(str(files("proctor.catalog")), title="built-in")


def user_catalog() -> LocalCatalog:
    """Return the catalog in the user's data folder, where ``add_to_catalog`` saves by default."""
    return _catalog_at(str(data_home() / "catalog"), "yours")


@lru_cache(maxsize=256)
def _catalog_at(path: str, title: str = "") -> LocalCatalog:
    return LocalCatalog(path, title=title)


class BroughtCatalog:
    """The artifacts of installed packages, searched last because that takes time.

    Attributes:
        title: What people call it.
    """

    title = "of installed packages"

    def path_of(self, name: str) -> Path | None:
        """Return the file of an artifact, or ``None``."""
        return next((path for each in self._catalogs() if (path := each.path_of(name)) is not None), None)

    def names(self) -> Iterator[str]:
        """Yield every name in alphabetical order."""
        yield from sorted({name for each in self._catalogs() for name in each.names()})

    def _catalogs(self) -> Iterator[LocalCatalog]:
        return (_catalog_at(str(folder)) for folder in exam_folders())


class UnitxtCatalog(BroughtCatalog):
    """Unitxt's catalog, where its package is installed or ``proctor get unitxt`` fetched it."""

    title = "of Unitxt's package"

    def _catalogs(self) -> Iterator[LocalCatalog]:
        folder = package_folder("unitxt")
        if folder is not None and (folder / "catalog").is_dir():
            yield _catalog_at(str(folder / "catalog"))


BROUGHT, UNITXT = BroughtCatalog(), UnitxtCatalog()
_registered: list[Catalog] = []


def register_catalog(catalog: Catalog) -> None:
    """Make a catalog's artifacts known; it comes before those registered earlier."""
    unregister_catalog(catalog)
    _registered.insert(0, catalog)


def unregister_catalog(catalog: Catalog) -> None:
    """Take back :func:`register_catalog`."""
    folder = getattr(catalog, "folder", None)
    _registered[:] = [
        each
        for each in _registered
        if each is not catalog and (folder is None or getattr(each, "folder", None) != folder)
    ]


def register_local_catalog(path: str | os.PathLike[str]) -> LocalCatalog:
    """Register the catalog in a folder.

    Raises:
        ArtifactError: There is no such folder.
    """
    catalog = LocalCatalog(path)
    if not catalog.folder.is_dir():
        raise ArtifactError(f"there is no folder {catalog.folder}", hint="make it first, or check the path")
    register_catalog(catalog)
    return catalog


OWN = "proctor."
"""What stands before the name of a built-in artifact that is meant whatever other catalogs have."""
JUDGING = re.compile(
    r"metrics\.(llm_as_judge\.|rag\.(\w+\.)+(llama_3|generic_inference_engine)|.*judge$)"
    r"|templates\.(rag_eval|response_assessment|safety)\."
)
"""Names of judges, their criteria and templates: the words are Unitxt's, where it is here."""


def catalogs() -> list[Catalog]:
    """Return every catalog, the one that wins first."""
    return [*_chosen(), builtin_catalog(), BROUGHT, UNITXT]


def _chosen() -> list[Catalog]:
    paths = [path for path in str(settings.catalogs or "").split(":") if path]
    foreign = [path for path in os.environ.get("UNITXT_CATALOGS", "").split(":") if path]
    named: list[Catalog] = [_catalog_at(path) for path in reversed(foreign + paths)]
    return [*named, *_registered, user_catalog()]


def _searched(name: str) -> list[Catalog]:
    if name.startswith(OWN):
        return [builtin_catalog()]
    return [*_chosen(), UNITXT, builtin_catalog(), BROUGHT] if JUDGING.match(name) else catalogs()


def stands_in(artifact: Any) -> bool:
    """Whether an artifact that goes by a name of Unitxt's judges is the built-in one, in words of ours."""
    name, place = artifact.artifact_id or "", artifact.location
    is_theirs = JUDGING.match(name) is not None and place is not None
    return is_theirs and Path(place.file).is_relative_to(builtin_catalog().folder)


def place_of(name: str, among: list[Catalog] | None = None) -> Path | None:
    """Return the file of an artifact in the first catalog that has it; ``None`` where none has."""
    searched = _searched(name) if among is None else among
    bare = name.removeprefix(OWN)
    return next((path for catalog in searched if (path := catalog.path_of(bare)) is not None), None)


def find(name: str, among: list[Catalog] | None = None) -> Path:
    """Return the file of an artifact in the first catalog that has it.

    Raises:
        UnknownArtifactError: With the closest names there are.
    """
    searched = _searched(name) if among is None else among
    if (path := place_of(name, searched)) is not None:
        return path
    known = chain(
        (each for catalog in searched for each in catalog.names()), plugins("metrics") if among is None else ()
    )
    near = did_you_mean(name, known)
    raise UnknownArtifactError(
        f"no catalog has '{name}'",
        why=f"searched: {', '.join(dict.fromkeys(map(_shown, searched)))}",
        hint=near or "proctor ls lists what there is; register_local_catalog(folder) adds a catalog",
    )


def type_of_plugin(name: str) -> str | None:
    """Return the ``__type__`` of a class that an installed package brings, by its name there or as ``metrics.NAME``.

    A name that a catalog has too is the catalog's.
    """
    kind = name.removeprefix(_METRICS)
    return kind if kind in plugins("metrics") and place_of(name) is None else None


def _shown(catalog: Catalog) -> str:
    title = str(getattr(catalog, "title", repr(catalog)))
    return f"{title} (there is no such folder)" if catalog in missing_catalogs() else title


def missing_catalogs() -> list[LocalCatalog]:
    """Return the catalogs that settings name and whose folders are not there; your own may be made later."""
    own = user_catalog().title
    return [
        each for each in catalogs() if isinstance(each, LocalCatalog) and each.title != own and not each.folder.is_dir()
    ]


def read_json(path: Path) -> dict[str, Any]:
    """Read an artifact file.

    Raises:
        ArtifactError: It cannot be read, is not JSON (with line and column), or is not an object.
    """
    with suppress(OSError):
        found: dict[str, Any] = parse_json(_read_text(str(path), stamp_of(path)))
        return found
    raise ArtifactError("the file cannot be read", location=Location(str(path)))


@lru_cache(maxsize=16384)
def _read_text(path: str, modified: Stamp) -> str:
    del modified  # part of the cache key: a changed file is read again
    try:
        text = read_source_text(path)
        data = parse_json(text)
    except json.JSONDecodeError as error:
        raise ArtifactError(
            "the file is not valid JSON", location=Location(path, error.lineno, error.colno), why=error.msg
        ) from None
    except NotAFileError as error:
        raise ArtifactError("the file cannot be read", location=Location(path), why=str(error)) from None
    except UnicodeDecodeError as error:
        raise ArtifactError("the file is not UTF-8 text", location=Location(path), why=str(error)) from None
    if not isinstance(data, dict):
        hint = "rows of a table are written one object a line, into a file NAME.jsonl" if isinstance(data, list) else ""
        raise ArtifactError("the file does not hold a JSON object", location=Location(path, 1, 1), hint=hint)
    return text
