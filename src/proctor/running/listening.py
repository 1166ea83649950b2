"""Reads answers from the log for grading: answers alone, or all that was written, as their system does.

Everything that is graded comes out of the log here. What today's engines file was told apart when it was written; what
older ones filed, and engines of packages that know nothing of thoughts, is told apart now; nobody is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proctor.engines.thoughts import UNKNOWN, as_written, heard, opening_of
from proctor.ir import Failure, Request, Response
from proctor.ir.requests import Converse, Generate

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.recipes.exam import Exam


@dataclass(frozen=True, slots=True)
class Listening:
    """From a request and what is filed under it to what is graded.

    Attributes:
        hear: The function.
        keeps_thoughts: Whether the turns of a conversation carry thoughts, too.
    """

    hear: Callable[[Request, Response], Response]
    keeps_thoughts: bool = False

    def __call__(self, request: Request, response: Response) -> Response:
        """Return what is graded."""
        return self.hear(request, response)


AS_FILED = Listening(lambda request, response: response)
"""What is filed, as it stands."""


def measured(response: Response) -> Response:
    """Return a response; one that has a log-likelihood of NaN, or above every number, is a failure.

    Half precision overflows to them. Compared like numbers they would let the first choice win.
    """
    for place, score in enumerate(response.scores):
        if score.log_likelihood != score.log_likelihood or score.log_likelihood == math.inf:
            why = (
                f"the log-likelihood of continuation {place + 1} is {score.log_likelihood}, which is not a measurement"
            )
            return Response(
                usage=response.usage, timing=response.timing, failure=Failure("engine", why, retryable=False)
            )
    return response


def listening(engine: Engine, exam: Exam | None = None) -> Listening:
    """Return a reader of answers.

    Args:
        engine: Who gave them.
        exam: Who hears them; a judge's answers are heard without one.
    """
    marks = engine.thought_marks
    known = marks.of_the_table  # engines that know the user's marks heard them; older ones filed what stood behind
    only_chats = engine.only_chats

    def answers_only(request: Request, response: Response) -> Response:
        if not isinstance(request, Generate):
            return heard(measured(response), known, UNKNOWN)
        opening = opening_of(request.prompt, known, by_name=True, strings_are_messages=only_chats)
        return heard(response, known, opening)

    def all_written(request: Request, response: Response) -> Response:
        stops = request.decoding.stop if isinstance(request, Generate | Converse) else ()
        return as_written(measured(response), marks, stops=stops, joint=joint)

    if exam is None or exam.options.answers != "raw":
        return Listening(answers_only, engine.keeps_thoughts)
    joint = exam.joint
    return Listening(all_written)
