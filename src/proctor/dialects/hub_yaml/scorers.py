"""Scorers of an ``eval.yaml``: verdicts on answers, one score of all epochs, and the mean over all samples."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from proctor.dialects.hub_yaml.config import HubTask, Step
from proctor.dialects.hub_yaml.judges import Grader, grader
from proctor.dialects.hub_yaml.solvers import made_of
from proctor.engines.engine import Engine
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.scoring.answer_checks import SHARES, Check, Verdict
from proctor.scoring.answer_values import RowAggregation, Values
from proctor.scoring.columns import Columns
from proctor.scoring.evaluators.checked_answers import CHECKS, checked, score_name
from proctor.scoring.grades import Measured
from proctor.scoring.grading.protocols import Need
from proctor.scoring.lettered_answers import lettered, letters_in
from proctor.scoring.metric import Metric
from proctor.scoring.metric_table import metric_of
from proctor.scoring.named_table import INSPECT
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import each_of, hearing

Lettered = Sequence[tuple[int, bool]]
"""Which answers of a conversation are letters of choices, and whether several may be right."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer to a sample, to be scored.

    Attributes:
        texts: Everything that the model said, in order; the last is the completion.
        sample: The sample.
        history: The conversation up to the completion, as words.
    """

    texts: Sequence[str]
    sample: Mapping[str, Any]
    history: str = ""

    @property
    def completion(self) -> str:
        """What is scored."""
        return self.texts[-1] if self.texts else ""

    @property
    def targets(self) -> list[str]:
        """Acceptable answers."""
        target = self.sample["target"]
        return [target] if isinstance(target, str) else list(target)


Judge = Callable[[Sequence[Answered]], Sequence[Verdict | Failure]]
"""From answers to a verdict on each."""


# -- single scorers --------------------------------------------------------------------------------------------------


def _each(check: Check) -> Judge:
    def judge(answers: Sequence[Answered]) -> list[Verdict | Failure]:
        return [checked(lambda each=each: check(each.completion, each.targets)) for each in each_of(answers)]  # type: ignore[misc]

    return judge


def _choice(chosen_by: Lettered) -> Judge:
    def verdict(each: Answered) -> Verdict:
        count = len(each.sample["choices"])
        if not count:
            raise ScoringError("the scorer choice needs choices, and the row has none")
        chosen: frozenset[int] = frozenset()
        for number, several in chosen_by:  # an answer that names no letter changes nothing
            chosen = letters_in(each.texts[number], count, several=several) or chosen
        return lettered(chosen, each.targets, count, each.completion)

    return lambda answers: [checked(partial(verdict, each)) for each in each_of(answers)]


# -- epochs ----------------------------------------------------------------------------------------------------------


def reduced(values: Sequence[str | float], reducer: str) -> float | None:
    """Return one share of several verdicts; ``None`` where too few are there for it.

    Args:
        values: Letters or numbers, without those that could not be scored.
        reducer: ``mean``, ``median``, ``mode``, ``max``, ``majority``, ``pass_at_K``, ``at_least_K``.
    """
    shares = [SHARES[each] if isinstance(each, str) else float(each) for each in values]
    if not shares:
        return None
    name, _, count = reducer.rpartition("_")
    if name == "pass_at":
        return _pass_at(shares, int(count))
    if name == "at_least":
        return float(sum(each >= 1.0 for each in shares) >= int(count))
    if reducer == "mode":
        value = Counter(values).most_common(1)[0][0]
        return SHARES[value] if isinstance(value, str) else float(value)
    return float(_OF_SHARES[reducer](shares))


_OF_SHARES: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": statistics.mean,
    "median": statistics.median,
    "max": max,
}


def _pass_at(shares: Sequence[float], k: int) -> float | None:
    """Return the chance that one of ``k`` answers is right (Chen et al. 2021); ``None`` of fewer answers."""
    from proctor.scoring.repeats import at_least_one_as_product

    total = len(shares)
    return None if total < k else at_least_one_as_product(total, sum(each >= 1.0 for each in shares), k)


# -- as the core sees them -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HubScorer:
    """A scorer of a task.

    Attributes:
        step: Name and arguments.
        judge: What finds verdicts.
        reducer: What makes one score of all epochs.
        grader: The model that judges, where one does.
    """

    step: Step
    judge: Judge
    reducer: str
    grader: Grader | None = None
    needs: frozenset[Need] = field(default=frozenset({"fields"}))

    @property
    def name(self) -> str:
        """The scorer's name."""
        return self.step.name

    @property
    def metric(self) -> str:
        """The name of its score."""
        return score_name(self.name)

    @property
    def declared_main(self) -> Score:
        """Its score without the value."""
        return Score(self.metric, None, unit="share", higher_is_better=True, metric=self.metric)

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked."""
        if self.grader is not None:
            yield from self.grader.check()

    def judges(self) -> list[Engine]:
        """Return who judges; errors as of :meth:`Grader.engines`."""
        return [] if self.grader is None else self.grader.engines()

    def asked_with(self) -> dict[str, Any] | None:
        """Return what its judges are asked with, and who they are; ``None`` where nobody judges."""
        return None if self.grader is None else self.grader.asked_with(self.name)

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the mean of all samples; an epoch that cannot be scored is left out, a sample without any fails."""
        answers: list[Answered] = []
        owners: list[int] = []
        for place, (said, sample) in enumerate(zip(columns.predictions, columns.task_data, strict=True)):
            if not isinstance(said, Failure):
                answers += [_answered(each, sample) for each in said]
                owners += [place] * len(said)
        verdicts: list[list[Verdict | Failure]] = [[] for _ in columns.predictions]
        with hearing() as heard:
            found = self.judge(answers)
        for place, verdict in zip(owners, found, strict=True):
            verdicts[place].append(verdict)
        failures: dict[int, Failure] = {}
        rows = [self._row(place, found, failures) for place, found in enumerate(verdicts)]
        aggregation = RowAggregation(
            resamples=100 if intervals else 0, directions={self.metric: True}, unit_of=lambda metric: "share"
        )
        measured = aggregation.measured(rows, instances=instances)
        measured.failures |= failures
        measured.parsed = [_shown(found) for found in verdicts]
        measured.notes = {owners[place]: note for place, note in heard.notes.items()}
        return measured

    def _row(self, place: int, found: Sequence[Verdict | Failure], failures: dict[int, Failure]) -> Values | None:
        if not found:
            return None
        value = reduced([each.value for each in found if isinstance(each, Verdict)], self.reducer)
        if value is None:
            reasons = [each for each in found if isinstance(each, Failure)]
            failures[place] = reasons[0] if reasons else Failure("scoring", "too few answers", retryable=False)
            return None
        return {self.metric: value}


