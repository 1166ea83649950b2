"""Templates for tasks without choices: the model writes the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from proctor.dialects.lm_eval.template_base import StyledTemplate
from proctor.templates.styles import QuestionStyle


@dataclass
class QuestionTemplate(StyledTemplate):
    """For tasks without choices: the question, and the model writes the answer.

    Attributes:
        instruction: Said after the question, before the suffix.
        answer_pattern: Regular expression that finds the answer in what the model writes; empty takes all of it.
        stop: Where generation ends.
    """

    template_type: ClassVar[str] = "question"
    output_type: ClassVar[str | None] = "generate_until"

    prefix: str = "Question: "
    suffix: str = "\nAnswer:"
    instruction: str = ""
    answer_pattern: str = ""
    stop: tuple[str, ...] = ("\n\n", "Question:")
    max_gen_toks: int = 256

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        said = f"\n{self.instruction}" if self.instruction else ""
        return QuestionStyle("generate", self.prefix, said + self.suffix, shows_choices=False)

    def format_target(self, question: str, choices: Sequence[str], answer: Any) -> Any:
        """Return the answer; where there are choices, the text of the right one."""
        del question
        if not choices or isinstance(answer, list):
            return answer
        return choices[self.style.gold(choices, answer)]


@dataclass
class ChainOfThoughtTemplate(QuestionTemplate):
    """Thinking step by step; the answer is what follows the last "answer is"."""

    template_type: ClassVar[str] = "cot"

    suffix: str = "\nAnswer: Let's think step by step."
    answer_pattern: str = r"(?i)answer is:?\s*\**\s*(.+?)\s*\**\.?(?:\n|$)"
    stop: tuple[str, ...] = ("Question:",)
    max_gen_toks: int = 1024


@dataclass
class BoxedAnswerTemplate(QuestionTemplate):
    r"""Thinking step by step; the answer is what the last ``\boxed{}`` holds."""

    template_type: ClassVar[str] = "boxed"

    instruction: str = "Please reason step by step, and put your final answer within \\boxed{}."
    answer_pattern: str = r"\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
    stop: tuple[str, ...] = ("Question:",)
    max_gen_toks: int = 1024
