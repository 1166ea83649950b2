"""An engine that repeats what was answered before: predictions from a file, or the samples of an earlier run."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect, reading
from proctor.engines.engine import Engine
from proctor.errors import DataError, EngineError, Location, reason_of
from proctor.foreign_text import parse_json
from proctor.ir import (
    TRUNCATED,
    Answers,
    Failure,
    Generate,
    Pair,
    Prompt,
    Response,
    Rolling,
    Score,
    Scored,
    content_key,
    without_filtered,
)
from proctor.safe_files import opened

PROMPT_FIELDS = ("prompt", "source", "messages", "input_text", "model_input")
OUTPUT_FIELDS = ("output", "outputs", "generated_text", "raw_prediction", "prediction", "response", "text")
ENDING_FIELDS = ("finish_reason", "finish_reasons")
_WANTED = "name samples.jsonl of a run, a list in a .json file, or a .jsonl file with an answer a line"
Row = Mapping[str, Any]


class _Told(NamedTuple):
    """What a row says about one answer: text, thoughts, how it ended, why there is none, all that was written."""

    output: Any = None
    thinking: Any = None
    ending: Any = None
    failure: Any = None
    written: Any = None


class ReplayEngine(Engine):
    """Answers from a JSON Lines file.

    Rows that have a prompt (``prompt``, ``source``, ``messages`` …) answer the requests with that prompt, in the order
    of the file where it comes several times; the last one repeats. Where no row has a prompt, the first request gets
    the first row, and so on. A row may also be a bare JSON string: the prediction.

    ``thinking`` and ``finish_reason`` of a row belong to its answer, as in the samples of a run: what was cut off
    counts as cut off, what was filtered is a failure; ``failure`` says why a row has no answer.

    Attributes:
        path: The file (a ``.json`` file may hold a list of rows), or a run folder that has a ``samples.jsonl``.
        prompt_field: Name of the prompt; by default the first of the usual ones that a row has.
        output_field: Name of the answer, likewise.
        model: What tables call the engine; by default the file's name.
    """

    path: str
    prompt_field: Annotated[str | None, NON_POSITIONAL] = None
    output_field: Annotated[str | None, NON_POSITIONAL] = None
    model: Annotated[str | None, NON_POSITIONAL] = None

    def prepare(self) -> None:
        """Forget what was read."""
        super().prepare()
        self._rows: list[Row] | None = None
        object.__setattr__(self, "can_score", True)

    @property
    def label(self) -> str:
        """The model's name, or the file's."""
        return self.model or Path(self.path).stem

    def effects(self) -> Iterable[Effect]:
        """Return that it reads its file."""
        return reading(self.path, self.author, self.label)

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: the content of the file, wherever it lies."""
        return {**super().identity_values(), "path": content_key("replay", self._read())}

    @property
    def answers_in_order(self) -> bool:
        """True where no row has a prompt."""
        names = (self.prompt_field,) if self.prompt_field else PROMPT_FIELDS
        return not any(row.get(name) is not None for row in self._read() for name in names)

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order.

        Raises:
            EngineError: There is no such file.
            DataError: A line is not JSON.
        """
        recorded = _Recorded(self._read(), self.prompt_field, self.output_field)
        hear = self.hearing()
        for position, request in enumerate(requests):
            found = _response(recorded.answer(position, request.prompt.payload), request)
            yield position, hear(found, request.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations as a run's samples have them, in order; errors as in :meth:`generate`."""
        recorded = _Recorded(self._read(), self.prompt_field, self.output_field)
        for position, request in enumerate(requests):
            pairs = (Pair(Prompt(""), request.text),) if isinstance(request, Rolling) else request.pairs
            scores = [recorded.likelihood(pair.context.payload, pair.continuation) for pair in pairs]
            known = tuple(score for score in scores if score is not None)
            missing = f"no likelihood is recorded for the continuations of {pairs[0].context.text[-80:]!r}"
            yield position, Response(scores=known) if len(known) == len(scores) else _failure(missing)

    def _read(self) -> list[Row]:
        if self._rows is None:
            self.act()
            path = Path(self.path)
            is_run = path.is_dir()
            self._rows = list(_rows_of(path / "samples.jsonl" if is_run else path, path if is_run else None))
        return self._rows


def _rows_of(path: Path, run: Path | None) -> Iterator[Row]:
    """Yield the rows of a file; where it is that of a run folder, no link leads out of the folder."""
    try:
        with opened(path, within=run) as lines:
            if path.suffix.lower() == ".json":
                with suppress(ValueError):  # lines of JSON under another name
                    if isinstance(whole := parse_json(lines.read()), list):
                        yield from (row if isinstance(row, dict) else {"prediction": row} for row in whole)
                        return
                lines.seek(0)
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(line, Location(str(path), number))
    except OSError as error:
        raise EngineError(
            f"the recorded answers in '{path}' cannot be read",
            why=reason_of(error),
            hint=_WANTED,
        ) from None


def _row(line: bytes, location: Location) -> Row:
    try:
        row = parse_json(line)
    except ValueError as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError("a line of recorded answers is not JSON", why=why, location=location, hint=_WANTED) from None
    return row if isinstance(row, dict) else {"prediction": row}


