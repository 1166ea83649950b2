from __future__ import annotations

import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.fusion import FixedFusion, WeightedFusion
from proctor.data.loaders import LoadFromDictionary
from proctor.data.splitters import (
    RenameSplits,
    SeparateSplit,
    SliceSplit,
    SplitRandomMix,
    parse_random_mix_string,
    parse_slices_string,
)
from proctor.data.streams import MultiStream
from proctor.errors import DataError, ValidationError


def streams(train=20, test=6):
    return MultiStream.from_iterables(
        {"train": [{"a": i} for i in range(train)], "test": [{"a": 100 + i} for i in range(test)]}
    )


def content(made):
    return {name: [row["a"] for row in stream] for name, stream in made.items()}


def test_splits_are_renamed():
    made = content(RenameSplits(mapper={"train": "dev"})(streams(2, 1)))
    assert made == {"test": [100], "dev": [0, 1]}
    assert list(content(RenameSplits(mapper={"train": "test", "test": "train"})(streams(1, 1)))) == ["test", "train"]


def test_rows_are_dealt_out_once_and_always_alike():
    mix = SplitRandomMix(mix={"train": "train[80%]", "validation": "train[20%]", "test": "test"})
    first, second = content(mix(streams(500))), content(mix(streams(500)))
    assert first == second
    assert sorted(first["train"] + first["validation"]) == list(range(500))
    assert 60 < len(first["validation"]) < 140
    assert first["test"] == [100 + i for i in range(6)]


def test_what_has_no_share_is_dropped():
    made = content(SplitRandomMix(mix={"train": "train[0.3]"})(streams(500)))
    assert 100 < len(made["train"]) < 200


def test_a_split_is_cut_into_several():
    made = content(SeparateSplit(from_split="train", to_split_names=["x", "y"], to_split_sizes=[3])(streams(8, 1)))
    assert made == {"test": [100], "x": [0, 1, 2], "y": [3, 4, 5, 6, 7]}
    kept = SeparateSplit(
        from_split="train", to_split_names=["x"], to_split_sizes=[3], remove_targets_from_source_split=False
    )
    assert content(kept(streams(4, 1)))["train"] == [0, 1, 2, 3]
    with pytest.raises(ValidationError, match="sizes"):
        SeparateSplit(from_split="train", to_split_names=["x", "y", "z"], to_split_sizes=[3])


def test_slices_are_joined():
    made = content(SliceSplit(slices={"train": "train[:2]+test[4:]", "dev": "train[5:2]"})(streams()))
    assert made == {"train": [0, 1, 104, 105], "dev": [5, 6]}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a[90%]+b[0.7]+c", {"a": 0.9, "b": 0.7, "c": 1.0}),
        ("a", {"a": 1.0}),
        ("a[.5]", {"a": 0.5}),
        ("a[5]", {"a": 5.0}),
    ],
)
def test_mixes_are_read(text, expected):
    assert parse_random_mix_string(text) == expected


def test_slices_are_read():
    assert parse_slices_string("a[:50]+b[24:]+c+a[5:10]") == {
        "a": [(None, 50), (5, 10)],
        "b": [(24, None)],
        "c": [(None, None)],
    }


@pytest.mark.parametrize("text", ["a[x]", "a[]", "", "a+", "a[10%", "a b"])
def test_what_is_no_mix_is_refused(text):
    with pytest.raises(ValidationError):
        SplitRandomMix(mix={"train": text})
    with pytest.raises(ValidationError):
        SliceSplit(slices={"train": text})


@pytest.mark.parametrize(
    "splitter",
    [
        RenameSplits(mapper={"tran": "x"}),
        SplitRandomMix(mix={"x": "tran[10%]"}),
        SeparateSplit(from_split="tran", to_split_names=["x"], to_split_sizes=[1]),
        SliceSplit(slices={"x": "tran"}),
    ],
)
def test_an_unknown_split_is_answered_with_the_nearest(splitter):
    with pytest.raises(DataError, match="did you mean 'train'"):
        content(splitter(streams()))


@pytest.mark.parametrize("name", ["large_no_dev", "large_no_test", "small_no_dev", "small_no_test", "test_only"])
def test_the_splitters_of_the_catalog_make_three_splits(name):
    source = MultiStream.from_iterables(
        {split: [{"a": i} for i in range(300)] for split in ("train", "validation", "test")}
    )
    made = content(fetch_artifact(f"splitters.{name}")(source))
    assert list(made) == ["train", "validation", "test"]
    assert made["test"]
    assert bool(made["train"]) is (name != "test_only")


def test_sources_are_fused_one_after_the_other():
    sources = {name: LoadFromDictionary(data={"test": [{"a": f"{name}{i}"} for i in range(3)]}) for name in ("x", "y")}
    made = list(FixedFusion(subsets=sources, max_instances_per_subset=2)()["test"])
    assert [(row["a"], row["subset"]) for row in made] == [("x0", ["x"]), ("x1", ["x"]), ("y0", ["y"]), ("y1", ["y"])]
    nested = FixedFusion(
        subsets={"outer": FixedFusion(subsets=sources, include_splits=["test"])}, max_instances_per_split={"test": 1}
    )
    assert next(iter(nested()["test"]))["subset"] == ["outer", "x"]
    assert list(FixedFusion(subsets=sources)()["train"]) == []


def test_sources_are_fused_by_weight():
    sources = [
        LoadFromDictionary(data={"train": [{"a": i} for i in range(100)]}),
        LoadFromDictionary(data={"train": [{"a": -1}] * 100}),
    ]
    fusion = WeightedFusion(subsets=sources, weights=[3, 1], max_total_samples=80)
    first = [row["a"] for row in fusion()["train"]]
    assert first == [row["a"] for row in fusion()["train"]]
    assert len(first) == 80
    assert 8 < first.count(-1) < 35
    assert len(list(WeightedFusion(subsets=sources, weights=[3, 1])()["train"])) == 200
    with pytest.raises(ValidationError, match="weights"):
        WeightedFusion(subsets=sources, weights=[1])
