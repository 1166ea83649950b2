"""vLLM in this process (offline): for machines with a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field, model_validator

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.decoding import with_defaults
from proctor.engines.engine import Answers, Engine
from proctor.engines.fitting import Truncate, fitted_pair, fitted_prompt
from proctor.engines.hf_tokens import Encoder, Ids, RefusedError, Scorable
from proctor.errors import EngineError, MissingExtraError
from proctor.ir import Decoding, Failure, Generate, Response, Rolling, Score, Scored, TokenLogProbability, Usage

WINDOW = 4096
"""Requests handed to vLLM at once: it schedules them itself, and works best when it sees many."""

T = TypeVar("T")
_SAMPLING = (
    "best_of",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "min_p",
    "stop_token_ids",
    "bad_words",
    "ignore_eos",
    "min_tokens",
)


class VLLMEngine(Engine):
    """A model that vLLM loads.

    Attributes:
        model: Hub id or folder.
        max_tokens, temperature, top_p, top_k, seed, stop: Decoding for requests that leave it open.
        tensor_parallel_size: GPUs that share the model.
        gpu_memory_utilization: Share of each GPU's memory to take.
        max_model_len: Context length in tokens; the model's own by default.
        truncate: What to do with a prompt that is too long: ``left`` drops its beginning (as lm-eval does), ``demos``
            drops whole demonstrations, the first ones first, ``none`` drops nothing. Where it is still too long, the
            answer is a failure that says by how many tokens.
        llm_kwargs: Everything else that ``vllm.LLM`` takes.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {
        "tensor_parallel_size",
        "gpu_memory_utilization",
        "trust_remote_code",
    }
    can_score: ClassVar[bool] = True
    other_names: ClassVar[Mapping[str, str]] = {"pretrained": "model", "model_name": "model"}

    model: str
    max_tokens: Annotated[int | None, NON_POSITIONAL] = 256
    temperature: Annotated[float | None, NON_POSITIONAL] = None
    top_p: Annotated[float | None, NON_POSITIONAL] = None
    top_k: Annotated[int | None, NON_POSITIONAL] = None
    seed: Annotated[int | None, NON_POSITIONAL] = None
    stop: Annotated[str | list[str] | None, NON_POSITIONAL] = None
    dtype: Annotated[str, NON_POSITIONAL] = "auto"
    revision: Annotated[str | None, NON_POSITIONAL] = None
    quantization: Annotated[str | None, NON_POSITIONAL] = None
    max_model_len: Annotated[int | None, NON_POSITIONAL] = None
    tensor_parallel_size: Annotated[int, NON_POSITIONAL, Field(ge=1)] = 1
    gpu_memory_utilization: Annotated[float, NON_POSITIONAL, Field(gt=0, le=1)] = 0.9
    trust_remote_code: Annotated[bool, NON_POSITIONAL] = False
    chat_template: Annotated[str | None, NON_POSITIONAL] = None
    truncate: Annotated[Truncate, NON_POSITIONAL] = "left"
    llm_kwargs: Annotated[dict[str, Any], NON_POSITIONAL] = {}

    _loaded: Any = None

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {cls.other_names.get(name, name): value for name, value in values.items()}

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        names = ("max_tokens", "temperature", "top_p", "top_k", "seed")
        return {**{name: getattr(self, name) for name in names}, "stop": stop or None, "extra": self._sampling()}

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, ``WINDOW`` at a time.

        Raises:
            MissingExtraError: vLLM is not installed.
            EngineError: vLLM cannot load the model.
        """
        for start, window in _windows(requests):
            yield from ((start + position, response) for position, response in self._generate(window))

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations with the token boundaries of lm-evaluation-harness; errors as in :meth:`generate`."""
        for start, window in _windows(requests):
            yield from ((start + position, response) for position, response in self._score(window))

    def close(self) -> None:
        """Forget the model."""
        self._loaded = None

    # -- generation -------------------------------------------------------------------------------------------

    def _generate(self, window: Sequence[Generate]) -> Iterator[tuple[int, Response]]:
        encoder, positions, prompts, parameters = self._encoder(self._length()), [], [], []
        defaults = self.decoding_defaults()
        if defaults["max_tokens"]:  # a default must not make requests impossible that name no limit
            defaults = {**defaults, "max_tokens": min(defaults["max_tokens"], max(1, encoder.max_length // 2))}
        for position, request in enumerate(window):
            decoding = with_defaults(request.decoding, defaults)
            try:
                [ids] = encoder.encode_prompts([encoder.text_of(request.prompt)])
                ids = fitted_prompt(encoder, request.prompt, ids, decoding.max_tokens or 1, self.truncate)
            except RefusedError as error:
                yield position, _refused(error)
                continue
            positions.append(position)
            prompts.append({"prompt_token_ids": ids})
            parameters.append(self._parameters(decoding))
        outputs = self._llm().generate(prompts, parameters, use_tqdm=False) if prompts else []
        yield from zip(positions, map(_generated, outputs), strict=True)

    def _parameters(self, decoding: Decoding) -> Any:
        from vllm import SamplingParams

        extra = {
            name: value for name, value in decoding.extra.items() if name not in ("tools", "logprobs", "top_logprobs")
        }
        if decoding.extra.get("logprobs"):
            extra["logprobs"] = decoding.extra.get("top_logprobs", 1)
        return SamplingParams(
            n=decoding.count,
            temperature=decoding.temperature,
            top_p=1.0 if decoding.top_p is None else decoding.top_p,
            top_k=-1 if decoding.top_k is None else decoding.top_k,
            seed=decoding.seed,
            stop=list(decoding.stop),
            max_tokens=decoding.max_tokens,
            **extra,
        )

    def _sampling(self) -> dict[str, Any]:
        """Return parameters of sampling that only vLLM has."""
        return {name: value for name in _SAMPLING if (value := getattr(self, name, None)) is not None}

    # -- likelihoods ------------------------------------------------------------------------------------------

    def _score(self, window: Sequence[Score]) -> Iterator[tuple[int, Response]]:
        from vllm import SamplingParams

        # The last target is a part of the prompt, and vLLM writes one token more, which nobody looks at.
        encoder = self._encoder(self._length() - 2)
        pieces: list[tuple[int, int, Scorable]] = []
        counts: dict[int, int] = {}
        for position, request in enumerate(window):
            try:
                groups = _scorables(encoder, request, self.truncate)
            except RefusedError as error:
                yield position, _refused(error)
                continue
            counts[position] = len(groups)
            pieces += [(position, index, piece) for index, group in enumerate(groups) for piece in group]
        prompts = [{"prompt_token_ids": [*piece.inputs, piece.targets[-1]]} for _, _, piece in pieces]
        parameters = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=1)
        outputs = self._llm().generate(prompts, parameters, use_tqdm=False) if prompts else []
        found: dict[tuple[int, int], list[Scored]] = {}
        for (position, index, piece), output in zip(pieces, outputs, strict=True):
            found.setdefault((position, index), []).append(_scored(piece, output))
        for position, count in counts.items():
            yield position, Response(scores=tuple(_sum(found.get((position, index), [])) for index in range(count)))

    # -- the model --------------------------------------------------------------------------------------------

    def _llm(self) -> Any:
        if self._loaded is None:
            try:
                from vllm import LLM
            except ImportError:
                raise MissingExtraError.of("vllm", "vllm", "the engine 'vllm'") from None
            try:
                self._loaded = LLM(model=self.model, **self._load_arguments())
            except (RuntimeError, ValueError, OSError) as error:
                raise EngineError(f"vLLM cannot load '{self.model}'", why=str(error)) from None
        return self._loaded

    def _load_arguments(self) -> dict[str, Any]:
        names = ("dtype", "revision", "quantization", "max_model_len", "tensor_parallel_size", "gpu_memory_utilization")
        given = {name: value for name in (*names, "trust_remote_code") if (value := getattr(self, name)) is not None}
        return {**given, **self.llm_kwargs}

    def _length(self) -> int:
        return int(self.max_model_len or self._llm().llm_engine.model_config.max_model_len)

    def _encoder(self, length: int) -> Encoder:
        return Encoder(self._llm().get_tokenizer(), length, chat_template=self.chat_template)


def _windows(requests: Iterable[T]) -> Iterator[tuple[int, list[T]]]:
    iterator, start = iter(requests), 0
    while window := list(islice(iterator, WINDOW)):
        yield start, window
        start += len(window)


def _scorables(encoder: Encoder, request: Score, truncate: Truncate) -> list[list[Scorable]]:
    """Return for each score that is wanted the token sequences that make it up."""
    if isinstance(request, Rolling):
        return [encoder.rolling(request.text) if request.from_start else encoder.continued(request.text)]
    texts = [(encoder.text_of(pair.context), pair.continuation) for pair in request.pairs]
    pairs: list[tuple[Ids, Ids]] = encoder.encode_pairs(texts)
    return [[fitted_pair(encoder, pair, ids, truncate)] for pair, ids in zip(request.pairs, pairs, strict=True)]


def _scored(piece: Scorable, output: Any) -> Scored:
    """Return the likelihood of the targets from the log-probabilities of the prompt's last tokens."""
    entries = output.prompt_logprobs[-len(piece.targets) :]
    chosen = [entry[token] for entry, token in zip(entries, piece.targets, strict=True)]
    return Scored(sum(each.logprob for each in chosen), all(each.rank == 1 for each in chosen), len(chosen))


def _sum(parts: Sequence[Scored]) -> Scored:
    return Scored(
        sum(part.log_likelihood for part in parts),
        all(part.is_greedy for part in parts),
        sum(part.token_count for part in parts),
    )


def _generated(output: Any) -> Response:
    written = sum(len(each.token_ids) for each in output.outputs)
    return Response(
        texts=tuple(each.text for each in output.outputs),
        finish_reasons=tuple(each.finish_reason or "" for each in output.outputs),
        tokens=tuple(_tokens(each) for each in output.outputs if each.logprobs),
        usage=Usage(len(output.prompt_token_ids), written),
    )


def _tokens(output: Any) -> tuple[TokenLogProbability, ...]:
    found = []
    for token, entry in zip(output.token_ids, output.logprobs, strict=True):
        top = sorted(entry.values(), key=lambda each: each.rank)
        pairs = tuple((each.decoded_token or "", each.logprob) for each in top)
        found.append(TokenLogProbability(entry[token].decoded_token or "", entry[token].logprob, pairs))
    return tuple(found)


def _refused(error: RefusedError) -> Response:
    return Response(failure=Failure(error.kind, str(error), retryable=False))


class VLLMInferenceEngine(VLLMEngine):
    """The engine that Unitxt users know, with its fields: vLLM's own names for sampling."""

    transient_fields: ClassVar[frozenset[str]] = VLLMEngine.transient_fields | {"cache_batch_size", "use_cache"}

    max_tokens: Annotated[int | None, NON_POSITIONAL] = 16
    n: Annotated[int, NON_POSITIONAL, Field(ge=1)] = 1
    best_of: Annotated[int | None, NON_POSITIONAL] = None
    presence_penalty: Annotated[float | None, NON_POSITIONAL] = None
    frequency_penalty: Annotated[float | None, NON_POSITIONAL] = None
    repetition_penalty: Annotated[float | None, NON_POSITIONAL] = None
    min_p: Annotated[float | None, NON_POSITIONAL] = None
    stop_token_ids: Annotated[list[int] | None, NON_POSITIONAL] = None
    bad_words: Annotated[list[str] | None, NON_POSITIONAL] = None
    ignore_eos: Annotated[bool | None, NON_POSITIONAL] = None
    min_tokens: Annotated[int | None, NON_POSITIONAL] = None
    logprobs: Annotated[int | None, NON_POSITIONAL] = None
    prompt_logprobs: Annotated[int | None, NON_POSITIONAL] = None
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        defaults = dict(super().decoding_defaults())
        extra = defaults["extra"]
        if self.logprobs is not None:
            extra = {**extra, "logprobs": True, "top_logprobs": self.logprobs}
        if self.prompt_logprobs is not None:
            extra = {**extra, "prompt_logprobs": self.prompt_logprobs}
        return {**defaults, "count": self.n, "extra": extra}
