r"""Task templates: standard prompts wrapped around a task's own ``doc_to_*``.

The wrapped fields say where question, choices and answer are in a row; the template says how they are put in words.
What a template does is a :class:`~proctor.templates.styles.QuestionStyle`; this module gives it lm-eval's spelling.

Two families share names and differ on purpose. ``mcq::mmlu`` (a ``template_type``) has no prefix and joins its parts
with ``question_choice_delimiter``; ``mmlu`` is ``Question: …`` with the suffix ``\nAnswer:``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

from proctor.dialects.lm_eval.functions import guarded, resolve_function
from proctor.dialects.lm_eval.jinja import compile_expression, compile_text, is_template
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import TemplateError, did_you_mean
from proctor.templates.styles import ALPHABETS, ChoiceLabels, QuestionStyle

Row = Mapping[str, Any]
FieldSpec = Any
"""A column name, a template, a function of the row, a literal value, or ``None``."""


def process_field(doc: Row, field_spec: FieldSpec, default: Any = None) -> Any:
    """Return what a field specification finds in a row.

    ``{{ expression }}`` alone keeps its type; any other template gives text; a name gives that column, or ``default``
    where the row has no such column; a function is called; anything else is the value itself.
    """
    return compile_field(field_spec, default)(doc)


def compile_field(field_spec: FieldSpec, default: Any = None) -> Callable[[Row], Any]:
    """Return :func:`process_field` for one specification, compiled once."""
    if field_spec is None:
        return lambda doc: default
    if isinstance(field_spec, FunctionReference):
        return _on_first_use(field_spec)
    if callable(field_spec):
        return field_spec  # type: ignore[no-any-return]
    if not isinstance(field_spec, str):
        return lambda doc: list(field_spec.values()) if isinstance(field_spec, dict) else field_spec
    if not is_template(field_spec):
        return lambda doc: doc.get(field_spec, default)
    return compile_expression(field_spec) or compile_text(field_spec)


def _on_first_use(reference: FunctionReference) -> Callable[[Row], Any]:
    """Return a function of the task file, which is looked for when the first document needs it."""
    found: list[Callable[[Row], Any]] = []

    def call(doc: Row) -> Any:
        if not found:
            what = f"'{reference.name}', wrapped by a template,"
            found.append(guarded(resolve_function(reference, what), what, reference.location))
        return found[0](doc)

    return call


@dataclass
class TemplateConfig(ABC):
    """Base of templates; subclass it for one of your own.

    Attributes:
        prefix: Before the question.
        suffix: After everything.
        question_choice_delimiter: Between question and choices.
        choice_delimiter: Between choices.
    """

    prefix: str = ""
    suffix: str = "Answer:"
    question_choice_delimiter: str = "\n"
    choice_delimiter: str = "\n"

    output_type: ClassVar[str | None] = "multiple_choice"
    """The output type that a task with this template has; ``None`` leaves the task's own."""

    @abstractmethod
    def format_prompt(self, question: str, choices: Sequence[str] | None = None) -> str:
        """Return the prompt for a question and its choices."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what ``template:`` in a task file says."""

    def format_choices(self, question: str, choices: Sequence[str], answer: Any = None) -> list[str]:
        """Return the continuations to score."""
        del question, answer
        labels = getattr(self, "choice_labels", None)
        return list(choices) if labels is None else list(labels[: len(choices)])

    def format_target(self, question: str, choices: Sequence[str], answer: Any) -> Any:
        """Return the target: a position among the continuations, or text for generative templates."""
        del question, choices
        return answer

    def _should_show_choices(self) -> bool:
        return True

    def wrap_doc_to_text(
        self, original_doc_to_text: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], str]:
        """Return ``doc_to_text`` that puts the question the original finds in this template's words."""
        find_question = compile_field(original_doc_to_text, "")
        find_choices = compile_field(original_doc_to_choice, [])
        shows = self._should_show_choices() and original_doc_to_choice is not None

        def wrapped(doc: Row) -> str:
            choices = _texts(find_choices(doc)) if shows else None
            return self.format_prompt(str(find_question(doc)), choices)

        return wrapped

    def wrap_doc_to_choice(self, original_doc_to_choice: FieldSpec) -> Callable[[Row], list[str]]:
        """Return ``doc_to_choice`` that gives the continuations to score."""
        find_choices = compile_field(original_doc_to_choice, [])

        def wrapped(doc: Row) -> list[str]:
            choices = find_choices(doc)
            if not isinstance(choices, list | tuple):
                return list(getattr(self, "choice_labels", None) or [str(choices)])
            return self.format_choices("", _texts(choices))

        return wrapped

    def wrap_doc_to_target(
        self, original_doc_to_target: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], Any]:
        """Return ``doc_to_target`` that gives the target in this template's terms."""
        find_answer = compile_field(original_doc_to_target)
        if original_doc_to_choice is None:
            return find_answer
        find_choices = compile_field(original_doc_to_choice, [])
        spec = original_doc_to_target
        if not (isinstance(spec, str) and is_template(spec)):
            return lambda doc: self.format_target("", _texts(find_choices(doc)), find_answer(doc))

        def wrapped(doc: Row) -> Any:
            choices, answer = _texts(find_choices(doc)), find_answer(doc)
            if isinstance(answer, str) and answer.isdigit() and int(answer) < len(choices):
                answer = int(answer)  # lm-eval's rule: what a template renders to digits is a position
            return self.format_target("", choices, answer)

        return wrapped


