"""What AISBench's models write an answer into."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

LLM_META_DATA_TYPE: Any = "Image.Image | str"
"""What a model may answer beside words: a picture of Pillow's, or a text (by name: Pillow may be missing)."""
_FEWEST_POINTS = 2  # in time: that of the request, and that of an answer


class Output:
    """An answer, and what is known about it.

    Args:
        perf_mode: Whether points in time are noted.
    """

    def __init__(self, perf_mode: bool = False) -> None:
        self.perf_mode = perf_mode
        self.success = False
        self.error_info = ""
        self.time_points: Any = []
        self.content: Any = ""
        self.reasoning_content: Any = ""
        self.input_tokens = 0
        self.output_tokens = 0
        self.extra_perf_data: dict[str, Any] = {}
        self.extra_details_data: dict[str, Any] = {}
        self.input: Any = None
        self.uuid = ""
        self.turn_id = 0

    def get_metrics(self) -> dict[str, Any] | None:
        """Return what is measured of the answer; nothing of this kind of answer."""
        return None

    def update_extra_perf_data_from_stream_response(self, stream_response: dict[str, Any]) -> None:
        """Take more to measure out of a piece of a reply: nothing of this kind of answer."""

    def update_extra_perf_data_from_text_response(self, text_response: dict[str, Any]) -> None:
        """Take more to measure out of a reply: nothing of this kind of answer."""

    def update_extra_details_data_from_stream_response(self, stream_response: dict[str, Any]) -> None:
        """Take more to show out of a piece of a reply: nothing of this kind of answer."""

    def update_extra_details_data_from_text_response(self, text_response: dict[str, Any]) -> None:
        """Take more to show out of a reply: nothing of this kind of answer."""

    def _concate_reasoning_content(self, content: str, reasoning_content: str) -> str:
        """Return thoughts and words as one text, as a model without a reasoning parser writes them."""
        if not reasoning_content:
            return content
        return f"{reasoning_content}</think>{content}" if content else reasoning_content

    def get_prediction(self) -> Any:
        """Return what was answered, thoughts first; of several answers a list."""
        said, thought = self.content, self.reasoning_content
        if not thought:
            return said
        if isinstance(said, list) and isinstance(thought, list):
            return [self._concate_reasoning_content(*each) for each in zip(said, thought, strict=False)]
        return self._concate_reasoning_content(said, thought) if isinstance(thought, str) else said

    def to_dict(self) -> dict[str, Any]:
        """Return everything that is known."""
        return self.__dict__

    async def record_time_point(self) -> None:
        """Note the time, where times are noted."""
        if self.perf_mode:
            self.time_points.append(time.perf_counter())

    async def clear_time_points(self) -> None:
        """Forget the times that were noted."""
        self.time_points = []


class RequestOutput(Output):
    """The answer to a request."""

    def get_metrics(self) -> dict[str, Any]:
        """Return what is measured of the answer, with its words as ``prediction``; too few points make it a failure."""
        import numpy as np

        self.prediction = self.get_prediction()
        self.time_points = np.array(self.time_points, dtype=np.float64)
        if self.success and self.time_points.size < _FEWEST_POINTS:
            self.success, self.error_info = False, "chunk size is less than 2"
        for key in ("content", "reasoning_content", "perf_mode"):
            self.__dict__.pop(key, None)
        return self.to_dict()


class FunctionCallOutput(Output):
    """An answer that may call tools."""

    def __init__(self, perf_mode: bool = False) -> None:
        super().__init__(perf_mode)
        self.inference_log: list[dict[str, Any]] = []
        self.tool_calls: list[dict[str, Any]] = []

    def update_extra_details_data_from_text_response(self, text_response: dict[str, Any]) -> None:
        """Keep the message of a reply."""
        for choice in text_response.get("choices", [])[:1]:
            self.extra_details_data["message"] = choice.get("message", {})


class LMMOutput(Output):
    """An answer of texts and pictures."""

    def __init__(self, perf_mode: bool = False) -> None:
        super().__init__(perf_mode)
        self.content: list[Any] = [""]

    def get_prediction(self, save_dir: str = ".") -> Any:
        """Return texts as they are, and of pictures where they were saved: folder and file.

        Args:
            save_dir: Where pictures are written to.
        """
        found = [
            (self._handle_text if isinstance(each, str) else self._handle_image)(save_dir, place)
            for place, each in enumerate(self.content)
        ]
        return found[0] if len(found) == 1 else found

    def _handle_text(self, save_dir: str, index: int) -> Any:
        del save_dir
        return self.content[index]

    def _handle_image(self, save_dir: str, index: int) -> str:
        """Write a picture, in place of one of its name; return folder and file."""
        path = Path(save_dir) / f"image_{self.uuid}_{index}.png"
        path.unlink(missing_ok=True)
        self.content[index].save(str(path))
        return "/".join(path.parts[-2:])


class PPLRequestOutput(Output):
    """The loss of one prompt."""

    def __init__(self, perf_mode: bool = False) -> None:
        super().__init__(perf_mode)
        self.ppl = 0.0
        self.origin_prompt_logprobs: Any = None


class PPLResponseOutput(Output):
    """The losses of all labels' prompts."""

    def __init__(self, perf_mode: bool = False) -> None:
        super().__init__(perf_mode)
        self.input: list[Any] = []
        self.label_ppl_list: list[dict[str, Any]] = []
        self.origin_prompt_logprobs: list[Any] = []
