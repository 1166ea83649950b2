"""Format: lays out system prompt, instruction, demos and question for a model.

A format is compiled once for a run: :meth:`Format.layout` returns a function from :class:`Parts` to a
:class:`~proctor.ir.Prompt`, which no later change to the format reaches.
"""
# ruff: noqa: ARG002 - formats are called with all there is

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from msgspec import Struct

from proctor.artifacts import NON_POSITIONAL
from proctor.data.operator import InstanceOperator
from proctor.ir import Prompt, Span


class SystemPrompt(InstanceOperator):
    """Base of all system prompts; instances that bring one along keep it."""

    skip_rendered_instance: Annotated[bool, NON_POSITIONAL] = True

    @abstractmethod
    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the text for an instance."""

    def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
        """Return the instance with ``system_prompt``."""
        if self.skip_rendered_instance and "system_prompt" in instance:
            return instance
        return {**instance, "system_prompt": self.get_system_prompt(instance)}


class TextualSystemPrompt(SystemPrompt):
    """The same text for every instance."""

    text: str

    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the text."""
        return self.text


class EmptySystemPrompt(SystemPrompt):
    """No system prompt."""

    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the empty string."""
        return ""


@dataclass(slots=True)
class Demo:
    """A solved instance in words.

    ``laid_out`` is room for a compiled format to keep the demo's text, where that is the same in every prompt, and
    ``inner`` for the same with its line breaks applied.
    """

    source: str
    target: str
    target_prefix: str = ""
    turns: Sequence[Mapping[str, Any]] | None = None
    laid_out: str | None = None
    inner: str | None = None


class Parts(Struct):
    """The parts that a format lays out.

    Attributes:
        source: The question in words.
        turns: The question as a dialog, where it is one.
        media: Images and sounds that tags in the words refer to (``{"images": […]}``).
        source_spans: Returns the source cut into labelled spans; called only when somebody looks.
    """

    source: str
    system_prompt: str = ""
    instruction: str = ""
    target_prefix: str = ""
    demos: Sequence[Demo] = ()
    turns: Sequence[Mapping[str, Any]] | None = None
    media: Mapping[str, Any] = {}
    source_spans: Callable[[], tuple[Span, ...]] | None = None

    def labelled_source(self) -> tuple[Span, ...]:
        """Return the source as spans that join to it."""
        if self.source_spans is not None:
            spans = self.source_spans()
            if "".join(span.text for span in spans) == self.source:
                return spans
        return (Span(self.source, "question"),)


LayOut = Callable[[Parts], Prompt]


class Format(InstanceOperator):
    """Base of all formats."""

    has_own_turns: ClassVar[bool] = False
    """Whether it says itself in which turns demos are laid out, so that nobody else can."""

    demos_field: Annotated[str | None, NON_POSITIONAL] = "demos"

    @abstractmethod
    def layout(self) -> LayOut:
        """Return the function that lays out prompts."""

    def lay_out(self, parts: Parts) -> Prompt:
        """Lay out one prompt."""
        return self.layout()(parts)

    def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
        """Give the instance its final ``source`` and return it; the parts that went into it are taken out."""
        parts = Parts(
            source=instance.get("source", ""),
            system_prompt=instance.get("system_prompt", ""),
            instruction=instance.get("instruction", ""),
            target_prefix=instance.get("target_prefix", ""),
            demos=[demo_of(each) for each in instance.get(self.demos_field or "", ())],
            turns=instance.get("__turns__"),
            media=instance.get("media") or {},
        )
        prompt = self.lay_out(parts)  # before the parts are taken out: an instance that cannot be laid out stays whole
        for part in ("source", "system_prompt", "instruction", "target_prefix"):
            instance.pop(part, None)
        instance["source"] = prompt.payload if isinstance(prompt.payload, str) else list(prompt.payload)
        return instance


def demo_of(instance: Mapping[str, Any]) -> Demo:
    """Return a processed instance as a demo."""
    return Demo(
        instance.get("source", ""),
        instance.get("target", ""),
        instance.get("target_prefix", ""),
        instance.get("__turns__"),
    )
