"""Upstream's side of ``scoring.py``: its post-processors, evaluators and summarizers. Runs in AISBench's environment.

Usage: ``python scoring_oracle.py CASES.json OUT.json WHEEL WORK``.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

from borrowed import borrow_opencompass, module_of

sys.path.remove(str(Path(__file__).parent))  # a script here is called as a package that upstream imports


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def processed(case: dict[str, Any], texts: list[str]) -> list[Any]:
    """Return what a post-processor makes of each text."""
    function = getattr(module_of(case["project"], case["module"], alone=case["alone"]), case["function"])
    answers = []
    for text in texts:
        try:
            answers.append(plain(function(text, **case["arguments"])))
        except Exception as error:  # noqa: BLE001 - what upstream raises is an answer
            answers.append({"error": type(error).__name__})
    return answers


def evaluated(case: dict[str, Any]) -> Any:
    """Return what an evaluator says of a case."""
    from datasets import Dataset

    kind = getattr(module_of(case["project"], case["module"], alone=case["alone"]), case["type"])
    rows = Dataset.from_list(case["rows"])
    given = {"predictions": case["predictions"], "references": case["references"], "test_set": rows}
    given["gold"] = case["references"]  # some evaluators call them so
    given["origin_prompt"] = [None] * len(case["predictions"])
    try:
        judge = kind(**case["arguments"])
        wanted = {name: given[name] for name in __import__("inspect").signature(judge.score).parameters}
        if case["k"] is None:
            found = judge.score(**wanted)
        else:
            found = judge.evaluate(case["k"], case["n"], [dict(row) for row in rows], **wanted)
    except Exception as error:  # noqa: BLE001 - what upstream raises is an answer
        return {"error": f"{type(error).__name__}: {error}"}
    if isinstance(found, dict):
        found.pop("details", None)
    return plain(found)


def summarized(case: dict[str, Any], work: Path) -> Any:
    """Return the files that a summarizer writes."""
    from mmengine.config import ConfigDict

    module = module_of(case["project"], "summarizers.default", alone=case["project"] == "opencompass")
    folder = work / case["name"]
    shutil.rmtree(folder, ignore_errors=True)
    models = [{"abbr": name, "type": "M", "path": name} for name in case["results"]]
    for model, results in case["results"].items():
        for dataset, scores in results.items():
            path = folder / "results" / model / f"{dataset}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(scores))
    config = ConfigDict({"models": models, "datasets": case["datasets"], "work_dir": str(folder)})
    if case["project"] == "opencompass":
        abbr = module_of("opencompass", "utils.abbr", alone=True)
        prompts = module_of("opencompass", "utils.prompt", alone=True)
        module.get_infer_output_path, module.model_abbr_from_cfg = abbr.get_infer_output_path, abbr.model_abbr_from_cfg
        module.dataset_abbr_from_cfg, module.get_prompt_hash = abbr.dataset_abbr_from_cfg, prompts.get_prompt_hash
    made = module.DefaultSummarizer(config, **case["summarizer"])
    try:
        made.summarize(str(folder / "summary" / "s.txt"), "TIME")
    except Exception as error:  # noqa: BLE001 - what upstream raises is an answer
        return {"error": f"{type(error).__name__}: {error}"}
    return {end: (folder / "summary" / f"s.{end}").read_text() for end in ("txt", "csv", "md")}


class _Matthews:
    """What the hub's script ``matthews_correlation`` does; upstream downloads it."""

    def compute(self, predictions: list[Any], references: list[Any]) -> dict[str, float]:
        """Return the coefficient."""
        from sklearn.metrics import matthews_corrcoef

        return {"matthews_correlation": float(matthews_corrcoef(references, predictions))}


def main() -> None:
    """Write what upstream says of each case."""
    cases, out, wheel, work = sys.argv[1:]
    borrow_opencompass(Path(wheel))
    import evaluate

    load = evaluate.load
    evaluate.load = lambda name, *rest: _Matthews() if name == "matthews_correlation" else load(name, *rest)
    asked = json.loads(Path(cases).read_text())
    answers = {
        "processors": [processed(case, asked["texts"]) for case in asked["processors"]],
        "evaluators": [evaluated(case) for case in asked["evaluators"]],
        "summaries": [summarized(case, Path(work)) for case in asked["summaries"]],
    }
    Path(out).write_text(json.dumps(answers))


main()
