"""Digests of instances and of exams."""

from __future__ import annotations

import datetime as dt
import hashlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Choose, Converse, Decoding, Exchange, Generate, Likelihood, Pair, Prompt, Request, Rolling
from proctor.ir.question import Question
from proctor.recipes import fingerprint
from proctor.recipes.fingerprint import (
    LAYERS,
    Definition,
    Fingerprint,
    FingerprintMaker,
    RowsDigest,
    digest_of,
    instance_digest,
)

ROW = {"question": "2 + 2?", "answer": "4"}
TEXTS = st.dictionaries(
    st.text(max_size=5).filter(lambda name: not name.startswith("__") and name != "idx"), st.text(min_size=1)
)


def _asked(number: int, *requests: Request, row: dict[str, object] | None = None) -> Question:
    content = row or {"question": str(number)}
    return Question(number, content, Exchange(()), requests, digest=instance_digest(content))


def _made(*questions: Question, engine: str = "", **given: object) -> Fingerprint:
    maker = FingerprintMaker()
    assert list(maker.passing(questions)) == list(questions)
    return maker.made(Definition(**given), engine)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "same",
    [
        {"answer": "4", "question": "2 + 2?"},
        {"question": "2 + 2?", "answer": 4},
        {"question": "2 + 2?", "answer": 4.0},
        {"question": "2 + 2?", "answer": np.int64(4)},
        {"question": "2 + 2?", "answer": np.float64(4)},
        {"question": "2 + 2?", "answer": "4", "note": None},
        {"question": "2 + 2?", "answer": "4", "note": ""},
        {"question": "2 + 2?", "answer": "4", "note": float("nan"), "more": []},
        {"question": "2 + 2?", "answer": "4", "__index_level_0__": 7},
        {"question": "2 + 2?", "answer": "4", "idx": 3},
        {"question": "2 + 2?", "answer": "4", "idx": 3, "subdivision": "rows"},
        {"input_fields": {"question": "2 + 2?"}, "reference_fields": {"answer": "4"}, "media": {}, "metrics": ["m"]},
        {**ROW, "metadata": {"num_demos": 3, "template": "templates.qa", "data_classification_policy": []}},
    ],
)
def test_the_same_content_in_another_spelling_has_the_same_digest(same: dict[str, object]) -> None:
    assert instance_digest(same) == instance_digest(ROW)


@pytest.mark.parametrize(
    "other",
    [
        {"question": "2 + 2 ?", "answer": "4"},
        {"question": "4", "answer": "2 + 2?"},
        {"question": "2 + 2?", "answer": "4", "note": "x"},
        {"question": "2 + 2?", "answer": "4", "subdivision": "Bavaria"},
        {"question": "2 + 2?", "answer": True},
        {"question": "2 + 2?", "answer": ["4"]},
        {"question": "2 + 2?", "answer": {"4": 1}},
        {"question": "2 + 2?"},
        {**ROW, "metadata": {"source": "book"}},
        {"input_fields": {"question": "2 + 2?"}, "reference_fields": {"answer": "4"}, "media": {"images": [b"x"]}},
    ],
)
def test_other_content_has_another_digest(other: dict[str, object]) -> None:
    assert instance_digest(other) != instance_digest(ROW)


@pytest.mark.parametrize(
    "value", ["\ud800", b"\xff", dt.date(2026, 1, 1), {1, 2}, np.arange(3), {"a": [1, None]}, object, (1, "x")]
)
def test_whatever_a_row_holds_has_a_digest_that_stays(value: object) -> None:
    found = instance_digest({"field": value})
    assert len(found) == 16
    assert found == instance_digest({"field": value})


def test_lists_and_tuples_are_the_same_and_their_order_counts() -> None:
    assert instance_digest({"choices": ("a", "b")}) == instance_digest({"choices": ["a", "b"]})
    assert instance_digest({"choices": ["a", "b"]}) != instance_digest({"choices": ["b", "a"]})


@given(TEXTS, TEXTS)
def test_rows_of_texts_share_a_digest_exactly_where_they_are_equal(one: dict[str, str], two: dict[str, str]) -> None:
    shuffled = dict(random.Random(0).sample(list(one.items()), len(one)))
    assert instance_digest(shuffled) == instance_digest(one)
    if "metadata" not in {**one, **two} and "input_fields" not in {**one, **two}:
        assert (instance_digest(one) == instance_digest(two)) == (one == two)


QUESTIONS = [_asked(number, Generate(Prompt(f"{number}?"), Decoding(max_tokens=8))) for number in range(5)]


def test_order_shows_in_the_data_layer_alone() -> None:
    assert _made(*QUESTIONS).differences(_made(*reversed(QUESTIONS))) == ["data"]


def test_a_missing_row_shows_as_rows_and_in_the_prompts() -> None:
    assert _made(*QUESTIONS).differences(_made(*QUESTIONS[1:])) == ["rows", "prompts"]


def test_a_row_twice_is_not_a_row_left_out() -> None:
    twice = [*QUESTIONS, QUESTIONS[0], QUESTIONS[0]]
    assert _made(*QUESTIONS).rows != _made(*twice).rows


def test_one_space_shows_in_the_prompts_alone() -> None:
    changed = [_asked(0, Generate(Prompt("0? "), Decoding(max_tokens=8))), *QUESTIONS[1:]]
    assert _made(*QUESTIONS).differences(_made(*changed)) == ["prompts"]


