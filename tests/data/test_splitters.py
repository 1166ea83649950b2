from __future__ import annotations

import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.splitters import (
    RenameSplits,
    SplitRandomMix,
    parse_random_mix_string,
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


@pytest.mark.parametrize("text", ["a[x]", "a[]", "", "a+", "a[10%", "a b"])
def test_what_is_no_mix_is_refused(text):
    with pytest.raises(ValidationError):
        SplitRandomMix(mix={"train": text})


@pytest.mark.parametrize(
    "splitter",
    [
        RenameSplits(mapper={"tran": "x"}),
        SplitRandomMix(mix={"x": "tran[10%]"}),
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
