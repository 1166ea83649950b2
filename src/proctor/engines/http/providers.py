"""Provider registry: addresses, keys, model names and quirks, as data (``providers.json``)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from proctor.engines.http.addresses import Login, checked_address, split_login
from proctor.errors import EngineError, Location, UsageError, did_you_mean
from proctor.secrets import is_secret, keep, variable
from proctor.services import with_scheme
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.engines.http.authorization import AWSSignature
    from proctor.engines.http.retrying_client import Authorize

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_URL_NAMES = ("api_base", "api_url", "base_url", "url")


class Variable(Struct, frozen=True):
    """Part of an address: the environment variables that may hold it, and what it is without them."""

    names: tuple[str, ...]
    default: str | None = None


class Quirk(Struct, frozen=True):
    """Options of the protocol for models whose name matches a regular expression."""

    models: str
    options: Mapping[str, Any]


class ThinkingWords(Struct, frozen=True, forbid_unknown_fields=True):
    """A provider's words for thinking effort, for some of its models.

    Attributes:
        levels: From our levels to fields of the body; ``{tokens}`` stands for the allowance.
        models: Which models, as a regular expression over the provider's names.
        tokens: The allowance of a level where the user gives none, for models that want a number.
        drop: Parts of a decoding that the models do not take while they think.
    """

    levels: Mapping[str, Mapping[str, Any]]
    models: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)
    drop: tuple[str, ...] = ()


class PromptCache(Struct, frozen=True, forbid_unknown_fields=True):
    """A cache of prompts that is told what to keep.

    Attributes:
        marks: Whose marks it takes.
        least: Tokens of the shortest beginning that it keeps.
        models: A regular expression that finds the models which have it.
    """

    marks: Literal["anthropic", "openai", "bedrock"]
    least: int
    models: str = ""


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the table.

    Attributes:
        description: Who it is.
        source: The public reference that the entry was compared with.
        url: Base URL; ``{model}``, ``{endpoint}`` and names in ``variables`` are filled in.
        hosts: Further hosts that are the provider's, ``*`` for a region; see :mod:`proctor.services`.
        url_variables: Environment variables that replace ``url``.
        variables: What else the address needs.
        query: Appended to every address.
        protocol: A key of :data:`PROTOCOLS`.
        auth: ``bearer``; the name of a header that takes the key; ``iam``, ``google``, ``aws``, ``rits``; ``optional``,
            ``none``.
        headers: Sent with every request.
        key_variables: Environment variables that may hold the key.
        token_variables: Environment variables that may hold a bearer token instead.
        port: Port of an address that names neither scheme nor port.
        fields: Fields of every body that come from the environment; one of them is needed.
        options, quirks: For the protocol.
        thinking: How its models are told how hard to think; the first entry that knows a model counts.
        caches: Caches of prompts that are told what to keep; the first entry that knows a model counts.
        rename: Fields of the body that are called otherwise here.
        has_n: Whether one request may ask for several answers.
        policy: Data that it may see by default.
        prefixes: What other programs (litellm) write before the provider's names of models.
        models: From names that all providers share to names of this one.
        endpoints: From names of models to parts of addresses.
        engine: Short name of an engine in this process that does the work instead.
    """

    description: str
    url: str
    source: str = ""
    hosts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    url_variables: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)
    query: str = ""
    protocol: Literal["openai", "anthropic", "bedrock", "ollama", "text_generation", "replicate", "native_generate"] = (
        "openai"
    )
    auth: str = "bearer"
    headers: Mapping[str, str] = field(default_factory=dict)
    key_variables: tuple[str, ...] = ()
    token_variables: tuple[str, ...] = ()
    port: int | None = None
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    quirks: tuple[Quirk, ...] = ()
    thinking: tuple[ThinkingWords, ...] = ()
    caches: tuple[PromptCache, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    has_n: bool = True
    policy: tuple[str, ...] = ("public",)
    prefixes: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    endpoints: Mapping[str, str] = field(default_factory=dict)
    engine: str | None = None

    def model_name(self, model: str) -> str:
        """Return the provider's name of a model."""
        if model in self.models:
            return self.models[model]
        bare = next((model.removeprefix(each) for each in self.prefixes if model.startswith(each)), model)
        return self.models.get(bare, bare)

    def options_of(self, model: str) -> dict[str, Any]:
        """Return the options of the protocol for a model, by the provider's name of it."""
        matching = [quirk.options for quirk in self.quirks if re.search(quirk.models, model)]
        found = {key: value for options in (self.options, *matching) for key, value in options.items()}
        return {**found, "rename": self.rename} if self.rename else found


class Connection(NamedTuple):
    """The connection to one model of a provider."""

    url: str
    query: str
    headers: Mapping[str, str]
    fields: Mapping[str, str]
    authorize: Authorize | None


@cache
def providers() -> Mapping[str, Provider]:
    """Return the table, by name."""
    text = files("proctor.engines").joinpath("http", "providers.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Provider])


def provider_named(name: str | None) -> tuple[str, Provider]:
    """Return a provider's name in the table and its entry.

    Args:
        name: A name or an alias; ``None`` takes ``settings.default_provider``.

    Raises:
        UsageError: There is none of this name, or none is named at all.
    """
    table = providers()
    wanted = name or settings.default_provider or os.environ.get("UNITXT_DEFAULT_PROVIDER")
    if not wanted:
        raise UsageError(
            "no provider is named",
            hint="give provider=…, set PROCTOR_DEFAULT_PROVIDER, or settings.default_provider",
            why=f"the providers are {', '.join(table)}",
        )
    for known, entry in table.items():
        if wanted == known or wanted in entry.aliases:
            return known, entry
    hint = did_you_mean(wanted, table) or f"the providers are {', '.join(table)}"
    raise UsageError(f"there is no provider '{wanted}'", hint=hint)


def cache_of(name: str, model: str) -> PromptCache | None:
    """Return the cache of prompts which a provider of the table has for a model, where it is told what to keep."""
    return next((each for each in provider_named(name)[1].caches if re.search(each.models, model)), None)


def speaks_as_openai(name: object) -> bool:
    """Whether a provider of a name speaks as OpenAI's servers do."""
    return any(name == known and entry.protocol == "openai" for known, entry in providers().items())


MaySend = Callable[[str, str], bool]
"""Whether the value of a variable may be sent to an address."""


class Address(NamedTuple):
    """The address of one model of a provider.

    Attributes:
        url: The base URL, without a name and a password.
        query: Appended to every address.
        login: The name and password that the address had.
    """

    url: str
    query: str
    login: Login | None


def address_of(name: str, provider: Provider, model: str, given: Mapping[str, Any]) -> Address:
    """Return the address of a model; arguments are those of :func:`connection_to`.

    Raises:
        EngineError: Something is missing; the message names the environment variables.
        UsageError: It is not an address.
    """
    known = _known(given)
    url = next((known[each] for each in _URL_NAMES if each in known), None) or _environment(provider.url_variables)
    parts = {"model": quote(model, safe="/:@._-~"), "endpoint": _endpoint(provider, model)}
    address, login = split_login(_fill(url or provider.url, parts, name, provider, known))
    if not address:
        raise _missing(name, "an address", ("base_url", *provider.url_variables))
    address = checked_address(with_scheme(address, provider.port), f"the address of the provider '{name}'")
    return Address(address, _fill(provider.query, parts, name, provider, known), login)


def connection_to(
    name: str,
    provider: Provider,
    model: str,
    given: Mapping[str, Any],
    may_send: MaySend = lambda variable, address: True,
) -> Connection:
    """Return the connection to a model.

    Args:
        name: The provider's name, for messages.
        provider: The provider.
        model: The provider's name of the model.
        given: Credentials: ``api_key``, a base URL under ``api_base``, ``api_url``, ``base_url`` or ``url``, and the
            provider's ``variables`` and ``fields``. What is not given comes from the environment.
        may_send: Whether the value of a variable may go to the address.

    Raises:
        EngineError: Something is missing; the message names the environment variables.
        UsageError: The address is none.
    """
    known = _known(given)
    address = address_of(name, provider, model, given)

    purse = _Purse(address.url, may_send)
    if address.login is not None and not {"api_key", "apikey", "token"} & known.keys():
        headers: Mapping[str, str] = {"Authorization": address.login.header}
        authorize = None
    else:
        headers, authorize = _credentials(name, provider, known, purse)
    return Connection(
        address.url, address.query, {**provider.headers, **headers}, _fields(name, provider, known, purse), authorize
    )


def _known(given: Mapping[str, Any]) -> dict[str, str]:
    found = {key.lower(): str(value) for key, value in given.items() if value is not None}
    for key, value in found.items():
        if is_secret(key):
            keep(value)
    return found


def _environment(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _fill(text: str, parts: Mapping[str, str], name: str, provider: Provider, given: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        key = match.group(1)
        if key in parts:
            return parts[key]
        if key not in provider.variables:
            known = ", ".join([*parts, *provider.variables])
            what = f"the address of the provider '{name}' has a place for '{key}', which is nothing"
            raise UsageError(what, why=f"places are {known}")
        variable = provider.variables[key]
        spelled = (key, *(each.lower() for each in variable.names))
        found = next((given[each] for each in spelled if each in given), None) or _environment(variable.names)
        if found is None and variable.default is None:
            raise _missing(name, f"'{key}'", (key, *variable.names))
        return (found or variable.default or "").rstrip("/")

    return _PLACEHOLDER.sub(value, text)


class _Purse:
    """The keys of the environment, as far as they may be sent to an address."""

    def __init__(self, address: str, may_send: MaySend) -> None:
        self._address = address
        self._may_send = may_send

    def may_send(self, name: str) -> bool:
        """Whether what a variable stands for may be sent."""
        return self._may_send(name, self._address)

    def first(self, names: Iterable[str]) -> str | None:
        """Return the value of the first variable that is set, where it may be sent."""
        found = next((each for each in names if os.environ.get(each)), None)
        if found is None or not self.may_send(found):
            return None
        return os.environ[found] if found.endswith("_ID") else variable(found)


def _fields(name: str, provider: Provider, given: Mapping[str, str], purse: _Purse) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, variables in provider.fields.items():
        if not found and (value := given.get(key) or purse.first(variables)):
            found[key] = value
    if provider.fields and not found:
        raise _missing(
            name, " or ".join(provider.fields), tuple(each for names in provider.fields.values() for each in names)
        )
    return found


def _credentials(
    name: str, provider: Provider, given: Mapping[str, str], purse: _Purse
) -> tuple[dict[str, str], Authorize | None]:
    key = given.get("api_key") or given.get("apikey") or purse.first(provider.key_variables)
    token = given.get("token") or (None if key else purse.first(provider.token_variables))
    if not key and token and provider.token_variables:
        return {"Authorization": f"Bearer {token}"}, None
    if provider.auth == "aws" and not key:
        return {}, _signature(name, given, purse)
    if provider.auth == "none" or (key is None and provider.auth == "optional"):
        return {}, None
    if key is None:
        raise _missing(name, "an API key", ("api_key", *provider.key_variables))
    if provider.auth in ("iam", "google"):
        from proctor.engines.http import authorization  # brings the event loop along

        return {}, authorization.IAMToken(key) if provider.auth == "iam" else authorization.GoogleKey(key)
    bearer = {"Authorization": f"Bearer {key}"}
    named = {"bearer": bearer, "optional": bearer, "aws": bearer, "rits": {"RITS_API_KEY": key, **bearer}}
    return named.get(provider.auth, {provider.auth: key}), None


def _signature(name: str, given: Mapping[str, str], purse: _Purse) -> AWSSignature:
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    found = {each: given.get(each) or purse.first((each.upper(),)) for each in names}
    if not (found[names[0]] and found[names[1]]):
        found = _aws_profile() if purse.may_send("AWS_PROFILE") else {}
    region = given.get("aws_region_name") or given.get("region")
    region = region or _environment(("AWS_REGION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION")) or "us-east-1"
    access, secret, token = (found.get(each) for each in names)
    if not access or not secret:
        wanted = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE")
        raise _missing(name, "credentials", wanted)
    for each in (secret, token):
        keep(each)
    from proctor.engines.http.authorization import AWSSignature  # as above

    return AWSSignature(access, secret, token, region)


def _aws_profile() -> dict[str, str | None]:
    """Return what the shared credentials file says of the profile ``AWS_PROFILE``; nothing where there is none."""
    place = os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path.home() / ".aws" / "credentials"
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(place, encoding="utf-8")
    except (ConfigParserError, UnicodeDecodeError) as error:
        what = "the AWS credentials file cannot be read"  # the error itself quotes lines of the file
        raise EngineError(what, location=Location(str(place)), why=type(error).__name__) from None
    profile = os.environ.get("AWS_PROFILE", "default")
    return dict(parser[profile]) if parser.has_section(profile) else {}


def _endpoint(provider: Provider, model: str) -> str:
    """Return the part of an address that stands for a model: RITS has one address for each."""
    if model in provider.endpoints:
        return provider.endpoints[model]
    if model.startswith("byom-"):
        return model.partition("/")[0]
    return model.rpartition("/")[2].lower().replace("v0.1", "v01").replace("vision-", "").replace(".", "-")


def _missing(name: str, what: str, names: tuple[str, ...]) -> EngineError:
    variables = [each for each in names if each.isupper()]
    hint = f"set {' or '.join(variables)}" if variables else f"give {names[0]}=…"
    return EngineError(f"the provider '{name}' needs {what}", hint=f"{hint}, or pass credentials={{…}} to the engine")
