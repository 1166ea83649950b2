"""Compares post-processors, evaluators and summaries with upstream's.

Usage: ``python -m conformance.aisbench.scoring [--work DIR]``. Needs AISBench's environment (``AISBENCH_PYTHON``) and
an unzipped wheel of OpenCompass (``OPENCOMPASS_WHEEL``). Upstream's side is kept in the work folder.
"""
# ruff: noqa: E501 - lines that are printed

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.aisbench.scoring_cases import AIS, OC, evaluators, processors, summaries, texts
from conformance.explained import sentence

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.dialects.aisbench.prompt_version import mode_of, prompt_version
from proctor.dialects.aisbench.reader import datasets_of, read_config
from proctor.dialects.aisbench.summary import summarize_models
from proctor.dialects.aisbench.values import Reference
from proctor.errors import ProctorError

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
WHEEL = os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc")  # noqa: S108
TOPS = {OC: "opencompass", AIS: "ais_bench.benchmark"}
SIZES = (1, 3, 6, 7, 11, 13)
"""How many of a case's answers are scored by themselves: among them thirds and sevenths, whose last bits tell in which
order a mean and a percentage were computed."""
CUT = 3
"""How many cases of one evaluator are cut so."""
WHOLE = (
    "CircularEvaluator", "CircularOptionSimAccEvaluator", "AccDropEvaluator", "AccContaminationEvaluator", "AUCROCEvaluator", "LLM4Mat_Evaluator",
)  # fmt: skip
"""Evaluators of rows that belong together, or that need rows of every kind: upstream fails or says NaN without them."""
SCIPY = 1e-14
"""Relative difference of G-Pass@k: upstream's survival function (``scipy.stats.hypergeom.sf``) goes by way of gamma
functions and has rounding errors of its own; ours divides whole numbers."""


def cases() -> dict[str, Any]:
    """Return everything that is compared."""
    stream = random.Random(11)
    drawn = texts(stream)
    return {
        "texts": drawn,
        "processors": processors(),
        "evaluators": with_batches(evaluators(stream, drawn)),
        "summaries": summaries(stream),
    }


def plain(value: Any) -> Any:
    """Return a value as upstream's side gives it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def processed(case: dict[str, Any], drawn: list[str]) -> list[Any]:
    """Return what our post-processor makes of each text."""
    name = Reference(f"{TOPS[case['project']]}.{case['module']}.{case['function']}")
    function = postprocessor({"type": name, **case["arguments"]})
    answers = []
    for text in drawn:
        try:
            answers.append(plain(function(text)))
        except (ProctorError, ValueError, IndexError) as error:
            answers.append({"error": type(error).__name__})
    return answers


def evaluated(case: dict[str, Any]) -> Any:
    """Return what our evaluator says of a case."""
    config = {"type": Reference(f"{TOPS[case['project']]}.{case['module']}.{case['type']}"), **case["arguments"]}
    k, n = (1, 1) if case["k"] is None else (case["k"], case["n"])
    try:
        found = evaluate({"evaluator": config}, case["predictions"], case["references"], case["rows"], runs=(k, n))
    except ProctorError as error:
        return {"error": str(error)}
    return plain(found.scores)


def summarized(case: dict[str, Any]) -> Any:
    """Return our files of a summary."""
    datasets = case["datasets"]
    modes = {each["abbr"]: mode_of(each) for each in datasets}
    versions = {each["abbr"]: prompt_version(each) for each in datasets}
    table = summarize_models(case["results"], modes, versions, case["summarizer"])
    return {"txt": table.to_text("TIME"), "csv": table.to_csv(), "md": table.to_markdown()}


def batches(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a case's first answers as cases of their own, by :data:`SIZES`."""
    count = len(case["predictions"])
    if case["k"] is not None or case["type"] in WHOLE:
        return []
    parts = ("predictions", "references", "rows")
    return [{**case, **{name: case[name][:size] for name in parts}} for size in SIZES if size < count]


