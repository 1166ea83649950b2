"""From rendered instances to dataset rows: the schema that Unitxt programs know.

A row has ``metrics, data_classification_policy, media, postprocessors, target, references, source, task_data, groups,
subset``, in Unitxt's order; rows of instances that a program brings have no ``target`` and ``references``.
``task_data`` is JSON text, and so is a ``source`` that consists of chat messages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from proctor.artifacts import Artifact
from proctor.artifacts.own_texts import own_text
from proctor.data.fields import get_field
from proctor.recipes.prompts import PooledDemo, Rendered

Row = dict[str, Any]


class RowMaker:
    """Makes dataset rows.

    Args:
        metrics, postprocessors: Replace those of the task and the template.
        group_by: Fields, or lists of fields, of the task or its metadata.
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        postprocessors: Sequence[Any] | None = None,
        group_by: Sequence[str | list[str]] = (),
    ) -> None:
        self.metrics = None if metrics is None else _as_texts(metrics)
        self.postprocessors = None if postprocessors is None else _as_texts(postprocessors)
        self.group_by = [[each] if isinstance(each, str) else list(each) for each in group_by]
        self._metric_texts, self._postprocessor_texts = _Texts(), _Texts()

    def make(self, rendered: Rendered) -> Row:
        """Return the row of an instance."""
        instance, payload = rendered.instance, rendered.prompt.payload
        data, own = task_data_of(rendered), self.postprocessors
        row: Row = {
            "metrics": self._metric_texts.of(instance["metrics"]) if self.metrics is None else list(self.metrics),
            "data_classification_policy": instance["data_classification_policy"],
            "media": _media(instance, is_chat=rendered.prompt.is_chat),
            "postprocessors": self._postprocessor_texts.of(instance["postprocessors"]) if own is None else list(own),
        }
        if "references" in instance:
            row["target"] = instance["target"]
            row["references"] = list(instance["references"])
        row["source"] = payload if isinstance(payload, str) else json.dumps(payload)
        row["task_data"] = _with_demos(_encode(data), rendered.demos)
        row["groups"] = self._groups(data) if self.group_by else []
        row["subset"] = []
        return row

    def _groups(self, data: Row) -> list[str]:
        known = {**data, **data["metadata"]}
        return [json.dumps({name: get_field(known, name) for name in names}) for names in self.group_by]


def task_data_of(rendered: Rendered) -> Row:
    """Return the task's fields with metadata, as metrics see them (without demos)."""
    data = _fields_of(rendered.instance)
    metadata = data["metadata"]
    metadata["num_demos"] = rendered.num_demos
    metadata["demos_pool_size"] = rendered.pool_size
    metadata["template"] = rendered.instance["__template__"]
    return data


def _fields_of(instance: Row) -> Row:
    data = {
        **instance["input_fields"],
        "metadata": {"data_classification_policy": instance["data_classification_policy"]},
        **(instance.get("reference_fields") or {}),
    }
    if "__tools__" in instance:
        data["__tools__"] = instance["__tools__"]
    return data


def _with_demos(text: str, demos: list[PooledDemo] | None) -> str:
    """Append demos to the JSON text of task data; each demo is encoded once for all prompts that show it."""
    if demos is None:
        return text
    return f'{text[:-1]}, "demos": [{", ".join(map(_demo_json, demos))}]}}'


def _demo_json(pooled: PooledDemo) -> str:
    text = pooled.memo.get("json")
    if text is None:
        text = pooled.memo["json"] = _encode(_fields_of(pooled.instance))
    return str(text)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Artifact):
        return value.artifact_id or value.to_dict()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_encode = json.JSONEncoder(default=_jsonable).encode


class _Texts:
    """Artifacts as texts; nearly always they are the list that the row before had."""

    def __init__(self) -> None:
        self._last: tuple[Sequence[Any], list[str]] = ((), [])

    def of(self, artifacts: Sequence[Any]) -> list[str]:
        if artifacts is not self._last[0]:
            self._last = (artifacts, _as_texts(artifacts))
        return list(self._last[1])


def _as_texts(artifacts: Sequence[Any]) -> list[str]:
    return [each if isinstance(each, str) else _as_text(each) for each in artifacts]


def _as_text(artifact: Any) -> str:
    if isinstance(artifact, Artifact):
        return artifact.artifact_id or own_text(artifact)
    return json.dumps(artifact)


def _media(instance: Row, *, is_chat: bool) -> Row:
    media = instance.get("media") or {}
    images = [] if is_chat else [_image(each) for each in media.get("images") or ()]
    return {"images": images, "audios": list(media.get("audios") or ())}


def _image(image: Any) -> Any:
    return image["image"] if isinstance(image, dict) and "image" in image and "format" in image else image
