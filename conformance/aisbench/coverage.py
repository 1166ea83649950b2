"""Counts the dataset configs of OpenCompass and AISBench whose every class Proctor knows, and lists the unknown ones.

Usage: ``python -m conformance.aisbench.coverage [--top N] [--per-config FILE]``. Needs unzipped wheels of OpenCompass
(``OPENCOMPASS_WHEEL``) and of AISBench (``AISBENCH_WHEEL``). Nothing is run: configs are read, names looked up.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.components import RETRIEVERS, TEMPLATES
from proctor.dialects.aisbench.datasets import project_of
from proctor.dialects.aisbench.datasets.dataset_specs import spec_of
from proctor.dialects.aisbench.evaluators import is_known
from proctor.dialects.aisbench.file_keys import is_custom
from proctor.dialects.aisbench.inferencers import INFERENCERS
from proctor.dialects.aisbench.judges import READERS
from proctor.dialects.aisbench.pair_judges import READERS as READERS_OF_PAIRS
from proctor.dialects.aisbench.postprocessors import postprocessor_names
from proctor.dialects.aisbench.reader import datasets_of, read_config
from proctor.dialects.aisbench.values import Reference, dotted_name, short_name
from proctor.errors import ProctorError

WHEELS = {
    "OpenCompass": (os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc"), "opencompass/configs/datasets"),  # noqa: S108
    "AISBench": (os.environ.get("AISBENCH_WHEEL", "/tmp/aisw/ais"), "ais_bench/benchmark/configs/datasets"),  # noqa: S108
}
_OF_ATLAS = ("atlas_judge_postprocess",)  # how ATLASLLMEvaluator reads in any case
_PROCESSORS = ("pred_postprocessor", "dataset_postprocessor")


def unknown(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of everything in a dataset config that Proctor does not know."""
    if is_custom(config):  # a user's own file, whose keys say everything
        return
    kind, infer, evaluation = config.get("type"), config.get("infer_cfg") or {}, config.get("eval_cfg") or {}
    if spec_of(dotted_name(kind), project_of(kind)) is None:
        yield "dataset", short_name(kind)
    for part, known in (("retriever", RETRIEVERS), ("inferencer", INFERENCERS)):
        name = short_name((infer.get(part) or {}).get("type", ""))
        if name and name not in known:
            yield part, name
    for part in ("prompt_template", "ice_template"):
        name = short_name((infer.get(part) or {}).get("type", ""))
        if name and name not in TEMPLATES:
            yield "template", name
    yield from _unknown_scoring(evaluation)


def _unknown_scoring(evaluation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    evaluator = evaluation.get("evaluator") or {}
    if not isinstance(evaluator, Mapping):
        yield "evaluator", "none that can be read"
        return
    for judge in (evaluator, evaluator.get("rule_evaluator"), evaluator.get("llm_evaluator")):
        if judge and judge.get("type") and not is_known(judge):
            yield "evaluator", short_name(judge["type"])
        reader = judge.get("dict_postprocessor") if judge else None
        known = READERS_OF_PAIRS if judge and short_name(judge.get("type", "")) == "LMEvaluator" else READERS
        if reader and short_name(reader["type"]) not in (*known, *_OF_ATLAS):
            yield "reader of judgements", short_name(reader["type"])
    processors = set(postprocessor_names())
    for holder in (evaluation, evaluator):
        for part in _PROCESSORS:
            for one in _listed(holder.get(part)):
                if one.get("type") and not _is_processor(one["type"], processors):
                    yield "post-processor", short_name(one["type"])


def _listed(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        return [value]
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _is_processor(kind: Any, known: set[str]) -> bool:
    return short_name(kind) in known if isinstance(kind, Reference | str) else False


def surveyed(folder: Path) -> Iterator[tuple[Path, list[tuple[str, str]] | str]]:
    """Yield each config that has datasets with what is unknown in it, or the reason why it cannot be read."""
    for path in sorted(folder.rglob("*.py")):
        try:
            datasets = datasets_of(read_config(path, trust_code=False))
        except ProctorError as error:
            yield path, error.diagnostics[0].what
            continue
        if datasets:
            yield path, list(dict.fromkeys(each for config in datasets for each in unknown(config)))


def main() -> None:
    """Print counts for both packages, the most frequent unknown names first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top", type=int, default=400)
    parser.add_argument("--per-config", type=Path)
    options = parser.parse_args()
    listed = {}
    for project, (wheel, folder) in WHEELS.items():
        places: dict[tuple[str, str], list[str]] = defaultdict(list)
        alone, totals = Counter[tuple[str, str]](), Counter[str]()
        for path, found in surveyed(Path(wheel) / folder):
            name = str(path.relative_to(Path(wheel) / folder))
            listed[f"{project}/{name}"] = found
            if isinstance(found, str):
                totals["cannot be read"] += 1
                continue
            totals["configs"] += 1
            totals["all known"] += not found
            totals["all dataset classes known"] += not any(kind == "dataset" for kind, _ in found)
            for each in found:
                places[each].append(name)
            if len(found) == 1:
                alone[found[0]] += 1
        print(f"{project}: " + ", ".join(f"{count} {what}" for what, count in totals.items()))
        for (kind, name), names in sorted(places.items(), key=lambda each: -len(each[1]))[: options.top]:
            print(f"{len(names):5} ({alone[kind, name]} lack nothing else)  {kind} {name}  e.g. {names[0]}")
    if options.per_config:
        options.per_config.write_text(json.dumps(listed, indent=1))


if __name__ == "__main__":
    main()
