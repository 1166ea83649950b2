"""Chat layout of a run: messages for the engine, or text by a tokenizer's or a meta template."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from proctor.dialects.lm_eval.prompts import ChatOptions, RenderChat
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Message
from proctor.recipes.options import ExamOptions


def chat_options(options: ExamOptions) -> ChatOptions | None:
    """Return how to lay out chats; ``None`` for plain text."""
    multiturn = options.demos_as_turns is not False
    if options.meta_template is not None:
        template = MetaTemplate.from_config(options.meta_template)
        return ChatOptions(lambda messages, _starts_answer: template.text_of(messages), multiturn)
    if not options.apply_chat_template:
        return None
    model = options.chat_template_model
    return ChatOptions(None if model is None else tokenizer_chat(model), multiturn)


@lru_cache(maxsize=8)
def tokenizer_chat(model: str) -> RenderChat:
    """Return the chat template of a model's tokenizer; one that refuses a system message gets none.

    Raises:
        EngineError: The tokenizer cannot be found.
    """
    from jinja2 import TemplateError as JinjaTemplateError

    from proctor.formats.tokenizer import load_tokenizer

    render: Callable[..., str] = load_tokenizer(model).apply_chat_template

    def lay_out(messages: list[Message], add_generation_prompt: bool) -> str:
        arguments = {
            "tokenize": False,
            "add_generation_prompt": add_generation_prompt,
            "continue_final_message": not add_generation_prompt,
        }
        try:
            return render(messages, **arguments)
        except JinjaTemplateError:
            return render([each for each in messages if each["role"] != "system"], **arguments)

    return lay_out
