"""The types of fields that every program knows by name: text, dialogs, tables, documents, media, tools.

Names and keys are those of the Unitxt ecosystem (``unitxt.types``), because saved tasks refer to them.
"""

# ruff: noqa: UP006, UP007, UP035, UP045 - types are written as files show them

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Dict, List, Literal, NewType, Optional, TypedDict, Union

Text = NewType("Text", str)
Number = NewType("Number", Union[float, int])  # type: ignore[valid-newtype]

_SCHEMA_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


class JsonSchema:
    """A JSON Schema: a dict whose best-known keywords have values of the right kind."""

    @classmethod
    def __verify_type__(cls, value: object) -> bool:
        return isinstance(value, dict) and all(
            check(value[keyword]) for keyword, check in _SCHEMA_KEYWORDS.items() if keyword in value
        )


def _is_schema(value: object) -> bool:
    return isinstance(value, bool) or JsonSchema.__verify_type__(value)


def _is_schema_map(value: object) -> bool:
    return isinstance(value, dict) and all(_is_schema(item) for item in value.values())


def _is_schema_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_schema(item) for item in value)


def _is_type_keyword(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return all(isinstance(name, str) and name in _SCHEMA_TYPES for name in names)


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_SCHEMA_KEYWORDS: Mapping[str, Callable[[object], bool]] = {
    "type": _is_type_keyword,
    "properties": _is_schema_map,
    "patternProperties": _is_schema_map,
    "required": _is_string_list,
    "items": lambda value: _is_schema(value) or (isinstance(value, list) and all(map(_is_schema, value))),
    "additionalProperties": _is_schema,
    "enum": lambda value: isinstance(value, list),
    "anyOf": _is_schema_list,
    "allOf": _is_schema_list,
    "oneOf": _is_schema_list,
    "not": _is_schema,
    "title": lambda value: isinstance(value, str),
    "description": lambda value: isinstance(value, str),
}


class Tool(TypedDict):
    """A function that a model may call."""

    name: str
    description: str
    parameters: JsonSchema
    type: Optional[Literal["function"]]


class ToolCall(TypedDict):
    """A call of a tool."""

    name: str
    arguments: Dict[str, Any]


class ToolCallContext(TypedDict):
    """A call of a tool as chat servers write it."""

    id: str
    type: Literal["function"]
    function: ToolCall


class ToolCallTurn(TypedDict):
    """A turn in which the model calls tools."""

    role: Literal["assistant"]
    content: Optional[str]
    tool_calls: List[ToolCallContext]


class ToolOutputTurn(TypedDict):
    """A turn that gives the model what a tool returned."""

    role: Literal["tool"]
    tool_call_id: str
    name: str
    content: str


class TextTurn(TypedDict):
    """A turn of plain text."""

    role: Literal["system", "user", "agent", "assistant"]
    content: Text


class RagResponse(TypedDict):
    """An answer with the passages it rests on."""

    answer: str
    contexts: List[str]
    context_ids: Union[List[int], List[str]]
    is_answerable: bool


Dialog = NewType("Dialog", List[Union[TextTurn, ToolCallTurn, ToolOutputTurn]])


class Conversation(TypedDict):
    """A dialog with a name."""

    id: str
    dialog: Dialog


class Image(TypedDict):
    """An image: a PIL image, bytes, path or data URL, and its format."""

    image: Any
    format: str


class Document(TypedDict):
    """A titled text."""

    title: str
    body: str


MultiDocument = NewType("MultiDocument", List[Document])
Video = NewType("Video", List[Image])


class Audio(TypedDict):
    """A sound."""

    audio: Any


class Table(TypedDict):
    """A table: column names and rows."""

    header: List[str]
    rows: List[List[Any]]


class SQLDatabase(TypedDict):
    """A database: a file, tables in memory, or a server."""

    db_id: Optional[str]
    db_type: Literal["local", "in_memory", "remote"]
    dbms: Optional[str]
    data: Optional[Dict[str, Dict[Any, Any]]]


FIELD_TYPES: Mapping[str, Any] = {
    "Text": Text,
    "Number": Number,
    "TextTurn": TextTurn,
    "ToolCallTurn": ToolCallTurn,
    "ToolCallContext": ToolCallContext,
    "ToolOutputTurn": ToolOutputTurn,
    "Dialog": Dialog,
    "Table": Table,
    "Audio": Audio,
    "Image": Image,
    "Video": Video,
    "Conversation": Conversation,
    "Document": Document,
    "MultiDocument": MultiDocument,
    "RagResponse": RagResponse,
    "SQLDatabase": SQLDatabase,
    "Tool": Tool,
    "JsonSchema": JsonSchema,
    "ToolCall": ToolCall,
}
"""Every type of this module by the name that files use."""
