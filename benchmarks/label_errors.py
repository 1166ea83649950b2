"""Are wrong golds found? ``python benchmarks/label_errors.py [--runs 5]``.

Simulated models of different skill answer questions of different ease with four answers, of which some wrong ones are
more tempting than others; of 4% of the questions another answer is called right. Their run folders are read as
``proctor report --items`` reads them. Printed is how many of the planted golds are among those in doubt, how many in
doubt were planted, both for all and for as many from the top as were planted; and how often the 95% intervals of
discrimination hold the correlation that thousands of such models have. Models here err independently of each other, as
real ones do not: their shared mistakes lower the precision.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from proctor.runs.exam_items import items_of
from proctor.runs.stored_run import load_run
from proctor.statistics.item_quality import discriminations

MODELS = (2, 3, 5, 10, 20, 60)
QUESTIONS = 500
PLANTED = 0.04
LETTERS = "ABCD"

Ints = NDArray[np.int64]


def exam(stream: np.random.Generator, models: int) -> tuple[Ints, Ints]:
    """Return answers, a row for each model, and golds; 0 is the true answer of every question."""
    skills = stream.normal(0.8, 0.9, models)
    ease, slopes = stream.normal(0.0, 1.2, QUESTIONS), np.exp(stream.normal(0.0, 0.4, QUESTIONS))
    chances = 1 / (1 + np.exp(-slopes * (skills[:, None] + ease)))
    temptations = stream.dirichlet(np.full(len(LETTERS) - 1, 0.7), QUESTIONS)
    wrong = np.array([1 + stream.choice(len(LETTERS) - 1, models, p=each) for each in temptations]).T
    answers = np.where(stream.random(chances.shape) < chances, 0, wrong)
    golds = np.where(stream.random(QUESTIONS) < PLANTED, stream.integers(1, len(LETTERS), QUESTIONS), 0)
    return answers, golds


def written(root: Path, answers: Ints, golds: Ints) -> Iterator[Path]:
    """Write a run folder for each model, and yield it."""
    for model, given in enumerate(answers):
        folder = root / f"{model:03}"
        folder.mkdir()
        scores = (given == golds).astype(float).tolist()
        entry = {"score": float(np.mean(scores)), "score_name": "acc", "unit": "share", "n": QUESTIONS}
        (folder / "results.json").write_text(json.dumps({"results": {"exam": entry}}))
        lines = [
            {
                "exam": "exam",
                "doc_id": place,
                "input": {"question": f"What is asked in place {place}?"},
                "prompt": f"What is asked in place {place}?",
                "references": [LETTERS[gold]],
                "processed_prediction": LETTERS[answer],
                "scores": {"acc": score},
            }
            for place, (answer, gold, score) in enumerate(zip(given, golds, scores, strict=True))
        ]
        (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        yield folder


def found(answers: Ints, golds: Ints) -> list[int]:
    """Return the questions whose gold is in doubt, the most doubtful first."""
    with TemporaryDirectory() as folder:
        (seen,) = items_of([load_run(path) for path in written(Path(folder), answers, golds)])
    return [each.number for each in seen.doubtful]


def coverage(stream: np.random.Generator, models: int) -> list[bool]:
    """Return for each question whether the interval of its discrimination holds what many models have."""
    ease, slopes = stream.normal(0.3, 1.3, 100), np.exp(stream.normal(0.0, 0.5, 100))
    slopes = np.where(stream.random(100) < PLANTED, -slopes, slopes)

    def drawn(count: int) -> NDArray[np.float64]:
        logits = slopes * stream.normal(0.0, 1.0, count)[:, None] + ease
        return (stream.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)

    pairs = zip(discriminations(drawn(4_000)), discriminations(drawn(models)), strict=True)
    return [seen.low <= true.value <= seen.high for true, seen in pairs if true and seen]


def main() -> int:
    """Simulate, print a line for each number of models, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--models", type=int, nargs="*", default=MODELS)
    given = parser.parse_args()
    print(f"{QUESTIONS} questions, {PLANTED:.0%} of the golds wrong, {given.runs} runs")
    for models in given.models:
        planted, doubted, hits, tops, held = 0, 0, 0, 0, list[bool]()
        for run in range(given.runs):
            stream = np.random.default_rng([2026, models, run])
            answers, golds = exam(stream, models)
            wrong, seen = set(np.flatnonzero(golds).tolist()), found(answers, golds)
            planted, doubted, hits = planted + len(wrong), doubted + len(seen), hits + len(wrong & set(seen))
            tops += len(wrong & set(seen[: len(wrong)]))
            held += coverage(stream, models)
        said = f"{hits} of {planted} found among {doubted} in doubt (precision {hits / max(doubted, 1):.0%})"
        top = f"the first {planted / given.runs:.0f}: {tops / max(planted, 1):.0%} right"
        holds = f"; discrimination held {np.mean(held):.1%}" if held else ""
        print(f"{models:>3} models: {said}; {top}{holds}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
