"""CPU seconds and memory of scoring, against the budgets.

    python benchmarks/scoring_speed.py [--summaries]

Each measurement runs in a process of its own, so that its memory is its own, after a first call on two instances that
imports what is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LABELS = ("yes", "no", "maybe", "perhaps")


def memory_mb() -> float:
    """Return the most memory that this process has held, in megabytes."""
    from pathlib import Path

    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return float("nan")


def labelled(count: int) -> tuple[list[str], list[list[str]]]:
    """Return predictions and references."""
    generator = np.random.default_rng(0)
    gold = generator.integers(0, len(LABELS), count)
    given = np.where(generator.random(count) < 0.7, gold, generator.integers(0, len(LABELS), count))
    return [LABELS[i] for i in given], [[LABELS[i]] for i in gold]


def accuracy_of_a_dataset() -> dict[str, Any]:
    """Evaluate accuracy with its interval on 10,000 rows of a Hugging Face dataset."""
    from datasets import Dataset

    from proctor.results.evaluate import evaluate

    predictions, references = labelled(10_000)
    row = {
        "source": "question",
        "target": "yes",
        "metrics": ["metrics.accuracy"],
        "groups": [],
        "subset": [],
        "media": {"images": [], "audios": []},
        "postprocessors": ["processors.to_string_stripped"],
        "task_data": json.dumps({"text": "question", "metadata": {"num_demos": 0}}),
        "data_classification_policy": ["public"],
    }
    dataset = Dataset.from_list([{**row, "references": each} for each in references])
    evaluate(predictions[:2], dataset.select(range(2)))
    started = time.process_time()
    results = evaluate(predictions, dataset)
    return {"seconds": time.process_time() - started, "score": results.global_scores.score}


def three_metrics(count: int) -> Callable[[], dict[str, Any]]:
    """Score f1 micro, f1 macro and accuracy with intervals."""

    def run() -> dict[str, Any]:
        from proctor.scoring.columns import Columns
        from proctor.scoring.pipeline import grade

        columns = Columns(*labelled(count))
        grade(Columns(*labelled(2)), ["metrics.f1_micro", "metrics.accuracy", "metrics.f1_macro"])
        started = time.process_time()
        found = grade(columns, ["metrics.f1_micro", "metrics.accuracy", "metrics.f1_macro"])
        return {"seconds": time.process_time() - started, "score": found.scores["score"]}

    return run


def summaries(metric: str) -> Callable[[], dict[str, Any]]:
    """Score 1,000 summaries with intervals, and with the library alone."""

    def run() -> dict[str, Any]:
        from proctor.scoring.columns import Columns
        from proctor.scoring.metrics.summaries import sentences
        from proctor.scoring.pipeline import grade

        generator = np.random.default_rng(0)
        words = np.array([f"word{number}" for number in range(400)])

        def made() -> list[str]:
            return [" ".join(generator.choice(words, 60)) + "." for _ in range(1_000)]

        texts, gold = made(), made()
        grade(Columns(texts[:2], [[each] for each in gold[:2]]), [f"metrics.{metric}"])
        started = time.process_time()
        if metric == "rouge":
            from rouge_score.rouge_scorer import RougeScorer

            scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
            for text, reference in zip(texts, gold, strict=True):
                scorer.score("\n".join(sentences(reference)), "\n".join(sentences(text)))
        else:
            import sacrebleu

            sacrebleu.corpus_bleu(texts, [gold])
        library = time.process_time() - started
        texts, gold = made(), made()  # others: the library remembers how it cut the first ones
        started = time.process_time()
        found = grade(Columns(texts, [[each] for each in gold]), [f"metrics.{metric}"])
        return {"seconds": time.process_time() - started, "library_seconds": library, "score": found.scores["score"]}

    return run


MEASUREMENTS: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "accuracy with interval, dataset of 10,000": (accuracy_of_a_dataset, "0.5 s, 300 MB"),
    "f1 micro + macro + accuracy, 1,000": (three_metrics(1_000), "0.3 s"),
    "f1 micro + macro + accuracy, 100,000": (three_metrics(100_000), "5 s"),
    "rouge, 1,000 summaries": (summaries("rouge"), "1.2 x the library"),
    "normalized sacrebleu, 1,000 summaries": (summaries("normalized_sacrebleu"), "1.2 x the library"),
}


def main() -> None:
    """Measure one thing, or all in processes of their own."""
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        found = MEASUREMENTS[sys.argv[2]][0]()
        print(json.dumps({**found, "memory_mb": memory_mb()}))
        return
    for name, (_, budget) in MEASUREMENTS.items():
        done = subprocess.run(
            [sys.executable, __file__, "--one", name], check=True, capture_output=True, text=True, env=dict(os.environ)
        )
        found = json.loads(done.stdout.splitlines()[-1])
        library = f" (library alone {found['library_seconds']:.2f} s)" if "library_seconds" in found else ""
        print(f"{name:42} {found['seconds']:6.2f} CPU s{library}  {found['memory_mb']:5.0f} MB   budget {budget}")


if __name__ == "__main__":
    main()
