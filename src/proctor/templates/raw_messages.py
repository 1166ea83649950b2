"""Templates that are chat messages already."""
# ruff: noqa: ARG002 - templates are called with all there is

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from proctor.errors import Diagnostic, TemplateError
from proctor.templates.prompt_list import fill
from proctor.templates.template import Fields, Template

Messages = list[dict[str, Any]]
ROLES = ("system", "user", "assistant")


class RawPromptTemplate(Template):
    """Chat messages as they are sent; their words are filled with the row.

    Attributes:
        messages: Messages (``role``, ``content``); ``{"expand_column": name}`` for messages that a column holds; the
            ice token as a text for the place of the examples.
        format_variables: Whether words are filled.
        ice_token: The text that examples replace.
    """

    messages: list[str | dict[str, Any]]
    format_variables: bool = True
    ice_token: str = "</E>"  # noqa: S105 - a mark in templates

    @property
    def prompt_type(self) -> str:
        """``raw_messages``."""
        return "raw_messages"

    @property
    def sep_token(self) -> None:
        """Messages have no separator."""
        return

    def verify(self) -> None:
        """Check the messages.

        Raises:
            TemplateError: A message lacks ``role`` or ``content``, or has a role that chats do not know.
        """
        super().verify()
        problems = [
            Diagnostic(why, path=f"$.messages[{number}]", why=f"it is {message!r}"[:200])
            for number, message in enumerate(self.messages)
            if (why := _wrong(message))
        ]
        if problems:
            raise TemplateError(problems)

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: str | None = None,
        output_field_replace_token: str = "",
        ice_field_replace_token: object = "",
    ) -> Messages:
        """Return the messages that ask about a row; the answer is not masked."""
        examples = ice_field_replace_token if isinstance(ice_field_replace_token, list) else []
        made: Messages = []
        for message in self.messages:
            if isinstance(message, str):
                made += examples if message == self.ice_token else []
            else:
                made += self._said(message, entry)
        return made

    def generate_ice_item(self, entry: Mapping[str, Any], label: Hashable = None) -> Messages:
        """Return a row as an example."""
        return [said for message in self.messages if isinstance(message, dict) for said in self._said(message, entry)]

    def generate_label_prompt_item(
        self, entry: Mapping[str, Any], ice: object = "", label: Hashable = None, remain_sep: bool | None = False
    ) -> Messages:
        """Return the messages without examples; labels play no part."""
        return self.generate_item(entry)

    def _said(self, message: Mapping[str, Any], entry: Mapping[str, Any]) -> Messages:
        if "expand_column" in message:
            column = entry.get(message["expand_column"])
            return [dict(each) for each in column] if isinstance(column, list) else []
        made = dict(message)
        if self.format_variables and isinstance(made["content"], str):
            made["content"] = fill(made["content"], dict(entry))
        return [made]

    # -- in recipes of our own --------------------------------------------------------------------------------

    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Return the words of all messages before the answer."""
        return "\n".join(str(message["content"]) for message in self._question(input_fields))

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> tuple[str, list[str]]:
        """Return the first reference field."""
        target = str(next(iter(reference_fields.values()), ""))
        return target, [target]

    def post_process_instance(self, instance: Fields) -> Fields:
        """Add the messages as turns."""
        instance = super().post_process_instance(instance)
        instance["__turns__"] = self._question(instance["input_fields"])
        return instance

    def _question(self, fields: Mapping[str, Any]) -> Messages:
        made = self.generate_item(fields)
        while made and made[-1]["role"] == "assistant":
            made.pop()
        return made


def _wrong(message: Any) -> str:
    if isinstance(message, str) or "expand_column" in message:
        return ""
    for key in ("role", "content"):
        if key not in message:
            return f"a message needs '{key}'"
    return "" if message["role"] in ROLES else f"the role of a message is one of {', '.join(ROLES)}"
