"""vLLM in this process (offline): for machines with a GPU.

Calls and shapes are those of vLLM 0.33.0 (``vllm/entrypoints/llm.py``, ``vllm/sampling_params.py``,
``vllm/outputs.py``, ``vllm/exceptions.py``), restricted to what 0.9 has, too. The script
``conformance/vllm/signatures.py`` records the signatures that the tests hold this module to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from msgspec import structs
from pydantic import Field, model_validator

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect
from proctor.engines.chat_templates import has_chat_template, template_options
from proctor.engines.decoding import with_defaults
from proctor.engines.encoder import Encoder, RefusedError, Scorable
from proctor.engines.engine import Engine
from proctor.engines.http.protocols.choice_ways import TRIALS, difference_of
from proctor.engines.http.provider_errors import is_too_long
from proctor.engines.model_content import content_of_engine
from proctor.engines.model_places import model_effects, places_in
from proctor.engines.thinking_engine import ThinkingEngine
from proctor.engines.thoughts import UNKNOWN, Opening, cut_at, heard, opening_of, special_marks, token_counter
from proctor.engines.truncation import Truncate, fitted_prompt, fitted_scorables
from proctor.engines.vllm.choice_ways import BY_PROMPT, Way, ways_with
from proctor.engines.vllm.conversion import WINDOW, answer_of, refusal, total
from proctor.errors import EngineError, MissingExtraError
from proctor.ir import Answers, Decoding, Generate, Prompt, Response, Rolling, Score, Scored, in_windows
from proctor.logs import get_logger
from proctor.wall import standing
from proctor.wall.rules import accelerators, granted

_NO_MEMORY = re.compile(r"memory|KV cache|max_model_len|initialization failed", re.IGNORECASE)
MEMORY_HINT = (
    "where memory is short: a smaller max_model_len, gpu_memory_utilization up to 0.95, max_num_seqs=16, more GPUs "
    "(tensor_parallel_size), or quantization"
)


def refusals() -> tuple[type[Exception], ...]:
    """Return the errors with which vLLM refuses a request: its own since 0.33, ``ValueError`` before."""
    found: tuple[type[Exception], ...] = (ValueError, TypeError)
    try:
        from vllm import exceptions
    except ImportError:
        return found
    return (*found, exceptions.VLLMError) if hasattr(exceptions, "VLLMError") else found


def deaths() -> tuple[type[Exception], ...]:
    """Return the errors after which the engine is gone: CUDA's, and those of a worker process."""
    found: tuple[type[Exception], ...] = (RuntimeError,)
    try:
        from vllm.v1.engine.exceptions import EngineDeadError
    except ImportError:
        return found
    return (*found, EngineDeadError)


def load_hint(why: str) -> str:
    """Return a hint for a model that cannot be loaded; empty where the reason says enough."""
    if "unexpected keyword" in why:
        return "llm_kwargs takes what vllm.EngineArgs of the installed version takes"
    if not _NO_MEMORY.search(why):
        return ""
    if standing() is not None and not accelerators() and not {*granted("read")} & {"/proc", "/"}:
        return "on a CPU vLLM's workers read /proc, which the wall refuses: --allow read:/proc lets them"
    return MEMORY_HINT


_LOADING = (
    "max_num_seqs", "max_num_batched_tokens", "max_logprobs", "max_lora_rank", "enable_prefix_caching",
    "enable_chunked_prefill", "enable_expert_parallel", "enable_trace_replay", "enforce_eager", "kv_cache_dtype",
    "tokenizer", "tokenizer_mode", "tokenizer_revision", "pipeline_parallel_size", "distributed_executor_backend",
    "cpu_offload_gb", "hf_overrides", "load_format", "download_dir", "block_size",
)  # fmt: skip
"""Arguments of ``vllm.LLM`` that people give beside the model, as lm-eval has them; they go to ``llm_kwargs``."""

_GREEDY = 1e-5  # vLLM's own threshold
_SAMPLING = (
    *("best_of", "presence_penalty", "frequency_penalty", "repetition_penalty", "min_p", "stop_token_ids"),
    *("bad_words", "ignore_eos", "min_tokens"),
)


