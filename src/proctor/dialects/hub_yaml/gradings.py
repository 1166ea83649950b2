"""Gradings of a task, one for each scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.dialects.hub_yaml.config import FieldSpec, HubTask
from proctor.dialects.hub_yaml.names import HubNames
from proctor.dialects.hub_yaml.samples import sample_of
from proctor.dialects.hub_yaml.scorers import HubScorer, Lettered, MetricScorer, scorer_of
from proctor.errors import Diagnostic, ProctorError, ValidationError
from proctor.ir import Converse, Failure, Generate
from proctor.ir.conversation import as_turns, next_messages
from proctor.ir.prompt import message_text
from proctor.ir.question import Answered
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading, Reading


def task_grader(
    task: HubTask, chosen_by: Lettered, group_by: Sequence[str | tuple[str, ...]], judge: str | None = None
) -> ExamGrader:
    """Return what grades a task.

    Args:
        task: The task.
        chosen_by: Which answers are letters of choices.
        group_by: Columns to score by.
        judge: Who judges where a scorer names nobody.

    Raises:
        ValidationError: With the problems of all scorers.
    """
    problems: list[Diagnostic] = []
    scorers: list[HubScorer | MetricScorer] = []
    for step in task.scorers:
        try:
            scorers.append(scorer_of(task, step, chosen_by, judge))
        except ProctorError as error:
            problems += error.diagnostics
    if problems:
        raise ValidationError(problems)
    graders = [each.grader for each in scorers if isinstance(each, HubScorer)]
    read = _Reader(task.fields, with_history=any(each is not None and each.include_history for each in graders))
    names = _grading_names([each.name for each in scorers])
    gradings = [
        Grading(name, read, (), [each], {"scorer": each.name, "args": dict(each.step.args)})
        for name, each in zip(names, scorers, strict=True)
    ]
    return ExamGrader(gradings, HubNames(), GroupBy.of(group_by), shown=_shown)


def _grading_names(scorers: Sequence[str]) -> list[str]:
    """Return a name for each scorer; none where there is only one, a number behind one that occurs twice."""
    if len(scorers) == 1:
        return [""]
    found: list[str] = []
    for name in scorers:
        same = sum(each == name or each.startswith(f"{name}_") for each in found) if name in found else 0
        found.append(f"{name}_{same + 1}" if same else name)
    return found


class _Reader:
    """Reads the answers to a sample: for each epoch everything that the model said."""

    def __init__(self, fields: FieldSpec, *, with_history: bool) -> None:
        self._fields = fields
        self._with_history = with_history

    def __call__(self, answered: Answered) -> Sequence[Reading]:
        question = answered.question
        epochs: list[Any] = [list(response.texts) for response in answered.responses]
        if self._with_history:
            request = question.requests[0]
            epochs = [{"texts": texts, "history": history_of(request, texts)} for texts in epochs]
        exchange = question.exchange  # where the order of choices is the one that was asked
        asked = {"choices": list(exchange.choices), "target": exchange.answer}
        return (Reading(epochs, exchange.references, {**sample_of(question.instance, self._fields), **asked}),)


def history_of(request: object, texts: Sequence[str]) -> str:
    """Return the conversation up to the last answer as words, without what the system says."""
    turns: list[Any] = []
    if isinstance(request, Generate):
        turns = list(request.prompt.messages)
    elif isinstance(request, Converse):
        turns = next_messages(request.turns, as_turns(texts[:-1])) or []
    turns = [turn for turn in turns if turn["role"] != "system"]
    turns += [{"role": "assistant", "content": texts[-1]}] if texts else []
    shown = [message_text(turns[0])] if turns else []
    shown += [f"{'User' if turn['role'] == 'user' else 'Assistant'}: {message_text(turn)}" for turn in turns[1:]]
    return "\n\n".join(shown)


def _shown(readings: Sequence[Reading]) -> Any:
    value = readings[0].value
    if isinstance(value, Failure):
        return value
    said = [each["texts"] if isinstance(each, dict) else each for each in value]
    shown = [texts[0] if len(texts) == 1 else texts for texts in said]
    return shown[0] if len(shown) == 1 else shown
