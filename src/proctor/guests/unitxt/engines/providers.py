"""The engines that Unitxt users know, each a thin name over a provider of the table.

Fields keep their names and meaning. What differs: nothing is contacted and no key is needed before the first request;
greedy decoding is the default everywhere; answers are cached by the response log, so ``use_cache`` has no effect.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, model_validator

from proctor.artifacts import NON_POSITIONAL
from proctor.artifacts.effects_of import effects_of
from proctor.artifacts.registry import registry
from proctor.effects import Effect, missing, reading, require, written_by
from proctor.engines.as_another import as_another
from proctor.engines.engine import Engine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.providers import provider_named
from proctor.errors import UsageError, ValidationError
from proctor.guests.unitxt.engines.words import ToldInUnitxtWords, engine_id, in_unitxt_words
from proctor.ir import Answers, Generate, Response, TokenLogProbability
from proctor.settings import settings

Policy = Annotated[list[str] | None, NON_POSITIONAL]
_DEFAULT_PROVIDER = "watsonx"
"""Whose name Unitxt files models under where nobody names a provider; nobody is asked before one is named."""


class UnitxtProviderEngine(ToldInUnitxtWords, ProviderEngine):
    """What the engines in this module share.

    Attributes:
        cache_batch_size, use_cache: Without effect; kept so that saved engines load.
        inference_label: ``inference_type`` of detailed predictions; saved engines call it ``label``.
        n: Answers per request.
        parallel_tool_calls, service_tier: Sent as they are.
        parameters: Decoding in one place, as old engines had it; fields that are given win.
    """

    transient_fields: ClassVar[frozenset[str]] = ProviderEngine.transient_fields | {
        "cache_batch_size",
        "use_cache",
        "inference_label",
    }
    fixed_provider: ClassVar[str | None] = None
    id_label: ClassVar[str] = ""
    """What names of scores call the kind of engine, where it is not the provider."""
    other_names: ClassVar[Mapping[str, str]] = {"model_name": "model", "label": "inference_label"}
    saved_names: ClassVar[Mapping[str, str]] = {"inference_label": "label"}
    """What Unitxt calls our fields, in engines that are saved."""

    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True
    inference_label: Annotated[str, NON_POSITIONAL] = ""
    n: Annotated[int | None, NON_POSITIONAL, Field(ge=1)] = None
    parallel_tool_calls: Annotated[bool | None, NON_POSITIONAL] = None
    service_tier: Annotated[Literal["auto", "default"] | None, NON_POSITIONAL] = None

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        old = values.get("parameters")
        if old is None or isinstance(old, dict):
            given = {key: value for key, value in (old or {}).items() if key != "__type__"}
            values = {**given, **{key: value for key, value in values.items() if key != "parameters"}}
        named = {cls.other_names.get(name, name): value for name, value in values.items()}
        if cls.fixed_provider and not named.get("provider"):
            named["provider"] = cls.fixed_provider
        return named

    @property
    def model_name(self) -> str:
        """The model, as Unitxt calls the field."""
        return self.model

    def decoding_defaults(self) -> dict[str, Any]:
        """Return the decoding that the fields ask for."""
        defaults = super().decoding_defaults()
        names = ("parallel_tool_calls", "service_tier", *self._extra_names())
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {**defaults, "count": self.n, "extra": {**given, **defaults["extra"]}}

    def _extra_names(self) -> tuple[str, ...]:
        """Return the fields that go into the body as they are."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, with Unitxt's names and without its secrets."""
        return in_unitxt_words(super().to_dict(), self.saved_names, self._given, self._derived())

    def _derived(self) -> Mapping[str, Any]:
        """Return what the class itself says of fields."""
        return {"provider": self.fixed_provider} if self.fixed_provider else {}

    def get_engine_id(self) -> str:
        """Return the name that Unitxt would file this engine under."""
        return engine_id(self.model, self.inference_label or self.id_label or self.provider or _DEFAULT_PROVIDER)


