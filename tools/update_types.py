"""Write ``artifacts/types.json``: the ``__type__`` of every artifact class with its ``module:Class``.

Run it after adding or renaming an artifact class; a test fails when the file is stale.
"""

from __future__ import annotations

import json
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
TARGET = SOURCE / "proctor" / "artifacts" / "types.json"
SKIPPED = (
    "proctor.catalog",
    "proctor.compat",
    "proctor.guests.unitxt.functions",
    "proctor.cli",
    "proctor.web",
    "proctor.testing",
    "proctor.integrations",
    "proctor.__main__",
)


def collect() -> dict[str, str]:
    """Return the table, by importing every module of the package."""
    import proctor
    from proctor.artifacts.artifact import Artifact
    from proctor.artifacts.names import snake_case

    for module in pkgutil.walk_packages(proctor.__path__, "proctor."):
        if not module.name.startswith(SKIPPED):
            import_module(module.name)
    table: dict[str, str] = {}
    pending = [Artifact]
    while pending:
        for cls in pending.pop().__subclasses__():
            pending.append(cls)
            if not cls.__module__.startswith("proctor.") or "<locals>" in cls.__qualname__ or "[" in cls.__name__:
                continue
            name, place = snake_case(cls.__name__), f"{cls.__module__}:{cls.__qualname__}"
            if table.setdefault(name, place) != place:
                raise SystemExit(f"two classes are named '{name}': {table[name]} and {place}")
    return dict(sorted(table.items()))


def main() -> None:
    """Write the file, or with ``--check`` fail where it is stale."""
    sys.path.insert(0, str(SOURCE))
    text = json.dumps(collect(), indent=1) + "\n"
    if "--check" in sys.argv:
        raise SystemExit(0 if TARGET.read_text(encoding="utf-8") == text else f"{TARGET} is stale: run {sys.argv[0]}")
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
