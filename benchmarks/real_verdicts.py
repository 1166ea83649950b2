"""Gates and adaptive draws on real models: ``python benchmarks/real_verdicts.py --hub HUB --work FOLDER``.

FOLDER holds what ``benchmarks/smollm2_models.py`` made. Nobody is asked: every answer is in a response log.

Gates: SmolLM2 in float32 is the baseline; itself with another batch size, its weights rounded to bfloat16 and to 8
bits, and the broken one are gated, each with several seeds. A verdict is right where it is that of all answers.
Adaptive draws: each form in turn is measured with the help of the others; printed is as of ``benchmarks/precision.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from precision import adaptive
from smollm2_models import Form, folder_of

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.engine_registry import make_engine
from proctor.recipes.options import ExamOptions
from proctor.running.baselines import load_baseline
from proctor.running.gate import GateRules, run_gate
from proctor.running.run import run_exams

GATED = (
    Form("float32", args=(("batch_size", 1),)),
    Form("bfloat16"),
    Form("rounded"),
    Form("broken"),
)
MARGINS = (0.03, 0.05, 0.10)


def gates(work: Path, seeds: int) -> bool:
    """Gate every form that was asked; return whether all verdicts are right."""
    is_right = True
    task = str(work / "arc_cloze.yaml")
    print("gated                    questions  margin  difference  right verdicts  asked (median)")
    for form in GATED:
        if not (work / form.name / "results.json").is_file():
            continue
        scores = next(iter(load_baseline(work / form.name).exams.values())).scores
        exams = list(resolve_tasks([task], ExamOptions(limit=len(scores))))
        args = {"model": str(folder_of("float32", work)), "dtype": "float32"}
        run_exams(exams, make_engine("hf", args), log=work / "float32-cloze.db", output=work / f"base-{len(scores)}")
        baseline = load_baseline(work / f"base-{len(scores)}")
        before = next(iter(baseline.exams.values())).scores
        difference = float(np.mean([scores[key] - before[key] for key in before]))
        engine = make_engine("hf", {**args, "model": str(folder_of(form.weights, work)), **dict(form.args)})
        for margin in MARGINS:
            wanted = "passed" if difference >= -margin - 1e-9 else "failed"
            found = [
                run_gate(exams, engine, baseline, GateRules(margin, seed=seed), log=work / f"{form.name}.db")
                for seed in range(seeds)
            ]
            assert not any(each.requests["asked"] for each in found)
            right = sum(each.verdict == wanted for each in found)
            is_right &= right == seeds
            asked = float(np.median([each.exams[0].asked for each in found]))
            said = (
                f"{form.name:<25}{len(scores):>9}{100 * margin:>8.0f}{100 * difference:>+12.1f}{right:>11} of {seeds}"
            )
            print(f"{said}{asked:>10.0f} ({asked / len(scores):.0%})", flush=True)
    return is_right


def table_of(work: Path) -> tuple[list[str], np.ndarray]:
    """Return the forms and their scores on the questions that all have answered."""
    folders = [path.parent for path in sorted(work.glob("*/results.json")) if not path.parent.name.startswith("base-")]
    found = {folder.name: next(iter(load_baseline(folder).exams.values())).scores for folder in folders}
    found.pop("float32-cloze-batch_size1", None)  # the same model once more
    keys = sorted(set.intersection(*(set(scores) for scores in found.values())))
    return list(found), np.array([[scores[key] for key in keys] for scores in found.values()])


def main() -> int:
    """Print both tables; return 1 where a verdict is not that of all answers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hub", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    os.environ["PROCTOR_HUB_DIR"] = given.hub
    is_right = gates(given.work, given.seeds)
    names, table = table_of(given.work)
    print(f"adaptive, {len(names)} forms on {table.shape[1]} questions (shares {table.mean(axis=1).round(2).tolist()})")
    for precision in (0.08, 0.1):
        held, asked, plainly, gain = adaptive(table, precision, given.runs)
        said = f"{100 * precision:.0f} points: coverage {held:.1%}, asked {asked:.0f}, uniformly {plainly:.0f}"
        print(f"{said}, effective {gain:.2f}", flush=True)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
