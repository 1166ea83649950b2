"""Gates: is a model no worse than a baseline, or good enough? Decided while asking, with few questions.

The questions of each exam are put in a seeded random order and asked some at a time. After each, in that order and not
in the order in which answers come, a bet is settled (:mod:`proctor.statistics.gates`); as soon as the verdict is
certain, nobody is asked any more. A gate is a function of its questions and the response log, like a run: one that was
killed goes on when it is started again, reaches the same verdict, and asks nothing twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Unpack

from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.ir import Usage
from proctor.ir.question import Answered, Question
from proctor.recipes.exam import Exam, suited
from proctor.recipes.fingerprint import FingerprintMaker
from proctor.running.accounts import Sent
from proctor.running.baselines import Baseline, keys_of
from proctor.running.checks import check_exams
from proctor.running.drawn_questions import part_of, shares_of
from proctor.running.gate_baselines import (
    UNCHECKED,
    check_common,
    check_reduced,
    check_same,
    known_exam,
    without_new_columns,
)
from proctor.running.gate_units import Units
from proctor.running.rehearsal import check_decidable, less_is_better
from proctor.running.rounds import ask_round, count_paid
from proctor.running.session import Session, Terms, session_with
from proctor.statistics.gates import GateTest, Verdict, capital_for

FIRST_ROUND = 8
"""Questions that are asked before the first look: a broken model is found out by fifteen."""

_GROWTH = 8
"""Rounds grow to an eighth of what was asked, so that a verdict comes at most that much later than it could, and
servers have enough to do. Neither depends on the engine: the same gate looks at the same times everywhere."""

_SCORES, _DIFFERENCES = 0.2, 0.015
"""Guesses of variances before any answer: of right and wrong answers, and of half the differences of similar models."""


@dataclass(frozen=True, slots=True)
class GateRules:
    """The rules of a gate.

    Attributes:
        margin: How much worse than the baseline the model may be, as a share of 1.
        at_least: The score that it has to have, where there is no baseline.
        level: One less the error of a wrong verdict, shared by all exams of the gate.
        seed: Of the order of questions.
        instance_scores: Whether to gate on the mean of instances where the exam's own score is not that.
        changed: Layers of the exam that may differ from the baseline's.
    """

    margin: float = 0.03
    at_least: float | None = None
    level: float = 0.95
    seed: int | None = None
    instance_scores: bool = False
    changed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, value in (("--margin", self.margin), ("--at-least", self.at_least)):
            if value is not None and not 0 <= value < 1 + (name == "--at-least") * 1e-12:
                hint = f"{value:g} points are {value / 100:g}" if 1 < value <= 100 else "0.03 are three points"  # noqa: PLR2004
                raise UsageError(f"{name} is a share between 0 and 1, not {value:g}", hint=hint)
        if not 0.5 <= self.level < 1:  # noqa: PLR2004 - below it a coin would be as good
            raise UsageError(f"--level is between 0.5 and 1, not {self.level:g}", hint="0.95 is usual")

    @property
    def threshold(self) -> float:
        """The least mean of the bets: of scores, or of differences moved to 0 to 1."""
        return (1.0 - self.margin) / 2.0 if self.at_least is None else self.at_least


@dataclass(frozen=True, slots=True)
class ExamVerdict:
    """The verdict of a gate on one exam.

    Attributes:
        exam: Its name.
        verdict: ``passed``, ``failed`` or ``undecided``.
        questions: How many there are.
        asked: How many were asked.
        decided_after: After how many the verdict was certain; ``None`` where it is not.
        failed: Asked ones that have no score.
        metric: What is compared.
        model, baseline: Mean scores over the asked questions, as shares; the baseline's is ``None`` without one.
        difference: ``model - baseline``; without a baseline the model's score.
        low, high: What the difference is above, and below, each with the gate's level.
        why: Why it is undecided.
        clusters: By which field questions were drawn together; ``None`` where each was drawn by itself.
        units: How many there were to draw: questions, or clusters of them.
        note: What could not be checked of the baseline, or how scores are corrected.
        is_corrected: Whether scores and bounds are as labels correct them.
    """

    exam: str
    verdict: Verdict
    questions: int
    asked: int
    decided_after: int | None
    failed: int
    metric: str
    model: float
    baseline: float | None
    difference: float
    low: float
    high: float
    why: str = ""
    clusters: str | None = None
    units: int = 0
    note: str = ""
    is_corrected: bool = False


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdicts of a gate and what they cost.

    Attributes:
        exams: One verdict for each exam.
        rules: What was wanted.
        baseline: Where the baseline's scores come from, for people.
        label: Who was asked.
        requests: Requests that were sent, and taken from the log.
        usage: Tokens of the requests that were sent; of all answers where labels correct scores.
        usd: What they cost at list prices; ``None`` where no price is known.
        stopped: Why the budget ended it; ``None`` where it did not.
    """

    exams: tuple[ExamVerdict, ...]
    rules: GateRules
    baseline: str
    label: str
    requests: Mapping[str, int]
    usage: Usage
    usd: float | None = None
    stopped: str | None = None

    @property
    def verdict(self) -> Verdict:
        """``failed`` where an exam failed, ``passed`` where all passed."""
        found = {each.verdict for each in self.exams}
        return "failed" if "failed" in found else "undecided" if "undecided" in found else "passed"


