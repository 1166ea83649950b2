"""Whether operators, serializers, augmentors, field paths and types do what Unitxt's do, on generated data.

Usage: ``python -m conformance.unitxt.operators [--oracle PYTHON] [--count 2000] [--show 20]``, where PYTHON is the
interpreter of an environment with Unitxt. Results are compared as Python text, so types count: ``1`` is not ``1.0``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.explained import sentence
from conformance.unitxt import field_cases, name_cases
from conformance.unitxt.operator_cases import OPERATOR_CASES, SERIALIZER_CASES, TABLE, augmentor_cases, loader_cases

from proctor.artifacts.fetch import build
from proctor.artifacts.types import is_of_type, parse_type_string, to_type_string
from proctor.compat import install, uninstall
from proctor.data.fields import deleter, get_field, setter
from proctor.data.operator import container_copy
from proctor.data.streams import MultiStream
from proctor.settings import settings

ORACLE = "/tmp/uvenv/bin/python"  # noqa: S108 - where the oracle is installed
Case = dict[str, Any]


def operator(case: Case) -> Any:
    """Return every stream after an operator."""
    streams = MultiStream.from_iterables(case["streams"])
    return {name: list(stream) for name, stream in build(case["operator"])(streams).items()}


def loader(case: Case) -> Any:
    """Return every stream of a loader."""
    return {name: list(stream) for name, stream in build(case["operator"])().items()}


def serializer(case: Case) -> Any:
    """Return a value as text."""
    return build(case["operator"]).serialize(case["value"], {})


def augmentor(case: Case) -> Any:
    """Return a row after an augmentor."""
    augmenting = build(case["operator"])
    augmenting.set_fields(case["fields"])
    return augmenting.process_instance(case["row"])


def get(case: Case) -> Any:
    """Return the value at a path."""
    return get_field(case["row"], case["path"], *(["DEFAULT"] if case["missing_ok"] else []))


def set_(case: Case) -> Any:
    """Return a row after writing."""
    setter(case["path"], case["missing_ok"], case["each"])(case["row"], case["value"])
    return case["row"]


def delete(case: Case) -> Any:
    """Return a row after removing."""
    deleter(case["path"], case["missing_ok"], case["prune"])(case["row"])
    return case["row"]


def type_(case: Case) -> Any:
    """Return whether a value has a type, and the type's text."""
    for forget in typing._cleanups:  # type: ignore[attr-defined]  # noqa: SLF001 - List[Union[…]] is equal, and kept, in any order
        forget()
    kind = parse_type_string(case["type"])
    return is_of_type(case["value"], kind), to_type_string(kind)


def call(case: Case) -> Any:
    """Return the value of an expression with names of Unitxt's modules."""
    install()
    try:
        return name_cases.called(case)
    finally:
        uninstall()


ANSWERS: dict[str, Callable[[Case], Any]] = {
    "call": call,
    "operator": operator, "loader": loader, "serializer": serializer, "augmentor": augmentor,
    "get": get, "set": set_, "delete": delete, "type": type_,
}  # fmt: skip

# -- generated cases ------------------------------------------------------------------------------------------

_NAMES = ["a", "b", "c", "long name"]
_PARTS = [*_NAMES, "0", "1", "2", "*", "-1"]
_TYPES = [
    "str", "int", "float", "bool", "Any", "List[str]", "List[Any]", "Dict[str, int]", "Dict[str, Any]",
    "Tuple[int, str]",
    "Union[int, str]", "Optional[str]", "List[List[int]]", "Table", "Dialog", "Document", "MultiDocument", "Text",
    "Number", "RagResponse", "ToolCall", "List[ToolCall]", "Union[Text, Table, Dialog]", "Dict[str, List[int]]",
    "List[Union[str, int]]", "Optional[float]", "Conversation",
]  # fmt: skip


