"""``lm_eval.api.utils``: messages of a prompt, and how they become one text or few messages. lm-eval 0.4.13."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Message:
    """A message of a prompt.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
        content: Its words.
        _delimiter: What stands behind it where the messages become one text.
    """

    role: str
    content: str
    _delimiter: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return it as chats have it."""
        return {"role": self.role, "content": self.content}

    def to_text(self) -> str:
        """Return its words, and what stands behind them."""
        return self.content + self._delimiter


def maybe_delimit(prefix: str | None, suffix: str | None, delimiter: str = " ") -> str:
    """Return two texts as one, a delimiter between them where neither has white space there."""
    if not prefix or not suffix:
        return prefix or suffix or ""
    return prefix + (delimiter if requires_delimiter(prefix, suffix) else "") + suffix


def requires_delimiter(prefix: str, suffix: str) -> bool:
    """Return whether neither of two texts has white space where they meet; an empty one before needs nothing."""
    return prefix != "" and not (prefix[-1].isspace() or suffix[0].isspace())


def messages_to_text(messages: Sequence[Message]) -> str:
    """Return messages as one text."""
    return "".join(each.to_text() for each in messages)
