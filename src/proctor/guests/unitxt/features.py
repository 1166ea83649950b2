"""``unitxt.schema``: the columns of a dataset as Hugging Face's library declares them; it loads when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proctor.data.streams import INFERENCE_STREAM

if TYPE_CHECKING:
    from datasets import Features

_LISTS = ("metrics", "groups", "subset", "postprocessors", "data_classification_policy")
_found: dict[str, Any] = {}


def _made() -> dict[str, Any]:
    from datasets import Audio, Features, Image, Value

    text = Value("string")
    media = {"images": [Image()], "audios": [Audio()]}
    asked = {"source": text, "task_data": text, **{name: [text] for name in _LISTS}, "media": media}
    rows = Features({**asked, "target": text, "references": [text]})
    evaluated = Features({"predictions": text, "references": rows})
    return {"unitxt_inference": Features(asked), "unitxt_dataset": rows, "unitxt_metric": evaluated}


def __getattr__(name: str) -> Features:
    """Return the columns of rows that are asked about, of rows with their answers, or of what is evaluated."""
    if not _found:
        _found.update(_made())
    if (found := _found.get(name.removesuffix("_SCHEMA").lower())) is None or not name.endswith("_SCHEMA"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def get_schema(stream_name: str | None) -> Features:
    """Return the columns of a stream's rows."""
    return __getattr__("UNITXT_INFERENCE_SCHEMA" if stream_name == INFERENCE_STREAM else "UNITXT_DATASET_SCHEMA")
