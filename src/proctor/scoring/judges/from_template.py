"""Judges that are a template: ``LLMAsJudge`` rates or compares, ``TaskBasedLLMasJudge`` judges by any task."""
# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL, Artifact, fetch_artifact
from proctor.artifacts.held import resolved
from proctor.data.policy import POLICY_FIELD, classes_of
from proctor.data.streams import INFERENCE_STREAM
from proctor.errors import ScoringError, ValidationError
from proctor.foreign_text import parse_json
from proctor.formats import Format, SystemFormat
from proctor.ir import Failure
from proctor.randomness import random_stream
from proctor.scoring.columns import Columns
from proctor.scoring.instance_metric import BulkInstanceMetric, Computed, Unscored
from proctor.scoring.judges.judge_client import check_engine, engine_name
from proctor.scoring.judges.judged import tell
from proctor.scoring.judges.prompts import Bench, Verdict, words_of
from proctor.scoring.judges.wording import asked_with
from proctor.scoring.metric import failed
from proctor.tasks.task import Task
from proctor.templates import Template

SHORT_TASK = {
    "rating.single_turn": ({"question": str, "answer": str}, {"rating": float}),
    "rating.single_turn_with_reference": ({"question": str, "answer": str, "reference_answer": str}, {"rating": float}),
    "pairwise_comparative_rating.single_turn": (
        {"question": str, "answer_a": str, "answer_b": str, "model_a": str, "model_b": str},
        {"answer_a_preference": int},
    ),
}
BASELINE = "baseline_model"
_HALF = 0.5  # a fair coin: each answer is first equally often, which evens out a judge's liking for the first


