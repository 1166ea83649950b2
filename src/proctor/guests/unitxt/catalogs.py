"""What Unitxt's programs ask of catalogs and of artifacts in them."""

from __future__ import annotations

import copy
import difflib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.artifacts import Artifact, Catalog, LocalCatalog, catalogs, fetch_artifact, unregister_catalog
from proctor.artifacts import register_catalog as registered
from proctor.artifacts.catalogs import read_json
from proctor.artifacts.registry import registry
from proctor.errors import UnknownArtifactError, UnknownTypeError
from proctor.guests.unitxt.helpers import is_name_legal_for_catalog, verbosed_fetch_artifact
from proctor.guests.unitxt.texts import separate_inside_and_outside_square_brackets
from proctor.logs import get_logger
from proctor.results.unitxt_print import pretty_text
from proctor.safe_files import written
from proctor.settings import settings


class Catalogs:
    """All catalogs, the one that was registered last first."""

    def __iter__(self) -> Iterator[Catalog]:
        return iter(catalogs())

    def register(self, catalog: Catalog) -> None:
        """Look in a catalog before all others."""
        registered(catalog)

    def unregister(self, catalog: Catalog) -> None:
        """Look in a catalog no more."""
        unregister_catalog(catalog)

    def reset(self) -> None:
        """Forget all catalogs that were registered; those of this package stay."""
        for catalog in list(catalogs()):
            if isinstance(catalog, LocalCatalog):
                unregister_catalog(catalog)


class ArtifactList(list[Any]):
    """A list of artifacts."""

    def prepare(self) -> None:
        """Prepare each of them."""
        for artifact in self:
            artifact.prepare()


def verify_legal_catalog_name(name: str) -> None:
    """Check a name.

    Raises:
        AssertionError: No artifact in a catalog can have it.
    """
    if not is_name_legal_for_catalog(name):
        raise AssertionError(f"no artifact can be named '{name}': letters, digits and '_' between dots make a name")


def dict_diff_string(dict1: Mapping[str, Any], dict2: Mapping[str, Any], max_diff: int = 200) -> str:
    """Return how two dicts differ, a line for each name that was added, removed or changed."""

    def lines(names: Sequence[str], values: Mapping[str, Any], label: str) -> Iterator[str]:
        for name in names:
            text = str(values[name])
            yield f" - {name} ({label}): {text}" if len(text) <= max_diff else f" - {name} ({label})"

    def changed() -> Iterator[str]:
        for name in [each for each in dict1 if each in dict2 and str(dict1[each]) != str(dict2[each])]:
            old, new = str(dict1[name]), str(dict2[name])
            short = max(len(old), len(new)) <= max_diff
            yield f" - {name} (changed): {old} -> {new}" if short else f" - {name} (changed)"

    added = [name for name in dict2 if name not in dict1]
    removed = [name for name in dict1 if name not in dict2]
    return "\n".join([*lines(added, dict2, "added"), *lines(removed, dict1, "removed"), *changed()])


def get_closest_artifact_type(type: str) -> str | None:  # noqa: A002 - the name that programs may give
    """Return the type whose name is most like a given one, or ``None``."""
    return next(iter(difflib.get_close_matches(type, list(registry))), None)


def get_catalog_name_and_args(name: str, catalogs: Sequence[Catalog] | None = None) -> tuple[Catalog, str, Any]:
    """Return the catalog that has an artifact, its name, and the values in the brackets after it.

    Raises:
        UnknownArtifactError: None has it.
    """
    plain, values = separate_inside_and_outside_square_brackets(name)
    for catalog in Catalogs() if catalogs is None else catalogs:
        if catalog.path_of(plain) is not None:
            return catalog, plain, values
    raise UnknownArtifactError(f"Artifact {plain} does not exist", why="no catalog has it")


