"""Operators on JSON, tool calls and JSON Schemas."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from typing_extensions import override

from proctor.artifacts.field_types import ToolCall
from proctor.artifacts.types import is_of_type
from proctor.data.fields import getter
from proctor.data.operator import FieldOperator, InstanceOperator, Step, writing
from proctor.errors import DataError, ProctorError
from proctor.foreign_text import check_words, parse_json
from proctor.logs import get_logger


class LoadJson(FieldOperator):
    """Reads JSON text.

    Attributes:
        allow_failure: Text that is not JSON becomes ``failure_value``; otherwise it is an error.
    """

    failure_value: Any = None
    allow_failure: bool = False

    @override
    def process_value(self, value: str) -> Any:
        return read_json(value, self.allow_failure, self.failure_value)


def read_json(text: str, allow_failure: bool, failure_value: Any) -> Any:
    """Return the value of a JSON text.

    Raises:
        DataError: It is not JSON, and failure is not allowed.
    """
    try:
        return parse_json(text, strict=allow_failure)
    except json.JSONDecodeError as error:
        if allow_failure:
            return failure_value
        raise DataError(f"{text[:80]!r} is not JSON", why=str(error)) from None


class DumpJson(FieldOperator):
    """Writes values as JSON."""

    @override
    def process_value(self, value: Any) -> str:
        return json.dumps(value)


class JsonStrToDict(FieldOperator):
    """Reads a JSON object as a dict of texts; entries that are null are left out, and no object is an empty one."""

    @override
    def process_value(self, value: str) -> dict[str, str]:
        try:
            data = parse_json(value)
        except (json.JSONDecodeError, TypeError) as error:
            get_logger().warning("%r is not JSON: %s", value, error)
            return {}
        if not isinstance(data, dict):
            get_logger().warning("%r is not a JSON object", value)
            return {}
        return {str(key): str(item) for key, item in data.items() if item is not None}


class PythonCallProcessor(FieldOperator):
    """Reads a call in Python's notation, ``f(1, x="a")``, as a tool call; arguments are plain values."""

    @override
    def process_value(self, value: str) -> dict[str, Any]:
        try:
            check_words(value)
            call = ast.parse(value, mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                raise DataError(f"{value[:80]!r} is not a call")
            arguments: dict[str, Any] = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
            if call.args:
                arguments["_args"] = [ast.literal_eval(each) for each in call.args]
        except ProctorError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(f"{value[:80]!r} is not a call", why=str(error)) from None
        return {"name": call.func.id, "arguments": arguments}


def outermost_json(text: str) -> str:
    """Return the part of a text from its first opening brace or bracket to its last closing one."""
    starts = [position for position in (text.find("{"), text.find("[")) if position != -1]
    ends = [position for position in (text.rfind("}"), text.rfind("]")) if position != -1]
    return text[min(starts, default=0) : max(ends, default=len(text) - 1) + 1]


class ToolCallPostProcessor(FieldOperator):
    """Reads the one tool call in a text; several, or none, are ``failure_value``."""

    failure_value: Any = None
    allow_failure: bool = False

    @override
    def process_value(self, value: str) -> Any:
        result = read_json(outermost_json(value), self.allow_failure, self.failure_value)
        if is_of_type(result, list[ToolCall]):
            return result[0] if len(result) == 1 else self.failure_value
        return result if is_of_type(result, ToolCall) else self.failure_value


class MultipleToolCallPostProcessor(FieldOperator):
    """Reads a list of tool calls, or one as a list."""

    failure_value: Any = None
    allow_failure: bool = False

    @override
    def process_value(self, value: str) -> Any:
        result = read_json(value, self.allow_failure, self.failure_value)
        if is_of_type(result, list[ToolCall]):
            return result
        return [result] if is_of_type(result, ToolCall) else self.failure_value


_SCHEMA_NAMES = {
    "": "object", "any": "object", "Any": "object", "Array": "array", "ArrayList": "array", "Bigint": "integer",
    "bool": "boolean", "Boolean": "boolean", "byte": "integer", "char": "string", "dict": "object", "Dict": "object",
    "double": "number", "float": "number", "HashMap": "object", "Hashtable": "object", "int": "integer",
    "list": "array", "List": "array", "long": "integer", "Queue": "array", "short": "integer", "Stack": "array",
    "tuple": "array", "Set": "array", "set": "array", "str": "string", "String": "string",
}  # fmt: skip
_SEQUENCE = re.compile(r"(List|Tuple)\[(.*?)\]")
_UNION = re.compile(r"Union\[(.*?)\]")
_CALLABLE = re.compile(r"Callable\[(.*?)\]")


def schema_of_type(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a type in the notation of some programming language."""
    if name in _SCHEMA_NAMES:
        return {"type": _SCHEMA_NAMES[name]}
    if match := _SEQUENCE.fullmatch(name):
        inner = match[2] if match[1] == "List" else match[2].partition(",")[0].strip()
        return {"type": "array", "items": schema_of_type(inner)}
    if match := _UNION.fullmatch(name):
        return {"anyOf": [schema_of_type(part.strip()) for part in match[1].split(",")]}
    if _CALLABLE.fullmatch(name):
        return {"type": "object"}
    return _schema_with_remarks(name) if "," in name else {"type": name}


def _schema_with_remarks(name: str) -> dict[str, Any]:
    kind, *remarks = (part.strip() for part in name.split(","))
    if len(remarks) > 2:  # noqa: PLR2004 - 'optional' and 'default'
        raise DataError(f"'{name}' is not a type", why="it has more than two remarks")
    schema = schema_of_type(kind)
    for remark in remarks:
        if remark.lower().startswith("default"):
            schema["default"] = re.split(r"[= ]", remark, maxsplit=1)[1]
    if any(remark.lower().startswith("optional") for remark in remarks):
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


class FixJsonSchemaOfParameterTypes(InstanceOperator):
    """Makes valid JSON Schemas of schemas whose types are named as in some programming language.

    Attributes:
        main_field: The field with the schemas, however deep inside.
    """

    main_field: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        get = getter(self.main_field)
        return writing(self.main_field, lambda row: _fixed(get(row)))


def _fixed(value: Any) -> Any:
    if isinstance(value, list):
        return [_fixed(item) for item in value]
    if not isinstance(value, dict):
        return value
    fixed: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for key, item in value.items():
        if key == "type" and isinstance(item, str):
            schema = schema_of_type(item)
        else:
            fixed[key] = _fixed(item)
    return {**fixed, **schema}
