"""What of an answer is graded: with its thoughts or without, and whether one that was cut off counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from proctor.ir import TRUNCATED, Converse, Failure, Generate, Request, Response, is_cut_off
from proctor.ir.question import Answered
from proctor.recipes.options import ExamOptions

if TYPE_CHECKING:
    from proctor.engines.thoughts import Marks

CUT_OFF: Final = Failure(
    TRUNCATED,
    "the answer was cut off at its most tokens, and --truncated fail wants no such answer scored; "
    "--decoding max_tokens=N leaves room for more",
    retryable=False,
)

JOINTS: Final[Mapping[str, str]] = {"aisbench": "</think>"}
"""By dialect, what its system puts between thoughts that a server sends apart from the answer and the answer: AISBench
its ``think_tag``. The others do not look at such thoughts."""

_EXTRACTION = frozenset({"filter_list", "metric_list", "postprocessors", "metrics", "eval_cfg"})
"""Under which keys exams say how predictions are made of answers."""

_MARK = re.compile(r"<\\?/?think|channel\\?\|\\?>|think_pred|keep[-_]reasoning")
"""What says that a processor looks for thoughts: their marks in its arguments, in regular expressions too, or the names
that OpenCompass and AISBench have for it."""

_AS_MARKED = "<think>\n{}\n</think>\n\n{}"
"""How thoughts are shown to processors that look for their marks, where the model itself wrote none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run wants graded.

    Attributes:
        options: ``truncated`` and ``answers`` decide.
        dialect: The exam's.
        marks: The marks of the model's thoughts.
        is_marked: Whether the exam's own processors look for thoughts, and are to find them.
    """

    options: ExamOptions
    dialect: str = ""
    marks: Marks | None = None
    is_marked: bool = False

    def of(self, answered: Iterable[Answered]) -> Iterable[Answered]:
        """Return answers as they are to be graded."""
        found = answered
        if self.options.answers == "raw":
            found = _changed(found, partial(_raw, marks=self.marks, joint=JOINTS.get(self.dialect)))
        elif self.is_marked:
            found = _changed(found, _marked)
        return _changed(found, _whole) if self.options.truncated == "fail" else found


Change = Callable[[Request, Response], Response]


def _changed(answered: Iterable[Answered], change: Change) -> Iterator[Answered]:
    for each in answered:
        responses = tuple(map(change, each.question.requests, each.responses))
        is_same = all(new is old for new, old in zip(responses, each.responses, strict=True))
        yield each if is_same else structs.replace(each, responses=responses)


def _whole(request: Request, response: Response) -> Response:
    """Return a failure in place of an answer that was cut off."""
    del request
    if response.failure is not None or not any(map(is_cut_off, response.finish_reasons)):
        return response
    return Response(failure=CUT_OFF, usage=response.usage, timing=response.timing)


def _raw(request: Request, response: Response, *, marks: Marks | None, joint: str | None) -> Response:
    """Return all that was written, as the system sees it that an exam comes from."""
    if not isinstance(request, Generate | Converse):
        return response
    from proctor.engines.thoughts import as_written, marks_of

    return as_written(response, marks or marks_of(), stops=request.decoding.stop, joint=joint)


def _marked(request: Request, response: Response) -> Response:
    """Return answers behind their thoughts and marks; where a model only thought, that stays a failure."""
    del request
    if response.failure is not None or not response.thoughts:
        return response
    written = response.written or response.texts
    each = zip(response.texts, response.thoughts, written, strict=True)
    return structs.replace(response, texts=tuple([_with_thoughts(*parts) for parts in each]))


def _with_thoughts(text: str, thoughts: str, written: str) -> str:
    if not thoughts:
        return text
    return written if written.endswith(text) and written != text else _AS_MARKED.format(thoughts, text)


def looks_for_thoughts(source: Any, *, inside: bool = False) -> bool:
    """Return whether the processors of an exam look for the marks of thoughts.

    Args:
        source: What the exam was made of, as JSON-like data.
        inside: Whether this is part of how predictions are made.
    """
    if isinstance(source, Mapping):
        return any(looks_for_thoughts(each, inside=inside or name in _EXTRACTION) for name, each in source.items())
    if isinstance(source, list | tuple):
        return any(looks_for_thoughts(each, inside=inside) for each in source)
    return inside and isinstance(source, str) and _MARK.search(source) is not None
