"""Assertions as metrics: one that holds for every row, or those that each row has in columns of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from proctor.artifacts import Artifact
from proctor.errors import Diagnostic, ProctorError, ScoringError, UsageError, problems_of
from proctor.foreign_text import parse_json
from proctor.ir import Failure, Response
from proctor.scoring.assertions import (
    ASSERTIONS,
    EMBEDDED,
    HEALTHBENCH,
    JAVASCRIPT,
    JUDGED,
    LATENCY,
    OF_RESPONSES,
    PYTHON,
    REFUSED,
    SET,
    Assertion,
    Verdict,
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
from proctor.scoring.costs import cost_of
from proctor.scoring.flat_scores import MetricScores
from proctor.scoring.grading.protocols import Need
from proctor.scoring.javascript import asserted, check_code, verdict_of
from proctor.scoring.judges.assertions import (
    BY_CRITERIA,
    NOTE,
    WORDS,
    Hearing,
    conversation_of,
    judged,
    published_words,
    with_criteria,
)
from proctor.scoring.judges.judge_client import check_engine, who_judges
from proctor.scoring.judges.wording import digest_of_words
from proctor.scoring.metric import Metric
from proctor.scoring.packages import lacking
from proctor.scoring.scores import Unit
from proctor.statistics.intervals import score_interval
from proctor.statistics.standard_errors import mean_error

Found = Verdict | Failure
"""What became of an assertion of an answer."""
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_SINGLE = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})")
WITH_BRACES = frozenset({"regex", "is-json", "contains-json", JAVASCRIPT, PYTHON})
"""Assertions whose values have braces of their own."""
THRESHOLD = "__threshold"
"""The column of a table that says from which weighted mean of its assertions on a row passes."""
TRANSFORM = "__transform"
"""The field of a row with the code that its answer passes first."""
NO_JUDGE = "an assertion asks a judge, and nobody says which model that is"
EMBEDDINGS = "sentence-transformers/all-MiniLM-L6-v2"


class AssertionMetric(Metric):
    """Base of metrics of assertions.

    Attributes:
        judge: The engine that judges what a model must; needed only where an assertion asks one.
        question: What judges are shown as the question: a text with columns of the row in braces.
        embeddings: The model of sentence embeddings behind ``similar``.
        fills: Whether columns of the row are put into values that name them as ``{{name}}``.
        parses: Whether code sees what an answer says as JSON, where it is JSON.
    """

    reads_task_data: ClassVar[bool] = True
    unit: ClassVar[Unit | None] = "share"
    higher_is_better: ClassVar[bool | None] = True

    judge: Artifact | None = None
    question: str = "{question}"
    embeddings: str = EMBEDDINGS
    fills: bool = True
    parses: bool = False
    main_score: str = ""

    _reads_responses: ClassVar[bool] = False

    @property
    def needs(self) -> frozenset[Need]:
        """Which further columns it reads."""
        return super().needs | ({"responses"} if self._reads_responses else frozenset())

    def verify(self) -> None:
        """Check the judge."""
        super().verify()
        if self.judge is not None:
            check_engine(self.judge, self.name)

    def shares(self, wanted: Sequence[tuple[int, Assertion]], columns: Columns) -> list[Found]:
        """Return what became of assertions of the answers at places; judges are asked about all of them together."""
        rows = columns.all_fields()
        found: list[Found | None] = [None] * len(wanted)
        hearings: dict[int, Hearing] = {}
        outputs: dict[int, Any] = {}
        for number, (place, assertion) in enumerate(wanted):
            row = rows[place]
            try:
                if place not in outputs:
                    outputs[place] = self._through(row.get(TRANSFORM), str(columns.predictions[place]), row)
                output = self._through(assertion.transform, outputs[place], row)
                own = filled(self.braced(assertion, row), row) if self.fills else assertion
                own = with_criteria(own, row) if own.kind in BY_CRITERIA else own
                if own.kind in JUDGED:
                    asked = self._asked(row)
                    asked = conversation_of(row, asked) if own.kind == HEALTHBENCH else asked
                    golds = [str(each) for each in columns.references[place]]
                    hearings[number] = Hearing(own, asked, _text_of(output), golds)
                else:
                    found[number] = self._verdict(own, output, columns, place)
            except ScoringError as error:
                found[number] = Failure("scoring", str(error), retryable=False)
        if hearings:
            verdicts = judged(self._engine(), list(hearings.values()))
            for number, verdict in zip(hearings, verdicts, strict=True):
                found[number] = _of_judge(verdict, hearings[number].assertion)
        return [each if each is not None else Failure("scoring", "nothing was scored") for each in found]

    def _verdict(self, own: Assertion, output: Any, columns: Columns, place: int) -> Found:
        """Return what becomes of an assertion that no model judges."""
        text = _text_of(output)
        if own.kind in (JAVASCRIPT, PYTHON):
            return self._of_code(own, _object_in(text) if self.parses else output, columns.all_fields()[place])
        if own.kind in OF_RESPONSES:
            return _of_response(own, columns.responses[place] if columns.responses else ())
        golds = [str(each) for each in columns.references[place]]
        value = self._similarity(own, text, golds) if own.kind == EMBEDDED else check_of(own)(text, golds)
        return Verdict(value, holds(value, own))

    def braced(self, assertion: Assertion, row: Mapping[str, Any]) -> Assertion:
        """Return an assertion with ``{{name}}`` wherever its value names a column of the row."""
        del row
        return assertion

    def guest(self, code: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
        """Return the function of an output and its context that a transform is, or an assertion in Python.

        What the function raises says something of the answer, but for a :class:`ScoringError`.

        Raises:
            ProctorError: It may not run, or cannot.
        """
        del code
        raise ScoringError("code of an assertion is not obeyed", why=REFUSED[PYTHON], hint="leave it out")

    def _through(self, code: Any, output: Any, row: Mapping[str, Any]) -> Any:
        """Return what a transform makes of an output; without one, the output."""
        if code is None:
            return output
        seen = context_of(row)
        try:
            made = self.guest(code)(output, {"vars": seen["vars"], "prompt": {"label": seen["prompt"]}})
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - code of others
            raise ScoringError(f"the transform failed: {type(error).__name__}: {error}") from None
        if made is None:
            raise ScoringError("the transform returned nothing")
        return made

    def _of_code(self, assertion: Assertion, output: Any, row: Mapping[str, Any]) -> Found:
        context = context_of(row)
        if assertion.kind == JAVASCRIPT:
            verdict = asserted(str(assertion.value), output, context, assertion.threshold)
        else:
            try:
                verdict = verdict_of(_heard(self.guest(assertion.value)(output, context)), assertion.threshold)
            except ProctorError:
                raise
            except Exception as error:  # noqa: BLE001 - code of others: what it raises is what it says
                verdict = Verdict(0.0, False, f"{type(error).__name__}: {error}")
        if isinstance(verdict, Failure) or not assertion.negated:
            return verdict
        return verdict._replace(value=1.0 - verdict.value, holds=not verdict.holds)

    def _engine(self) -> Artifact:
        if self.judge is None:
            raise UsageError(NO_JUDGE, hint="--judge openai/gpt-4.1 names one, or PROCTOR_JUDGE")
        return self.judge

    def asked_with(self) -> dict[str, Any] | None:
        """Return what the judge is asked with; ``None`` where there is none."""
        if self.judge is None:
            return None
        prompt = digest_of_words([self.question, *WORDS])
        return {"judge": self.name, "words": "proctor", "prompt": prompt, "models": [who_judges(self.judge)]}

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
        for code in dict.fromkeys(str(each.value) for each in assertions if each.kind == JAVASCRIPT):
            yield from problems_of(partial(check_code, code))
        guests = [each.value for each in assertions if each.kind == PYTHON]
        guests += [each.transform for each in assertions if each.transform is not None]
        for code in {shown(each): each for each in guests}.values():
            yield from problems_of(partial(self.guest, code))
        if any(each.kind == EMBEDDED for each in assertions):
            yield from lacking(EMBEDDED, ["sentence_transformers=pip install 'proctor[embeddings]'"])

    def _listed(self, name: str, values: Sequence[float | Failure], *, intervals: bool) -> MetricScores:
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
        if intervals and len(known) > 1:
            measured.scores = [replace(score, stderr=mean_error(known)) for score in measured.scores]
        measured.instances = {public: numbers, "score": numbers, "score_name": ConstantColumn(public, len(numbers))}
        return measured


def _text_of(output: Any) -> str:
    """Return an output as text assertions see it: what is not text as JSON."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, separators=(",", ":"))


