"""One engine for every provider: the same model by the same name, wherever it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect, reading, written_by
from proctor.engines.decoding import refuse_several
from proctor.engines.engine import Engine
from proctor.engines.http.addresses import checked_address
from proctor.engines.http.batches import Place
from proctor.engines.http.openai_engine import OpenAIEngine, normal_url, with_http
from proctor.engines.http.protocols.anthropic import AnthropicProtocol
from proctor.engines.http.protocols.bedrock import BedrockProtocol
from proctor.engines.http.protocols.native_generate import NativeGenerateProtocol
from proctor.engines.http.protocols.ollama import OllamaProtocol
from proctor.engines.http.protocols.openai import OpenAIProtocol
from proctor.engines.http.protocols.protocol import ProviderProtocol
from proctor.engines.http.protocols.replicate import ReplicateProtocol
from proctor.engines.http.protocols.text_generation import TextGenerationProtocol
from proctor.engines.http.providers import Connection, address_of, connection_to, provider_named
from proctor.engines.http.retrying_client import Authorize
from proctor.engines.http.server_file import file_of
from proctor.engines.http.thinking_words import ThinkingOrder
from proctor.engines.thinking_engine import ThinkingEngine
from proctor.errors import EngineError, MissingExtraError, UsageError, ValidationError
from proctor.ir import Answers, Generate, Score

PROTOCOLS: dict[str, type[ProviderProtocol]] = {
    "anthropic": AnthropicProtocol,
    "bedrock": BedrockProtocol,
    "native_generate": NativeGenerateProtocol,
    "ollama": OllamaProtocol,
    "openai": OpenAIProtocol,
    "replicate": ReplicateProtocol,
    "text_generation": TextGenerationProtocol,
}
Credentials = Annotated[dict[str, Any] | None, NON_POSITIONAL, Field(repr=False)]


_OF_BATCHES = {"batch_bucket": ("aws", "vertex-ai"), "batch_role": ("aws",), "batch_account": ("fireworks",)}
"""Fields that say where batches lie, and whose they are."""


class ProviderEngine(OpenAIEngine):
    """A model at a provider of the table.

    Nothing is looked up in the environment, and no key is needed, before the first request.

    Attributes:
        model: A name that all providers share (``llama-3-3-70b-instruct``), or the provider's own.
        provider: Name in the table; by default ``settings.default_provider``.
        credentials: Key, address and what else the provider needs, where the environment does not say. Never saved.
        provider_specific_args: Fields to replace for one provider: ``{"watsonx": {"max_tokens": 64}}``.
        batch_bucket: The folder in which Amazon Bedrock (``s3://BUCKET/FOLDER``) and Vertex AI (``gs://…``) read and
            write batches.
        batch_role: The ARN of the role as which Amazon does.
        batch_account: The account whose data sets Fireworks reads and writes; by default ``FIREWORKS_ACCOUNT_ID``.
    """

    transient_fields: ClassVar[frozenset[str]] = OpenAIEngine.transient_fields | {
        "credentials",
        "provider_specific_args",
        *_OF_BATCHES,
    }
    secret_fields: ClassVar[frozenset[str]] = OpenAIEngine.secret_fields | {"credentials"}
    address_fields: ClassVar[frozenset[str]] = OpenAIEngine.address_fields | {"credentials", "provider_specific_args"}

    provider: str | None = None
    credentials: Credentials = None
    provider_specific_args: Annotated[dict[str, dict[str, Any]] | None, NON_POSITIONAL] = None
    batch_bucket: Annotated[str, NON_POSITIONAL] = ""
    batch_role: Annotated[str, NON_POSITIONAL] = ""
    batch_account: Annotated[str, NON_POSITIONAL] = ""

    def prepare(self) -> None:
        """Check the provider's name, where one is given."""
        super(OpenAIEngine, self).prepare()
        self._take_login()
        self._url = normal_url(_checked(self.base_url)) if self.base_url else ""
        native = self.provider is not None and provider_named(self.provider)[1].protocol == "native_generate"
        object.__setattr__(self, "can_score", (self.endpoint == "completions" or self.scores_chats) and not native)

    @property
    def policy(self) -> list[str] | None:
        """The classes of data that may be sent: the engine's own policy, or the provider's."""
        return super().policy or list(provider_named(self.provider)[1].policy)

    @property
    def served_model(self) -> str:
        """The provider's name of the model."""
        return provider_named(self.provider)[1].model_name(self.model or self._listed_model)

    def _list_of_models(self) -> tuple[str, Mapping[str, str]]:
        name, provider = provider_named(self.provider)
        found = connection_to(name, provider, "", self._said_of_server(), self._may_send)
        return normal_url(found.url), found.headers

    @property
    def only_chats(self) -> bool:
        """Whether prompts go to the model as messages: never where the server takes one string."""
        if self.provider is not None and (entry := provider_named(self.provider)[1]).protocol == "native_generate":
            return bool(entry.options.get("parts"))
        return super().only_chats

    @property
    def price_name(self) -> str:
        """The provider, and its name of the model."""
        name, provider = provider_named(self.provider)
        return f"{name}/{provider.model_name(self.label)}"

    @property
    def is_billed(self) -> bool:
        """Whether the provider is reached as services are: by https."""
        return (self._url or provider_named(self.provider)[1].url).startswith("https:")

    def _values_at_its_address(self) -> dict[str, Any]:
        """Return the values that decide answers: provider, its name of the model, decoding."""
        name, _ = provider_named(self.provider)
        if self.model_id is None:
            self.named_model()
        values = super(ProviderEngine, self._adapted())._values_at_its_address()
        return {**values, "provider": name, "model": self.served_model}

    @property
    def server_addresses(self) -> tuple[str, ...]:
        """The address of a server that somebody runs himself and that speaks as OpenAI's does; none for others."""
        provider = provider_named(self.provider)[1]
        return () if self.is_billed or provider.protocol != "openai" else (self._url or provider.url,)

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, ``max_concurrency`` at once.

        Raises:
            EngineError: The provider needs a key or an address that nobody gave.
        """
        self.act()
        if (local := self._local()) is not None:
            return local.generate(requests)
        return self._adapted()._ask(requests)  # noqa: SLF001 - the same class

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods, where the provider echoes; errors as in :meth:`generate`."""
        self.act()
        if (local := self._local()) is not None:
            return local.score(requests)
        return super().score(requests)

    def check_access(self) -> None:
        """Check that key and address are there; errors as of :meth:`generate`."""
        if self._local() is None:
            self._adapted()._connection()  # noqa: SLF001 - the same class

    def _ask(self, requests: Iterable[Generate]) -> Answers:
        return self._generated(requests, self._protocol())

    def _adapted(self) -> ProviderEngine:
        """Return this engine with the fields that are meant for its provider."""
        given = (self.provider_specific_args or {}).get(provider_named(self.provider)[0])
        if not given:
            return self
        fields = {name: getattr(self, name) for name in self.model_fields_set if name != "provider_specific_args"}
        with written_by(self.author):
            adapted = type(self)(
                **{**fields, **{key: value for key, value in given.items() if key in type(self).model_fields}}
            )
        for name in ("_make_transport", "_new_loop", "_take"):
            setattr(adapted, name, getattr(self, name))
        adapted.come_from(self)
        return adapted

    def _local(self) -> Engine | None:
        """Return the engine in this process that does the work for this provider, if there is one."""
        short = provider_named(self.provider)[1].engine
        if short is None:
            return None
        from proctor.engines.engine_registry import make_engine

        names = ("temperature", "top_p", "seed", "max_tokens", *ThinkingEngine.own_fields())
        given = {name: getattr(self, name) for name in names}
        values = {name: value for name, value in given.items() if value is not None}
        with written_by(self.author):
            return make_engine(short, {"model": self.served_model, **values})

    @property
    def batch_api(self) -> str:
        """The provider."""
        return provider_named(self.provider)[0]

    def batch_place(self) -> Place:
        """Return where the provider keeps what is sent in batches, as far as it has to be told."""
        account = self.batch_account or os.environ.get("FIREWORKS_ACCOUNT_ID", "")
        return Place(self.batch_bucket, self.batch_role, account)

    def _protocol(self) -> ProviderProtocol:
        name, provider = provider_named(self.provider)
        self.named_model()
        connection = self._connection()
        options = self._options()
        if connection.fields:
            options["fields"] = dict(connection.fields)
        url = normal_url(connection.url) if provider.protocol == "openai" and name == "custom" else connection.url
        return PROTOCOLS[provider.protocol](
            url,
            self._model_to_send(name),
            self.decoding_defaults(),
            connection.query,
            provider.has_n and provider.protocol == "openai",
            options,
            self._thinking(),
        )

    def _words_of(self) -> str:
        return provider_named(self.provider)[0]

    @property
    def served_name(self) -> str:
        """The model's name at the provider."""
        return self.served_model

    def _thinking_order(self) -> ThinkingOrder:
        if provider_named(self.provider)[1].engine is not None:
            return ThinkingOrder()  # the engine in this process finds its own words
        return super()._thinking_order()

    def verify(self) -> None:
        """Check what is said of thinking and batches, as far as the provider is known; errors as :class:`OpenAIEngine`.

        Raises:
            ValidationError: A place for batches is none of the provider's.
        """
        for name in filter(self.__getattribute__, _OF_BATCHES):
            if self.provider is not None and provider_named(self.provider)[0] not in _OF_BATCHES[name]:
                what, whose = f"'{self.provider}' keeps no batches where '{name}' says", " and ".join(_OF_BATCHES[name])
                raise ValidationError(what, path=f"$.{name}", hint=f"leave it out: it is for {whose}")
        if self.provider is None:
            refuse_several(self.extra_body, "extra_body")
            super(OpenAIEngine, self).verify()
        else:
            super().verify()

    def _options(self) -> dict[str, Any]:
        provider = provider_named(self.provider)[1]
        return {
            "is_chat": self.endpoint != "completions",
            "stream": self.stream,
            **provider.options_of(self.served_model),
        }

    def _model_to_send(self, name: str) -> str:
        served = self.served_model
        return served.partition("/")[2] if name == "rits" and served.startswith("byom-") else served

    def _said_of_server(self) -> dict[str, Any]:
        given = dict(self.credentials or {})
        if self.api_key is not None:
            given["api_key"] = self.api_key.get_secret_value()
        if self.base_url:
            given["base_url"] = self.base_url
        return given

    def _connection(self) -> Connection:
        name, provider = provider_named(self.provider)
        given = self._said_of_server()
        if self._login is not None:
            given["base_url"] = self._login.put_into(given["base_url"])
        return connection_to(name, provider, self.served_model, given, self._may_send)

    def effects(self) -> Iterable[Effect]:
        """Return that it asks its server, and that questions go to a bucket which a file names."""
        is_theirs = self.author is not None and "batch_bucket" not in self.typed_fields
        there = reading(self.batch_bucket, self.author, self.label) if self.batch_bucket and is_theirs else ()
        return [*super().effects(), *there]

    def would_do(self) -> list[Effect]:
        """Return the effects of answering: asking the provider, or those of the engine in this process."""
        with suppress(UsageError, MissingExtraError):  # no provider is named, or no package is there: nobody is asked
            if self.answering() is self and (local := self._local()) is not None:
                return local.would_do()
            return [*super(ProviderEngine, self._adapted()).would_do(), *self._effects_of_batches()]
        return []

    def _effects_of_batches(self) -> list[Effect]:
        """Return that further hosts are asked, where it is said in whose bucket or account batches lie."""
        place = self.batch_place()
        if not any(place) or (self.author is not None and not (self.batch_bucket or self.batch_account)):
            return []
        from proctor.engines.http.other_batches import APIS

        hosts = APIS[self.batch_api].hosts(self._destination()[0], place) if self.batch_api in APIS else ()
        return [Effect("net", host, self.label) for host in hosts]

    def _destination(self) -> tuple[str, list[str], bool]:
        name, provider = provider_named(self.provider)
        given = self._said_of_server()
        variables: list[str] = []

        def noted(variable: str, address: str) -> bool:
            del address
            variables.append(variable)
            return variable != "AWS_PROFILE"  # what it stands for is in a file, which nobody needs to read now

        try:
            url = address_of(name, provider, self.served_model, given).url
        except (EngineError, UsageError):  # said when somebody is to be asked
            return "", [], False
        if self._login is None:
            with suppress(EngineError, UsageError):
                connection_to(name, provider, self.served_model, given, noted)
        return url, list(dict.fromkeys(variables)), provider.auth not in ("none", "optional")

    def _key_variables(self) -> tuple[str, ...]:
        return provider_named(self.provider)[1].key_variables

    def _has_own_key(self) -> bool:
        named = {name.lower() for name in self.credentials or ()}
        return super()._has_own_key() or bool(named & {"api_key", "apikey", "token"})

    def _headers(self) -> Mapping[str, str]:
        return self._connection().headers

    def _authorize(self) -> Authorize | None:
        return self._connection().authorize


def _checked(address: str) -> str:
    """Return an address as :func:`checked_address` does; places for a model or an endpoint may be in it."""
    if file_of(address) is not None:
        raise UsageError(f"'{address}' is a file of servers, which the engine 'openai' alone reads", hint="-m openai")
    checked_address(re.sub(r"\{\w+\}", "x", with_http(address)))
    return with_http(address)
