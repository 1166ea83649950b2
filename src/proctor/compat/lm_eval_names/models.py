"""Models of lm-eval's interface as engines, and our engines as models of lm-eval's interface."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import uuid4

import msgspec
from msgspec import structs
from pydantic import PrivateAttr

from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine
from proctor.engines.lm_eval_models import MODELS, NOTHING_HERE, is_foreign, translated
from proctor.errors import EngineError, UsageError, did_you_mean
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.model import LM, keep_secrets_of
from proctor.ir import Answers, Decoding, Failure, Generate, Likelihood, Pair, Prompt, Response, Rolling, Score, Scored
from proctor.secrets import cleaned, keep_named

if TYPE_CHECKING:
    from proctor.ir import Message

_METHODS = ("loglikelihood", "loglikelihood_rolling", "generate_until")
LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens")
"""Names of the most tokens to write, in the arguments of tasks."""
_AT_ONCE = 1024  # requests: models of lm-eval's sort them by length, so few at a time would be slow


class NotAModelError(UsageError, TypeError):
    """Something that is given as a model, and is none."""


class _NoDocument(dict[str, Any]):
    """Stands for the document of a request, which an engine is not told: whoever reads it hears so."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise UsageError(
            "the model reads the document of a request (request.doc)",
            why="models are told requests alone here: equal requests of several documents are asked once",
            hint="what the answer depends on belongs into the prompt: doc_to_text",
        )

    __getitem__ = __iter__ = __contains__ = get = keys = values = items = _refuse

    def __reduce__(self) -> tuple[type[_NoDocument], tuple[()]]:
        return _NoDocument, ()


_NOT_HERE = _NoDocument()


class ForeignModel(Engine):
    """A model with lm-eval's interface, as an engine.

    Attributes:
        lm: The model.
        name: What tables call it.
        token: Tells it from every other: nothing says what such a model would answer another time.
        arguments: How tasks say to generate, word for word, by what it means here.
    """

    can_score = True

    lm: Any
    name: str = ""
    token: str = ""
    _arguments: dict[bytes, dict[str, Any]] = PrivateAttr(default_factory=dict)

    def prepare(self) -> None:
        """Give it a name and a token.

        Raises:
            UsageError: It is not a model.
        """
        super().prepare()
        keep_secrets_of(self.lm)
        if lacking := [name for name in _METHODS if not hasattr(self.lm, name)]:
            raise NotAModelError(
                f"the model is a {type(self.lm).__name__}, which has no {lacking[0]}",
                why="a name, a model that derives from lm_eval.api.model.LM, or an engine is expected",
                hint="of a model in memory: lm_eval.models.huggingface.HFLM(pretrained=model, tokenizer=tokenizer)",
            )
        self.name = self.name or type(self.lm).__name__
        self.token = self.token or uuid4().hex

    def keep_arguments(self, decoding: Decoding, arguments: Mapping[str, Any]) -> bool:
        """Ask with a task's own arguments where a request means the same; return whether nothing else was kept.

        What a task leaves out is left to the model, whose own defaults may be others than those here.
        """
        kept = self._arguments.setdefault(_key(decoding), dict(arguments))
        return any(name in kept for name in LIMITS) == any(name in arguments for name in LIMITS)

    def identity_values(self) -> dict[str, Any]:
        """Return what tells it from others."""
        return {"name": self.name, "token": self.token}

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Ask ``generate_until``."""
        for part in _batched(enumerate(requests)):
            asked = [
                Instance("generate_until", _NOT_HERE, (self.text_of(each.prompt), self._how(each.decoding)), 0)
                for _, each in part
            ]
            texts = self._asked("generate_until", asked)
            for (position, request), text in zip(part, texts, strict=True):
                if text is None:
                    failure = Failure("engine", f"{self.name}.generate_until gave None for this request")
                    yield position, Response(failure=failure)
                else:
                    yield position, self.heard(Response(texts=(cleaned(str(text)),)), request.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Ask ``loglikelihood``, and ``loglikelihood_rolling`` of whole texts."""
        for part in _batched(enumerate(requests)):
            pairs = [(position, pair) for position, each in part for pair in _pairs(each)]
            asked = [
                Instance("loglikelihood", _NOT_HERE, (self.text_of(pair.context), pair.continuation), place)
                for place, (_, pair) in enumerate(pairs)
            ]
            found: dict[int, list[Scored]] = {}
            for (position, _), (value, greedy) in zip(pairs, self._asked("loglikelihood", asked), strict=True):
                found.setdefault(position, []).append(Scored(float(value), bool(greedy)))
            rolled = [(position, each.text) for position, each in part if isinstance(each, Rolling)]
            whole = [Instance("loglikelihood_rolling", _NOT_HERE, (text,), 0) for _, text in rolled]
            for (position, _), value in zip(rolled, self._asked("loglikelihood_rolling", whole), strict=True):
                found[position] = [Scored(float(value[0] if isinstance(value, tuple) else value))]
            yield from ((position, Response(scores=tuple(found[position]))) for position, _ in part)

    def _asked(self, method: str, instances: list[Instance]) -> Sequence[Any]:
        if not instances:
            return []
        answers = list(getattr(self.lm, method)(instances))
        if len(answers) != len(instances):
            raise EngineError(f"{self.name}.{method} gave {len(answers)} answers to {len(instances)} requests")
        return answers

    def _how(self, decoding: Decoding) -> dict[str, Any]:
        """Return a task's own arguments; a seed that a run gives to each repeat is none of them."""
        kept = self._arguments.get(_key(decoding), self._arguments.get(_key(structs.replace(decoding, seed=None))))
        return _arguments(decoding) if kept is None else copy.deepcopy(kept)

    def text_of(self, prompt: Prompt) -> Any:
        """Return a prompt as the model takes it: messages by its own chat template."""
        payload = prompt.payload
        if isinstance(payload, str):
            return payload
        messages: list[Message] = [dict(each) for each in payload]
        is_open = not messages or messages[-1]["role"] != "assistant"
        return self.lm.apply_chat_template(messages, add_generation_prompt=is_open)


