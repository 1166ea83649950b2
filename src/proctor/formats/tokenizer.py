"""Prompts laid out by the chat template of a model's tokenizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from proctor.effects import Effect, loading
from proctor.errors import EngineError, TemplateError, needed
from proctor.formats.chat import ChatAPIFormat, arrange, explain_messages, to_messages
from proctor.formats.format import Format, LayOut, Parts
from proctor.ir import Prompt, Span, Turn


def load_tokenizer(model: str) -> Any:
    """Return the tokenizer of a model: a folder, or a hub id in the local cache or on the hub.

    Raises:
        MissingExtraError: transformers is not installed.
        EngineError: The model cannot be found or reached.
    """
    with needed("transformers", "hf", "a chat template of a tokenizer"):
        from transformers import AutoTokenizer
    from proctor.data.hub_access import is_local_only
    from proctor.settings import model_folder

    place = model_folder(model) or model
    try:
        return AutoTokenizer.from_pretrained(place, trust_remote_code=False, local_files_only=is_local_only(place))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"the tokenizer of '{model}' cannot be loaded",
            why=str(error).splitlines()[0],
            hint="give a local folder, or map the id: PROCTOR_MODELS_DIR=<dir> looks for <dir>/<id>",
        ) from None


class HFSystemFormat(ChatAPIFormat):
    """The messages of :class:`ChatAPIFormat`, as one string by the tokenizer's own chat template.

    Attributes:
        model_name: Whose tokenizer: a folder or hub id.
        chat_kwargs_dict: More arguments for the chat template.
    """

    model_name: str
    chat_kwargs_dict: dict[str, Any] = Field(default_factory=dict)

    def effects(self) -> Iterable[Effect]:
        """Loading the tokenizer."""
        return loading(self.model_name, self.author, type(self).__name__)

    def layout(self) -> LayOut:
        """Load the tokenizer; return the function that lays out prompts."""
        self.act()
        tokenizer = load_tokenizer(self.model_name)
        in_user_turns, arguments = self.place_instruction_in_user_turns, dict(self.chat_kwargs_dict)
        arranged = arrange(self.demos_as_turns)

        def lay_out(given: Parts) -> Prompt:
            parts = arranged(given)
            messages = to_messages(parts, in_user_turns=in_user_turns)
            text = _applied(tokenizer, messages, arguments, self.model_name) + parts.target_prefix
            return Prompt(text, lambda: locate(text, explain_messages(parts, in_user_turns=in_user_turns), parts))

        return lay_out


def _applied(tokenizer: Any, messages: list[dict[str, Any]], arguments: dict[str, Any], model: str) -> str:
    from jinja2 import TemplateError as JinjaError

    try:
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **arguments))
    except (JinjaError, TypeError, ValueError) as error:
        with_media = any(not isinstance(message["content"], str) for message in messages)
        raise TemplateError(
            f"the chat template of '{model}' cannot lay out these messages",
            why=f"{error}; a message has images" if with_media else str(error),
            hint="use format=formats.chat_api, and the engine lays the messages out",
        ) from None


class GraniteDocumentsFormat(Format):
    """Question and documents by the chat template of Granite models.

    Attributes:
        model: Whose tokenizer.
        citations, length: Controls of the chat template.
    """

    model: str = "ibm-granite/granite-3.1-8b-instruct"
    citations: bool = True
    length: str = "long"

    def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
        """Return the instance with its final ``source``."""
        del stream_name
        inputs = instance.get("input_fields") or {}
        texts = inputs.get("contexts", [inputs["context"]] if "context" in inputs else None)
        if "question" not in inputs or texts is None:
            raise TemplateError(
                "GraniteDocumentsFormat needs the input fields 'question' and 'context' or 'contexts'",
                why=f"the input fields are {', '.join(inputs)}",
            )
        source = load_tokenizer(self.model).apply_chat_template(
            [{"role": "user", "content": inputs["question"]}],
            documents=[{"title": "", "text": text} for text in texts],
            controls={"citations": self.citations, "length": self.length},
            add_generation_prompt=True,
            tokenize=False,
        )
        return {**instance, "source": source}

    def layout(self) -> LayOut:
        """Refuse: documents are fields of the instance, so this format works on whole instances."""
        raise TemplateError("GraniteDocumentsFormat lays out instances, not parts")


def locate(text: str, turns: tuple[Turn, ...], parts: Parts) -> tuple[Turn, ...]:
    """Find labelled turns in the text that a chat template made of them; what is between them is layout.

    Chat templates may strip or escape content. A span that is not found as it is counts as layout.
    """
    spans: list[Span] = []
    position = 0
    wanted = [part for turn in turns for part in turn.parts if isinstance(part, Span)]
    if parts.target_prefix:
        wanted.append(Span(parts.target_prefix, "answer_prefix"))
    for span in wanted:
        for needle in (span.text, span.text.strip()):
            start = text.find(needle, position) if needle else -1
            if start >= 0:
                spans += [Span(text[position:start], "layout"), Span(needle, span.origin)]
                position = start + len(needle)
                break
    spans.append(Span(text[position:], "layout"))
    return (Turn("user", tuple(span for span in spans if span.text)),)