def _answered(said: Any, sample: Mapping[str, Any]) -> Answered:
    if isinstance(said, Mapping):
        return Answered(said["texts"], sample, said["history"])
    return Answered(said, sample)


def _shown(found: Sequence[Verdict | Failure]) -> Any:
    answers = [each.answer if isinstance(each, Verdict) else None for each in found]
    return answers[0] if len(answers) == 1 else answers or None


@dataclass(frozen=True)
class MetricScorer:
    """A metric of a catalog or of another system, over the answers to all samples.

    Attributes:
        step: Name and arguments.
        metric: The metric.
    """

    step: Step
    metric: Metric

    @property
    def name(self) -> str:
        """The name that the file has."""
        return self.step.name

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns it reads."""
        return self.metric.needs | {"fields"}

    @property
    def declared_main(self) -> Score | None:
        """The metric's main score without the value."""
        return self.metric.declared_main

    def check(self) -> Iterator[Diagnostic]:
        """Yield what the metric misses."""
        yield from self.metric.check()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the metric's scores of completions."""
        pairs = list(zip(columns.predictions, columns.task_data, strict=True))
        given = [said if isinstance(said, Failure) else _answered(said[0], row) for said, row in pairs]
        read = replace(
            columns,
            predictions=[each.completion if isinstance(each, Answered) else each for each in given],
            references=[_answered((), row).targets for _, row in pairs],
        )
        found = self.metric.measure(read, intervals=intervals, instances=instances)
        listed = {score.name for score in found.scores}
        return Measured(
            found.scores,
            found.main,
            {name: column for name, column in found.instances.items() if name in listed},
            found.failures,
            found.failure,
        )


def scorer_of(task: HubTask, step: Step, chosen_by: Lettered, judge: str | None = None) -> HubScorer | MetricScorer:
    """Return a scorer, ready to use.

    Args:
        task: The task.
        step: The scorer's name and arguments.
        chosen_by: Which answers are letters of choices.
        judge: Who judges where the scorer names nobody.

    Raises:
        ProctorError: An argument cannot be used, or a package is missing.
    """
    try:
        if step.name.startswith("model_graded"):
            made = grader(step, judge)
            return HubScorer(step, partial(made.judge, reduce=reduced), task.reducer, made)
        if step.name == "choice":
            made_of("choice", lambda: None, step)
            return HubScorer(step, _choice(chosen_by), task.reducer)
        if step.name in CHECKS:
            return HubScorer(step, _each(made_of(step.name, CHECKS[step.name], step)), task.reducer)
        if task.epochs > 1:
            raise ScoringError(
                f"'{step.name}' scores all samples together, and each is asked {task.epochs} times",
                hint="leave out epochs, or name a scorer of single answers",
            )
        return MetricScorer(step, metric_of(step.name, INSPECT, step.args))
    except ProctorError as error:
        raise (error if step.location is None else error.located(step.location)) from None
