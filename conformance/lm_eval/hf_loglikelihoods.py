"""Log-likelihoods and greedy texts of the ``hf`` engine beside those of lm-eval's ``hf`` model, on the same requests.

Run ``python -m conformance.lm_eval.hf_loglikelihoods --lm-python ENV/bin/python --hub FOLDER``; ENV has lm_eval 0.4.13
installed. lm-eval builds the requests of real tasks and answers them with SmolLM2 in float32 on the CPU; the engine
then answers the same requests. Prints for each task the largest difference, how many requests differ, and how much
less CPU time the engine took. Exits with 1 where a log-likelihood differs by more than 1e-4 (for texts below -100: by
more than one part in a million, since every token adds its rounding), or a decision or a greedy text differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.smollm2 import converted_folder
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling

TASKS: dict[str, dict[str, Any]] = {
    "arc_easy": {"file": "arc/arc_easy.yaml", "dataset": "allenai/ai2_arc", "shots": 5},
    "mmlu_anatomy": {"file": "mmlu/default/mmlu_anatomy.yaml", "dataset": "cais/mmlu", "shots": 5},
    "hellaswag": {"file": "hellaswag/hellaswag.yaml", "dataset": "Rowan/hellaswag", "shots": 0},
    "wnli": {"file": "glue/wnli/default.yaml", "dataset": "nyu-mll/glue", "shots": 5},
    "lambada_openai": {"file": "lambada/lambada_openai.yaml", "dataset": "EleutherAI/lambada_openai", "shots": 0},
    "rolling": {
        "file": "lambada/lambada_openai.yaml",
        "dataset": "EleutherAI/lambada_openai",
        "shots": 0,
        "rolling": True,
    },
    "gsm8k": {"file": "gsm8k/gsm8k.yaml", "dataset": "openai/gsm8k", "shots": 2},
}
ABSOLUTE, RELATIVE = 1e-4, 1e-6


@dataclass(frozen=True)
class Comparison:
    """What came out for one task."""

    name: str
    documents: int
    difference: float
    differing: int
    accuracies: tuple[float, float]
    speedup: float

    @property
    def is_equal(self) -> bool:
        """Whether the two systems agree."""
        return self.differing == 0 and self.accuracies[0] == self.accuracies[1]

    def __str__(self) -> str:
        theirs, ours = self.accuracies
        return (
            f"{self.name:16} {self.documents:5} {self.difference:12.2e} {self.differing:9} {theirs:8.3f} {ours:8.3f} "
            f"{self.speedup:7.1f}"
        )


def task_root(python: str) -> Path:
    """Return the folder of task files of an environment's lm-eval."""
    code = "import lm_eval, pathlib; print(pathlib.Path(lm_eval.__file__).parent / 'tasks')"
    return Path(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def ask_lm_eval(arguments: argparse.Namespace, model: str) -> Iterator[dict[str, Any]]:
    """Yield what lm-eval answers, one record per task; kept in ``--answers`` for the next time."""
    kept = Path(arguments.answers) if arguments.answers else Path(tempfile.mkdtemp()) / "answers.jsonl"
    done = {json.loads(line)["name"] for line in kept.read_text().splitlines()} if kept.exists() else set()
    if chosen := {name: TASKS[name] for name in arguments.tasks if name not in done}:
        root = task_root(arguments.lm_python)
        tasks = [
            {"name": name, **task, "file": str(root / task["file"]), "dataset": f"{arguments.hub}/{task['dataset']}"}
            for name, task in chosen.items()
        ]
        plan = {"model": model, "tasks": tasks}
        plan |= {key: getattr(arguments, key) for key in ("limit", "batch_size", "max_length")}
        plan_file = kept.with_suffix(".plan.json")
        plan_file.write_text(json.dumps(plan))
        oracle = Path(__file__).with_name("hf_oracle.py")
        subprocess.run([arguments.lm_python, str(oracle), str(plan_file), str(kept)], check=True)
    for line in kept.read_text().splitlines():
        if (record := json.loads(line))["name"] in arguments.tasks:
            yield record


def documents_of(record: dict[str, Any]) -> Iterator[list[tuple[str, list[Any], Any]]]:
    """Yield the requests of each document: kind, arguments, lm-eval's answer."""
    rows = zip(record["requests"], record["answers"], strict=True)
    for _, group in groupby(rows, key=lambda row: row[0][0]):
        yield [(kind, arguments, answer) for (_, kind, arguments), answer in group]


def request_of(rows: list[tuple[str, list[Any], Any]]) -> Any:
    """Return the request for one document."""
    kind, arguments, _ = rows[0]
    if kind == "loglikelihood_rolling":
        return Rolling(arguments[0])
    if kind == "generate_until":
        options = arguments[1]
        return Generate(Prompt(arguments[0]), Decoding(options.get("max_gen_toks", 256), stop=tuple(options["until"])))
    pairs = tuple(Pair(Prompt(context), continuation) for _, (context, continuation), _ in rows)
    return Choose(pairs) if len(pairs) > 1 else Likelihood(pairs[0].context, pairs[0].continuation)


def compare(engine: HFEngine, record: dict[str, Any]) -> Comparison:
    """Let the engine answer what lm-eval answered."""
    documents = list(documents_of(record))
    requests = [request_of(rows) for rows in documents]
    started = time.process_time()
    answer = engine.generate if isinstance(requests[0], Generate) else engine.score
    responses = dict(answer(requests))
    seconds = time.process_time() - started
    worst, differing, theirs, ours = 0.0, 0, 0, 0
    for index, rows in enumerate(documents):
        if isinstance(requests[index], Generate):
            differing += responses[index].text != rows[0][2]
            continue
        expected = [(row[2], None) if isinstance(row[2], float) else tuple(row[2]) for row in rows]
        found = responses[index].scores
        for (value, greedy), score in zip(expected, found, strict=True):
            gap = abs(score.log_likelihood - value)
            worst = max(worst, gap)
            differing += gap > max(ABSOLUTE, RELATIVE * abs(value)) or greedy not in (None, score.is_greedy)
        choices = [row[1][-1] for row in rows]
        theirs += _decision([value for value, _ in expected], choices, expected[0][1])
        ours += _decision([score.log_likelihood for score in found], choices, found[0].is_greedy)
    count = len(documents)
    return Comparison(record["name"], count, worst, differing, (theirs / count, ours / count), record["cpu"] / seconds)


def _decision(values: list[float], choices: list[str], greedy: bool | None) -> float:
    """Return a number that changes when the decision does: the choice taken, raw and per character, or greediness."""
    if len(values) == 1:
        return float(bool(greedy))
    normed = [value / max(len(choice), 1) for value, choice in zip(values, choices, strict=True)]
    return values.index(max(values)) + normed.index(max(normed)) / 100


def main() -> None:
    """Compare, print, and exit with 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", default="/tmp/lmvenv/bin/python")  # noqa: S108 - a default to try
    parser.add_argument("--hub", default=str(Path(__file__).resolve().parents[3] / "shared" / "data" / "hub"))
    parser.add_argument("--answers", help="keep lm-eval's answers in this file, or take them from it")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--max-length", type=int, default=2048)
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=list(TASKS))
    parser.add_argument("--no-sharing", action="store_true")
    arguments = parser.parse_args()
    model = str(converted_folder())
    engine = HFEngine(
        model,
        dtype="float32",
        device="cpu",
        max_length=arguments.max_length,
        share_prefixes=not arguments.no_sharing,
    )
    records = list(ask_lm_eval(arguments, model))
    next(engine.score([Rolling("Load the model before the clock starts.")]))
    print(f"{'task':16} {'docs':>5} {'difference':>12} {'differing':>9} {'lm-eval':>8} {'engine':>8} {'faster':>7}")
    results = [compare(engine, record) for record in records]
    for result in results:
        print(result)
    sys.exit(0 if all(result.is_equal for result in results) else 1)


if __name__ == "__main__":
    main()
