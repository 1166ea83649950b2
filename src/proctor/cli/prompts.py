"""Requests on a terminal: every part of a prompt in the colour of its origin, or beside a margin that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TextIO

from proctor.cli.error_reporting import wants_colour
from proctor.ir import Media, Part, Prompt, Request, Span
from proctor.prompts.origins import COLOURS, label_of, part_of, parts_in
from proctor.prompts.preview import continuations_of, decoding_of, kind_of, prompts_of
from proctor.recipes.exam import Question
from proctor.terminal_text import printable

LONGEST_SOURCE = 60
"""Characters shown of the address of a picture; data URLs are far longer."""


def origins_of(request: Request) -> Iterator[str]:
    """Yield the origin of every part of a request."""
    for prompt in prompts_of(request):
        for turn in prompt.turns:
            for part in turn.parts:
                yield part.origin


class RequestPrinter:
    """Writes requests on a stream.

    Args:
        stream: Where to write. Where it shows no colours, a margin names the parts.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.coloured = wants_colour(stream)

    def legend(self, requests: Iterable[Request]) -> None:
        """Write the parts that occur, each in its colour, where there are colours."""
        if self.coloured:
            parts = parts_in(origin for request in requests for origin in origins_of(request))
            self._write(("parts: ", "bold"), *((f"■ {part}  ", COLOURS[part]) for part in parts))

    def print(self, task: str, question: Question, request: Request) -> None:
        """Write one request: its prompt, what is scored or how it is decoded, and the references."""
        self._write((f"{task} · instance {question.number} · {kind_of(request)}", "bold reverse"))
        prompts, continuations = prompts_of(request), continuations_of(request)
        if len(prompts) > 1:
            for index, (prompt, continuation) in enumerate(zip(prompts, continuations, strict=True)):
                self._write((f"choice {index + 1}", "bold"))
                self._prompt(prompt)
                self._continuations([continuation], 0 if question.exchange.gold == index else None, index)
        else:
            for prompt in prompts:
                self._prompt(prompt)
            self._continuations(continuations, question.exchange.gold)
        self._facts(question, request)
        self._write()

    def _prompt(self, prompt: Prompt) -> None:
        for turn in prompt.turns:
            if prompt.is_chat:
                self._write((f"▌{turn.role}", "bold"))
            if self.coloured:
                self._write(*((words_of(part), COLOURS[part_of(part.origin)]) for part in turn.parts))
            else:
                self._write(("\n".join(margin_lines(turn.parts)), ""))

    def _continuations(self, continuations: Sequence[str], gold: int | None, first: int = 0) -> None:
        if not continuations:
            return
        self._write(("continuations" if first == 0 else "continuation", "bold"))
        for index, continuation in enumerate(continuations):
            is_gold = index == gold
            self._write(
                (f"{'▶' if is_gold else ' '} {first + index + 1:>2}  ", "bold" if is_gold else ""),
                (_quoted(continuation), COLOURS["choice"]),
                ("  ← gold" if is_gold else "", "bold"),
            )

    def _facts(self, question: Question, request: Request) -> None:
        decoding = decoding_of(request)
        facts = {
            "references": ", ".join(map(_quoted, question.exchange.references)),
            "stop": ", ".join(map(_quoted, decoding.stop)),
            "tools": ", ".join(_names(decoding.extra.get("tools"))),
            "max tokens": str(decoding.max_tokens or ""),
            "temperature": str(decoding.temperature or ""),
            "instance": question.digest,
        }
        for name, value in facts.items():
            if value:
                self._write((f"{name}: ", "bold"), (value, ""))

    def _write(self, *parts: tuple[str, str]) -> None:
        """Write texts, each with its style in the words of rich: ``bold``, ``#b65d05``; empty for none."""
        if not self.coloured:
            self.stream.write(printable("".join(text for text, _ in parts)) + "\n")
            return
        from rich.text import Text

        from proctor.cli.console import console_on

        console_on(self.stream).print(Text.assemble(*parts), soft_wrap=True)


def margin_lines(parts: Sequence[Part]) -> Iterator[str]:
    """Yield lines with the origin of each part in a margin.

    ``│`` starts a line of the prompt; ``┊`` starts a part in the middle of one.
    """
    width = max((len(label_of(part.origin)) for part in parts), default=0)
    at_line_start = True
    for origin, group in groupby(parts, key=lambda part: part.origin):
        words = "".join(words_of(part) for part in group)
        if not words:
            continue
        name = label_of(origin)
        for line in words.removesuffix("\n").split("\n"):
            if line or at_line_start:
                yield f"{name:>{width}} {'│' if at_line_start else '┊'} {line}"
                name = ""
            at_line_start = True
        at_line_start = words.endswith("\n")
    if at_line_start:
        yield f"{'':>{width}} │ "


def words_of(part: Part) -> str:
    """Return a part as text: its words, or the place of a picture."""
    if isinstance(part, Span):
        return printable(part.text)
    return _media(part)


def _media(media: Media) -> str:
    source = media.source if len(media.source) <= LONGEST_SOURCE else f"{media.source[: LONGEST_SOURCE - 1]}…"
    return printable(f"[{media.kind}: {source}]")


def _quoted(text: str) -> str:
    shown = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{printable(shown)}"'


def _names(tools: Any) -> list[str]:
    """Return the names of functions in OpenAI's form."""
    found = [each.get("function", each) for each in tools or () if isinstance(each, Mapping)]
    return [str(each["name"]) for each in found if isinstance(each, Mapping) and "name" in each]
