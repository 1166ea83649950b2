"""Asking some questions at a time, and reading the answers before the next are chosen: for gates and samples."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.recipes.exam import Exam
from proctor.running.execute import ask
from proctor.running.listening import listening
from proctor.running.plan import Filed, answered
from proctor.running.session import Session

_UNPAID = "budget"


def ask_round(parts: Sequence[Exam], session: Session) -> list[list[Answered]]:
    """Ask parts of exams, and return the questions of each with their answers.

    What the budget did not pay for is answered by a failure (:func:`count_paid`).

    Raises:
        EngineError, LogError: As of :func:`~proctor.running.execute.ask`.
    """
    ask(parts, session)
    filed = Filed(session.log, session.number, with_failures=True)
    missing = Failure(_UNPAID, session.stopped or "the response log holds no answer")
    return [
        list(answered(part.questions(), filed.heard_by(listening(session.engine, part)), missing)) for part in parts
    ]


def count_paid(found: Sequence[Answered]) -> int:
    """Return how many questions stand before the first that the budget did not pay for."""
    return next((place for place, each in enumerate(found) if _is_unpaid(each)), len(found))


def _is_unpaid(each: Answered) -> bool:
    return any(response.failure is not None and response.failure.kind == _UNPAID for response in each.responses)
