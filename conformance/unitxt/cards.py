"""Whether cards make the same instances of real rows as Unitxt's: loading, preprocessing and the task.

Usage: ``python -m conformance.unitxt.cards [--oracle PYTHON] [--catalog FOLDER] [--hub FOLDER] [--rows 40]``. Compares
every card of Unitxt's catalog whose dataset is in the folder of real datasets. Exits with 1 where one differs, or none
was compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.unitxt.catalog import DEFAULT
from conformance.unitxt.operators import ORACLE

from proctor.artifacts import LocalCatalog, fetch_artifact, register_catalog
from proctor.data import hub
from proctor.data.operator import SequentialOperator
from proctor.settings import settings
from proctor.tasks.card import TaskCard

HUB = Path(__file__).resolve().parents[3] / "shared" / "data" / "hub"


def mirrored(catalog: LocalCatalog) -> list[dict[str, Any]]:
    """Return the cards whose dataset is in the mapped folder, with its place there."""
    cases = []
    for name in catalog.names():
        if not name.startswith("cards."):
            continue
        loader = json.loads(catalog.file_for(name).read_text(encoding="utf-8")).get("loader") or {}
        folder = hub.local_folder(loader["path"]) if loader.get("__type__") == "load_hf" else None
        if folder is not None and (not loader.get("name") or (folder / loader["name"]).is_dir()):
            cases.append({"kind": "card", "card": name, "path": str(folder)})
    return cases


def answer(case: dict[str, Any]) -> dict[str, str]:
    """Return Proctor's instances of each split."""
    try:
        card = fetch_artifact(case["card"])
        if not isinstance(card, TaskCard):
            return {"error": "no card"}
        streams = card.task(SequentialOperator(steps=card.preprocess_steps or [])(card.rows()))
        made = {name: [instance(row) for row in islice(stream, case["rows"])] for name, stream in streams.items()}
        return {"value": repr(dict(sorted(made.items())))}
    except Exception as error:  # noqa: BLE001 - what is refused is part of the comparison
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def instance(row: dict[str, Any]) -> dict[str, Any]:
    """Return what is compared of an instance."""
    return {key: row[key] for key in ("input_fields", "reference_fields", "metrics", "data_classification_policy")}


def main() -> int:
    """Print how many cards are equal, and the others; return 1 where there is one, or no card at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=ORACLE)
    parser.add_argument("--catalog", type=Path, default=DEFAULT)
    parser.add_argument("--hub", type=Path, default=HUB)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    settings.hub_dir = arguments.hub
    catalog = LocalCatalog(arguments.catalog)
    register_catalog(catalog)
    cases = [{**case, "rows": arguments.rows} for case in mirrored(catalog)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True", "PYTHONPATH": ""}
    lines = subprocess.run(
        [arguments.oracle, str(Path(__file__).with_name("operators_oracle.py"))],
        input="\n".join(map(json.dumps, cases)),
        capture_output=True, text=True, check=True, env=environment,
    ).stdout.splitlines()  # fmt: skip
    outcomes: Counter[str] = Counter()
    for case, line in zip(cases, lines, strict=True):
        theirs, ours = json.loads(line), answer(case)
        same = theirs.get("value") == ours.get("value") if "value" in theirs else "error" in ours
        outcome = "equal" if same and "value" in theirs else "refused by both" if same else "different"
        outcomes[outcome] += 1
        if not same and outcomes[outcome] <= arguments.show:
            left, right = (str(each.get("value", each)) for each in (theirs, ours))
            start = max(next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0) - 80, 0)
            print(
                case["card"],
                f"  unitxt:  {left[start : start + 240]}",
                f"  proctor: {right[start : start + 240]}",
                sep="\n",
            )
    print(f"{len(cases)} cards on real rows: {', '.join(f'{count} {name}' for name, count in outcomes.items())}")
    return int(not cases or outcomes["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