def run_gate(
    exams: Sequence[Exam], engine: Engine, baseline: Baseline | None, rules: GateRules, **terms: Unpack[Terms]
) -> GateResult:
    """Let an engine pass or fail exams, asking as few questions as that takes.

    Args:
        exams: Exams with different names.
        engine: Who answers.
        baseline: Scores to compare with; ``None`` where ``rules.at_least`` says what is enough.
        rules: What is wanted.
        **terms: How to ask, as :class:`~proctor.running.session.Terms` says.

    Raises:
        UsageError: The baseline is of another exam, has failures or too few questions; a score cannot be gated on.
        LogError, EngineError, DataError: With what was answered so far kept in the log.
    """
    engine = engine.answering()
    if engine.answers_in_order:
        raise UsageError(f"'{engine.label}' answers in order, and a gate asks in another", hint="use proctor compare")
    chosen = suited(exams, engine)
    check_exams(chosen, engine)
    states = [_State.of(exam, baseline, rules) for exam in chosen]
    with session_with(engine, **terms) as session, ExitStack() as stack:
        session.reckon_long_prompts()
        session.observer.started([exam.name for exam in chosen], engine.label)
        stack.callback(session.observer.finished)
        stack.enter_context(session.judges(session.log))
        _decide(states, session, rules)
    return _result(states, session, baseline, rules)


def _decide(states: Sequence[_State], session: Session, rules: GateRules) -> None:
    """Ask round after round, until every verdict is certain, everything was asked, or the budget has ended."""
    while open_ones := [state for state in states if state.is_open]:
        rounds = [(state, state.next_round()) for state in open_ones]
        answers = ask_round([chunk for _, chunk in rounds], session)
        for (state, chunk), found in zip(rounds, answers, strict=True):
            state.take(chunk, found, is_cut_off=session.stopped is not None)
        _share(states, 1.0 - rules.level)
        if session.stopped is not None:
            return


def _share(states: Sequence[_State], alpha: float) -> None:
    """Decide what can be decided with an error that all exams share (Holm 1979)."""
    while True:
        left = [state for state in states if state.verdict == "undecided"]
        decided = [state.decide(alpha / len(left)) for state in left]
        if not any(decided):
            return


