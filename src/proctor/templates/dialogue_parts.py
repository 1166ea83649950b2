"""Parts of a dialogue template: opening, earlier turns, question, start of the answer, answer."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.templates.prompt_list import Item, fill

CHAT_ROLES: Mapping[str, str] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
"""What the customary roles of dialogues are called in chats."""

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class DialogueParts:
    """The parts of a dialogue template, not filled.

    Attributes:
        opening: What is said once, before everything else.
        turns: The items before the answer.
        answer: What the model is to say, with the words that it starts with.
    """

    opening: str
    turns: tuple[Item, ...]
    answer: str

    @classmethod
    def of(cls, part: Any, ice_token: str | None) -> DialogueParts:
        """Return the parts of a text or a dialogue; of a text, everything is the answer until fields are known."""
        if isinstance(part, str):
            opening, token, text = part.partition(ice_token) if ice_token else ("", "", part)
            return cls(opening, (), text if token or not ice_token else part)
        begin = part.get("begin", [])
        texts = [_words(item) for item in (begin if isinstance(begin, list) else [begin])]
        opening = "\n".join(text for text in texts if text and text != ice_token)
        rounds = [item for item in part["round"] if item != ice_token]
        ends_in_answer = bool(rounds) and isinstance(rounds[-1], dict) and rounds[-1].get("role") == "BOT"
        answer = _words(rounds.pop()) if ends_in_answer else ""
        return cls(opening, tuple(rounds), answer)

    def asked_names(self) -> set[str]:
        """Return the names that stand in what is said before the answer."""
        return {match[1] for text in (self.opening, *map(_words, self.turns)) for match in _SLOT.finditer(text)}

    def split_answer(self, known: Container[str]) -> tuple[str, str]:
        """Return what stands before the first name that is not known, and the rest."""
        for match in _SLOT.finditer(self.answer):
            if match[1] not in known:
                return self.answer[: match.start()], self.answer[match.start() :]
        return self.answer, ""

    def answer_from(self, references: Mapping[str, Any]) -> str:
        """Return the answer in words, from the first name of a reference field on."""
        for match in _SLOT.finditer(self.answer):
            if match[1] in references:
                return fill(self.answer[match.start() :], dict(references))
        return str(next(iter(references.values()), ""))

    def messages(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the turns as chat messages."""
        values = dict(fields)
        return [
            {"role": "user", "content": fill(item, values)}
            if isinstance(item, str)
            else {"role": CHAT_ROLES.get(item["role"], item["role"]), "content": fill(_words(item), values)}
            for item in self.turns
        ]


def _words(item: Item) -> str:
    return item if isinstance(item, str) else str(item.get("prompt", ""))
