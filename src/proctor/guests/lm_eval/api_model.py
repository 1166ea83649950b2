"""``lm_eval.models.api_models``: the class that models behind a server of one's own kind derive from.

A class says what is posted (``_create_payload``) and how replies are read (``parse_generations``, ``parse_logprobs``);
perhaps ``api_key``, ``header`` and ``create_message``. Posting, asking again and asking many at once are the engines'.
"""

from __future__ import annotations

import asyncio
import copy
import json
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from inspect import signature
from itertools import groupby
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import msgspec

from proctor.engines.http.retry import RetryPolicy
from proctor.engines.http.retrying_client import Caller, CallError
from proctor.engines.http.transport import AiohttpTransport
from proctor.errors import EngineError, UsageError
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.model import TemplateLM
from proctor.guests.lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from proctor.logs import get_logger
from proctor.secrets import cleaned, keep

T = TypeVar("T")
_CONNECT_SECONDS: Final = 10.0
"""A server that is there accepts a connection at once; engines wait as long."""


LogLikelihoodInputs = tuple[tuple[str, str], list[int], list[int]]
"""What :meth:`TemplateLM._loglikelihood_tokens` gets of a request: its texts, and the tokens of both."""


class JsonChatStr(NamedTuple):
    """Messages of a chat as JSON, which ``create_message`` reads again."""

    prompt: str

    def encode(self, encoding: str) -> bytes:
        """Return the text's bytes."""
        return self.prompt.encode(encoding)


