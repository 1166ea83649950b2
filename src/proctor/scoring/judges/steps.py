"""What judges by criteria share: an assessment in free words, then a choice among options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.artifacts import Artifact
from proctor.errors import ArtifactError, ScoringError, UsageError, ValidationError, did_you_mean
from proctor.ir import Failure
from proctor.scoring.instance_metric import BulkInstanceMetric
from proctor.scoring.judges.criteria import Criteria, fetch_criteria
from proctor.scoring.judges.judge_client import Answer, JudgePrompt, ask, check_engine, engine_name
from proctor.scoring.map_reduce import field_of

Message = dict[str, Any]


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
    """

    inference_engine: Artifact
    evaluator_name: str | None = None
    check_positional_bias: bool = True
    context_fields: str | list[str] | dict[str, str] | None = ["context"]
    generate_summaries: bool = False
    format: str = "formats.chat_api"
    include_prompts_in_result: bool = True
    criteria_field: str | None = None
    criteria: Criteria | None = None

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
                "there is nothing to judge",
                hint="give predictions, or name prediction_field in the criteria",
            )
        return fields[criteria.prediction_field]

    def converse(self, prompts: Sequence[tuple[Any, Sequence[str]]]) -> list[Answer]:
        """Ask the judge prompts with the classes of their data; a failure stands where the prompt is one already."""
        asked = [position for position, (prompt, _) in enumerate(prompts) if not isinstance(prompt, Failure)]
        answers = ask(self.inference_engine, [JudgePrompt(*prompts[position]) for position in asked]) if asked else []
        found = dict(zip(asked, answers, strict=True))
        return [found[i] if i in found else Answer(prompt, {}) for i, (prompt, _) in enumerate(prompts)]

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


def user(text: str) -> list[Message]:
    """Return a chat of one message."""
    return [{"role": "user", "content": text}]


def reply(prompt: Any, answer: Any, text: str) -> Any:
    """Return the chat that goes on with ``text`` after an answer; the failure where there was none."""
    if isinstance(answer, Failure):
        return answer
    return [*prompt, {"role": "assistant", "content": str(answer)}, *user(text)]


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
