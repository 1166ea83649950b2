"""Any server that speaks the OpenAI protocol: OpenAI, vLLM, SGLang, TGI, llama-server, LM Studio, Ollama."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect, asking, port_of, reading, require
from proctor.engines.decoding import refuse_several
from proctor.engines.engine import Engine
from proctor.engines.http.addresses import checked_address, split_login
from proctor.engines.http.batches import Place
from proctor.engines.http.http_engine import HTTPEngine
from proctor.engines.http.prompt_caches import Beginnings
from proctor.engines.http.protocols.openai import OpenAIProtocol
from proctor.engines.http.protocols.protocol import ProviderProtocol, Thinking
from proctor.engines.http.served_models import first_model, first_token, root_of
from proctor.engines.http.server_file import ServerFile, file_of
from proctor.engines.http.several_servers import SeveralServers
from proctor.engines.http.thinking_words import ThinkingOrder, provider_at, thinking_order
from proctor.engines.http.transport import Transport
from proctor.engines.model_places import model_effects
from proctor.errors import EngineError, NotAllowedError, UsageError
from proctor.ir import Answers, Generate, Prompt, Score, content_key
from proctor.wall import let_ask

DEFAULT_URL = "https://api.openai.com/v1"
_PREFIX_HINT = "leave it out, or use endpoint=completions with scoring=auto or echo (prefix_token also with llamacpp)"
_URL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_URL")
_VERSION = re.compile(r"v\d")
_ROUTES = ("/chat/completions", "/completions")


class OpenAIEngine(HTTPEngine):
    """A model behind an OpenAI-compatible server.

    Attributes:
        model: Name of the model, as the server knows it; an empty one is the first that the server lists.
        base_url: Address of the server, with or without ``/v1`` and a trailing slash; by default ``OPENAI_BASE_URL``,
            or OpenAI itself. Several servers that have the same model stand behind each other, with commas between
            them: each gets ``max_concurrency`` requests at once, and the work of one that is away goes to the others.
            ``file:PATH`` (or a path, or a name that ends with ``.txt``) is a file of addresses, one a line, which is
            read again when it changes.
        endpoint: ``chat`` sends messages, ``completions`` one string. ``auto`` is ``chat``: a string prompt becomes
            one user message. Only ``completions`` can score continuations.
        max_tokens, temperature, top_p, seed, stop, frequency_penalty, presence_penalty, logit_bias, logprobs,
            top_logprobs: Decoding for requests that leave it open. Without any limit, ``completions`` write at most 256
            tokens.
        stream: Stream answers, to know when their first token came (``Response.timing.first_token_seconds``).
        scoring: How log-probabilities of given text are asked for: ``echo`` on completions, ``prompt_logprobs``
            (vLLM's) on completions and chat, or ``llamacpp`` on completions: llama.cpp's server knows no echo, and is
            asked for one token of the continuation after the other. ``auto`` asks the server which one it is: vLLM and
            SGLang are asked for choices by one token where that gives what echo gives, others by echo.
        prefix_token: Text of the token that a model begins with (``<|endoftext|>``): put before a text that has nothing
            before it, so that its first token has a likelihood, too. A server whose tokenizer adds such a token
            (Llama's) needs none; with others the first token is left out, which the results say.
        tokenizer: Folder or hub id of the model's tokenizer, whose files say the same where it lies on this machine.
        extra_body: Further fields of every request's body.
        prompt_cache: Whether the provider's cache is told what questions share (``auto``), where that costs less than
            reading it again (Anthropic, Amazon Bedrock, OpenAI from GPT-5.6 on); ``off`` sends nothing of it.
        model_id: Name under which answers are filed in the place of ``model`` and the address: for one model with
            several names, or several with one.
    """

    transient_fields: ClassVar[frozenset[str]] = HTTPEngine.transient_fields | {"stream", "scoring", "prompt_cache"}

    model: str
    base_url: str | None = None
    endpoint: Annotated[Literal["auto", "chat", "completions"], NON_POSITIONAL] = "auto"
    max_tokens: Annotated[int | None, NON_POSITIONAL, Field(ge=0)] = None
    temperature: Annotated[float | None, NON_POSITIONAL] = None
    top_p: Annotated[float | None, NON_POSITIONAL] = None
    seed: Annotated[int | None, NON_POSITIONAL] = None
    stop: Annotated[str | list[str] | None, NON_POSITIONAL] = None
    frequency_penalty: Annotated[float | None, NON_POSITIONAL] = None
    presence_penalty: Annotated[float | None, NON_POSITIONAL] = None
    logit_bias: Annotated[dict[str, float] | None, NON_POSITIONAL] = None
    logprobs: Annotated[bool | None, NON_POSITIONAL] = None
    top_logprobs: Annotated[int | None, NON_POSITIONAL] = None
    stream: Annotated[bool, NON_POSITIONAL] = False
    scoring: Annotated[Literal["auto", "echo", "prompt_logprobs", "llamacpp"], NON_POSITIONAL] = "auto"
    prefix_token: Annotated[str | None, NON_POSITIONAL, Field(min_length=1)] = None
    tokenizer: Annotated[str | None, NON_POSITIONAL, Field(min_length=1)] = None
    extra_body: Annotated[dict[str, Any] | None, NON_POSITIONAL] = None
    prompt_cache: Annotated[Literal["auto", "off"], NON_POSITIONAL] = "auto"
    model_id: Annotated[str | None, NON_POSITIONAL] = None

    _more_urls: tuple[str, ...] = ()
    _file: ServerFile | None = None
    _check_server: Callable[[str], None] | None = None
    _listed_model: str = ""
    _text_start: str | None = None
    _reasons: dict[str, str] = {}

    def prepare(self) -> None:
        """Work out the address, and whether the endpoint can score."""
        super().prepare()
        object.__setattr__(self, "_reasons", {})
        object.__setattr__(self, "can_score", self.endpoint == "completions" or self.scores_chats)
        if (path := file_of(self._address())) is not None:
            self._read_servers(path)
            return
        self._file = None
        self._take_login()
        first, *more = (each.strip() for each in self._address().split(","))
        address, login = split_login(first)
        self._login = self._login or login
        self._url = normal_url(checked_address(with_http(address), self._address_source()))
        self._more_urls = tuple(normal_url(checked_address(with_http(each), self._address_source())) for each in more)
        if len({self._url, *self._more_urls}) <= len(more):
            raise UsageError(f"base_url names a server twice: {self._address()}", hint="leave it out once")

    def _read_servers(self, path: Path) -> None:
        """Take the addresses from a file."""
        require(reading(path, self.author, "base_url"), self.author)
        self._file = ServerFile(path, normal_url, self._admit)
        self._url, *more = self._file.addresses
        self._more_urls = tuple(more)
        if self.model_id is None and any(each.startswith("https:") for each in self._file.addresses):
            raise UsageError(
                f"{path} names servers that are reached by https, and nothing says that they have one model",
                why="the address of a service is a part of what an answer belongs to, and this file may change",
                hint="give model_id=NAME: answers are filed under it, wherever they come from",
            )

    def _admit(self, address: str) -> None:
        """See to it that a server that the file names meanwhile may be asked; raises why not."""
        if address.startswith("https:") and self.model_id is None:
            raise NotAllowedError("it is reached by https, and no model_id says which model it has")
        effects = asking(address, self.label, self._destination()[1])
        if not self._is_users_address():
            require(effects, self.author)
        if not let_ask(effects[0].target):
            port = port_of(effects[0].target)
            raise NotAllowedError(
                "no server had its port when the run began, and the wall around this process cannot be opened further",
                hint=f"--allow net:*:{port} names a port beforehand, --allow net:*:8000-8099 names a hundred",
            )
        if self._check_server is not None:
            self._check_server(address)

    @property
    def has_server_file(self) -> bool:
        """Whether a file names the servers, which may come and go."""
        return self._file is not None

    def check_servers_by(self, check: Callable[[str], None]) -> None:
        """Have servers checked that a file names later; ``check`` raises why one is not asked."""
        self._check_server = check

    def verify(self) -> None:
        """Check that one answer is asked for, and that whoever runs the model can be told how hard it is to think.

        Raises:
            ValidationError: Several are.
            UsageError: He cannot.
        """
        super().verify()
        refuse_several(self.extra_body, "extra_body")
        named = [name for name in ("prefix_token", "tokenizer") if getattr(self, name) is not None]
        is_unread = self.scoring == "llamacpp" and self.tokenizer is not None  # the server names its own
        if named and (self.endpoint != "completions" or self.scoring == "prompt_logprobs" or is_unread):
            why = "it stands before texts whose likelihood is read from an echo, or asked of llama.cpp's server"
            raise UsageError(f"{named[-1]} would decide nothing", why=why, hint=_PREFIX_HINT)
        if self.thinking is not None:
            self._thinking_order()

    def _take_login(self) -> None:
        """Take the name and password out of ``base_url``: they are sent, and nowhere written."""
        if self.base_url is not None:
            if not self.base_url.strip():  # an empty variable of a shell must not lead to somebody else's server
                checked_address(self.base_url)
            clean, login = split_login(self.base_url)
            if login is not None:
                object.__setattr__(self, "base_url", clean)
                self._login = login

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "base_url" and not self._preparing:
            object.__setattr__(self, "_login", None)
            object.__setattr__(self, "_listed_model", "")
            object.__setattr__(self, "_text_start", None)
        super().__setattr__(name, value)
        if name in ("base_url", "endpoint", "scoring") and not self._preparing:
            self.prepare()

    @property
    def only_chats(self) -> bool:
        """Whether prompts go to the chat endpoint."""
        return self.endpoint != "completions"

    @property
    def takes_chats(self) -> bool:
        """Whether the endpoint is the chat one."""
        return self.only_chats

    @property
    def is_billed(self) -> bool:
        """Whether the server is reached as services are: by https."""
        return self._url.startswith("https:")

    @property
    def scores_chats(self) -> bool:
        """Whether the server is asked for log-probabilities of messages."""
        return self.scoring == "prompt_logprobs" and self.endpoint != "completions"

    @property
    def label(self) -> str:
        """The model's name; the server's address before it has said which model it has."""
        return self.model or self._listed_model or self._url

    def named_model(self) -> str:
        """Return the model's name; where none was given, the server is asked once.

        Raises:
            NotAllowedError: A file says where the server is, and nobody allowed to ask it.
            EngineError: The server does not say which model it has.
        """
        if not (self.model or self._listed_model):
            self.act()
            self._listed_model = first_model(*self._list_of_models(), self.connect_timeout)
        return self.model or self._listed_model

    def _list_of_models(self) -> tuple[str, Mapping[str, str]]:
        """Return the address below which the server lists its models, and the headers that say who asks."""
        return self._url, self._headers()

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: the model's name, and the address where that is a service's.

        A server that somebody runs himself may have the same model at another port and on another machine.
        """
        values = self._values_at_its_address()
        if not (self.server_addresses or self.model_id):
            return values
        return _of_a_model({**values, "model": self.model_id or values["model"]})

    def _values_at_its_address(self) -> dict[str, Any]:
        """Return the values that decided answers before November 2026, and still do where a service answers."""
        values = {**super().identity_values(), "base_url": self._url, "model": self.model_id or self.named_model()}
        del values["model_id"]
        for name in ("prefix_token", "tokenizer"):
            if values[name] is None:
                del values[name]
        return values

    @property
    def earlier_identities(self) -> tuple[str, ...]:
        """The identity with the address, under which earlier versions ran."""
        is_own = bool(self.server_addresses)
        return (content_key("engine", self.type_name(), self._values_at_its_address()),) if is_own else ()

    @property
    def identity_type(self) -> str:
        """The kind of engine: one for all that speak to servers which somebody runs himself."""
        return "server" if self.server_addresses or self.model_id else super().identity_type

    @property
    def server_addresses(self) -> tuple[str, ...]:
        """The addresses of servers that somebody runs himself; none for a service."""
        return () if self.is_billed else self._addresses()

    def _addresses(self) -> tuple[str, ...]:
        return (self._url, *self._more_urls) if self._file is None else self._file.addresses

    @property
    def is_told_apart(self) -> bool:
        """Whether ``model_id`` is given."""
        return self.model_id is not None

    def says_of_itself(self, address: str) -> str | None:
        """Return the path or name from which a server loaded its model (vLLM's and SGLang's ``root``)."""
        self.act()
        url, headers = self._list_of_models()
        place = address if self._more_urls or self._file else url
        return root_of(place, headers, self.connect_timeout, self.named_model())

    def at(self, address: str) -> Engine:
        """Return this engine as it would ask one of its servers alone."""
        from proctor.engines.engine_registry import make_engine  # which knows all engines

        return (
            self if self.server_addresses == (address,) and not self._file else make_engine(self, {"base_url": address})
        )

    def would_do(self) -> list[Effect]:
        """Return that it asks its servers with the keys that it has for them."""
        found = super().would_do()
        for address in self._addresses()[1:] if found else ():
            net, *sent = asking(address, self.label, self._destination()[1])
            found += [net, *(each._replace(is_optional=True) for each in sent)]
        return [*found, *model_effects((self.tokenizer,) if found else (), self.author, self.label)]

    def _transport(self) -> Transport:
        found = super()._transport()
        return SeveralServers(found, self._addresses, self._url) if self._more_urls or self._file else found

    def _workers(self) -> int:
        return super()._workers() * len(self._addresses())

    def _workers_of_now(self) -> int | Callable[[], int]:
        if self._file is None:
            return self._workers()

        def workers(file: ServerFile = self._file) -> int:
            file.look()
            return self._workers()

        return workers

    def _places(self) -> list[str]:
        return [*super()._places(), *self._addresses()[1:]]

    def is_model_of(self, values: Mapping[str, Any]) -> bool:
        """Whether the values of an identity are those of this model at any address of somebody's own."""
        from proctor.engines.http.providers import speaks_as_openai  # a table that most runs do not read

        provider = values.get("provider")
        is_own = str(values.get("base_url", "")).startswith("http:") and (not provider or speaks_as_openai(provider))
        return is_own and _of_a_model(values) == self.identity_values()

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, ``max_concurrency`` at once."""
        return self._generated(requests, self._protocol())

    def _generated(self, requests: Iterable[Generate], protocol: ProviderProtocol) -> Answers:
        protocol.beginnings = self.beginnings()
        noted = requests if protocol.beginnings is None else protocol.beginnings.noted(requests)
        return self._run(noted, protocol.generate)

    def cached(self, prompts: Sequence[Prompt]) -> tuple[int, int]:
        """Return how many bytes of prompts a provider's cache is told to keep, and how many it then finds there."""
        found = self.beginnings()
        return (0, 0) if found is None else found.sizes(prompts)

    def beginnings(self) -> Beginnings | None:
        """Return what decides where prompts are marked for the provider's cache; ``None`` where none is told."""
        from proctor.engines.http.providers import cache_of  # a table that most runs do not read

        rule = cache_of(self._words_of(), self.served_name) if self.prompt_cache == "auto" else None
        return None if rule is None or not self.only_chats else Beginnings(rule)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods, by echo on the completions endpoint or as :attr:`scoring` says.

        Raises:
            UnsupportedRequestError: ``endpoint`` is not ``completions``, and ``scoring`` is ``echo``.
        """
        if not self.can_score:
            return super().score(requests)
        protocol = self._protocol()
        if self.scoring == "llamacpp":
            protocol.options = {**protocol.options, "start": self.prefix_token or self._start_of_texts()}
        return self._run(requests, protocol.score)

    def _start_of_texts(self) -> str:
        """Return what llama.cpp's server puts before texts; it is asked once."""
        if self._text_start is None:
            self.act()
            self._text_start = first_token(*self._list_of_models(), self.connect_timeout)
        return self._text_start

    @property
    def batch_api(self) -> str:
        """The provider whose batch API answers at the engine's address."""
        return provider_at(self._url)

    def batch_place(self) -> Place:
        """Return where the provider keeps what is sent in batches, as far as it has to be told."""
        return Place()

    def _protocol(self) -> ProviderProtocol:
        is_chat = self.endpoint != "completions"
        options = {
            "is_chat": is_chat,
            "stream": self.stream,
            "scoring": self.scoring,
            "reasons": self._reasons,
            "prefix_token": self.prefix_token or "",
            "tokenizer": self.tokenizer,
        }
        return OpenAIProtocol(
            self._url, self.named_model(), self.decoding_defaults(), options=options, thinking=self._thinking()
        )

    def _thinking(self) -> Thinking:
        """Return what the user says of the model's thoughts, in the words of whoever runs it."""
        order = self._thinking_order()
        return Thinking(
            self.thought_marks, order.allowance, self.wants_thoughts, order.body, order.drop, self.thinking == "off"
        )

    def _thinking_order(self) -> ThinkingOrder:
        if self.thinking is not None and self.endpoint == "completions":
            raise UsageError(
                f"thinking={self.thinking} cannot be said on the completions endpoint",
                why="it lays no prompts out, so that nobody tells the model",
                hint="use endpoint=chat, or leave thinking out and let the prompt say it",
            )
        return thinking_order(self._words_of(), self.served_name, self.thinking, self.thinking_tokens)

    def _words_of(self) -> str:
        """Return the provider whose words the server understands."""
        return provider_at(self._url)

    @property
    def served_name(self) -> str:
        """The model's name at the server."""
        return self.model

    def _address(self) -> str:
        return self.base_url or next((os.environ[name] for name in _URL_VARIABLES if os.environ.get(name)), DEFAULT_URL)

    def _address_source(self) -> str:
        return "base_url" if self.base_url else next((name for name in _URL_VARIABLES if os.environ.get(name)), "")

    def check_access(self) -> None:
        """Check that OpenAI itself gets a key.

        Raises:
            EngineError: It gets none.
        """
        if provider_at(self._url) == "open-ai" and not (self._headers() or self._has_own_key()):
            hint = f"set {self._key_variables()[0]}, or give the engine api_key=…; base_url=… asks another server"
            raise EngineError(f"'{self.label}' is at OpenAI, which needs an API key", hint=hint)

    def _destination(self) -> tuple[str, list[str], bool]:
        name = None if self.api_key is not None or self._has_own_key() else self._key_variable()
        return self._url, [name] if name else [], False

    def _key_variables(self) -> tuple[str, ...]:
        return ("OPENAI_API_KEY",)

    @property
    def top_tokens(self) -> int:
        """The number of alternatives to each token: ``top_logprobs`` where it is given."""
        return self.top_logprobs or super().top_tokens

    def decoding_defaults(self) -> dict[str, Any]:
        """Return the decoding that the fields ask for."""
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        names = ("frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "stop": stop or None,
            "extra": {**given, **(self.extra_body or {})},
        }


def _of_a_model(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of an identity's values says of the model and how it writes, and nothing of where it is."""
    found = {name: value for name, value in values.items() if value is not None}
    for name in ("base_url", "provider"):
        found.pop(name, None)
    if found.get("endpoint") != "completions":
        found.pop("endpoint", None)
    return found


def normal_url(address: str) -> str:
    """Return the base URL that routes are appended to.

    ``http://host:8000``, ``http://host:8000/``, ``…/v1/`` and ``…/v1/chat/completions`` all become
    ``http://host:8000/v1``. A path that names a version anywhere is kept as it is.
    """
    url = with_http(address)
    for route in _ROUTES:
        url = url.removesuffix(route)
    has_version = any(_VERSION.match(segment) for segment in urlsplit(url).path.split("/"))
    return url if has_version else f"{url}/v1"


def with_http(address: str) -> str:
    """Return an address with its scheme, without slashes and blanks around it."""
    url = address.strip()
    return (url if "://" in url else f"http://{url}").rstrip("/")
