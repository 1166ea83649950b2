"""Requests of function calling (BFCL v3): messages, with the functions as tools or in words.

How the functions are described is the Berkeley leaderboard's rule, which AISBench follows (``bfcl_eval``:
``func_doc_language_specific_pre_processing``, ``convert_to_tool``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import DataError, MissingFieldError
from proctor.ir import Message

_JSON_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""Types of JSON Schema by the leaderboard's names; all others are strings."""

_LANGUAGES = {"java": ("Java 8 SDK", "Java"), "javascript": ("JavaScript", "JavaScript")}
_COLLECTIONS = {"java": ("ArrayList", "Array"), "javascript": ("array",)}

_INSTRUCTION = """You are an expert in composing functions. You are given a question and a set of possible functions. \
Based on the question, you will need to make one or more function/tool calls to achieve the purpose.
If none of the functions can be used, point it out. If the given question lacks the parameters required by the \
function, also point it out.
You should only return the function calls in your response.

If you decide to invoke any of the function(s), you MUST put it in the format of \
[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]
You SHOULD NOT include any other text in the response.

At each turn, you should try your best to complete the tasks requested by the user within the current turn. Continue \
to output functions to call until you have fulfilled the user's request to the best of your ability. Once you have no \
more functions to call, the system will consider the current turn complete and proceed to the next turn or task.

Here is a list of functions in JSON format that you can invoke.
{functions}

"""
"""The leaderboard's system prompt, to the letter: scores are of answers to it."""


def asked_in_words(row: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages to a model that writes its calls: the functions stand in the system prompt.

    Raises:
        DataError: The row is not such a question.
    """
    first, functions = _question(row)
    prompt = _INSTRUCTION.replace("{functions}", str([_hinted(each, _category(row)) for each in functions]))
    if first[0]["role"] == "system":
        return ({**first[0], "content": f"{prompt}\n\n{first[0]['content']}"}, *first[1:])
    return ({"role": "system", "content": prompt}, *first)


def asked_with_tools(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], list[dict[str, Any]]]:
    """Return the messages to a model whose service returns calls, and the functions as tools.

    Raises:
        DataError: The row is not such a question.
    """
    first, functions = _question(row)
    return tuple(first), [{"type": "function", "function": _tool(_hinted(each, _category(row)))} for each in functions]


def _question(row: Mapping[str, Any]) -> tuple[list[Message], list[dict[str, Any]]]:
    for name in ("question", "function", "id"):
        if name not in row:
            raise MissingFieldError(
                f"the row has no column '{name}', which calls of functions need", why=f"it has {', '.join(row)}"
            )
    turns, functions = (json.loads(value) if isinstance(value, str) else value for value in _columns(row))
    if not turns or not isinstance(turns[0], list) or not turns[0]:
        raise DataError("the question has no messages", why="it is a list of turns, each a list of messages")
    return turns[0], functions


def _columns(row: Mapping[str, Any]) -> tuple[Any, Any]:
    return row["question"], row["function"]


def _category(row: Mapping[str, Any]) -> str:
    return str(row["id"]).rpartition("_")[0]


def _hinted(function: Mapping[str, Any], category: str) -> dict[str, Any]:
    """Return a function whose description says which language it is in."""
    syntax, language = _LANGUAGES.get(category, ("Python 3", ""))
    described = {
        **function,
        "description": f"{function['description']} Note that the provided function is in {syntax} syntax.",
    }
    if language:
        parameters = function["parameters"]
        properties = {name: _as_text(each, language, category) for name, each in parameters["properties"].items()}
        described["parameters"] = {**parameters, "properties": properties}
    return described


def _as_text(parameter: Mapping[str, Any], language: str, category: str) -> dict[str, Any]:
    """Return a parameter whose value is written as a text in the function's language."""
    kind, made = parameter["type"], dict(parameter)
    if kind == "any":
        made["description"] += f" This parameter can be of any type of {language} object in string representation."
    else:
        made["description"] += f" This is {language} {kind} type parameter in string representation."
    if kind in _COLLECTIONS[category]:
        inner = made.pop("items")["type"]
        made["description"] += f" The list elements are of type {inner}; they are not in string representation."
    if category == "javascript" and kind == "dict" and "properties" in made:
        schema = json.dumps(made.pop("properties"))
        made["description"] += (
            " The dictionary entries have the following schema; they are not in string representation. " + schema
        )
    return {**made, "type": "string"}


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function as JSON Schema has it; services allow no dots in names."""
    parameters = function["parameters"]
    schema = {**parameters, "type": "object", "properties": _schemas(parameters["properties"])}
    return {**function, "name": function["name"].replace(".", "_"), "parameters": schema}


def _schemas(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: _schema(each) for name, each in properties.items()}


def _schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(parameter)
    if made.get("type") == "float":
        made["format"] = "float"
        made["description"] += " This is a float type value."
    made["type"] = _JSON_TYPES.get(made.get("type", ""), "string")
    if made["type"] not in ("array", "object"):
        return made
    if "properties" in made:
        made["properties"] = _schemas(made["properties"])
    elif "items" in made:
        made["items"] = _elements(made["items"])
    return made


def _elements(items: Mapping[str, Any]) -> dict[str, Any]:
    made = {**items, "type": _json_type(items["type"])}
    if made["type"] == "array" and "items" in made:
        made["items"] = {**made["items"], "type": _json_type(made["items"]["type"])}
    elif made["type"] == "object" and "properties" in made:
        made["properties"] = _schemas(made["properties"])
    return made


def _json_type(name: str) -> str:
    return _JSON_TYPES.get(name, "string")


def returned_calls(text: str, finish_reason: str) -> Sequence[Any]:
    """Return what a service returned as calls: each a name with its arguments as JSON; words are one text that is none.

    Args:
        text: The answer; engines write calls as JSON objects with ``name`` and ``arguments``.
        finish_reason: Why the answer ended; words that look like calls are words.
    """
    if finish_reason not in _CALLED:
        return [text] if text else []
    try:
        found = json.loads(text)
        calls = found if isinstance(found, list) else [found]
        return [{each["name"].strip(): json.dumps(each["arguments"])} for each in calls]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [text]


_CALLED = ("tool_calls", "function_call", "length")
