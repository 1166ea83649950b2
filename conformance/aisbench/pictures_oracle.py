"""AISBench's own dataset classes and evaluators on made-up pictures; runs in AISBench's environment.

Usage: ``pictures_oracle.py CASES OUT``. Pictures that it unpacked are named ``<picture>``: they are new files there.
"""

from __future__ import annotations

import json
import math
import re
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

_PICTURE = re.compile(r"(<AIS_(?:IMAGE|VIDEO|AUDIO)_START>).*?(<AIS_CONTENT_TAG>)", re.DOTALL)


def plain(value: Any, name: str = "") -> Any:
    """Return a value as JSON has it, pictures without what they are."""
    if isinstance(value, dict):
        return {key: plain(each, key) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, str) and name in ("image", "image_url", "video_url", "audio_url"):
        return "<picture>"
    if isinstance(value, str):
        return _PICTURE.sub(r"\1<picture>\2", value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return value.item() if hasattr(value, "item") else value


def main() -> None:
    """Answer every case: rows of a dataset class, scores of an evaluator, or what a post-processor makes of texts."""
    answers = []
    for case in json.loads(Path(sys.argv[1]).read_text()):
        try:
            found = getattr(import_module(case["module"]), case["name"])
            if case["kind"] == "rows":
                rows = found.load(**case["arguments"])
                rows = rows["test"] if isinstance(rows, dict) else rows
                answers.append(plain([dict(row) for row in rows]))
            elif case["kind"] == "text":
                answers.append([found(text) for text in case["texts"]])
            else:
                scores = found(**case["arguments"]).score(case["predictions"], case["references"])
                answers.append({key: plain(value) for key, value in scores.items() if key != "details"})
        except Exception:  # noqa: BLE001 - what upstream refuses is an answer, too
            answers.append({"failed": traceback.format_exc()[-600:]})
    Path(sys.argv[2]).write_text(json.dumps(answers, default=str))


if __name__ == "__main__":
    main()
