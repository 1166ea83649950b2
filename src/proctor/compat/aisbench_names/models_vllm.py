"""AISBench's models behind ``/v1/completions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.models_base import (
    PromptType,  # noqa: F401
    ServedModel,
    older_name,
    with_parser,
)
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.opencompass_names.prompting import LMTemplateParser


class VLLMCustomAPI(ServedModel):
    """A server with ``/v1/completions``.

    Args:
        path: The folder of the tokenizer; nothing reads it.
        model: The name of the model; the first that the server lists where it is empty.
        **settings: As of :class:`BaseAPIModel`.
    """

    endpoints = ("v1/completions", "v1/completions")

    def __init__(self, path: str = "", model: str = "", **settings: Any) -> None:
        super().__init__(path, **settings)
        self.template_parser = with_parser(LMTemplateParser, self.meta_template)
        self.model = model or self._get_service_model_path()

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        del args
        output.input = input_data
        body = {"prompt": input_data, "stream": self.stream, **self.generation_kwargs}
        body |= {"max_tokens": max_out_len, "model": self.model}
        return {**body, "stream_options": {"include_usage": True}} if self.stream else body

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        output.content = api_response.get("choices", [{}])[0].get("text", "")
        await self._parse_usage(api_response, output)

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        for choice in api_response.get("choices", [])[:1]:
            output.content += choice["text"] or ""
        await self._parse_usage(api_response, output)

    async def get_ppl_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request for the losses of a prompt."""
        return {**await self.get_request_body(input_data, max_out_len, output, **args), "prompt_logprobs": 0}

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        return next(each.get("prompt_logprobs", {}) for each in data.get("choices", []) if each is not None)


VLLMCustomAPIStream = older_name(VLLMCustomAPI, "VLLMCustomAPIStream")