class _OfClass:
    """What a class answers when it, or one of its objects, is asked."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._make()


_CROSSED = {
    **dict.fromkeys(("watsonx", "open-ai", "together-ai", "aws"), "lite_llm_inference_engine"),
    "ollama": "ollama_inference_engine",
    "watsonx-sdk": "wml_inference_engine_chat",
    "rits": "rits_inference_engine",
    **dict.fromkeys(("azure", "vertex-ai", "replicate"), "lite_llm_inference_engine"),
    "hf-local": "hf_auto_model_inference_engine",
}
"""Providers that Unitxt's engine of all providers has, and the classes that ask each by its own name."""


def _models_of(provider: str) -> dict[str, str]:
    """Return the models of a provider, as the class that asks it names them."""
    prefixes = LiteLLMInferenceEngine.prefixes if _CROSSED[provider].startswith("lite") else {}
    prefix = next((f"{each}/" for each, own in prefixes.items() if own == provider != "open-ai"), "")
    return {name: prefix + model for name, model in provider_named(provider)[1].models.items()}


class CrossProviderInferenceEngine(UnitxtProviderEngine):
    """The same model at any provider: ``CrossProviderInferenceEngine(model="llama-3-2-1b-instruct")``.

    Attributes:
        provider_model_map: By provider, what it calls each model.
        _provider_to_base_class: By provider, the class that asks it by its own name.
    """

    provider_model_map: ClassVar[Any] = _OfClass(lambda: {name: _models_of(name) for name in _CROSSED})
    _provider_to_base_class: ClassVar[Any] = _OfClass(
        lambda: {name: registry.get(kind) for name, kind in _CROSSED.items()}
    )

    def get_engine_id(self) -> str:
        """Return the provider's name of the model with the provider; the default provider's where none is named."""
        name = self.provider or settings.default_provider or _DEFAULT_PROVIDER
        return engine_id(provider_named(name)[1].models.get(self.model, self.model), name)


class OpenAiInferenceEngine(UnitxtProviderEngine):
    """OpenAI, or a server that speaks its protocol where ``base_url`` or ``credentials["api_url"]`` is given."""

    id_label: ClassVar[str] = "openai"
    fixed_provider: ClassVar[str | None] = "open-ai"
    other_names: ClassVar[Mapping[str, str]] = {
        **UnitxtProviderEngine.other_names,
        "default_headers": "extra_headers",
        "num_parallel_requests": "max_concurrency",
    }
    saved_names: ClassVar[Mapping[str, str]] = {
        **UnitxtProviderEngine.saved_names,
        "model": "model_name",
        "extra_headers": "default_headers",
        "max_concurrency": "num_parallel_requests",
    }

    data_classification_policy: Policy = ["public"]


class AzureOpenAIInferenceEngine(OpenAiInferenceEngine):
    """Azure OpenAI; ``model_name`` is the deployment."""

    id_label: ClassVar[str] = "azure_openai"
    fixed_provider: ClassVar[str | None] = "azure"


class VLLMRemoteInferenceEngine(OpenAiInferenceEngine):
    """A vLLM server."""

    id_label: ClassVar[str] = "vllm-remote"
    fixed_provider: ClassVar[str | None] = "vllm-server"


class RITSInferenceEngine(OpenAiInferenceEngine):
    """IBM Research RITS."""

    id_label: ClassVar[str] = "rits"
    fixed_provider: ClassVar[str | None] = "rits"
    data_classification_policy: Policy = ["public", "proprietary"]


class OllamaInferenceEngine(UnitxtProviderEngine):
    """Ollama; ``credentials["api_base"]`` is its address."""

    id_label: ClassVar[str] = "ollama"
    fixed_provider: ClassVar[str | None] = "ollama"
    data_classification_policy: Policy = ["public", "proprietary"]


class TogetherAiInferenceEngine(UnitxtProviderEngine):
    """Together AI."""

    id_label: ClassVar[str] = "together"
    fixed_provider: ClassVar[str | None] = "together-ai"
    saved_names: ClassVar[Mapping[str, str]] = {**UnitxtProviderEngine.saved_names, "model": "model_name"}
    data_classification_policy: Policy = ["public"]
    top_k: Annotated[int | None, NON_POSITIONAL] = None
    repetition_penalty: Annotated[float | None, NON_POSITIONAL] = None
    min_p: Annotated[float | None, NON_POSITIONAL] = None
    echo: Annotated[bool | None, NON_POSITIONAL] = None

    def _extra_names(self) -> tuple[str, ...]:
        return ("top_k", "repetition_penalty", "min_p", "echo")


