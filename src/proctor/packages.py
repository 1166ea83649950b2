"""The packages of the systems whose exams are read: installed, or fetched by ``proctor get``. None is ever imported.

A fetched package lies in the user's state, by its version: ``packages/lm_eval/0.4.13/lm_eval/…`` and, beside the
versions, ``package.json``, which says which of them counts, with the digests of its wheel and of its files.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from proctor import foreign_text
from proctor.errors import ForgedError
from proctor.foreign_text import parse_json
from proctor.safe_files import Stamp, read_bytes, stamp_of, write_bytes, write_text
from proctor.state import place_in_state, seal, state_folder

_MOST_BYTES: Final = 1 << 16  # of package.json, which has four short entries


class Collection(NamedTuple):
    """Exams that a system publishes as a package.

    Attributes:
        name: What ``proctor get`` takes.
        package: The package's name where packages are published.
        module: The folder in it.
        below: Where its exams lie in that folder.
        what: What it holds, for people.
    """

    name: str
    package: str
    module: str
    below: str
    what: str


COLLECTIONS: Final = {
    each.name: each
    for each in (
        Collection("lm-eval", "lm_eval", "lm_eval", "tasks", "the tasks of lm-evaluation-harness"),
        Collection("opencompass", "opencompass", "opencompass", "configs", "the configs of OpenCompass"),
        Collection("ais-bench", "ais_bench_benchmark", "ais_bench", "benchmark/configs", "the configs of AISBench"),
        Collection("unitxt", "unitxt", "unitxt", "catalog", "the catalog of Unitxt"),
    )
}


def package_folder(module: str) -> Path | None:
    """Return the folder of a package by the name it is imported under, installed or fetched; ``None`` without one."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    for found in (spec, PathFinder.find_spec(module)):  # the first may be an alias of ours, which has no folder
        if found is not None and found.submodule_search_locations:
            return next((Path(each) for each in found.submodule_search_locations if Path(each).is_dir()), None)
    return fetched_folder(module)


def fetched_folder(module: str) -> Path | None:
    """Return the folder of a package that ``proctor get`` fetched; ``None`` without one.

    Raises:
        ForgedError: As :func:`fetched`.
    """
    about = fetched(module)
    if about is None:
        return None
    folder = packages_folder() / module / str(about["version"]) / module
    return folder if folder.is_dir() else None


def packages_folder() -> Path:
    """Return the folder of fetched packages."""
    return place_in_state("packages", _sealed_as_they_are)


def fetched(module: str) -> dict[str, Any] | None:
    """Return facts about a fetched package: ``package``, ``version``, ``sha256`` of its wheel, ``files``.

    Raises:
        ForgedError: They are not what was filed when it was fetched.
    """
    path = packages_folder() / module / _ABOUT
    try:
        changed = stamp_of(path)
    except OSError:
        return None
    return _about(path, changed)


def file_package(folder: Path, about: dict[str, Any]) -> None:
    """Write what is known of a fetched package, with digests of the files that it has now.

    Args:
        folder: Its folder, in which each version has one.
        about: What :func:`fetched` shall return.

    Raises:
        OSError: It cannot be written.
    """
    root = folder / str(about["version"])
    files = sorted(each for each in root.rglob("*") if each.is_file() and each.suffix not in _COMPILED)
    digests = {each.relative_to(root).as_posix(): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
    listed = json.dumps(digests).encode()
    write_bytes(folder / _DIGESTS, listed, mode=0o600)
    facts = {**about, "digests": hashlib.sha256(listed).hexdigest()}
    write_text(folder / _ABOUT, json.dumps({**facts, "seal": _seal(facts)}, indent=1), mode=0o600)


_FOLDER = f"{os.sep}packages{os.sep}"
_ABOUT, _DIGESTS = "package.json", "digests.json"
_COMPILED = (".pyc", ".pyo")


def _seal(facts: dict[str, Any]) -> str:
    return seal(b"package", json.dumps(facts, sort_keys=True).encode())


def _sealed_as_they_are(old: Path) -> bool:
    """File packages of earlier versions, which kept no digests of files, as they are now."""
    try:
        for path in old.glob(f"*/{_ABOUT}"):
            about = parse_json(read_bytes(path, _MOST_BYTES))
            file_package(path.parent, {name: about[name] for name in ("package", "version", "sha256", "files")})
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return True


@lru_cache(maxsize=16)
def _about(path: Path, changed: Stamp) -> dict[str, Any] | None:
    del changed  # part of the key: another version may be fetched meanwhile
    try:
        found = parse_json(read_bytes(path, _MOST_BYTES))
    except (OSError, json.JSONDecodeError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("version"), str):
        return None
    told = str(found.pop("seal", ""))
    if not hmac.compare_digest(told.encode(), _seal(found).encode()):
        raise _forged(path)
    return found


def _forged(path: Path) -> ForgedError:
    return ForgedError(
        f"{path} is not what proctor get filed",
        why="its digest is another one: somebody else wrote it",
        hint="nothing of it is used; proctor get fetches the package anew",
    )


def check_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Look at a file that is read, where it is one of a fetched package.

    Raises:
        ForgedError: It is not what was fetched.
    """
    if _FOLDER not in os.fspath(path):
        return  # said before links are followed: this is asked of every file that a person wrote
    place = Path(os.path.realpath(path))
    root = (state_folder() / "packages").resolve()
    if not place.is_relative_to(root):
        return
    module, version, *inside = place.relative_to(root).parts
    about = fetched(module)
    if about is None or about["version"] != version or not inside:
        raise _forged(place)
    if (
        _digests(root / module / _DIGESTS, about["digests"]).get("/".join(inside))
        != hashlib.sha256(content).hexdigest()
    ):
        raise _forged(place)


@lru_cache(maxsize=8)
def _digests(path: Path, digest: str) -> dict[str, str]:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise _forged(path)
    found: dict[str, str] = json.loads(content)
    return found


def check_module(file: Path) -> None:
    """Look at a module that is about to run, where it is one of a fetched package.

    Raises:
        ForgedError: As :func:`check_file`.
    """
    if file.resolve().is_relative_to((state_folder() / "packages").resolve()):
        check_file(file, file.read_bytes())


foreign_text.checks.append(check_file)
