"""What every engine says of itself, and what it does where it cannot answer."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.artifacts import to_data
from proctor.engines.engine import Engine
from proctor.engines.scripted import ScriptedEngine
from proctor.engines.thinking_engine import ThinkingEngine
from proctor.errors import UnsupportedRequestError, ValidationError
from proctor.ir import Decoding, Failure, Prompt, Response, Usage


class Bare(Engine):
    """An engine that says nothing about itself."""


class Thinker(ThinkingEngine):
    """An engine of a model with a name."""

    model: str = "m"
    seed: int | None = None


def test_an_engine_that_says_nothing_asks_one_at_a_time_and_costs_nothing() -> None:
    engine = Bare()
    assert (engine.most_at_once, engine.is_billed, engine.only_chats, engine.scores_chats) == (1, False, False, False)
    assert (engine.answers_in_order, engine.draws_alike, engine.keeps_thoughts) == (False, False, False)
    assert (Engine.can_generate, Engine.can_score, Engine.loads_model) == (True, False, False)
    assert (engine.label, engine.price_name, Thinker().label, engine.top_tokens) == ("bare", "bare", "m", 5)
    assert (dict(engine.decoding_defaults()), dict(engine.facts()), engine.policy) == ({}, {}, None)
    assert (engine.typed_fields, engine.is_of_config) == (frozenset(), False)
    assert engine.count_tokens(Prompt("a")) is None
    assert (engine.text_of(Prompt("a")), engine.text_of(Prompt([{"role": "user", "content": "a"}]))) == ("a", None)


def test_an_engine_that_says_nothing_is_in_this_process_and_is_the_model_of_its_values() -> None:
    engine = Bare()
    assert (engine.earlier_identities, engine.server_addresses, engine.is_told_apart) == ((), (), False)
    assert (engine.says_of_itself("http://a"), engine.at("http://a"), engine.cached([])) == ("", engine, (0, 0))
    assert (engine.takes_time, engine.has_chat_template, engine.takes_chats) == (True, False, True)
    assert (engine.starts_programs, engine.would_do()) == (False, [])
    assert engine.is_model_of(engine.identity_values())
    assert not engine.is_model_of({**engine.identity_values(), "x": 1})


def test_an_engine_that_cannot_answer_says_what_can() -> None:
    with pytest.raises(UnsupportedRequestError, match="the engine 'bare' cannot generate text"):
        Bare().generate([])
    with pytest.raises(UnsupportedRequestError, match=r"cannot score continuations(.|\n)*log-probabilities(.|\n)*vllm"):
        Bare().score([])


def test_what_changes_no_answer_is_not_part_of_the_identity() -> None:
    one, other = ScriptedEngine(answer="a"), ScriptedEngine(answer="a", data_classification_policy=["public"])
    assert one.identity == other.identity != ScriptedEngine(answer="b").identity
    assert other.policy == ["public"]


def test_facts_about_an_answer_are_those_that_are_known() -> None:
    answered = Response(("a",), finish_reasons=("length",), usage=Usage(3, 0))
    about = {"model_name": "m", "inference_type": "thinker"}
    assert Thinker().about(answered) == {"input_tokens": 3, "output_tokens": 0, "stop_reason": "length", **about}
    assert Thinker(seed=0).about(Response(failure=Failure("timeout", "late"))) == {"seed": 0, **about}
    assert "stop_reason" not in Thinker().about(Response())


def test_an_engine_takes_over_who_said_what() -> None:
    first, second = Bare(), Bare()
    object.__setattr__(first, "typed_fields", frozenset({"model"}))
    object.__setattr__(first, "is_of_config", True)
    second.come_from(first)
    assert (second.typed_fields, second.is_of_config) == ({"model"}, True)


def test_thoughts_are_told_apart_by_the_users_marks() -> None:
    engine = Thinker(think_start="[", think_end="]")
    assert engine.heard(Response(("[hm] yes",))).texts == ("yes",)
    assert engine.hearing()(Response(("hm] yes",)), Prompt("q [")).texts == ("yes",)
    assert Thinker().heard(Response(("[hm] yes",))).texts == ("[hm] yes",)


@pytest.mark.parametrize(
    "fields, wants",
    [
        ({}, False),
        ({"thinking": "off"}, False),
        ({"thinking": False}, False),
        ({"thinking": True}, True),
        ({"thinking": "high"}, True),
        ({"thinking_tokens": 0}, True),
        ({"think_end": "]"}, True),
    ],
)
def test_the_user_says_whether_a_model_thinks(fields: dict[str, Any], wants: bool) -> None:
    assert Thinker(**fields).wants_thoughts is wants


def test_levels_are_words_whatever_yaml_makes_of_them() -> None:
    assert [Thinker(thinking=level).thinking for level in (False, True, "low")] == ["off", "on", "low"]
    with pytest.raises(ValidationError):
        Thinker(thinking=1)
    with pytest.raises(ValidationError, match="think_start is empty"):
        Thinker(think_start="")


def test_tokens_for_thoughts_come_on_top_of_the_answers() -> None:
    assert Thinker(thinking_tokens=100).with_allowance(Decoding(20)).max_tokens == 120
    assert Thinker(thinking_tokens=100).with_allowance(Decoding()).max_tokens is None
    assert (Thinker().with_allowance(Decoding(20)).max_tokens, Thinker().thought_allowance) == (20, 0)


def test_an_engine_that_says_nothing_of_thoughts_is_the_one_of_older_logs() -> None:
    assert Thinker.own_fields() == ("thinking", "thinking_tokens", "think_start", "think_end")
    assert not {*Thinker.own_fields(), "thoughts_in_turns"} & set(Thinker().identity_values())
    assert Thinker(thinking_tokens=0).identity_values()["thinking_tokens"] == 0
    assert Thinker(thoughts_in_turns=True).identity == Thinker().identity
    assert (Thinker(thoughts_in_turns=True).keeps_thoughts, Thinker().keeps_thoughts) == (True, False)
    assert to_data(Thinker(thinking="low"))["thinking"] == "low"
