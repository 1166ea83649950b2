"""How an exam hears what a log holds: answers alone, or all that was written, as the system does that it comes from.

Everything that is graded comes out of the log here. What today's engines file was told apart when it was written; what
older ones filed, and engines of packages that know nothing of thoughts, is told apart now; nobody is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proctor.engines.thoughts import UNKNOWN, as_written, heard, opening_of
from proctor.ir import Request, Response
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

_JOINTS = {"aisbench": "</think>"}
"""What systems put between thoughts that a server gave apart from the text and the text (AISBench 3.1,
``models/output.py``); the others never look at such thoughts."""


def listening(engine: Engine, exam: Exam | None = None) -> Listening:
    """Return how answers are heard.

    Args:
        engine: Who gave them.
        exam: Who hears them; a judge's answers are heard without one.
    """
    marks = engine.thought_marks
    known = marks.of_the_table  # engines that know the user's marks heard them; older ones filed what stood behind
    only_chats = engine.only_chats

    def answers_only(request: Request, response: Response) -> Response:
        if not isinstance(request, Generate):
            return heard(response, known, UNKNOWN)
        opening = opening_of(request.prompt, known, by_name=True, strings_are_messages=only_chats)
        return heard(response, known, opening)

    def all_written(request: Request, response: Response) -> Response:
        stops = request.decoding.stop if isinstance(request, Generate | Converse) else ()
        return as_written(response, marks, stops=stops, joint=joint)

    if exam is None or exam.options.answers != "raw":
        return Listening(answers_only, engine.keeps_thoughts)
    joint = _JOINTS.get(exam.dialect)
    return Listening(all_written)
