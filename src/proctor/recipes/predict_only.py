"""Grading that scores nothing: answers are recorded, and that is all (``--predict-only``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proctor.errors import Diagnostic
from proctor.ir import Failure, Response
from proctor.ir.question import Answered
from proctor.scoring.grade import Grade


class PredictOnly:
    """The grader of an exam that is answered and not scored."""

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing: no metric is needed."""
        yield from ()

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Return what was answered, without a score."""
        predictions: list[object] = []
        failures: dict[int, Failure] = {}
        for place, each in enumerate(answered):
            if (failure := each.failure) is not None:
                failures[place] = failure
            predictions.append(failure or _one([_said(response) for response in each.responses]))
        count = {"num_of_instances": len(predictions) - len(failures)}
        return Grade(count, predictions=predictions, failures=failures)


def _said(response: Response) -> object:
    if response.scores:
        return [scored.log_likelihood for scored in response.scores]
    return response.texts[0] if len(response.texts) == 1 else list(response.texts)


def _one(values: list[object]) -> object:
    return values[0] if len(values) == 1 else values
