"""Run by the oracle's Python: evaluate batches with Unitxt and write the scores as JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Return scores as JSON-like data."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def from_json(value: Any) -> Any:
    """Return values with their Python types: what JSON writes as a list of pairs are tuples in Unitxt."""
    if isinstance(value, dict) and set(value) == {"__tuple__"}:
        return tuple(from_json(item) for item in value["__tuple__"])
    if isinstance(value, dict):
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value


def scores(metric: Any, batch: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of a batch, or the error."""
    from unitxt.stream import MultiStream

    batch = from_json(batch)
    rows = [
        {"prediction": prediction, "references": references, "task_data": fields}
        for prediction, references, fields in zip(
            batch["predictions"], batch["references"], batch["task_data"], strict=True
        )
    ]
    started = time.process_time()
    try:
        out = list(metric(MultiStream.from_iterables({"test": rows}, copying=True))["test"])
    except Exception as error:  # noqa: BLE001 - the comparison shows it
        cause = error.__cause__ or error
        return {"error": f"{type(cause).__name__}: {str(cause).strip().splitlines()[-1] if str(cause).strip() else ''}"}
    return {
        "global": plain(out[0]["score"]["global"]),
        "instances": [plain(row["score"]["instance"]) for row in out],
        "seconds": time.process_time() - started,
    }


def main() -> None:
    """Answer the request."""
    from unitxt.artifact import fetch_artifact

    for name, batches, target in json.loads(Path(sys.argv[1]).read_text()):
        try:
            metric = fetch_artifact(name)[0]
        except Exception as error:  # noqa: BLE001 - the comparison shows it
            answers = [{"error": f"cannot be built: {type(error).__name__}"}] * len(batches)
        else:
            answers = [scores(metric, batch) for batch in batches]
        Path(target).write_text(json.dumps(answers))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    main()