class VLLMEngine(ThinkingEngine):
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
        peft: Folder of a LoRA adapter (lm-eval: ``lora_local_path``).
        llm_kwargs: Everything else that ``vllm.LLM`` takes.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {
        "tensor_parallel_size",
        "gpu_memory_utilization",
        "trust_remote_code",
    }
    can_score: ClassVar[bool] = True
    loads_model: ClassVar[bool] = True
    other_names: ClassVar[Mapping[str, str]] = {
        "pretrained": "model",
        "model_name": "model",
        "max_length": "max_model_len",
        "max_gen_toks": "max_tokens",
        "lora_local_path": "peft",
        "think_end_token": "think_end",
        "enable_thinking": "thinking",
    }

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
    peft: Annotated[str | None, NON_POSITIONAL] = None
    llm_kwargs: Annotated[dict[str, Any], NON_POSITIONAL] = {}

    _loaded: Any = None
    _ways: list[Way] | None = None
    _untried: list[Way] = []

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        named = {cls.other_names.get(name, name): value for name, value in values.items()}
        loading = {name: named.pop(name) for name in _LOADING if name in named and name not in cls.model_fields}
        return {**named, "llm_kwargs": {**loading, **named.get("llm_kwargs", {})}} if loading else named

    def effects(self) -> Iterable[Effect]:
        """Return its effects: reading the model, its adapter, and what options name."""
        return model_effects((self.model, self.peft, *places_in(self.llm_kwargs)), self.author, self.label)

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: the fields, and the content of folders."""
        return super().identity_values() | content_of_engine(self, (self.model, self.peft))

    @property
    def starts_programs(self) -> bool:
        """True: its workers are processes, and compilers make their kernels."""
        return True

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
        for start, window in in_windows(requests, WINDOW):
            yield from ((start + position, response) for position, response in self._generate(window))

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations with the token boundaries of lm-evaluation-harness; errors as in :meth:`generate`."""
        for start, window in in_windows(requests, WINDOW):
            yield from ((start + position, response) for position, response in self._score(window))

    def close(self) -> None:
        """Forget the model."""
        self._loaded = None

    # -- generation -------------------------------------------------------------------------------------------

    def _generate(self, window: Sequence[Generate]) -> Iterator[tuple[int, Response]]:
        encoder, asked = self._encoder(self._length()), list[_Asked]()
        defaults = self.decoding_defaults()
        if defaults["max_tokens"]:  # a default must not make requests impossible that name no limit
            defaults = {**defaults, "max_tokens": min(defaults["max_tokens"], max(1, encoder.max_length // 2))}
        shows_marks = special_marks(encoder.tokenizer, self.thought_marks) is not None
        for position, request in enumerate(window):
            decoding = self.with_allowance(with_defaults(request.decoding, defaults))
            try:
                text = encoder.text_of(request.prompt)
                [ids] = encoder.encode_prompts([text])
                ids = fitted_prompt(encoder, request.prompt, ids, decoding.max_tokens or 1, self.truncate)
                opening = opening_of(text, self.thought_marks)
                sent = structs.replace(decoding, stop=()) if self._may_think(opening) else decoding
                parameters = self._parameters(sent, shows_marks=shows_marks)
                asked.append(_Asked(position, list(ids), parameters, _repeats(decoding), opening, decoding.stop))
            except RefusedError as error:
                yield position, refusal(error)
        for each, output in self._answers(asked):
            found = output if isinstance(output, Response) else self._heard(answer_of(output, each.repeats), each)
            yield each.position, found

    def _may_think(self, opening: Opening) -> bool:
        """Whether stop strings may come up in thoughts: vLLM would end these, so that they are looked for here."""
        return opening.family is not None or (self.wants_thoughts and not opening.is_closed)

    def _heard(self, response: Response, asked: _Asked) -> Response:
        """Return a response whose texts are answers, which end at stop strings."""
        count = token_counter(self._llm().get_tokenizer())
        return cut_at(heard(response, self.thought_marks, replace(asked.opening, is_shown=True), count), asked.stop)

    def _parameters(self, decoding: Decoding, *, shows_marks: bool) -> Any:
        """Return vLLM's form of a decoding; what is open is left to vLLM."""
        from vllm import SamplingParams

        given = {**({"skip_special_tokens": False} if shows_marks else {}), **decoding.extra}
        given.pop("tools", None)
        top = given.pop("top_logprobs", None)
        wants = given.pop("logprobs", None)
        if wants is not None and wants is not False:  # 0 is the written token alone
            given["logprobs"] = wants if top is None and wants is not True else (1 if top is None else top)
        if bias := given.pop("logit_bias", None):
            given["logit_bias"] = {int(token): value for token, value in bias.items()}
        for name in ("top_p", "top_k", "seed", "max_tokens"):
            if (value := getattr(decoding, name)) is not None or name == "max_tokens":
                given[name] = value
        if stop := [mark for mark in decoding.stop if mark]:
            given["stop"] = stop
        count = 1 if _is_greedy(decoding) else decoding.count  # vLLM refuses several answers to a greedy request
        try:
            return SamplingParams(n=count, temperature=decoding.temperature, **given)
        except refusals() as error:
            raise RefusedError("refused", f"vLLM does not take this request: {error}") from None

    def _sampling(self) -> dict[str, Any]:
        """Return parameters of sampling that only vLLM has."""
        return {name: value for name in _SAMPLING if (value := getattr(self, name, None)) is not None}

    # -- likelihoods ------------------------------------------------------------------------------------------

    def _score(self, window: Sequence[Score]) -> Iterator[tuple[int, Response]]:
        # Of a prompt that is scored the last target is a part, and vLLM writes one token more, which nobody looks at.
        encoder = self._encoder(self._length() - 2)
        wanted: dict[int, list[Scorable]] = {}
        for position, pieces in enumerate(fitted_scorables(encoder, window, self.truncate)):
            if isinstance(pieces, RefusedError):
                yield position, refusal(pieces)
            else:
                wanted[position] = pieces
        rolled = {each for each in wanted if isinstance(window[each], Rolling)}
        self._try_ways([pieces for each, pieces in wanted.items() if each not in rolled])
        ways = {each: BY_PROMPT if each in rolled else self._way_of(pieces) for each, pieces in wanted.items()}
        found = dict(zip(wanted, self._scored([(ways[each], wanted[each]) for each in wanted]), strict=True))
        again = [each for each in wanted if isinstance(found[each], Response) and ways[each] is not BY_PROMPT]
        found |= zip(again, self._scored([(BY_PROMPT, wanted[each]) for each in again]), strict=True)
        ways |= dict.fromkeys(again, BY_PROMPT)
        for each, scores in found.items():
            if isinstance(scores, Response):
                yield each, scores
            else:
                whole = (total(scores),) if each in rolled else tuple(scores)
                yield each, Response(scores=whole, way=ways[each].name)

    def _way_of(self, pieces: Sequence[Scorable]) -> Way:
        return next((way for way in self._ways or () if way.takes(pieces)), BY_PROMPT)

    def _try_ways(self, questions: Sequence[list[Scorable]]) -> None:
        """Try the ways that nobody tried yet on the first of some questions, and forget those that do not do."""
        if self._ways is None:
            self._ways, self._untried = ways_with(self.llm_kwargs), ways_with(self.llm_kwargs)
        for way in list(self._untried):
            if trial := [pieces for pieces in questions if self._way_of(pieces) is way][:TRIALS]:
                self._untried.remove(way)
                if reason := self._difference(way, trial):
                    self._ways.remove(way)
                    get_logger().info("choices of '%s' are not asked %s: %s", self.label, way.name, reason)

    def _difference(self, way: Way, trial: Sequence[list[Scorable]]) -> str:
        """Say why a way does not give what reading prompts gives; nothing where it does."""
        found, read = (self._scored([(each, pieces) for pieces in trial]) for each in (way, BY_PROMPT))
        for one, other in zip(found, read, strict=True):
            if isinstance(one, Response) or isinstance(other, Response):  # what nobody can compare is not believed
                return next(e.failure.message for e in (one, other) if isinstance(e, Response) and e.failure)
            if said := difference_of(one, other, BY_PROMPT.name):
                return said
        return ""

    def _scored(self, asked: Sequence[tuple[Way, list[Scorable]]]) -> list[list[Scored] | Response]:
        """Return the likelihoods of the pieces of requests, asked by their ways, or why there are none."""
        prompts: list[_Asked] = []
        refused: dict[int, Response] = {}
        outputs: list[list[Any]] = [[] for _ in asked]
        for place, (way, pieces) in enumerate(asked):
            try:
                prompts += [_Asked(place, ids, _scoring(options)) for ids, options in way.asks(pieces)]
            except refusals() as error:
                refused[place] = refusal(RefusedError("refused", f"vLLM does not take this request: {error}"))
        for each, output in self._answers(prompts):
            if isinstance(output, Response):
                refused[each.position] = output
            else:
                outputs[each.position].append(output)
        return [refused.get(place) or _read(way, pieces, outputs[place]) for place, (way, pieces) in enumerate(asked)]

    def _answers(self, asked: Sequence[_Asked]) -> Iterator[tuple[_Asked, Any]]:
        """Yield vLLM's outputs, or a failed response for what it refuses."""
        if not asked:
            return
        llm = self._llm()
        options = {"lora_request": self._adapter()} if self.peft else {}
        prompts = [{"prompt_token_ids": each.ids} for each in asked]
        try:
            outputs = llm.generate(prompts, [each.parameters for each in asked], use_tqdm=False, **options)
        except deaths() as error:
            raise self._dead(error) from None
        except refusals() as error:
            if len(asked) == 1:
                kind = "context_too_long" if is_too_long(str(error)) else "refused"
                yield asked[0], refusal(RefusedError(kind, f"vLLM does not take this request: {error}"))
                return
            half = len(asked) // 2
            yield from self._answers(asked[:half])
            yield from self._answers(asked[half:])
            return
        if len(outputs) != len(asked):
            raise EngineError(f"vLLM answered {len(outputs)} of {len(asked)} requests", hint="run again")
        yield from zip(asked, outputs, strict=True)

    def _dead(self, error: Exception) -> EngineError:
        self._loaded = None
        return EngineError(
            f"vLLM stopped while it was asking '{self.model}'",
            why=str(error) or type(error).__name__,
            hint=f"vLLM's own messages above say why; {MEMORY_HINT}. Running again asks only what is missing",
        )

    # -- the model --------------------------------------------------------------------------------------------

    def _llm(self) -> Any:
        if self._loaded is None:
            try:
                from vllm import LLM
            except ImportError as error:
                if isinstance(error, ModuleNotFoundError) and error.name == "vllm":
                    raise MissingExtraError.of("vllm", "vllm", "the engine 'vllm'") from None
                hint = "it needs a GPU and the libraries of its driver; `openai` reaches a vLLM server elsewhere"
                raise EngineError("vLLM is installed but cannot be imported", why=str(error), hint=hint) from None
            errors: tuple[type[Exception], ...] = (OSError, *refusals(), *deaths())
            try:
                self.act()
                self._loaded = LLM(model=self.model, **self._load_arguments())
            except errors as error:
                why = str(error) or type(error).__name__
                raise EngineError(f"vLLM cannot load '{self.model}'", why=why, hint=load_hint(why)) from None
        return self._loaded

    def _load_arguments(self) -> dict[str, Any]:
        names = ("dtype", "revision", "quantization", "max_model_len", "tensor_parallel_size", "gpu_memory_utilization")
        given = {name: value for name in (*names, "trust_remote_code") if (value := getattr(self, name)) is not None}
        return {**given, **({"enable_lora": True} if self.peft else {}), **self.llm_kwargs}

    def _adapter(self) -> Any:
        from vllm.lora.request import LoRARequest

        return LoRARequest("adapter", 1, self.peft)

    def _length(self) -> int:
        return int(self.max_model_len or self._llm().llm_engine.model_config.max_model_len)

    def text_of(self, prompt: Prompt) -> str | None:
        """Return the text that the model reads of a prompt, in its chat template; ``None`` where it has pictures."""
        if isinstance(prompt.payload, str):
            return prompt.payload
        if not all(isinstance(each["content"], str) for each in prompt.payload):
            return None
        return self._encoder(self._length()).text_of(prompt)

    @property
    def has_chat_template(self) -> bool:
        """Whether a template is given, or lies beside the tokenizer."""
        return self.chat_template is not None or has_chat_template(self.model, self.revision)

    def _encoder(self, length: int) -> Encoder:
        tokenizer = self._llm().get_tokenizer()
        if not hasattr(tokenizer, "bos_token"):  # mistral-common and others that are not transformers'
            raise EngineError(
                f"vLLM reads '{self.model}' with a tokenizer of its own, {type(tokenizer).__name__}",
                hint="load it with tokenizer_mode=hf (older vLLM: tokenizer_mode=auto)",
            )
        template = self.chat_template or getattr(tokenizer, "chat_template", None)
        options = template_options(template, self.thinking, self.label)
        return Encoder(tokenizer, length, chat_template=self.chat_template, chat_options=options)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One prompt for vLLM."""

    position: int
    ids: list[int]
    parameters: Any
    repeats: int = 1
    opening: Opening = UNKNOWN
    stop: tuple[str, ...] = ()


def _scoring(options: Mapping[str, Any]) -> Any:
    from vllm import SamplingParams

    return SamplingParams(**{"temperature": 0.0, "max_tokens": 1, "detokenize": False, **options})


def _read(way: Way, pieces: list[Scorable], outputs: list[Any]) -> list[Scored] | Response:
    try:
        return way.read(pieces, outputs)
    except (LookupError, TypeError, ValueError) as error:
        return refusal(RefusedError("protocol", f"vLLM's answer lacks a log-probability: {error}"))


def _is_greedy(decoding: Decoding) -> bool:
    return decoding.temperature < _GREEDY


def _repeats(decoding: Decoding) -> int:
    return decoding.count if _is_greedy(decoding) else 1
