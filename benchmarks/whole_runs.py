"""``proctor run`` as a whole, in every dialect: CPU seconds and peak memory of many short instances.

Each exam reads its rows from JSON lines, is answered by a scripted engine, and is graded by one metric
with its interval. What is measured is the process: reading, words, the response log, grading, ``samples.jsonl``.

    python benchmarks/whole_runs.py                 # 100,000 instances of each dialect
    python benchmarks/whole_runs.py 1000000 config  # so many of one of them: recipe, yaml, config

The budget is that of a machine on which the YAML task took 15 CPU s before there was one grader for all dialects
(commit 1e826a2). On one where that commit takes 13.9 (best of two, nothing else running), recipe, YAML and config took
7.6, 6.7 and 6.2 at the end of November 2026: 0.54, 0.48 and 0.45 of it, where the budget is 0.53. On a busy machine all
four take up to twice as long, so a number by itself says little: compare two trees on the same machine and minute.
A million instances had peaks of 250 (recipe), 423 (YAML) and 352 MB (config).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

COUNT = 100_000
ANSWERS = ("even", "odd")
"""Words: numbers in texts would be read as numbers by some readers and not by others."""

BUDGET_SECONDS = 8
BUDGET_MEGABYTES = 500
TIMES = ("asked", "from the log")

ACCURACY = 0.5
"""The engine always says the first answer, and every second instance has it."""


def recipe(folder: Path) -> Path:
    """Write a recipe and return its file."""
    card = {
        "__type__": "task_card",
        "loader": {
            "__type__": "load_json_file",
            "files": {"test": str(folder / "rows.jsonl")},
            "lines": True,
            "streaming": True,
        },
        "task": {
            "__type__": "task",
            "input_fields": {"question": "str"},
            "reference_fields": {"answer": "str"},
            "prediction_type": "str",
            "metrics": ["metrics.accuracy"],
        },
    }
    template = {
        "__type__": "input_output_template",
        "input_format": "Question: {question}\nAnswer:",
        "output_format": "{answer}",
    }
    body = {"__type__": "dataset_recipe", "card": card, "template": template, "max_tokens": 8}
    return _written(folder / "parity_recipe.json", json.dumps(body))


def yaml(folder: Path) -> Path:
    """Write a task of lm-eval and return its file."""
    text = """
        task: parity_yaml
        dataset_path: json
        dataset_kwargs:
          data_files: {test: rows.jsonl}
        test_split: test
        output_type: generate_until
        doc_to_text: "Question: {{question}}\\nAnswer:"
        doc_to_target: "{{answer}}"
        generation_kwargs: {until: ["\\n"], max_gen_toks: 8}
        metric_list:
          - metric: exact_match
    """
    return _written(folder / "parity.yaml", textwrap.dedent(text))


def config(folder: Path) -> Path:
    """Write a config of OpenCompass and return its file."""
    text = f"""
        from opencompass.datasets import JsonlDataset
        from opencompass.openicl.icl_evaluator import AccEvaluator
        from opencompass.openicl.icl_inferencer import GenInferencer
        from opencompass.openicl.icl_prompt_template import PromptTemplate
        from opencompass.openicl.icl_retriever import ZeroRetriever

        parity_datasets = [
            dict(
                abbr="parity_config",
                type=JsonlDataset,
                path={str(folder / "rows.jsonl")!r},
                reader_cfg=dict(input_columns=["question"], output_column="answer"),
                infer_cfg=dict(
                    prompt_template=dict(type=PromptTemplate, template="Question: {{question}}\\nAnswer:"),
                    retriever=dict(type=ZeroRetriever),
                    inferencer=dict(type=GenInferencer, max_out_len=8),
                ),
                eval_cfg=dict(evaluator=dict(type=AccEvaluator)),
            )
        ]
    """
    return _written(folder / "parity_gen.py", textwrap.dedent(text))


DIALECTS: dict[str, Callable[[Path], Path]] = {"recipe": recipe, "yaml": yaml, "config": config}


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def write_rows(folder: Path, count: int) -> None:
    """Write the rows that all three exams read."""
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {"question": f"Is {number} even or odd?", "answer": ANSWERS[number % 2]}
            file.write(json.dumps(row) + "\n")


def whole_run(dialect: str, folder: Path, count: int, time: str) -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of one ``proctor run``; runs of another ``time`` share its response log.

    Raises:
        RuntimeError: The run failed, or its results are not what they must be.
    """
    exam = DIALECTS[dialect](folder)
    output = folder / f"{dialect}-{time}"
    command = [sys.executable, "-m", "proctor", "run", "--model", "scripted", "--model-args", f"answer={ANSWERS[0]}"]
    command += ["--tasks", str(exam), "--log", str(folder / f"{dialect}.db"), "--output", str(output)]
    said = folder / f"{dialect}-{time}.txt"
    with said.open("wb") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)  # of this child alone, which getrusage() does not say
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(said.read_text(encoding="utf-8").strip())
    (found,) = json.loads((output / "results.json").read_text(encoding="utf-8"))["results"].values()
    score = found["score"] / (100 if found["score"] > 1 else 1)  # configs count in percent
    if found["n"] != count or found["failures"] or score != ACCURACY:
        raise RuntimeError(f"the run is not right: {found}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(count: int = COUNT, dialects: list[str] | None = None) -> dict[str, Any]:
    """Return CPU seconds and memory of a whole run in each dialect, and of one more that the response log answers."""
    measured: dict[str, Any] = {}
    for dialect in dialects or DIALECTS:
        with TemporaryDirectory() as folder:
            write_rows(Path(folder), count)
            for time in TIMES:
                seconds, megabytes = whole_run(dialect, Path(folder), count, time)
                title = f"{count:,} instances, {dialect}, {time}"
                cpu: dict[str, Any] = {"value": seconds, "unit": "CPU s"}
                if count == COUNT:
                    cpu["budget"] = f"<= {BUDGET_SECONDS}"
                measured[title] = cpu
                memory = {"value": megabytes, "unit": "MB", "budget": f"<= {BUDGET_MEGABYTES}"}
                measured[f"{title}: peak memory"] = memory
    return measured


if __name__ == "__main__":
    asked = int(sys.argv[1]) if sys.argv[1:] else COUNT
    for name, found in measure(asked, sys.argv[2:]).items():
        print(f"{name}: {found['value']:.2f} {found['unit']} (budget {found.get('budget', 'none')})", flush=True)
