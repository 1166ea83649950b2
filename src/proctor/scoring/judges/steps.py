"""Steps of judges by criteria: an assessment in free words, then a choice among options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL, Artifact, fetch_artifact
from proctor.errors import ArtifactError, ScoringError, UsageError, ValidationError, did_you_mean
from proctor.formats import Format
from proctor.ir import Failure
from proctor.scoring.instance_metric import BulkInstanceMetric
from proctor.scoring.judges.criteria import Criteria, fetch_criteria
from proctor.scoring.judges.judge_client import Answer, JudgePrompt, ask, check_engine, engine_name
from proctor.scoring.judges.prompts import Bench
from proctor.scoring.judges.wording import Kind, Stage, Whose, Wording, asked_with, wording
from proctor.scoring.map_reduce import field_of
from proctor.tasks.task import Task


class LLMJudge(BulkInstanceMetric):
    """Base of judges by criteria.

    Attributes:
        inference_engine: The engine that judges.
        evaluator_name: What scores call the judge; the engine's name by default.
        check_positional_bias: Judge a second time with the options or answers the other way round.
        context_fields: Fields of the task to show the judge; a dict gives them other names.
        generate_summaries: Let the judge sum up its assessments.
        format: ``formats.chat_api``; judges hold a conversation.
        include_prompts_in_result: Keep the prompts with the scores.
        criteria: What to judge; the same for all instances.
        criteria_field: Field of the task with the criteria of each instance, where ``criteria`` is ``None``.
        words: In whose words it asks: Unitxt's, as far as its package is here, or ours.
    """

    _kind: ClassVar[Kind]

    inference_engine: Artifact
    evaluator_name: str | None = None
    check_positional_bias: bool = True
    context_fields: str | list[str] | dict[str, str] | None = ["context"]
    generate_summaries: bool = False
    format: str = "formats.chat_api"
    include_prompts_in_result: bool = True
    criteria_field: str | None = None
    criteria: Criteria | None = None
    words: Annotated[Whose, NON_POSITIONAL] = "unitxt"

    def prepare(self) -> None:
        """Name the judge."""
        super().prepare()
        if self.evaluator_name is None:
            self.evaluator_name = engine_name(self.inference_engine)

    def verify(self) -> None:
        """Check the engine."""
        super().verify()
        check_engine(self.inference_engine, self.name)
        if self.format != "formats.chat_api":
            raise ValidationError(f"{self.name} talks in chat messages", hint="leave out 'format'")

    def criteria_of(self, task_data: Sequence[Mapping[str, Any]], kind: type[Criteria]) -> list[Criteria | Failure]:
        """Return the criteria of each instance.

        Raises:
            UsageError: The judge has neither criteria nor a field to read them from.
        """
        if self.criteria is not None:
            return [self.criteria] * len(task_data)
        if self.criteria_field is None:
            raise UsageError(
                f"{self.name} does not know what to judge",
                hint="set 'criteria', or 'criteria_field' for criteria of each instance",
            )
        return [self._criteria_in(fields, kind) for fields in task_data]

    def _criteria_in(self, fields: Mapping[str, Any], kind: type[Criteria]) -> Criteria | Failure:
        field = str(self.criteria_field)
        if field not in fields:
            hint = did_you_mean(field, fields)
            return Failure(
                "missing_field", f"the task data has no criteria in '{field}' {hint}".strip(), retryable=False
            )
        try:
            return fetch_criteria(fields[field], kind)
        except (ArtifactError, ScoringError) as error:
            return Failure("criteria", str(error), retryable=False)

    def context_of(self, fields: Mapping[str, Any], criteria: Criteria) -> str:
        """Return what the judge is shown beside the answer."""
        names = as_names(self.context_fields) or as_names(criteria.context_fields)
        shown = {name: _text(field_of(fields, field)) for name, field in names.items()}
        if len(shown) == 1 and next(iter(shown)).lower() == "context":
            return next(iter(shown.values()))
        return "\n".join(f"{name}: {text}" for name, text in shown.items())

    def judged(self, prediction: Any, fields: Mapping[str, Any], criteria: Criteria) -> Any:
        """Return what is judged: the prediction, or a field that the criteria name where there is none."""
        if prediction is not None and str(prediction) != "<__empty_prediction__>":
            return prediction
        if criteria.prediction_field is None or criteria.prediction_field not in fields:
            raise ScoringError(
                "there is nothing to judge", hint="give predictions, or name prediction_field in the criteria"
            )
        return fields[criteria.prediction_field]

    def converse(self, prompts: Sequence[tuple[Any, Sequence[str]]]) -> list[Answer]:
        """Ask the judge prompts with the classes of their data; a failure stands where the prompt is one already."""
        asked = [position for position, (prompt, _) in enumerate(prompts) if not isinstance(prompt, Failure)]
        answers = ask(self.inference_engine, [JudgePrompt(*prompts[position]) for position in asked]) if asked else []
        found = dict(zip(asked, answers, strict=True))
        return [found[i] if i in found else Answer(prompt, {}) for i, (prompt, _) in enumerate(prompts)]

    @property
    def wording(self) -> Wording:
        """The words in which it asks."""
        return wording(self._kind, self.words)

    def asked_with(self, criteria: Sequence[Any] = ()) -> dict[str, Any]:
        """Return what its prompts are made of, as :func:`~proctor.scoring.judges.wording.asked_with`.

        Args:
            criteria: Those of the instances, where each has its own.
        """
        own = {each.to_json(): each for each in criteria if isinstance(each, Criteria)} if self.criteria is None else {}
        told = self.wording.told(self._options_shown())
        return asked_with(self, self.wording, told, more=[own[each] for each in sorted(own)])

    def opened(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row, or an instance, with its criteria in the place of their name."""
        fields = row.get("input_fields", row)
        if self.criteria is not None or not isinstance(fields.get(self.criteria_field), str):
            return row
        try:
            found = fetch_criteria(fields[self.criteria_field], Criteria)
        except (ArtifactError, ScoringError):  # the instance fails when it is judged
            return row
        opened = {**fields, str(self.criteria_field): found.to_dict()}
        return {**row, "input_fields": opened} if fields is not row else opened

    def _options_shown(self) -> Sequence[Any]:
        """Return the options that it chooses among, as far as they are known before anything is judged."""
        return ()

    def asker(self) -> Asker:
        """Return what puts its questions in words."""
        layout: Any = fetch_artifact(self.format)
        return Asker(self.inference_engine, self.wording, layout)

    def _key(self) -> str:
        name = str(self.evaluator_name).lower()
        return f"using_{name}_{engine_name(self.inference_engine)}"


