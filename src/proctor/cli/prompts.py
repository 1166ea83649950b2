"""Requests on a terminal: every part of a prompt in the colour of its origin, or beside a margin that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from proctor.ir import Media, Part, Prompt, Request, Span, Turn
from proctor.prompts.origins import COLOURS, label_of, part_of, parts_in
from proctor.prompts.preview import continuations_of, decoding_of, kind_of, prompts_of
from proctor.recipes.exam import Question
from proctor.terminal_text import printable

LONGEST_SOURCE = 60
"""Characters shown of the address of a picture; data URLs are far longer."""


def legend(origins: Iterable[str]) -> Text:
    """Return the parts that occur, each in its colour."""
    text = Text("parts: ", style="bold")
    for part in parts_in(origins):
        text.append("■ ", style=COLOURS[part])
        text.append(f"{part}  ", style=COLOURS[part])
    return text


def origins_of(request: Request) -> Iterator[str]:
    """Yield the origin of every part of a request."""
    for prompt in prompts_of(request):
        for turn in prompt.turns:
            for part in turn.parts:
                yield part.origin


class RequestPrinter:
    """Writes requests on a console.

    Args:
        console: Where to write. Where it shows no colours, a margin names the parts.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.coloured = not console.no_color and console.is_terminal

    def print(self, task: str, question: Question, request: Request) -> None:
        """Write one request: its prompt, what is scored or how it is decoded, and the references."""
        self._write(Text(f"{task} · instance {question.number} · {kind_of(request)}", style="bold reverse"))
        prompts, continuations = prompts_of(request), continuations_of(request)
        if len(prompts) > 1:
            for index, (prompt, continuation) in enumerate(zip(prompts, continuations, strict=True)):
                self._write(Text(f"choice {index + 1}", style="bold"))
                self._prompt(prompt)
                self._continuations([continuation], 0 if question.exchange.gold == index else None, index)
        else:
            for prompt in prompts:
                self._prompt(prompt)
            self._continuations(continuations, question.exchange.gold)
        self._facts(question, request)
        self._write(Text())

    def _prompt(self, prompt: Prompt) -> None:
        for turn in prompt.turns:
            if prompt.is_chat:
                self._write(Text(f"▌{printable(turn.role)}", style="bold"))
            self._write(self._colours(turn) if self.coloured else self._margin(turn))

    def _colours(self, turn: Turn) -> Text:
        text = Text()
        for part in turn.parts:
            text.append(words_of(part), style=COLOURS[part_of(part.origin)])
        return text

    def _margin(self, turn: Turn) -> Text:
        return Text("\n".join(margin_lines(turn.parts)))

    def _continuations(self, continuations: Sequence[str], gold: int | None, first: int = 0) -> None:
        if not continuations:
            return
        self._write(Text("continuations" if first == 0 else "continuation", style="bold"))
        for index, continuation in enumerate(continuations):
            right = index == gold
            line = Text(f"{'▶' if right else ' '} {first + index + 1:>2}  ", style="bold" if right else "")
            line.append(_quoted(continuation), style=COLOURS["choice"])
            line.append("  ← gold" if right else "", style="bold")
            self._write(line)

    def _facts(self, question: Question, request: Request) -> None:
        decoding = decoding_of(request)
        facts = {
            "references": ", ".join(map(_quoted, question.exchange.references)),
            "stop": ", ".join(map(_quoted, decoding.stop)),
            "max tokens": str(decoding.max_tokens or ""),
            "temperature": str(decoding.temperature or ""),
            "instance": question.digest,
        }
        for name, value in facts.items():
            if value:
                self._write(Text.assemble((f"{name}: ", "bold"), value))

    def _write(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)


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