def _heard(said: Any) -> Any:
    """Return what Python code returned as JavaScript would say it: texts such as ``true`` read, ``pass_`` renamed."""
    said = said.item() if hasattr(said, "item") else said  # NumPy's true, false and numbers
    if isinstance(said, str):
        with suppress(ValueError):
            said = json.loads(said.lower() if said.lower() in ("true", "false") else said)
    return {**said, "pass": said["pass_"]} if isinstance(said, dict) and "pass_" in said else said


def _object_in(answer: str) -> Any:
    try:
        return parse_json(answer)
    except ValueError:
        return answer


def context_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what code sees beside an answer: the variables of its row, and what else its test says."""
    variables = {name: value for name, value in row.items() if not name.startswith("__")}
    metadata = row.get("__metadata") or {}
    test = {"vars": variables, "metadata": metadata, "description": row.get("__description")}
    return {"vars": variables, "test": test, "prompt": row.get("__prompt")}


def _of_response(assertion: Assertion, responses: Sequence[Response]) -> Found:
    """Return whether an answer took, or cost, no more than it may: its own time and price, whenever it was given."""
    if assertion.kind == LATENCY:
        is_known = bool(responses) and all(each.timing.started for each in responses)
        used: float | None = 1000.0 * sum(each.timing.seconds for each in responses) if is_known else None
    else:
        used = cost_of.get()(responses) if responses else None
    if used is None:
        why = {LATENCY: "how long the answer took is not known: nobody timed it"}
        told = why.get(assertion.kind, "what the answer cost is not known: there is no price of its model")
        return Failure("scoring", told, retryable=False)
    holds = (used <= (assertion.threshold or 0.0)) is not assertion.negated
    return Verdict(float(holds), holds, f"{used:.0f} ms" if assertion.kind == LATENCY else f"{used:.2g} US dollars")


def _of_judge(verdict: Found, assertion: Assertion) -> Found:
    if isinstance(verdict, Failure) or not (assertion.negated or assertion.kind == "g-eval"):
        return verdict
    if assertion.kind == "g-eval":
        value = settled(verdict.value, assertion)
        return Verdict(value, holds(value, assertion), verdict.reason)
    score = None if verdict.score is None else 1.0 - verdict.score
    return Verdict(1.0 - verdict.value, not verdict.holds, verdict.reason, score)


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
        object.__setattr__(self, "_reads_responses", self.parsed.kind in OF_RESPONSES)

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

    def braced(self, assertion: Assertion, row: Mapping[str, Any]) -> Assertion:
        """Return an assertion with ``{{name}}`` for ``{name}``, too, which is how prompts name columns."""
        if not isinstance(assertion.value, str) or assertion.kind in WITH_BRACES:
            return assertion
        value = _SINGLE.sub(lambda each: f"{{{each[0]}}}" if each[1] in row else each[0], assertion.value)
        return replace(assertion, value=value)

    def asked_with(self) -> dict[str, Any] | None:
        """Return what the judge is asked with (HealthBench's words are its own); ``None`` where nobody judges."""
        found = super().asked_with() if self.parsed.kind in JUDGED else None
        if found is None or self.parsed.kind != HEALTHBENCH:
            return found
        if (words := published_words()) is None:
            return {**found, "note": NOTE}
        return {**found, "words": "simple-evals", "prompt": digest_of_words([words])}

    @property
    def name(self) -> str:
        """The assertion."""
        return self.assertion

    def check(self) -> Iterator[Diagnostic]:
        """Yield what it needs and is not there."""
        yield from self._needs([self.parsed])
        if self.parsed.kind == HEALTHBENCH:
            yield from problems_of(published_words)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        del instances
        wanted = self.parsed
        found = self.shares([(place, wanted) for place in range(len(columns))], columns)
        values = [each if isinstance(each, Failure) else each.value for each in found]
        measured = self._listed(self.main_score, values, intervals=intervals)
        if wanted.kind in JUDGED and measured.instances:
            reasons = [None if isinstance(each, Failure) else each.reason or None for each in found]
            measured.instances[f"{self.score_prefix}{self.main_score}_assessment"] = reasons
        return measured


class RowAssertions(AssertionMetric):
    """The share of answers for which all assertions of their row hold, as promptfoo's tables and tests have them.

    Attributes:
        columns: Columns of the assertions: texts (``contains: Paris``; without a word: ``equals``), or lists of
            objects with ``type``, ``value``, ``threshold``, ``weight``; those of ``assert-set`` have ``assert``.
        threshold: The column that says from which weighted mean on a row passes; all must hold where it is empty.
    """

    columns: list[str]
    threshold: str = THRESHOLD
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
                seen += [leaf for each in self.of_row(row) for leaf in each.leaves]
                seen += [Assertion("equals", "", transform=row[TRANSFORM])] if TRANSFORM in row else []
                _threshold(row.get(self.threshold))
            except ProctorError as error:
                for each in error.diagnostics:
                    if each.what not in told:
                        told.add(each.what)
                        yield each.at(path=f"$[{number}]")
        object.__setattr__(self, "_reads_responses", any(each.kind in OF_RESPONSES for each in seen))
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
        asserted: dict[int, list[Assertion]] = {}
        rows = columns.all_fields()
        for place, row in enumerate(rows):
            try:
                asserted[place] = self.of_row(row)
            except ProctorError as error:
                failed[place] = Failure("scoring", str(error), retryable=False)
                continue
            if not asserted[place]:
                failed[place] = Failure("scoring", "the row asserts nothing of its answer", retryable=False)
            wanted += [(place, leaf) for each in asserted[place] for leaf in each.leaves]
        found = iter(self.shares(wanted, columns))
        values: list[float | Failure] = []
        told: list[list[dict[str, Any]] | None] = []
        for place, row in enumerate(rows):
            verdicts = [(each, _of_set(each, found)) for each in asserted.get(place, ())]
            why = failed.get(place) or next((v for _, v in verdicts if isinstance(v, Failure)), None)
            known = [(each, verdict) for each, verdict in verdicts if isinstance(verdict, Verdict)]
            values.append(why or float(_decided(known, _threshold(row.get(self.threshold))).holds))
            told.append([_told(each, verdict, row if self.fills else {}) for each, verdict in verdicts] or None)
        measured = self._listed(self.main_score, values, intervals=intervals)
        if measured.instances:
            measured.instances[ASSERTIONS] = told
        return measured


def _of_set(assertion: Assertion, found: Iterator[Found]) -> Found:
    """Return what became of an assertion; of a set, what became of its own together."""
    if assertion.kind != SET:
        return next(found)
    verdicts = [(each, next(found)) for each in assertion.leaves]
    if (failure := next((each for _, each in verdicts if isinstance(each, Failure)), None)) is not None:
        return failure
    known = [(each, verdict) for each, verdict in verdicts if isinstance(verdict, Verdict)]
    missed = [str(each) for each, verdict in known if not verdict.holds]
    return _decided(known, assertion.threshold)._replace(reason=f"not: {'; '.join(missed)}" if missed else "")


def _decided(found: Sequence[tuple[Assertion, Verdict]], threshold: float | None) -> Verdict:
    """Return what assertions come to: their weighted mean, which reaches the threshold; all hold where there is none.

    An assertion without weight only shows its score.
    """
    weight = sum(each.weight for each, _ in found)
    mean = sum(each.weight * verdict.weighed for each, verdict in found) / weight if weight > 0 else 0.0
    if threshold is not None:
        return Verdict(mean, mean >= threshold)
    return Verdict(mean, all(verdict.holds or not each.weight for each, verdict in found))


def _told(assertion: Assertion, found: Found, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what samples say of an assertion."""
    try:
        said = str(filled(assertion, row))
    except ScoringError:
        said = str(assertion)
    if isinstance(found, Failure):
        return {"assertion": said, "passed": None, "reason": found.message}
    told = {"assertion": said, "passed": found.holds or not assertion.weight, "score": found.weighed}
    return {**told, "reason": found.reason} if found.reason else told


def _threshold(cell: Any) -> float | None:
    if cell in (None, ""):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise ScoringError(f"a threshold is a number, and this is {shown(cell)[:80]}") from None


def assertions_of(cell: Any) -> list[Assertion]:
    """Return the assertions of a cell: a text is one, a list several; nothing is none.

    Raises:
        ScoringError: One cannot be read.
    """
    if cell is None or cell == "":
        return []
    if isinstance(cell, str):
        word = cell.strip().removeprefix("not-")
        says = is_assertion(cell) and (":" in cell or word.endswith("json") or word.partition("(")[0] in OF_RESPONSES)
        return [parse_assertion(cell) if says else made("equals", cell.strip())]
    entries = cell if isinstance(cell, list) else [cell]
    made_of = (assertions_of(each) if isinstance(each, str) else [_of_object(each)] for each in entries)
    return [each for found in made_of for each in found]


_KEYS: frozenset[str] = frozenset({"type", "value", "threshold", "weight", "transform"})
_KEYS_OF_SETS: frozenset[str] = frozenset({"type", "assert", "threshold", "weight"})


def _of_object(entry: Any) -> Assertion:
    if isinstance(entry, Assertion):
        return entry
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        raise ScoringError(f"an assertion is an object with a type, and this is {shown(entry)[:80]}")
    word = str(entry["type"])
    if unknown := [key for key in entry if key not in (_KEYS_OF_SETS if word == SET else _KEYS)]:
        raise ScoringError(f"an assertion of type '{word}' has '{unknown[0]}', which is not obeyed")
    threshold, weight = _threshold(entry.get("threshold")), _threshold(entry.get("weight", 1.0))
    if word == SET:
        parts = assertions_of(entry.get("assert"))
        if not parts or any(each.kind == SET for each in parts):
            raise ScoringError("a set of assertions lists assertions under 'assert', and no sets")
        return Assertion(SET, tuple(parts), threshold, weight=1.0 if weight is None else weight)
    make: Callable[..., Assertion] = partial(made, word.removeprefix("not-"), negated=word.startswith("not-"))
    assertion: Assertion = make(entry.get("value"), threshold, weight=1.0 if weight is None else weight)
    return replace(assertion, transform=entry.get("transform"))
