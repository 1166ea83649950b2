"""Asking until the main score is known well enough: ``--precision 0.02``.

Questions are drawn at random without replacement, and their interval is that of a confidence sequence: it holds
although somebody looks at it again and again, and stops when he likes what he sees. What was asked is then an exam of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.ir import Failure
from proctor.ir.question import Answered, Question
from proctor.recipes.exam import Exam, suited
from proctor.running.baselines import keys_of
from proctor.running.budget import PriceTable
from proctor.running.checks import check_exams
from proctor.running.drawn_questions import ORDER_SEED, in_drawn_order, part_of, shares_of
from proctor.running.execute import Budget, Session, ask
from proctor.running.judging import judges_through
from proctor.running.log import ResponseLog
from proctor.running.plan import Filed, answered
from proctor.running.progress import Observer, SilentObserver
from proctor.secrets import without_secrets
from proctor.statistics.sequences import GRID_STEP, ConfidenceSequence, mean_interval

FIRST_ROUND = 32
"""Questions before the first look: fewer know no share to within ten points."""

_GROWTH = 8  # rounds grow to an eighth of what was asked: as much may be asked in vain


@dataclass(frozen=True, slots=True)
class Sample:
    """Some questions of an exam, drawn at random until its score was known well enough.

    Attributes:
        part: They, as an exam.
        questions: How many the exam has.
        asked: How many were asked.
        precision: How near to the score the bounds were to be.
        low, high: The bounds of the 95% interval, as shares of 1.
        seed: Of the order of questions.
    """

    part: Exam
    questions: int
    asked: int
    precision: float
    low: float
    high: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return what results say of it."""
        return {
            "asked": self.asked,
            "of": self.questions,
            "chosen": "uniformly at random, without replacement",
            "seed": self.seed,
            "precision": self.precision,
            "reached": (self.high - self.low) / 2 <= self.precision + _ROUNDING,
        }

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an exam's results with the sample, and the interval that holds although it was looked at."""
        factor = 100.0 if entry.get("unit") == "percent" else 1.0
        bounds = {"_ci_low": self.low * factor, "_ci_high": self.high * factor}
        names = ("score", str(entry.get("score_name")))
        changed = {f"{name}{end}": bound for name in names for end, bound in bounds.items()}
        return {**entry, **changed, "sample": self.to_dict()}


_ROUNDING = 1e-12


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
    log: ResponseLog | str | Path | None = None,
    observer: Observer | None = None,
    budget: Budget | None = None,
    prices: PriceTable | None = None,
    retry_failed: bool = True,
) -> Drawn:
    """Ask questions of exams until the main score of each is known to within a precision, or all were asked.

    Args:
        exams: Exams with different names.
        engine: Who answers.
        precision: Half of the width that the 95% interval is to have, as a share.
        seed: Of the order of questions.
        log, observer, budget, prices, retry_failed: As of :func:`~proctor.running.run.run_exams`.

    Raises:
        UsageError: The precision is not one, or an exam's score is not a mean of its instances'.
        LogError, EngineError, DataError: With what was answered so far kept in the log.
    """
    check_precision(precision)
    engine = engine.answering()
    if engine.answers_in_order:
        raise UsageError(
            f"'{engine.label}' answers in order, and a sample asks in another", hint="leave out --precision"
        )
    chosen = suited(exams, engine)
    check_exams(chosen, engine)
    states = [_State.of(exam, precision, seed) for exam in chosen]
    with ExitStack() as stack:
        open_log = log if isinstance(log, ResponseLog) else stack.enter_context(ResponseLog(log))
        number = open_log.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        session = Session(engine, open_log, number, observer or SilentObserver(), retry_failed, budget, prices)
        stack.enter_context(judges_through(open_log, retry_failed=retry_failed, budget=budget, prices=prices))
        while (still := [state for state in states if not state.is_done]) and session.stopped is None:
            chunks = [(state, state.next_round()) for state in still]
            ask([chunk for _, chunk in chunks], session)
            filed = Filed(open_log, number, with_failures=True)
            missing = Failure("budget", session.stopped or "the response log holds no answer")
            for state, chunk in chunks:
                state.take(chunk, list(answered(chunk.questions(), filed, missing)))
    return Drawn({state.exam.name: state.sample() for state in states}, session.stopped)


@dataclass
class _State:
    """An exam that is being asked."""

    exam: Exam
    questions: list[Question]
    places: list[int]
    precision: float
    seed: int
    sequence: ConfidenceSequence
    scores: list[float | None] = field(default_factory=list)
    bounds: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, exam: Exam, precision: float, seed: int | None) -> _State:
        """Return an exam before it is asked."""
        questions = list(exam.questions())
        places = in_drawn_order(exam.name, keys_of(each.digest for each in questions), seed)
        used = ORDER_SEED if seed is None else seed
        return cls(exam, questions, places, precision, used, ConfidenceSequence(len(questions)))

    @property
    def is_done(self) -> bool:
        """Whether the score is known well enough, or everything was asked."""
        low, high = self.bounds
        return len(self.scores) == len(self.questions) or (high - low) / 2 <= self.precision

    def next_round(self) -> Exam:
        """Return the next questions as an exam."""
        asked = len(self.scores)
        size = max(FIRST_ROUND, asked // _GROWTH)
        return part_of(self.exam, [self.questions[place] for place in self.places[asked : asked + size]])

    def take(self, chunk: Exam, found: Sequence[Answered]) -> None:
        """Take the answers to a round, up to the first that the budget did not pay for."""
        paid = next((n for n, each in enumerate(found) if _is_unpaid(each)), len(found))
        if not paid:
            return
        shares = shares_of(self.exam.name, chunk.grader.grade(found[:paid]), paid)
        for score in shares.values:
            self.sequence.add(score)
        self.scores += shares.values
        self.bounds = self.sequence.bounds()
        if (self.bounds[1] - self.bounds[0]) / 2 <= self.precision + GRID_STEP:
            self.bounds = mean_interval(self.scores, len(self.questions))

    def sample(self) -> Sample:
        """Return what was asked, in the exam's own order."""
        asked = sorted(self.places[: len(self.scores)])
        part = part_of(self.exam, [self.questions[place] for place in asked])
        low, high = self.bounds
        return Sample(part, len(self.questions), len(asked), self.precision, low, high, self.seed)


def _is_unpaid(each: Answered) -> bool:
    return any(response.failure is not None and response.failure.kind == "budget" for response in each.responses)
