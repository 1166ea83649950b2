"""Messages of chats and their parts, as types that Unitxt's programs name."""

from __future__ import annotations

from typing import Literal, TypedDict


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