class TemplateAPI(TemplateLM):
    """A model behind a server.

    A class that posts requests itself is asked to: by ``amodel_call`` where ``num_concurrent`` is above 1 or it has no
    ``model_call`` of its own.

    Args:
        model, pretrained: Its name there; ``model`` counts first.
        base_url: Where requests are posted.
        tokenizer, tokenizer_backend: A tokenizer of transformers by name (by default the model's), tiktoken's, or none;
            likelihoods need one, to know where a continuation begins.
        truncate: Kept for classes that read it.
        num_concurrent: Requests that are sent at once.
        max_retries: Attempts after the first.
        max_gen_toks: Most tokens of an answer where a request does not say.
        batch_size: Requests that are posted together.
        seed: Handed to ``_create_payload``.
        max_length: Most tokens that the model reads, one of them its own.
        add_bos_token, custom_prefix_token_id: The first token.
        tokenized_requests: Whether tokens are posted, or texts.
        eos_string: What ends an answer; by default the tokenizer's.
        timeout: Seconds for one request with all its attempts.
        header: Sent with each request in place of ``Authorization``.
        auth_token: Kept for classes that read it.
        verify_certificate, ca_cert_path, revision, trust_remote_code, use_fast_tokenizer, max_images: As they are by
            default; nothing else can be had.

    Raises:
        UsageError: An argument asks for what cannot be had, or the class changes what is never called.
    """

    MULTIMODAL = False

    uncalled: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("get_batched_requests", "batch_loglikelihood_requests"),
        "requests are put together here: say how one is posted in model_call or amodel_call, or derive from LM",
    )

    def __init__(  # noqa: PLR0917 - the order of lm-eval's own arguments
        self,
        model: str | None = None,
        pretrained: str | None = None,
        base_url: str | None = None,
        tokenizer: str | None = None,
        tokenizer_backend: str | None = "huggingface",
        truncate: bool = False,
        num_concurrent: int = 1,
        max_retries: int = 3,
        max_gen_toks: int = 256,
        batch_size: str | int = 1,
        seed: int = 1234,
        max_length: int | None = 2048,
        add_bos_token: bool = False,
        custom_prefix_token_id: int | None = None,
        tokenized_requests: bool = True,
        eos_string: str | None = None,
        timeout: float = 300,
        header: Mapping[str, str] | None = None,
        auth_token: str | None = None,
        **fixed: Any,
    ) -> None:
        super().__init__()
        _check_fixed(fixed)
        keep(auth_token)
        self.model, self.base_url = model or pretrained, base_url
        self.tokenizer_backend = None if tokenizer_backend in (None, "None", "none") else tokenizer_backend
        self.tokenizer = _tokenizer(self.tokenizer_backend, tokenizer or self.model)
        self.tokenized_requests = tokenized_requests and self.tokenizer is not None
        self.max_length = (max_length or _MAX_LENGTH) - 1  # the last one is the model's own
        self.add_bos_token, self.custom_prefix_token_id = add_bos_token, custom_prefix_token_id
        self.max_retries, self.timeout, self.auth_token = int(max_retries), float(timeout), auth_token
        self._truncate, self._header, self._eos_string = truncate, header, eos_string
        self.verify_certificate = True
        self._concurrent, self._max_gen_toks, self._seed = max(int(num_concurrent), 1), int(max_gen_toks), int(seed)
        self._batch_size = _together(batch_size)

    # -- what a class says --------------------------------------------------------------------------------------------

    @abstractmethod
    def _create_payload(
        self,
        messages: Any,
        *,
        generate: bool = True,
        gen_kwargs: dict[str, Any] | None = None,
        seed: int = 1234,
        eos: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return what is posted, as JSON."""

    @staticmethod
    @abstractmethod
    def parse_generations(outputs: Any, **kwargs: Any) -> list[str]:
        """Return the texts of a reply."""

    @staticmethod
    @abstractmethod
    def parse_logprobs(
        outputs: Any, tokens: list[list[int]] | None = None, ctxlens: list[int] | None = None, **kwargs: Any
    ) -> list[tuple[float, bool]]:
        """Return likelihoods of what follows ``ctxlens`` tokens, and whether they are what the model would write."""

    @cached_property
    def api_key(self) -> str:
        """The key, which goes where ``base_url`` says."""
        return ""

    @cached_property
    def header(self) -> Mapping[str, str]:
        """What is sent with each request."""
        return self._header or {"Authorization": f"Bearer {self.api_key}"}

    def create_message(self, messages: Sequence[Any], generate: bool = False) -> Any:
        """Return prompts as ``_create_payload`` gets them: messages, tokens, one text, or several.

        Raises:
            UsageError: Several chats are to be posted together.
        """
        del generate
        if isinstance(messages[0], JsonChatStr):
            if len(messages) > 1:
                raise UsageError("chats are posted one by one", hint="batch_size=1")
            return json.loads(messages[0].prompt)
        if self.tokenized_requests:
            return list(messages)
        texts = self.decode_batch(messages) if not isinstance(messages[0], str) else list(messages)
        return texts[0] if self._batch_size <= 1 else texts

    # -- tokens -------------------------------------------------------------------------------------------------------

    @property
    def tokenizer_name(self) -> str:
        """Name of the tokenizer, for caches."""
        return ""

    def apply_chat_template(  # type: ignore[override]
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str | JsonChatStr:
        """Return a chat as text by the tokenizer where tokens are posted, else as messages."""
        if not self.tokenized_requests:
            return JsonChatStr(json.dumps(chat_history, ensure_ascii=False))
        return str(
            self.tokenizer.apply_chat_template(
                chat_history,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=not add_generation_prompt,
            )
        )

    @property
    def eot_token_id(self) -> int:
        """The token that ends a text."""
        name = "eot_token" if self.tokenizer_backend == "tiktoken" else "eos_token_id"
        return int(getattr(self._needed_tokenizer, name))

    @property
    def prefix_token_id(self) -> int:
        """The token before a text that has nothing before it."""
        own = self.custom_prefix_token_id
        first = getattr(self._needed_tokenizer, "bos_token_id", None) if own is None else own
        return self.eot_token_id if first is None else int(first)

    @cached_property
    def eos_string(self) -> str | None:
        """What ends an answer."""
        if self._eos_string or self.tokenizer is None:
            return self._eos_string
        is_plain = self.tokenizer_backend == "tiktoken"
        return str(self.tokenizer.decode([self.eot_token_id]) if is_plain else self.tokenizer.eos_token)

    def tok_encode(
        self, string: str, left_truncate_len: int | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[int]:
        """Return a text's tokens, the last ``left_truncate_len`` of them."""
        del kwargs
        if self.tokenizer_backend == "tiktoken":
            tokens = self._needed_tokenizer.encode(string)
        else:
            special = add_special_tokens or self.add_bos_token
            tokens = self._needed_tokenizer.encode(string, add_special_tokens=special)
        return list(tokens[-left_truncate_len:] if left_truncate_len else tokens)

    def decode_batch(self, tokens: Sequence[Sequence[int]]) -> list[str]:
        """Return the texts of tokens."""
        return [str(self._needed_tokenizer.decode(each)) for each in tokens]

    @property
    def _needed_tokenizer(self) -> Any:
        if self.tokenizer is None:
            raise UsageError(
                f"{type(self).__name__} has no tokenizer",
                why="likelihoods need one, to know where a continuation begins",
                hint="tokenizer='…', tokenizer_backend='huggingface'",
            )
        return self.tokenizer

    # -- asking -------------------------------------------------------------------------------------------------------

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return what the model writes after each context; ``None`` where a reply has no text."""
        del disable_tqdm
        places = sorted(
            range(len(requests)), key=lambda place: json.dumps(requests[place].args[1], sort_keys=True, default=str)
        )
        asked: list[_Asked] = []
        for _, group in groupby(places, key=lambda place: requests[place].args[1]):
            for some in _chunked(list(group), self._batch_size):
                contexts, how = [requests[place].args[0] for place in some], requests[some[0]].args[1]
                asked.append(_Asked(some, self._cut(contexts, how), how, contexts))
        return self._answered(asked)

    def _cut(self, contexts: list[Any], how: Mapping[str, Any]) -> list[Any]:
        """Return contexts as tokens, where tokens are posted: their ends, so that the answer fits behind them."""
        if not self.tokenized_requests:
            return contexts
        room = max(self.max_length - int(how.get("max_gen_toks", self._max_gen_toks)), 1)
        tokens = [self.tok_encode(each) for each in contexts]
        if any(len(each) > room for each in tokens):
            get_logger().warning("contexts of more than %d tokens lost their beginning, so that answers fit", room)
        return [each[-room:] for each in tokens]

    def _payload(self, messages: Sequence[Any], how: Mapping[str, Any] | None) -> dict[str, Any]:
        more: dict[str, Any] = {"gen_kwargs": copy.deepcopy(how), "seed": self._seed, "eos": self.eos_string}
        message = self.create_message(messages) if how is None else self.create_message(messages, generate=True)
        return self._create_payload(message, generate=how is not None, **more)

    def _loglikelihood_tokens(self, requests: list[Any], **kwargs: Any) -> list[tuple[float, bool]]:
        del kwargs
        asked = []
        for some in _chunked(list(range(len(requests))), self._batch_size):
            pairs = [(requests[place][1], requests[place][2]) for place in some]
            inputs = [(context + rest)[-self.max_length :] for context, rest in pairs]
            starts = [len(each) - len(rest) for each, (_, rest) in zip(inputs, pairs, strict=True)]
            asked.append(_Asked(some, inputs, None, starts=starts))
        return self._answered(asked)

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Return the log-likelihood of each whole text."""
        del disable_tqdm
        counts, windows = [], []
        for each in requests:
            tokens = self.tok_encode(each.args[0])
            cut = get_rolling_token_windows(tokens, self.prefix_token_id, self.max_length - 1, 1)
            made = [(("", ""), *make_disjoint_window(window)) for window in cut]
            counts.append(len(made))
            windows += made
        values = iter(self._loglikelihood_tokens(windows))
        return [sum(next(values)[0] for _ in range(count)) for count in counts]

    def model_call(
        self, messages: Any, *, generate: bool = True, gen_kwargs: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        """Return the reply to requests that are posted together."""
        del kwargs
        return self._replies([self._payload(messages, gen_kwargs or {} if generate else None)])[0]

    async def amodel_call(
        self,
        session: Any,
        sem: asyncio.Semaphore,
        messages: Any,
        *,
        gen_kwargs: dict[str, Any] | None = None,
        ctxlens: Sequence[int] = (),
        **kwargs: Any,
    ) -> Sequence[Any]:
        """Return the answers to requests that are posted together."""
        del session
        generate = bool(kwargs.get("generate", True))
        async with sem:
            reply = await asyncio.to_thread(self.model_call, messages, generate=generate, gen_kwargs=gen_kwargs)
        return self._read(_Asked((), messages, gen_kwargs or {} if generate else None, messages, list(ctxlens)), reply)

    def _read(self, asked: _Asked, reply: Any) -> Sequence[Any]:
        if asked.how is not None:
            return self.parse_generations(outputs=reply, contexts=asked.contexts)
        replies = reply if isinstance(reply, list) else [reply]
        return self.parse_logprobs(outputs=replies, tokens=asked.messages, ctxlens=asked.starts)

    def _answered(self, asked: Sequence[_Asked]) -> list[Any]:
        """Return the answers to requests, in their order."""
        own = [
            name for name in ("model_call", "amodel_call") if getattr(type(self), name) != getattr(TemplateAPI, name)
        ]
        if own:
            answers = _in_thread(self._by_itself(asked, own[-1] if self._concurrent > 1 else own[0]))
        else:
            replies = self._replies([self._payload(each.messages, each.how) for each in asked])
            answers = [self._read(each, reply) for each, reply in zip(asked, replies, strict=True)]
        found: dict[int, Any] = {}
        for each, values in zip(asked, answers, strict=True):
            if len(values) != len(each.places):
                raise EngineError(
                    f"{type(self).__name__} reads {len(values)} answers in the reply to {len(each.places)} requests",
                    hint="parse_generations and parse_logprobs return one for each",
                )
            found.update(zip(each.places, values, strict=True))
        return [found[place] for place in range(len(found))]

    async def _by_itself(self, asked: Sequence[_Asked], method: str) -> list[Sequence[Any]]:
        """Return what the class's own method of posting answers, which is called again where it raises."""
        room, own = asyncio.Semaphore(self._concurrent), getattr(self, method)
        takes = signature(own).parameters

        async def once(each: _Asked, session: Any) -> Sequence[Any]:
            told = {"messages": each.messages, "generate": each.how is not None}
            told |= {"gen_kwargs": copy.deepcopy(each.how)} if each.how is not None else {}
            if method == "model_call":
                return self._read(each, own(**told))
            more = {"session": session, "sem": room, "cache_keys": [], "ctxlens": each.starts}
            more = {name: value for name, value in more.items() if name in takes}
            return await own(**told, **more)  # type: ignore[no-any-return]

        async def again(each: _Asked, session: Any) -> Sequence[Any]:
            for attempt in range(self.max_retries - 1):
                try:
                    return await once(each, session)
                except Exception as error:  # noqa: BLE001 - whatever a program raises, as in lm-eval
                    get_logger().warning("%s.%s is called again: %s", type(self).__name__, method, cleaned(str(error)))
                    await asyncio.sleep(min(2.0 ** (attempt - 1), _CONNECT_SECONDS))
            return await once(each, session)

        from aiohttp import ClientSession

        async with ClientSession() as session:
            return list(await asyncio.gather(*(again(each, session) for each in asked)))

    def _replies(self, payloads: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the replies to what is posted, in order."""
        if not self.base_url:
            raise UsageError(f"{type(self).__name__} has no base_url", why="nothing says where requests go")
        keep(self.api_key)
        return _in_thread(self._posted(self.base_url, payloads))

    async def _posted(self, url: str, payloads: Sequence[Mapping[str, Any]]) -> list[Any]:
        transport = AiohttpTransport(self._concurrent, _CONNECT_SECONDS)
        policy = RetryPolicy(self.max_retries, timeout_seconds=self.timeout, attempt_seconds=self.timeout)
        caller, room = Caller(transport, self.header, policy), asyncio.Semaphore(self._concurrent)

        async def post(payload: Mapping[str, Any]) -> Any:
            async with room:
                return (await caller.call(url, payload, _READ))[0]

        try:
            return list(await asyncio.gather(*(post(each) for each in payloads)))
        except CallError as error:
            raise EngineError(f"{type(self).__name__} got no answer: {error.failure.message}") from None
        finally:
            await transport.close()


class _Asked(NamedTuple):
    """Requests that are posted together: their places, texts or tokens, and how to generate or where contexts end."""

    places: Sequence[int]
    messages: list[Any]
    how: Mapping[str, Any] | None
    contexts: list[Any] = []
    starts: list[int] = []


def _in_thread(work: Coroutine[Any, Any, list[T]]) -> list[T]:
    """Return what becomes of work, in a thread of its own: a notebook's runs a loop already."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


_READ: Final[Callable[[bytes], Any]] = msgspec.json.decode
_MAX_LENGTH: Final = 2048
"""lm-eval's default."""
_FIXED: Final[Mapping[str, tuple[Any, str]]] = {
    "verify_certificate": (True, "certificates are always checked"),
    "ca_cert_path": (None, "the certificates of the system are used: set SSL_CERT_FILE to another file"),
    "revision": ("main", "name the folder of a tokenizer of another revision"),
    "trust_remote_code": (False, "no code of a tokenizer's is run"),
    "use_fast_tokenizer": (True, "the tokenizer is the fast one where there is one"),
    "max_images": (1, "requests hold no pictures"),
}
"""Arguments of lm-eval's class that have one value here, and why."""


def _together(batch_size: str | int) -> int:
    """Return how many requests are posted together; as in lm-eval, ``auto`` is one."""
    said = str(batch_size)
    if said.isdigit():
        return int(said)
    if said.partition(":")[0] == "auto":
        get_logger().warning(
            "batch_size=%s: what a server takes is not tried out; requests are posted one by one", said
        )
        return 1
    raise UsageError(f"batch_size cannot be {batch_size!r}", why="it is a number of requests, or auto")


def _check_fixed(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in _FIXED:
            raise UsageError(f"TemplateAPI has no argument '{name}'", hint="take it in the __init__ of your class")
        usual, why = _FIXED[name]
        if value not in (usual, None):
            raise UsageError(f"{name} cannot be {value!r}", why=why)


def _tokenizer(backend: str | None, name: str | None) -> Any:
    if backend is None:
        return None
    if backend == "huggingface" and name:
        from proctor.formats.tokenizer import load_tokenizer

        return load_tokenizer(name)
    if backend == "tiktoken" and name:
        from importlib import import_module

        return import_module("tiktoken").encoding_for_model(name)
    raise UsageError(
        f"tokenizer_backend is '{backend}'",
        why="a model or a tokenizer is named for huggingface and tiktoken" if not name else "it is another one",
        hint="huggingface, tiktoken, or None",
    )


def _chunked(places: Sequence[int], size: int) -> Iterator[list[int]]:
    step = max(size, 1)
    return (list(places[start : start + step]) for start in range(0, len(places), step))
