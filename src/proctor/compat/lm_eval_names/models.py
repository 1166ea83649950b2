"""Engines of ours as models of lm-eval's interface."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final

from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine
from proctor.engines.lm_eval_models import MODELS, NOTHING_HERE, is_foreign, translated
from proctor.errors import EngineError, UsageError, did_you_mean
from proctor.guests.lm_eval.foreign_model import engine_of_model, registered_engine
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.model import LM
from proctor.guests.lm_eval.registry import model_registry
from proctor.guests.overrides import brought, check_brought
from proctor.guests.table import at
from proctor.ir import Answers, Generate, Likelihood, Prompt, Response, Rolling

_ASKED: Final = (
    "derive from lm_eval.api.model.LM or TemplateLM, of a server from lm_eval.models.api_models.TemplateAPI, or change "
    "loglikelihood and generate_until"
)
_INSIDE: Final = (
    *("_create_payload", "amodel_call", "api_key", "batch_loglikelihood_requests", "create_message", "decode_batch"),
    *("eos_string", "get_batched_requests", "gguf_completion", "header", "model_call", "parse_generations"),
    *("parse_logprobs", "_create_model", "_create_tokenizer", "_detect_batch_size", "_get_backend", "_get_config"),
    *("_batch_scheduler", "_model_call", "_model_generate", "_encode_pair", "_loglikelihood_tokens"),
    *("_preprocess_conversations", "_select_cont_toks", "apply_chat_template", "chat_template", "eot_token_id"),
    *("max_gen_toks", "max_length", "prefix_token_id", "tok_batch_encode", "tok_decode", "tok_encode"),
    *("_batch_images", "_encode_multimodal_pair", "_model_multimodal_call", "_model_multimodal_generate"),
    *("_multimodal_loglikelihood_tokens", "tok_batch_multimodal_encode", "tok_multimodal_encode"),
    *("_check_model_logprobs_support", "_get_accelerate_args", "_get_log_likelihood", "_has_stop_token"),
    *("_parse_logprobs", "get_model_info", "model", "modify_gen_kwargs"),
)
"""What classes of lm-eval's models call of themselves, which programs override."""


class EngineLM(LM):
    """An engine of ours with lm-eval's interface: for programs that ask models themselves.

    A class of one's own that derives from it and answers requests itself is asked itself.

    Args:
        engine: The engine.
    """

    uncalled: ClassVar[Mapping[str, str]] = dict.fromkeys(_INSIDE, _ASKED)

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    @property
    def plain_engine(self) -> Engine | None:
        """The engine, where nothing but it answers; ``None`` where a program says more.

        Raises:
            UsageError: A program has put something upon a class that nothing here calls.
        """
        check_brought(type(self))
        return None if {name for _, name in brought(type(self))} & _METHODS else self.engine

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
        from proctor.guests.lm_eval.api_model import JsonChatStr

        contexts = [each.args[0] for each in requests]
        said = [json.loads(each.prompt) if isinstance(each, JsonChatStr) else each for each in contexts]
        asked = [Generate(Prompt(each), decoding_of(of.args[1])) for each, of in zip(said, requests, strict=True)]
        return [each.texts[0] for each in _ordered(self.engine.generate(asked))]


_METHODS: Final = frozenset(("loglikelihood", "loglikelihood_rolling", "generate_until"))


class EngineFirst(LM):
    """A model whose engine answers as long as a program says nothing of how: what stands above it in another class."""

    @property
    @abstractmethod
    def plain_engine(self) -> Engine | None:
        """The engine, where nothing but it answers; ``None`` where a program says more."""

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Return for each (context, continuation) its log-likelihood, and whether it is what the model would write."""
        if (plain := self.plain_engine) is not None:
            return EngineLM(plain).loglikelihood(requests)
        return super().loglikelihood(requests, disable_tqdm)  # type: ignore[safe-super,call-arg]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Return the log-likelihood of each whole text."""
        if (plain := self.plain_engine) is not None:
            return EngineLM(plain).loglikelihood_rolling(requests)
        return super().loglikelihood_rolling(requests, disable_tqdm)  # type: ignore[safe-super,call-arg]

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return what the model writes after each context."""
        if (plain := self.plain_engine) is not None:
            return EngineLM(plain).generate_until(requests)
        return super().generate_until(requests, disable_tqdm)  # type: ignore[safe-super,call-arg]


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
_SERVERS: Final = {
    "local-completions": "LocalCompletionsAPI",
    "local-chat-completions": "LocalChatCompletion",
    "openai-completions": "OpenAICompletionsAPI",
    "openai-chat-completions": "OpenAIChatCompletion",
}
"""Names for ``--model`` whose classes programs derive from, step by step."""


def __getattr__(name: str) -> Any:
    """Return the class of a model by lm-eval's name for the class, or the registry of models.

    Raises:
        AttributeError: There is none.
    """
    if name in _CLASSES:
        return _class_of(_CLASSES[name], name)
    if name in ("model_registry", "MODEL_REGISTRY"):
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

    if model_name in model_registry.own:
        return model_registry[model_name]
    if model_name in ("hf", "huggingface", "hf-auto"):
        from proctor.compat.lm_eval_names.hf_model import HFLM

        return HFLM
    if model_name in _SERVERS:
        return at(f"proctor.compat.lm_eval_names.openai_models:{_SERVERS[model_name]}")
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
        from proctor.engines.model_args import parse_model_args

        said = {name: value for name, value in more.items() if value is not None}
        if model in model_registry.own:
            return registered_engine(model, model_args or {}, said)
        given = parse_model_args(model_args) if isinstance(model_args, str) else dict(model_args or {})
        return make_engine(model, {**said, **given})
    if model_args:
        raise UsageError("model_args are for a model's name, and this one is made already")
    return model if isinstance(model, Engine) else engine_of_model(model)
