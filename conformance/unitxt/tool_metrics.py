"""Whether metrics of tool calls, values by name and SQL give Unitxt's numbers, on generated answers.

Usage: ``python -m conformance.unitxt.tool_metrics [--oracle PYTHON]``. Seconds that queries took are not compared.
Exits with 1 where a score differs that no explanation covers, or nothing was compared.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.unitxt.catalog import DEFAULT
from conformance.unitxt.metrics import compare, oracle_scores
from conformance.unitxt.operators import ORACLE

from proctor.artifacts import LocalCatalog, register_catalog

SIZES = (1, 2, 5, 20, 40)
Batch = dict[str, Any]

_DATABASE = {
    "db_type": "in_memory",
    "db_id": "shop",
    "dbms": None,
    "data": {
        "t": {
            "columns": ["id", "name", "price"],
            "rows": [[1, "a", 2.5], [2, "b", None], [3, "c", 4.0], [4, "a", 1.0]],
        },
        "u": {"columns": ["tid", "city"], "rows": [[1, "Rome"], [2, "Oslo"], [2, "Bonn"]]},
    },
}
_QUERIES = (
    "SELECT name FROM t",
    "SELECT name, price FROM t WHERE price > 1 ORDER BY price",
    "SELECT COUNT(*) FROM t",
    "SELECT t.name, u.city FROM t JOIN u ON t.id = u.tid",
    "SELECT name FROM t WHERE id > 100",
    "SELECT id FROM t ORDER BY id DESC",
    "SELECT nope FROM t",
    "SELECT DISTINCT name FROM t GROUP BY name HAVING COUNT(*) > 1",
    "SELECT price FROM t",
    "SELECT id, price FROM t WHERE price IS NULL",
)
_ANSWERS = (
    *_QUERIES,
    "select name from t;",
    "SELECT name AS n FROM t",
    "```sql\nSELECT price, name FROM t WHERE price > 1 ORDER BY price\n```",
    "The answer: SELECT id, name FROM t;  thanks",
    "I do not know",
    "SELECT * FROM t",
    "SELECT count(id) FROM t",
    "SELEC name FROM",
    "SELECT u.city, t.name FROM u JOIN t ON u.tid = t.id",
    "SELECT id FROM t ORDER BY id",
    "DELETE FROM t",
    "SELECT name n FROM t WHERE 1 = 1",
    "SELECT name FROM t LIMIT 2",
    "",
    "SELECT id, price FROM t WHERE price IS NULL AND id > 0",
)


def _tool(name: str) -> dict[str, Any]:
    properties = {
        "x": {"type": "integer"},
        "y": {"type": "string", "enum": ["a", "b"]},
        "z": {"type": "array", "items": {"type": "number"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["x"]}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}


def _call(rng: random.Random) -> dict[str, Any]:
    values = [1, 2, 1.0, "a", "b", "c", [1, 2], [1, "q"], {"k": 1}, None, True]
    return {"name": rng.choice("fgh"), "arguments": {key: rng.choice(values) for key in "xyzw" if rng.random() < 0.5}}


def _nested(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in "abc":
        kind = rng.random()
        if depth and kind < 0.3:
            found[key] = _nested(rng, depth - 1)
        elif depth and kind < 0.45:
            found[key] = [_nested(rng, depth - 1) for _ in range(rng.randint(0, 2))]
        elif kind < 0.55:
            found[key] = [{rng.choice("pq"): rng.choice("vw")} for _ in range(2)]
        elif kind < 0.85:
            found[key] = rng.choice("xyz")
    return found


def _values(rng: random.Random) -> dict[str, str]:
    texts = ["red cat", "blue", "red", "the dog", ""]
    return {"name": rng.choice(texts), **{key: rng.choice(texts) for key in ("city", "a b") if rng.random() < 0.6}}


def _batch(predictions: list[Any], references: list[list[Any]], fields: dict[str, Any]) -> Batch:
    return {"predictions": predictions, "references": references, "task_data": [fields] * len(predictions)}


def work() -> dict[str, list[Batch]]:
    """Return batches for each metric."""
    rng, found = random.Random(5), dict[str, list[Batch]]()
    for name, batch in _made(rng):
        found.setdefault(name, []).append(batch)
    return found


def _made(rng: random.Random) -> Iterator[tuple[str, Batch]]:
    tools = {"__tools__": [_tool("f"), _tool("g")]}
    for size in SIZES:
        calls = [_call(rng) for _ in range(size)]
        wanted = [[rng.choice([_call(rng), each]) for _ in range(rng.choice([1, 1, 2, 3]))] for each in calls]
        yield "metrics.tool_calling", _batch(calls, wanted, tools)
        turns = [[_call(rng) for _ in range(rng.randint(1, 3))] for _ in range(size)]
        yield "metrics.tool_calling.multi_turn.validity", _batch(turns, [[each] for each in turns], tools)
        values = [_values(rng) for _ in range(size)]
        found = [[rng.choice([_values(rng), each])] for each in values]
        deep = [{"name": rng.choice("fg"), "arguments": _nested(rng)} for _ in range(size)]
        right = [[rng.choice([{"name": "f", "arguments": _nested(rng)}, each])] for each in deep]
        for kind in ("accuracy", "token_overlap"):
            yield f"metrics.key_value_extraction.{kind}", _batch(values, found, {})
            yield f"metrics.tool_calling.key_value.{kind}", _batch(deep, right, {})
    pairs = [(answer, query) for answer in _ANSWERS for query in _QUERIES]
    rng.shuffle(pairs)
    for start in range(0, len(pairs), 30):
        part = pairs[start : start + 30]
        batch = _batch([answer for answer, _ in part], [[query] for _, query in part], {"db": _DATABASE})
        for kind in ("execution_accuracy", "execution_logic_accuracy", "non_execution_accuracy"):
            yield f"metrics.text2sql.{kind}", batch


def main() -> int:
    """Print how many values of each metric are equal, and the others; return 1 where one differs unexplained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=ORACLE)
    parser.add_argument("--catalog", type=Path, default=DEFAULT)
    arguments = parser.parse_args()
    register_catalog(LocalCatalog(arguments.catalog))
    asked = work()
    with TemporaryDirectory() as folder:
        answers = oracle_scores(arguments.oracle, asked, Path(folder))
    wrong = compared = 0
    for name, batches in asked.items():
        report = compare(name, batches, answers[name])
        compared += report["compared"]
        found = [each for each in report["unexplained"] if "runtime" not in each[1]]
        wrong += len(found)
        print(f"{name:45} {report['cases']:5} answers, {report['compared']:6} values, {len(found)} differ", *found[:5])
    return int(wrong > 0 or not compared)


if __name__ == "__main__":
    sys.exit(main())
