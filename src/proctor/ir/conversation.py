"""Conversations whose later words repeat earlier answers, and questions that are asked aside.

The turns of a :class:`~proctor.ir.requests.Converse` are messages, with ``None`` where the model speaks. Two things go
beyond a plain conversation (a model that criticises its own answer needs both):

* a content may hold parts ``{"type": "answer", "answer": 0}``: the text of the first answer stands there;
* a turn of the role ``aside`` asks with other words before it: those in its ``messages``, and nothing else. Its answer
  counts among the answers, and is not part of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from proctor.ir.prompt import Message

ASIDE = "aside"
"""The role of a turn that is asked in a context of its own."""


def answer_part(number: int) -> dict[str, Any]:
    """Return the part of a content that stands for an earlier answer, counted from 0; ``text`` is for whoever looks."""
    return {"type": "answer", "answer": number, "text": f"⟨answer {number + 1}⟩"}


def aside(messages: Sequence[Message]) -> Message:
    """Return a turn that asks with these messages before it; ``content`` holds their words, for whoever looks."""
    parts: list[Any] = []
    for each in messages:
        content = each["content"]
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": ASIDE, "content": parts, "messages": list(messages)}


def is_asked(turn: Message | None) -> bool:
    """Whether the model answers at a turn."""
    return turn is None or turn.get("role") == ASIDE


def count_asked(turns: Iterable[Message | None]) -> int:
    """Return how many answers a conversation has when it is over."""
    return sum(map(is_asked, turns))


def as_turns(texts: Iterable[str]) -> list[Message]:
    """Return answers as turns of a conversation."""
    return [{"role": "assistant", "content": text} for text in texts]


def next_messages(turns: Sequence[Message | None], answers: Sequence[Message]) -> list[Message] | None:
    """Return the messages before the model's next answer; ``None`` where nothing is left to answer.

    Args:
        turns: The conversation.
        answers: What was answered so far, in order, as turns of the conversation.
    """
    said: list[Message] = []
    heard = 0
    for turn in turns:
        if is_asked(turn) and heard == len(answers):
            return said if turn is None else [_with_answers(each, answers) for each in turn["messages"]]
        if turn is None:
            said.append(answers[heard])
        elif not is_asked(turn):
            said.append(_with_answers(turn, answers))
        heard += is_asked(turn)
    return None


def _with_answers(turn: Message, answers: Sequence[Message]) -> Message:
    """Return a message with earlier answers in their places; one that holds none is returned as it is."""
    content = turn.get("content")
    if not isinstance(content, list | tuple) or not any(_is_answer(part) for part in content):
        return turn
    parts = [
        {"type": "text", "text": answers[part["answer"]]["content"]} if _is_answer(part) else part for part in content
    ]
    if all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
        return {**turn, "content": "".join(part["text"] for part in parts)}
    return {**turn, "content": parts}


def _is_answer(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "answer"