class LiteLLMInferenceEngine(UnitxtProviderEngine):
    """A model named ``provider/model``, as LiteLLM names it; LiteLLM itself is not used.

    Attributes:
        max_requests_per_second: Most requests per second.
    """

    id_label: ClassVar[str] = "litellm"

    prefixes: ClassVar[Mapping[str, str]] = {
        "anthropic": "anthropic",
        "azure": "azure",
        "bedrock": "aws",
        "deepseek": "deepseek",
        "groq": "groq",
        "hosted_vllm": "vllm-server",
        "lm_studio": "lm-studio",
        "mistral": "mistral",
        "ollama": "ollama",
        "ollama_chat": "ollama",
        "openai": "open-ai",
        "openrouter": "openrouter",
        "replicate": "replicate",
        "together_ai": "together-ai",
        "vertex_ai": "vertex-ai",
        "watsonx": "watsonx",
    }
    max_requests_per_second: Annotated[float, NON_POSITIONAL, Field(gt=0)] = 6
    transient_fields: ClassVar[frozenset[str]] = UnitxtProviderEngine.transient_fields | {"max_requests_per_second"}

    @model_validator(mode="before")
    @classmethod
    def _split_model(cls, values: Any) -> Any:
        model = values.get("model") if isinstance(values, dict) else None
        if not isinstance(model, str) or values.get("provider"):
            return values
        prefix, slash, rest = model.partition("/")
        if slash and prefix in cls.prefixes:
            return {**values, "provider": cls.prefixes[prefix], "model": rest}
        return {**values, "provider": "anthropic" if model.startswith("claude") else "open-ai"}

    _said_model: str = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        said = kwargs.get("model", kwargs.get("model_name", args[0] if args else None))
        object.__setattr__(self, "_said_model", said if isinstance(said, str) and "provider" not in kwargs else "")

    def come_from(self, other: Engine) -> None:
        """Take over what the model was called, too."""
        super().come_from(other)
        if isinstance(other, LiteLLMInferenceEngine):
            object.__setattr__(self, "_said_model", other._said_model)  # noqa: SLF001 - the same class

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, with the model's name as LiteLLM has it."""
        data = super().to_dict()
        prefix, _, name = self._said_model.partition("/")
        if self.model == (name if prefix in self.prefixes else self._said_model):
            return {each: value for each, value in data.items() if each != "provider"} | {"model": self._said_model}
        return data

    def prepare(self) -> None:
        """Turn requests per second into requests per minute."""
        super().prepare()
        if self.requests_per_minute is None:
            object.__setattr__(self, "requests_per_minute", self.max_requests_per_second * 60)


class WMLInferenceEngineBase(UnitxtProviderEngine):
    """What the watsonx.ai engines share.

    Attributes:
        deployment_id: A deployment instead of a model.
        concurrency_limit: Saved engines call ``max_concurrency`` so.
    """

    id_label: ClassVar[str] = "wml"
    fixed_provider: ClassVar[str | None] = "watsonx"
    other_names: ClassVar[Mapping[str, str]] = {
        **UnitxtProviderEngine.other_names,
        "concurrency_limit": "max_concurrency",
    }
    saved_names: ClassVar[Mapping[str, str]] = {
        **UnitxtProviderEngine.saved_names,
        "model": "model_name",
        "max_concurrency": "concurrency_limit",
    }
    data_classification_policy: Policy = ["public", "proprietary"]
    model: str = ""
    deployment_id: Annotated[str | None, NON_POSITIONAL] = None
    max_concurrency: Annotated[int | Literal["auto"], NON_POSITIONAL] = 10
    time_limit: Annotated[int | None, NON_POSITIONAL] = None

    def verify(self) -> None:
        """Check that there is a model or a deployment, and not both."""
        super().verify()
        if bool(self.model) == bool(self.deployment_id):
            raise ValidationError(f"{type(self).__name__} needs either 'model_name' or 'deployment_id'")

    @property
    def label(self) -> str:
        """The model's name, or the deployment's."""
        return self.deployment_id or super().label

    def get_engine_id(self) -> str:
        """Return the name that Unitxt would file this engine under: that of the model, or of its deployment."""
        return engine_id(self.model or self.deployment_id or "", self.inference_label or self.id_label)

    def named_model(self) -> str:
        """Return the model's name; a deployment has none, and nobody is asked for one."""
        return "" if self.deployment_id else super().named_model()

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        if self.deployment_id:
            kind = options["route"].removeprefix("/ml/v1/")
            options = {
                **options,
                "route": f"/ml/v1/deployments/{quote(self.deployment_id, safe='')}/{kind}",
                "model_name": "",
            }
        return options


