"""What AISBench's inferencers write of an answer, kind by kind (``…icl_inferencer.output_handler``)."""
# ruff: noqa: A002 - upstream's names of arguments

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.handlers import BASE64_MAX_DISPLAY_LEN, BaseInferencerOutputHandler
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.outputs import (
    FunctionCallOutput,
    LMMOutput,
    Output,
    PPLRequestOutput,
    PPLResponseOutput,
)
from proctor.safe_files import subfolder

__all__ = [
    "BFCLV3OutputHandler", "GenInferencerOutputHandler", "LMMGenInferencerOutputHandler",
    "PPLInferencerOutputHandler", "PPLRequestOutput", "PPLResponseOutput", "logger",
]  # fmt: skip

logger = AISLogger()


class GenInferencerOutputHandler(BaseInferencerOutputHandler):
    """Collects answers in words."""

    def get_prediction_result(
        self,
        output: Any,
        gold: Any = None,
        input: Any = None,
        data_abbr: str = "",
    ) -> dict[str, Any]:
        """Return the line of an answer: what was asked, said and right. Long pictures are cut in place."""
        del data_abbr
        _cut_pictures(input)
        is_answer = isinstance(output, Output)
        found = {
            "success": output.success if is_answer else True,
            "uuid": output.uuid if is_answer else uuid.uuid4().hex,
            "origin_prompt": "" if input is None else input,
            "prediction": output.get_prediction() if is_answer else output,
        }
        return {**found, **({"gold": gold} if gold else {})}


def _cut_pictures(asked: Any) -> None:
    for part in _parts(asked):
        picture = part.get("image_url") if isinstance(part, dict) else None
        url = picture.get("url") if isinstance(picture, dict) else None
        if isinstance(url, str) and len(url) > BASE64_MAX_DISPLAY_LEN:
            picture["url"] = url[:BASE64_MAX_DISPLAY_LEN] + " ..."  # type: ignore[index]


def _parts(asked: Any) -> list[Any]:
    first = asked[0] if isinstance(asked, list) and asked else None
    parts = first.get("prompt") if isinstance(first, dict) else None
    return parts if isinstance(parts, list) else []


class PPLInferencerOutputHandler(BaseInferencerOutputHandler):
    """Collects the losses of labels."""

    def get_prediction_result(
        self,
        output: Any,
        gold: Any = None,
        input: Any = None,
        data_abbr: str = "",
    ) -> dict[str, Any]:
        """Return the line of an answer: the losses of all labels, and the label with the least.

        Raises:
            AISBenchImplementationError: It is another kind of answer.
        """
        del input, data_abbr
        if not isinstance(output, PPLResponseOutput):
            what = f"a {type(output).__name__} has no losses"
            raise failure("AISBenchImplementationError", "ICLI_CODES", "UNKNOWN_ERROR", what)
        found = {
            "success": output.success,
            "uuid": output.uuid,
            "origin_prompt": output.input,
            "ppl_list": output.label_ppl_list,
            "origin_prompt_logprobs": output.origin_prompt_logprobs,
            "prediction": output.get_prediction(),
        }
        return {**found, **({"gold": gold} if gold else {})}


class LMMGenInferencerOutputHandler(BaseInferencerOutputHandler):
    """Collects answers of texts and pictures; pictures lie in a folder beside the answers."""

    output_path: str | Path = "."

    def set_output_path(self, output_path: str) -> None:
        """Say where the folder of pictures lies."""
        self.output_path = output_path

    def get_prediction_result(
        self,
        output: Any,
        gold: Any = None,
        input: Any = None,
        data_abbr: str = "",
    ) -> dict[str, Any]:
        """Return the line of an answer; pictures are written, and long ones that were asked about cut in place.

        Raises:
            AISBenchRuntimeError: A picture cannot be written.
        """
        _cut_pictures(input)
        is_answer = isinstance(output, LMMOutput)
        try:
            said = output.get_prediction(str(self._folder(data_abbr))) if is_answer else output
        except (OSError, ValueError) as error:
            what = f"an answer of {data_abbr} cannot be written to {self.output_path}: {error}"
            raise failure("AISBenchRuntimeError", "ICLI_CODES", "UNKNOWN_ERROR", what) from error
        found = {
            "success": output.success if is_answer else True,
            "uuid": output.uuid if is_answer else uuid.uuid4().hex,
            "origin_prompt": "" if input is None else input,
            "prediction": said,
        }
        return {**found, **({"gold": gold} if gold else {})}

    def _folder(self, data_abbr: str) -> Path:
        top = Path(self.output_path)
        top.mkdir(parents=True, exist_ok=True)
        return subfolder(top, f"{data_abbr}_out_file")


class BFCLV3OutputHandler(BaseInferencerOutputHandler):
    """Collects answers that call tools."""

    def get_prediction_result(
        self,
        output: Any,
        gold: Any = None,
        input: Any = None,
        data_abbr: str = "",
    ) -> dict[str, Any]:
        """Return the line of an answer: its calls, and what was said on the way.

        Raises:
            AISBenchTypeError: It is another kind of answer.
        """
        del gold, input, data_abbr
        if not isinstance(output, FunctionCallOutput):
            what = f"a {type(output).__name__} calls no tools: a FunctionCallOutput does"
            raise failure("AISBenchTypeError", "ICLI_CODES", "UNKNOWN_ERROR", what)
        said = {"prediction": output.tool_calls, "inference_log": output.inference_log}
        return {"uuid": output.uuid, "success": output.success, **said}
