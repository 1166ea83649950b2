"""Records the signatures of what trackers are called by, from the real packages: ``python tracker_signatures.py FILE``."""

import importlib
import inspect
import json
import sys
from pathlib import Path

CALLED = {
    "mlflow": [
        "MlflowClient",
        *(
            f"MlflowClient.{name}"
            for name in ("get_experiment_by_name", "create_experiment", "create_run", "log_batch")
        ),
        *(f"MlflowClient.{name}" for name in ("log_table", "log_artifact", "set_terminated")),
        "entities.Metric",
        "entities.Param",
        "exceptions.MlflowException",
    ],
    "wandb": ["init", "Settings", "Artifact", "Artifact.add_file", "Table", "Run.log", "Run.log_artifact", "Error"],
    "trackio": ["init", "log", "Table", "Artifact", "Artifact.add_file", "log_artifact", "finish"],
}


def signature(package, path):
    found = importlib.import_module(package)
    for part in path.split("."):
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(f"{package}.{part}")
    if hasattr(found, "model_fields"):  # pydantic
        return [[name, "KEYWORD_ONLY", True] for name in found.model_fields]
    parameters = inspect.signature(found).parameters.values()
    return [[each.name, each.kind.name, each.default is not each.empty] for each in parameters]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    known = json.loads(target.read_text()) if target.exists() else {}
    for package, paths in CALLED.items():
        try:
            version = importlib.import_module(package).__version__
        except ImportError:
            continue
        known[package] = {"version": version, "signatures": {path: signature(package, path) for path in paths}}
    target.write_text(json.dumps(known, sort_keys=True).replace("]], ", "]],\n ") + "\n")
