"""Prompts for pages: messages made of parts, each with its origin."""

from __future__ import annotations

from typing import Any

from proctor.ir import Media, Part, Prompt, Request, Span
from proctor.prompts.origins import label_of, part_of
from proctor.prompts.preview import continuations_of, decoding_of, kind_of, prompts_of
from proctor.recipes.exam import Question
from proctor.web.sample_view import LONGEST_PROMPT, Room, is_picture


def explained_messages(request: Request) -> list[dict[str, Any]]:
    """Return the messages of a request: ``role`` (empty for plain text), ``parts``, ``media``, ``left_out``.

    Prompts of more than 200,000 characters are cut; ``left_out`` counts what is not shown.
    """
    prompts = prompts_of(request)
    found = []
    for number, prompt in enumerate(prompts):
        found.extend(_messages(prompt, f"choice {number + 1}" if len(prompts) > 1 else ""))
    room = Room(LONGEST_PROMPT)
    for message in found:
        before = room.left_out
        message["parts"] = [{**part, "text": room.cut(part["text"])} for part in message["parts"]]
        message["left_out"] = room.left_out - before
    return found


def _messages(prompt: Prompt, title: str) -> list[dict[str, Any]]:
    if prompt.is_chat:
        return [_message(turn.role, turn.parts) for turn in prompt.turns]
    return [_message(title, tuple(part for turn in prompt.turns for part in turn.parts))]


def _message(role: str, parts: tuple[Part, ...]) -> dict[str, Any]:
    return {
        "role": role,
        "parts": [part_view(part) for part in parts],
        "media": [part.source for part in parts if isinstance(part, Media) and _may_be_shown(part)],
    }


def part_view(part: Part) -> dict[str, str]:
    """Return the text, style class and label of a part."""
    text = part.text if isinstance(part, Span) else f"[{part.kind}]"
    css = "part-" + part_of(part.origin).replace(" ", "-")
    return {"text": text, "css": css, "label": label_of(part.origin), "origin": part.origin}


def _may_be_shown(part: Media) -> bool:
    return part.kind == "image" and is_picture(part.source)


def request_view(question: Question, request: Request) -> dict[str, Any]:
    """Return everything that a page shows of a request."""
    prompts = prompts_of(request)
    decoding = decoding_of(request)
    room = Room(LONGEST_PROMPT)
    return {
        "kind": kind_of(request),
        "messages": explained_messages(request),
        "text": "\n".join(prompt.text for prompt in prompts),
        "characters": sum(len(prompt.text) for prompt in prompts),
        "continuations": tuple(map(room.cut, continuations_of(request))),
        "gold": question.exchange.gold,
        "target": room.cut(question.exchange.answer),
        "references": room.cut(list(question.exchange.references)),
        "stop": list(decoding.stop),
        "max_tokens": decoding.max_tokens,
    }