def _texts(choices: Any) -> list[str]:
    if isinstance(choices, list | tuple):
        return [each if isinstance(each, str) else str(each) for each in choices]
    return [str(choices)] if choices is not None else []


MOST_LABELS = 26
"""Labels that are written down of an alphabet, which goes on."""


class LabelList(list[str]):
    """Default labels: they look like a short list, and go on where a question has more choices."""

    def __init__(self, labels: ChoiceLabels, shown: int = 4) -> None:
        super().__init__(labels.take(shown))
        self.labels = labels


def _labels_of(given: Sequence[str] | None) -> ChoiceLabels:
    if given is None:
        return ChoiceLabels()
    return given.labels if isinstance(given, LabelList) else ChoiceLabels(tuple(map(str, given)))


class StyledTemplate(TemplateConfig):
    """A template whose work a :class:`~proctor.templates.styles.QuestionStyle` does."""

    @property
    @abstractmethod
    def style(self) -> QuestionStyle:
        """The style that the fields describe."""

    def _should_show_choices(self) -> bool:
        return self.style.shows_choices

    def format_prompt(self, question: str, choices: Sequence[str] | None = None) -> str:
        """Return the prompt for a question and its choices."""
        return self.style.prompt(question, choices)

    def format_choices(self, question: str, choices: Sequence[str], answer: Any = None) -> list[str]:
        """Return the labels, or for cloze the choices themselves."""
        del question, answer
        return self.style.continuations(choices)

    def format_target(self, question: str, choices: Sequence[str], answer: Any) -> Any:
        """Return the position of the right choice; generative templates return its label.

        Raises:
            TemplateError: The answer is none of the choices.
        """
        del question
        if isinstance(answer, list):
            answer = answer[0] if len(answer) == 1 else answer
        if not choices or isinstance(answer, list):
            return answer
        gold = self.style.gold(choices, answer)
        return self.style.answer(choices, gold) if self.style.kind == "generate" else gold

    def wrap_doc_to_text(
        self, original_doc_to_text: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], str]:
        """Return ``doc_to_text`` that puts the question the original finds in this template's words."""
        find_question = compile_field(original_doc_to_text, "")
        find_choices = compile_field(original_doc_to_choice, [])
        style = self.style
        shows = style.shows_choices and original_doc_to_choice is not None
        return lambda doc: style.prompt(str(find_question(doc)), _texts(find_choices(doc)) if shows else None)

    def to_dict(self) -> dict[str, Any]:
        """Return ``template_type`` and every field that differs from its default."""
        given = {"template_type": getattr(self, "template_type", "mcq")}
        for each in fields(self):
            value = getattr(self, each.name)
            default = each.default_factory() if callable(each.default_factory) else each.default
            if value != default and not (isinstance(value, LabelList) and value == default):
                labels = value.labels.take(MOST_LABELS) if isinstance(value, LabelList) else value
                given[each.name] = list(labels) if isinstance(labels, list | tuple) else labels
        return given


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
            _labels_of(self.choice_labels),
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
        choices_prefix: Before the options.
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
            _labels_of(self.choice_labels),
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
        labels = ChoiceLabels(alphabet=_alphabet(self.choice_format)) if given is None else _labels_of(given)
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


# -- templates of one's own -------------------------------------------------------------------------------------------


@runtime_checkable
class Template(Protocol):
    """What a custom template has: registered under the entry point group ``proctor.templates``, or ``module:Class``."""

    format: str
    prefix: str
    suffix: str
    question_choice_delimiter: str
    choice_delimiter: str
    target_delimiter: str

    def format_prompt(self, q: str, c: list[str], a: Any) -> str:
        """Return the prompt."""
        ...

    def format_choices(self, q: str, c: list[str], a: Any) -> list[str]:
        """Return the continuations to score; none for generative templates."""
        ...

    def format_target(self, q: str, c: list[str], a: Any) -> str | int:
        """Return the target."""
        ...


class CustomTemplate(TemplateConfig):
    """Lets a :class:`Template` wrap a task's fields."""

    def __init__(self, template: Template) -> None:
        super().__init__()
        self.template = template
        self.target_delimiter = getattr(template, "target_delimiter", None)

    @property
    def output_type(self) -> str | None:  # type: ignore[override]
        """Generative where the template says so; otherwise the task's own."""
        return getattr(self.template, "output_type", None)

    def format_prompt(self, question: str, choices: Sequence[str] | None = None) -> str:
        """Return the prompt."""
        return self.template.format_prompt(question, list(choices or ()), None)

    def format_choices(self, question: str, choices: Sequence[str], answer: Any = None) -> list[str]:
        """Return the continuations to score."""
        return list(self.template.format_choices(question, list(choices), answer))

    def format_target(self, question: str, choices: Sequence[str], answer: Any) -> str | int:
        """Return the target."""
        return self.template.format_target(question, list(choices), answer)

    def to_dict(self) -> dict[str, Any]:
        """Return the class by name."""
        kind = type(self.template)
        return {"template_type": f"{kind.__module__}:{kind.__qualname__}"}


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
