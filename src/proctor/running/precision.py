"""Asking until the main score is known well enough: ``--precision 0.02``.

Questions are drawn at random without replacement, until their interval is as narrow as it was to be. That rule is fixed
beforehand, and the interval holds under it (:mod:`proctor.statistics.fixed_width`); what a budget ends has a confidence
sequence's, which holds whenever one stops. Where other models' answers to the
same questions are at hand, questions are drawn by what these say about them, and the score is corrected for that
(:mod:`proctor.running.draws`). What was asked is then an exam of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack, get_args

from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.ir.question import Answered, Question
from proctor.recipes.exam import Exam, suited
from proctor.running.baselines import Baseline, keys_of
from proctor.running.checks import check_exams
from proctor.running.drawn_questions import ORDER_SEED, part_of, shares_of
from proctor.running.draws import FIXED_WIDTH, UNIFORMLY, AdaptiveDraw, Draw, UniformDraw
from proctor.running.gate_units import Units
from proctor.running.log import ResponseLog
from proctor.running.other_answers import check_given, others_of
from proctor.running.rehearsal import check_decidable
from proctor.running.rounds import ask_round, count_paid
from proctor.running.session import Session, Terms, session_with
from proctor.scoring.flat_scores import COUNT, HIGH, LOW
from proctor.scoring.grades import Grade
from proctor.statistics.item_models import FEWEST_MODELS

How = Literal["auto", "uniform", "adaptive"]
"""How questions are drawn; ``auto`` is adaptive where enough other models have answered them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some questions of an exam, drawn at random until its score was known well enough.

    Attributes:
        part: They, as an exam.
        questions: How many the exam has.
        asked: How many were asked.
        precision: How near to the score the bounds were to be.
        low, high: The bounds of the 95% interval, as shares of 1.
        seed: Of the draws.
        chosen: How they were chosen, for people.
        estimate: The score, as a share of 1, where it is not the mean of what was asked.
        models: Whose answers said which questions tell most.
        interval: What kind of interval the bounds are: ``fixed width``, ``confidence sequence``, or ``adaptive``.
            Results have ``of a whole run`` where :attr:`is_whole`.
    """

    part: Exam
    questions: int
    asked: int
    precision: float
    low: float
    high: float
    seed: int
    chosen: str = UNIFORMLY
    estimate: float | None = None
    models: tuple[str, ...] = ()
    interval: str = FIXED_WIDTH

    @property
    def is_whole(self) -> bool:
        """Whether every question was asked and scored: the results are those of a whole run."""
        return self.asked == self.questions and self.high - self.low <= _ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return it as results hold it."""
        found: dict[str, Any] = {
            "asked": self.asked,
            "of": self.questions,
            "chosen": self.chosen,
            "seed": self.seed,
            "precision": self.precision,
            "interval": WHOLE if self.is_whole else self.interval,
            "reached": (self.high - self.low) / 2 <= self.precision + _ROUNDING,
        }
        if self.estimate is not None:
            found |= {"is_adaptive": True, "models": list(self.models)}
        return found

    def corrected(self, grade: Grade) -> Grade:
        """Return a grade that is of the whole exam.

        What was drawn uniformly stands for the rest as it is. Of adaptive draws only the main score can be corrected,
        and the others are left out: the questions that were asked are harder to foretell than the rest.
        """
        grade.stands_for = self.questions
        if self.estimate is None or grade.main is None or self.is_whole:
            return grade
        factor = 100.0 if grade.main.unit == "percent" else 1.0
        numbers = {"value": self.estimate * factor, "low": self.low * factor, "high": self.high * factor}
        grade.main = replace(grade.main, value=numbers["value"], low=numbers["low"], high=numbers["high"], stderr=None)
        grade.table = [grade.main]
        kept = {name: grade.scores[name] for name in ("score_name", COUNT) if name in grade.scores}
        ends = {"": "value", LOW: "low", HIGH: "high"}
        flat = {f"{name}{end}": numbers[what] for name in ("score", grade.main.name) for end, what in ends.items()}
        grade.scores = {**kept, **flat}
        return grade

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an exam's results with the sample, and the interval that holds although it was looked at.

        The mean of all questions is no longer in doubt once all are asked. What stays in doubt is what a whole run's
        interval speaks about: how the model does on questions of this kind.
        """
        if self.is_whole:
            return {**entry, "sample": self.to_dict()}
        factor = 100.0 if entry.get("unit") == "percent" else 1.0
        bounds = {LOW: self.low * factor, HIGH: self.high * factor}
        names = ("score", str(entry.get("score_name")))
        changed = {f"{name}{end}": bound for name in names for end, bound in bounds.items()}
        return {**entry, **changed, "sample": self.to_dict()}


_ROUNDING = 1e-12
WHOLE = "of a whole run"
"""The interval of an exam of which every question was asked, in the end."""


@dataclass(slots=True)
class Drawn:
    """The samples of some exams.

    Attributes:
        samples: By the exam's name.
        stopped: Why the budget ended the asking; ``None`` where it did not.
    """

    samples: dict[str, Sample] = field(default_factory=dict)
    stopped: str | None = None


def check_precision(precision: float) -> None:
    """Refuse a precision that is not one.

    Raises:
        UsageError: It is not a share between 0 and one half.
    """
    if not 0 < precision < 0.5:  # noqa: PLR2004 - every share is within one half of one half
        hint = f"{precision:g} points are {precision / 100:g}" if 0.5 <= precision < 50 else "0.02 are two points"  # noqa: PLR2004
        raise UsageError(f"--precision is a share between 0 and 0.5, not {precision:g}", hint=hint)


def draw(
    exams: Sequence[Exam],
    engine: Engine,
    precision: float,
    *,
    seed: int | None = None,
    how: How = "auto",
    others: Sequence[Baseline] = (),
    **terms: Unpack[Terms],
) -> Drawn:
    """Ask questions of exams until the main score of each is known to within a precision, or all were asked.

    Args:
        exams: Exams with different names.
        engine: Who answers.
        precision: Half of the width that the 95% interval is to have, as a share.
        seed: Of the draws.
        how: How questions are drawn.
        others: Runs of other models on the same questions; without any, those count that the log has.
        **terms: How to ask, as :class:`~proctor.running.session.Terms` says.

    Raises:
        UsageError: The precision is not one, an exam's score is not a mean of its instances', or adaptive draws are
            wanted and fewer than three other models have answered; the budget ended before an exam was asked anything.
        LogError, EngineError, DataError: With what was answered so far kept in the log.
    """
    check_precision(precision)
    check_how(how, has_others=bool(others))
    engine = engine.answering()
    if engine.answers_in_order:
        raise UsageError(
            f"'{engine.label}' answers in order, and a sample asks in another", hint="leave out --precision"
        )
    chosen = suited(exams, engine)
    check_exams(chosen, engine)
    with session_with(engine, **terms) as session:
        plan = _Plan(precision, seed, how, others)
        states = [_State.of(exam, plan, engine, session.log) for exam in chosen]
        with session.judges(session.log):
            _ask_all(states, session)
    unasked = [state.exam.name for state in states if not state.draws.places]
    if unasked and session.stopped is not None:
        raise UsageError(
            f"nothing is known of '{unasked[0]}'",
            why=f"no question of it was asked: {session.stopped}",
            hint="the same command with a larger budget goes on",
        )
    return Drawn({state.exam.name: state.sample() for state in states}, session.stopped)


def _ask_all(states: Sequence[_State], session: Session) -> None:
    """Ask round after round, until every score is known well enough, or the budget has ended."""
    while (still := [state for state in states if not state.is_done]) and session.stopped is None:
        chunks = [(state, state.next_round()) for state in still]
        answers = ask_round([chunk for _, chunk in chunks], session)
        for (state, chunk), found in zip(chunks, answers, strict=True):
            state.take(chunk, found)


def check_how(how: str, *, has_others: bool) -> None:
    """Refuse ways to draw that there are not, or that contradict each other.

    Raises:
        UsageError: The way is unknown, or uniform and there are runs to learn from.
    """
    if how not in get_args(How):
        raise UsageError(f"--draw is {how!r}", hint=f"it is {', '.join(get_args(How))}")
    if how == "uniform" and has_others:
        raise UsageError("--draw uniform learns nothing from --others", hint="leave out one of them")


@dataclass(frozen=True, slots=True)
class _Plan:
    """How questions are to be drawn, of every exam."""

    precision: float
    seed: int | None
    how: How
    others: Sequence[Baseline]


@dataclass
class _State:
    """An exam that is being asked."""

    exam: Exam
    questions: list[Question]
    plan: _Plan
    draws: Draw
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, exam: Exam, plan: _Plan, engine: Engine, log: ResponseLog) -> _State:
        """Return an exam before it is asked."""
        questions = list(exam.questions())
        check_decidable(exam, questions)
        keys = keys_of(each.digest for each in questions)
        if plan.how != "uniform" and not _is_clustered(exam, plan):
            others = others_of(exam, questions, keys, plan.others, engine, log)
            check_given(exam, others, plan.others)
            if others.are_enough:
                draws: Draw = AdaptiveDraw(exam.name, keys, plan.seed, others.model(), len(others.names))
                return cls(exam, questions, plan, draws, others.names)
            if plan.how == "adaptive":
                raise _too_few(exam, others.names, log)
        return cls(exam, questions, plan, UniformDraw(Units.of(exam, questions, keys, plan.seed), plan.precision))

    @property
    def is_done(self) -> bool:
        """Whether the score is known well enough, or everything was asked."""
        low, high = self.draws.bounds
        return len(self.draws.places) == len(self.questions) or (high - low) / 2 <= self.plan.precision

    def next_round(self) -> Exam:
        return part_of(self.exam, [self.questions[place] for place in self.draws.next()])

    def take(self, chunk: Exam, found: Sequence[Answered]) -> None:
        """Take the answers to a round, up to the first that the budget did not pay for."""
        paid = count_paid(found)
        scores = shares_of(self.exam.name, chunk.grade(found[:paid]), paid).values if paid else []
        self.draws.take(scores)

    def sample(self) -> Sample:
        """Return the questions that were asked, in the exam's own order."""
        if not self.is_done:
            self.draws.stop()
        asked = sorted(self.draws.places)
        part = part_of(self.exam, [self.questions[place] for place in asked])
        low, high = self.draws.bounds
        return Sample(
            part,
            len(self.questions),
            len(asked),
            self.plan.precision,
            low,
            high,
            ORDER_SEED if self.plan.seed is None else self.plan.seed,
            self.draws.said,
            self.draws.estimate,
            self.models,
            self.draws.interval,
        )


def _is_clustered(exam: Exam, plan: _Plan) -> bool:
    """Return whether whole clusters are drawn, which is done uniformly."""
    by = exam.options.clusters or exam.clusters
    if by is not None and (plan.how == "adaptive" or plan.others):
        why = "adaptive draws are of single questions, and their interval knows no clusters"
        raise UsageError(
            f"'{exam.name}' has clusters of '{by}', and cannot be drawn adaptively", why=why, hint="--draw uniform"
        )
    return by is not None


def _too_few(exam: Exam, names: Sequence[str], log: ResponseLog) -> UsageError:
    return UsageError(
        f"--draw adaptive: {len(names)} other models have answered at least half of '{exam.name}', and "
        f"{FEWEST_MODELS} are needed",
        why=f"{log.path} has answers to the same requests of: {', '.join(names) or 'nobody else'}",
        hint="--others RUN names runs of other models on the same questions; --draw uniform needs none",
    )
