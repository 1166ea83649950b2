"""A task as an exam that can be run: requests out, scores in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.as_text import AS_TEXT, asked_as_text
from proctor.dialects.lm_eval.builder import DocumentView, RequestBuilder
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import Documents, TaskDocuments
from proctor.dialects.lm_eval.fields import find_text
from proctor.dialects.lm_eval.prompts import ChatOptions
from proctor.dialects.lm_eval.samplers import DEFAULT_SEED
from proctor.dialects.lm_eval.scorer import TaskScorer
from proctor.dialects.lm_eval.tree import Group
from proctor.errors import DataError
from proctor.ir import Request
from proctor.recipes.exam import Answered, Question
from proctor.scoring.grade import Grade

if TYPE_CHECKING:
    from proctor.engines.engine import Engine


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What a run may change about a task; ``None`` leaves what the task says.

    Attributes:
        num_fewshot: Demos in each prompt. A task that sets 0 keeps 0.
        limit: Most documents to ask: a count, or a fraction below 1.
        samples: Positions of the documents to ask.
        fewshot_seed: Seed of the stream that demos are drawn from.
        system_instruction: Text before everything.
        chat: How to lay out chats; ``None`` for plain text.
        generation: Generation arguments that replace the task's.
        predict_only: Record answers, score nothing.
        resamples: Bootstrap resamples behind a standard error.
        choices_as_text: Ask multiple-choice questions as text: the model writes the label. ``None`` does so for
            engines that give no log-probabilities.
    """

    num_fewshot: int | None = None
    limit: float | None = None
    samples: tuple[int, ...] | None = None
    fewshot_seed: int | None = DEFAULT_SEED
    system_instruction: str | None = None
    chat: ChatOptions | None = None
    generation: Mapping[str, Any] = field(default_factory=dict)
    predict_only: bool = False
    resamples: int = 100_000
    choices_as_text: bool | None = None


class TaskExam:
    """One task, ready to run.

    Attributes:
        groups: The groups that it was chosen with, outermost first; their scores are made of their tasks' scores.
        variant: How the exam differs from what its file says, in a few words; empty where it does not.

    Args:
        name: The name under which results are filed.
        config: The task.
        options: What the run changes.
        documents: Where documents come from; by default the task's dataset.
    """

    def __init__(
        self,
        name: str,
        config: TaskConfig,
        options: TaskOptions | None = None,
        documents: TaskDocuments | None = None,
    ) -> None:
        self._name = name
        self.groups: tuple[Group, ...] = ()
        self.variant = ""
        self.options = options or TaskOptions()
        if self.options.choices_as_text and config.output_type == "multiple_choice":
            config, self.variant = asked_as_text(config), AS_TEXT
        self.config = config
        self.documents = documents or TaskDocuments(config)
        if self.options.generation and config.output_type == "generate_until":
            config.generation_kwargs = {**(config.generation_kwargs or {}), **self.options.generation}
        if self.options.predict_only:
            config.metric_list = [{"metric": "bypass"}]
            config.process_results = None

    @property
    def name(self) -> str:
        """The name under which results are filed."""
        return self._name

    @property
    def description(self) -> str:
        """One line on what the exam is."""
        config = self.config
        data = "/".join(str(part) for part in (config.dataset_path, config.dataset_name) if part is not None)
        return f"{config.output_type.replace('_', ' ')} on {data or 'data of its own'}"

    @property
    def num_fewshot(self) -> int:
        """Demos in each prompt."""
        own, asked = self.config.num_fewshot, self.options.num_fewshot
        return asked if asked is not None and own != 0 else own or 0

    def suited_to(self, engine: Engine) -> TaskExam:
        """Return the exam as an engine can sit it: multiple choice as text where it gives no log-probabilities."""
        by_hand = self.options.choices_as_text is not None
        if engine.can_score or by_hand or self.config.output_type != "multiple_choice":
            return self
        made = TaskExam(self.name, self.config, replace(self.options, choices_as_text=True))
        made.groups = self.groups
        return made

    @cached_property
    def builder(self) -> RequestBuilder:
        """What turns documents into requests; compiled on first use."""
        return RequestBuilder(self.config, self.documents, self.options, self.num_fewshot)

    def view(self, doc: Mapping[str, Any]) -> DocumentView:
        """Return what the task finds in a document."""
        return self.builder.view(doc)

    def decontamination_query(self, doc: Mapping[str, Any]) -> str | None:
        """Return the text to look for in training data, where the task asks for decontamination."""
        config = self.config
        if not config.should_decontaminate:
            return None
        spec = config.doc_to_decontamination_query
        if spec is None:
            return str(self.view(doc).text)
        return str(find_text(spec, self.documents.columns(), "doc_to_decontamination_query", positions=False)(doc))

    def chosen(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the documents to ask about, with their positions.

        Raises:
            DataError: A chosen position does not exist.
        """
        docs = self.documents.asked()
        samples = self.options.samples
        if samples is not None:
            outside = [each for each in samples if not 0 <= each < len(docs)]
            if outside:
                raise DataError(f"the task '{self.name}' has no document {outside[0]}", why=f"it has {len(docs)}")
            wanted = set(samples)
            yield from ((number, doc) for number, doc in enumerate(docs) if number in wanted)
            return
        yield from ((number, docs[number]) for number in range(self.count(docs)))

    def count(self, docs: Documents) -> int:
        """Return how many documents are asked about."""
        limit = self.options.limit
        if limit is None:
            return len(docs)
        return min(len(docs), math.ceil(len(docs) * limit) if limit < 1 else int(limit))

    def questions(self) -> Iterator[Question]:
        """Yield the items lazily; every call yields equal items in the same order."""
        if not self.documents.asked():
            raise DataError(
                f"the task '{self.name}' has no document",
                why=f"its split '{self.documents.eval_split}' is empty, or process_docs leaves nothing of it",
                location=None if self.config.source is None else self.config.source.location("dataset_path"),
            )
        build = RequestBuilder(self.config, self.documents, self.options, self.num_fewshot, self.builder.fields).item
        for number, doc in self.chosen():
            yield build(number, doc)

    def requests(self) -> Iterator[Request]:
        """Yield the requests of all items."""
        for item in self.questions():
            yield from item.requests

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores."""
        return self.scorer.grade(answered)

    @cached_property
    def scorer(self) -> TaskScorer:
        """What scores this task's answers."""
        return TaskScorer(self.config, self.view, self.options.resamples)

    def specification(self) -> dict[str, Any]:
        """Return JSON-like data that describes the exam fully."""
        options = self.options
        changed = {
            "num_fewshot": self.num_fewshot,
            "limit": options.limit,
            "samples": list(options.samples) if options.samples is not None else None,
            "fewshot_seed": options.fewshot_seed,
            "system_instruction": options.system_instruction,
            "chat": None if options.chat is None else {"multiturn": options.chat.multiturn},
            "template": self.config.template_choice,
            "predict_only": options.predict_only or None,
            "variant": self.variant or None,
        }
        return {
            "dialect": "lm_eval",
            "task": self.config.to_dict(),
            "version": self.config.version,
            "options": {key: value for key, value in changed.items() if value is not None},
        }
