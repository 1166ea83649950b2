"""Benchmarks: members, limits and overrides."""

from __future__ import annotations

import pytest

from proctor.errors import DemosError, UsageError, ValidationError
from proctor.recipes import Benchmark, DatasetRecipe
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(input_fields={"text": "str"}, reference_fields={"label": "str"}, prediction_type="str", metrics=[])
TEMPLATE = InputOutputTemplate(input_format="{text}", output_format="{label}")


def leaf(name: str = "x", **options) -> DatasetRecipe:
    data = {
        split: [{"text": f"{name} {split} {number}", "label": "y"} for number in range(5)]
        for split in ("train", "test")
    }
    card = TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=TASK, templates=[TEMPLATE])
    return DatasetRecipe(card=card, **options)


def counts(split: str = "test", **options) -> dict[str, int]:
    found = [row["subset"][0] for row in Benchmark(subsets={"a": leaf(), "b": leaf(), "c": leaf()}, **options)()[split]]
    return {name: found.count(name) for name in dict.fromkeys(found)}


def test_a_total_is_shared_out_and_never_exceeded():
    assert counts() == {"a": 5, "b": 5, "c": 5}
    assert counts(max_total_samples=6) == {"a": 2, "b": 2, "c": 2}
    assert counts(max_total_samples=7) == {"a": 3, "b": 3, "c": 1}
    assert counts(max_total_samples=1) == {"a": 1}
    assert counts(max_total_samples=4, subset="b") == {"b": 4}


def test_limits_of_a_split_and_of_a_member():
    assert counts(max_samples_per_subset=2) == {"a": 2, "b": 2, "c": 2}
    assert counts(max_test_instances=1) == {"a": 1, "b": 1, "c": 1}
    assert counts("train", max_test_instances=1) == {"a": 5, "b": 5, "c": 5}
    assert counts("train", max_train_instances=3, max_samples_per_subset=4) == {"a": 3, "b": 3, "c": 3}
    benchmark = Benchmark(subsets={"a": leaf()}, max_validation_instances=2, max_total_samples=3)
    assert (benchmark.limit_of("validation"), benchmark.limit_of("test"), benchmark.limit_of("dev")) == (2, 3, 3)
    assert Benchmark(subsets={"a": leaf()}).limit_of("test") is None
    assert Benchmark(subsets={}, max_total_samples=3).limit_of("test") == 3


def test_members_are_fetched_by_name():
    assert isinstance(Benchmark(subsets={"a": "samples.sentiment"}).subsets["a"], DatasetRecipe)


def test_splits_are_those_that_some_member_has():
    assert list(Benchmark(subsets={"a": leaf()})()) == ["train", "test"]
    assert list(Benchmark(subsets={"a": leaf()}, splits=["test", "dev"])()) == ["test"]


def test_overrides_reach_every_member_and_change_none():
    own = leaf(demos_pool_size=3)
    benchmark = Benchmark(subsets={"a": own, "in": Benchmark(subsets={"b": own})}, num_demos=2, loader_limit=4)
    changed = dict(benchmark.leaves("all"))
    assert list(changed) == ["all/a", "all/in/b"]
    assert all((each.num_demos, each.loader_limit) == (2, 4) for each in changed.values())
    assert own.num_demos != 2
    assert Benchmark(subsets={"a": own}).members()["a"] is own
    assert Benchmark(subsets={"a": own}, num_demos=0).members()["a"].num_demos == 0
    with pytest.raises(DemosError, match="demos_pool_size"):
        Benchmark(subsets={"a": leaf()}, num_demos=2)


def test_rows_name_the_whole_path():
    inner = Benchmark(subsets={"b": leaf()})
    rows = list(Benchmark(subsets={"in": inner, "a": leaf()}, max_samples_per_subset=1)()["test"])
    assert [row["subset"] for row in rows] == [["in", "b"], ["a"]]


def test_benchmarks_that_cannot_work_are_refused():
    with pytest.raises(ValidationError, match="not both"):
        Benchmark(subsets={"a": leaf()}, max_total_samples=1, max_samples_per_subset=1)
    with pytest.raises(ValidationError, match="'a' is a Task"):
        Benchmark(subsets={"a": TASK})
    with pytest.raises(ValidationError, match="no subset 'aa'"):
        Benchmark(subsets={"a": leaf()}, subset="aa")
    with pytest.raises(UsageError, match="single instances"):
        Benchmark(subsets={"a": leaf()}).produce([{}])
