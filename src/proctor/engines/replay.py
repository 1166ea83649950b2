"""An engine that repeats what was answered before: predictions from a file, or the samples of an earlier run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Answers, Engine
from proctor.errors import DataError, EngineError, Location
from proctor.ir import Failure, Generate, Pair, Prompt, Response, Rolling, Score, Scored, content_key

PROMPT_FIELDS = ("prompt", "source", "messages", "input_text", "model_input")
OUTPUT_FIELDS = ("output", "outputs", "generated_text", "raw_prediction", "prediction", "response", "text")
SCORE_FIELDS = ("log_likelihoods", "scores")


class ReplayEngine(Engine):
    """Answers from a JSON Lines file.

    Rows that have a prompt (``prompt``, ``source``, ``messages`` …) answer the requests with that prompt, in the order
    of the file where it comes several times; the last one repeats. Where no row has a prompt, the first request gets
    the first row, and so on. A row may also be a bare JSON string: the prediction.

    Attributes:
        path: The file, or a run folder that has a ``samples.jsonl``.
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
        self._rows: list[Mapping[str, Any]] | None = None
        object.__setattr__(self, "can_score", True)

    @property
    def label(self) -> str:
        """The model's name, or the file's."""
        return self.model or Path(self.path).stem

    def identity_values(self) -> dict[str, Any]:
        """Return what decides the answers: the content of the file, wherever it lies."""
        return {**super().identity_values(), "path": content_key("replay", self._read())}

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order.

        Raises:
            EngineError: There is no such file.
            DataError: A line is no JSON.
        """
        rows = _Rows(self._read(), self.prompt_field)
        for position, request in enumerate(requests):
            row = rows.find(position, request.prompt.payload)
            yield position, self._answer(row, request)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations from rows with ``log_likelihoods``, in order; errors as in :meth:`generate`."""
        rows = _Rows(self._read(), self.prompt_field)
        for position, request in enumerate(requests):
            pairs = (Pair(Prompt(""), request.text),) if isinstance(request, Rolling) else request.pairs
            row = rows.find(position, pairs[0].context.payload)
            yield position, _scores(row, len(pairs))

    def _answer(self, row: Mapping[str, Any] | None, request: Generate) -> Response:
        if row is None:
            return _failure(f"no answer is recorded for the prompt {request.prompt.text[:80]!r}")
        names = (self.output_field,) if self.output_field else OUTPUT_FIELDS
        found = next((row[name] for name in names if row.get(name) is not None), None)
        if found is None:
            return _failure(f"the recorded row has no {' or '.join(names)}")
        texts = [each if isinstance(each, str) else json.dumps(each) for each in _listed(found)]
        count = request.decoding.count
        return Response(
            texts=tuple(texts[index % len(texts)] for index in range(count)), finish_reasons=("stop",) * count
        )

    def _read(self) -> list[Mapping[str, Any]]:
        if self._rows is None:
            path = Path(self.path)
            self._rows = list(_rows_of(path / "samples.jsonl" if path.is_dir() else path))
        return self._rows


def _rows_of(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise EngineError(f"the recorded answers in '{path}' cannot be read", why=str(error)) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(
                "a line of recorded answers is no JSON",
                why=error.msg,
                location=Location(str(path), number, error.colno),
            ) from None
        yield row if isinstance(row, dict) else {"prediction": row}


class _Rows:
    """Rows by prompt, or by position where they have none."""

    def __init__(self, rows: list[Mapping[str, Any]], field: str | None) -> None:
        self._rows = rows
        self._by_prompt: dict[str, list[Mapping[str, Any]]] = {}
        names = (field,) if field else PROMPT_FIELDS
        for row in rows:
            prompt = next((row[name] for name in names if row.get(name) is not None), None)
            if prompt is not None:
                self._by_prompt.setdefault(content_key("prompt", prompt), []).append(row)

    def find(self, position: int, payload: Any) -> Mapping[str, Any] | None:
        if not self._by_prompt:
            return self._rows[position] if position < len(self._rows) else None
        waiting = self._by_prompt.get(content_key("prompt", payload))
        if not waiting:
            return None
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) and value else [value]


def _scores(row: Mapping[str, Any] | None, count: int) -> Response:
    values = next((row[name] for name in SCORE_FIELDS if isinstance(row.get(name), list)), None) if row else None
    if values is None or len(values) != count:
        return _failure(f"no {count} log-likelihoods are recorded for this request")
    numbers = [value["log_likelihood"] if isinstance(value, dict) else float(value) for value in values]
    return Response(scores=tuple(Scored(number, number == max(numbers)) for number in numbers))


def _failure(message: str) -> Response:
    return Response(failure=Failure("engine", message, retryable=False))
