r"""Task templates: standard prompts wrapped around a task's own ``doc_to_*``.

The wrapped fields say where question, choices and answer are in a row; the template says how they are put in words.
What a template does is a :class:`~proctor.templates.styles.QuestionStyle`; this module gives it lm-eval's spelling.

Two families share names and differ on purpose. ``mcq::mmlu`` (a ``template_type``) has no prefix and joins its parts
with ``question_choice_delimiter``; ``mmlu`` is ``Question: …`` with the suffix ``\nAnswer:``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from proctor.dialects.lm_eval.field_values import compile_field, process_field
from proctor.dialects.lm_eval.template_base import (
    MOST_LABELS,
    CustomTemplate,
    LabelList,
    StyledTemplate,
    Template,
    TemplateConfig,
    labels_of,
)
from proctor.errors import TemplateError, did_you_mean
from proctor.templates.styles import ALPHABETS, ChoiceLabels, QuestionStyle


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


@dataclass
class MCQTemplateConfig(StyledTemplate):
    """Multiple choice: the choices are shown with labels, the labels are scored.

    Attributes:
        choice_labels: Labels. The default ones go on beyond D where a question has more choices.
        choice_format: How a choice is shown.
        show_choices_in_prompt: Whether the prompt shows the choices.
    """

    template_type: ClassVar[str] = "mcq"

    choice_labels: list[str] = field(default_factory=lambda: LabelList(ChoiceLabels()))
    choice_format: str = "{label}. {choice}"
    show_choices_in_prompt: bool = True

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        return QuestionStyle(
            "mcq",
            self.prefix,
            self.suffix,
            self.question_choice_delimiter,
            self.choice_delimiter,
            _choice_format(self.choice_format),
            labels_of(self.choice_labels),
            self.show_choices_in_prompt,
            joins_parts=True,
        )

    def to_cloze(self) -> ClozeTemplateConfig:
        """Return the cloze template with the same prefix and delimiter: the choices themselves are scored."""
        return ClozeTemplateConfig(prefix=self.prefix, question_choice_delimiter=self.question_choice_delimiter)

    def to_mcq(self) -> MCQTemplateConfig:
        """Return this template."""
        return self


@dataclass
class ClozeTemplateConfig(StyledTemplate):
    """Fill in the blank: the choices themselves are scored.

    Attributes:
        blank_marker: Written where the answer belongs.
        show_choices: Whether the prompt lists the options.
        choice_labels: Labels of the options; ``None`` shows and scores the bare choices.
        blank_position: Where the blank stands: ``end``.
        choices_prefix: Before the options; ``question_choice_delimiter`` stands before it, unless it begins with white
            space.
    """

    template_type: ClassVar[str] = "cloze"

    suffix: str = ""
    choice_delimiter: str = ", "
    blank_marker: str = "______"
    show_choices: bool = True
    choice_labels: list[str] | None = None
    blank_position: str = "end"
    choices_prefix: str = "\nOptions: "

    def __post_init__(self) -> None:
        if self.blank_position not in {"end", "none"}:
            raise TemplateError(
                f"blank_position is '{self.blank_position}'",
                why="the blank follows the question ('end'), or there is none ('none')",
                hint="a blank inside the question is written in the question itself, with blank_position: none",
            )

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        return QuestionStyle(
            "cloze" if self.choice_labels is None else "mcq",
            self.prefix,
            self.suffix,
            self.question_choice_delimiter,
            self.choice_delimiter,
            "" if self.choice_labels is None else "{label}. {choice}",
            labels_of(self.choice_labels),
            self.show_choices,
            self.choices_prefix,
            self.blank_marker if self.blank_position == "end" else "",
            joins_parts=True,
        )

    def to_mcq(self) -> MCQTemplateConfig:
        """Return the multiple-choice template with the same prefix and delimiter: labels are scored."""
        given: dict[str, Any] = {} if self.choice_labels is None else {"choice_labels": self.choice_labels}
        return MCQTemplateConfig(prefix=self.prefix, question_choice_delimiter=self.question_choice_delimiter, **given)

    def to_cloze(self) -> ClozeTemplateConfig:
        """Return this template."""
        return self


# -- the named templates of the task configuration proposal -----------------------------------------------------------


class _Concatenated:
    """What the templates ``mmlu``, ``cloze`` and ``generate_until`` share: parts follow each other as written."""

    prefix: str
    suffix: str
    question_choice_delimiter: str
    choice_delimiter: str
    choice_format: str
    choice_labels: Any

    def _style(self, kind: Any, *, shows_choices: bool) -> QuestionStyle:
        given = self.choice_labels
        labels = ChoiceLabels(alphabet=_alphabet(self.choice_format)) if given is None else labels_of(given)
        return QuestionStyle(
            kind,
            self.prefix,
            self.suffix,
            self.question_choice_delimiter,
            self.choice_delimiter,
            _choice_format(self.choice_format),
            labels,
            shows_choices,
            formats_continuations=kind == "cloze",
        )


@dataclass
class MMLUTemplate(_Concatenated, MCQTemplateConfig):
    r"""``Question: {q}\nA. {c0}\nB. {c1}…\nAnswer:``; the labels are scored.

    Attributes:
        choice_format: ``letters``, ``numbers``, ``lowercase``, ``roman``, or text with ``{label}`` and ``{choice}``.
        target_delimiter: After the answer of a demo; ``None`` leaves the task's ``fewshot_delimiter``.
    """

    template_type: ClassVar[str] = "mmlu"
    format: ClassVar[str] = "mmlu"

    prefix: str = "Question: "
    suffix: str = "\nAnswer:"
    choice_labels: list[str] | None = None  # type: ignore[assignment]
    choice_format: str = "letters"
    target_delimiter: str | None = None

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        return self._style("mcq", shows_choices=self.show_choices_in_prompt)

    def to_cloze(self) -> ClozeTemplate:
        """Return the cloze template with the same prefix and suffix."""
        return ClozeTemplate(prefix=self.prefix, suffix=self.suffix, target_delimiter=self.target_delimiter)


@dataclass
class ClozeTemplate(_Concatenated, ClozeTemplateConfig):
    r"""``Question: {q}\nAnswer:``; the choices themselves are scored.

    Attributes:
        choice_format: Empty scores the bare choices; ``letters``, ``numbers`` … write a label before each.
        target_delimiter: After the answer of a demo; ``None`` leaves the task's ``fewshot_delimiter``.
    """

    template_type: ClassVar[str] = "cloze"
    format: ClassVar[str] = "cloze"

    prefix: str = "Question: "
    suffix: str = "\nAnswer:"
    choice_delimiter: str = "\n"
    show_choices: bool = False
    choice_format: str = ""
    target_delimiter: str | None = None

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        return self._style("cloze", shows_choices=self.show_choices)

    def to_mcq(self) -> MMLUTemplate:
        """Return the multiple-choice template with the same prefix and suffix."""
        return MMLUTemplate(prefix=self.prefix, suffix=self.suffix, target_delimiter=self.target_delimiter)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, by ``format``, which sets it apart from 000's cloze."""
        given = super().to_dict()
        del given["template_type"]
        return {"format": "cloze", **given}