def with_batches(listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cases, and those that the first of each evaluator are cut into."""
    seen = Counter[str]()
    made = list(listed)
    for case in listed:
        name = f"{case['project']} {case['module']} {case['type']} {case['arguments']}"
        seen[name] += len(case["predictions"]) > max(SIZES)
        made += batches(case) if seen[name] <= CUT else []
    return made


def same(first: Any, second: Any, name: str = "") -> bool:
    """Whether two values are equal, numbers to the last bit but for those that are named at :data:`SCIPY`."""
    if isinstance(first, dict) and isinstance(second, dict):
        return set(first) == set(second) and all(same(first[key], second[key], str(key)) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(same(a, b, name) for a, b in zip(first, second, strict=True))
    if "G-Pass@" in name:
        return math.isclose(first, second, rel_tol=SCIPY)
    return first == second


def compare_processors(asked: dict[str, Any], wanted: list[list[Any]]) -> int:
    """Compare post-processors text by text; return how many answers differ."""
    different = total = failing = 0
    for case, answers in zip(asked["processors"], wanted, strict=True):
        found = processed(case, asked["texts"])
        wrong = []
        for text, mine, theirs in zip(asked["texts"], found, answers, strict=True):
            both_fail = isinstance(mine, dict) and isinstance(theirs, dict)
            failing += isinstance(theirs, dict)
            if not both_fail and not same(mine, theirs):
                wrong.append((text, mine, theirs))
        total += len(found)
        different += len(wrong)
        for text, mine, theirs in wrong[:2]:
            print(
                f"DIFFERENT {case['project']} {case['function']} {case['arguments']}: {len(wrong)}\n    {text!r}: {mine!r} / {theirs!r}"
            )
    print(
        f"post-processors: {total - different} of {total} equal ({len(wanted)} functions; upstream fails on {failing})"
    )
    return different


def compare_evaluators(asked: dict[str, Any], wanted: list[Any]) -> int:
    """Compare evaluators; return how many cases differ."""
    different, explained, lacking = 0, Counter[str](), Counter[str]()
    for case, theirs in zip(asked["evaluators"], wanted, strict=True):
        mine = evaluated(case)
        if "needs the package" in str(mine.get("error", "")):
            lacking[str(mine["error"]).partition("\n")[0]] += 1
        elif reason := reason_of(case, mine, theirs):
            explained[reason] += 1
        elif not _agrees(case, mine, theirs):
            different += 1
            print(
                f"DIFFERENT {case['project']} {case['type']} {case['arguments']} k={case['k']} n={case['n']}\n    {str(mine)[:700]}\n    {str(theirs)[:700]}"
            )
    total = len(wanted)
    predictions = sum(len(case["predictions"]) for case in asked["evaluators"])
    apart = different + explained.total() + lacking.total()
    print(f"evaluators: {total - apart} of {total} equal ({predictions} predictions)")
    for what, count in lacking.items():
        print(f"    {count} not compared: {what}")
    for reason, count in explained.items():
        print(f"    {count} differ on purpose: {sentence(reason)}")
    return different


def reason_of(case: dict[str, Any], mine: Any, theirs: Any) -> str:
    """Return the id of why scores differ, ``""`` where they should not."""
    if case["project"] == AIS and case["k"] is not None and case["n"] > 1 and case["type"] == "AccwithDetailsEvaluator":
        averages = {key: value for key, value in theirs.items() if "average" in key or key.startswith("avg@")}
        if all(same(mine.get(key), value) for key, value in averages.items()):
            return "aisbench/runs-under-one-row"
    if "compute_score.py doesn't exist" in str(theirs):
        return "aisbench/lacks-a-file"
    if case["type"] == "PMMEvalMLogiQAEvaluator" and "'NoneType' is not iterable" in str(theirs):
        return "aisbench/no-option-named"
    if "error" in mine and "error" in theirs:
        return "aisbench/both-fail"
    return ""


def _agrees(case: dict[str, Any], mine: Any, theirs: Any) -> bool:
    if case["type"] == "SquadEvaluator":
        return same(mine.get("f1"), theirs)
    if case["k"] is not None and case["type"] == "AccEvaluator":
        return same(mine.get("accuracy"), theirs.get("accuracy"))
    return same(mine, theirs)


def compare_summaries(asked: dict[str, Any], wanted: list[Any]) -> int:
    """Compare the files of summaries; return how many cases differ."""
    different = ordered = 0
    for case, theirs in zip(asked["summaries"], wanted, strict=True):
        mine = summarized(case)
        if mine == theirs:
            continue
        if "error" not in theirs and all(_table(mine[end]) == _table(theirs[end]) for end in ("csv", "md")):
            ordered += 1
            continue
        different += 1
        print(f"DIFFERENT summary {case['name']} {case['summarizer']}\n{mine['csv']}\n{theirs.get('csv', theirs)}")
    total = len(wanted)
    print(
        f"summaries: {total - different - ordered} of {total} equal as text, CSV and Markdown; {ordered} more in another order"
    )
    return different


def compare_versions() -> int:
    """Compare prompt versions with those in the names of OpenCompass's configs; return how many differ."""
    equal = different = 0
    for path in sorted((Path(WHEEL) / "opencompass/configs/datasets").rglob("*.py")):
        named = re.search(r"_([0-9a-f]{6})\.py$", path.name)
        try:
            datasets = datasets_of(read_config(path)) if named else []
        except ProctorError:
            continue
        if not named or len(datasets) != 1 or not datasets[0].get("infer_cfg"):
            continue
        version = prompt_version(datasets[0])
        equal += version == named[1]
        if version != named[1]:
            different += 1
            print(f"DIFFERENT version of {path.name}: {version}")
    print(f"versions: {equal} of {equal + different} equal to the names of configs with one dataset")
    return different


def _table(text: str) -> list[str]:
    return sorted(text.splitlines())


def main() -> int:
    """Print equal and different counts; the exit status says whether all are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor_aisbench_scoring")
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    asked = cases()
    kept, answers = work / "cases.json", work / "answers.json"
    if not answers.is_file() or not kept.is_file() or kept.read_text() != json.dumps(asked):
        kept.write_text(json.dumps(asked))
        oracle = [PYTHON, str(Path(__file__).with_name("scoring_oracle.py")), str(kept), str(answers), WHEEL, str(work)]
        subprocess.run(
            oracle, check=True, cwd=work, env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=subprocess.DEVNULL
        )
    wanted = json.loads(answers.read_text())
    different = compare_processors(asked, wanted["processors"])
    different += compare_evaluators(asked, wanted["evaluators"])
    different += compare_summaries(asked, wanted["summaries"])
    different += compare_versions()
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
