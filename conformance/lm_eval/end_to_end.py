"""Whole runs beside lm-eval's: the same task files, the same model, 100 documents each; every answer and every score.

Run ``python -m conformance.lm_eval.end_to_end --lm-python ENV/bin/python --hub FOLDER --answers FILE``; ENV has lm_eval
0.4.13 installed. lm-eval's ``hf`` model answers first (:mod:`hf_oracle`; slow, kept in FILE, and taken from there the
next time). Then Proctor reads the task files, builds its own prompts, lets its ``hf`` engine answer and scores. Exits
with 1 where a log-likelihood differs by more than 1e-4 (for texts below -100: by more than one part in a million), or a
greedy text or a score differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.lm_eval.hf_loglikelihoods import ABSOLUTE, RELATIVE, TASKS, ask_lm_eval, task_root

from proctor.dialects.lm_eval.resolve import resolve
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.smollm2 import converted_folder
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

NAMES = ("arc_easy", "mmlu_anatomy", "hellaswag", "gsm8k", "wnli", "lambada_openai")
RESAMPLES = 1_000
"""Bootstrap resamples behind standard errors, as in ``hf_oracle.py``."""

SCORE_TOLERANCE = 1e-9
SHOWN = 3


def sit(name: str, engine: HFEngine, root: Path, limit: int, log: Path) -> tuple[dict[str, Any], list[Any], float]:
    """Return Proctor's scores of a task, its raw answers by document, and the CPU seconds that it took."""
    options = ExamOptions(num_demos=TASKS[name]["shots"], limit=limit, resamples=RESAMPLES)
    exams = resolve([str(root / TASKS[name]["file"])], (), options)
    started = time.process_time()
    result = run_exams(exams, engine, log=log)
    seconds = time.process_time() - started
    (grade,) = result.grades.values()
    return result.results[exams[0].name], list(grade.predictions), seconds


def answers_of(record: dict[str, Any]) -> list[list[Any]]:
    """Return lm-eval's answers by document."""
    rows = zip(record["requests"], record["answers"], strict=True)
    return [[answer for _, answer in group] for _, group in groupby(rows, key=lambda row: row[0][0])]


def differences(theirs: Sequence[list[Any]], ours: Sequence[Any]) -> tuple[float, int]:
    """Return the largest difference of a log-likelihood, and how many answers differ."""
    worst, differing = 0.0, abs(len(theirs) - len(ours))
    for expected, found in zip(theirs, ours, strict=False):
        if isinstance(found, str):
            differing += found != expected[0]
            continue
        for (value, _), likelihood in zip(expected, found, strict=True):
            gap = abs(value - likelihood)
            worst = max(worst, gap)
            differing += gap > max(ABSOLUTE, RELATIVE * abs(value))
    return worst, differing


def score_differences(theirs: dict[str, float], ours: dict[str, Any]) -> list[str]:
    """Return the scores that differ, with both values."""
    found = []
    for key, value in theirs.items():
        metric, _, pipeline = key.partition(",")
        mine = ours.get(metric if pipeline == "none" else f"{metric},{pipeline}")
        close = isinstance(mine, int | float) and abs(mine - value) <= SCORE_TOLERANCE + ABSOLUTE * abs(value) * (
            metric.startswith("perplexity")
        )
        if not close:
            found.append(f"{key}: {value} there, {mine} here")
    return found


def main() -> None:
    """Compare, print, and exit with 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", default="/tmp/lmvenv/bin/python")  # noqa: S108 - a default to try
    parser.add_argument("--hub", default=str(Path(__file__).resolve().parents[3] / "shared" / "data" / "hub"))
    parser.add_argument("--answers", help="keep lm-eval's answers in this file, or take them from it")
    parser.add_argument("--log", help="a response log to go on with")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--max-length", type=int, default=2048)
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=list(NAMES))
    arguments = parser.parse_args()
    settings.hub_dir = arguments.hub
    settings.trust_code = True  # hellaswag's process_docs
    root = task_root(arguments.lm_python)
    model = str(converted_folder())
    engine = HFEngine(model, dtype="float32", device="cpu", max_length=arguments.max_length)
    log = Path(arguments.log) if arguments.log else Path(tempfile.mkdtemp()) / "responses.db"
    failed = False
    print(f"{'task':16} {'docs':>5} {'difference':>12} {'differing':>9} {'scores':>7} {'faster':>7}  main score")
    for record in ask_lm_eval(arguments, model):
        scores, ours, seconds = sit(record["name"], engine, root, arguments.limit, log)
        theirs = answers_of(record)
        worst, differing = differences(theirs, ours)
        unequal = score_differences(record["scores"], scores)
        failed |= bool(differing or unequal)
        print(
            f"{record['name']:16} {len(ours):5} {worst:12.2e} {differing:9} {len(unequal):7} "
            f"{record['cpu'] / seconds:7.1f}  {scores['score_name']} {scores['score']:.4f}",
            flush=True,
        )
        for line in unequal[:SHOWN]:
            print(f"    {line}")
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
