"""Prompts for judges: a task, a template, a system prompt and a format put instances in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import SequentialMixin
from proctor.data.policy import POLICY_FIELD
from proctor.data.streams import INFERENCE_STREAM
from proctor.formats import Format
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.judges.judge_client import Answer, JudgePrompt, ask
from proctor.scoring.text.processor_steps import process
from proctor.scoring.text.processors import PostProcess
from proctor.tasks.task import Task
from proctor.templates import Template

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge was asked and what came of it.

    Attributes:
        prompt: The prompt, as it was sent.
        raw: What the judge wrote; a failure where it did not.
        value: The verdict after the template's processors; a failure where it cannot be read.
        instance: The instance as the template left it.
        metadata: What the engine says about the answer.
    """

    prompt: Any
    raw: Any
    value: Any
    instance: Mapping[str, Any]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a judge sits: everything but the instances.

    Attributes:
        engine: Who judges.
        task: The fields of an instance.
        template: The words.
        format: The layout.
    """

    engine: Artifact
    task: Task
    template: Template
    format: Format
    system_prompt: Artifact | None = None

    def judge(
        self, cases: Sequence[Mapping[str, Any]], *, log_probabilities: bool = False, previous: Sequence[Messages] = ()
    ) -> list[Verdict]:
        """Return a verdict on each instance.

        Args:
            cases: Fields of the task, with ``data_classification_policy`` where it is known.
            log_probabilities: Whether the template's processors read tokens with log-probabilities.
            previous: Chat messages that come before each prompt.
        """
        instances = [self._in_words(case) for case in cases]
        prompts = list(map(self._prompt, instances))
        for position, messages in enumerate(previous):
            prompts[position] = [*messages, *_as_messages(prompts[position])]
        asked = [JudgePrompt(prompt, case.get(POLICY_FIELD) or ()) for prompt, case in zip(prompts, cases, strict=True)]
        answers = ask(self.engine, asked, log_probabilities=log_probabilities)
        if log_probabilities:  # processors read them from JSON text
            answers = [
                each if isinstance(each.prediction, Failure) else each._replace(prediction=json.dumps(each.prediction))
                for each in answers
            ]
        return self._verdicts(prompts, answers, instances)

    def prompts(self, cases: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return what would be asked about instances."""
        return [self._prompt(self._in_words(case)) for case in cases]

    def _in_words(self, case: Mapping[str, Any]) -> dict[str, Any]:
        instance = self.task.bind(INFERENCE_STREAM)(dict(case))
        instance = self.template.process(instance, INFERENCE_STREAM)
        if self.system_prompt is not None:
            instance = self.system_prompt.process(instance, INFERENCE_STREAM)  # type: ignore[attr-defined]
        return instance

    def _prompt(self, instance: Mapping[str, Any]) -> Any:
        return self.format.process(dict(instance), INFERENCE_STREAM)["source"]

    def _verdicts(
        self, prompts: Sequence[Any], answers: Sequence[Answer], instances: Sequence[Mapping[str, Any]]
    ) -> list[Verdict]:
        texts = [_without(answer.prediction, instance) for answer, instance in zip(answers, instances, strict=True)]
        fields = [instance["input_fields"] for instance in instances]
        columns = Columns(texts, [[]] * len(texts), fields)
        done = process(columns, [strict(each) for each in self.template.postprocessors])
        return [
            Verdict(prompt, answer.prediction, _quoting(value, answer.prediction), instance, answer.metadata)
            for prompt, answer, value, instance in zip(prompts, answers, done.predictions, instances, strict=True)
        ]


def strict(processor: Any) -> Artifact:
    """Return a processor that fails where it would otherwise fall back to a default: an unread verdict is not a 0."""
    found = fetch_artifact(processor)
    if isinstance(found, SequentialMixin):
        return found.model_copy(update={"steps": [strict(step) for step in found.steps]})
    operator = getattr(found, "operator", found)
    if "failure_default" not in type(operator).model_fields:
        return found
    failure = Failure("unreadable", "the judge's verdict cannot be read", retryable=False)
    copy = operator.model_copy(update={"failure_default": failure})
    return found.model_copy(update={"operator": copy}) if isinstance(found, PostProcess) else copy


def _quoting(value: Any, said: Any) -> Any:
    """Return a verdict; a failure to read one quotes what the judge said."""
    if not isinstance(value, Failure) or isinstance(said, Failure):
        return value
    return structs.replace(value, kind="unreadable", message=f"{value.message}: {said!r:.200}")


def _without(text: Any, instance: Mapping[str, Any]) -> Any:
    prefix = instance.get("target_prefix") or ""
    if not isinstance(text, str) or not prefix:
        return text
    stripped = text.lstrip()
    return stripped[len(prefix) :].lstrip() if stripped.startswith(prefix) else text


def _as_messages(prompt: Any) -> list[Mapping[str, Any]]:
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)


def words_of(prompt: Any) -> str:
    """Return a prompt that a model was given as one text."""
    if isinstance(prompt, str):
        return prompt
    if len(prompt) <= 2:  # noqa: PLR2004 - a question, or a system prompt and a question
        return "\n".join(str(message["content"]) for message in prompt)
    return "\n".join(f"{message['role']}: {message['content']}" for message in prompt)
