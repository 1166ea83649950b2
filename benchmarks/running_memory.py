"""A million samples through plan, log and results: peak memory and time, the log on disk, samples written.

Two exams: one as small as an exam can be, so that what is measured is running itself; and a recipe with a template,
processors and a metric with its intervals; its rows are read from a file of a million lines, and a scripted engine
answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proctor.data.files import LoadJsonFile
from proctor.dialects.unitxt.resolve import exam_of
from proctor.engines.engine import Engine
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Answers, Decoding, Exchange, Generate, Prompt, Response, Timing, Usage, turn
from proctor.recipes import DatasetRecipe
from proctor.recipes.exam import Answered, Exam, Question
from proctor.running import run_exams
from proctor.scoring.grade import Grade
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

COUNT = int(os.environ.get("PROCTOR_BENCH_SAMPLES", "1000000"))
LABELS = ["positive", "negative"]
_DECODING = Decoding(max_tokens=16, stop=("\n",))


class SmallExam:
    """Sums, asked in one line."""

    name = "sums"
    description = "sums"

    def questions(self) -> Iterator[Question]:
        """Yield the items."""
        for number in range(COUNT):
            prompt = Prompt(f"Question: What is {number} + {number}?\nAnswer:")
            exchange = Exchange((turn("user", "What?"),), references=(str(2 * number),))
            yield Question(number, {"number": number}, exchange, (Generate(prompt, _DECODING),))

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Return the share of right answers."""
        predictions: list[str] = []
        scores = array("d")
        for each in answered:
            predictions.append(each.responses[0].text)
            scores.append(float(predictions[-1] == each.question.exchange.references[0]))
        return Grade({"score": sum(scores) / len(scores), "score_name": "right"}, {"right": scores}, predictions)

    def specification(self) -> dict[str, Any]:
        """Return what decides the items."""
        return {"count": COUNT}


class Adder(Engine):
    """Answers at once."""

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Add."""
        for position, request in enumerate(requests):
            number = int(request.prompt.text.split()[3])
            timing = Timing(1.79e9 + position, 0.25)
            yield position, Response((str(2 * number),), (), ("stop",), (), Usage(12, 3), timing)


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def small(folder: Path) -> tuple[Exam, Engine, float]:
    """Return the small exam, who answers it, and the score that comes out."""
    del folder
    return SmallExam(), Adder(), 1.0


def recipe(folder: Path) -> tuple[Exam, Engine, float]:
    """Return a recipe's exam, an engine that always says the same, and the accuracy that comes out."""
    rows = folder / "rows.jsonl"
    if not rows.exists():
        with rows.open("w", encoding="utf-8") as file:
            for number in range(COUNT):
                label = LABELS[number % 2]
                text = f"text number {number} with some more words in it"
                file.write(json.dumps({"text": text, "label": label, "classes": LABELS}) + "\n")
    task = Task(
        input_fields={"text": "str", "classes": "List[str]"},
        reference_fields={"label": "str"},
        prediction_type="str",
        metrics=["metrics.accuracy"],
    )
    template = InputOutputTemplate(input_format="{text}\nOne of {classes}:", output_format="{label}")
    card = TaskCard(loader=LoadJsonFile(files={"test": str(rows)}, lines=True, streaming=True), task=task)
    exam = exam_of("recipe", DatasetRecipe(card=card, template=template, max_tokens=4))
    return exam, ScriptedEngine(answer=LABELS[0]), 0.5


KINDS = {"small exam": small, "recipe": recipe}


def child(kind: str, folder: str) -> None:
    """Run once and print peak memory and seconds."""
    began = time.perf_counter()
    exam, engine, score = KINDS[kind](Path(folder))
    result = run_exams([exam], engine, log=Path(folder) / "log.db", output=Path(folder) / "out")
    found = result.results[exam.name]
    if found["n"] != COUNT or found["score"] != score:
        sys.exit(f"the run is not right: {found}")
    print(peak_megabytes(), time.perf_counter() - began)


def measure() -> dict[str, Any]:
    """Return peak memory and seconds of a fresh run and of one that the log answers."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        with TemporaryDirectory() as folder:
            for name in ("fresh", "from the log"):
                command = [sys.executable, __file__, kind, folder]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise RuntimeError(done.stderr.strip())
                memory, seconds = done.stdout.split()
                title = f"{COUNT:,} samples, {kind}, {name}"
                found[f"{title}: peak memory"] = {"value": float(memory), "unit": "MB", "budget": "<= 500"}
                found[f"{title}: time"] = {"value": float(seconds), "unit": "s"}
    return found


if __name__ == "__main__":
    child(*sys.argv[1:3])