def test_repeats_of_a_generation_show_nowhere_and_choices_count_each_time() -> None:
    generate, choose = Generate(Prompt("q"), Decoding(8)), Choose((Pair(Prompt("q"), "a"), Pair(Prompt("q"), "b")))
    row = {"question": "q"}
    assert _made(_asked(0, generate, row=row)) == _made(_asked(0, *[generate] * 3, row=row))
    other = Generate(Prompt("p"), Decoding(8))
    assert _made(_asked(0, generate, row=row)).prompts != _made(_asked(0, generate, other, row=row)).prompts
    assert _made(_asked(0, choose, row=row)).prompts != _made(_asked(0, choose, choose, row=row)).prompts
    assert _made(*QUESTIONS[:1], *QUESTIONS[:1]).prompts != _made(*QUESTIONS[:1]).prompts


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(8, temperature=0.5), Decoding(8, stop=("\n",))])
def test_decoding_shows_in_its_own_layer(decoding: Decoding) -> None:
    changed = [_asked(number, Generate(Prompt(f"{number}?"), decoding)) for number in range(5)]
    assert _made(*QUESTIONS).differences(_made(*changed)) == ["decoding"]


def test_how_many_instances_share_a_decoding_does_not_show_in_it() -> None:
    assert _made(*QUESTIONS).decoding == _made(*QUESTIONS[1:]).decoding


@pytest.mark.parametrize(
    "one, two",
    [
        (
            Choose((Pair(Prompt("q"), "a"), Pair(Prompt("q"), "b"))),
            Choose((Pair(Prompt("q"), "b"), Pair(Prompt("q"), "a"))),
        ),
        (
            Choose((Pair(Prompt("q"), "a"), Pair(Prompt("p"), "a"))),
            Choose((Pair(Prompt("q"), "a"), Pair(Prompt("q"), "a"))),
        ),
        (Likelihood(Prompt("q"), "a"), Likelihood(Prompt("q"), "b")),
        (Rolling("one"), Rolling("two")),
        (Converse(({"role": "user", "content": "a"}, None)), Converse(({"role": "user", "content": "b"}, None))),
        (Generate(Prompt([{"role": "user", "content": "a"}])), Generate(Prompt("a"))),
    ],
)
def test_every_kind_of_request_shows_in_the_prompts(one: Request, two: Request) -> None:
    row = {"question": "q"}
    assert _made(_asked(0, one, row=row)).differences(_made(_asked(0, two, row=row))) == ["prompts"]


def test_what_is_not_known_is_not_a_difference() -> None:
    known = _made(*QUESTIONS, extraction=["strip"], metrics=["accuracy"], engine="e1")
    assert _made(*QUESTIONS).differences(known) == []
    other = _made(*QUESTIONS, extraction=["lower"], metrics=["f1"], engine="e2")
    assert known.differences(other) == ["extraction", "metrics", "engine"]


def test_a_fingerprint_comes_back_from_its_file() -> None:
    made = _made(*QUESTIONS, extraction=["strip"], metrics=["accuracy"], engine="e1")
    assert Fingerprint.from_dict(made.to_dict()) == made
    assert all(len(layer) == 12 for layer in made.to_dict().values())
    assert tuple(made.to_dict()) == LAYERS
    assert Fingerprint.from_dict(None) is None
    assert Fingerprint.from_dict({"rows": 3, "unknown": "x"}) == Fingerprint()
    assert len(made.short) == 8


@given(st.lists(st.sampled_from(["", "0" * 16, "f" * 16, "0123456789abcdef"]), max_size=12), st.sampled_from([1, 2, 5]))
def test_digests_in_blocks_are_those_one_by_one(digests, block):
    one_by_one, in_blocks = RowsDigest(), RowsDigest()
    before, fingerprint._BLOCK = fingerprint._BLOCK, block
    try:
        for each in digests:
            in_blocks.add(each)
        blocks = in_blocks.in_order, in_blocks.as_set
    finally:
        fingerprint._BLOCK = before
    for each in digests:
        one_by_one.add(each)
        assert one_by_one.in_order
    assert blocks == (one_by_one.in_order, one_by_one.as_set)


def test_digests_of_rows_are_what_they_were():
    found = RowsDigest()
    for each in ["0123456789abcdef", "", "ffffffffffffffff"]:
        found.add(each)
    order = hashlib.blake2b(bytes.fromhex("0123456789abcdef") + b"-" + b"\xff" * 8, digest_size=6)
    assert found.in_order == order.hexdigest()
    assert found.as_set == digest_of([3, (0x0123456789ABCDEF + 0xFFFFFFFFFFFFFFFF) % 2**64])


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_digests_are_added_up_in_eight_bytes(numbers):
    found = RowsDigest()
    found.add_all(f"{number:016x}" for number in numbers)
    assert found.as_set == digest_of([len(numbers), sum(numbers) % 2**64])


def test_the_highest_bit_of_a_sum_counts():
    one, other = RowsDigest(), RowsDigest()
    one.add("8000000000000001")
    other.add("0000000000000001")
    assert one.as_set != other.as_set


REQUEST = st.sampled_from(
    [
        Generate(Prompt("a"), Decoding(max_tokens=1)),
        Generate(Prompt("b"), Decoding(max_tokens=2)),
        Choose((Pair(Prompt("a"), " x"), Pair(Prompt("a"), " y"))),
        Rolling("text"),
    ]
)


@given(st.lists(st.lists(st.lists(REQUEST, max_size=2), max_size=4), max_size=4))
def test_questions_in_blocks_have_the_fingerprint_of_each(blocks):
    in_blocks, one_by_one, number = FingerprintMaker(), FingerprintMaker(), 0
    for block in blocks:
        questions = [_asked(number + place, *requests) for place, requests in enumerate(block)]
        number += len(block)
        in_blocks.add_all(questions)
        for each in questions:
            one_by_one.add(each)
    assert in_blocks.made() == one_by_one.made()
