"""A filter pipeline with the metrics behind it: from answers to the values of each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from proctor.dialects.lm_eval.document_scores import DocumentScorer, Values
from proctor.dialects.lm_eval.filters import FilterPipeline
from proctor.dialects.lm_eval.prepared import Document
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grading.protocols import Scope
from proctor.scoring.text.how_read import alone, among, each_of

Requests = Sequence[Sequence[Any]]
"""What was answered to each of lm-eval's requests about a document: a list of repeats."""


def compact(requests: Requests) -> Any:
    """Return answers with less around them, since every one of them is kept: a text, texts, or likelihoods."""
    if len(requests) == 1 and isinstance(requests[0][0], str):
        return requests[0][0] if len(requests[0]) == 1 else requests[0]
    return [some[0] for some in requests]


def expanded(value: Any) -> Requests:
    """Return what :func:`compact` was given."""
    if isinstance(value, str):
        return [[value]]
    return [value] if isinstance(value[0], str) else [[each] for each in value]


class Scored(NamedTuple):
    """The filtered answers and scores of one document.

    Attributes:
        shown: The prediction; the failure where the filters stumble.
        values: Its metrics; ``None`` where it has none.
        failure: Why it has none.
        filtered: What the filters left of the answer to each request.
        answers: What was answered to each request.
    """

    shown: Any
    values: Values | None
    failure: Failure | None = None
    filtered: Sequence[Any] = ()
    answers: Requests = ()

    @classmethod
    def lost(cls, failure: Failure) -> Scored:
        """Return what becomes of a document that has no answer."""
        return cls(failure, None, failure)


class TaskPipeline:
    """A filter pipeline and the metrics behind it: from answers to the values of a document.

    Documents are scored as they pass, so that nothing of them need be kept.

    Args:
        pipeline: The filters.
        scorer: The metrics.
    """

    def __init__(self, pipeline: FilterPipeline, scorer: DocumentScorer) -> None:
        self._pipeline = pipeline
        self.scorer = scorer
        self.name = pipeline.name
        self.scope: Scope = "column" if pipeline.sees_all else "repeats"

    def process(self, columns: Columns) -> Columns:
        """Return columns whose predictions are what is shown, the values, and why there are none."""
        docs = columns.all_fields()
        good = [place for place, each in enumerate(columns.predictions) if not isinstance(each, Failure)]
        answers = [expanded(columns.predictions[place]) for place in good]
        with among(good):
            filtered = self._filtered(answers, [docs[place] for place in good])
        rest = iter(zip(answers, filtered, strict=True))
        predictions, references = list(columns.predictions), []
        for place, doc in enumerate(each_of(docs)):  # in order: the last view of a document is remembered
            if not isinstance(predictions[place], Failure):
                predictions[place] = self._scored(doc, *next(rest))[:3]
            references.append(self._golds(doc))
        return replace(columns, predictions=predictions, references=references)

    def scored(self, answers: Sequence[Requests], docs: Sequence[Document]) -> list[Scored]:
        """Return what becomes of the answers to documents."""
        filtered = self._filtered(answers, docs)
        return [self._scored(*each) for each in zip(docs, answers, filtered, strict=True)]

    def _golds(self, doc: Document) -> Sequence[Any]:
        try:
            target = self.scorer.view(doc).target
        except (ProctorError, *_STUMBLES):  # a row that could not be asked about
            return ()
        return target if isinstance(target, list) else [target]

    def _filtered(self, answers: Sequence[Requests], docs: Sequence[Document]) -> Sequence[Sequence[Any] | Failure]:
        if self._pipeline.only_takes_first:
            return [[some[0] for some in requests] for requests in answers]
        try:
            return self._apply(answers, docs)
        except ProctorError:  # one by one shows whose fault it is
            return [self._apply_alone(*each) for each in zip(each_of(answers), docs, strict=True)]

    def _apply(self, answers: Sequence[Requests], docs: Sequence[Document]) -> list[Sequence[Any] | Failure]:
        flat = [some for requests in answers for some in requests]
        rows = [doc for doc, requests in zip(docs, answers, strict=True) for _ in requests]
        with among([place for place, requests in enumerate(answers) for _ in requests]):
            filtered = iter(self._pipeline.apply(flat, rows) if flat else [])
        return [[next(filtered) for _ in requests] for requests in answers]

    def _apply_alone(self, answers: Requests, doc: Document) -> Sequence[Any] | Failure:
        try:
            with alone():
                return self._apply([answers], [doc])[0]
        except ProctorError as error:
            return _failure(error)

    def _scored(self, doc: Document, answers: Requests, filtered: Sequence[Any] | Failure) -> Scored:
        if isinstance(filtered, Failure):
            return Scored(filtered, None, filtered, answers=answers)
        try:
            values = self.scorer.values(doc, filtered, answers)
        except (ProctorError, *_STUMBLES) as error:
            return Scored(self.scorer.shown(doc, filtered), None, _failure(error), filtered, answers)
        return Scored(self.scorer.shown(doc, filtered), values, None, filtered, answers)


_STUMBLES = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What metrics and ``process_results`` raise on an answer that they did not expect."""


def _failure(error: Exception) -> Failure:
    if not isinstance(error, ProctorError):
        return Failure("scoring", f"{type(error).__name__}: {error}", retryable=False)
    said = error.diagnostics[0]
    return Failure("scoring", f"{said.what}: {said.why}" if said.why else said.what, retryable=False)
