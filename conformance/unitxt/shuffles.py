"""Whether cards with ``shuffle`` ask about Unitxt's rows, with Unitxt's demos: whole splits, made-up rows.

Usage: ``python -m conformance.unitxt.shuffles [--oracle PYTHON]``. Exits with 1 where an exam differs that no
explanation covers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.explained import sentence
from conformance.unitxt.operators import ORACLE

from proctor.artifacts.fetch import build
from proctor.randomness import Course

SPLITS = ("train", "test")
"""What the oracle reads, in this order: one pass after the other."""

_TASK = {
    "__type__": "task",
    "input_fields": {"q": "str"},
    "reference_fields": {"a": "str"},
    "prediction_type": "str",
    "metrics": ["metrics.accuracy"],
}
_TEMPLATE = {"__type__": "input_output_template", "input_format": "{q}", "output_format": "{a}"}
_PAGE = {"__type__": "shuffle", "page_size": 7}
_MIX = {"__type__": "split_random_mix", "mix": {"train": "train[80%]", "test": "train[20%]"}}
_GROUPED = {"__type__": "feature_grouped_shuffle", "grouping_features": ["a"], "page_size": 9}
_KINDS = {"__type__": "minimum_one_example_per_label_refiner", "fields": ["a"], "max_instances": 40}

STEPS: dict[str, list[dict[str, Any]]] = {
    "whole pages": [{"__type__": "shuffle"}],
    "small pages": [_PAGE],
    "twice": [{"__type__": "shuffle"}, _PAGE],
    "then mixed": [_PAGE, _MIX],
    "mixed before": [_MIX, _PAGE],
    "then sliced": [_PAGE, {"__type__": "slice_split", "slices": {"train": "train[:40]", "test": "train[40:]"}}],
    "then deduplicated": [_PAGE, {"__type__": "deduplicate", "by": ["q"]}],
    "then filtered": [_PAGE, {"__type__": "filter_by_condition", "values": {"a": "ans1"}, "condition": "eq"}],
    "in groups": [_GROUPED],
    "within groups": [{**_GROUPED, "shuffle_within_group": True}],
    "of few": [{"__type__": "stream_refiner", "max_instances": 50, "apply_to_streams": ["train"]}, _PAGE],
    "inside a sequence": [{"__type__": "sequential_operator", "steps": [_PAGE]}],
    "one of each kind": [_KINDS],
    "one of each kind, then shuffled": [{"__type__": "sequential_operator", "steps": [_KINDS]}, _PAGE],
    "then spoiled": [_PAGE, {"__type__": "perturb", "field": "q", "percentage_to_perturb": 40}],
}
DEMOS: dict[str, dict[str, Any]] = {
    "no demos": {},
    "from train": {"num_demos": 2, "demos_pool_size": 10, "demos_taken_from": "train"},
    "from test": {"num_demos": 1, "demos_pool_size": 5, "demos_taken_from": "test"},
    "kept": {"num_demos": 2, "demos_pool_size": 10, "demos_removed_from_data": False},
    "all of train": {"num_demos": 2, "demos_pool_size": -1, "demos_removed_from_data": True},
    "all, kept": {"num_demos": 2, "demos_pool_size": -1, "demos_removed_from_data": False},
    "limits": {"num_demos": 2, "demos_pool_size": 8, "max_test_instances": 10, "max_train_instances": 12},
    "loader limit": {"num_demos": 1, "demos_pool_size": 8, "loader_limit": 25},
    "one or two": {"num_demos": [1, 2], "demos_pool_size": 10},
    "a pool for none": {"num_demos": 0, "demos_pool_size": 10},
}


def _rows(count: int, name: str) -> list[dict[str, str]]:
    return [{"q": f"{name} question {number}", "a": f"ans{number % 3}"} for number in range(count)]


def card_of(steps: list[dict[str, Any]], counts: dict[str, int]) -> dict[str, Any]:
    """Return a card with these steps over so many made-up rows of each split."""
    data = {name: _rows(count, name) for name, count in counts.items()}
    return {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": data, "data_classification_policy": ["public"]},
        "preprocess_steps": steps,
        "task": _TASK,
        "templates": {"__type__": "templates_list", "items": [_TEMPLATE]},
    }


def cases() -> Iterator[dict[str, Any]]:
    """Yield an exam for each way to shuffle and to show demos."""
    for steps_name, steps in STEPS.items():
        for demos_name, demos in DEMOS.items():
            card = card_of(steps, {"train": 60, "test": 30})
            recipe = {"__type__": "dataset_recipe", "card": card, "template_card_index": 0, **demos}
            yield {"kind": "made", "name": f"{steps_name}, {demos_name}", "recipe": recipe, "splits": SPLITS}


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """Return Proctor's prompts of each split, read one after the other."""
    try:
        streams = build(case["recipe"])()
        with Course():
            made = {name: [row["source"] for row in streams[name]] for name in case["splits"] if name in streams}
    except Exception as error:  # noqa: BLE001 - what is refused is part of the comparison
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    return {"value": made}


def known_difference(theirs: dict[str, Any]) -> str:
    """Return the id of why an exam differs on purpose, ``""`` where it should not."""
    return "unitxt/empty-split" if "EmptyStreamError" in theirs.get("error", "") else ""


def main() -> int:
    """Compare; return 1 where an exam differs that no explanation covers."""
    return compared([(case, case) for case in cases()], "shuffled exams", __doc__ or "")


def compared(asked: list[tuple[dict[str, Any], dict[str, Any]]], what: str, description: str) -> int:
    """Print how many exams are equal, and the others; return 1 where one differs that no explanation covers.

    An exam is given as Unitxt is asked for it, and as Proctor is.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--oracle", default=ORACLE)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True", "PYTHONPATH": ""}
    lines = subprocess.run(
        [arguments.oracle, str(Path(__file__).with_name("oracle.py"))],
        input="\n".join(json.dumps(of_unitxt) for of_unitxt, _ in asked),
        capture_output=True, text=True, check=True, env=environment,
    ).stdout.splitlines()  # fmt: skip
    outcomes: Counter[str] = Counter()
    for (_, case), line in zip(asked, lines, strict=True):
        theirs, ours = json.loads(line), answer(case)
        if "value" in theirs:
            theirs = {"value": {name: [row["source"] for row in rows] for name, rows in theirs["value"].items()}}
        same = theirs == ours or ("error" in theirs and "error" in ours)
        reason = "" if same else known_difference(theirs)
        outcomes["equal" if same else sentence(reason) or "different"] += 1
        if not same and not reason:
            print(case["name"], f"  unitxt:  {theirs}"[:400], f"  proctor: {ours}"[:400], sep="\n")
    print(f"{len(asked)} {what}: {', '.join(f'{count} {name}' for name, count in outcomes.items())}")
    return int(outcomes["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
