"""Chooses the part of an answer that is graded: with thoughts or without, cut off or not.

With ``--answers raw``, thoughts are in the answers already when they come here: that is decided where they are read
from the response log, because the turns of a conversation depend on it, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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

_EXTRACTION = frozenset({"filter_list", "metric_list", "postprocessors", "metrics", "eval_cfg"})
"""Under which keys exams say how predictions are made of answers."""

_MARK = re.compile(r"<\\?/?think|channel\\?\|\\?>|think_pred|keep[-_]reasoning")
"""What says that a processor looks for thoughts: their marks in its arguments, in regular expressions too, or the names
that OpenCompass and AISBench have for it."""

_AS_MARKED = "<think>\n{}\n</think>\n\n{}"
"""How thoughts are shown to processors that look for their marks, where the model itself wrote none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part of answers that a run grades.

    Attributes:
        options: ``truncated`` decides.
        is_marked: Whether the exam's own processors look for thoughts, and are to find them.
    """

    options: ExamOptions
    is_marked: bool = False

    def of(self, answered: Iterable[Answered]) -> Iterable[Answered]:
        """Return answers as they are to be graded."""
        is_plain = not self.is_marked and self.options.truncated != "fail"
        return answered if is_plain else map(self._of_question, answered)

    def _of_question(self, answered: Answered) -> Answered:
        responses = tuple(map(self.response, answered.responses))
        is_same = all(new is old for new, old in zip(responses, answered.responses, strict=True))
        return answered if is_same else structs.replace(answered, responses=responses)

    def response(self, response: Response) -> Response:
        """Return a response as it is to be graded."""
        if self.is_marked:
            response = _marked(response)
        return _whole(response) if self.options.truncated == "fail" else response


def _whole(response: Response) -> Response:
    """Return a failure in place of an answer that was cut off."""
    if response.failure is not None or not any(map(is_cut_off, response.finish_reasons)):
        return response
    return Response(failure=CUT_OFF, usage=response.usage, timing=response.timing)


def _marked(response: Response) -> Response:
    """Return answers behind their thoughts and marks; where a model only thought, that stays a failure."""
    if response.failure is not None or not response.thoughts:
        return response
    written = response.written or response.texts
    each = zip(response.texts, response.thoughts, written, strict=True)
    return structs.replace(response, texts=tuple([_with_thoughts(*parts) for parts in each]))


def _with_thoughts(text: str, thoughts: str, written: str) -> str:
    if not thoughts:
        return text
    return written if written.endswith(text) and written != text else _AS_MARKED.format(thoughts, text)


def looks_for_thoughts(source: object, *, inside: bool = False) -> bool:
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