@dataclass
class GenerateTemplate(MMLUTemplate):
    """The prompt of ``mmlu``; the model writes the label."""

    template_type: ClassVar[str] = "generate_until"
    format: ClassVar[str] = "generate_until"
    output_type: ClassVar[str | None] = "generate_until"

    @property
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""
        return self._style("generate", shows_choices=self.show_choices_in_prompt)

    def label_pattern(self) -> str:
        """Return the regular expression that finds the label in an answer."""
        return _LABEL_PATTERNS.get(_alphabet(self.choice_format), _LABEL_PATTERNS["letters"])


_LABEL_PATTERNS = {
    "letters": r"\b([A-Z])\b",
    "lowercase": r"\b([a-z])\b",
    "numbers": r"\b(\d{1,2})\b",
    "roman": r"\b([IVX]+)\b",
}


def _alphabet(choice_format: str) -> str:
    return choice_format if choice_format in ALPHABETS else "letters"


def _choice_format(choice_format: str) -> str:
    if not choice_format or "{" in choice_format:
        return choice_format
    if choice_format in ALPHABETS:
        return "{label}. {choice}"
    raise TemplateError(
        f"there is no choice format '{choice_format}'",
        why=f"it is {', '.join(ALPHABETS)}, or text with {{label}} and {{choice}}",
        hint=did_you_mean(choice_format, ALPHABETS),
    )


__all__ = [
    "MOST_LABELS", "BoxedAnswerTemplate", "ChainOfThoughtTemplate", "ClozeTemplate", "ClozeTemplateConfig",
    "CustomTemplate", "GenerateTemplate", "LabelList", "MCQTemplateConfig", "MMLUTemplate", "QuestionTemplate",
    "StyledTemplate", "Template", "TemplateConfig", "compile_field", "process_field",
]  # fmt: skip