def maybe_recover_artifact(obj: Any) -> Any:
    """Return the artifact that a name or data mean; anything else as it is."""
    if isinstance(obj, dict) and "__type__" in obj:
        return fetch_artifact(obj)
    if isinstance(obj, str) and any(catalog.path_of(obj.partition("[")[0]) is not None for catalog in catalogs()):
        return verbosed_fetch_artifact(obj)
    return obj


def maybe_recover_artifacts_structure(obj: Any) -> Any:
    """Return a list or dict with artifacts in the places of what means them."""
    found = maybe_recover_artifact(obj)
    if found is not obj:
        return found
    if isinstance(obj, dict):
        obj.update({name: maybe_recover_artifact(value) for name, value in obj.items()})
    if isinstance(obj, list):
        obj[:] = map(maybe_recover_artifact, obj)
    return obj


def get_raw(obj: Any) -> Any:
    """Return a value with every artifact in it as its name, or as data where it has none."""
    if isinstance(obj, Artifact):
        return obj.artifact_id or {name: getattr(obj, name) for name in type(obj).model_fields}
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*map(get_raw, obj))
    if isinstance(obj, (list, tuple)):
        return type(obj)(map(get_raw, obj))
    if isinstance(obj, dict):
        return type(obj)({get_raw(name): get_raw(value) for name, value in obj.items()})
    return copy.copy(obj)


# -- what is in catalogs ------------------------------------------------------------------------------------------


def get_local_catalogs_paths() -> list[str]:
    """Return the folders of all catalogs."""
    return [str(each.folder) for each in catalogs() if isinstance(each, LocalCatalog)]


def count_files_recursively(folder: str) -> int:
    """Return the number of files below a folder."""
    return sum(each.is_file() for each in Path(folder).rglob("*"))


def local_catalog_summary(catalog_path: str) -> dict[str, int]:
    """Return the number of files in each folder of a catalog."""
    return {each.name: count_files_recursively(str(each)) for each in Path(catalog_path).iterdir() if each.is_dir()}


def summary() -> Counter[str]:
    """Log and return how many artifacts there are of each kind."""
    return _logged(Counter(name.partition(".")[0] for name in ls(_quiet)))


def count_tags() -> Counter[str]:
    """Log and return how many artifacts have each tag."""
    found: Counter[str] = Counter()
    for catalog in catalogs():
        for name in catalog.names():
            path = catalog.path_of(name)
            tags = read_json(path).get("__tags__") if path is not None else None
            for tag, value in (tags or {}).items():
                found.update(f"{tag}:{each}" for each in (value if isinstance(value, list) else [value]))
    return _logged(found)


def _logged(found: Counter[str]) -> Counter[str]:
    get_logger().info("\n%s", pretty_text(dict(found)))
    return found


def _quiet(_: str) -> None:
    """Say nothing."""


def ls(to_file: str | Callable[[str], None] | None = None) -> list[str]:
    """Return the names of all artifacts, and log them or write them into a file."""
    names = sorted({name for catalog in catalogs() for name in catalog.names()})
    text = "\n".join(names)
    if callable(to_file):
        to_file(text)
    elif to_file:
        with written(Path(to_file)) as file:
            file.write(text.encode())
    else:
        get_logger().info("%s", text)
    return names


def fetch(artifact_name: str, overwrite_kwargs: dict[str, Any] | None = None) -> Artifact | None:
    """Return an artifact, or ``None`` where no catalog has it."""
    try:
        return fetch_artifact(artifact_name, overwrite_kwargs)
    except (UnknownArtifactError, UnknownTypeError):
        return None


def _reset_env_local_catalogs() -> None:
    """Check what the environment names; the folders are read when a catalog is asked.

    Raises:
        SettingsError: It names some by the variable of today, and some by that of before.
    """
    _ = settings.catalogs


@lru_cache(maxsize=None)  # noqa: UP033 - named as programs read it; artifacts are few
def artifacts_json_cache(artifact_path: str) -> Any:
    """Return what a file of JSON holds; ``artifacts_json_cache.cache_clear()`` forgets it."""
    return json.loads(Path(artifact_path).read_text(encoding="utf-8"))
