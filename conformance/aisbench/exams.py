"""Compares the prompts of whole dataset configs with AISBench's, on real rows.

Usage: ``python -m conformance.aisbench.exams [--limit N] [--only GLOB] [--work DIR]``. Needs an environment with
ais-bench-benchmark (``AISBENCH_PYTHON``), the configs (``PROCTOR_CONFIG_DIRS``) and the mirror (``PROCTOR_HUB_DIR``).

Our side writes the rows that it asks about and the prompts that it made of them; theirs makes prompts of the same rows
by AISBench's retrievers, templates and parsers, from the config as mmengine reads it, or as we read it where mmengine
cannot without the package that the config belongs to. Exits with 1 where prompts differ, where only one side refuses a
dataset, or where nothing was compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets import DatasetRows
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.index import config_entries
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.resolve import configs_of
from proctor.dialects.aisbench.rows import ConfigRows
from proctor.dialects.aisbench.values import as_data
from proctor.errors import ProctorError
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Generate, Likelihood, Prompt, Rolling

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
META = {
    "begin": "<s>META\n",
    "round": [
        {"role": "HUMAN", "begin": "<|H|>:", "end": "\n"},
        {"role": "BOT", "begin": "<|B|>:", "end": "<eoa>\n", "generate": True},
    ],
    "end": "END",
    "reserved_roles": [{"role": "SYSTEM", "begin": "<|S|>:", "end": "\n"}],
}
LAYOUTS: dict[str, DatasetOptions] = {
    "plain": DatasetOptions(),
    "meta": DatasetOptions(meta_template=MetaTemplate.from_config(META)),
    "chat": DatasetOptions(as_messages=True),
}
ALIKE = {"equal", "both refuse"}
FAMILIES = """ARC* mmlu_* gsm8k* hellaswag* *BoolQ* bbh* humaneval_gen* obqa* race* winogrande* piqa* lambada* IFEval*
siqa* commonsenseqa* SuperGLUE* triviaqa* nq* truthfulqa* openbookqa* math*"""


def ours(path: Path, limit: int) -> list[dict[str, Any]]:
    """Return for every dataset of a config its rows and the prompts that Proctor makes of them."""
    found = []
    for config in configs_of(str(path)):
        rows = ConfigRows(config).dataset
        if not len(rows.test):
            continue
        entry = {
            "config": str(path),
            "abbr": config.abbr,
            "kind": config.inferencer.kind,
            "values": as_data(config.values),
            "rows": [dict(row) for row in rows.test[:limit]],
            "index": [dict(row) for row in rows.index],
            "prompts": {name: _prompts(config, rows, options, limit) for name, options in LAYOUTS.items()},
        }
        found.append(entry)
    return found


def _prompts(config: DatasetConfig, rows: DatasetRows, options: DatasetOptions, limit: int) -> Any:
    exam = dataset_exam(config, changed=options, rows=rows)
    found: list[Any] = []
    try:
        for question, _ in zip(exam.questions(), range(limit), strict=False):
            if question.failure is not None:
                return {"error": question.failure.message}
            found.append([_payload(each) for each in question.requests])
    except ProctorError as error:
        return {"error": str(error.diagnostics[0].what)}
    return found


def _payload(request: Any) -> Any:
    if isinstance(request, Rolling):
        return [dict(message) for message in request.messages] or request.text
    prompt: Prompt = request.context if isinstance(request, Likelihood) else request.prompt
    return prompt.payload if isinstance(request, Generate) else prompt.text


def main() -> int:
    """Compare everything that is asked for and print the counts; return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--only", default="*")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor-aisbench")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    names = [
        entry
        for entry in config_entries().values()
        if entry.kind == "dataset"
        and fnmatchcase(entry.name, arguments.only)
        and any(fnmatchcase(entry.name, wanted) for wanted in FAMILIES.split())
    ]
    for entry in names:
        try:
            datasets = ours(entry.path, arguments.limit)
        except ProctorError as error:
            skipped[_kind_of(error)] += 1
            continue
        if datasets:
            _compare(arguments.work, entry.name, datasets, counts)
    print(f"{sum(counts.values())} layouts of datasets compared: {dict(counts)}")
    for reason, count in skipped.most_common(12):
        print(f"  {count:4} configs skipped: {reason}")
    return int(set(counts) - ALIKE != set() or not counts)


def _kind_of(error: ProctorError) -> str:
    return type(error).__name__ + ": " + str(error.diagnostics[0].what)[:90]


def _compare(work: Path, name: str, datasets: list[dict[str, Any]], counts: Counter[str]) -> None:
    plan, answer = work / "plan.json", work / "answer.json"
    plan.write_text(json.dumps({"meta": META, "datasets": datasets}, default=str), encoding="utf-8")
    answer.unlink(missing_ok=True)
    done = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("exams_oracle.py")), str(plan), str(answer)],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    if not answer.exists():
        counts["oracle failed"] += 1
        print(f"{name}: the oracle failed: {done.stderr.strip().splitlines()[-1:]}")
        return
    theirs = json.loads(answer.read_text(encoding="utf-8"))
    mine = json.loads(plan.read_text(encoding="utf-8"))["datasets"]
    for ours_, theirs_ in zip(mine, theirs, strict=True):
        for layout in LAYOUTS:
            verdict = _verdict(ours_["prompts"][layout], theirs_[layout])
            counts[verdict] += 1
            if verdict == "different":
                _show(name, ours_["abbr"], layout, ours_["prompts"][layout], theirs_[layout])


def _verdict(mine: Any, theirs: Any) -> str:
    if isinstance(mine, dict) or isinstance(theirs, dict):
        both = isinstance(mine, dict) and isinstance(theirs, dict)
        return "both refuse" if both else "only we refuse" if isinstance(mine, dict) else "only AISBench refuses"
    return "equal" if mine == theirs else "different"


def _show(name: str, abbr: str, layout: str, mine: Any, theirs: Any) -> None:
    for number, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a != b:
            print(f"{name} {abbr} {layout} row {number}:\n  ours   {str(a)[-300:]!r}\n  theirs {str(b)[-300:]!r}")
            return
    print(f"{name} {abbr} {layout}: {len(mine)} prompts here, {len(theirs)} there")


if __name__ == "__main__":
    sys.exit(main())
