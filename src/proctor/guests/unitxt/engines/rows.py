"""Engines of users' own that predict for rows: subclass :class:`InferenceEngine` and implement ``_infer``.

::

    class Echo(InferenceEngine):
        def prepare_engine(self): ...                            # load what is needed
        def get_engine_id(self): return "echo"                   # what scores of a judge call it
        def _infer(self, dataset, return_meta_data=False):       # rows in, texts out
            return [row["source"] for row in dataset]

Such an engine answers programs, judges and runs. Rows that a program passes arrive as they are; those of a run have
``source`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Engine
from proctor.engines.inference import Predictions, TextGenerationInferenceOutput, checked_rows, metadata_of
from proctor.errors import EngineError, ProctorError, UsageError
from proctor.guests.unitxt.class_relations import Counting, counts_in
from proctor.guests.unitxt.engines.words import ToldInUnitxtWords
from proctor.ir import Answers, Failure, Generate, Response, TokenLogProbability, Usage

if TYPE_CHECKING:
    from proctor.engines.inference import OnFailure, Row


class InferenceEngine(ToldInUnitxtWords, Engine, metaclass=Counting):
    """Base of engines that predict for rows.

    Attributes:
        cache_batch_size: How many rows of a run are passed at once.
        use_cache: Without effect: what a run asks is in the response log.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {"cache_batch_size", "use_cache"}

    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True

    def prepare(self) -> None:
        """Prepare the engine when it is built."""
        super().prepare()
        self.prepare_engine()

    def prepare_engine(self) -> None:
        """Load what is needed; override it where something is."""

    @property
    def label(self) -> str:
        """What results call the engine: the ``label`` that its class declares, else its model."""
        return str(vars(self).get("label") or super().label)

    @property
    def price_name(self) -> str:
        """The model, as price tables have it."""
        return super().label

    def get_engine_id(self) -> str:
        """Return what scores call this engine."""
        return self.label

    def to_messages(self, instance: Mapping[str, Any]) -> list[Any]:
        """Return the messages of a row; a text is what the user says."""
        source = instance["source"]
        return source if isinstance(source, list) else [{"role": "user", "content": source}]

    def _infer(self, dataset: Any, return_meta_data: bool = False) -> Sequence[Any]:
        """Return a prediction for each row: texts, or with ``return_meta_data`` the detailed outputs."""
        raise UsageError(
            f"{type(self).__name__} does not say how to predict",
            why=f"{len(dataset)} rows are asked about, {'with' if return_meta_data else 'without'} details",
            hint="implement _infer(self, dataset, return_meta_data=False)",
        )

    def infer(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return a prediction for each row, in order.

        Raises:
            EngineError: ``_infer`` failed, or returned another number of predictions.
            PolicyError: The engine may not see a row. Nothing was sent.
        """
        engine = self.answering()
        if engine is not self:
            return engine.infer(dataset, return_meta_data, on_failure)
        rows = checked_rows(self, dataset)
        has_details = return_meta_data and hasattr(self, "get_return_object")
        found = _predicted(self, self._infer, rows, has_details=has_details)
        if return_meta_data:
            found = [self._detailed(row, each) for row, each in zip(rows, found, strict=True)]
        return Predictions(found, metadata_of(self))

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer the requests of a run or a judge, some at once."""
        waiting, position = iter(requests), 0
        while batch := list(islice(waiting, self.cache_batch_size)):
            for wants_tokens, group in groupby(batch, _wants_tokens):
                for response in self._answers(list(group), wants_tokens=wants_tokens):
                    yield position, response
                    position += 1

    def about(self, response: Response) -> Mapping[str, Any]:
        """Return what is known about an answer; what the user's own engine did not count is left out."""
        known = {name: value for name, value in super().about(response).items() if value}
        return {**known, "model_name": self.get_engine_id()}

    def _answers(self, requests: Sequence[Generate], *, wants_tokens: bool) -> Iterator[Response]:
        rows = [_row(request) for request in requests]
        engine: object = self  # whose class inherits both bases, in either order
        if wants_tokens and isinstance(engine, LogProbInferenceEngine):
            return map(_with_tokens, engine.infer_log_probs(rows))
        return map(_response, self.infer(rows, return_meta_data=True, on_failure="keep"))

    def _detailed(self, row: Row, found: Any) -> TextGenerationInferenceOutput:
        if not isinstance(found, str) and hasattr(found, "prediction"):
            return found  # type: ignore[no-any-return]
        text = found if isinstance(found, str) else None
        return TextGenerationInferenceOutput(
            found, text, input_text=row["source"], model_name=self.get_engine_id(), inference_type=self.type_name()
        )


class LogProbInferenceEngine(Engine, metaclass=Counting):
    """What an engine of users' own inherits, too, where it gives log-probabilities: implement ``_infer_log_probs``."""

    def _infer_log_probs(self, dataset: Any, return_meta_data: bool = False) -> Sequence[Any]:
        """Return for each row its tokens: ``{"text", "logprob", "top_tokens": [{"text", "logprob"}, …]}``."""
        raise UsageError(
            f"{type(self).__name__} does not say how to predict with log-probabilities",
            why=f"{len(dataset)} rows are asked about, {'with' if return_meta_data else 'without'} details",
            hint="implement _infer_log_probs(self, dataset, return_meta_data=False)",
        )

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer requests with the tokens of their answers."""
        return enumerate(map(_with_tokens, self.infer_log_probs([_row(request) for request in requests])))

    def infer_log_probs(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the tokens of each row; errors as in :meth:`InferenceEngine.infer`."""
        engine = self.answering()
        if engine is not self:
            return engine.infer_log_probs(dataset, return_meta_data, on_failure)
        rows = checked_rows(self, dataset)
        has_details = return_meta_data and hasattr(self, "get_return_object")
        found = _predicted(self, self._infer_log_probs, rows, has_details=has_details)
        if return_meta_data and not has_details:
            found = [
                TextGenerationInferenceOutput(each, None, input_text=row["source"])
                for row, each in zip(rows, found, strict=True)
            ]
        return Predictions(found, metadata_of(self))


def _predicted(
    engine: Engine, predict: Callable[..., Iterable[Any]], rows: Sequence[Row], *, has_details: bool
) -> list[Any]:
    """Return what a user's method predicts; whatever it raises, and any other number, is an error of the engine."""
    name = type(engine).__name__
    try:
        found = list(predict(rows, *((True,) if has_details else ())))
    except ProctorError:
        raise
    except Exception as error:  # whatever a user's code raises becomes one message
        raise EngineError(f"the engine {name} failed", why=f"{type(error).__name__}: {error}") from error
    if len(found) != len(rows):
        raise EngineError(f"the engine {name} returned {len(found)} predictions for {len(rows)} rows")
    return found


def _row(request: Generate) -> dict[str, Any]:
    payload = request.prompt.payload
    return {"source": payload if isinstance(payload, str) else list(payload)}


def _wants_tokens(request: Generate) -> bool:
    return bool(request.decoding.extra.get("logprobs"))


def _response(found: Any) -> Response:
    if not isinstance(text := getattr(found, "prediction", None), str):
        return Response(failure=Failure("engine", "the engine gave no text for this request"))
    reason = getattr(found, "stop_reason", None)
    usage = Usage(getattr(found, "input_tokens", None) or 0, getattr(found, "output_tokens", None) or 0)
    return Response((text,), finish_reasons=(str(reason),) if reason else (), usage=usage)


def _with_tokens(found: Sequence[Mapping[str, Any]]) -> Response:
    tokens = tuple(
        TokenLogProbability(
            each["text"],
            each["logprob"] if "logprob" in each else _most_likely(each),
            tuple((top["text"], top["logprob"]) for top in each.get("top_tokens") or ()),
        )
        for each in found
    )
    return Response(("".join(token.token for token in tokens),), tokens=(tokens,))


def _most_likely(token: Mapping[str, Any]) -> float:
    """Return the log-probability of a token that says none, as the list of the likeliest has it."""
    likely: dict[str, float] = {top["text"]: top["logprob"] for top in token.get("top_tokens") or ()}
    return likely[token["text"]]


counts_in(InferenceEngine, lambda other: issubclass(other, Engine))
counts_in(LogProbInferenceEngine, lambda other: getattr(other, "can_score", None) is True)
