"""Conversations that repeat earlier answers, and ask aside."""

from proctor.engines.conversation import converse
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Converse
from proctor.ir.conversation import answer_part, as_turns, aside, count_asked, next_messages

QUESTION = {"role": "user", "content": "Why?"}
CRITIC = aside([{"role": "user", "content": [{"type": "text", "text": "Look at "}, answer_part(0)]}])
HEED = {"role": "user", "content": [answer_part(1), {"type": "text", "text": " says the critic"}]}
TURNS = (QUESTION, None, CRITIC, HEED, None)


def test_what_the_model_is_told_each_time():
    assert count_asked(TURNS) == 3
    assert next_messages(TURNS, []) == [QUESTION]
    assert next_messages(TURNS, as_turns(["so"])) == [{"role": "user", "content": "Look at so"}]
    told = next_messages(TURNS, as_turns(["so", "no"]))
    assert [each["content"] for each in told] == ["Why?", "so", "no says the critic"]
    assert next_messages(TURNS, as_turns(["so", "no", "then so"])) is None


def test_words_aside_are_there_for_whoever_looks():
    asked = aside([{"role": "system", "content": "Be strict"}, {"role": "user", "content": [answer_part(1)]}])
    assert asked["content"] == [{"type": "text", "text": "Be strict"}, answer_part(1)]
    assert answer_part(1)["text"] == "⟨answer 2⟩"


def test_an_engine_holds_it():
    engine = ScriptedEngine(function=lambda prompt: f"{len(prompt.messages)}")
    ((_, response),) = converse(engine, [Converse(TURNS)])
    assert response.texts == ("1", "1", "3")


def test_pictures_stay_beside_answers():
    picture = {"type": "image_url", "image_url": {"url": "data:x"}}
    turns = (QUESTION, None, {"role": "user", "content": [answer_part(0), picture]}, None)
    told = next_messages(turns, as_turns(["so"]))
    assert told[-1]["content"] == [{"type": "text", "text": "so"}, picture]
