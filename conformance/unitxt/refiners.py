"""Whether refiners, limits, pools of demos and ``shuffle`` leave Unitxt's rows, each combination: whole splits.

Usage: ``python -m conformance.unitxt.refiners [--oracle PYTHON]``. Exits with 1 where an exam differs that no
explanation covers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

from conformance.unitxt.shuffles import DEMOS, STEPS, card_of, compared

REFINERS: dict[str, dict[str, Any]] = {
    "no refiner": {},
    "train": {"train_refiner": {"__type__": "stream_refiner", "max_instances": 15}},
    "test": {"test_refiner": {"__type__": "stream_refiner", "max_instances": 7}},
    "validation": {"validation_refiner": {"__type__": "stream_refiner", "max_instances": 4}},
    "all three": {
        "train_refiner": {"__type__": "stream_refiner", "max_instances": 15},
        "validation_refiner": {"__type__": "stream_refiner", "max_instances": 4},
        "test_refiner": {"__type__": "stream_refiner", "max_instances": 7},
    },
    "without a limit": {"test_refiner": {"__type__": "stream_refiner"}},
    "too many": {"test_refiner": {"__type__": "stream_refiner", "max_instances": 1000}},
    "of other splits": {
        "test_refiner": {"__type__": "stream_refiner", "max_instances": 7, "apply_to_streams": ["train"]}
    },
}
LIMITS: dict[str, dict[str, Any]] = {
    "no limit": {},
    "loader": {"loader_limit": 25},
    "test": {"max_test_instances": 6},
    "train": {"max_train_instances": 11},
    "validation": {"max_validation_instances": 3},
    "all": {"loader_limit": 25, "max_train_instances": 11, "max_validation_instances": 3, "max_test_instances": 6},
    "more than the loader's": {"loader_limit": 5, "max_test_instances": 6},
}
_DEMOS = ("no demos", "from train", "from test", "kept", "all of train", "a pool for none", "one or two")
_STEPS = ("none", "small pages", "then mixed")
SPLITS = ("train", "validation", "test")


def cases() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield what Unitxt is asked for and what Proctor is, for each combination.

    Unitxt overwrites what a refiner says of itself with ``max_…_instances``, or with none; here it counts. So Unitxt is
    asked for the smaller of the two.
    """
    steps = {"none": [], **STEPS}
    for step, demos, refiner, limit in product(_STEPS, _DEMOS, REFINERS, LIMITS):
        recipe = {
            "__type__": "dataset_recipe",
            "card": card_of(steps[step], {"train": 40, "validation": 12, "test": 20}),
            "template_card_index": 0,
            **DEMOS[demos],
            **LIMITS[limit],
        }
        name = f"steps: {step}; demos: {demos}; refiner: {refiner}; limit: {limit}"
        case = {"kind": "made", "name": name, "splits": SPLITS}
        yield (
            {**case, "recipe": {**recipe, **_as_limits(REFINERS[refiner], recipe)}},
            {**case, "recipe": {**recipe, **REFINERS[refiner]}},
        )


def _as_limits(refiners: dict[str, Any], recipe: dict[str, Any]) -> dict[str, int]:
    limits = {}
    for field, refiner in refiners.items():
        name = f"max_{field.removesuffix('_refiner')}_instances"
        own, given = refiner.get("max_instances"), recipe.get(name)
        if own is not None:
            limits[name] = min(own, recipe.get("loader_limit", own) if given is None else given)
    return limits


if __name__ == "__main__":
    sys.exit(compared(list(cases()), "refined exams", __doc__ or ""))
