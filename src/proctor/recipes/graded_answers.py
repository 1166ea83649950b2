"""What of an answer is graded: with its thoughts or without, and whether one that was cut off counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import structs

from proctor.ir import TRUNCATED, Failure, Response, is_cut_off
from proctor.ir.question import Answered
from proctor.recipes.options import ExamOptions

CUT_OFF: Final = Failure(
    TRUNCATED,
    "the answer was cut off at its most tokens, and --truncated fail wants no such answer scored; "
    "--decoding max_tokens=N leaves room for more",
    retryable=False,
)


def as_wanted(answered: Iterable[Answered], options: ExamOptions) -> Iterable[Answered]:
    """Return answers as a run wants them graded.

    Args:
        answered: Questions with their responses.
        options: ``truncated`` and ``answers`` decide.
    """
    return _without_cut_off(answered) if options.truncated == "fail" else answered


def _without_cut_off(answered: Iterable[Answered]) -> Iterator[Answered]:
    for each in answered:
        if any(_is_cut_off(response) for response in each.responses):
            yield structs.replace(each, responses=tuple(map(_failed, each.responses)))
        else:
            yield each


def _is_cut_off(response: Response) -> bool:
    return response.failure is None and any(map(is_cut_off, response.finish_reasons))


def _failed(response: Response) -> Response:
    if not _is_cut_off(response):
        return response
    return Response(failure=CUT_OFF, usage=response.usage, timing=response.timing)
