"""Runs inside lm-eval's own environment: loads every task file as lm-eval does, functions included, and writes reasons.

Usage: ``python load_oracle.py tasks_folder out.json``. Writes a mapping from file to ``""``, or to why it does not load.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TQDM_DISABLE="1")
logging.disable(logging.CRITICAL)

from lm_eval.config.task import TaskConfig  # noqa: E402
from lm_eval.tasks._yaml_loader import load_yaml  # noqa: E402


def loaded(path: Path) -> str | None:
    """Return why a task file does not load, empty where it does, ``None`` where it is not a task that keys describe."""
    try:
        config = load_yaml(path, resolve_func=False)
    except Exception as error:  # noqa: BLE001 - the reason is what is asked for
        return f"{type(error).__name__}: {error}"[:300]
    if not isinstance(config.get("task"), str) or "class" in config:
        return None
    try:
        config = load_yaml(path, resolve_func=True)
        for key in ("tag", "group", "task_list"):
            config.pop(key, None)
        TaskConfig(**config)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - code of task files may even exit
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def main() -> None:
    """Load every file below a folder."""
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.rglob("*.yaml") if "__pycache__" not in path.parts)
    found = {str(path): reason for path in files if (reason := loaded(path)) is not None}
    Path(sys.argv[2]).write_text(json.dumps(found))
    print(f"{len(found)} tasks, {sum(not reason for reason in found.values())} load")


if __name__ == "__main__":
    main()
