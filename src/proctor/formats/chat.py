"""Prompts that are chat messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec.structs import replace

from proctor.artifacts import NON_POSITIONAL
from proctor.data.fields import get_field
from proctor.data.images import image_to_data_url
from proctor.errors import TemplateError
from proctor.formats.format import Demo, Format, LayOut, Parts
from proctor.ir import Media, Message, Part, Prompt, Span, Turn, message_text

_IMAGE = re.compile(r'<unitxt-img\s+[^>]*src=["\']([^"\']+)["\'][^>]*>', re.IGNORECASE)


class ChatAPIFormat(Format):
    """Lays a prompt out as messages, as chat APIs take them.

    The system prompt and the instruction make the system message; each demo a user and an assistant message; the
    question the last user message. Image tags become image parts.

    Attributes:
        place_instruction_in_user_turns: Put the instruction before every question instead of into the system message
            (some chat templates drop their default system prompt when there is a system message).
        demos_as_turns: Show each demo as turns of its own; otherwise all stand above the question, in its message.
    """

    place_instruction_in_user_turns: bool = False
    demos_as_turns: Annotated[bool, NON_POSITIONAL] = True

    def layout(self) -> LayOut:
        """Return the function that lays out prompts."""
        in_user_turns, arranged = self.place_instruction_in_user_turns, arrange(self.demos_as_turns)
        return lambda parts: Prompt(
            to_messages(arranged(parts), in_user_turns=in_user_turns),
            lambda: explain_messages(arranged(parts), in_user_turns=in_user_turns),
        )


def arrange(demos_as_turns: bool) -> Callable[[Parts], Parts]:
    """Return the function that puts demos where they are shown: in turns of their own, or above the question."""
    return _as_they_are if demos_as_turns else _above_the_question


def _as_they_are(parts: Parts) -> Parts:
    return parts


def _above_the_question(parts: Parts) -> Parts:
    """Return parts whose demos are part of the question's words."""
    if not parts.demos:
        return parts
    if parts.turns is not None or any(demo.turns is not None for demo in parts.demos):
        raise TemplateError(
            "dialogues cannot stand in one message with the question", hint="leave demos_as_turns as it is"
        )
    spans: list[Span] = []
    for index, demo in enumerate(parts.demos):
        spans.append(Span(f"{demo.source}\n", f"demo[{index}].question"))
        spans.append(Span(f"{parts.target_prefix}{demo.target}\n\n", f"demo[{index}].answer"))
    source = "".join(span.text for span in spans) + parts.source
    return replace(parts, source=source, demos=(), source_spans=lambda: (*spans, *parts.labelled_source()))


def to_messages(parts: Parts, *, in_user_turns: bool) -> list[Message]:
    """Return the chat messages of a prompt."""
    messages: list[Message] = []
    if parts.system_prompt or (parts.instruction and not in_user_turns):
        opening = parts.system_prompt + ("\n" if parts.system_prompt else "")
        opening += "" if in_user_turns else parts.instruction
        messages.append({"role": "system", "content": to_content(opening, parts.media)})
    lead = f"{parts.instruction}\n" if parts.instruction and in_user_turns else ""
    for demo in parts.demos:
        messages += _asked(lead, demo.source, demo.turns, parts.media)
        messages.append({"role": "assistant", "content": to_content(parts.target_prefix + demo.target, parts.media)})
    messages += _asked(lead, parts.source, parts.turns, parts.media)
    return messages


def _asked(
    lead: str, source: str, turns: Sequence[Mapping[str, Any]] | None, media: Mapping[str, Any]
) -> list[Message]:
    if turns is not None:
        return [dict(turn) for turn in turns]
    return [{"role": "user", "content": to_content(lead + source, media)}]


def to_content(text: str, media: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    """Return text as message content: a string, or typed parts where it holds image tags."""
    if "<" not in text or not _IMAGE.search(text):
        return text
    content: list[dict[str, Any]] = []
    position = 0
    for match in _IMAGE.finditer(text):
        if match.start() > position:
            content.append({"type": "text", "text": text[position : match.start()]})
        source = match.group(1)
        url = (
            image_to_data_url(get_field(media, source.removeprefix("media/")))
            if source.startswith("media/")
            else source
        )
        content.append({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
        position = match.end()
    if position < len(text):
        content.append({"type": "text", "text": text[position:]})
    return content


def explain_messages(parts: Parts, *, in_user_turns: bool) -> tuple[Turn, ...]:
    """Return the messages of a prompt as labelled turns."""
    turns: list[Turn] = []
    if parts.system_prompt or (parts.instruction and not in_user_turns):
        opening = parts.system_prompt + ("\n" if parts.system_prompt else "")
        spans = [Span(opening, "system"), Span("" if in_user_turns else parts.instruction, "instruction")]
        turns.append(Turn("system", tuple(span for span in spans if span.text)))
    lead = Span(f"{parts.instruction}\n" if parts.instruction and in_user_turns else "", "instruction")
    for index, demo in enumerate(parts.demos):
        turns += _asked_turns(lead, (Span(demo.source, f"demo[{index}].question"),), demo)
        answer = Span(parts.target_prefix + demo.target, f"demo[{index}].answer")
        turns.append(Turn("assistant", (answer,)))
    turns += _asked_turns(lead, parts.labelled_source(), parts)
    return tuple(turns)


def _asked_turns(lead: Span, spans: tuple[Span, ...], asked: Demo | Parts) -> list[Turn]:
    if asked.turns is not None:
        origin = spans[0].origin if spans else "question"
        return [Turn(str(turn["role"]), (Span(message_text(dict(turn)), origin),)) for turn in asked.turns]
    return [
        Turn("user", tuple(part for part in _with_media((lead, *spans)) if not isinstance(part, Span) or part.text))
    ]


def _with_media(spans: tuple[Span, ...]) -> list[Part]:
    found: list[Part] = []
    for span in spans:
        position = 0
        for match in _IMAGE.finditer(span.text):
            found.append(Span(span.text[position : match.start()], span.origin))
            found.append(Media("image", match.group(1), span.origin))
            position = match.end()
        found.append(Span(span.text[position:], span.origin))
    return found
