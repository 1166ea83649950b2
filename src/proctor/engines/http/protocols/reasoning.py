"""Finds a model's reasoning in the places where servers put it beside the answer.

``reasoning_content`` (DeepSeek, vLLM before 0.12, SGLang, llama.cpp, LiteLLM), ``reasoning`` (OpenRouter, Groq,
Together, vLLM), ``reasoning_details`` (OpenRouter), ``thinking`` (Ollama), ``thinking_blocks`` (LiteLLM), parts of a
content list (Mistral, Anthropic, Gemini), as of November 2026. Some servers fill several of them with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from msgspec import Struct

_WORDS = ("text", "thinking", "summary", "reasoning_content", "reasoning", "content")
"""Fields of a part that hold words, the first that does counts."""
_THOUGHT_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought"})
PLACES = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks")
"""Fields of a message beside its content, best first."""
_THOUGHTS, _NO_THOUGHTS = attrgetter(*PLACES), (None,) * len(PLACES)


class Thinks(Struct):
    """The part of a message, or of a piece of one, that holds thoughts."""

    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    thinking: Any = None
    thinking_blocks: Any = None


def words_of(value: object) -> str:
    """Return the words in a string, a part, or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(words_of, value))
    if isinstance(value, Mapping):
        return next((words for name in _WORDS if (words := words_of(value.get(name)))), "")
    return ""


def thoughts_beside(message: Thinks) -> dict[str, str]:
    """Return the thoughts beside the content of a message, by the field that they are in."""
    if _THOUGHTS(message) == _NO_THOUGHTS:
        return {}
    return {name: words for name in PLACES if (words := words_of(getattr(message, name)))}


def first_of(found: Mapping[str, str]) -> str:
    """Return the thoughts in the best of several fields; the others say the same."""
    return next((found[name] for name in PLACES if name in found), "") if found else ""


def content_parts(content: Any) -> tuple[str, str]:
    """Return the answer and the thoughts in a message's content: a string, nothing, or a list of parts."""
    if not isinstance(content, list):
        return content or "", ""
    answer, thoughts = [], []
    for part in content:
        is_thought = isinstance(part, Mapping) and (part.get("type") in _THOUGHT_TYPES or part.get("thought") is True)
        if is_thought:
            thoughts.append(words_of({**part, "text": part.get("text") or part.get("thinking")}))
        else:
            answer.append(part if isinstance(part, str) else str(part.get("text") or ""))
    return "".join(answer), "".join(thoughts)


def count_in(details: object, *names: str) -> int:
    """Return a count of tokens that a server gives under one of several names; 0 where it does not say."""
    if not details:
        return 0
    found = [details.get(name) for name in names] if isinstance(details, Mapping) else []
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), 0)


_LONGEST_NAME = 200  # characters: longer ones are not names of models


def model_of(name: object) -> str:
    """Return who answered, as a reply says it; empty where it says nothing that can be a name."""
    return name if isinstance(name, str) and len(name) <= _LONGEST_NAME else ""
