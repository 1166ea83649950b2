"""Processor time of expressions over 100,000 rows.

Usage: ``python benchmarks/expressions.py``. Each expression is compiled once and run for each row.
"""

from __future__ import annotations

import gc
import time
from typing import Any

from proctor.safe_python import compile_expression

ROWS = 100_000
EXPRESSIONS = {
    "texts added": ("question + ' -> ' + answer", ()),
    "arithmetic": ("n * 2 + 1 if n % 2 else -n", ()),
    "methods": ("question.lower().strip('?')", ()),
    "split": ("text.split('[SEP]')[0].strip()", ()),
    "index": ("choices.index(answer)", ()),
    "list comprehension": ("[c + '.' for c in choices]", ()),
    "filtered": ("[c for c in choices if c != answer]", ()),
    "dict comprehension": ("{c: i for i, c in enumerate(choices)}", ()),
    "f-string": ("f'{question} ({n:03d}) {answer!r}'", ()),
    "items": ("meta['tags'][0] == 'x' and n > 10", ()),
    "sorted by a lambda": ("sorted(choices, key=lambda c: -ord(c))[:2]", ()),
    "sum of a generator": ("sum(len(c) for c in choices)", ()),
    "any": ("any(c == answer for c in choices)", ()),
    "percent": ("'%s-%03d' % (answer, n)", ()),
    "regular expression": ("re.search('[0-9]+', question).group(0)", ("re",)),
    "replacement": ("re.sub('[^a-z]', '', question)", ("re",)),
    "JSON": ("json.loads('[1, 2]')[0]", ("json",)),
    "in": ("'plus' in question and answer in choices", ()),
}


def _row(number: int) -> dict[str, Any]:
    return {
        "question": f"What is {number} plus {number + 1}?",
        "choices": ["A", "B", "C", "D"],
        "n": number,
        "answer": "B",
        "meta": {"id": number, "tags": ["x", "y"]},
        "text": "a [SEP] b",
    }


def measure() -> dict[str, Any]:
    """Return the CPU seconds of each expression, the best of three rounds."""
    rows = [_row(number) for number in range(ROWS)]
    found: dict[str, Any] = {}
    total = 0.0
    for name, (text, imports) in EXPRESSIONS.items():
        compute = compile_expression(text, imports)
        best = float("inf")
        for _ in range(3):
            gc.collect()
            started = time.process_time()
            for row in rows:
                compute(row)
            best = min(best, time.process_time() - started)
        found[name] = {"value": best, "unit": "CPU s"}
        total += best
    found["all of them"] = {"value": total, "unit": "CPU s", "budget": "<= 10", "note": "100,000 rows each"}
    return found


if __name__ == "__main__":
    for key, each in measure().items():
        print(f"{key:22} {each['value']:.2f} {each['unit']}")
