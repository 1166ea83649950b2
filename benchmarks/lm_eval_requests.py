"""Builds 10,000 documents x 4 choices x 5 shots from Jinja templates, and the index of all task files.

Usage: ``python benchmarks/lm_eval_requests.py [--documents N] [--lm-eval PYTHON]``. With an interpreter that has
lm_eval 0.4.13, the same work is done there on a tenth of the documents, and checked to give the same requests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.index import build_index
from proctor.ir import Choose
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

SHOTS = 5
POOL = 1000
TASK: dict[str, Any] = {
    "task": "bench",
    "output_type": "multiple_choice",
    "training_split": "train",
    "test_split": "test",
    "doc_to_text": "Question: {{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nC. {{choices[2]}}\n"
    "D. {{choices[3]}}\nAnswer:",
    "doc_to_choice": "{{choices}}",
    "doc_to_target": "{{answer}}",
}

ORACLE = """
import json, os, sys, time
os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1")
import logging; logging.disable(logging.WARNING)
import datasets; datasets.disable_progress_bars()
from lm_eval.api.task import ConfigurableTask
plan = json.load(open(sys.argv[1]))
config = {**plan["task"], "dataset_path": "json", "dataset_kwargs": {"data_files": plan["files"]}, "num_fewshot": 5}
task = ConfigurableTask(config=config)
task.set_fewshot_seed(1234)
start = time.process_time()
task.build_all_requests()
seconds = time.process_time() - start
import hashlib
digest = hashlib.sha256(json.dumps([each.arguments for each in task.instances]).encode()).hexdigest()
json.dump({"seconds": seconds, "digest": digest}, open(sys.argv[2], "w"))
"""


def rows(number: int, split: str) -> list[dict[str, Any]]:
    """Return documents about as long as MMLU's."""
    return [
        {
            "question": f" {split} question {each}: which of these statements about the number {each} and its "
            f"neighbours holds, given that {each * 7} is a multiple of seven and nothing else is known about it? ",
            "choices": [f"statement {each}-{choice} which is about this long" for choice in range(4)],
            "answer": each % 4,
        }
        for each in range(number)
    ]


class GivenDocuments(TaskDocuments):
    """Documents that are at hand, so that loading is not measured."""

    def __init__(self, config: TaskConfig, splits: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__(config)
        self._given = splits

    def split(self, name: str, process: Any) -> list[dict[str, Any]]:
        """Return a split."""
        del process
        return self._given[name]


def ours(documents: int) -> tuple[float, str]:
    """Return CPU seconds and a digest of the requests."""
    config = TaskConfig(**TASK)
    splits = {"test": rows(documents, "test"), "train": rows(POOL, "train")}
    exam = task_exam("bench", config, ExamOptions(num_demos=SHOTS), GivenDocuments(config, splits))
    start = time.process_time()
    requests = [request for item in exam.questions() for request in item.requests]
    seconds = time.process_time() - start
    pairs = [
        [pair.context.payload, pair.continuation]
        for request in requests
        if isinstance(request, Choose)
        for pair in request.pairs
    ]
    return seconds, hashlib.sha256(json.dumps(pairs).encode()).hexdigest()


def theirs(python: str, documents: int) -> tuple[float, str]:
    """Return lm-eval's CPU seconds and digest."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for split, number in (("test", documents), ("train", POOL)):
            path = Path(folder) / f"{split}.jsonl"
            path.write_text("\n".join(map(json.dumps, rows(number, split))))
            files[split] = str(path)
        plan, out, script = (Path(folder) / name for name in ("plan.json", "out.json", "oracle.py"))
        plan.write_text(json.dumps({"task": TASK, "files": files}))
        script.write_text(ORACLE)
        subprocess.run([python, str(script), str(plan), str(out)], check=True)
        found = json.loads(out.read_text())
        return found["seconds"], found["digest"]


def index(folder: str) -> dict[str, tuple[float, int]]:
    """Return CPU seconds and names of the index of a folder, without and with its file on disk."""
    found = {}
    with tempfile.TemporaryDirectory() as cache, settings.context(cache_dir=Path(cache)):
        for kind in ("cold", "warm"):
            start = time.process_time()
            names = len(build_index([folder], installed=False).entries)
            found[kind] = (time.process_time() - start, names)
    return found


def measure(documents: int = 10_000) -> dict[str, Any]:
    """Measure for ``benchmarks/run.py``; beside lm-eval where ``LM_EVAL_PYTHON`` names an interpreter that has it."""
    seconds, _ = ours(documents)
    found: dict[str, Any] = {
        f"{documents:,} documents x 4 choices x 5 shots": {"value": seconds, "unit": "CPU s", "budget": "<= 0.8"}
    }
    python = os.environ.get("LM_EVAL_PYTHON", "")
    if not python:
        return found
    (mine, mine_digest), (other, other_digest) = ours(1000), theirs(python, 1000)
    found["lm-eval / Proctor, a tenth of it"] = {"value": other / mine, "unit": "times", "budget": ">= 100"}
    found["same requests"] = str(mine_digest == other_digest)
    folder = next(Path(python).parent.parent.glob("lib/*/site-packages/lm_eval/tasks"))
    for kind, (spent, names) in index(str(folder)).items():
        budget = {"cold": "<= 3", "warm": "<= 0.15"}[kind]
        found[f"index, {kind}"] = {"value": spent, "unit": "CPU s", "budget": budget, "note": f"{names} names"}
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--lm-eval", metavar="PYTHON")
    args = parser.parse_args()
    seconds, _ = ours(args.documents)
    print(f"requests            {seconds:8.3f} CPU s   {args.documents} documents x 4 choices x {SHOTS} shots")
    if args.lm_eval:
        part = args.documents // 10
        (mine, mine_digest), (other, other_digest) = ours(part), theirs(args.lm_eval, part)
        print(f"requests, a tenth   {mine:8.3f} CPU s   lm-eval {other:.1f} CPU s: {other / mine:.0f} times")
        print(f"same requests       {mine_digest == other_digest}")
        folder = next(Path(args.lm_eval).parent.parent.glob("lib/*/site-packages/lm_eval/tasks"))
        for kind, (spent, names) in index(str(folder)).items():
            print(f"index {kind:15} {spent:8.3f} CPU s   {names} names")


if __name__ == "__main__":
    main()
