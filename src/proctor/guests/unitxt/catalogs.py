"""What Unitxt's programs ask of catalogs and of artifacts in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.artifacts import Artifact, LocalCatalog, catalogs, fetch_artifact
from proctor.artifacts.catalogs import read_json
from proctor.errors import UnknownArtifactError, UnknownTypeError
from proctor.logs import get_logger
from proctor.results.unitxt_print import pretty_text
from proctor.safe_files import written

# -- what is in catalogs ------------------------------------------------------------------------------------------


def get_local_catalogs_paths() -> list[str]:
    """Return the folders of all catalogs."""
    return [str(each.folder) for each in catalogs() if isinstance(each, LocalCatalog)]


def local_catalog_summary(catalog_path: str) -> dict[str, int]:
    """Return the number of files in each folder of a catalog."""
    return {
        each.name: sum(1 for path in each.rglob("*") if path.is_file())
        for each in Path(catalog_path).iterdir()
        if each.is_dir()
    }


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


@lru_cache(maxsize=None)  # noqa: UP033 - named as programs read it; artifacts are few
def artifacts_json_cache(artifact_path: str) -> Any:
    """Return what a file of JSON holds; ``artifacts_json_cache.cache_clear()`` forgets it."""
    return json.loads(Path(artifact_path).read_text(encoding="utf-8"))
