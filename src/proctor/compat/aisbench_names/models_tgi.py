"""AISBench's models behind text-generation-inference, and what servers of plain texts share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from proctor.compat.aisbench_names.models_base import (
    PromptType,  # noqa: F401
    ServedModel,
    older_name,
    with_parser,
)
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.opencompass_names.prompting import LMTemplateParser


class TextServerModel(ServedModel):
    """A server that takes a text and parameters, and gives the whole text in every piece.

    Attributes:
        keys: The names of the prompt and of the answer.
    """

    keys: ClassVar[tuple[str, str]] = ("inputs", "generated_text")

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        del args
        output.input = input_data
        return {self.keys[0]: input_data, "parameters": {**self.generation_kwargs, "max_new_tokens": max_out_len}}

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        output.content = api_response.get(self.keys[1], "")

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer: the last one has the whole text."""
        output.content = api_response.get(self.keys[1], "")


class TGICustomAPI(TextServerModel):
    """A server of text-generation-inference; arguments as of :class:`BaseAPIModel`."""

    endpoints = ("generate", "generate_stream")

    def __init__(self, path: str = "", stream: bool = False, **settings: Any) -> None:
        super().__init__(path, stream, **settings)
        self.template_parser = with_parser(LMTemplateParser, self.meta_template)


TGICustomAPIStream = older_name(TGICustomAPI, "TGICustomAPIStream")