@dataclass
class _State:
    """One exam of a gate."""

    exam: Exam
    questions: list[tuple[Question, float | None]]
    rules: GateRules
    units: Units
    test: GateTest
    verdict: Verdict = "undecided"
    decided_after: int | None = None
    asked: int = 0
    failed: int = 0
    metric: str = ""
    note: str = ""
    scores: list[tuple[float | None, float | None]] = field(default_factory=list)
    _highest: list[tuple[float, float, int]] = field(default_factory=list)

    @classmethod
    def of(cls, exam: Exam, baseline: Baseline | None, rules: GateRules) -> _State:
        """Return an exam before it is asked; errors as of :func:`run_gate`."""
        maker = FingerprintMaker()
        questions = list(maker.passing(exam.questions()))
        check_decidable(exam, questions, instance_scores=rules.instance_scores, more_is_better=True)
        digests = keys_of(question.digest for question in questions)
        before: Sequence[float | None] = [None] * len(questions)
        if baseline is not None:
            known = known_exam(exam.name, baseline)
            plain, now = without_new_columns(known, questions, maker.made(exam.definition))
            if known.fingerprint is not None and known.fingerprint.prompts == maker.prompts_with_repeats:
                now = replace(now, prompts=known.fingerprint.prompts)
            digests = keys_of(plain)
            check_same(exam.name, known, now, baseline, rules.changed)
            check_reduced(exam, known, baseline, rules.changed)
            before = [known.scores.get(key) for key in digests]
            check_common(exam.name, known, before, digests, baseline)
        shared = [place for place in range(len(questions)) if baseline is None or before[place] is not None]
        asked = [questions[place] for place in shared]
        units = Units.of(exam, asked, [digests[place] for place in shared], rules.seed)
        placed = [(asked[place], before[shared[place]]) for place in units.order]
        spread, margin = (_SCORES, None) if baseline is None else (_DIFFERENCES, rules.margin / 2.0)
        note = UNCHECKED if baseline is not None and known_exam(exam.name, baseline).fingerprint is None else ""
        return cls(exam, placed, rules, units, units.test(rules.threshold, margin, spread), note=note)

    @property
    def is_open(self) -> bool:
        """Whether there is something to ask, and reason to."""
        return self.verdict == "undecided" and self.asked < len(self.questions)

    def next_round(self) -> Exam:
        size = self.units.after(self.asked, max(FIRST_ROUND, self.asked // _GROWTH))
        return part_of(self.exam, [question for question, _ in self.questions[self.asked : self.asked + size]])

    def take(self, chunk: Exam, found: Sequence[Answered], *, is_cut_off: bool) -> None:
        """Settle the bets on the answers to a round; of one that was cut off, up to the first that is missing."""
        if is_cut_off:
            found = found[: (self.units.ends(self.asked + count_paid(found)) or [0])[-1] - self.asked]
        if not found:
            return
        grade = chunk.grade(found)
        shares = shares_of(self.exam.name, grade, len(found), instance_scores=self.rules.instance_scores)
        if shares.low_is_better:
            raise less_is_better(self.exam.name, shares.metric)
        self.metric = shares.metric or self.metric
        begun = self.asked
        for score in shares.values:
            self.scores.append((score, self.questions[self.asked][1]))
            self.asked += 1
            self.failed += score is None
        known = self.shares
        for end in self.units.ends(self.asked):
            if end > begun:
                self.units.settled(self.test, known[begun:end], self.rules.threshold)
                self._highest.append((float(self.test.above.highest), float(self.test.below.highest), end))
                begun = end

    @property
    def shares(self) -> list[float | None]:
        """The bets, question by question, from 0 to 1: scores, or differences."""
        if self.rules.at_least is not None:
            return [new for new, _ in self.scores]
        return [None if new is None else (new - (old or 0.0) + 1.0) / 2.0 for new, old in self.scores]

    def decide(self, alpha: float) -> bool:
        """Take the verdict if it is certain with this error; return whether it was taken."""
        found = self.test.verdict(alpha) if self.asked else "undecided"
        if found == "undecided":
            return False
        enough = capital_for(alpha)
        where = 0 if found == "passed" else 1
        after = next((each[2] for each in self._highest if each[where] >= enough), self.asked)
        self.verdict, self.decided_after = found, after
        return True


# -- results --------------------------------------------------------------------------------------------------


def _result(states: Sequence[_State], session: Session, baseline: Baseline | None, rules: GateRules) -> GateResult:
    progress = session.progress
    usage = progress.usage
    price = session.price
    return GateResult(
        tuple(_verdict_of(state, session.stopped) for state in states),
        rules,
        "" if baseline is None else baseline.source,
        session.engine.label,
        {"asked": progress.asked, "from_log": progress.cached, "failed": progress.failed},
        usage,
        None if price is None else Sent.in_run(progress).cost(price),
        session.stopped,
    )


def _verdict_of(state: _State, stopped: str | None) -> ExamVerdict:
    pairs = [(new, old) for new, old in state.scores if new is not None]
    count, total = len(pairs), len(state.questions)
    model = math.fsum(new for new, _ in pairs) / count if count else math.nan
    has_baseline = state.rules.at_least is None
    before = math.fsum(old or 0.0 for _, old in pairs) / count if count and has_baseline else None
    low, high = _bounds(state)
    why = ""
    if state.verdict == "undecided":
        why = stopped or f"{state.failed} of {state.asked} questions have no score, and it depends on them"
    return ExamVerdict(
        state.exam.name,
        state.verdict,
        total,
        state.asked,
        state.decided_after,
        state.failed,
        state.metric,
        model,
        before,
        model - (before or 0.0),
        low,
        high,
        why,
        state.units.by,
        len(state.units.sizes),
        state.note,
    )


def _bounds(state: _State) -> tuple[float, float]:
    """Return what the difference is above and below, each with the gate's level; a verdict is such a bound, too."""
    each_way = 2.0 * state.rules.level - 1.0
    low, high = state.units.interval(state.shares, each_way)
    if state.rules.at_least is None:
        low, high, edge = 2.0 * low - 1.0, 2.0 * high - 1.0, -state.rules.margin
    else:
        edge = state.rules.at_least
    low = max(low, edge) if state.verdict == "passed" else low
    return low, (min(high, edge) if state.verdict == "failed" else high)
