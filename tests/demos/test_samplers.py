import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.demos import (
    CloseTextSampler,
    DemoPool,
    DiverseLabelsSampler,
    FixedIndicesSampler,
    RandomSampler,
    draw_pool,
)
from proctor.errors import DemosError


def instance(text, label="x", choices=("x", "y")):
    return {"input_fields": {"text": text, "choices": list(choices)}, "reference_fields": {"labels": [label]}}


POOL = [instance(f"text {number}", "xy"[number % 2]) for number in range(10)]


def test_random_draws_are_those_of_unitxt():
    chosen = RandomSampler().sample(3, POOL, instance("asked"))
    assert [each["input_fields"]["text"] for each in chosen] == ["text 8", "text 7", "text 2"]  # unitxt 1.26.10


@given(st.integers(1, 8), st.text(max_size=5), st.one_of(st.none(), st.integers(0, 3)))
def test_draws_are_distinct_reproducible_and_from_the_pool(size, text, seed):
    asked = instance(text)
    first = RandomSampler().sample(size, POOL, asked, seed)
    assert first == RandomSampler().sample(size, POOL, asked, seed)
    assert len({each["input_fields"]["text"] for each in first}) == size


def test_fixed_places():
    chosen = FixedIndicesSampler(indices=[3, 0, 5]).sample(2, POOL, instance("a"))
    assert [each["input_fields"]["text"] for each in chosen] == ["text 3", "text 0"]
    with pytest.raises(DemosError, match="index 10 lies outside"):
        FixedIndicesSampler(indices=[10]).sample(1, POOL, instance("a"))


def test_closest_texts():
    chosen = CloseTextSampler(field="text").sample(1, POOL, instance("text 7!"))
    assert chosen[0]["input_fields"]["text"] == "text 7"


def test_labels_are_balanced():
    pool = [instance(f"t{number}", "x" if number < 8 else "y") for number in range(10)]
    for number in range(10):
        chosen = DiverseLabelsSampler().sample(4, pool, instance(f"asked {number}"))
        labels = [each["reference_fields"]["labels"][0] for each in chosen]
        assert sorted(labels) == ["x", "x", "y", "y"]
    with pytest.raises(DemosError, match="asked of 10"):
        DiverseLabelsSampler().sample(11, pool, instance("a"))
    with pytest.raises(DemosError, match="needs 'nothing'"):
        DiverseLabelsSampler(choices="nothing").sample(1, pool, instance("a"))


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.sampled_from("abcde"))
def test_a_pool_never_shows_an_instance_itself(texts, asked):
    pool = DemoPool([instance(text) for text in texts])
    found = pool.without(instance(asked))
    assert [each["input_fields"]["text"] for each in found] == [text for text in texts if text != asked]


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.one_of(st.none(), st.integers(0, 5)))
def test_a_pool_takes_the_first_distinct_instances(texts, size):
    rows = iter([instance(text) for text in texts])
    pool, duplicates = draw_pool(rows, size)
    shown = [each["input_fields"]["text"] for each in pool]
    assert shown == list(dict.fromkeys(texts))[:size]
    rest = [each["input_fields"]["text"] for each in rows]
    assert sorted([*shown, *rest, *(each["input_fields"]["text"] for each in duplicates)]) == sorted(texts)