def value(rng: random.Random, depth: int = 3) -> Any:
    """Return a random JSON value."""
    kind = rng.random()
    if depth and kind < 0.3:
        return {rng.choice(_NAMES): value(rng, depth - 1) for _ in range(rng.randint(0, 3))}
    if depth and kind < 0.55:
        return [value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return rng.choice([0, 1, 2.5, True, None, "text", "", "x y"])


def row(rng: random.Random) -> Any:
    """Return a random row."""
    return {name: value(rng) for name in _NAMES if rng.random() < 0.8}


def typed(rng: random.Random) -> Any:
    """Return a value that is near to one of the named types."""
    table, turn = TABLE, {"role": rng.choice(["user", "assistant", "nobody"]), "content": rng.choice(["hi", 1])}
    document = {"title": "t", "body": rng.choice(["b", None])}
    call = {"name": "f", "arguments": rng.choice([{"x": 1}, []])}
    return rng.choice(
        [table, turn, [turn], [turn, turn], document, [document], call, [call], value(rng), 3, 3.5, "s", ["a"]]
    )


def generated(rng: random.Random) -> Iterator[Case]:
    """Yield random cases, without end."""
    while True:
        path = "/".join(rng.choice(_PARTS) for _ in range(rng.randint(1, 4)))
        ok = rng.random() < 0.5
        yield {"kind": "get", "row": row(rng), "path": path, "missing_ok": ok}
        each = "*" in path and rng.random() < 0.4
        written = [value(rng, 1) for _ in range(rng.randint(1, 3))] if each else value(rng, 1)
        yield {"kind": "set", "row": row(rng), "path": path, "value": written, "missing_ok": ok, "each": each}
        yield {"kind": "delete", "row": row(rng), "path": path, "missing_ok": ok, "prune": rng.random() < 0.5}
        yield {"kind": "type", "type": rng.choice(_TYPES), "value": typed(rng)}


def fixed() -> Iterator[Case]:
    """Yield the written cases."""
    for body, streams in OPERATOR_CASES:
        yield {"kind": "operator", "operator": body, "streams": streams}
    for body, given in SERIALIZER_CASES:
        yield {"kind": "serializer", "operator": body, "value": given}
    yield from augmentor_cases()
    yield from loader_cases(Path(__file__).parent / "data")
    yield from field_cases.cases()
    yield from name_cases.cases()


def answer(case: Case) -> dict[str, str]:
    """Return Proctor's answer."""
    try:
        return {"value": repr(ANSWERS[case["kind"]](container_copy(case)))}
    except Exception as error:  # noqa: BLE001 - what is refused is part of the comparison
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def known_difference(case: Case, theirs: dict[str, str], ours: dict[str, str]) -> str:
    """Return the id of why an answer differs on purpose, ``""`` where it should not."""
    error = theirs.get("error", "")
    if "MissingRequirements" in error or "ModuleNotFound" in error:
        return "unitxt/missing-package"
    if case["kind"] == "set" and "error" in ours and theirs.get("value") == repr(case["row"]):
        return "unitxt/writing-nowhere"
    if case["kind"] == "delete" and "*" in case["path"]:
        return "unitxt/star-below-a-value"
    return _KNOWN_OPERATORS.get(case.get("operator", {}).get("__type__", ""), "") or field_cases.explained(
        case, theirs, ours
    )


_KNOWN_OPERATORS = {
    "rename": "unitxt/moved-inside-itself",
    "filter_by_condition_based_on_fields": "unitxt/in-between-fields",
    "serialize_open_ai_format_dialog": "unitxt/dialog-stays",
    "apply_operators_field": "unitxt/operators-stay-names",
}


def main() -> int:
    """Print how many answers are equal, and the others; return 1 where one differs that no explanation covers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", default=ORACLE)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    settings.trust_code = False
    source = generated(random.Random(arguments.seed))
    cases = [json.loads(json.dumps(case)) for case in (*fixed(), *(next(source) for _ in range(arguments.count)))]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True", "PYTHONPATH": ""}
    lines = subprocess.run(
        [arguments.oracle, str(Path(__file__).with_name("operators_oracle.py"))],
        input="\n".join(map(json.dumps, cases)),
        capture_output=True, text=True, check=True, env=environment,
    ).stdout.splitlines()  # fmt: skip
    equal: Counter[str] = Counter()
    total: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    wrong = 0
    for case, line in zip(cases, lines, strict=True):
        theirs, ours = json.loads(line), answer(case)
        total[case["kind"]] += 1
        same = theirs.get("value") == ours.get("value") if "value" in theirs else "error" in ours
        equal[case["kind"]] += same
        reason = "" if same else known_difference(case, theirs, ours)
        if reason:
            explained[reason] += 1
        elif not same:
            wrong += 1
            if wrong > arguments.show:
                continue
            print(json.dumps(case)[:400], f"  unitxt:  {theirs}"[:500], f"  proctor: {ours}"[:500], sep="\n")
    for kind in total:
        print(f"{kind:12} {equal[kind]:5} of {total[kind]:5} equal")
    for reason, count in explained.items():
        print(f"{count:5} differ: {sentence(reason)}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
