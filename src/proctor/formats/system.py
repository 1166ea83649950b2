"""Prompts that are one string."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, Final, NamedTuple

from pydantic import Field

from proctor.data.format_strings import compile_format, fields_of, pieces_of
from proctor.formats.format import Demo, Format, LayOut, Parts
from proctor.formats.newline import apply_newline_notation, begins_a_run, edits, inside, stands_alone
from proctor.ir import Prompt, Span, Turn

_PLACE: Final = "\ue000"
"""Stands for question and demos while a frame is filled: a character of no language, which no run has."""

_TEXT: Final = frozenset({str})

Key = tuple[str, str, str]
"""System prompt, instruction, answer prefix."""


class _Filled(NamedTuple):
    """A frame filled for a key; ``None`` where it has to be filled with each prompt."""

    key: Key
    alone: tuple[str, str] | None
    with_demos: tuple[str, str, str] | None


class Frame:
    """The frame of a layout's prompts.

    Args:
        fill: Fills the format string of a prompt.
        arguments: More values for it.
    """

    def __init__(self, fill: Callable[[Mapping[str, Any]], str], arguments: Mapping[str, Any]) -> None:
        self._fill = fill
        self._arguments = arguments
        self._filled: _Filled | None = None

    @classmethod
    def of(cls, text: str, fill: Callable[[Mapping[str, Any]], str], arguments: Mapping[str, Any]) -> Frame | None:
        """Return the frame of a format string; ``None`` where question or demos are not put into it as they are."""
        named = [(name, spec, conversion) for _, name, spec, conversion in Formatter().parse(text) if name is not None]
        shown = [each for each in named if each[0].startswith(("source", "demos")) or each[1]]
        if shown not in ([_SOURCE], [_DEMOS, _SOURCE]):
            return None
        return cls(fill, arguments)

    def around(self, parts: Parts, words_of: Callable[[Demo, Parts], str]) -> str | None:
        """Return a prompt; ``None`` where runs may reach into its question or its demos.

        Args:
            parts: The parts of the prompt.
            words_of: Returns a demo in words, its line breaks not applied.
        """
        source = parts.source
        if not stands_alone(source):
            return None
        key = parts.system_prompt, parts.instruction, parts.target_prefix
        filled = self._filled
        if filled is None or filled.key != key:
            if not _TEXT.issuperset(map(type, key)):  # others may be equal and look different
                return None
            filled = self._filled = self._made(key)
        if not parts.demos:
            return None if filled.alone is None else f"{filled.alone[0]}{source}{filled.alone[1]}"
        if filled.with_demos is None:
            return None
        words = [inner_words(demo, parts, words_of) for demo in parts.demos]
        before, between, behind = filled.with_demos
        return f"{before}{''.join(words)}{between}{source}{behind}" if all(words) else None

    def _made(self, key: Key) -> _Filled:
        alone, shown = self._cut(key, ""), self._cut(key, _PLACE)
        return _Filled(
            key,
            (alone[0], alone[1]) if len(alone) == 2 else None,  # noqa: PLR2004 - before and behind the question
            (shown[0], shown[1], shown[2]) if len(shown) == 3 else None,  # noqa: PLR2004 - and between demos and it
        )

    def _cut(self, key: Key, demos: str) -> list[str]:
        """Return what stands around the places of demos and question; nothing where demos may run on."""
        named = dict(zip(("system_prompt", "instruction", "target_prefix"), key, strict=True))
        text = self._fill({**self._arguments, **named, "demos": demos, "source": _PLACE})
        if demos and begins_a_run(text.partition(_PLACE)[2]):
            return []
        return apply_newline_notation(text).split(_PLACE)


_SOURCE: Final = ("source", "", None)
_DEMOS: Final = ("demos", "", None)


def inner_words(demo: Demo, parts: Parts, words_of: Callable[[Demo, Parts], str]) -> str:
    """Return a demo in words with its line breaks applied; nothing where these depend on what stands before it."""
    if demo.inner is not None:
        return demo.inner
    words = inside(words_of(demo, parts))
    if demo.laid_out is not None:  # the same in every prompt
        demo.inner = words
    return words


Fill = Callable[[Mapping[str, Any]], str]


class SystemFormat(Format):
    r"""Lays a prompt out as one string by two format strings.

    Attributes:
        demo_format: One demo; may use ``{source}``, ``{target}``, ``{target_prefix}``, ``{instruction}``.
        model_input_format: The whole prompt; may use ``{system_prompt}``, ``{instruction}``, ``{demos}``,
            ``{source}``, ``{target_prefix}``.
        format_args: More values for both.

    ``\N`` is a line break only where there is none yet; see :mod:`proctor.formats.newline`.
    """

    demo_format: str = "{source}\\N{target_prefix}{target}\n\n"
    model_input_format: str = "{system_prompt}\\N{instruction}\\N{demos}{source}\\N{target_prefix}"
    format_args: dict[str, str] = Field(default_factory=dict)

    def layout(self) -> LayOut:
        """Return the function that lays out prompts."""
        return _SystemLayout(self.demo_format, self.model_input_format, dict(self.format_args)).lay_out


class _SystemLayout:
    def __init__(self, demo_format: str, model_input_format: str, arguments: dict[str, str]) -> None:
        self.demo_format = demo_format
        self.model_input_format = model_input_format
        self.arguments = arguments
        self.fill_demo: Fill = compile_format(demo_format, "SystemFormat", "demo_format", "part of a demo")
        self.fill: Fill = compile_format(model_input_format, "SystemFormat", "model_input_format", "part of a prompt")
        self.demos_are_constant = "instruction" not in fields_of(demo_format)
        self.frame = Frame.of(model_input_format, self.fill, arguments)

    def lay_out(self, parts: Parts) -> Prompt:
        text = None if self.frame is None or parts.turns is not None else self.frame.around(parts, self.demo)
        if text is None:
            text = apply_newline_notation(self.fill(self.values(parts)))
        return Prompt(text, lambda: self.explain(parts))

    def values(self, parts: Parts) -> dict[str, Any]:
        return {
            **self.arguments,
            "system_prompt": parts.system_prompt,
            "instruction": parts.instruction,
            "demos": "".join([self.demo(demo, parts) for demo in parts.demos]) if parts.demos else "",
            "source": self.source(parts),
            "target_prefix": parts.target_prefix,
        }

    @staticmethod
    def source(parts: Parts) -> str:
        if parts.turns is not None and not parts.source:
            return json.dumps(parts.turns)
        return parts.source

    def demo(self, demo: Demo, parts: Parts) -> str:
        if demo.laid_out is not None:
            return demo.laid_out
        text = self.fill_demo(self.demo_values(demo, parts))
        if self.demos_are_constant:
            demo.laid_out = text
        return text

    def demo_values(self, demo: Demo, parts: Parts) -> dict[str, Any]:
        return {
            **self.arguments,
            "source": demo.source,
            "target": demo.target,
            "target_prefix": demo.target_prefix,
            "instruction": parts.instruction,
        }

    # -- for people who look ----------------------------------------------------------------------------------

    def explain(self, parts: Parts) -> tuple[Turn, ...]:
        spans = self.label(parts)
        text = "".join(span.text for span in spans)
        return (Turn("user", tuple(rewrite(spans, list(edits(text)) if "\\N" in text else []))),)

    def label(self, parts: Parts) -> list[Span]:
        values = self.values(parts)
        origins = {"system_prompt": "system", "instruction": "instruction", "target_prefix": "answer_prefix"}
        spans: list[Span] = []
        for literal, name in pieces_of(self.model_input_format):
            spans.append(Span(literal, "layout"))
            if name == "demos":
                for index, demo in enumerate(parts.demos):
                    spans.extend(self.label_demo(index, demo, parts))
            elif name == "source":
                same = values["source"] == parts.source
                spans.extend(parts.labelled_source() if same else [Span(values["source"], "question")])
            elif name is not None:
                spans.append(Span(str(values[name]), origins.get(name, "layout")))
        return spans

    def label_demo(self, index: int, demo: Demo, parts: Parts) -> list[Span]:
        values = self.demo_values(demo, parts)
        origins = {
            "source": f"demo[{index}].question",
            "target": f"demo[{index}].answer",
            "target_prefix": f"demo[{index}].answer",
            "instruction": "instruction",
        }
        spans: list[Span] = []
        for literal, name in pieces_of(self.demo_format):
            spans.append(Span(literal, "layout"))
            if name is not None:
                spans.append(Span(str(values[name]), origins.get(name, "layout")))
        return spans


def rewrite(spans: list[Span], replacements: list[tuple[int, int, str]]) -> list[Span]:
    """Apply replacements to the joined text of spans; what replaces text takes the origin of where it starts."""
    result: list[Span] = []
    offset = 0
    pending = replacements
    for span in spans:
        text, start, end = "", offset, offset + len(span.text)
        position = start
        for left, right, new in pending:
            if left >= end or right <= start:
                continue
            text += span.text[position - start : max(left, start) - start]
            text += new if left >= start else ""
            position = max(position, min(right, end))
        text += span.text[position - start :]
        offset = end
        if text:
            result.append(Span(text, span.origin))
    return result
