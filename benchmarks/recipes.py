"""How fast recipes become prompts: rendering with demos, datasets, and a long stream in flat memory.

The work: 10,000 instances of text classification, three demos each from a pool of 100; the same as a Hugging Face
dataset; and long streams without demos.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

from proctor.data.loaders import Loader
from proctor.data.streams import GeneratorStream, MultiStream
from proctor.recipes import DatasetRecipe, load_dataset
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

INSTANCES = 10_000
MANY = 100_000
CLASSES = ["positive", "negative"]


class ManyRows(Loader):
    """Rows that are made while they are read."""

    count: int

    def __call__(self, multi_stream: MultiStream | None = None) -> MultiStream:
        """Return a train and a test stream."""
        del multi_stream

        def rows(prefix: str, count: int) -> Iterator[dict[str, Any]]:
            for number in range(count):
                yield {
                    "text": f"{prefix} text number {number} with some more words in it",
                    "text_type": "sentence",
                    "classes": CLASSES,
                    "type_of_class": "sentiment",
                    "label": CLASSES[number % 2],
                    "data_classification_policy": ["public"],
                }

        return MultiStream(
            {
                "train": GeneratorStream(rows, {"prefix": "train", "count": 500}),
                "test": GeneratorStream(rows, {"prefix": "test", "count": self.count}),
            }
        )


def recipe(count: int, **fields: Any) -> DatasetRecipe:
    """Return the recipe that is measured."""
    task = Task(
        input_fields={"text": "str", "text_type": "str", "classes": "List[str]", "type_of_class": "str"},
        reference_fields={"label": "str"},
        prediction_type="str",
        metrics=["metrics.accuracy"],
    )
    template = InputOutputTemplate(
        instruction="Classify the {type_of_class} of the following {text_type} to one of these options: {classes}.",
        input_format="{text_type}: {text}",
        target_prefix="The {type_of_class} is ",
        output_format="{label}",
    )
    return DatasetRecipe(card=TaskCard(loader=ManyRows(count=count), task=task), template=template, **fields)


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the faster of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def count(items: Iterator[Any]) -> int:
    """Return how many there are."""
    return sum(1 for _ in items)


def measure() -> dict[str, Any]:
    """Return CPU seconds and memory."""
    shown = recipe(INSTANCES, num_demos=3, demos_pool_size=100)
    render = seconds(lambda: count(shown.render("test")))
    dataset = seconds(lambda: load_dataset(shown, split="test"))
    plain = recipe(MANY)
    stream = seconds(lambda: count(plain.render("test")))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count(recipe(10 * MANY).render("test"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {
        "10,000 instances with 3 demos": {"value": render, "unit": "CPU s", "budget": "<= 0.4"},
        "the same as a dataset": {"value": dataset, "unit": "CPU s", "budget": "<= 0.6"},
        "100,000 instances without demos": {"value": stream, "unit": "CPU s", "budget": "<= 2"},
        "memory grown over 1,000,000 instances": {"value": grown, "unit": "MB", "budget": "<= 20"},
    }


if __name__ == "__main__":
    for name, found in measure().items():
        print(f"{name}: {found['value']:.3f} {found['unit']} (budget {found['budget']})")
