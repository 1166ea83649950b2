"""Serializers: how the values of fields become text in a prompt.

``serialize(value, instance)`` returns the text. Media leave the text and go to ``instance["media"]``; the text keeps a
reference to them. A :class:`MultiTypeSerializer` asks one serializer after the other whether the value is of its type;
what none of them wants becomes ``str(value)``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, is_typeddict

from pydantic import Field
from typing_extensions import override

from proctor.artifacts.field_types import (
    Conversation,
    Dialog,
    Document,
    Image,
    MultiDocument,
    Number,
    SQLDatabase,
    Table,
    Tool,
    ToolCall,
    Video,
)
from proctor.artifacts.overriding import still_holds
from proctor.artifacts.types import compile_check, explain_mismatch, parse_type_string
from proctor.data.fields import Row
from proctor.data.operator import InstanceFieldOperator
from proctor.errors import FieldTypeError, ValidationError

IMAGE_TAG = "unitxt-img"
"""The tag that stands for an image in a text."""


class Serializer(InstanceFieldOperator):
    """Makes text of values; override ``serialize(value, instance)``."""

    def serialize(self, value: Any, instance: Row) -> str:  # noqa: ARG002 - for those who override it
        """Return the value as text."""
        raise ValidationError(f"{type(self).__name__} does not define serialize(value, instance)")

    @override
    def process_instance_value(self, value: Any, instance: Row) -> str:
        return self.serialize(value, instance)


class DefaultSerializer(Serializer):
    """Python's ``str``."""

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return str(value)


class DefaultListSerializer(Serializer):
    """Members of a list, separated by commas; other values as ``str``."""

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class SingleTypeSerializer(Serializer):
    """A serializer of one type of value; set ``serialized_type`` and override ``serialize``."""

    serialized_type: Any = None

    @override
    def verify(self) -> None:
        super().verify()
        if self.serialized_type is None:
            raise ValidationError(f"{type(self).__name__} does not set 'serialized_type'")

    def type_of_values(self) -> Any:
        """Return the type of the values that this serializer takes."""
        kind = self.serialized_type
        return parse_type_string(kind) if isinstance(kind, str) else kind

    @override
    def process_instance_value(self, value: Any, instance: Row) -> str:
        if problem := explain_mismatch(value, self.type_of_values()):
            raise FieldTypeError(f"{type(self).__name__} cannot serialize this value", why=problem)
        return self.serialize(value, instance)


class ListSerializer(SingleTypeSerializer):
    """Members of a list, separated by commas."""

    serialized_type: Any = list

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return ", ".join(map(str, value))


class DictAsJsonSerializer(SingleTypeSerializer):
    """A dict as JSON."""

    serialized_type: Any = dict

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return json.dumps(value)


class DialogSerializer(SingleTypeSerializer):
    """A line ``role: content`` for each turn, and the calls of tools as JSON on the next."""

    serialized_type: Any = Dialog

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return "\n".join(map(_turn_text, value))


def _turn_text(turn: Row) -> str:
    text = f"{turn['role']}: "
    if "content" in turn:
        text += str(turn["content"])
    if "tool_calls" in turn:
        text += "\n" + json.dumps(turn["tool_calls"])
    return text


class ConversationSerializer(DialogSerializer):
    """The dialog of a conversation."""

    serialized_type: Any = Conversation

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return super().serialize(value["dialog"], instance)


class NumberSerializer(SingleTypeSerializer):
    """Whole numbers as they are, others with one decimal."""

    serialized_type: Any = Number

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return str(value) if isinstance(value, int) else f"{value:.1f}"


class NumberQuantizingSerializer(NumberSerializer):
    """Numbers rounded to multiples of a quantum.

    Attributes:
        quantum: The step; a whole number gives whole numbers.
    """

    quantum: int | float = 0.1

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        quantized = round(value / self.quantum) / (1 / self.quantum)
        return str(int(quantized) if isinstance(self.quantum, int) else quantized)


class TableSerializer(SingleTypeSerializer):
    """A table as comma-separated values, the header first."""

    serialized_type: Any = Table

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        output = io.StringIO()
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(value["header"])
        writer.writerows(value["rows"])
        return output.getvalue().strip()


class ImageSerializer(SingleTypeSerializer):
    """A tag in the text; the image itself moves to ``media/images`` of the instance."""

    serialized_type: Any = Image

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        media = instance.get("media") or {}
        images = media.get("images", [])
        source = f"media/images/{len(images)}"
        moved = {"image": value["image"], "format": value["format"]}
        instance["media"] = {**media, "images": [*images, moved]}
        _substitute(instance, value, {**value, "image": source})
        return f'<{IMAGE_TAG} src="{source}">'


def _substitute(instance: Row, old: Any, new: Any) -> None:
    """Put ``new`` where an instance's fields have ``old``, without changing any container that others may share."""
    for part in ("input_fields", "reference_fields"):
        fields = instance.get(part)
        if isinstance(fields, dict):
            for name, value in fields.items():
                fields[name] = _substituted(value, old, new)


def _substituted(value: Any, old: Any, new: Any) -> Any:
    if value is old:
        return new
    if isinstance(value, list) and any(item is old for item in value):
        return [new if item is old else item for item in value]
    return value


