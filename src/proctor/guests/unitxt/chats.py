"""Rows with messages and pictures, as Unitxt's programs handle them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from proctor.data import images
from proctor.data.fields import get_field
from proctor.errors import DataError
from proctor.settings import settings

if TYPE_CHECKING:
    from PIL.Image import Image

_TAG = r"<unitxt-img\s+src=[\"'](.*?)[\"']"
_SHOWN = 30
"""Letters of a picture's data that its text shows."""


class TextContent(TypedDict):
    """A text in a message."""

    type: Literal["text"]
    text: str


class ImageUrlContent(TypedDict):
    """A picture in a message, by its address."""

    type: Literal["image_url"]
    image_url: dict[Literal["url"], str]


class ImageFileContent(TypedDict):
    """A picture in a message, by its file."""

    type: Literal["image_file"]
    image_file: dict[Literal["file_id"], str]


Content = TextContent | ImageUrlContent | ImageFileContent


class Message(TypedDict):
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str | list[Content]


class ImageDataString(str):
    """The address of a picture, which shows its beginning only."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if len(self) <= _SHOWN else f'<ImageDataString "{self[:_SHOWN]}...">'


def load_chat_source(chat_str: str) -> Any:
    """Return the messages of a JSON text; addresses of pictures show their beginning only."""
    chat = json.loads(chat_str)
    for turn in chat:
        for part in turn["content"] if isinstance(turn.get("content"), list) else ():
            if part["type"] == "image_url":
                part["image_url"]["url"] = ImageDataString(part["image_url"]["url"])
    return chat


def _is_chat(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(('[{"role":', '[{"content":'))


def loads_instance(instance: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its messages, and where settings say so its task data, as objects."""
    if _is_chat(instance.get("source")):
        instance["source"] = load_chat_source(instance["source"])
    if not settings.task_data_as_text and isinstance(instance.get("task_data"), str):
        instance["task_data"] = json.loads(instance["task_data"])
    return instance


def loads_batch(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return columns with messages, and where settings say so task data, as objects."""
    if batch.get("source") and _is_chat(batch["source"][0]):
        batch["source"] = [load_chat_source(each) for each in batch["source"]]
    if not settings.task_data_as_text and batch.get("task_data") and isinstance(batch["task_data"][0], str):
        batch["task_data"] = [json.loads(each) for each in batch["task_data"]]
    return batch


def get_task_data_dict(task_data: Any) -> Any:
    """Return task data as a dict."""
    return json.loads(task_data) if isinstance(task_data, str) else task_data


def data_url_to_image(data_url: str) -> Image:
    """Return the picture in an address that holds its data.

    Raises:
        ValueError: It does not.
    """
    if not re.match(r"data:image/.*?;base64,", data_url):
        raise DataError("the address holds no picture", why="it does not start with 'data:image/…;base64,'")
    return images.data_url_to_image(data_url)


def extract_images(instance: Mapping[str, Any]) -> list[Any]:
    """Return the pictures that the tags in a row's ``source`` name."""
    return [get_field(instance, path) for path in re.findall(_TAG, instance["source"])]


def get_images_without_text(instance: Mapping[str, Any]) -> list[Image]:
    """Return the pictures in a row's source, in RGB."""
    if isinstance(instance["source"], str):
        found = [images.open_image(each) for each in extract_images(instance)]
    else:
        parts = (part for turn in instance["source"] if isinstance(turn["content"], list) for part in turn["content"])
        found = [data_url_to_image(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    return [each.convert("RGB") for each in found]


def get_text_without_images(instance: Mapping[str, Any], image_token: str = "<image>") -> str:  # noqa: S107 - a mark
    """Return a row's source as text, with a mark where a picture is.

    Raises:
        ValueError: It is neither text nor messages.
    """
    source = instance["source"]
    if isinstance(source, str):
        return re.sub(_TAG + r"\s*/?>", image_token, source)
    if not isinstance(source, list):
        raise DataError("the source is neither text nor messages", why=f"it is {type(source).__name__}")
    return "".join(_without_images(turn["content"], image_token) for turn in source)


def _without_images(content: Any, image_token: str) -> str:
    if isinstance(content, str):
        return content
    kinds = ((part["type"], part) for part in content)
    return "".join(part["text"] if kind == "text" else image_token * kind.startswith("image") for kind, part in kinds)
