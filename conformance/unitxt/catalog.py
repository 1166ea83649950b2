"""Whether Proctor reads the whole catalog of an installed ``unitxt``: every file is built and written again.

Usage: ``python -m conformance.unitxt.catalog [--catalog FOLDER] [--show 20] [--kinds cards,tasks]``.
Says for each kind how many artifacts there are, build, and come out as they went in; then what the others lack.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from proctor.artifacts import LocalCatalog, fetch_artifact, register_catalog
from proctor.artifacts.catalogs import catalogs, read_json
from proctor.artifacts.names import is_name
from proctor.artifacts.types import parse_type_string, to_type_string
from proctor.errors import ProctorError

DEFAULT = Path("/tmp/uvenv/lib/python3.11/site-packages/unitxt/catalog")  # noqa: S108 - where the oracle is installed
OUTSIDE = ("metrics", "engines")


def linked(text: str) -> str:
    """Return the name that a link leads to, with its overwrites; other text as it is."""
    name = text.partition("[")[0]
    if "." not in name or not is_name(name) or "" in name.split("."):
        return text
    path = next((path for catalog in catalogs() if (path := catalog.path_of(name)) is not None), None)
    if path is not None and (data := read_json(path))["__type__"] == "artifact_link":
        return f"{data['to']}{text[len(name) :]}"
    return text


def canonical(value: Any) -> Any:
    """Return JSON data with types in one notation (``list[str]`` equals ``List[str]``) and links followed."""
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items() if key != "__id__"}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, str) and ("[" in value or value in ("list", "dict")) and len(value) < 200:
        try:
            return to_type_string(parse_type_string(value))
        except ProctorError:
            return linked(value)
    return linked(value) if isinstance(value, str) else value


def check(name: str, path: Path) -> tuple[str, str]:
    """Return ``ok``, ``differs`` or ``fails``, and why."""
    try:
        artifact = fetch_artifact(name)
        written = artifact.to_dict()
    except ProctorError as error:
        first = error.diagnostics[0]
        return "fails", f"{type(error).__name__}: {first.what} {first.why}"[:220]
    given = json.loads(path.read_text(encoding="utf-8"))
    if given.get("__type__") == "artifact_link" or canonical(written) == canonical(given):
        return "ok", ""
    keys = [key for key in {**given, **written} if canonical(given.get(key)) != canonical(written.get(key))]
    return "differs", f"{given['__type__']}: {', '.join(keys)}"


def main() -> None:
    """Print the table and the reasons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalog", type=Path, default=DEFAULT)
    parser.add_argument("--show", type=int, default=15)
    parser.add_argument("--kinds", default="")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    catalog = LocalCatalog(arguments.catalog)
    register_catalog(catalog)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: Counter[str] = Counter()
    reasons: dict[str, list[str]] = defaultdict(list)
    for name in catalog.names():
        kind = name.partition(".")[0]
        if arguments.kinds and kind not in arguments.kinds.split(","):
            continue
        started = time.process_time()
        outcome, why = check(name, catalog.file_for(name))
        seconds[kind] += time.process_time() - started
        kinds[kind][outcome] += 1
        if why:
            reasons[f"{outcome}: {why}"].append(name)
    for kind, counts in sorted(kinds.items()):
        built = counts["ok"] + counts["differs"]
        print(f"{kind:16} {counts.total():5} build {built:5} same {counts['ok']:5} {seconds[kind]:6.1f} CPU s")
    inside = [counts for kind, counts in kinds.items() if kind not in OUTSIDE]
    total = sum(counts.total() for counts in inside)
    failed = sum(counts["fails"] for counts in inside)
    share = 100 * (total - failed) / max(total, 1)
    print(f"outside {' and '.join(OUTSIDE)}: {total - failed} of {total} build ({share:.2f}%)")
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1]))[: arguments.show]:
        print(f"{len(names):5} {reason}   e.g. {names[0]}")


if __name__ == "__main__":
    main()
