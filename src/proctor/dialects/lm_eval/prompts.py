"""Prompt assembly: system text, demos, question and answer prefix, as one text or as chat messages.

What stands between the parts follows lm-eval to the byte; ``docs/reference/differences.md`` lists what does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.errors import TemplateError
from proctor.ir import Media, Message, Prompt, Span, Turn

RenderChat = Callable[[list[Message], bool], str]
"""A chat template: messages, and whether to add the start of an answer, to text."""


class Piece(NamedTuple):
    """The text of one role, with what follows it where roles have no place."""

    role: str
    text: str
    delimiter: str = ""
    origin: str = "question"


Pieces = tuple[Piece, ...]


class ChatOptions(NamedTuple):
    """Options of the chat layout.

    Attributes:
        render: The chat template; ``None`` leaves messages to the engine.
        multiturn: Whether each demo is turns of its own.
    """

    render: RenderChat | None = None
    multiturn: bool = True


def joined(before: str | None, after: str | None, delimiter: str = " ") -> str:
    """Return two texts joined: with a delimiter where neither has white space at the joint."""
    if not before or not after:
        return before or after or ""
    return before + after if before[-1].isspace() or after[0].isspace() else before + delimiter + after


def turn_pieces(
    question: Any,
    answer: Any,
    choices: Sequence[str] | None,
    gen_prefix: str | None,
    delimiters: tuple[str, str],
    number: int | None = None,
) -> Pieces:
    """Return the pieces of one question, and of its answer where there is one.

    Args:
        question: The question's text.
        answer: The answer's text, its position in ``choices``, or a list of which the first is shown; ``None`` or
            empty for the question that is asked.
        choices: Texts that a position refers to.
        gen_prefix: How the answer starts.
        delimiters: Between question and answer, and after the answer.
        number: Which demo this is; ``None`` for the question that is asked.

    Raises:
        TemplateError: Question or answer is not text.
    """
    between, after = delimiters
    where = "" if number is None else f"demo[{number}]."
    if not isinstance(question, str):
        raise TemplateError(
            f"doc_to_text gives {type(question).__name__} {question!r}, not text",
            hint="a position is for tasks with several inputs, whose doc_to_choice gives the inputs",
        )
    answered = answer is not None and answer != ""
    if gen_prefix:
        touching = question == "" or question[-1].isspace() or gen_prefix[0].isspace()
        separator = "" if touching else between
    else:
        separator = between if answered else ""
    asked = Piece("user", question, separator, f"{where}question")
    if answered:
        text = _answer_text(answer, choices)
        return (asked, Piece("assistant", joined(gen_prefix, text), after, f"{where}answer"))
    if gen_prefix:
        return (asked, Piece("assistant", gen_prefix, "", "answer_prefix"))
    return (asked,)


def _answer_text(answer: Any, choices: Sequence[str] | None) -> str:
    if choices and isinstance(answer, int) and not -len(choices) <= answer < len(choices):
        raise TemplateError(
            f"the answer of a demo is choice {answer}, counted from 0, and there are {len(choices)}",
            hint="leave such documents out of the pool (process_docs, fewshot_indices)",
        )
    shown = (
        choices[answer] if choices and isinstance(answer, int) else answer[0] if isinstance(answer, list) else answer
    )
    if not isinstance(shown, str):
        raise TemplateError(
            f"the answer of a demo is {type(shown).__name__} {shown!r}, not text",
            why=f"doc_to_target gives {answer!r}",
            hint="a position needs doc_to_choice; other values are made text in the template",
        )
    return shown


def continuation_delimiter(config: TaskConfig, *, is_chat: bool) -> str:
    """Return what separates a choice from its context; in a chat nothing, unless an answer prefix needs it."""
    delimiter = config.target_delimiter
    if not is_chat:
        return delimiter
    prefix = config.gen_prefix
    return delimiter if isinstance(prefix, str) and prefix and not prefix[-1].isspace() else ""


class Demo(NamedTuple):
    """A demo in words: its pieces, and the same as plain text."""

    pieces: Pieces
    text: str


def make_demo(pieces: Pieces) -> Demo:
    """Return a demo of pieces."""
    return Demo(pieces, "".join([piece.text + piece.delimiter for piece in pieces]))


class PromptMaker:
    """Lays out prompts.

    Args:
        chat: How to lay out chats; ``None`` for one plain text.
    """

    def __init__(self, chat: ChatOptions | None = None) -> None:
        self.chat = chat

    def make(self, system: str, demos: Sequence[Demo], pieces: Pieces, media: Sequence[Media] = ()) -> Prompt:
        """Return the prompt of a question."""
        if media:
            return with_media(single_message(system, demos, pieces), media)
        if self.chat is not None:
            return self._chat(self.chat, system, demos, pieces)
        last = "".join([piece.text + piece.delimiter for piece in pieces]) if len(pieces) > 1 else pieces[0].text
        text = f"{system}{''.join([demo.text for demo in demos])}{last}" if system or demos else last
        return Prompt(text, lambda: (Turn("user", _spans(system, demos, pieces)),))

    def _chat(self, chat: ChatOptions, system: str, demos: Sequence[Demo], pieces: Pieces) -> Prompt:
        multiturn = chat.multiturn
        messages = multiturn_messages(system, demos, pieces) if multiturn else single_message(system, demos, pieces)
        if chat.render is None:
            return Prompt(messages, lambda: _turns(system, demos, pieces, multiturn=multiturn))
        text = chat.render(messages, pieces[-1].role != "assistant")
        return Prompt(text, lambda: _located(text, _turns(system, demos, pieces, multiturn=multiturn)))


def multiturn_messages(system: str, demos: Sequence[Demo], pieces: Pieces) -> list[Message]:
    """Return one message for each piece; what would stand between them falls away."""
    messages = [{"role": "system", "content": system}] if system else []
    for demo in demos:
        messages += [{"role": piece.role, "content": piece.text} for piece in demo.pieces]
    messages += [{"role": piece.role, "content": piece.text} for piece in pieces]
    return messages


def single_message(system: str, demos: Sequence[Demo], pieces: Pieces) -> list[Message]:
    """Return everything but system text and answer prefix as one user message."""
    messages = [{"role": "system", "content": system}] if system else []
    text = "".join([demo.text for demo in demos]) + pieces[0].text
    messages.append({"role": "user", "content": text})
    messages += [{"role": piece.role, "content": piece.text} for piece in pieces[1:]]
    return messages


# -- explanations -----------------------------------------------------------------------------------------------------


def _spans(system: str, demos: Sequence[Demo], pieces: Pieces) -> tuple[Span, ...]:
    found = [Span(system, "system")] if system else []
    numbered = [_numbered(piece, number) for number, demo in enumerate(demos) for piece in demo.pieces]
    for piece in (*numbered, *pieces):
        found.append(Span(piece.text, piece.origin))
        if piece.delimiter and (len(pieces) > 1 or piece is not pieces[-1]):
            found.append(Span(piece.delimiter, "layout"))
    return tuple(span for span in found if span.text)


def _numbered(piece: Piece, number: int) -> Piece:
    return piece._replace(origin=f"demo[{number}].{piece.origin.rpartition('.')[2]}")


def _turns(system: str, demos: Sequence[Demo], pieces: Pieces, *, multiturn: bool) -> tuple[Turn, ...]:
    turns = [Turn("system", (Span(system, "system"),))] if system else []
    if multiturn:
        numbered = [_numbered(piece, number) for number, demo in enumerate(demos) for piece in demo.pieces]
        return (*turns, *(Turn(each.role, (Span(each.text, each.origin),)) for each in (*numbered, *pieces)))
    asked = pieces[0]._replace(delimiter="")
    turns.append(Turn("user", _spans("", demos, (asked,))))
    return (*turns, *(Turn(each.role, (Span(each.text, each.origin),)) for each in pieces[1:]))


def _located(text: str, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Find spans in the text that a chat template made of them; the rest is layout."""
    spans: list[Span] = []
    position = 0
    for turn in turns:
        for span in turn.parts:
            needle = span.text if isinstance(span, Span) else ""
            start = text.find(needle, position) if needle else -1
            if start >= 0 and isinstance(span, Span):
                spans += [Span(text[position:start], "layout"), span]
                position = start + len(needle)
    spans.append(Span(text[position:], "layout"))
    return (Turn("user", tuple(span for span in spans if span.text)),)


def with_media(messages: list[Message], media: Sequence[Media]) -> Prompt:
    """Return chat messages whose last user message holds the media, where ``<image>`` stands or before the text.

    Demos bring no media of their own, as in lm-eval: their places stay, and the last ones are the question's.
    """
    asked = next(message for message in reversed(messages) if message["role"] == "user")
    marker = f"<{media[0].kind}>"
    parts: list[dict[str, Any]] = []
    waiting = list(media)
    texts = str(asked["content"]).split(marker)
    of_demos = max(len(texts) - 1 - len(media), 0)
    texts = [marker.join(texts[: of_demos + 1]), *texts[of_demos + 1 :]]
    if len(texts) == 1:
        parts, waiting = [_media_part(each) for each in waiting], []
    for number, text in enumerate(texts):
        if text:
            parts.append({"type": "text", "text": text})
        if waiting and number < len(texts) - 1:
            parts.append(_media_part(waiting.pop(0)))
    parts += [_media_part(each) for each in waiting]
    asked["content"] = parts
    return Prompt(messages)


def _media_part(media: Media) -> dict[str, Any]:
    key = f"{media.kind}_url"
    return {"type": key, key: {"url": media.source}}
