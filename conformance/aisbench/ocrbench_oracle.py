"""AISBench's own rules for OCRBench v2; runs in AISBench's environment, with ``apted``, ``zss``, ``distance``.

Usage: ``ocrbench_oracle.py CASES OUT``. A question that upstream stops at is ``{"failed": …}``; one that it leaves out of
the means is ``null``.
"""

from __future__ import annotations

import json
import math
import sys
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

sys.modules["ipdb"] = types.ModuleType("ipdb")  # upstream stops in a debugger where an answer is wrong; here it fails

from ais_bench.benchmark.datasets import ocrbench_v2 as upstream  # noqa: E402 - after the debugger

warnings.simplefilter("ignore")


def score(said: str, reference: dict[str, Any]) -> Any:
    """Return what upstream makes of one answer, as its evaluator asks for it."""
    kept: list[dict[str, Any]] = []
    upstream.process_predictions, process = (lambda entries: kept.extend(entries) or []), upstream.process_predictions
    try:
        upstream.OCRBenchV2Evaluator().score([said], [reference])
    finally:
        upstream.process_predictions = process
    found = process(kept)[0]
    return None if found.get("ignore") == "True" else found["score"]


def main() -> None:
    """Answer every case, then the scores of all that upstream can score."""
    cases = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answers: list[Any] = []
    for case in cases:
        try:
            found = score(case["said"], case["reference"])
            answers.append("nan" if isinstance(found, float) and math.isnan(found) else found)
        except Exception:  # noqa: BLE001 - what upstream stops at is an answer, too
            answers.append({"failed": traceback.format_exc()[-300:]})
    good = [case for case, answer in zip(cases, answers, strict=True) if not isinstance(answer, dict)]
    whole = [
        upstream.OCRBenchV2Evaluator().score([c["said"] for c in part], [c["reference"] for c in part])
        for part in (good, good[::3], [c for c in good if c["reference"]["category"].endswith("cn")])
    ]
    Path(sys.argv[2]).write_text(json.dumps({"single": answers, "whole": whole}), encoding="utf-8")


if __name__ == "__main__":
    main()
