"""Operators on dialogs, and on the spans of tagged text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from proctor.artifacts.artifact import Artifact
from proctor.data.fields import Row, getter, setter
from proctor.data.format_strings import compile_format
from proctor.data.operator import FieldOperator, InstanceFieldOperator, InstanceOperator, Step
from proctor.errors import DataError

DEFAULT_TURN_FORMAT = "{source}\\N{target_prefix}{target}\n\n"
"""How the default format lays out a demo, and with it a turn of a dialog."""


class ToDialog(FieldOperator):
    """Makes a dialog of (question, answer) pairs."""

    @override
    def process_value(self, value: Any) -> list[dict[str, Any]]:
        turns = []
        for question, answer in value:
            turns += [{"role": "user", "content": question}, {"role": "agent", "content": answer}]
        return turns


class SerializeDialog(InstanceFieldOperator):
    """Makes text of a dialog, a list of ``{"user": …, "system": …}``, in the layout that a format gives to demos.

    Attributes:
        format: The format; that of the recipe where it is ``None``.
        last_response_to_field: Leave the last answer out of the text and write it here.
        context_field: A field whose text comes first.
        context_separator: What follows that text.
        slice_first_and_last_turns_format: Leave out what the layout has before the first turn and after the last one.
    """

    reads_recipe: ClassVar[bool] = True  # dialogs are laid out as demos are

    format: Artifact | None = None
    last_response_to_field: str | None = None
    context_field: str | None = None
    context_separator: str = " "
    slice_first_and_last_turns_format: bool = True

    @override
    def process_instance_value(self, value: Any, instance: Row) -> str:
        text = "" if self.context_field is None else getter(self.context_field)(instance) + self.context_separator
        layout = _turn_layout(self._demo_format(instance))
        for position, turn in enumerate(value):
            shown = self._cut(layout, position == 0, position == len(value) - 1)
            text += compile_format(shown, type(self).__name__, "format", "part of a turn")(turn)
        if self.last_response_to_field is not None and value:
            setter(self.last_response_to_field)(instance, value[-1]["system"])
        return text

    def _demo_format(self, instance: Row) -> str:
        metadata = instance.get("recipe_metadata")
        chosen = self.format or (metadata.get("format") if isinstance(metadata, Mapping) else None)
        if isinstance(chosen, Mapping):
            return str(chosen.get("demo_format", DEFAULT_TURN_FORMAT))
        return str(getattr(chosen, "demo_format", DEFAULT_TURN_FORMAT))

    def _cut(self, layout: str, first: bool, last: bool) -> str:
        if first and self.slice_first_and_last_turns_format:
            layout = layout[layout.index("{user}") :]
        if last and self.slice_first_and_last_turns_format:
            layout = layout[: layout.index("{system}") + len("{system}")]
        if last and self.last_response_to_field is not None:
            layout = layout[: layout.index("{user}") + len("{user}")]
        return layout


def _turn_layout(demo_format: str) -> str:
    return demo_format.replace("{source}", "{user}").replace("{target}", "{system}").replace("{target_prefix}", "")


class SerializeOpenAiFormatDialog(SerializeDialog):
    """Makes text of a dialog of ``{"role": "user" | "assistant", "content": …}`` turns; the user begins.

    Turns of the same role that follow each other are joined by a blank.

    Attributes:
        is_last_turn_user_only: Accepted for old cards.
    """

    is_last_turn_user_only: bool = True

    @override
    def process_instance_value(self, value: Any, instance: Row) -> str:
        return super().process_instance_value(self.transform_dialog_to_standard_format(value), instance)

    def transform_dialog_to_standard_format(self, dialog: Any) -> list[dict[str, str]]:
        """Return a dialog of roles as ``{"user": …, "system": …}`` pairs; derived classes may pair turns otherwise."""
        return paired_turns(dialog)


def paired_turns(dialog: Any) -> list[dict[str, str]]:
    """Return a dialog of roles as ``{"user": …, "system": …}`` pairs.

    Raises:
        DataError: It is not a list of turns, a role is neither ``user`` nor ``assistant``, or the user does not begin.
    """
    merged = _merged(_checked(dialog))
    texts = [content for _, content in merged] + [""] * (len(merged) % 2)
    return [{"user": texts[i], "system": texts[i + 1]} for i in range(0, len(texts), 2)]


def _merged(dialog: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    merged: list[tuple[str, str]] = []
    for turn in dialog:
        role, content = turn["role"], turn["content"]
        if merged and merged[-1][0] == role:
            merged[-1] = (role, f"{merged[-1][1]} {content}")
        else:
            merged.append((role, content))
    return merged


def _checked(dialog: Any) -> list[Mapping[str, str]]:
    if not isinstance(dialog, list) or not dialog:
        raise DataError("a dialog is a list of turns", why=f"it is {dialog!r}")
    for position, turn in enumerate(dialog):
        place = f"[{position}]"
        if not isinstance(turn, Mapping) or not all(isinstance(turn.get(key), str) for key in ("role", "content")):
            raise DataError(
                "a turn of a dialog needs 'role' and 'content', both text", path=place, why=f"it is {turn!r}"
            )
        if turn["role"].lower() not in ("user", "assistant"):
            raise DataError(f"'{turn['role']}' is not a role", path=place, hint="use 'user' or 'assistant'")
    if dialog[0]["role"].lower() != "user":
        raise DataError("the user does not begin the dialog", path="[0]", why=f"its role is '{dialog[0]['role']}'")
    return dialog


class IobExtractor(InstanceOperator):
    """Finds the spans of entities in text, of one IOB tag for each token.

    Reads ``labels``, ``tokens`` and ``text``; writes ``spans``: ``{"start", "label", "end", "text"}``, in characters.

    Attributes:
        labels: Names of the entities.
        begin_labels: The tags that begin each of them.
        inside_labels: The tags that continue each of them.
        outside_label: The tag of tokens outside of entities.
    """

    labels: list[str]
    begin_labels: list[Any]
    inside_labels: list[Any]
    outside_label: Any

    @override
    def compile(self, stream_name: str | None) -> Step:
        names = {tag: self.labels[i] for i, tag in reversed(list(enumerate(self.begin_labels)))}
        inside = set(self.inside_labels)

        def step(row: Row) -> Row:
            text, position = row["text"], 0
            spans: list[dict[str, Any]] = []
            for tag, token in zip(row["labels"], row["tokens"], strict=False):
                start = text.find(token, position)
                if start == -1:
                    raise DataError(
                        f"the token {token!r} is not in the text", why=f"after character {position} of {text!r}"
                    )
                position = start + len(token)
                if tag in names:
                    spans.append({"start": start, "label": names[tag], "end": position})
                elif tag in inside and spans:
                    spans[-1]["end"] = position
            row["spans"] = [{**span, "text": text[span["start"] : span["end"]]} for span in spans]
            return row

        return step
