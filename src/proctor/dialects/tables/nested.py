"""Cells with more than a text: chats, which are asked as they are, and objects, whose parts are columns with a dot.

Such rows are what fine-tuning reads: ``messages`` of OpenAI's form, ``prompt`` and ``reward_model.ground_truth`` of
verl's. Where a chat ends with the assistant and no other column is right, its last message is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from proctor.dialects.tables.reader import Row, Rows
from proctor.ir import Message
from proctor.prompts.chat_text import is_chat

_LOOKED_AT: Final = 100  # rows in which parts of objects are looked for, to name them in messages


def parts_of(rows: Rows) -> list[str]:
    """Return the parts of objects in the first rows, as columns with a dot."""
    found: dict[str, None] = {}
    for row in islice(rows, _LOOKED_AT):
        for name, value in row.items():
            found.update(dict.fromkeys(_below(name, value)))
    return list(found)


def _below(name: str, value: object) -> Iterator[str]:
    for key, each in value.items() if isinstance(value, Mapping) else ():
        if isinstance(each, Mapping):
            yield from _below(f"{name}.{key}", each)
        else:
            yield f"{name}.{key}"


def with_parts(rows: Rows, wanted: Sequence[str]) -> Rows:
    """Return rows with those parts of objects as columns that are wanted; rows without them stay as they are."""
    names = [each for each in parts_of(rows) if each in wanted]
    return rows if not names else [{**row, **{name: part_of(row, name) for name in names}} for row in rows]


def part_of(row: Row, name: str) -> Any:
    """Return a part of an object in a row by its name with dots; ``None`` where the row has none."""
    value: Any = row
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def with_chats(rows: Rows) -> Rows:
    """Return rows with ShareGPT's conversations (``from``, ``value``) as chats."""
    names = [name for name, value in rows[0].items() if all(_is_talk(row.get(name)) for row in rows)]
    return rows if not names else [{**row, **{name: _chat_of_talk(row[name]) for name in names}} for row in rows]


def _is_talk(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_ROLES.get(_speaker(each)) for each in value)


def _speaker(said: object) -> str:
    return str(said.get("from")) if isinstance(said, Mapping) and isinstance(said.get("value"), str) else ""


def _chat_of_talk(talk: Sequence[Mapping[str, Any]]) -> list[Message]:
    return [{"role": _ROLES[each["from"]], "content": each["value"]} for each in talk]


_ROLES: Final = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
"""Speakers of ShareGPT's conversations."""


def with_last_message(rows: Rows, column: str, name: str) -> Rows | None:
    """Return rows with the assistant's last messages as a column; ``None`` where a chat does not end with one."""
    made = []
    for row in rows:
        chat = row.get(column)
        if not is_chat(chat) or chat[-1]["role"] != "assistant":
            return None
        said = chat[-1].get("tool_calls") or chat[-1]["content"]
        if not isinstance(said, str | list):
            return None
        made.append({**row, column: list(chat[:-1]), name: said})
    return made


def chat_of(row: Row, column: str) -> list[Message]:
    """Return the messages of a row, with the calls of tools and their results."""
    return [{key: each[key] for key in _SENT if key in each} for each in row[column]]


_SENT: Final = ("role", "content", "name", "tool_calls", "tool_call_id")
"""Keys of a message that models read."""


def chat_text(chat: Sequence[Mapping[str, Any]]) -> str:
    """Return a chat as people read it: the role and the text of each message."""
    return "\n\n".join(f"{each['role']}: {each['content']}" for each in chat)