class LLMAsJudgeBase(BulkInstanceMetric):
    """Base of judges: predictions become instances of their task, a template asks, its processors read the verdicts.

    Attributes:
        inference_model: The engine that judges.
        template: The words of the question.
        format: How the question is laid out for the engine.
        batch_size: Kept for old files; engines decide how many questions they take at once.
    """

    main_score: str = "llm_as_judge"
    task: str
    template: Template
    system_prompt: Artifact | None = None
    format: Format | None = Field(default_factory=SystemFormat)
    inference_model: Artifact
    reduction_map: dict[str, Any] | None = None  # type: ignore[assignment]
    batch_size: int = 32
    single_reference_per_prediction: bool = True

    def verify(self) -> None:
        """Check the engine."""
        super().verify()
        check_engine(self.inference_model, self.name)

    def asked_with(self) -> dict[str, Any]:
        """Return what its prompts are made of, as :func:`~proctor.scoring.judges.wording.asked_with`."""
        by_name = [self.task, *self.template.postprocessors]
        return asked_with(self, more=[each for each in map(resolved, by_name) if isinstance(each, Artifact)])

    @abstractmethod
    def judge_task(self) -> Task:
        """Return the task of the judge."""

    @abstractmethod
    def prepare_instances(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the instances of the judge's task."""

    @abstractmethod
    def scores_of(self, verdict: Verdict) -> dict[str, Any]:
        """Return the scores that a verdict makes."""

    def judge(self, cases: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """Return the verdicts on instances of the judge's task."""
        return self._bench().judge(cases)

    def _bench(self) -> Bench:
        layout = self.format or SystemFormat()
        return Bench(self.inference_model, self.judge_task(), self.template, layout, self.system_prompt)

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[Computed]:
        """Return the scores of each instance; a failure where the judge gave no verdict that can be read."""
        tell(self.asked_with())
        verdicts = self.judge(self.prepare_instances(references, predictions, task_data))
        return [
            Unscored(verdict.value, self._raw(verdict))
            if isinstance(verdict.value, Failure)
            else self.scores_of(verdict)
            for verdict in verdicts
        ]

    def _raw(self, verdict: Verdict) -> dict[str, Any]:
        return {
            f"{self.main_score}_judge_raw_output": None if isinstance(verdict.raw, Failure) else verdict.raw,
            f"{self.main_score}_judge_raw_input": verdict.prompt,
        }


class LLMAsJudge(LLMAsJudgeBase):
    """Rates an answer, with or without a reference, or compares it with the reference as a baseline.

    Attributes:
        task: ``rating.single_turn``, ``rating.single_turn_with_reference`` or
            ``pairwise_comparative_rating.single_turn``.
        strip_system_prompt_and_format_from_inputs: Show the judge the question in the words of its template only.
    """

    task: Literal["rating.single_turn", "rating.single_turn_with_reference", "pairwise_comparative_rating.single_turn"]
    strip_system_prompt_and_format_from_inputs: bool = True

    def prepare(self) -> None:
        """Choose how instances are reduced: a win rate where answers are compared, else the mean."""
        super().prepare()
        if self.task.startswith("pairwise"):
            self.reduction_map = {"weighted_win_rate": [self.main_score]}
        elif self.reduction_map is None:
            self.reduction_map = {"mean": [self.main_score]}

    def judge_task(self) -> Task:
        """Return the task of the judge."""
        inputs, references = SHORT_TASK[self.task]
        return Task(input_fields=inputs, reference_fields=references, prediction_type=Any, metrics=[])

    def prepare_instances(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the instances of the judge's task."""
        return [
            {**self._case(words_of(self._question(fields)), prediction, each[0]), **_classes(fields)}
            for each, prediction, fields in zip(references, predictions, task_data, strict=True)
        ]

    def _case(self, question: str, prediction: Any, reference: Any) -> dict[str, Any]:
        if self.task == "rating.single_turn":
            return {"question": question, "answer": prediction}
        if self.task == "rating.single_turn_with_reference":
            return {"question": question, "answer": prediction, "reference_answer": reference}
        case = {
            "question": question,
            "answer_a": prediction,
            "answer_b": reference,
            "model_a": "input_model",
            "model_b": BASELINE,
        }
        if getattr(self.template, "shuffle", False) and random_stream(case).random() < _HALF:
            case.update(answer_a=reference, answer_b=prediction, model_a=BASELINE, model_b="input_model")
        return case

    def _question(self, fields: Mapping[str, Any]) -> Any:
        template = (fields.get("metadata") or {}).get("template")
        if not self.strip_system_prompt_and_format_from_inputs or template is None:
            return fields["source"]
        instance = self.fetched(template).process(  # type: ignore[attr-defined]
            {"input_fields": dict(fields), "reference_fields": dict(fields)}, INFERENCE_STREAM
        )
        layout = fetch_artifact("formats.empty")
        return layout.process(instance, INFERENCE_STREAM)["source"]  # type: ignore[attr-defined]

    def scores_of(self, verdict: Verdict) -> dict[str, Any]:
        """Return the rating, or the preference from the side of the prediction."""
        value = verdict.value
        if self.task.startswith("pairwise") and verdict.instance["input_fields"]["model_b"] != BASELINE:
            value = -value  # the answers were swapped
        return {self.main_score: value, **self._raw(verdict)}


class TaskBasedLLMasJudge(LLMAsJudgeBase):
    """Judges by the fields of any task.

    Attributes:
        task: Catalog name of the judge's task.
        infer_log_probs: Ask for log-probabilities; the template's processors must read them.
        judge_to_generator_fields_mapping: Field of the judge's task → field of the evaluated task.
        prediction_field: Field of the judge's task that gets the prediction.
        include_meta_data: Keep what the engine says about each answer.
        model: An old name of ``inference_model``; it goes before it.
    """

    infer_log_probs: bool = False
    judge_to_generator_fields_mapping: dict[str, str] = {}
    prediction_field: Annotated[str | None, NON_POSITIONAL] = None
    include_meta_data: bool = True
    model: Annotated[Artifact | None, NON_POSITIONAL] = None

    def prepare(self) -> None:
        """Name the scores after the engine, and choose a format for it."""
        super().prepare()
        if self.model is not None:
            self.inference_model = self.model
        self.reduction_map = {"mean": [self.main_score]}
        self.score_prefix = f"{engine_name(self.inference_model)}_"

    def verify(self) -> None:
        """Check that the engine gives log-probabilities where they are wanted."""
        super().verify()
        if self.infer_log_probs and not hasattr(self.inference_model, "infer_log_probs"):
            raise ValidationError(f"the engine of {self.name} gives no log-probabilities")

    def _refusals(self, columns: Columns) -> list[tuple[int, Failure]]:
        return failed(columns)

    def judge_task(self) -> Task:
        """Return the task of the judge."""
        task = self.fetched(self.task)
        if not isinstance(task, Task):
            raise ScoringError(f"'{self.task}' is a {type(task).__name__}, not a task")
        return task

    def _bench(self) -> Bench:
        layout = self.format or fetch_artifact(_format_for(engine_name(self.inference_model)))
        if not isinstance(layout, Format):
            raise ScoringError(f"the format of {self.name} is a {type(layout).__name__}")
        return Bench(self.inference_model, self.judge_task(), self.template, layout, self.system_prompt)

    def judge(self, cases: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """Return the verdicts on instances of the judge's task."""
        return self._bench().judge(cases, log_probabilities=self.infer_log_probs)

    def prepare_instances(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the instances of the judge's task."""
        names = list(self.judge_task().input_types)
        return [
            self._case(names, prediction, fields) for prediction, fields in zip(predictions, task_data, strict=True)
        ]

    def _case(self, names: Sequence[str], prediction: Any, fields: Any) -> dict[str, Any]:
        fields = parse_json(fields) if isinstance(fields, str) else fields
        case = dict(_classes(fields))
        for name in names:
            source = self.judge_to_generator_fields_mapping.get(name, name)
            value = fields.get(source)
            if value is None and isinstance(prediction, Mapping):
                value = prediction.get(source)
            if value is not None:
                case[name] = value
        if self.prediction_field and prediction is not None:
            answer = prediction[self.prediction_field] if isinstance(prediction, Mapping) else prediction
            case[self.prediction_field] = answer
        return case

    def scores_of(self, verdict: Verdict) -> dict[str, Any]:
        """Return the verdict's value, and what the engine says about it."""
        about = verdict.metadata if self.include_meta_data else {}
        scores = {self.main_score: verdict.value, **self._raw(verdict)}
        return {**scores, **{f"{self.main_score}_{name}": value for name, value in about.items()}}


def _classes(fields: Mapping[str, Any]) -> dict[str, Any]:
    classes = classes_of(fields)
    return {POLICY_FIELD: classes} if classes else {}


def _format_for(engine: str) -> str:
    if "_wml" not in engine:
        return "formats.chat_api"
    if re.search("llama.?3.*instruct", engine):
        return "formats.llama3_instruct"
    return "formats.models.mistral.instruction" if "mixtral" in engine else "formats.empty"
