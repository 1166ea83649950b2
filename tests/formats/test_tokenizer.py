from types import SimpleNamespace

import pytest

from proctor.errors import TemplateError
from proctor.formats import tokenizer as module
from proctor.formats.format import Parts
from proctor.formats.tokenizer import GraniteDocumentsFormat, HFSystemFormat


def laid_out(monkeypatch, apply, **parts):
    monkeypatch.setattr(module, "load_tokenizer", lambda _model: SimpleNamespace(apply_chat_template=apply))
    return HFSystemFormat(model_name="a/b").layout()(Parts(**parts))


def test_a_chat_template_lays_out_messages(monkeypatch):
    def apply(messages, **_):
        return "".join(f"<{each['role']}>{each['content']}" for each in messages) + "<assistant>"

    prompt = laid_out(monkeypatch, apply, system_prompt="s", source="q", target_prefix="A: ")
    assert prompt.text == "<system>s\n<user>q<assistant>A: "


@pytest.mark.parametrize("error", [TypeError("no lists"), ValueError("no chat_template is set")])
def test_a_chat_template_that_fails_is_named(monkeypatch, error):
    def apply(messages, **_):
        raise error

    with pytest.raises(TemplateError, match=r"the chat template of 'a/b' cannot lay out(.|\n)*formats.chat_api"):
        laid_out(monkeypatch, apply, source="q")


def test_images_are_told(monkeypatch):
    def apply(messages, **_):
        return messages[0]["content"] + ""

    with pytest.raises(TemplateError, match="a message has images"):
        laid_out(monkeypatch, apply, source='<unitxt-img src="http://host/a.png"/> what?')


def test_the_words_of_the_messages_are_found_in_the_text_and_the_rest_is_layout(monkeypatch):
    def apply(messages, **_):
        return "".join(f"<{each['content'].strip()}>" for each in messages)

    prompt = laid_out(monkeypatch, apply, system_prompt="s", instruction="i", source=" q ", target_prefix="A: ")
    assert prompt.text == "<s\ni><q>A: "
    (turn,) = prompt.turns
    assert [(part.text, part.origin) for part in turn.parts] == [
        ("<", "layout"),
        ("s\n", "system"),
        ("i", "instruction"),
        ("><", "layout"),
        ("q", "question"),
        (">", "layout"),
        ("A: ", "answer_prefix"),
    ]


def test_words_that_a_template_changes_are_layout(monkeypatch):
    prompt = laid_out(monkeypatch, lambda messages, **_: "[changed]", source="q")
    assert [(part.text, part.origin) for turn in prompt.turns for part in turn.parts] == [("[changed]", "layout")]


def test_arguments_reach_the_chat_template(monkeypatch):
    seen = []
    monkeypatch.setattr(
        module, "load_tokenizer", lambda _: SimpleNamespace(apply_chat_template=lambda *_, **given: seen.append(given))
    )
    format_ = HFSystemFormat(model_name="a/b", chat_kwargs_dict={"enable_thinking": False}, demos_as_turns=False)
    format_.layout()(Parts("q"))
    assert seen == [{"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}]


def test_granite_reads_documents(monkeypatch):
    seen = []

    def apply(messages, **given):
        seen.append((messages, given))
        return "words"

    monkeypatch.setattr(module, "load_tokenizer", lambda _: SimpleNamespace(apply_chat_template=apply))
    granite = GraniteDocumentsFormat(citations=False)
    assert granite.process({"input_fields": {"question": "q", "context": "c"}})["source"] == "words"
    granite.process({"input_fields": {"question": "q", "contexts": ["c", "d"]}})
    assert [[each["text"] for each in given["documents"]] for _, given in seen] == [["c"], ["c", "d"]]
    messages, given = seen[0]
    assert messages == [{"role": "user", "content": "q"}]
    assert given["controls"] == {"citations": False, "length": "long"}
    assert (given["add_generation_prompt"], given["tokenize"]) == (True, False)
    for fields in ({"question": "q"}, {"context": "c"}, {}):
        with pytest.raises(TemplateError, match="needs the input fields"):
            granite.process({"input_fields": fields})
    with pytest.raises(TemplateError, match="lays out instances"):
        granite.layout()