_OF_TEXT = {"max_new_tokens": "max_tokens", "random_seed": "seed", "stop_sequences": "stop"}
"""What services of text generation call the decoding."""


class WMLInferenceEngineGeneration(WMLInferenceEngineBase):
    """watsonx.ai, text generation. Prompts are one string."""

    fixed_provider: ClassVar[str | None] = "watsonx-text"
    other_names: ClassVar[Mapping[str, str]] = {**WMLInferenceEngineBase.other_names, **_OF_TEXT}
    saved_names: ClassVar[Mapping[str, str]] = {
        **WMLInferenceEngineBase.saved_names,
        **{ours: theirs for theirs, ours in _OF_TEXT.items()},
    }
    decoding_method: Annotated[Literal["greedy", "sample"] | None, NON_POSITIONAL] = None
    length_penalty: Annotated[dict[str, float] | None, NON_POSITIONAL] = None
    top_k: Annotated[int | None, NON_POSITIONAL] = None
    repetition_penalty: Annotated[float | None, NON_POSITIONAL] = None
    min_new_tokens: Annotated[int | None, NON_POSITIONAL] = None
    truncate_input_tokens: Annotated[int | None, NON_POSITIONAL] = None
    prompt_variables: Annotated[dict[str, Any] | None, NON_POSITIONAL] = None
    return_options: Annotated[dict[str, bool] | None, NON_POSITIONAL] = None

    def _extra_names(self) -> tuple[str, ...]:
        return (
            *("decoding_method", "length_penalty", "top_k", "repetition_penalty", "min_new_tokens"),
            *("truncate_input_tokens", "prompt_variables", "return_options", "time_limit"),
        )


class WMLInferenceEngine(WMLInferenceEngineGeneration):
    """The older name of :class:`WMLInferenceEngineGeneration`."""

    _is_now: ClassVar[str] = "WMLInferenceEngineGeneration"


class WMLInferenceEngineChat(WMLInferenceEngineBase):
    """watsonx.ai, chat; also with pictures.

    Attributes:
        image_encoder: Without effect: pictures are encoded where they are loaded.
    """

    transient_fields: ClassVar[frozenset[str]] = WMLInferenceEngineBase.transient_fields | {"image_encoder"}
    response_format: Annotated[dict[str, Any] | None, NON_POSITIONAL] = None
    image_encoder: Annotated[Any, NON_POSITIONAL] = None

    def _extra_names(self) -> tuple[str, ...]:
        return ("response_format", "time_limit")


class IbmGenAiInferenceEngine(UnitxtProviderEngine):
    """A text generation service in the style of IBM's BAM."""

    fixed_provider: ClassVar[str | None] = "bam"
    other_names: ClassVar[Mapping[str, str]] = {**UnitxtProviderEngine.other_names, **_OF_TEXT}
    saved_names: ClassVar[Mapping[str, str]] = {
        **UnitxtProviderEngine.saved_names,
        "model": "model_name",
        **{ours: theirs for theirs, ours in _OF_TEXT.items()},
    }
    data_classification_policy: Policy = ["public", "proprietary"]


_ENGINE_VARIABLES = ("PROCTOR_INFERENCE_ENGINE", "UNITXT_INFERENCE_ENGINE")
"""Variables in which users name an engine."""


