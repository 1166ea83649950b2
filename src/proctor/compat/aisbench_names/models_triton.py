"""AISBench's models behind Triton."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from proctor.compat.aisbench_names.models_base import (
    PromptType,  # noqa: F401
    older_name,
    with_parser,
)
from proctor.compat.aisbench_names.models_tgi import TextServerModel
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.opencompass_names.prompting import LMTemplateParser


class TritonCustomAPI(TextServerModel):
    """A server of Triton.

    Args:
        path: The folder of the tokenizer; nothing reads it.
        model_name: The name of the model; the first that the server lists where it is empty.
        **settings: As of :class:`BaseAPIModel`.
    """

    keys = ("text_input", "text_output")

    def __init__(self, path: str = "", model_name: str = "", **settings: Any) -> None:
        self.model_name = model_name
        super().__init__(path, **settings)
        self.template_parser = with_parser(LMTemplateParser, self.meta_template)

    def _get_url(self) -> str:
        self.model_name = self.model_name or self._get_service_model_path()
        end = "generate_stream" if self.stream else "generate"
        return urljoin(self.base_url, f"v2/models/{self.model_name}/{end}")

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request, with a number of its own."""
        return {"id": str(uuid.uuid4()), **await super().get_request_body(input_data, max_out_len, output, **args)}

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        output.content += api_response.get(self.keys[1], "")


TritonCustomAPIStream = older_name(TritonCustomAPI, "TritonCustomAPIStream")
