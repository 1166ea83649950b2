"""A task as one run asks it: its file, what the run changes, its documents, its fields compiled."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.generation import generation_arguments
from proctor.recipes.options import ExamOptions
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES
from proctor.scoring.repeats import OF_REPEATS

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.prompts import ChatOptions
    from proctor.dialects.lm_eval.task_fields import TaskFields

Document = Mapping[str, Any]


class DocumentView(Struct, frozen=True, gc=False):
    """The fields of one document.

    Attributes:
        text: The question, or the position of the right input where there are several.
        target: The answer: text, a position, or a list.
        choices: Texts of the choices, where the task has any.
    """

    doc: Document
    text: Any
    target: Any
    choices: list[str] | None


@dataclass(frozen=True)
class PreparedTask:
    """A compiled task: ``Exam.own``, for the asker, the grader, writers and converters.

    Attributes:
        name: The name under which results are filed.
        config: The task, with what the run changes.
        options: What the run changes.
        documents: Its documents.
        variant: How it differs from what its file says, in a few words; empty where it does not.
        has_chat_override: Whether its file says anything of its own for chats.
    """

    name: str
    config: TaskConfig
    options: ExamOptions
    documents: TaskDocuments
    variant: str = ""
    has_chat_override: bool = False

    @property
    def num_fewshot(self) -> int:
        """Demos in each prompt. A task that sets 0 keeps 0."""
        own, asked = self.config.num_fewshot, self.options.num_demos
        return asked if asked is not None and own != 0 else own or 0

    @property
    def seed(self) -> int:
        """Seed of the stream that demos are drawn from."""
        return DEFAULT_SEED if self.options.seed is None else self.options.seed

    @property
    def resamples(self) -> int:
        """Bootstrap resamples behind a standard error."""
        given = self.options.resamples
        return BOOTSTRAP_RESAMPLES if given is None else given

    @property
    def is_chat(self) -> bool:
        """Whether prompts are laid out as chats."""
        return self.options.apply_chat_template or self.options.meta_template is not None

    @cached_property
    def chat(self) -> ChatOptions | None:
        """The chat layout; ``None`` for plain text."""
        from proctor.dialects.lm_eval.chat import chat_options

        return chat_options(self.options)

    @cached_property
    def fields(self) -> TaskFields:
        """The task's fields, compiled on first use."""
        from proctor.dialects.lm_eval.task_fields import compiled_fields

        return compiled_fields(self.config, self.documents.columns())

    def view(self, doc: Document) -> DocumentView:
        """Return what the task finds in a document."""
        fields = self.fields.asked
        choices = None if fields.choices is None else fields.choices(doc)
        return DocumentView(doc, fields.text(doc), self._target(fields.target(doc)), choices)

    def answer_view(self, doc: Document) -> DocumentView:
        """Return what scoring needs of a document: its question only where it may be the right one's position."""
        if self.config.output_type == "multiple_choice":
            return self.view(doc)
        fields = self.fields.asked
        choices = None if fields.choices is None else fields.choices(doc)
        return DocumentView(doc, None, self._target(fields.target(doc)), choices)

    def _target(self, found: Any) -> Any:
        """Return a right answer: a list where the exam's are lists of right answers, else its text."""
        return found if not isinstance(found, list) or self._lists_golds else str(found)

    @cached_property
    def _lists_golds(self) -> bool:
        """Whether a list is several right answers, and not the text of one."""
        if self.config.output_type != "generate_until" or self.config.doc_to_choice is not None:
            return True
        documents = self.documents.asked()
        return not documents or isinstance(self.fields.asked.target(documents[0]), list)


def takes_repeats(config: TaskConfig) -> bool:
    """Return whether a filter or a metric of a task makes one answer, or one score, of several answers.

    What code of a task does with answers is not known: it is taken to want several where the task asks for several.
    """
    steps = [step for pipeline in config.filter_list or () for step in pipeline.get("filter") or ()]
    names = {str(step.get("function")) for step in steps if isinstance(step, Mapping) and not _finds_label(step)}
    metrics = [str(each.get("metric")) for each in config.metric_list or () if isinstance(each, Mapping)]
    by_code = "custom" in names and config.repeats > 1
    return by_code or bool(names & _OF_SEVERAL) or any(name.partition("@")[0] in OF_REPEATS for name in metrics)


def _finds_label(step: Mapping[str, Any]) -> bool:
    if "filter_fn" not in step:
        return False
    from proctor.dialects.lm_eval.choices_to_generation import finds_labels

    return finds_labels(step)


_OF_SEVERAL = frozenset({"majority_vote", "take_first_k"})
"""Filters that see several answers and keep or weigh more than the first."""


def with_options(config: TaskConfig, options: ExamOptions) -> TaskConfig:
    """Return a task with the keys that options of a run replace."""
    changed = copy(config)
    if options.decoding and config.output_type == "generate_until":
        changed.generation_kwargs = {**(config.generation_kwargs or {}), **generation_arguments(options.decoding)}
    if options.repeats is not None:
        changed.repeats = options.repeats if takes_repeats(config) else 1
    if options.predict_only:
        changed.metric_list = [{"metric": "bypass"}]
        changed.process_results = None
    return changed
