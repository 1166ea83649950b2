"""AISBench's models behind ``/v1/chat/completions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.models_base import (
    PromptType,  # noqa: F401
    older_name,
    with_parser,
)
from proctor.compat.aisbench_names.models_vllm import VLLMCustomAPI
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.aisbench_names.template_parsing import APITemplateParser

ROLE_MAP = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_CHAT: Mapping[str, Any] = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}


class VLLMCustomAPIChat(VLLMCustomAPI):
    """A server with ``/v1/chat/completions``; arguments as of :class:`VLLMCustomAPI`."""

    is_chat_api = True
    endpoints = ("v1/chat/completions", "v1/chat/completions")

    def __init__(self, path: str = "", model: str = "", **settings: Any) -> None:
        super().__init__(path, model, **{**settings, "meta_template": settings.get("meta_template") or _CHAT})
        self.template_parser = with_parser(APITemplateParser, self.meta_template)

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request; an empty text where no token may be written."""
        if max_out_len <= 0:
            return ""
        turns = [{"role": "HUMAN", "prompt": input_data}] if isinstance(input_data, str) else input_data
        messages = [
            {
                "content": turn["prompt"],
                "role": ROLE_MAP.get(turn.get("role", ""), turn.get("role", "")),
                **{key: value for key, value in turn.items() if key not in ("role", "prompt")},
            }
            for turn in turns
        ]
        output.input = messages
        body: dict[str, Any] = {"stream": self.stream, "messages": messages}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        body |= {**self.generation_kwargs, "max_tokens": max_out_len, "model": self.model}
        return {**body, "tools": args["tools"]} if args.get("tools") else body

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer; several choices stand behind each other."""
        for choice in api_response.get("choices", []):
            _add(choice["message"], output)
        await self._parse_usage(api_response, output)
        output.update_extra_details_data_from_text_response(dict(api_response))

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        for choice in api_response.get("choices", []):
            _add(choice["delta"], output)
        await self._parse_usage(api_response, output)

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        return data.get("prompt_logprobs", [])


def _add(message: Mapping[str, Any], output: Output) -> None:
    output.content += message.get("content") or ""
    output.reasoning_content += message.get("reasoning_content") or message.get("reasoning") or ""


VLLMCustomAPIChatStream = older_name(VLLMCustomAPIChat, "VLLMCustomAPIChatStream")
VllmMultiturnAPIChatStream = older_name(VLLMCustomAPIChat, "VllmMultiturnAPIChatStream")
VLLMFunctionCallAPIChat = older_name(VLLMCustomAPIChat, "VLLMFunctionCallAPIChat", stream=False)