def as_names(fields: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Return fields as a dict from the name to show to the field."""
    if not fields:
        return {}
    if isinstance(fields, str):
        return {fields: fields}
    return dict(fields) if isinstance(fields, Mapping) else {field: field for field in fields}


def _text(value: Any) -> str:
    if isinstance(value, Failure):
        raise ScoringError(value.message)
    return str(value)


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts the questions of a judge in words.

    Attributes:
        engine: Who judges.
        layout: The format of chat messages.
    """

    engine: Artifact
    words: Wording
    layout: Format

    def question(self, stage: Stage, case: Mapping[str, Any], *before: Any) -> Any:
        """Return the chat that asks a question; a failure where something that it is made of is one.

        Args:
            stage: Which question.
            case: What its template is filled with.
            before: The chat that it goes on with, and the judge's answer to it.
        """
        if (failure := failure_among(*before, *case.values())) is not None:
            return failure
        [chat] = Bench(self.engine, _task(tuple(case)), self.words.templates[stage], self.layout).prompts([case])
        return chat if not before else [*before[0], {"role": "assistant", "content": str(before[1])}, *chat]


@lru_cache(maxsize=16)
def _task(fields: tuple[str, ...]) -> Task:
    return Task(input_fields=dict.fromkeys(fields, Any), reference_fields={}, prediction_type=Any, metrics=[])


def failure_among(*values: Any) -> Failure | None:
    """Return the first failure among values."""
    return next((value for value in values if isinstance(value, Failure)), None)


def without_blanks(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return scores without ``None`` and empty containers."""
    kept: dict[str, Any] = {}
    for name, value in scores.items():
        cleaned = without_blanks(value) if isinstance(value, Mapping) else value
        if cleaned is not None and not (isinstance(cleaned, (dict, list)) and not cleaned):
            kept[name] = cleaned
    return kept
