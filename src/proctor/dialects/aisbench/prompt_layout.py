"""Prompts of templates laid out for a model: as one text or as messages, with who says which part of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.formats.dialogue_layout import DialogueLayout, Mode, Piece, Said, content_of, joined, merged
from proctor.formats.meta_template import CHAT, MetaTemplate, chat_role, spans_of, turns_of
from proctor.ir import Turn
from proctor.templates.prompt_list import PromptList


class PromptLayout:
    """The layout of prompts: text or messages, roles, limits.

    Args:
        meta_template: How the model wants dialogues written; ``None`` for a model that says nothing about it.
        as_messages: Whether prompts are chat messages rather than one text.

    Attributes:
        roles: The layout of dialogues; ``None`` where their turns are joined as they stand.
    """

    def __init__(self, meta_template: MetaTemplate | None, *, as_messages: bool) -> None:
        self.as_messages = as_messages
        self.roles = meta_template.compiled() if meta_template is not None else (CHAT if as_messages else None)

    @property
    def of_messages(self) -> DialogueLayout:
        """The layout of chat messages: the model's, where it takes them."""
        return self.roles if self.as_messages and self.roles is not None else CHAT

    def payload(self, prompt: object, mode: Mode) -> Any:
        """Return what a model is given: a text, or chat messages.

        Raises:
            TemplateError: A role of the prompt is not in the meta template.
        """
        if isinstance(prompt, str):
            return [{"role": "user", "content": prompt}] if self.as_messages else prompt
        if not isinstance(prompt, PromptList):
            return prompt
        if self.as_messages:
            return [{"role": chat_role(str(each.role)), "content": each.content} for each in self._said(prompt, mode)]
        content = content_of([piece for piece, _ in self._pieces(prompt, mode)])
        return content if isinstance(content, str) else [{"role": "user", "content": content}]

    def turns(self, prompt: PromptList, mode: Mode, origins: Sequence[str]) -> tuple[Turn, ...]:
        """Return the same in turns of labelled spans.

        Args:
            mode: Whether an answer is to be written, or a label's likelihood is asked for.
            origins: Who says each item of the prompt.
        """
        if self.as_messages:
            return turns_of(self._said(prompt, mode), origins)
        pieces = self._pieces(prompt, mode)
        if all(isinstance(piece, str) for piece, _ in pieces):
            return (Turn("user", tuple(spans_of(pieces, origins))),)
        return turns_of([Said("user", pieces)], origins)

    def _said(self, prompt: PromptList, mode: Mode) -> list[Said]:
        return merged(self.of_messages.messages(prompt, mode))

    def _pieces(self, prompt: PromptList, mode: Mode) -> list[Piece]:
        return joined(prompt) if self.roles is None else self.roles.text(prompt, mode)
