"""The run folder: ``run.yaml``, ``samples.jsonl``, ``results.json``. Each file appears whole or not at all.

One run at a time has a folder (:meth:`RunFolder.held`). No link in it is followed: it may have been somebody else's.

``run.yaml`` is written first and ``results.json`` last; a folder with one and not the other is a run that did not
end, and running into it again completes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from errno import ENOSPC
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from proctor.errors import ChangedDataError, OutputError, UsageError
from proctor.ir import (
    Choose,
    Converse,
    Decoding,
    Failure,
    Generate,
    Likelihood,
    Prompt,
    Request,
    Response,
    Rolling,
    Usage,
)
from proctor.jsonable import to_document, to_lines
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.fingerprint import Fingerprint
from proctor.running.folder_lock import locked
from proctor.running.spec import MOST_BYTES, SCHEMA_VERSION, RunSpec
from proctor.safe_files import read_bytes, remove_leftovers, scratch, written
from proctor.scoring.columns import ABSENT
from proctor.scoring.grade import Grade

SPEC, SAMPLES, RESULTS = "run.yaml", "samples.jsonl", "results.json"
_BLOCK = 256  # lines that are encoded together: calls are cheap then, and the lines weigh little
_DIFFERENCES_SHOWN = 5  # enough to recognise the other run by, on a line or two


class RunFolder:
    """A folder that takes the files of one run.

    Args:
        path: The folder; made by :meth:`held` or :meth:`open`. It may be a link; what is in it is not followed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._spec: RunSpec | None = None
        self._known: Mapping[str, Fingerprint] = {}

    @property
    def is_complete(self) -> bool:
        """Whether a run ended here."""
        return (self.path / RESULTS).exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, and keep other runs out of it until the block ends; what a killed run left is removed.

        Raises:
            OutputError: Another run is going on there, or it cannot be written.
        """
        with ExitStack() as stack:
            with _output_errors(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.path))
                for name in (SPEC, SAMPLES, RESULTS):
                    remove_leftovers(self.path / name)
            yield

    def open(self, spec: RunSpec) -> None:
        """Make the folder and write ``run.yaml``; results of an earlier run of the same spec are kept until the end.

        Raises:
            UsageError: The folder holds another run.
            OutputError: The folder cannot be written.
        """
        before = self._compared(spec)
        if before is not None:
            spec = replace(spec, fingerprints=before.fingerprints, tags=spec.tags or before.tags)
        self._spec = spec if before is not None else replace(spec, fingerprints={})
        with _output_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        self._write_spec()

    def check(self, spec: RunSpec, exams: Iterable[Exam]) -> None:
        """Check that a run could write here, and write nothing.

        Raises:
            UsageError: The folder holds another run.
            ChangedDataError: It holds this one, on other rows.
        """
        self._compared(spec)
        self.check_rows(exams)

    def _compared(self, spec: RunSpec) -> RunSpec | None:
        """Return the run that is here already, and keep what its exams were made of.

        Raises:
            UsageError: It is another one.
        """
        before = self._before(spec)
        if before is not None and (differences := spec.differences(before)):
            raise self._another(differences)
        is_sample = spec.precision is not None  # which questions these are depends on the answers: a budget ended some
        self._known = {} if before is None or is_sample else _fingerprints(before.fingerprints)
        return before

    def _write_spec(self) -> None:
        if self._spec is not None:
            with self._write(SPEC) as file:
                file.write(self._spec.to_yaml().encode())

    def _before(self, spec: RunSpec) -> RunSpec | None:
        """Return the run that is here already."""
        if not (self.path / SPEC).exists():
            return None
        with suppress(OSError):  # the run itself again: the text is the same, and says so faster than its meaning
            if read_bytes(self.path / SPEC, MOST_BYTES, within=self.path) == spec.to_yaml().encode():
                return spec
        return RunSpec.load(self.path)

    def check_rows(self, exams: Iterable[Exam]) -> None:
        """Check that the data of exams is what it was when a run ended here; nothing is asked for it.

        Raises:
            ChangedDataError: Rows were changed, added, left out or put in another order since.
        """
        for exam in exams:
            if (known := self._known.get(exam.name)) is None or not known.rows:
                continue
            found = exam.rows_digest()
            now = replace(known, data=found.in_order, rows=found.as_set)
            if now.differences(known):
                raise ChangedDataError(self._another([_changed_data(exam.name, known, now)]).diagnostics)

    def take(self, fingerprints: Mapping[str, Mapping[str, str]]) -> None:
        """Note what exams were made of, before results are written.

        Raises:
            UsageError: The run that ended here before was made of something else.
        """
        for name, found in _fingerprints(fingerprints).items():
            known = self._known.get(name)
            if known is not None and (layers := found.differences(known)):
                raise self._another([f"the {', '.join(layers)} of {name}"])
        if self._spec is not None:
            self._spec = replace(self._spec, fingerprints={name: dict(each) for name, each in fingerprints.items()})
            self._write_spec()

    def _another(self, differences: Sequence[str]) -> UsageError:
        more = len(differences) - _DIFFERENCES_SHOWN
        shown = [*differences[:_DIFFERENCES_SHOWN], *([f"{more} more"] if more > 0 else [])]
        return UsageError(
            f"the folder {self.path} holds another run",
            why=f"it differs in {', '.join(shown)}",
            hint="its results are kept; choose another folder with --output, or remove this one",
        )

    def write_results(self, results: dict[str, Any], run: dict[str, Any]) -> None:
        """Write ``results.json``; ``results`` is reproducible, ``run`` says when, where and how."""
        with self._write(RESULTS) as file:
            file.write(to_document({"schema_version": SCHEMA_VERSION, "results": results, "run": run}))

    @contextmanager
    def samples(self) -> Iterator[SampleWriter]:
        """Open ``samples.jsonl``; it appears when the block ends well."""
        with self._write(SAMPLES) as file, scratch(self.path) as spool:
            yield SampleWriter(file, spool, self.path)

    @contextmanager
    def _write(self, name: str) -> Iterator[BinaryIO]:
        with _output_errors(self.path), written(self.path / name, durable=True) as file:
            yield file


class SampleWriter:
    """Writes one line per instance.

    Scores come when an exam is graded as a whole, so what is known before (input, prompt, output) waits in a spool
    file; memory does not grow with the number of instances.
    """

    def __init__(self, file: BinaryIO, spool: BinaryIO, folder: Path) -> None:
        self._file = file
        self._spool = spool
        self._folder = folder

    def record(self, exam: str, blocks: Iterable[Sequence[Answered]]) -> Iterator[Sequence[Answered]]:
        """Pass answered items through, keeping what their lines begin with."""
        spool = self._spool
        with _output_errors(self._folder):
            spool.seek(0)
            spool.truncate()
            decodings = _Decodings()
            for block in blocks:  # before it is passed on: who grades it may change it
                spool.write(to_lines([_beginning(exam, each, decodings) for each in block]))
                yield block
            spool.flush()

    def finish(self, grade: Grade) -> None:
        """Write the lines of the exam whose items were recorded last."""
        self._spool.seek(0)
        endings = _Endings(grade)
        while lines := list(islice(self._spool, _BLOCK)):
            ends = to_lines(endings.next(len(lines))).splitlines(keepends=True)
            whole = [b"%s,%s" % (line[:-2], end[1:]) for line, end in zip(lines, ends, strict=True)]
            self._file.writelines(whole)


def _fingerprints(values: Mapping[str, Any]) -> dict[str, Fingerprint]:
    found = {name: Fingerprint.from_dict(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _changed_data(exam: str, before: Fingerprint, now: Fingerprint) -> str:
    if before.rows == now.rows:
        return f"the order of the data of {exam}"
    return f"the data of {exam}: rows were changed, added or left out"


@contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        first = "free space or choose" if error.errno == ENOSPC else "choose"
        raise OutputError(
            f"the run folder {path} cannot be written",
            why=error.strerror or str(error),
            hint=f"{first} another folder with --output; answers that came are in the response log and are not asked "
            "again",
        ) from error


_Line = tuple[tuple[str, ...], tuple[Any, ...]]
"""The names of what a line begins or ends with, and their values."""

_ASKED = ("kind", "prompt", "decoding", "continuations")
_HEARD = ("output", "thinking", "finish_reason", "finish_reasons")
_HEARD_AND_WRITTEN = ("output", "thinking", "written", "finish_reason", "finish_reasons")
_FIRST = ("exam", "doc_id", "instance", "input", *_ASKED)
_LAST = ("references", "gold", "usage", "timing", "failure", "schema_version")
_BEGINNING = (*_FIRST, *_HEARD, *_LAST)
_BEGINNING_WITH_WRITTEN = (*_FIRST, *_HEARD_AND_WRITTEN, *_LAST)


def _beginning(exam: str, answered: Answered, decodings: _Decodings) -> _Line:
    question, responses = answered.question, answered.responses
    exchange = question.exchange
    heard = _heard(responses)
    return (
        _BEGINNING if len(heard) == len(_HEARD) else _BEGINNING_WITH_WRITTEN,
        (
            exam,
            question.number,
            question.digest,
            question.instance,
            *_asked(question.requests, decodings),
            *heard,
            exchange.references,
            exchange.gold,
            _usage(responses).as_data(),
            _timing(responses),
            answered.failure,
            SCHEMA_VERSION,
        ),
    )


def _asked(requests: Sequence[Request], decodings: _Decodings) -> tuple[Any, ...]:
    """Return what was asked; nearly always one thing, which is what all of it comes to."""
    if len(requests) == 1 and type(request := requests[0]) is Generate:
        return "generate", _payload(request.prompt), decodings.of_one(request.decoding), None
    return _all_asked(requests, decodings)


def _all_asked(requests: Sequence[Request], decodings: _Decodings) -> tuple[Any, ...]:
    return (
        _one([_KINDS[type(request)] for request in requests]),
        _one(_of_each(_prompts, requests)),
        decodings.of(requests),
        _of_each(_continuations, requests) or None,
    )


def _heard(responses: Sequence[Response]) -> tuple[Any, ...]:
    """Return what came back; nearly always one answer without thoughts, and then that is all of it."""
    if len(responses) == 1 and len((response := responses[0]).texts) == 1 and _is_bare(response):
        (reason,) = response.finish_reasons or ("",)
        return response.texts[0], None, reason or None, response.finish_reasons or None
    return _all_heard(responses)


def _is_bare(response: Response) -> bool:
    return not (
        response.failure or response.thoughts or response.written or response.scores or len(response.finish_reasons) > 1
    )


def _all_heard(responses: Sequence[Response]) -> tuple[Any, ...]:
    return (
        _one([_output(response) for response in responses]) if responses else None,
        _of_texts([response.thoughts for response in responses]),
        *_written(responses),
        _of_texts([response.finish_reasons for response in responses]),
        _of_each(_REASONS, responses) or None,
    )


_REASONS: Callable[[Response], Sequence[str]] = attrgetter("finish_reasons")


def _of_each(parts: Callable[[Any], Iterable[Any]], values: Iterable[Any]) -> list[Any]:
    """Return the parts of all values, one list."""
    return list(chain.from_iterable(map(parts, values)))


def _usage(responses: Sequence[Response]) -> Usage:
    return responses[0].usage if len(responses) == 1 else sum([response.usage for response in responses], Usage())


_KINDS = {kind: kind.__name__.lower() for kind in (Generate, Choose, Likelihood, Rolling, Converse)}


_ENDING = ("prediction", "processed_prediction", "processed_references", "scores")
_FAILED_ENDING = (*_ENDING, "scoring_failure")


class _Endings:
    """What lines end with, in order; without end, as there may be more lines than scores.

    Args:
        grade: The scores.
    """

    def __init__(self, grade: Grade) -> None:
        shown = (grade.predictions, grade.processed_predictions, grade.processed_references)
        self._shown = [iter(column) for column in shown]
        self._scores = {name: iter(column) for name, column in grade.instance_scores.items()}
        self._failures = grade.failures
        self._count = 0

    def next(self, count: int) -> list[_Line]:
        """Return the next so many."""
        shown = [_taken(column, count) for column in self._shown]
        scores = _rows({name: _taken(column, count) for name, column in self._scores.items()}, count)
        found: list[_Line] = [(_ENDING, values) for values in zip(*shown, scores, strict=True)]
        if self._failures:
            failures = [self._failures.get(place) for place in range(self._count, self._count + count)]
            each = zip(found, failures, strict=True)
            found = [line if why is None else (_FAILED_ENDING, (*line[1], why)) for line, why in each]
        self._count += count
        return found


def _taken(column: Iterator[Any], count: int) -> list[Any]:
    """Return the next entries of a column, ``None`` for failures and behind its end."""
    found = list(islice(column, count))
    if Failure in set(map(type, found)):
        found = [None if type(value) is Failure else value for value in found]
    return found + [None] * (count - len(found)) if len(found) < count else found


def _rows(columns: Mapping[str, Sequence[Any]], count: int) -> list[dict[str, Any]]:
    """Return the values of each row by name, without those that it does not have."""
    names = tuple(columns)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)] if names else []
    absent = id(ABSENT)
    for name, column in columns.items():
        if absent in map(id, column):
            for row, value in zip(rows, column, strict=True):
                if value is ABSENT:
                    del row[name]
    return rows or [{} for _ in range(count)]


def _one(values: Sequence[Any]) -> Any:
    """Return the value that all share, else the list of them."""
    if len(values) == 1 or (values and all(value == values[0] for value in values[1:])):
        return values[0]
    return list(values)


def _of_texts(each: Sequence[Sequence[str]]) -> Any:
    """Return what belongs to texts, one or a list of them as texts are; ``None`` where no text has any."""
    if not any(map(any, each)):
        return None
    return _one([values[0] if len(values) == 1 else list(values) for values in each])


def _written(responses: Sequence[Response]) -> tuple[Any, ...]:
    """Return all that was written, where there is more in it than the answers: ``--answers raw`` grades that."""
    if all(not response.written or response.written == response.texts for response in responses):
        return ()
    return (_of_texts([response.written or response.texts for response in responses]),)


def _prompts(request: Request) -> list[Any]:
    match request:
        case Generate():
            return [_payload(request.prompt)]
        case Choose() | Likelihood():
            return [_payload(pair.context) for pair in request.pairs]
        case Rolling():
            return [list(request.messages) if request.messages else request.text]
        case Converse():
            return [list(request.turns)]


class _Decodings:
    """How the model was to write, as lines say it. The questions of an exam nearly always share one decoding."""

    def __init__(self) -> None:
        self._last: Decoding | None = None
        self._shown: dict[str, Any] = {}

    def of(self, requests: Sequence[Request]) -> Any:
        """Return what requests say of it, by name; ``None`` where the model writes nothing."""
        found = [self.of_one(each.decoding) for each in requests if isinstance(each, (Generate, Converse))]
        return _one(found) if found else None

    def of_one(self, decoding: Decoding) -> dict[str, Any]:
        """Return what one decoding says."""
        if decoding is not self._last:
            self._last = decoding
            self._shown = {name: value for name in _DECODED if (value := getattr(decoding, name)) is not None}
        return self._shown


_DECODED = ("max_tokens", "temperature", "top_p", "top_k", "stop", "seed", "count", "extra")


def _payload(prompt: Prompt) -> Any:
    return prompt.payload if isinstance(prompt.payload, str) else list(prompt.payload)


def _continuations(request: Request) -> list[str]:
    return [pair.continuation for pair in request.pairs] if isinstance(request, (Choose, Likelihood)) else []


def _output(response: Response) -> Any:
    if response.failure is not None:
        return None
    if response.scores:
        return [
            {"log_likelihood": each.log_likelihood, "is_greedy": each.is_greedy, "token_count": each.token_count}
            for each in response.scores
        ]
    return response.texts[0] if len(response.texts) == 1 else list(response.texts)


def _timing(responses: Sequence[Response]) -> dict[str, float]:
    each = [response.timing for response in responses]
    if len(each) != 1:
        started = [timing.started for timing in each if timing.started]
        return {"started": min(started, default=0.0), "seconds": sum([timing.seconds for timing in each])}
    (timing,) = each
    found = {"started": timing.started or 0.0, "seconds": timing.seconds}
    first = timing.first_token_seconds
    return found if first is None else {**found, "first_token_seconds": first}
