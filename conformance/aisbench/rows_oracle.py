"""Upstream's side of ``rows.py``: rows of its own dataset classes. Runs in AISBench's environment.

Usage: ``python rows_oracle.py CASES.json OUT.json WHEEL``, with the data folder in ``COMPASS_DATA_CACHE`` and
``AIS_BENCH_DATASETS_CACHE``.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

from borrowed import borrow_opencompass, module_of
from words_as_tokens import install

sys.path.remove(str(Path(__file__).parent))  # a script here is called as a package that upstream imports


def rows_of(case: dict[str, Any]) -> Any:
    """Return the rows of a case's splits."""
    kind = getattr(
        module_of(case["project"], f"datasets.{case['module']}", alone=case.get("alone", False)), case["type"]
    )
    if "reader_cfg" in case:
        made = kind(reader_cfg=case["reader_cfg"], abbr=case["abbr"], k=case["k"], n=case["n"], **case["arguments"])
        return {name: [dict(row) for row in getattr(made, name)] for name in ("train", "test")}
    static = isinstance(inspect.getattr_static(kind, "load"), staticmethod)
    made = (kind if static else object.__new__(kind)).load(**case["arguments"])
    splits = made if isinstance(made, dict) else {"": made}
    return {name: [dict(row) for row in rows] for name, rows in splits.items()}


def main() -> None:
    """Write what each case gives."""
    cases, out, wheel = sys.argv[1:]
    borrow_opencompass(Path(wheel))
    install()
    answers = []
    for case in json.loads(Path(cases).read_text()):
        try:
            answers.append({"splits": rows_of(case)})
        except Exception as error:  # noqa: BLE001 - what upstream raises is an answer
            answers.append({"error": f"{type(error).__name__}: {error}"})
    Path(out).write_text(json.dumps(answers, default=str))


main()
