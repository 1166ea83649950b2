"""Prompts as chat messages: who says what, and where pictures stand."""

from __future__ import annotations

import pytest

from proctor.errors import TemplateError
from proctor.formats.chat import ChatAPIFormat, explain_messages, to_content
from proctor.formats.format import Demo, EmptySystemPrompt, Parts, TextualSystemPrompt
from proctor.formats.meta_template import parts_of
from proctor.ir import Media, Span

DEMOS = (Demo("1+1", "2"), Demo("2+2", "4"))
PARTS = Parts("3+3", system_prompt="Be brief.", instruction="Add.", target_prefix="= ", demos=DEMOS)


def said(parts, **fields):
    prompt = ChatAPIFormat(**fields).lay_out(parts)
    messages = [(each["role"], each["content"]) for each in prompt.payload]
    explained = [(turn.role, "".join(part.text for part in turn.parts)) for turn in prompt.turns]
    assert explained == messages, "what is looked at is what is sent"
    return messages


def origins(parts, **fields):
    return [[(part.text, part.origin) for part in turn.parts] for turn in ChatAPIFormat(**fields).lay_out(parts).turns]


def test_demos_are_turns_of_their_own():
    assert said(PARTS) == [
        ("system", "Be brief.\nAdd."),
        ("user", "1+1"),
        ("assistant", "= 2"),
        ("user", "2+2"),
        ("assistant", "= 4"),
        ("user", "3+3"),
    ]
    assert origins(PARTS)[0] == [("Be brief.\n", "system"), ("Add.", "instruction")]
    assert origins(PARTS)[3] == [("2+2", "demo[1].question")]


def test_an_instruction_may_stand_before_every_question():
    assert said(PARTS, place_instruction_in_user_turns=True) == [
        ("system", "Be brief.\n"),
        ("user", "Add.\n1+1"),
        ("assistant", "= 2"),
        ("user", "Add.\n2+2"),
        ("assistant", "= 4"),
        ("user", "Add.\n3+3"),
    ]
    assert said(Parts("q", instruction="Add."), place_instruction_in_user_turns=True) == [("user", "Add.\nq")]
    assert said(Parts("q", instruction="Add.")) == [("system", "Add."), ("user", "q")]
    assert said(Parts("q"), place_instruction_in_user_turns=True) == [("user", "q")]


def test_demos_may_stand_above_the_question():
    text = "1+1\n= 2\n\n2+2\n= 4\n\n3+3"
    assert said(PARTS, demos_as_turns=False) == [("system", "Be brief.\nAdd."), ("user", text)]
    assert origins(PARTS, demos_as_turns=False)[1] == [
        ("1+1\n", "demo[0].question"),
        ("= 2\n\n", "demo[0].answer"),
        ("2+2\n", "demo[1].question"),
        ("= 4\n\n", "demo[1].answer"),
        ("3+3", "question"),
    ]
    assert said(Parts("q"), demos_as_turns=False) == [("user", "q")]


def test_dialogues_are_turns_as_they_are():
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    asked = Parts("", turns=turns, demos=(Demo("", "d", turns=turns[:1]),))
    assert said(asked) == [("user", "a"), ("assistant", "d"), ("user", "a"), ("assistant", "b"), ("user", "c")]
    assert origins(asked)[0] == [("a", "demo[0].question")]
    assert origins(asked)[4] == [("c", "question")]
    for parts in (asked, Parts("q", demos=asked.demos), Parts("", turns=turns, demos=DEMOS)):
        with pytest.raises(TemplateError, match="dialogues cannot stand in one message"):
            said(parts, demos_as_turns=False)


def test_pictures_stand_where_their_tags_do():
    tag = '<unitxt-img src="{}">'
    text = f"a{tag.format('http://x/1.png')}{tag.format('media/images/0')}b"
    image = pytest.importorskip("PIL.Image")
    found = to_content(text, {"images": [{"image": image.new("RGB", (2, 2)), "format": "PNG"}]})
    assert [each["type"] for each in found] == ["text", "image_url", "image_url", "text"]
    assert [each["text"] for each in found if "text" in each] == ["a", "b"]
    assert found[1]["image_url"] == {"url": "http://x/1.png", "detail": "low"}
    assert found[2]["image_url"]["url"].startswith("data:image/")
    assert len(to_content(tag.format("http://x/1.png"), {})) == 1
    assert to_content("1 < 2", {}) == "1 < 2"
    (turn,) = explain_messages(Parts(text), in_user_turns=False)
    assert turn.parts == (
        Span("a", "question"),
        Media("image", "http://x/1.png", "question"),
        Media("image", "media/images/0", "question"),
        Span("b", "question"),
    )


def test_typed_parts_are_words_and_media():
    content = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": ""},
        {"type": "image_url", "image_url": {"url": "u"}},
        {"type": "audio_url", "audio_url": "v"},
        {"type": "video_url", "video_url": {}},
        {"text": 3},
    ]
    assert list(parts_of(content, "o")) == [
        Span("a", "o"),
        Media("image", "u", "o"),
        Media("audio", "v", "o"),
        Media("video", "", "o"),
        Span("3", "o"),
    ]
    assert (list(parts_of("a", "o")), list(parts_of("", "o"))) == ([Span("a", "o")], [])


def test_instances_keep_the_system_prompt_that_they_bring_along():
    prompt = TextualSystemPrompt(text="Be brief.")
    assert prompt.process({"a": 1}) == {"a": 1, "system_prompt": "Be brief."}
    assert prompt.process({"system_prompt": "x"})["system_prompt"] == "x"
    assert EmptySystemPrompt(skip_rendered_instance=False).process({"system_prompt": "x"})["system_prompt"] == ""


def test_an_instance_gets_its_final_words():
    instance = {
        "source": "3+3",
        "target": "6",
        "instruction": "Add.",
        "target_prefix": "= ",
        "demos": [{"source": "1+1", "target": "2"}],
    }
    found = ChatAPIFormat().process(dict(instance))
    assert [each["content"] for each in found["source"]] == ["Add.", "1+1", "= 2", "3+3"]
    assert set(found) == {"source", "target", "demos"}
    assert len(ChatAPIFormat(demos_field=None).process(dict(instance))["source"]) == 2
