"""Prints which methods of Unitxt's classes nothing calls here, so that a class that overrides one is refused.

Usage: ``python -m conformance.unitxt.overrides [--oracle PYTHON] > src/proctor/guests/unitxt/overrides.json``. Exits
with 1 where no class of Unitxt was found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from conformance.unitxt.operators import ORACLE

from proctor.artifacts import Artifact
from proctor.artifacts.names import snake_case
from proctor.artifacts.registry import registry
from proctor.guests.names.unitxt import UNITXT
from proctor.guests.table import Table

WITHOUT_EFFECT = frozenset(
    {
        *("get_repr_dict", "is_artifact_file", "is_registered_class", "is_registered_class_name", "register_class"),
        *("log_limited_loading", "is_in_cache", "task_deprecations", "check_missing_requirements", "get_metric_name"),
    }
)
"""Methods whose override changes no row, prompt or score there either."""
PRESENT = {
    "Artifact": ("serialize",),
    "DatasetRecipe": ("production_preprocess",),
    "DiverseLabelsSampler": ("exemplar_repr",),
    "Format": ("verify_instance",),
    "Metric": ("process_instance", "verify_instance"),
    "SystemPrompt": ("verify_instance",),
    "Task": ("check_metrics_type", "set_default_values"),
    "Template": ("process_instance", "verify_instance"),
}
"""By class here: methods that it has for who calls them himself, and that no recipe and no evaluation calls."""


def main() -> None:
    """Ask Unitxt for its methods, and print those that are not here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=ORACLE)
    given = parser.parse_args()
    program = Path(__file__).with_name("overrides_oracle.py")
    done = subprocess.run([given.oracle, str(program)], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    classes: dict[str, set[str]] = {}
    for name, methods in told["methods"].items():
        if (ours := class_of(UNITXT, name)) is not None:
            classes.setdefault(ours.__name__, set()).update(missing(ours, methods))
    table = {
        "version": told["version"],
        "classes": {name: sorted(each) for name, each in sorted(classes.items()) if each},
        "present": {name: list(each) for name, each in PRESENT.items()},
    }
    print(json.dumps(table, indent=1))
    sys.exit(0 if table["classes"] else 1)


def missing(ours: type, methods: list[str]) -> set[str]:
    """Return the methods that a class here does not have."""
    return {each for each in set(methods) - WITHOUT_EFFECT if not hasattr(ours, each)}


def class_of(table: Table, name: str) -> type | None:
    """Return the class that programs get for a name of Unitxt's, ``None`` where they get none."""
    if snake_case(name) in registry and (found := registry.get(snake_case(name))).__name__ == name:
        return found
    for module, names in table.places.items():
        if name in names:
            found = table.find(module, name)
            return found if isinstance(found, type) and issubclass(found, Artifact) else None
    return None


if __name__ == "__main__":
    main()
