"""How a model is told to write, and what is made of the tokens that it wrote; no model is loaded."""

import re
from types import SimpleNamespace

import pytest

from proctor.engines.encoder import RefusedError
from proctor.engines.hf.generate import _Cutter, _token_set, generation_config, is_sampled
from proctor.ir import Decoding

transformers = pytest.importorskip("transformers")

SPECIAL = {8: "<think>", 9: "</s>"}


class Words:
    """A tokenizer whose tokens are their numbers, but for the special ones."""

    pad_token_id, eos_token_id = 7, 9

    def decode(self, ids, *, skip_special_tokens):
        return " ".join(SPECIAL.get(each, str(each)) for each in ids if not (skip_special_tokens and each in SPECIAL))


def configured(decoding, **own):
    own = transformers.GenerationConfig(**own)
    found = generation_config(
        SimpleNamespace(model=SimpleNamespace(generation_config=own), tokenizer=Words()), decoding
    )
    return own, found


def test_a_models_own_ways_to_write_count_where_nobody_says_otherwise_and_sampling_is_ours():
    drawn = {
        "do_sample": True,
        "temperature": 0.5,
        "top_p": 0.5,
        "top_k": 5,
        "max_length": 5,
        "repetition_penalty": 1.5,
    }
    own, found = configured(Decoding(max_tokens=3, extra={"num_beams": 2, "do_sample": True, "top_k": 4}), **drawn)
    assert (found.do_sample, found.temperature, found.top_p, found.top_k, found.min_p) == (
        False,
        None,
        None,
        None,
        None,
    )
    assert (found.max_length, found.max_new_tokens, found.pad_token_id, found.eos_token_id) == (None, 3, 7, 9)
    assert (found.repetition_penalty, found.num_beams) == (1.5, 2)
    assert (own.do_sample, own.max_length, own.num_beams) == (True, 5, transformers.GenerationConfig().num_beams)
    assert configured(Decoding(), eos_token_id=3)[1].eos_token_id == 3
    with pytest.raises(RefusedError, match="knows no generation parameter 'nonsense'"):
        configured(Decoding(extra={"nonsense": 1}))


@pytest.mark.parametrize(
    "decoding, sampled",
    [
        (Decoding(temperature=0.0), False),
        (Decoding(temperature=0.1), True),
        (Decoding(temperature=1.0, extra={"do_sample": False}), False),
        (Decoding(temperature=1.0, extra={"do_sample": True}), True),
    ],
)
def test_answers_are_drawn_where_there_is_a_temperature_and_nobody_forbids_it(decoding, sampled):
    assert is_sampled(decoding) is sampled


def test_ends_are_one_token_or_several():
    assert [_token_set(each) for each in (None, 3, [3, 4])] == [frozenset(), {3}, {3, 4}]


@pytest.mark.parametrize(
    "row, ended_at, expected",
    [
        ([1, 2, 9, 9], None, ("1 2", 3, "stop")),
        ([1, 2], None, ("1 2", 2, "length")),
        ([1, 2, 3, 9], 2, ("1 2", 2, "stop")),
        ([1, 2, 9], 2, ("1 2", 2, "stop")),
        ([1, 9, 3], 2, ("1", 2, "stop")),
        ([9], None, ("", 1, "stop")),
    ],
)
def test_an_answer_ends_at_the_first_end_or_where_a_stop_string_was_seen(row, ended_at, expected):
    tokens = tuple("abcd")
    text, count, reason = expected
    written = _Cutter(Words(), frozenset({9}), None).finish(row, ended_at, tokens)
    assert (written.text, written.token_count, written.reason, written.tokens) == (text, count, reason, tokens[:count])


def test_marks_of_thoughts_stay_in_the_text_and_other_special_tokens_do_not():
    cutter = _Cutter(Words(), frozenset(), re.compile("<think>"))
    assert (cutter._text([1, 8, 2]), cutter._text([1, 9])) == ("1 <think> 2", "1")
    assert _Cutter(Words(), frozenset(), None)._text([1, 8, 2]) == "1 2"
