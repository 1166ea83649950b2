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


def texts_of(found):
    return [each["input_fields"]["text"] for each in found]


def test_an_instance_is_known_by_its_fields_whatever_their_order():
    one, other = {"input_fields": {"a": 1, "b": 2}}, {"input_fields": {"b": 2, "a": 1}}
    assert draw_pool(iter([one, other]), None) == ([one], [other])
    odd, even = {"input_fields": {"a": {1}}}, {"input_fields": {"a": {2}}}  # sets are not JSON
    assert draw_pool(iter([odd, even, odd]), 3) == ([odd, even], [odd])
    assert DemoPool([one]).without(other) == []
    one, other = {"input_fields": {"a": "x", "b": "y"}}, {"input_fields": {"b": "y", "a": "x"}}
    assert DemoPool([one]).without(other) == []
    assert DemoPool([one]).without({"input_fields": {"a": "y", "b": "x"}}) == [one]


def test_a_member_of_a_pool_knows_its_place():
    members = [instance("a"), instance("a"), instance("b")]
    pool = DemoPool(members)
    assert [pool.place_of(each) for each in members] == [0, 1, 2]
    assert pool.place_of(instance("a")) is None
    assert (len(pool), pool[2], list(pool[:1]), pool.memo) == (3, members[2], members[:1], {})
    assert texts_of(pool.without(instance("a"))) == ["b"]
    # Equal texts under other names are another instance.
    assert len(pool.without({"input_fields": {"other": "a", "choices": ["x", "y"]}})) == 3


def test_a_seed_draws_anew():
    asked = instance("asked")
    drawn = {tuple(texts_of(RandomSampler().sample(3, POOL, asked, seed))) for seed in (None, 0, 1, 2)}
    assert len(drawn) == 4
    balanced = {tuple(texts_of(DiverseLabelsSampler().sample(4, POOL, asked, seed))) for seed in (None, 0, 1, 2)}
    assert len(balanced) > 1


def test_samplers_leave_out_who_is_asked():
    assert texts_of(RandomSampler().filter_source_by_instance(POOL, POOL[3])) == [
        f"text {number}" for number in range(10) if number != 3
    ]


def test_the_last_place_lies_inside_the_pool():
    assert texts_of(FixedIndicesSampler(indices=[9, 10]).sample(1, POOL, instance("a"))) == ["text 9"]
    with pytest.raises(DemosError) as caught:
        FixedIndicesSampler(indices=[0, 10]).sample(2, POOL, instance("a"))
    assert "10 instances" in str(caught.value)


def test_all_with_one_of_the_closest_texts_may_be_drawn():
    pool = [instance("near"), instance("near", "y"), instance("far away")]
    seen = {
        CloseTextSampler(field="text").sample(1, pool, instance(f"near{' ' * number}"))[0]["reference_fields"][
            "labels"
        ][0]
        for number in range(12)
    }
    assert seen == {"x", "y"}
    assert texts_of(CloseTextSampler(field="text").sample(3, pool, instance("zzz")))  # however far they are


def test_labels_are_a_combination_in_the_order_of_the_choices():
    sampler = DiverseLabelsSampler()
    both = {"input_fields": {"choices": ["x", "y", "z"]}, "reference_fields": {"labels": ["z", "x", "other"]}}
    assert sampler.combination(both) == "['x', 'z']"
    assert sampler.combination({**both, "input_fields": {"choices": "x"}}) == "['x']"
    with pytest.raises(DemosError, match="Expected a list"):
        sampler.combination({**both, "reference_fields": {"labels": "x"}})
    with pytest.raises(DemosError, match="needs 'labels'"):
        sampler.combination({**both, "reference_fields": None})


def test_instances_without_a_label_count_where_they_are_told_to():
    pool = [instance("a", "x"), instance("b", "none"), instance("c", "y")]
    assert len(DiverseLabelsSampler().sample(3, pool, instance("q"))) == 3
    strict = DiverseLabelsSampler(include_empty_label=False)
    assert sorted(texts_of(strict.sample(2, pool, instance("q")))) == ["a", "c"]
    with pytest.raises(DemosError, match="3 demos are asked of 2 instances"):
        strict.sample(3, pool, instance("q"))


def test_the_order_of_balanced_demos_is_drawn():
    orders = {tuple(texts_of(DiverseLabelsSampler().sample(4, POOL, instance(f"q {n}")))) for n in range(8)}
    firsts = {POOL[int(order[0][-1])]["reference_fields"]["labels"][0] for order in orders}
    assert firsts == {"x", "y"}
    drawn = [DiverseLabelsSampler().sample(1, POOL, instance(f"q {n}")) for n in range(12)]
    assert {len(each) for each in drawn} == {1}
    odd = [each for (each,) in drawn]
    assert {each["reference_fields"]["labels"][0] for each in odd} == {"x", "y"}


def test_a_small_group_gives_all_it_has():
    pool = [instance(f"x {number}", "x") for number in range(5)] + [instance("y", "y")]
    found = [DiverseLabelsSampler().sample(5, pool, instance(f"q {number}")) for number in range(12)]
    assert {sum(each["reference_fields"]["labels"] == ["y"] for each in demos) for demos in found} == {1}
    assert len({texts_of(demos).index("y") for demos in found}) > 2  # shuffled, not label by label


@pytest.mark.parametrize("index", [-11, 10, 99])
def test_places_beyond_either_end_are_named(index):
    assert texts_of(FixedIndicesSampler(indices=[-1, -10]).sample(2, POOL, instance("a"))) == ["text 9", "text 0"]
    with pytest.raises(DemosError, match=f"the index {index} lies outside the demo pool"):
        FixedIndicesSampler(indices=[0, index]).sample(2, POOL, instance("a"))


def test_more_than_three_of_the_closest_may_be_asked_for():
    found = CloseTextSampler(field="text").sample(6, POOL, instance("something else"))
    assert len({each["input_fields"]["text"] for each in found}) == 6


def test_a_place_beyond_the_pool_is_said_to_be_one_of_the_indices():
    with pytest.raises(DemosError) as caught:
        FixedIndicesSampler(indices=[10]).sample(1, POOL, instance("a"))
    assert caught.value.diagnostics[0].path == "$.indices"


@pytest.mark.parametrize(
    "sampler",
    [
        RandomSampler(),
        FixedIndicesSampler(indices=[1]),
        CloseTextSampler(field="text"),
        DiverseLabelsSampler(choices="choices", labels="labels"),
    ],
)
def test_no_demos_are_none(sampler):
    assert sampler.sample(0, POOL, instance("a")) == []


@pytest.mark.parametrize("part", ["input_fields", "reference_fields"])
def test_labels_are_read_from_both_parts_of_an_instance(part):
    asked = {name: value for name, value in instance("a").items() if name != part}
    with pytest.raises(DemosError, match=f"'{part}' field is missing from"):
        DiverseLabelsSampler().combination(asked)