def _key(decoding: Decoding) -> bytes:
    return msgspec.json.encode(decoding.content, order="sorted")


def _batched(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    for first in iterator:
        part = [first]
        for each in iterator:
            part.append(each)
            if len(part) == _AT_ONCE:
                break
        yield part


def _pairs(request: Score) -> Sequence[Pair]:
    return () if isinstance(request, Rolling) else request.pairs


def _arguments(decoding: Decoding) -> dict[str, Any]:
    """Return how to generate, under the names that models of lm-eval read."""
    found: dict[str, Any] = {"until": list(decoding.stop), "temperature": decoding.temperature}
    found["do_sample"] = decoding.temperature > 0
    more = {
        "max_gen_toks": decoding.max_tokens,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "seed": decoding.seed,
    }
    return {**found, **{name: value for name, value in more.items() if value is not None}, **decoding.extra}


_INSIDE: Final = frozenset(
    (
        *("_create_payload", "amodel_call", "api_key", "batch_loglikelihood_requests", "create_message", "eos_string"),
        *("get_batched_requests", "header", "model_call", "parse_generations", "parse_logprobs"),
        *("_create_model", "_create_tokenizer", "_detect_batch_size", "_get_config", "_model_call", "_model_generate"),
        *(
            "_encode_pair",
            "_loglikelihood_tokens",
            "_preprocess_conversations",
            "_select_cont_toks",
            "apply_chat_template",
        ),
        *("chat_template", "eot_token_id", "max_gen_toks", "max_length", "prefix_token_id", "tok_batch_encode"),
        *("tok_decode", "tok_encode"),
    )
)
"""What classes of lm-eval's models call of themselves, which programs override."""


class EngineLM(LM):
    """An engine of ours with lm-eval's interface: for programs that ask models themselves.

    A class of one's own that derives from it and answers requests itself is asked itself; one that changes what such a
    class of lm-eval's calls inside is refused, because nothing here would call it.

    Args:
        engine: The engine.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        is_ours = cls.__module__.partition(".")[0] == "proctor"
        changed = [] if is_ours else sorted(_INSIDE & vars(cls).keys())
        if changed:
            raise UsageError(
                f"{cls.__name__}.{changed[0]} would never be called",
                why=f"{cls.__mro__[1].__name__} is an engine of Proctor's here, which asks in its own way",
                hint="derive from lm_eval.api.model.LM or TemplateLM, of a server from lm_eval.models.api_models."
                "TemplateAPI, or change loglikelihood and generate_until",
            )

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Return for each (context, continuation) its log-likelihood, and whether it is what the model would write."""
        asked = [Likelihood(Prompt(each.args[0]), each.args[1]) for each in requests]
        return [
            (each.scores[0].log_likelihood, each.scores[0].is_greedy) for each in _ordered(self.engine.score(asked))
        ]

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """Return the log-likelihood of each whole text."""
        asked = [Rolling(each.args[0]) for each in requests]
        return [each.scores[0].log_likelihood for each in _ordered(self.engine.score(asked))]

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return what the model writes after each context."""
        from proctor.dialects.lm_eval.generation import decoding_of

        asked = [Generate(Prompt(each.args[0]), decoding_of(each.args[1])) for each in requests]
        return [each.texts[0] for each in _ordered(self.engine.generate(asked))]


def _ordered(answers: Answers) -> list[Response]:
    found = [response for _, response in sorted(answers, key=lambda each: each[0])]
    for each in found:
        if each.failure is not None:
            raise EngineError(f"the model did not answer: {each.failure.message}")
    return found


class NamedLM(EngineLM):
    """A model by one of lm-eval's names, made by the engine that does the same here.

    Args:
        pretrained: The model, where its class takes it first.
        arguments: As the class of lm-eval takes them.
    """

    engine_name: ClassVar[str] = ""

    def __init__(self, pretrained: Any = None, **arguments: Any) -> None:
        named = {} if pretrained is None else {"pretrained": pretrained}
        super().__init__(make_engine(self.engine_name, {**named, **arguments}))


_CLASSES: Final = {
    "DummyLM": "dummy",
    "LocalCompletionsAPI": "local-completions",
    "LocalChatCompletion": "local-chat-completions",
    "OpenAICompletionsAPI": "openai-completions",
    "OpenAIChatCompletion": "openai-chat-completions",
    "AzureOpenaiChatCompletionsLM": "azure-openai-chat-completions",
    "AnthropicChat": "anthropic-chat-completions",
    "GGUFLM": "gguf",
    "VLLM": "vllm",
    "HFMultimodalLM": "hf-multimodal",
    "WatsonxLLM": "watsonx_llm",
    "MambaLMWrapper": "mamba_ssm",
    "Mistral3LM": "hf-mistral3",
    "OptimumLM": "openvino",
    "SGLANGGENERATEAPI": "sglang-generate",
}
"""Classes of lm-eval's models, and their names for ``--model``."""


def __getattr__(name: str) -> Any:
    """Return the class of a model by lm-eval's name for the class, or the registry of models.

    Raises:
        AttributeError: There is none.
    """
    if name in _CLASSES:
        return _class_of(_CLASSES[name], name)
    if name in ("model_registry", "MODEL_REGISTRY"):
        from proctor.guests.lm_eval.registry import model_registry

        return model_registry.knows(_built_in)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _built_in() -> dict[str, type[EngineLM]]:
    names = (*("hf", "vllm", "dummy"), *MODELS)
    return {name: get_model(name) for name in names}


@lru_cache
def _class_of(engine: str, name: str) -> type[EngineLM]:
    return type(name, (NamedLM,), {"engine_name": engine, "__doc__": f"lm-eval's ``{engine}``."})


def get_model(model_name: str) -> Any:
    """Return the class of a model by its name for ``--model``: one that was registered, or what does the same here.

    Raises:
        UsageError: There is no such model.
    """
    from proctor.engines.engine_names import engine_names
    from proctor.guests.lm_eval.registry import model_registry

    if model_name in model_registry.own:
        return model_registry[model_name]
    if model_name in ("hf", "huggingface", "hf-auto"):
        from proctor.compat.lm_eval_names.hf_model import HFLM

        return HFLM
    if not is_foreign(model_name) and model_name not in (known := engine_names()):
        raise UsageError(f"there is no model '{model_name}'", hint=did_you_mean(model_name, known))
    if model_name in NOTHING_HERE:
        translated(model_name, {})
    return _class_of(model_name, next((name for name, own in _CLASSES.items() if own == model_name), model_name))


def engine_of(model: Any, model_args: Any, more: Mapping[str, Any]) -> Engine:
    """Return the engine of what ``simple_evaluate`` calls a model.

    Args:
        model: A name, a model with lm-eval's interface, or an engine.
        model_args: Its arguments, as a text or a mapping.
        more: ``batch_size``, ``max_batch_size`` and ``device``; ``None`` says nothing.

    Raises:
        UsageError: There is no such model, or arguments are given to one that is made already.
    """
    if isinstance(model, str):
        return _named(model, model_args, {name: value for name, value in more.items() if value is not None})
    if model_args:
        raise UsageError("model_args are for a model's name, and this one is made already")
    if isinstance(model, EngineLM) and not _answers_itself(type(model)):
        return model.engine
    return model if isinstance(model, Engine) else ForeignModel(lm=model)


def _answers_itself(kind: type[EngineLM]) -> bool:
    return any(getattr(kind, name) is not getattr(EngineLM, name) for name in _METHODS)


def _named(model: str, model_args: Any, more: Mapping[str, Any]) -> Engine:
    from proctor.engines.model_args import parse_model_args
    from proctor.guests.lm_eval.registry import model_registry

    if model in model_registry.own:
        kind = model_registry[model]
        keep_named(parse_model_args(model_args) if isinstance(model_args, str) else dict(model_args or {}))
        make = kind.create_from_arg_string if isinstance(model_args, str) else kind.create_from_arg_obj
        return ForeignModel(lm=make(model_args or {}, dict(more)), name=model)
    given = parse_model_args(model_args) if isinstance(model_args, str) else dict(model_args or {})
    return make_engine(model, {**more, **given})
