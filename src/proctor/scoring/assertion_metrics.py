"""Assertions as metrics: one that holds for every row, or those that each row has in columns of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from proctor.artifacts import Artifact
from proctor.errors import Diagnostic, ProctorError, ScoringError, UsageError
from proctor.ir import Failure
from proctor.scoring.assertions import (
    EMBEDDED,
    JUDGED,
    Assertion,
    check_of,
    filled,
    holds,
    is_assertion,
    made,
    parse_assertion,
    settled,
    shown,
)
from proctor.scoring.columns import Columns, ConstantColumn
from proctor.scoring.flat_scores import MetricScores
from proctor.scoring.judges.assertions import Hearing, judged
from proctor.scoring.judges.judge_client import check_engine
from proctor.scoring.metric import Metric
from proctor.scoring.packages import lacking
from proctor.scoring.scores import Unit
from proctor.statistics.intervals import score_interval

Found = float | Failure
"""What an answer gets for an assertion."""
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
EMBEDDINGS = "sentence-transformers/all-MiniLM-L6-v2"


class AssertionMetric(Metric):
    """Base of metrics of assertions.

    Attributes:
        judge: The engine that judges what a model must; needed only where an assertion asks one.
        question: What judges are shown as the question: a text with columns of the row in braces.
        embeddings: The model of sentence embeddings behind ``similar``.
    """

    reads_task_data: ClassVar[bool] = True
    unit: ClassVar[Unit | None] = "share"
    higher_is_better: ClassVar[bool | None] = True

    judge: Artifact | None = None
    question: str = "{question}"
    embeddings: str = EMBEDDINGS
    main_score: str = ""

    def verify(self) -> None:
        """Check the judge."""
        super().verify()
        if self.judge is not None:
            check_engine(self.judge, self.name)

    def shares(self, wanted: Sequence[tuple[int, Assertion]], columns: Columns) -> list[Found]:
        """Return what the answers at places get for assertions; judges are asked about all of them together."""
        rows = columns.all_fields()
        found: list[Found | None] = [None] * len(wanted)
        hearings: dict[int, Hearing] = {}
        for number, (place, assertion) in enumerate(wanted):
            answer, golds = str(columns.predictions[place]), [str(each) for each in columns.references[place]]
            try:
                own = filled(assertion, rows[place])
                if own.kind in JUDGED:
                    hearings[number] = Hearing(own, self._asked(rows[place]), answer, golds)
                elif own.kind == EMBEDDED:
                    found[number] = self._similarity(own, answer, golds)
                else:
                    found[number] = check_of(own)(answer, golds)
            except ScoringError as error:
                found[number] = Failure("scoring", str(error), retryable=False)
        if hearings:
            verdicts = judged(self._engine(), list(hearings.values()))
            for number, verdict in zip(hearings, verdicts, strict=True):
                found[number] = _of_judge(verdict, hearings[number].assertion)
        return [each if each is not None else Failure("scoring", "nothing was scored") for each in found]

    def _engine(self) -> Artifact:
        if self.judge is None:
            raise UsageError(
                "an assertion asks a judge, and nobody says which model that is",
                hint="--judge openai/gpt-4.1 names one, or PROCTOR_JUDGE",
            )
        return self.judge

    def _asked(self, row: Mapping[str, Any]) -> str:
        def filled_in(found: re.Match[str]) -> str:
            if found[1] is None:  # a brace of the text
                return found[0][0]
            value = row.get(found[1], found[0])
            return value if isinstance(value, str) else shown(value)

        return _BRACES.sub(filled_in, self.question)

    def _similarity(self, assertion: Assertion, answer: str, golds: Sequence[str]) -> float:
        from proctor.scoring.metrics.embeddings import cosine

        texts = golds if assertion.value is None else [str(assertion.value)]
        best = max((cosine(self.embeddings, answer, each) for each in texts), default=0.0)
        return settled(min(1.0, max(0.0, best)), assertion)

    def _needs(self, assertions: Sequence[Assertion]) -> Iterator[Diagnostic]:
        """Yield what assertions need and this machine, or the command, lacks."""
        if self.judge is None and any(each.kind in JUDGED for each in assertions):
            try:
                self._engine()
            except UsageError as error:
                yield from error.diagnostics
        if any(each.kind == EMBEDDED for each in assertions):
            yield from lacking(EMBEDDED, ["sentence_transformers=pip install 'proctor[embeddings]'"])

    def _listed(self, name: str, values: Sequence[Found], *, intervals: bool) -> MetricScores:
        failures = {place: each for place, each in enumerate(values) if isinstance(each, Failure)}
        numbers = [None if isinstance(each, Failure) else each for each in values]
        known = [each for each in numbers if each is not None]
        if not known:
            return self.nothing(failures=failures)
        public = self.score_prefix + name
        sheet = self.sheet(len(known))
        sheet.count()
        mean = sum(known) / len(known)
        sheet.put(public, mean)
        if intervals and (interval := score_interval(numbers, mean, may_be_percent=False)) is not None:
            sheet.bound(public, interval.low, interval.high)
        sheet.name_main(public)
        if intervals:
            sheet.bound_main()
        measured = sheet.measured(failures)
        measured.instances = {public: numbers, "score": numbers, "score_name": ConstantColumn(public, len(numbers))}
        return measured


def _of_judge(verdict: Found, assertion: Assertion) -> Found:
    if isinstance(verdict, Failure):
        return verdict
    if assertion.kind == "g-eval":
        return settled(verdict, assertion)
    return 1.0 - verdict if assertion.negated else verdict


class AnswerAssertion(AssertionMetric):
    """The share of answers for which an assertion holds: ``contains:Paris``, ``number``, ``judge:It is polite``.

    Attributes:
        assertion: As :func:`~proctor.scoring.assertions.parse_assertion` reads it.
    """

    assertion: str

    def prepare(self) -> None:
        """Name the score after the assertion's word."""
        super().prepare()
        self.main_score = self.main_score or self.parsed.word

    @property
    def parsed(self) -> Assertion:
        """The assertion.

        Raises:
            ScoringError: There is no such one.
        """
        return parse_assertion(self.assertion)

    def verify(self) -> None:
        """Check the assertion."""
        super().verify()
        _ = self.parsed

    @property
    def name(self) -> str:
        """The assertion."""
        return self.assertion

    def check(self) -> Iterator[Diagnostic]:
        """Yield what it needs and is not there."""
        yield from self._needs([self.parsed])

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        del instances
        wanted = self.parsed
        values = self.shares([(place, wanted) for place in range(len(columns))], columns)
        return self._listed(self.main_score, values, intervals=intervals)


