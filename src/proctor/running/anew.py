"""Answers that are set aside in the log, so that whoever asks next asks anew: unread verdicts, or all of an exam.

Nobody is asked here: answers are graded with what the log has, to learn what their scores are made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, NamedTuple

from proctor.engines.engine import Engine
from proctor.errors import LogError
from proctor.ir import Answers, Failure, Generate, KnownAnswerer, Response, total_usage
from proctor.ir.question import AnsweredBlocks
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.running.batch_records import batch_records
from proctor.running.budget import PriceTable, price_table
from proctor.running.drawn_questions import part_of
from proctor.running.judging import Judging
from proctor.running.listening import listening
from proctor.running.log import Key, ResponseLog
from proctor.running.plan import Filed, answered_blocks, blocks_of
from proctor.running.progress import Progress
from proctor.running.session import Session
from proctor.scoring.grades import Grade
from proctor.scoring.judges.judge_client import asking_through
from proctor.scoring.judges.verdicts import UNREAD

Anew = Literal["verdicts", "everything"]
"""What is asked anew: verdicts of judges that could not be read, or all that the scores of an exam are made of."""

Grading = Callable[[Sequence[int] | None], Mapping[int, str]]
"""Grades the answers at some positions, or all; returns the kinds of failures by position."""

_MISSING: Final = Failure("missing", "the response log holds no answer")


class Whose(NamedTuple):
    """An engine as a log knows it; ``price_name`` is what tables of prices call its model."""

    label: str
    number: int
    price_name: str

    @classmethod
    def of(cls, engine: Engine, number: int) -> Whose:
        """Return an engine with its number in a log."""
        return cls(engine.label, number, engine.price_name)


Known = dict[Whose, dict[Key, Response]]
"""Answers that a log has."""


class Looking(Judging):
    """Judges that say what the log has of them, and are asked nothing.

    Attributes:
        found: What they said.
    """

    def __init__(self, log: ResponseLog) -> None:
        super().__init__(log)
        self.found: Known = defaultdict(dict)

    def ask(self, engine: KnownAnswerer, requests: Iterable[Generate]) -> Answers:
        """Yield what the log has; who answers without the log is not asked either."""
        if not isinstance(engine, Engine) or engine.answers_in_order or type(engine).infer is not Engine.infer:
            return ((position, Response(failure=_MISSING)) for position, _ in enumerate(requests))
        return self.answer(engine, requests)

    def _known(self, engine: Engine, number: int, keys: Sequence[Key]) -> dict[Key, Response]:
        known = super()._known(engine, number, keys)
        self.found[Whose.of(engine, number)].update(known)
        return known

    def _asked(
        self, engine: Engine, number: int, wanted: dict[Key, Generate], progress: Progress
    ) -> dict[Key, Response]:
        del engine, number, progress
        return dict.fromkeys(wanted, Response(failure=_MISSING))


@dataclass(slots=True)
class Renewal:
    """What a run asks anew. It is set aside once, however often the run has to begin.

    Attributes:
        what: What it is.
        is_done: Whether it was set aside.
    """

    what: Anew
    is_done: bool = False

    def before_asking(self, exams: Sequence[Exam], session: Session) -> None:
        """Set everything aside, where answers can be found before they are given."""
        if self.what == "everything" and not session.engine.answers_in_order:
            self._set_aside(exams, session, session.log)

    def before_judging(self, exams: Sequence[Exam], session: Session, judges: ResponseLog) -> None:
        """Set verdicts aside, unless that was done."""
        self._set_aside(exams, session, judges)

    def _set_aside(self, exams: Sequence[Exam], session: Session, judges: ResponseLog) -> None:
        if not self.is_done:
            self.is_done = True
            set_aside_in(self.what, exams, session, judges)


def set_aside_in(anew: Anew, exams: Sequence[Exam], session: Session, judges: ResponseLog) -> None:
    """Set aside what is to be asked anew of a run's exams, and say how much that is and what it cost.

    Args:
        anew: What is asked anew.
        exams: The exams.
        session: The run.
        judges: Where the answers of judges are filed.

    Raises:
        LogError: The log cannot be read or written.
    """
    mine: dict[Key, Response] = {}
    if anew == "everything" and not session.engine.answers_in_order:
        filed = Filed(session.log, session.number, with_failures=False)
        for exam in exams:
            heard = filed.heard_by(listening(session.engine, exam))
            for _, requests in blocks_of(exam.questions()):
                mine.update(heard.trail(list(chain.from_iterable(requests))))
    known = {Whose.of(session.engine, session.number): mine}
    set_aside(anew, judges, [_grading_of(exam, session) for exam in exams], known, session.prices)


def set_aside(
    anew: Anew,
    log: ResponseLog,
    gradings: Iterable[Grading],
    known: Known | None = None,
    prices: PriceTable | None = None,
) -> None:
    """Set aside what judges said of answers, and say how much that is and what it cost.

    Args:
        anew: Whether that is all, or what they said of answers about which no verdict could be read.
        log: Their log.
        gradings: How the answers are graded, exam by exam.
        known: Further answers of the log that are set aside.
        prices: What models cost, where it is not the table that comes with Proctor.

    Raises:
        LogError: The log cannot be read or written.
    """
    found: Known = defaultdict(dict, known or {})
    for grade in gradings:
        for whose, answers in _looked(anew, log, grade).items():
            found[whose].update(answers)
    said = [_said(whose, answers, prices or price_table()) for whose, answers in found.items() if answers]
    if said:
        get_logger().warning("set aside, to be asked anew for about what it cost: %s", "; ".join(said))
    elif anew == "verdicts":
        get_logger().warning("the log has no verdict that could not be read: nobody is asked again")
    for whose, answers in found.items():
        log.set_aside(whose.number, list(answers))
    with batch_records(log.path) as records:
        records.forget_read({key.request.hex() for answers in found.values() for key in answers})


def _said(whose: Whose, answers: Mapping[Key, Response], prices: PriceTable) -> str:
    usage, price = total_usage(each.usage for each in answers.values()), prices.price_of(whose.price_name)
    cost = "price unknown" if price is None else f"{price.cost(usage):.4f} USD"
    tokens = usage.prompt_tokens + usage.completion_tokens
    return f"{len(answers):,} answers of {whose.label} ({tokens:,} tokens, {cost})"


def _grading_of(exam: Exam, session: Session) -> Grading:
    """Return how the answers of a log to an exam are graded."""
    filed = Filed(session.log, session.number, with_failures=True).heard_by(listening(session.engine, exam))
    place = exam.name if session.engine.answers_in_order else ""

    def grade(positions: Sequence[int] | None) -> Mapping[int, str]:
        chosen = exam
        if positions is not None:
            wanted = set(positions)
            chosen = part_of(exam, [each for number, each in enumerate(exam.questions()) if number in wanted])
        found = chosen.grade(AnsweredBlocks(answered_blocks(blocks_of(chosen.questions(), place), filed, _MISSING)))
        return kinds_of(found)

    return grade


def kinds_of(grade: Grade) -> dict[int, str]:
    """Return the kinds of failures by position, with what counts although a judge gave no verdict of it."""
    return dict.fromkeys(grade.unread, "unreadable") | {place: each.kind for place, each in grade.failures.items()}


def _looked(anew: Anew, log: ResponseLog, grade: Grading) -> Known:
    """Return what judges said of answers, as the log has it."""
    looking = Looking(log)
    with asking_through(looking.ask):
        try:
            kinds = grade(None)
            if anew == "verdicts":
                looking.found = defaultdict(dict)
                if unread := sorted(position for position, kind in kinds.items() if kind in UNREAD):
                    grade(unread)
        except LogError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever grades in earnest meets it, and ends by it
            get_logger().warning("answers cannot be graded, and are not all set aside: %s", error)
    return looking.found
