"""AISBench's models behind MindIE."""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names.models_base import (
    BaseAPIModel,
    PromptType,  # noqa: F401
    with_parser,
)
from proctor.compat.aisbench_names.models_tgi import TextServerModel
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.opencompass_names.prompting import LMTemplateParser


class MindieStreamApi(TextServerModel):
    """A server of MindIE, whose replies come in pieces; arguments as of :class:`BaseAPIModel`."""

    endpoints = ("infer", "infer")

    def __init__(self, path: str = "", stream: bool = True, **settings: Any) -> None:
        super().__init__(path, stream, **settings)
        self.template_parser = with_parser(LMTemplateParser, self.meta_template)

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        return {**await super().get_request_body(input_data, max_out_len, output, **args), "stream": True}

    parse_text_response = BaseAPIModel.parse_text_response
