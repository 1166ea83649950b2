"""Writes the names of the exams that ``proctor get`` can fetch, so that an unknown name can say who has it.

    proctor get lm-eval && proctor get opencompass && proctor get ais-bench && proctor get unitxt
    python tools/update_known_names.py

Only names are kept, not what they stand for.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from proctor.artifacts.catalogs import LocalCatalog, builtin_catalog
from proctor.dialects.aisbench.index import EXAMS, config_entries
from proctor.dialects.known_names import FILE
from proctor.dialects.lm_eval.index import build_index
from proctor.packages import COLLECTIONS, fetched_folder

SOURCES = {"opencompass": "opencompass", "aisbench": "ais-bench"}


def names() -> dict[str, set[str]]:
    """Return the names of each collection.

    Raises:
        SystemExit: One of them was not fetched.
    """
    absent = [name for name, each in COLLECTIONS.items() if fetched_folder(each.module) is None]
    if absent:
        raise SystemExit("\n".join(f"proctor get {name}" for name in absent))
    found: dict[str, set[str]] = {name: set() for name in COLLECTIONS}
    found["lm-eval"] = set(build_index().entries)
    for entry in config_entries(()).values():
        if entry.source in SOURCES and entry.kind in EXAMS:
            found[SOURCES[entry.source]].add(entry.name)
    folder = fetched_folder("unitxt")
    found["unitxt"] = set(LocalCatalog(str(folder / "catalog")).names()) if folder is not None else set()
    found["unitxt"] -= set(builtin_catalog().names())
    return found


def main() -> None:
    """Write the file."""
    lines = [f"{name}: {' '.join(sorted(known))}" for name, known in names().items()]
    place = Path(__file__).parents[1] / "src" / "proctor" / "dialects" / FILE
    place.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
