"""Compares tools, prompts and scores of function calling (BFCL v3) with the package ``bfcl-eval``, which AISBench uses.

Usage: ``python -m conformance.aisbench.function_calls``. Needs an unzipped wheel of ``bfcl-eval`` 2025.6.14
(``BFCL_WHEEL``) and a Python with ``requests`` and ``numpy`` (``AISBENCH_PYTHON``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.function_calls import asked_in_words, asked_with_tools
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.function_calls import called_at_all, right_calls

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
WHEEL = os.environ.get("BFCL_WHEEL", "/tmp/aisw/bfcl14")  # noqa: S108


def compare(case: dict[str, Any], counts: Counter[str]) -> None:
    """Count what is equal and what is different in a case."""
    row = {key: json.dumps(value) if key in ("question", "function") else value for key, value in case["row"].items()}
    messages, tools = asked_with_tools(row)
    counts[f"tools {'equal' if tools == case['tools'] else 'DIFFERENT'}"] += 1
    plain, words = list(messages) == case["row"]["question"][0], list(asked_in_words(row)) == case["words"]
    counts[f"messages {'equal' if plain and words else 'DIFFERENT'}"] += 1
    judge = called_at_all if "relevance" in case["category"] else right_calls
    for given, wanted in case["answers"]:
        found = judge(Cases([given], [json.dumps(case["gold"])], [row]), category=case["category"])
        is_same = (found.scores["correct_count"] == 1) is wanted
        counts[f"answers {'equal' if is_same else 'DIFFERENT'}"] += 1
        if not is_same:
            print(f"DIFFERENT {case['row']['id']}: {given} is {'right' if wanted else 'wrong'} there")


def main() -> int:
    """Compare, print, and return 0 where nothing differs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cases.json"
        oracle = Path(__file__).with_name("function_calls_oracle.py")
        subprocess.run([PYTHON, str(oracle), WHEEL, str(out)], check=True)
        cases = json.loads(out.read_text())
    counts = Counter[str]()
    for case in cases:
        compare(case, counts)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return int(any("DIFFERENT" in name for name in counts))


if __name__ == "__main__":
    sys.exit(main())
