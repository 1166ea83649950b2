"""Shuffled rows: the generator goes on from the rows that demos are drawn from to those that are asked about."""

from __future__ import annotations

from typing import Any

import pytest

from proctor import load_dataset
from proctor.data import stream_operators
from proctor.data.loaders import LoadFromDictionary
from proctor.recipes import DatasetRecipe
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

# What Unitxt 1.26.10 asks about (conformance/unitxt/shuffles.py): numbers of the first six rows of the test split.
EXPECTED: dict[str, tuple[dict[str, Any], list[int]]] = {
    "no demos": ({}, [5, 4, 1, 6, 2, 3]),
    "from train": ({"num_demos": 2, "demos_pool_size": 10}, [2, 1, 3, 5, 6, 4]),
    "from test": ({"num_demos": 1, "demos_pool_size": 5, "demos_taken_from": "test"}, [2, 1, 9, 8, 10, 12]),
    "all of train": ({"num_demos": 2, "demos_pool_size": -1}, [0, 4, 3, 1, 5, 2]),
    "kept": ({"num_demos": 2, "demos_pool_size": 10, "demos_removed_from_data": False}, [2, 1, 3, 5, 6, 4]),
}


def recipe(**fields: Any) -> DatasetRecipe:
    """Return a recipe of 60 shuffled training rows and 30 of the test split, in pages of seven."""
    data = {
        name: [{"q": f"{name} {number}", "a": f"ans{number % 3}"} for number in range(count)]
        for name, count in (("train", 60), ("test", 30))
    }
    card = TaskCard(
        loader=LoadFromDictionary(data=data, data_classification_policy=["public"]),
        preprocess_steps=[stream_operators.Shuffle(page_size=7)],
        task=Task(
            input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"]
        ),
    )
    return DatasetRecipe(card=card, template=InputOutputTemplate(input_format="{q}", output_format="{a}"), **fields)


def numbers(rows: Any) -> list[int]:
    """Return which rows are asked about: the last word of each prompt."""
    return [int(row["source"].split()[-1]) for row in rows]


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_are_those_of_unitxt(name: str) -> None:
    fields, expected = EXPECTED[name]
    assert numbers(recipe(**fields)()["test"])[:6] == expected


def test_every_pass_is_the_same() -> None:
    stream = recipe(num_demos=2, demos_pool_size=10)()["test"]
    assert list(stream) == list(stream)
    one, other = iter(stream), iter(stream)
    assert [next(one) for _ in range(3)] == [next(other) for _ in range(3)], "passes at the same time do not mix"


def test_a_dataset_of_all_splits_reads_one_after_the_other() -> None:
    whole = load_dataset(recipe())
    assert numbers(whole["train"]) == numbers(recipe()()["train"])
    assert numbers(whole["test"]) != numbers(recipe()()["test"])
    assert numbers(whole["test"]) == [
        0,
        4,
        3,
        1,
        5,
        2,
        6,
        11,
        12,
        10,
        8,
        7,
        13,
        9,
        20,
        18,
        14,
        17,
        16,
        15,
        19,
        26,
        21,
        24,
        23,
        27,
        22,
        25,
        28,
        29,
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"max_train_instances": 14},
        {"train_refiner": {"__type__": "stream_refiner", "max_instances": 14}},
        {"train_refiner": {"__type__": "stream_refiner", "max_instances": 20}, "max_train_instances": 14},
    ],
)
def test_a_limit_at_the_end_of_a_page_draws_for_the_row_after_it(fields: dict[str, Any]) -> None:
    """What the next split draws is then Unitxt's, too; a refiner of one's own is such a limit."""
    whole = load_dataset(recipe(**fields))
    assert len(whole["train"]) == 14
    assert numbers(whole["test"])[:14] == [0, 1, 2, 3, 4, 5, 6, 7, 10, 13, 8, 12, 11, 9]
    assert numbers(recipe(**fields)()["test"])[:6] == EXPECTED["no demos"][1], "a split that is read alone"


# Numbers of the first five rows of each split where a program reads the splits of a called recipe one after the other
# (Unitxt 1.26.10: ``streams = recipe(); list(streams["train"]); list(streams["test"])``, conformance/unitxt/shuffles.py).
ONE_AFTER_THE_OTHER = {
    ("train", "test"): [[5, 4, 1, 6, 2], [0, 4, 3, 1, 5]],
    ("test", "train"): [[5, 4, 1, 6, 2], [0, 3, 2, 1, 5]],
}


@pytest.mark.parametrize("order", ONE_AFTER_THE_OTHER)
def test_splits_of_a_called_recipe_go_on_where_the_one_before_stopped(order: tuple[str, str]) -> None:
    streams = recipe()()
    read = [numbers(streams[name]) for name in order]
    assert [each[:5] for each in read] == ONE_AFTER_THE_OTHER[order]
    assert numbers(streams[order[1]]) == read[1], "a further pass draws the same"
    assert numbers(recipe()()[order[0]]) == read[0], "a recipe that is called anew starts anew"


def test_a_pass_that_stops_early_has_drawn_what_it_read() -> None:
    streams = recipe()()
    next(iter(streams["train"]))
    after_a_page = numbers(streams["test"])
    assert after_a_page not in (numbers(recipe()()["test"]), numbers(load_dataset(recipe())["test"]))