class RowAssertions(AssertionMetric):
    """The share of answers for which all assertions of their row hold, as promptfoo's tables and tests have them.

    Attributes:
        columns: Columns of the assertions: texts (``contains: Paris``; without a word: ``equals``), or lists of
            objects with ``type``, ``value``, ``threshold``, ``weight``.
        threshold: From which weighted mean on a row passes; all must hold where ``None``.
    """

    columns: list[str]
    threshold: float | None = None
    main_score: str = "passed"

    @property
    def name(self) -> str:
        """The columns."""
        return ", ".join(self.columns)

    def check_rows(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
        """Yield what is wrong with assertions in rows, and what they need; each problem once."""
        seen: list[Assertion] = []
        told: set[str] = set()
        for number, row in enumerate(rows):
            try:
                seen += self.of_row(row)
            except ProctorError as error:
                for each in error.diagnostics:
                    if each.what not in told:
                        told.add(each.what)
                        yield each.at(path=f"$[{number}]")
        yield from self._needs(seen)

    def of_row(self, row: Mapping[str, Any]) -> list[Assertion]:
        """Return the assertions of a row.

        Raises:
            ScoringError: One cannot be read.
        """
        return [each for name in self.columns for each in assertions_of(row.get(name))]

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        del instances
        wanted: list[tuple[int, Assertion]] = []
        failed: dict[int, Failure] = {}
        for place, row in enumerate(columns.all_fields()):
            try:
                own = self.of_row(row)
            except ProctorError as error:
                failed[place] = Failure("scoring", str(error), retryable=False)
                continue
            if not own:
                failed[place] = Failure("scoring", "the row asserts nothing of its answer", retryable=False)
            wanted += [(place, each) for each in own]
        by_place: dict[int, list[tuple[Assertion, Found]]] = {}
        for (place, each), found in zip(wanted, self.shares(wanted, columns), strict=True):
            by_place.setdefault(place, []).append((each, found))
        rows = [by_place.get(place, []) for place in range(len(columns))]
        values = [failed.get(place, self._passed(row)) for place, row in enumerate(rows)]
        return self._listed(self.main_score, values, intervals=intervals)

    def _passed(self, found: Sequence[tuple[Assertion, Found]]) -> Found:
        if failure := next((value for _, value in found if isinstance(value, Failure)), None):
            return failure
        values = [(each, value) for each, value in found if not isinstance(value, Failure)]
        if self.threshold is None:
            return float(all(holds(value, each) for each, value in values))
        weight = sum(each.weight for each, _ in values)
        return float(weight > 0 and sum(each.weight * value for each, value in values) / weight >= self.threshold)


def assertions_of(cell: Any) -> list[Assertion]:
    """Return the assertions of a cell: a text is one, a list several; nothing is none.

    Raises:
        ScoringError: One cannot be read.
    """
    if cell is None or cell == "":
        return []
    if isinstance(cell, str):
        says = is_assertion(cell) and (":" in cell or cell.strip().removeprefix("not-").endswith("json"))
        return [parse_assertion(cell) if says else made("equals", cell.strip())]
    entries = cell if isinstance(cell, list) else [cell]
    return [each if isinstance(each, Assertion) else _of_object(each) for each in entries]


_KEYS: frozenset[str] = frozenset({"type", "value", "threshold", "weight"})


def _of_object(entry: Any) -> Assertion:
    if isinstance(entry, str):
        return assertions_of(entry)[0]
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        raise ScoringError(f"an assertion is an object with a type, and this is {shown(entry)[:80]}")
    if unknown := [key for key in entry if key not in _KEYS]:
        raise ScoringError(f"an assertion of type '{entry['type']}' has '{unknown[0]}', which is not obeyed")
    word = str(entry["type"])
    make: Callable[..., Assertion] = partial(made, word.removeprefix("not-"), negated=word.startswith("not-"))
    return make(entry.get("value"), entry.get("threshold"), weight=float(entry.get("weight", 1.0)))
