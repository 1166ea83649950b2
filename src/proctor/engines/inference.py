"""Predictions for a dataset: what a user calls on an engine.

::

    predictions = engine(dataset)                          # list of str
    details = engine.infer(dataset, return_meta_data=True) # list of TextGenerationInferenceOutput
    tokens = engine.infer_log_probs(dataset)               # per row, a list of {"text", "logprob", "top_tokens"}
    chosen = engine.select(dataset)                        # rows with "prediction", chosen from task_data["options"]

A dataset is a list of rows, or a Hugging Face ``Dataset``, with ``source``: a string or chat messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from proctor.data.policy import check_policies
from proctor.errors import EngineError, FieldTypeError, MissingFieldError
from proctor.foreign_text import parse_json
from proctor.ir import (
    Choose,
    Decoding,
    Failure,
    Generate,
    KnownAnswerer,
    Pair,
    Prompt,
    Response,
    in_order,
    prompt_of_source,
)

Row = Mapping[str, Any]
OnFailure = Literal["raise", "keep"]
T = TypeVar("T")
_PICTURE = "<unitxt-img"


@dataclass
class TextGenerationInferenceOutput:
    """A prediction and how it came about.

    Attributes:
        prediction: The text; for :func:`infer_log_probs` a list of tokens. ``None`` where the request failed and
            failures are kept.
        generated_text: The text.
        input_tokens, output_tokens: As the engine counted them.
        stop_reason: ``stop``, ``length`` …
        seed: Seed of the decoding, where there was one.
        input_text: The source.
        model_name, inference_type: Who answered.
        failure: Why there is no prediction.
    """

    prediction: str | list[dict[str, Any]] | None
    generated_text: str | None
    input_tokens: int | None = None
    output_tokens: int | None = None
    stop_reason: str | None = None
    seed: int | None = None
    input_text: Any = None
    model_name: str | None = None
    inference_type: str | None = None
    failure: Failure | None = None


class Predictions(list[T], Generic[T]):
    """A list that knows who predicted it, under ``metadata``."""

    def __init__(self, items: Iterable[T], metadata: dict[str, Any]) -> None:
        super().__init__(items)
        self.metadata = metadata


class SavedAnswerer(KnownAnswerer, Protocol):
    """An answerer that can be written down."""

    def answering(self) -> SavedAnswerer:
        """Return the engine that answers: itself, or the one that the user put in its place."""

    def to_dict(self) -> dict[str, Any]:
        """Return the artifact as JSON-like data."""


class Predicting:
    """Methods of engines that users call: predictions for the rows of a dataset."""

    def __call__(
        self: SavedAnswerer, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return a prediction for each row; see :meth:`infer`."""
        return self.infer(dataset, return_meta_data, on_failure)  # type: ignore[attr-defined, no-any-return]

    def infer(
        self: SavedAnswerer, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return a prediction for each row, in order.

        Args:
            dataset: Rows with ``source``; tools for the model may be in ``task_data["__tools__"]``.
            return_meta_data: Return :class:`TextGenerationInferenceOutput` instead of strings.
            on_failure: ``raise``, or ``keep`` to get ``None`` for rows that failed.

        Raises:
            EngineError: A row failed; the message counts the failures and shows the first.
            PolicyError: The engine may not see a row. Nothing was sent.
        """
        engine = self.answering()
        rows = checked_rows(engine, dataset)
        responses = _generate(engine, rows, {}, on_failure)
        found = [_output(engine, row, response, _text(response)) for row, response in zip(rows, responses, strict=True)]
        return Predictions(found if return_meta_data else [each.prediction for each in found], metadata_of(engine))

    def infer_log_probs(
        self: SavedAnswerer, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the generated tokens of each row: ``{"text", "logprob", "top_tokens": [{"text", "logprob"}, …]}``.

        Arguments and errors as in :meth:`infer`; an engine that gives no log-probabilities is an error, too.
        """
        engine = self.answering()
        rows = checked_rows(engine, dataset)
        responses = _generate(engine, rows, {"logprobs": True, "top_logprobs": engine.top_tokens}, on_failure)
        if any(response.failure is None and not response.tokens for response in responses):
            raise EngineError.without_log_probabilities(engine.label)
        found = [
            _output(engine, row, response, _tokens(response)) for row, response in zip(rows, responses, strict=True)
        ]
        return Predictions(found if return_meta_data else [each.prediction for each in found], metadata_of(engine))

    def select(self: SavedAnswerer, dataset: Iterable[Row], on_failure: OnFailure = "raise") -> list[dict[str, Any]]:
        """Return the rows with ``prediction``: which of ``task_data["options"]`` is most likely after ``source``.

        The likelihood of an option is the sum over its tokens; of equal options the first wins. Errors as in
        :meth:`infer`; an engine that cannot score continuations raises ``UnsupportedRequestError``.
        """
        engine = self.answering()
        rows = checked_rows(engine, dataset)
        options = [_options(row, position) for position, row in enumerate(rows)]
        requests = (
            Choose(tuple(Pair(prompt_of(row), option) for option in offered))
            for row, offered in zip(rows, options, strict=True)
        )
        responses = in_order(engine.score(requests), len(rows))
        _raise_failures(engine, responses, on_failure)
        return [
            {**row, "prediction": _best(response, offered)}
            for row, response, offered in zip(rows, responses, options, strict=True)
        ]


def prompt_of(row: Row) -> Prompt:
    """Return the prompt in a row's ``source``: a string, messages, or messages written as JSON.

    A string with tags for pictures, which are under ``media``, becomes one user message with the pictures in place.
    """
    source = row["source"]
    prompt = prompt_of_source(source)
    if not prompt.is_chat and _PICTURE in source and (media := row.get("media")):
        from proctor.formats.chat import to_content

        return Prompt([{"role": "user", "content": to_content(source, media)}])
    return prompt


def checked_rows(engine: KnownAnswerer, dataset: Iterable[Row]) -> list[Row]:
    """Return the rows of a dataset, once each has a source and may be seen by the engine."""
    rows = list(dataset)
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise FieldTypeError(f"row {position} is a {type(row).__name__}, not a dict", hint="pass a list of rows")
        if "source" not in row:
            raise MissingFieldError(f"row {position} has no 'source'", why=f"it has {', '.join(map(str, row))}")
        if not isinstance(row["source"], (str, list, tuple)):
            raise FieldTypeError(f"'source' of row {position} is neither a string nor chat messages")
    check_policies(engine.policy, rows, engine.label)
    return rows


def _generate(
    engine: KnownAnswerer, rows: Sequence[Row], extra: Mapping[str, Any], on_failure: OnFailure
) -> list[Response]:
    responses = in_order(engine.generate(_request(row, extra) for row in rows), len(rows))
    _raise_failures(engine, responses, on_failure)
    return responses


def _request(row: Row, extra: Mapping[str, Any]) -> Generate:
    tools = _task_data(row).get("__tools__")
    given = {**extra, "tools": tools} if tools else dict(extra)
    return Generate(prompt_of(row), Decoding(extra=given))


def _task_data(row: Row) -> Mapping[str, Any]:
    data = row.get("task_data") or {}
    found = parse_json(data) if isinstance(data, str) else data
    return found if isinstance(found, Mapping) else {}


def _options(row: Row, position: int) -> list[str]:
    options = _task_data(row).get("options")
    if not isinstance(options, Sequence) or not options or isinstance(options, str):
        raise MissingFieldError(f"row {position} has no options to select from", hint="put them into task_data.options")
    return [str(option) for option in options]


def _raise_failures(engine: KnownAnswerer, responses: Sequence[Response], on_failure: OnFailure) -> None:
    failed = [(position, each.failure) for position, each in enumerate(responses) if each.failure is not None]
    if not failed or on_failure == "keep":
        return
    position, first = failed[0]
    raise EngineError(
        f"{len(failed)} of {len(responses)} requests to '{engine.label}' failed; the first is row {position}",
        why=f"{first.kind}: {first.message}",
        hint="on_failure='keep' returns None for rows that fail",
    )


def _text(response: Response) -> str | None:
    return None if response.failure is not None else response.text


def _tokens(response: Response) -> list[dict[str, Any]] | None:
    return [token.as_data() for token in response.tokens[0]] if response.tokens else None


def _best(response: Response, options: Sequence[str]) -> str | None:
    if response.failure is not None:
        return None
    values = [score.log_likelihood for score in response.scores]
    return options[values.index(max(values))]


def _output(
    engine: KnownAnswerer, row: Row, response: Response, prediction: str | list[dict[str, Any]] | None
) -> TextGenerationInferenceOutput:
    return TextGenerationInferenceOutput(
        prediction=prediction,
        generated_text=_text(response),
        input_text=row["source"],
        failure=response.failure,
        **engine.about(response),
    )


def metadata_of(engine: SavedAnswerer) -> dict[str, Any]:
    """Return the engine's description, for :attr:`Predictions.metadata`."""
    return {
        "init_dict": engine.to_dict(),
        "inference_engine_type": type(engine).__name__,
        "creation_time": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3],
    }