class VideoSerializer(ImageSerializer):
    """The tags of a video's images, one after the other."""

    serialized_type: Any = Video

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return "".join([super(VideoSerializer, self).serialize(image, instance) for image in value])


class DocumentSerializer(SingleTypeSerializer):
    """A title as a heading, then the text."""

    serialized_type: Any = Document

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return f"# {value['title']}\n\n{value['body']}"


class MultiDocumentSerializer(DocumentSerializer):
    """Documents with an empty line between them."""

    serialized_type: Any = MultiDocument

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return "\n\n".join([super(MultiDocumentSerializer, self).serialize(each, instance) for each in value])


class ToolsSerializer(SingleTypeSerializer):
    """The JSON that chat servers take for tools; the tools also go to ``__tools__`` of the instance."""

    serialized_type: Any = list[Tool]

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        tools = [{"type": "function", "function": tool} for tool in value]
        instance["__tools__"] = [*instance.get("__tools__", []), *tools]
        return json.dumps(instance["__tools__"], indent=4)


class ToolCallSerializer(SingleTypeSerializer):
    """A call of a tool as JSON."""

    serialized_type: Any = ToolCall

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        return json.dumps(value)


class SQLDatabaseAsSchemaSerializer(SingleTypeSerializer):
    """The statements that create a database's tables."""

    serialized_type: Any = SQLDatabase

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        from proctor.data.databases import connect

        return connect(value).schema()


@cache
def _documented_order() -> tuple[SingleTypeSerializer, ...]:
    return (
        DocumentSerializer(),
        ToolCallSerializer(),
        DialogSerializer(),
        MultiDocumentSerializer(),
        ImageSerializer(),
        VideoSerializer(),
        TableSerializer(),
        ToolsSerializer(),
    )


_SCALARS = frozenset([str, int, float, bool, type(None)])


class MultiTypeSerializer(Serializer):
    """Gives each value to the first serializer of its type; what none takes becomes ``str(value)``.

    Attributes:
        serializers: The serializers, in the order they are asked.
    """

    serializers: list[SingleTypeSerializer] = Field(default_factory=lambda: list(_documented_order()))

    @override
    def prepare(self) -> None:
        super().prepare()
        self._compiled_for: list[SingleTypeSerializer] | None = None
        self._compile()

    def _compile(self) -> None:
        self._checks: list[tuple[Callable[[Any], bool], Callable[[Any, Row], str]]] = [
            (compile_check(each.type_of_values()), each.serialize) for each in self.serializers
        ]
        self._of_text_lists = [
            check
            for check, each in zip(self._checks, self.serializers, strict=True)
            if not _holds_dicts(each.type_of_values())
        ]
        self._scalars_are_plain = all(_takes_containers_only(each.type_of_values()) for each in self.serializers)
        self._compiled_for = self.serializers

    @property
    def keeps_text(self) -> bool:
        """Whether a plain text is always shown as it is, so that nobody need ask."""
        if self._compiled_for is not self.serializers:
            self._compile()
        return self._scalars_are_plain and still_holds(type(self), "keeps_text", "serialize")

    @override
    def serialize(self, value: Any, instance: Row) -> str:
        if self._compiled_for is not self.serializers:
            self._compile()
        if self._scalars_are_plain and type(value) in _SCALARS:
            return value if type(value) is str else str(value)
        is_text_list = type(value) is list and value and type(value[0]) is str
        for check, serialize in self._of_text_lists if is_text_list else self._checks:
            if check(value):
                return serialize(value, instance)
        return str(value)

    def preceded_by(self, serializers: Sequence[SingleTypeSerializer]) -> MultiTypeSerializer:
        """Return a serializer that asks ``serializers`` first, of the same class."""
        made = self.model_copy()
        made.add_serializers(serializers)
        return made

    def add_serializers(self, serializers: Sequence[SingleTypeSerializer]) -> None:
        """Ask ``serializers`` first from now on."""
        self.serializers = [*serializers, *self.serializers]


def _holds_dicts(kind: Any) -> bool:
    """Whether values of a type are dicts of known keys, or lists of such: a list that begins with a text is not one."""
    while hasattr(kind, "__supertype__"):
        kind = kind.__supertype__
    members = get_args(kind) if get_origin(kind) in (list, Union, UnionType) else ()
    return is_typeddict(kind) or (bool(members) and all(map(_holds_dicts, members)))


def _takes_containers_only(kind: Any) -> bool:
    while hasattr(kind, "__supertype__"):
        kind = kind.__supertype__
    return is_typeddict(kind) or (get_origin(kind) or kind) in (list, dict, tuple, set)


@cache
def _template_order() -> tuple[SingleTypeSerializer, ...]:
    return (
        ImageSerializer(),
        VideoSerializer(),
        TableSerializer(),
        ToolCallSerializer(),
        ToolsSerializer(),
        DialogSerializer(),
        ConversationSerializer(),
        ListSerializer(),
        SQLDatabaseAsSchemaSerializer(),
    )


def default_serializer() -> MultiTypeSerializer:
    """Return the serializer of templates that name none."""
    return MultiTypeSerializer(serializers=list(_template_order()))
