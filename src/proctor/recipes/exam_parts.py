"""The parts of an exam that a dialect brings: rows, a draw of demos, an asker, a grader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from proctor.errors import Diagnostic
from proctor.ir import Prompt, Request
from proctor.ir.question import Answered, Ask, Question
from proctor.recipes.answer_seeds import is_drawn
from proctor.recipes.selection import Opened, Row, Selection
from proctor.scoring.grades import Grade

if TYPE_CHECKING:
    from proctor.data.streams import MultiStream


Kind = Literal["generate", "choose", "likelihood", "rolling", "rolling_chat", "converse"]
"""What an exam asks of a model; the first and the last need generation, the others log-probabilities."""

NEED_SCORES: frozenset[Kind] = frozenset({"choose", "likelihood", "rolling", "rolling_chat"})

Demos = tuple[Any, ...]
"""The demos of one prompt: positions in the pool, or demos that the row brings along."""


class Rows(Protocol):
    """The source of an exam's instances."""

    def open(self, selection: Selection) -> Opened:
        """Return the rows of the split that is asked about. The core selects, unless :class:`Opened` says it is done.

        Raises:
            DataError: The data cannot be read, or has no such split.
        """

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows after each step from loading to asking, with a word on what the step did."""


class DemoDraw(Protocol):
    """Chooses the demos of each instance."""

    def bind(self, opened: Opened, seed: int | None) -> Callable[[Ask, Row], Demos]:
        """Return a function from a row to its demos; it is called once for each row that is asked about, in order.

        Args:
            opened: All rows and the pool.
            seed: Seed of the draw; ``None`` for the exam's own.
        """


class Asker(Protocol):
    """Puts rows in words."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests, known before any row."""

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row and its demos to a question; a row that it cannot use raises ProctorError."""


class Grader(Protocol):
    """Turns answers into scores.

    One that knows the unit of its main score beforehand says so in ``declared_main``: a score without its value, or
    ``None``. Thresholds in another unit are then refused before anybody is asked.
    """

    def check(self) -> Iterator[Diagnostic]:
        """Yield the problems known before anybody is asked.

        Metrics and text functions that there are not, packages that are missing, code that is not trusted.
        """

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""


@dataclass(frozen=True, slots=True)
class Context:
    """Facts about the engine for an asker.

    Attributes:
        fits: Whether a prompt is short enough for the model; ``None`` where that is not known or not asked for.
        draws: Whether the model draws its answers where a request does not say so: the engine has a temperature.
        reseeds: Whether the run gives answers their seeds, so that an exam need not.
        limits: Whether the engine was told how long answers may be.
    """

    fits: Callable[[Prompt], bool] | None = None
    draws: bool = False
    reseeds: bool = False
    limits: bool = False

    def gives_seed(self, request: Request) -> bool:
        """Return whether the run gives the answer to a request its seed."""
        return self.reseeds and is_drawn(request, draws=self.draws)


class ScoredGroup(Protocol):
    """A named set of exams with scores of its own, made of its exams' scores.

    One whose scores may be impossible says so in ``check``, as a grader does.
    """

    @property
    def name(self) -> str:
        """The name under which results are filed."""

    def score(self, grades: Mapping[str, Grade]) -> dict[str, Any]:
        """Return the group's scores, from the grades of its exams by name; empty where it has none.

        Exams that its main score is not made of, as they have none of its kind, are named under ``without``.
        """


class NoDemos:
    """The draw of an exam without demos."""

    def bind(self, opened: Opened, seed: int | None) -> Callable[[Ask, Row], Demos]:
        """Return a function that chooses nothing."""
        del opened, seed
        return lambda ask, row: ()
