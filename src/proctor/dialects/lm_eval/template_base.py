"""Base of task templates: words around a task's own ``doc_to_*``, by a question style."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from proctor.dialects.lm_eval.field_values import (
    FieldSpec,
    Row,
    find_answer,
    find_choices,
    find_question,
    refuse_missing_answer,
)
from proctor.errors import TemplateError
from proctor.lazy import Deferred
from proctor.templates.styles import ChoiceLabels, QuestionStyle

if TYPE_CHECKING:
    from proctor.dialects.lm_eval import jinja
else:
    jinja = Deferred("proctor.dialects.lm_eval.jinja")


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
        question, choices = find_question(original_doc_to_text), find_choices(original_doc_to_choice)
        shows = self._should_show_choices() and original_doc_to_choice is not None
        prompt = self._prompt_maker()
        return lambda doc: prompt(question(doc), choices(doc) if shows else None)

    def _prompt_maker(self) -> Callable[[str, Sequence[str] | None], str]:
        return self.format_prompt

    def wrap_doc_to_choice(self, original_doc_to_choice: FieldSpec) -> Callable[[Row], list[str]]:
        """Return ``doc_to_choice`` that gives the continuations to score."""
        choices = find_choices(original_doc_to_choice)
        return lambda doc: self.format_choices("", choices(doc))

    def wrap_doc_to_target(
        self, original_doc_to_target: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], Any]:
        """Return ``doc_to_target`` that gives the target in this template's terms."""
        answer_of, choices_of = find_answer(original_doc_to_target), find_choices(original_doc_to_choice)
        spec = original_doc_to_target
        if original_doc_to_choice is None:

            def alone(doc: Row) -> Any:
                refuse_missing_answer(spec, doc)
                return answer_of(doc)

            return alone
        renders = isinstance(spec, str) and jinja.is_template(spec)

        def wrapped(doc: Row) -> Any:
            choices, answer = choices_of(doc), answer_of(doc)
            if renders and isinstance(answer, str) and answer.isdigit() and int(answer) < len(choices):
                answer = int(answer)  # lm-eval's rule: what a template renders to digits is a position
            try:
                return self.format_target("", choices, answer)
            except TemplateError:
                refuse_missing_answer(spec, doc)
                raise

        return wrapped


MOST_LABELS = 26
"""Labels that are written down of an alphabet, which goes on: the letters; no question has more choices."""


class LabelList(list[str]):
    """Default labels: they look like a short list, and go on where a question has more choices."""

    def __init__(self, labels: ChoiceLabels, shown: int = 4) -> None:
        super().__init__(labels.take(shown))
        self.labels = labels


def labels_of(given: Sequence[str] | None) -> ChoiceLabels:
    """Return the labels that a field of a template says; ``None`` are A, B, C and so on."""
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
            TemplateError: The answer is not one of the choices.
        """
        del question
        if isinstance(answer, list):
            answer = answer[0] if len(answer) == 1 else answer
        if not choices or isinstance(answer, list):
            return answer
        gold = self.style.gold(choices, answer)
        return self.style.answer(choices, gold) if self.style.kind == "generate" else gold

    def _prompt_maker(self) -> Callable[[str, Sequence[str] | None], str]:
        """Return what makes prompts: the style, made once, where nobody says otherwise."""
        is_own = "format_prompt" in vars(self) or type(self).format_prompt is not StyledTemplate.format_prompt
        return self.format_prompt if is_own else self.style.prompt

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
        self._fields: tuple[FieldSpec, FieldSpec, FieldSpec] = (None, None, None)

    def read(self, text: FieldSpec, choice: FieldSpec, target: FieldSpec) -> None:
        """Take note of where a task has question, choices and answer: each method of the template gets all three."""
        self._fields = (text, choice, target)

    def _found(
        self, text: FieldSpec = None, choice: FieldSpec = None, target: FieldSpec = None
    ) -> Callable[[Row], tuple[str, list[str], Any]]:
        own = (
            each if each is not None else known
            for each, known in zip((text, choice, target), self._fields, strict=True)
        )
        text, choice, target = own
        question, choices, answer = find_question(text), find_choices(choice), find_answer(target)
        return lambda doc: ("" if text is None else question(doc), choices(doc), answer(doc))

    def wrap_doc_to_text(
        self, original_doc_to_text: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], str]:
        """Return ``doc_to_text`` in the template's words."""
        found = self._found(original_doc_to_text, original_doc_to_choice)
        return lambda doc: self.template.format_prompt(*found(doc))

    def wrap_doc_to_choice(self, original_doc_to_choice: FieldSpec) -> Callable[[Row], list[str]]:
        """Return ``doc_to_choice`` that gives the continuations to score."""
        found = self._found(choice=original_doc_to_choice)
        return lambda doc: list(self.template.format_choices(*found(doc)))

    def wrap_doc_to_target(
        self, original_doc_to_target: FieldSpec, original_doc_to_choice: FieldSpec = None
    ) -> Callable[[Row], Any]:
        """Return ``doc_to_target`` in the template's terms."""
        found = self._found(choice=original_doc_to_choice, target=original_doc_to_target)
        return lambda doc: self.template.format_target(*found(doc))

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