@as_another("engine", "label", "answers_in_order", "generate", "score")
class GenericInferenceEngine(ToldInUnitxtWords, Engine):
    """Whatever engine the environment names: ``PROCTOR_INFERENCE_ENGINE`` (or ``UNITXT_INFERENCE_ENGINE``).

    Attributes:
        default: The engine where the environment names none.
    """

    default: str | None = None
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True

    @property
    def engine(self) -> Engine:
        """The engine that does the work.

        Raises:
            UsageError: None is named anywhere.
        """
        from proctor.engines.engine_registry import make_engine

        of_user = self._named_by_user()
        named = of_user or self.default
        if not named:
            raise UsageError(
                "no engine is named",
                hint="set PROCTOR_INFERENCE_ENGINE=engines.… or give GenericInferenceEngine(default=…)",
            )
        if self._made is None or self._made[0] != named:
            self.act_on_default()
            with written_by(None if of_user else self.author):
                self._made = (named, make_engine(named))
        return self._made[1]

    @staticmethod
    def _named_by_user() -> str | None:
        return next((os.environ[name] for name in _ENGINE_VARIABLES if os.environ.get(name)), None)

    def effects(self) -> Iterable[Effect]:
        """Return what its engine does, where the environment names none: that is the user's own."""
        if self._named_by_user() or not self.default or self.answering() is not self:
            return []
        found = self._reading_default()
        return found if missing(found) else [*found, *effects_of(self.engine)]

    def act_on_default(self) -> None:
        """Pass the gate before the engine is read.

        Raises:
            NotAllowedError: It is in a file that nobody allowed to read.
        """
        if self.author is not None and not self._named_by_user():
            require(self._reading_default(), self.author)

    def _reading_default(self) -> list[Effect]:
        is_file = str(self.default).endswith(".json")
        return reading(str(self.default), self.author, self.type_name()) if is_file else []

    _made: tuple[str, Engine] | None = None

    def get_engine_id(self) -> str:
        """Return what Unitxt calls it in the names of scores, from the engine that does the work where one is named."""
        if settings.mock_inference_mode or not (self._named_by_user() or self.default):
            return "generic_inference_engine"
        inner: Any = self.engine
        return f"generic_{inner.get_engine_id() if hasattr(inner, 'get_engine_id') else inner.label}"

    def identity_values(self) -> dict[str, Any]:
        """Return the identity of the engine that does the work."""
        return {"engine": self.engine.identity}

    @property
    def policy(self) -> list[str] | None:
        """The policy of this engine, or of the one that does the work."""
        return super().policy or self.engine.policy


class MockInferenceEngine(ToldInUnitxtWords, Engine):
    """Always the same answer, with the same token log-probabilities.

    Attributes:
        model_name: What tables call it.
        default_inference_value: The answer.
        default_inference_value_logprob: Its tokens.
        inference_label: ``inference_type`` of detailed predictions; Unitxt calls it ``label``.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {"inference_label"}
    model_name: str
    default_inference_value: str = "[[10]]"
    default_inference_value_logprob: list[dict[str, Any]] = [
        {"logprob": -1, "text": "[[10]]", "top_tokens": [{"logprob": -1, "text": "[[10]]"}]}
    ]
    cache_batch_size: Annotated[int, NON_POSITIONAL] = 100
    use_cache: Annotated[bool, NON_POSITIONAL] = True
    inference_label: Annotated[str, NON_POSITIONAL] = "mock_inference_engine"

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {"inference_label" if name == "label" else name: value for name, value in values.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, with Unitxt's names."""
        return in_unitxt_words(super().to_dict(), {"inference_label": "label"}, self._given, {})

    def get_engine_id(self) -> str:
        """Return what Unitxt calls it in the names of scores."""
        return engine_id(self.model_name, "mock")

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order."""
        tokens = tuple(
            TokenLogProbability(
                token["text"],
                float(token["logprob"]),
                tuple((top["text"], float(top["logprob"])) for top in token["top_tokens"]),
            )
            for token in self.default_inference_value_logprob
        )
        for position, request in enumerate(requests):
            count = request.decoding.count
            yield (
                position,
                Response(
                    texts=(self.default_inference_value,) * count,
                    finish_reasons=("",) * count,
                    tokens=(tokens,) * count,
                ),
            )
