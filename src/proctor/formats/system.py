"""Prompts that are one string."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from proctor.data.format_strings import compile_format, fields_of, pieces_of
from proctor.formats.format import Demo, Format, LayOut, Parts
from proctor.formats.frame import Frame
from proctor.formats.newline import apply_newline_notation, edits
from proctor.ir import Prompt, Span, Turn

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
