"""Compare whole evaluations with Unitxt's on real data: recipe, predictions, processors, metrics, intervals, groups.

    python -m conformance.unitxt.evaluations --oracle /path/to/python-with-unitxt [--rows 150] [--only cards.sst2]

Predictions are made of the right answers by a seed: right ones, ones with other words around them, those of another
row, empty ones. Each recipe is evaluated by both systems, with its own metrics (where these are scripts that
Unitxt downloads, others); everything in ``score`` is compared, instance by instance, by group and global. Data
comes from the folder that ``prompts.py`` reads; recipes without data are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
HUB = Path(os.environ.get("PROCTOR_TEST_HUB", HERE.parents[2] / "shared" / "data" / "hub"))
OVERLAPS = ["metrics.token_overlap", "metrics.string_containment", "metrics.accuracy"]
LABELS = ["metrics.f1_macro", "metrics.accuracy"]
RECIPES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "cards.wnli": ("nyu-mll/glue", "wnli", {"template": "templates.classification.multi_class.relation.default"}),
    "cards.rte": ("nyu-mll/glue", "rte", {"template": "templates.classification.multi_class.relation.default"}),
    "cards.sst2": ("nyu-mll/glue", "sst2", {"template": "templates.classification.multi_class.title"}),
    "cards.cola": (
        "nyu-mll/glue",
        "cola",
        {"template": "templates.classification.multi_class.instruction", "metrics": LABELS},
    ),
    "cards.boolq.multiple_choice": ("google/boolq", None, {"template_card_index": 0}),
    "cards.squad": ("rajpurkar/squad", None, {"template": "templates.qa.with_context.title", "metrics": OVERLAPS}),
    "cards.hellaswag": ("Rowan/hellaswag", None, {"template": "templates.completion.multiple_choice.title"}),
    "cards.ai2_arc.arc_easy": ("allenai/ai2_arc", "ARC-Easy", {"template": "templates.qa.multiple_choice.title"}),
    "cards.mmlu.anatomy": ("cais/mmlu", "anatomy", {"template": "templates.qa.multiple_choice.with_topic.title"}),
}
GROUPED = {"num_demos": [0, 2], "demos_pool_size": 20, "group_by": ["num_demos"]}


def rows_of(case: dict[str, Any], fetch: Any, loader: Any, load: Any) -> Any:
    """Return the test split of a recipe, with either system's functions."""
    card = fetch(case["card"])
    card = card[0] if isinstance(card, tuple) else card
    card.loader = loader(**case["loader"])
    return load(card=card, split="test", loader_limit=case["rows"], **case["arguments"])


def predictions(targets: list[str]) -> list[str]:
    """Return an answer for each row, most of them right in some way."""
    rng = random.Random(" ".join(targets[:20]))
    made = []
    for target in targets:
        kind = rng.random()
        if kind < 0.5:
            made.append(target)
        elif kind < 0.7:
            made.append(rng.choice(targets))
        elif kind < 0.85:
            made.append(f"{target.upper()}. That is it.")
        else:
            made.append(rng.choice(["", "I do not know", "the", " "]))
    return made


class OnlyTheirs:
    """What Unitxt's catalog has and Proctor's own has not: its templates of multiple choice among them."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of Unitxt's catalog."""
        from proctor.artifacts import LocalCatalog

        self._theirs = LocalCatalog(folder)

    def path_of(self, name: str) -> Path | None:
        """Return the file of an artifact."""
        from proctor.artifacts.catalogs import builtin_catalog

        return None if builtin_catalog().path_of(name) else self._theirs.path_of(name)

    def names(self) -> Iterator[str]:
        """Yield the names of all artifacts."""
        return self._theirs.names()


def unitxt_side(request: Path) -> None:
    """Evaluate the recipes in a file with Unitxt, and write the scores beside it."""
    from metrics_oracle import plain
    from unitxt import evaluate, load_dataset
    from unitxt.artifact import fetch_artifact
    from unitxt.loaders import LoadHF

    for case in json.loads(request.read_text()):
        data = rows_of(case, fetch_artifact, LoadHF, load_dataset)
        found = evaluate(predictions=predictions(list(data["target"])), data=data)
        Path(case["answer"]).write_text(json.dumps([plain(row["score"]) for row in found], default=str))


def proctor_side(case: dict[str, Any]) -> list[Any]:
    """Return the scores of each row."""
    from proctor import evaluate, fetch_artifact, load_dataset
    from proctor.data.hub_loaders import LoadHF

    data = rows_of(case, fetch_artifact, LoadHF, load_dataset)
    return [row["score"] for row in evaluate(predictions=predictions(list(data["target"])), data=data)]


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", help="Python with unitxt 1.26.10")
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--only", action="append")
    parser.add_argument("--unitxt-side", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.unitxt_side:
        unitxt_side(options.unitxt_side)
        return
    from conformance.unitxt import metrics

    from proctor.artifacts import register_catalog

    where = "import importlib.util as u; print(u.find_spec('unitxt').submodule_search_locations[0])"
    found = subprocess.run([options.oracle, "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    register_catalog(OnlyTheirs(Path(found) / "catalog"))
    failed = 0
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        work = []
        for card, (path, config, arguments) in RECIPES.items():
            if (options.only and card not in options.only) or not (HUB / path).is_dir():
                continue
            loader = {"path": str(HUB / path), **({"name": config} if config else {})}
            case = {"card": card, "loader": loader, "rows": options.rows, "arguments": {**arguments, **GROUPED}}
            work.append({**case, "answer": str(folder / f"{card}.json")})
        request = folder / "request.json"
        request.write_text(json.dumps(work))
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True"}
        command = [options.oracle, str(HERE / "evaluations.py"), "--unitxt-side", str(request)]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        for case in work:
            theirs = json.loads(Path(case["answer"]).read_text())
            ours = json.loads(json.dumps(proctor_side(case), default=str))
            differing = list(metrics.differences(ours, theirs))
            failed += bool(differing)
            state = "equal" if not differing else "DIFFERS"
            print(f"{case['card']:32} {len(theirs):5} rows {metrics.count_values(theirs):7} values  {state}")
            for path, own, other in differing[:6]:
                print(f"      {path}: {own!r} here, {other!r} there")
    sys.exit(1 if failed or not work else 0)


if __name__ == "__main__":
    main()
