"""Prompts as texts, as messages, and as labelled parts."""

import json

import pytest

from proctor.ir import Media, Prompt, Span, Turn
from proctor.ir.prompt import media_in, message_text, prompt_of_source

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
CALLS = [{"function": {"name": "f", "arguments": "{}"}}]


def test_a_text_is_one_message_of_the_user_and_messages_are_read_as_lines():
    text, chat = (
        Prompt("Who?"),
        Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]),
    )
    assert (text.is_chat, text.text, text.messages) == (False, "Who?", ({"role": "user", "content": "Who?"},))
    assert (chat.is_chat, chat.text, len(chat.messages)) == (True, "Be brief.\nWho?", 2)
    assert text == Prompt("Who?") != chat
    assert hash(text) == hash(Prompt("Who?"))
    assert repr(text) == "Prompt('Who?')"


def test_messages_that_nobody_explains_have_parts_by_their_role():
    words = [{"type": "text", "text": "What is "}, PICTURE, "this?"]
    said = {"role": "assistant", "content": "", "tool_calls": CALLS}
    prompt = Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": words}, said])
    assert prompt.turns == (
        Turn("system", (Span("Be brief.", "system"),)),
        Turn("user", (Span("What is "), Media("image", "data:image/png;base64,AA", "question"), Span("this?"))),
        Turn("assistant", (Span(""), Span(json.dumps(CALLS)))),
    )
    assert "".join(each.text for each in prompt.spans[:3]) == "Be brief.What is this?"


def test_who_explains_a_prompt_is_asked_once():
    asked = []
    prompt = Prompt("Who?", lambda: asked.append(1) or (Turn("user", (Span("Who?"),)),))
    assert prompt.spans == prompt.spans == (Span("Who?"),)
    assert asked == [1]


@pytest.mark.parametrize("source", ["Who?", [{"role": "user", "content": "Who?"}]])
def test_messages_in_a_row_may_be_written_as_json(source):
    assert prompt_of_source(source) == Prompt(source)
    if not isinstance(source, str):
        assert prompt_of_source(json.dumps(source)) == Prompt(source)


@pytest.mark.parametrize(
    "part, found",
    [
        (PICTURE, Media("image", "data:image/png;base64,AA", "question")),
        ({"type": "image", "image": "a.png"}, Media("image", "a.png", "question")),
        ({"type": "video_url", "video_url": {"url": "a.mp4"}}, Media("video", "a.mp4", "question")),
        (
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
            Media("audio", "data:audio/wav;base64,AA", "question"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AA"}},
            Media("audio", "data:audio/audio;base64,AA", "question"),
        ),
        ({"type": "image_url", "image_url": {}}, Media("image", "", "question")),
        ({"type": "text", "text": "image"}, None),
        ({"text": "image"}, None),
    ],
)
def test_media_have_many_forms(part, found):
    assert media_in(part) == found


def test_the_words_of_a_message_leave_media_out():
    assert message_text({"role": "user", "content": [PICTURE, {"type": "text", "text": "b"}]}) == "b"
    assert (
        message_text({"role": "user", "content": ["a", {"type": "text", "text": "b"}, {"type": "text", "text": None}]})
        == "ab"
    )
    assert message_text({"role": "assistant", "content": None, "tool_calls": CALLS}) == ""
