"""OpenCompass' own readers of judgements; runs in AISBench's environment. Usage: ``judgements_oracle.py CASES OUT WHEEL``."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from borrowed import borrow_opencompass, module_of

sys.path.remove(str(Path(__file__).parent))  # a script here is called as a package that upstream imports


def answered(case: dict[str, Any]) -> Any:
    """Return what upstream makes of judgements, or of answers."""
    found = getattr(module_of("opencompass", case["module"], alone=True), case["name"])
    if case["kind"] == "text":
        return [found(each, **case["arguments"]) for each in case["said"]]
    if case["kind"] == "evaluator":
        scores = found().score(case["said"], case["golds"], *([case["rows"]] if "rows" in case else []))
        return {key: value for key, value in scores.items() if key != "details"}
    if case["kind"] == "retriever":
        chooser = found.__new__(found)
        chooser.index_ds, chooser.test_ds = case["index"], case["rows"]
        chooser.ice_num, chooser.is_main_process = case["count"], False
        return chooser.retrieve()
    output = {
        str(place): {"prediction": text, "gold": gold, "origin_prompt": ""}
        for place, (text, gold) in enumerate(zip(case["said"], case["golds"], strict=True))
    }
    dataset = SimpleNamespace(reader=SimpleNamespace(dataset={"test": case["rows"]}), test=case["rows"])
    given = [output, "/tmp/x", *([dataset] if case["rows"] else [])]  # noqa: S108 - never written
    return {key: value for key, value in found(*given).items() if key != "details"}


def main() -> None:
    """Answer every case."""
    borrow_opencompass(Path(sys.argv[3]))
    answers = []
    for case in json.loads(Path(sys.argv[1]).read_text()):
        try:
            answers.append(answered(case))
        except Exception:  # noqa: BLE001 - shown as a difference
            answers.append({"failed": traceback.format_exc()[-500:]})
    Path(sys.argv[2]).write_text(json.dumps(answers, default=str))


if __name__ == "__main__":
    main()
