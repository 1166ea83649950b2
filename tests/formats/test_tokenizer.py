from types import SimpleNamespace

import pytest

from proctor.errors import TemplateError
from proctor.formats import tokenizer as module
from proctor.formats.format import Parts
from proctor.formats.tokenizer import HFSystemFormat


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
