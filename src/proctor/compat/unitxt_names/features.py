"""``unitxt.schema``: the columns of a dataset, as Hugging Face's library declares them."""

from __future__ import annotations

from typing import Any

from datasets import Audio, Features, Image, Value

from proctor.data.streams import INFERENCE_STREAM

_TEXT = Value("string")
_LISTS = ("metrics", "groups", "subset", "postprocessors", "data_classification_policy")
UNITXT_INFERENCE_SCHEMA: Any = Features(
    {
        "source": _TEXT,
        "task_data": _TEXT,
        **{name: [_TEXT] for name in _LISTS},
        "media": {"images": [Image()], "audios": [Audio()]},
    }
)
"""The columns of rows whose answers are asked for."""
UNITXT_DATASET_SCHEMA: Any = Features({**UNITXT_INFERENCE_SCHEMA, "target": _TEXT, "references": [_TEXT]})
"""The columns of rows with their answers."""
UNITXT_METRIC_SCHEMA: Any = Features({"predictions": _TEXT, "references": UNITXT_DATASET_SCHEMA})
"""The columns of what is evaluated."""


def get_schema(stream_name: str | None) -> Any:
    """Return the columns of a stream's rows."""
    return UNITXT_INFERENCE_SCHEMA if stream_name == INFERENCE_STREAM else UNITXT_DATASET_SCHEMA