class _Recorded:
    """Answers by prompt, or by position where rows have no prompts; likelihoods by context and continuation."""

    def __init__(self, rows: list[Row], prompt_field: str | None, output_field: str | None) -> None:
        prompts = (prompt_field,) if prompt_field else PROMPT_FIELDS
        outputs = (output_field,) if output_field else OUTPUT_FIELDS
        self._in_order = [_told(row, outputs) for row in rows]
        self._by_prompt: dict[str, deque[_Told]] = {}
        self._likelihoods: dict[str, Mapping[str, Any]] = {}
        for row, told in zip(rows, self._in_order, strict=True):
            prompt = _field(row, prompts)
            if _is_scored(told.output):
                self._note_likelihoods(prompt, row.get("continuations"), told.output)
            elif prompt is not None:
                self._note_answers(prompt, told)

    def answer(self, position: int, payload: Any) -> _Told:
        if not self._by_prompt:
            return self._in_order[position] if position < len(self._in_order) else _Told()
        waiting = self._by_prompt.get(content_key("prompt", payload), deque([_Told()]))
        return waiting.popleft() if len(waiting) > 1 else waiting[0]

    def likelihood(self, context: Any, continuation: str) -> Scored | None:
        found = self._likelihoods.get(content_key("pair", context, continuation))
        if found is None:
            return None
        return Scored(found["log_likelihood"], found.get("is_greedy", False), found.get("token_count", 0))

    def _note_likelihoods(self, prompt: Any, continuations: list[str] | None, output: list[Any]) -> None:
        # The sample of a rolled text has no continuations: the text is what is scored.
        texts = continuations or _each(prompt, len(output))
        contexts = _each(prompt, len(texts)) if continuations else [""] * len(texts)
        for context, text, scored in zip(contexts, texts, output, strict=False):
            self._likelihoods[content_key("pair", context, text)] = scored

    def _note_answers(self, prompt: Any, told: _Told) -> None:
        output = told.output
        if not (_is_list_of_prompts(prompt) and isinstance(output, list) and len(output) == len(prompt)):
            self._by_prompt.setdefault(content_key("prompt", prompt), deque()).append(told)
            return
        count = len(prompt)
        columns = [output, _each_of(told.thinking, count), _each_of(told.ending, count), [told.failure] * count]
        columns.append(_each_of(told.written, count))
        for each, *values in zip(prompt, *columns, strict=True):
            self._by_prompt.setdefault(content_key("prompt", each), deque()).append(_Told(*values))


def _told(row: Row, outputs: Iterable[str]) -> _Told:
    return _Told(
        _field(row, outputs), row.get("thinking"), _field(row, ENDING_FIELDS), row.get("failure"), row.get("written")
    )


def _field(row: Row, names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _is_scored(output: Any) -> bool:
    return isinstance(output, list) and bool(output) and isinstance(output[0], dict) and "log_likelihood" in output[0]


def _is_list_of_prompts(prompt: Any) -> bool:
    return isinstance(prompt, list) and not any(isinstance(each, dict) for each in prompt)


def _each(prompt: Any, count: int) -> list[Any]:
    """Return the prompt of each of several requests; a sample states a prompt that all share once."""
    return prompt if _is_list_of_prompts(prompt) and len(prompt) == count else [prompt] * count


def _each_of(value: Any, count: int) -> list[Any]:
    """Return what each of several texts has of something that a row states once for all, or one by one."""
    return value if isinstance(value, list) and len(value) == count else [value] * count


def recorded_response(prediction: object, row: Row) -> Response:
    """Return the response that a row records: a prediction with its thoughts and finish reason, or a failure.

    Args:
        prediction: The text, or ``None``.
        row: The row that it is in: ``thinking``, ``finish_reason``, ``written`` and ``failure`` are read.
    """
    told = _told(row, ())._replace(output=prediction)
    return _without_answer(told, "") if prediction is None else _recorded_texts(told, 1)


def _response(told: _Told, request: Generate) -> Response:
    if told.output is None:
        return _without_answer(told, request.prompt.text)
    return _recorded_texts(told, request.decoding.count)


def _recorded_texts(told: _Told, count: int) -> Response:
    answers = told.output if isinstance(told.output, list) and told.output else [told.output]
    texts = [each if isinstance(each, str) else json.dumps(each) for each in answers]
    endings = [each if isinstance(each, str) else "stop" for each in _each_of(told.ending, len(texts))]
    thoughts = [each if isinstance(each, str) else "" for each in _each_of(told.thinking, len(texts))]
    written = [each if isinstance(each, str) else "" for each in _each_of(told.written, len(texts))]
    places = [index % len(texts) for index in range(count)]
    response = Response(
        texts=tuple(texts[place] for place in places),
        finish_reasons=tuple(endings[place] for place in places),
        thoughts=tuple(thoughts[place] for place in places) if any(thoughts) else (),
        written=tuple(written[place] for place in places) if any(written) else (),
    )
    return without_filtered(response)


def _without_answer(told: _Told, prompt: str) -> Response:
    """Return the failure that a row records; where it records none, that there is nothing."""
    reason = told.failure if isinstance(told.failure, Mapping) else {}
    kind, message = reason.get("kind"), reason.get("message")
    if not isinstance(kind, str) or not kind or kind == TRUNCATED:
        return _failure(f"no answer is recorded for the prompt {prompt[:80]!r}")
    thoughts = (told.thinking,) if isinstance(told.thinking, str) and told.thinking else ()
    failure = Failure(kind, message if isinstance(message, str) else "", retryable=False)
    written = (told.written,) if isinstance(told.written, str) and told.written else ()
    return Response(thoughts=thoughts, written=written, failure=failure)


def _failure(message: str) -> Response:
    return Response(failure=Failure("engine", message, retryable=False))
