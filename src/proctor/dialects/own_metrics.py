"""Metrics in a Python file of the user's: ``--metric checks.py:polite``, a function or a class of Proctor's metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, ClassVar, Final

from proctor.artifacts.query import IN_CODE
from proctor.errors import Diagnostic, ScoringError, UsageError, problems_of
from proctor.guests.own_code import named_in, parameters_of
from proctor.scoring import InstanceMetric
from proctor.scoring.metric import UNPREFIXED, Metric

_SEEN: Final[Mapping[str, Callable[[str, Sequence[str], Mapping[str, Any]], Any]]] = {
    **dict.fromkeys(("answer", "output", "prediction", "response"), lambda answer, _, __: answer),
    **dict.fromkeys(
        ("right", "target", "expected", "reference", "gold"), lambda _, right, __: right[0] if right else ""
    ),
    **dict.fromkeys(("references", "targets", "golds"), lambda _, right, __: list(right)),
    **dict.fromkeys(("row", "doc", "fields"), lambda _, __, row: dict(row)),
}
"""What a function is given, by the names of its parameters; any other name is a column of the row."""


def metric_in(source: str) -> Metric:
    """Return the metric in a file: ``checks.py:polite``, or ``checks.py`` where there is one.

    Raises:
        TrustError: Nobody said that code may run.
        ProctorError: There is no such file or name, it fails when it is run, or it is not a metric.
    """
    named = IN_CODE.fullmatch(source)
    file, name = (named["file"], named["name"] or "") if named else (source, "")
    name, found = named_in(file, name, "metric", _is_metric)
    if not isinstance(found, type):
        return OwnFunction(file=file, function=name)
    made: Metric = found()
    object.__setattr__(made, "code_files", (file,))  # modules of other folders may have its module's name
    return made


def _is_metric(found: Any) -> bool:
    return issubclass(found, Metric) if isinstance(found, type) else callable(found)


class OwnFunction(InstanceMetric):
    """The mean of what a function says of each answer: true, false or a number.

    Attributes:
        file: The Python file.
        function: The function's name in it. It takes an ``answer`` (``output``, ``prediction``, ``response``), what is
            ``right`` (``target``, ``expected``, ``reference``, ``gold``; ``references`` for all), the ``row``, or
            columns of the row by their names.
    """

    reads_task_data: ClassVar[bool] = True

    file: str
    function: str
    main_score: str = ""
    reduction_map: dict[str, Any] = {}

    def prepare(self) -> None:
        """Name the score after the function."""
        super().prepare()
        name = Path(self.file).stem if self.function in UNPREFIXED else self.function
        self.main_score = self.main_score or name
        self.reduction_map = {"mean": [self.main_score]}
        self.ci_scores = [self.main_score]

    @property
    def code_files(self) -> tuple[str, ...]:
        """The files whose digests a run holds."""
        return (self.file,)

    @property
    def name(self) -> str:
        """The file's name, and the function's."""
        return f"{Path(self.file).name}:{self.function}"

    @cached_property
    def _found(self) -> Any:
        return named_in(self.file, self.function, "metric", _is_metric)[1]

    @cached_property
    def _parameters(self) -> list[str]:
        called = f"{self.file}:{self.function}"
        if iscoroutinefunction(self._found):
            raise UsageError(f"{called} is asynchronous, and metrics are not")
        return parameters_of(self._found, called, frozenset(_SEEN))

    def check(self) -> Iterator[Diagnostic]:
        """Yield why the function cannot be called."""
        yield from super().check()
        yield from problems_of(lambda: self._parameters)

    def compute(self, references: list[Any], prediction: object, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return what the function says of an answer.

        Raises:
            ScoringError: It says neither true, false nor a number, or wants a column that the row does not have.
        """
        given, golds = {}, [str(each) for each in references]
        for name in self._parameters:
            if name not in _SEEN and name not in task_data:
                what, known = f"{self.function} takes '{name}', and the row has no such column", (*_SEEN, *task_data)
                raise ScoringError(what, why=f"there are {', '.join(known)}")
            given[name] = _SEEN[name](str(prediction), golds, task_data) if name in _SEEN else task_data[name]
        said = self._found(**given)
        said = said.item() if hasattr(said, "item") else said  # NumPy's true, false and numbers
        if not isinstance(said, bool | int | float) or not math.isfinite(said):
            raise ScoringError(f"{self.function} says {said!r:.80}, which is neither true, false nor a number")
        return {self.main_score: float(said)}
