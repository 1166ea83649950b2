"""Conversations of several turns: what is said, with the right answers in the model's place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import DataError
from proctor.formats.dialogue_layout import DialogueLayout, merged
from proctor.formats.meta_template import chat_role
from proctor.ir import Message
from proctor.templates.prompt_template import BasePromptTemplate

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MultiTurn:
    """A whole conversation.

    Attributes:
        messages: Everything that is said; what the model is to say holds the right answers.
    """

    messages: tuple[Message, ...]

    @property
    def turns(self) -> tuple[int, ...]:
        """The places of the model's turns."""
        return tuple(place for place, each in enumerate(self.messages) if each["role"] == "assistant")

    @property
    def last(self) -> tuple[Message, ...]:
        """What the model is told before its last turn (``infer_mode`` ``last``)."""
        return self.messages[: self.turns[-1]]

    @property
    def with_right_answers(self) -> list[tuple[Message, ...]]:
        """What the model is told before each of its turns (``infer_mode`` ``every_with_gt``)."""
        return [self.messages[:place] for place in self.turns]

    @property
    def with_own_answers(self) -> tuple[Message | None, ...]:
        """The conversation with ``None`` where the model speaks, for ``Converse`` (``infer_mode`` ``every``)."""
        spoken = self.messages[: self.turns[-1] + 1] if self.turns else self.messages
        return tuple(None if each["role"] == "assistant" else each for each in spoken)


def of_dialogue(items: Sequence[Any], layout: DialogueLayout) -> MultiTurn:
    """Return a filled dialogue as a conversation."""
    said = merged(layout.messages(items, "ppl"))
    return MultiTurn(tuple({"role": chat_role(str(each.role)), "content": each.content} for each in said))


def of_columns(
    row: Row, template: BasePromptTemplate | None, input_columns: Sequence[str], output_column: str | None
) -> MultiTurn:
    """Return the conversation that the columns of a row make.

    Columns of texts make one exchange; columns of lists of texts one for every place in them; a single input column, or
    one named ``dialogue``, may hold messages.

    Raises:
        DataError: The columns are of different kinds, or of different length.
    """
    wanted = [*input_columns, *([output_column] if output_column else [])]
    said = {name: value for name, value in row.items() if name in wanted}
    if all(isinstance(value, str) for value in said.values()):
        return MultiTurn(tuple(_exchange(said, template, input_columns, output_column)))
    if all(_all_are(value, str) for value in said.values()):
        lengths = {name: len(value) for name, value in said.items()}
        if len(set(lengths.values())) > 1:
            raise DataError("the columns of a conversation differ in length", why=f"they have {lengths}")
        entries = [dict(zip(said, values, strict=True)) for values in zip(*said.values(), strict=True)]
        made = [message for each in entries for message in _exchange(each, template, input_columns, output_column)]
        return MultiTurn(tuple(made))
    column = input_columns[0] if len(input_columns) == 1 else "dialogue"
    if _all_are(row.get(column), dict):
        return MultiTurn(tuple(dict(each) for each in row[column]))
    raise DataError(
        "no conversation can be made of the row",
        why=f"its columns are {', '.join(f'{name}: {type(value).__name__}' for name, value in said.items())}",
        hint="columns hold texts, lists of texts of one length, or one list of messages",
    )


def _all_are(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _exchange(
    entry: Row, template: BasePromptTemplate | None, input_columns: Sequence[str], output_column: str | None
) -> list[Message]:
    gold = entry.get(output_column or "", "")
    if template is None:
        if len(input_columns) != 1:
            raise DataError("a conversation without a template needs exactly one input column")
        return [{"role": "user", "content": entry.get(input_columns[0])}, {"role": "assistant", "content": gold}]
    if output_column and isinstance(template.template, str):  # a dialogue has a turn for the answer
        entry = {**entry, output_column: ""}
    prompt = template.generate_item(entry)
    items = [prompt] if isinstance(prompt, str) else prompt.plain()
    made: list[Message] = [
        {"role": "user", "content": item}
        if isinstance(item, str)
        else {"role": chat_role(item["role"]), "content": item.get("prompt", "")}
        for item in items
    ]
    if not made or made[-1]["role"] != "assistant":
        made.append({"role": "assistant", "content": gold})
    return made
