"""OpenCompass' side of ``subjective_readers.py``: its readers of judgements. Runs in AISBench's environment.

Usage: ``python subjective_readers_oracle.py CASES.json OUT.json WHEEL``.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from borrowed import borrow_opencompass, module_of

sys.path.remove(str(Path(__file__).parent))


def answer(case: dict[str, Any]) -> Any:
    """Return the scores of a case, or what is raised."""
    module = module_of("opencompass", f"datasets.subjective.{case['module']}", alone=True)
    output = {
        str(i): {"prediction": said, "gold": gold}
        for i, (said, gold) in enumerate(zip(case["said"], case["golds"], strict=True))
    }
    try:
        found = getattr(module, case["reader"])(output, "x", **case["arguments"])
    except Exception as error:  # noqa: BLE001 - what upstream raises is an answer
        return {"error": f"{type(error).__name__}: {error}"}
    scores = {key: float(value) for key, value in found.items() if isinstance(value, int | float)}
    return {key: "nan" if math.isnan(value) else value for key, value in scores.items()}


def main() -> None:
    """Write what upstream says of each case."""
    cases, out, wheel = sys.argv[1:]
    borrow_opencompass(Path(wheel))
    registry = sys.modules["opencompass.registry"]
    for name in ("DICT_POSTPROCESSORS", "LOAD_DATASET", "ICL_EVALUATORS"):
        getattr(registry, name).register_module = lambda *_, **__: lambda each: each
    utils = module_of("opencompass", "datasets.subjective.utils", alone=True)
    for module in {case["module"] for case in json.loads(Path(cases).read_text())}:
        found = module_of("opencompass", f"datasets.subjective.{module}", alone=True)
        found.get_judgeanswer_and_reference = utils.get_judgeanswer_and_reference
    Path(out).write_text(json.dumps([answer(case) for case in json.loads(Path(cases).read_text())]))


main()
