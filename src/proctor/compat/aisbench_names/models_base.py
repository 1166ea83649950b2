"""AISBench's models behind a server: what they send, and what they read out of a reply.

Exams ask through Proctor's engines; programs that hold such a model find here what they call.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any, ClassVar
from urllib.parse import urljoin, urlsplit, urlunsplit

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.global_constants import REQUEST_TIME_OUT
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.aisbench_names.template_parsing import APITemplateParser
from proctor.compat.opencompass_names.prompting import LMTemplateParser
from proctor.engines.http.served_models import first_model
from proctor.engines.http.transport import EVENT_STREAM, AiohttpTransport
from proctor.errors import EngineError, TemplateError
from proctor.templates import PromptList

_ASKED_SECONDS = 5.0  # upstream's patience with a server's list of models
_ANSWERED_SECONDS = 3_600.0  # a request is not given up before: upstream waits for ever
_OK = 200
_DONE = "[DONE]"
_SHOWN = 500  # characters of a reply that an error shows
_EVENTS = re.compile(rb"\r\n\r\n|\n\n|\r\r")


PromptType = PromptList | str


def __getattr__(name: str) -> Any:
    if name != "AIOHTTP_TIMEOUT":
        raise AttributeError(name)
    from aiohttp import ClientTimeout

    return ClientTimeout(total=REQUEST_TIME_OUT)


def _first_model(url: str, headers: Mapping[str, str]) -> str:
    """Return the name of the first model that a server lists; of a program's own ``requests.get`` if it has one."""
    requests = sys.modules.get("requests")
    if requests is None or requests.get is requests.api.get:
        return first_model(url, headers, _ASKED_SECONDS)
    reply = requests.get(f"{url}/models", headers=headers, timeout=_ASKED_SECONDS)
    reply.raise_for_status()
    return str(reply.json()["data"][0]["id"])


def _not_here(family: str, code: str, what: str) -> Exception:
    return failure("AISBenchNotImplementedError", family, code, what)


class BaseModel:
    """A model, as a base: programs derive their own from it.

    Args:
        path: Where it is.
        max_seq_len: Most tokens that it takes.
        tokenizer_only: Whether only its tokenizer is wanted.
        meta_template: How it wants dialogues laid out.
        generation_kwargs: How it generates.
        sync_rank: Kept for programs.

    Attributes:
        is_api: Whether it is behind a server.
        is_synthetic: Whether it is asked made-up questions.
    """

    is_api = False
    is_synthetic = False

    def __init__(
        self,
        path: str,
        max_seq_len: int = 2048,
        tokenizer_only: bool = False,
        meta_template: Mapping[str, Any] | None = None,
        generation_kwargs: Mapping[str, Any] | None = None,
        sync_rank: bool = False,
    ) -> None:
        self.logger = AISLogger()
        self.path, self.max_seq_len, self.tokenizer_only = path, max_seq_len, tokenizer_only
        self.template_parser: Any = with_parser(LMTemplateParser, meta_template)
        self.eos_token_id = (meta_template or {}).get("eos_token_id")
        self.generation_kwargs = generation_kwargs if generation_kwargs is not None else {}
        self.sync_rank = sync_rank

    def generate(self, *_: Any, **__: Any) -> Any:
        """Return answers.

        Raises:
            AISBenchNotImplementedError: This class is a base.
        """
        raise self._lacks("generate")

    def encode(self, prompt: str) -> Any:
        """Return the tokens of a text.

        Raises:
            AISBenchNotImplementedError: The model has no such step.
        """
        raise self._lacks("encode", prompt)

    def decode(self, tokens: Any) -> str:
        """Return the text of tokens.

        Raises:
            AISBenchNotImplementedError: The model has no such step.
        """
        raise self._lacks("decode", tokens)

    def get_token_len(self, prompt: str) -> Any:
        """Return how many tokens a text has: a model's own step, and nothing here."""

    def set_synthetic(self) -> None:
        """Note that questions are made up."""
        self.is_synthetic = True

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a prompt as the model wants it."""
        return self.template_parser.parse_template(prompt_template, mode)

    def get_token_len_from_template(self, templates: Any, mode: str = "ppl") -> Any:
        """Return how many tokens a prompt has, or each of a list of prompts."""
        prompts = self.parse_template(templates, mode=mode)
        if isinstance(prompts, list) and not isinstance(prompts, PromptList):
            return [self.get_token_len(str(each)) for each in prompts]
        return self.get_token_len(str(prompts))

    def to(self, device: Any) -> None:
        """Move the model that a program has put into ``model``."""
        self.model: Any
        self.model.to(device)

    def _lacks(self, step: str, *_: Any) -> Exception:
        return _not_here("MODEL_CODES", "UNKNOWN_ERROR", f"{type(self).__name__} does not have '{step}'")


class BaseLMModel(BaseModel):
    """A model in this process, as a base: it generates nothing."""

    def generate(self, inputs: Any, outputs: Any, **kwargs: Any) -> Any:
        """Return nothing.

        Raises:
            AISBenchNotImplementedError: This class is a base.
        """
        del inputs, outputs, kwargs
        raise _not_here("MODEL_CODES", "UNKNOWN_ERROR", f"{type(self).__name__} is a base, and generates nothing")


class MockAISLogger(AISLogger):
    """A logger that says only what is wrong: models are made twice, and would say everything twice."""

    def debug(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Say nothing."""

    def info(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Say nothing."""


class BaseAPIModel(BaseModel):
    """A model behind a server.

    Args:
        path: The folder of the tokenizer; nothing reads it.
        stream: Whether replies come in pieces.
        max_out_len: Most tokens of an answer.
        retry: How often a request is sent at most.
        host_ip: Where the server is.
        host_port: Its port.
        url: Its whole address, in place of both.
        meta_template: How it wants dialogues laid out.
        generation_kwargs: What every request says beside the prompt.
        enable_ssl: Whether ``https`` is spoken.
        verbose: Kept for programs.
        api_key: The server's key.
    """

    is_api = True

    def __init__(  # noqa: PLR0917 - AISBench's signature
        self,
        path: str = "",
        stream: bool = False,
        max_out_len: int = 2048,
        retry: int = 2,
        host_ip: str = "localhost",
        host_port: int = 8080,
        url: str = "",
        meta_template: Mapping[str, Any] | None = None,
        generation_kwargs: Mapping[str, Any] | None = None,
        enable_ssl: bool = False,
        verbose: bool = False,
        api_key: str = "",
    ) -> None:
        self.logger = AISLogger()
        self.path, self.stream, self.max_out_len, self.retry = path, stream, max_out_len, retry
        self.host_ip, self.host_port, self.url, self.enable_ssl = host_ip, host_port, url, enable_ssl
        self.headers = {"Content-Type": "application/json"}
        if api_key:
            self.headers["Authorization"] = f"Bearer {api_key}"
        self.meta_template = meta_template or None
        self.generation_kwargs = generation_kwargs if generation_kwargs is not None else {}
        self.verbose = verbose
        self.session: Any = None
        self.template_parser: Any = with_parser(APITemplateParser, self.meta_template)
        self.base_url = self._get_base_url()

    def _get_base_url(self) -> str:
        """Return where the server is; what follows the host ends in a slash, so that nothing of it is lost."""
        scheme = "https" if self.enable_ssl else "http"
        given = self.url.strip() if isinstance(self.url, str) else ""
        if given:
            parts = urlsplit(given if given.startswith(("http://", "https://")) else f"{scheme}://{given}")
            whole = not parts.path or parts.path.endswith("/")
            return urlunsplit(parts if whole else parts._replace(path=f"{parts.path}/"))
        return f"{scheme}://{_bracketed(self.host_ip)}:{self.host_port}/"

    def _get_service_model_path(self) -> str:
        """Return the name of the first model that the server lists.

        Raises:
            AISBenchRuntimeError: It lists none, or cannot be asked.
        """
        try:
            return _first_model(f"{self.base_url}v1", self.headers)
        except (EngineError, OSError, LookupError, TypeError) as error:
            code = "GET_SERVICE_MODEL_PATH_FAILED"
            raise failure("AISBenchRuntimeError", "MODEL_CODES", code, str(error)) from error

    def _get_url(self) -> str:
        what = f"{type(self).__name__} has no address of its own"
        raise _not_here("MODEL_CODES", "UNKNOWN_ERROR", what)

    async def iter_lines(self, stream: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yield the events of a stream: what stands between empty lines, however it is cut into pieces."""
        pending = b""
        async for chunk in stream:
            *whole, pending = _EVENTS.split(pending + chunk)
            for each in whole:
                if each:
                    yield each
        if pending:
            yield pending

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        del input_data, max_out_len, output, args
        what = f"{type(self).__name__} makes no requests"
        raise _not_here("MODEL_CODES", "UNKNOWN_ERROR", what)

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        del api_response, output
        raise _not_here(
            "MODEL_CODES", "PARSE_TEXT_RSP_NOT_IMPLEMENTED", f"{type(self).__name__} reads no replies that come whole"
        )

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        del api_response, output
        raise _not_here(
            "MODEL_CODES",
            "PARSE_STREAM_RSP_NOT_IMPLEMENTED",
            f"{type(self).__name__} reads no replies that come in pieces",
        )

    async def get_ppl_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request for the losses of a prompt."""
        del input_data, max_out_len, output, args
        raise _not_here(
            "ICLI_CODES", "IMPLEMENTATION_ERROR_PPL_METHOD_NOT_IMPLEMENTED", f"{type(self).__name__} measures no losses"
        )

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        del data
        raise _not_here(
            "ICLI_CODES", "IMPLEMENTATION_ERROR_PPL_METHOD_NOT_IMPLEMENTED", f"{type(self).__name__} measures no losses"
        )

    def _calc_ppl(self, prompt_logprobs: list[Any]) -> float:
        """Return the mean loss of the tokens that have one.

        Raises:
            AISBenchImplementationError: None has.
        """
        values: list[float] = [next(iter(each.values()))["logprob"] for each in prompt_logprobs if each is not None]
        if not values:
            what = "no token of the prompt has a log-probability, so that there is no mean"
            raise failure("AISBenchImplementationError", "ICLI_CODES", "PPL_COMPUTE_ERROR_NO_VALID_TOKENS", what)
        return -sum(values) / len(values)

    async def generate(
        self, input_data: Any, max_out_len: int, output: Output, session: Any = None, **args: Any
    ) -> Any:
        """Ask, and write what comes back into an answer; a failure is written there, too.

        Args:
            input_data: The prompt, as :meth:`parse_template` returns it.
            max_out_len: Most tokens of the answer.
            output: The answer.
            session: A session of aiohttp that the program made, to ask through; Proctor's connections without one.
            **args: What :meth:`get_request_body` takes beside them.
        """
        self.session = session
        body = await self.get_request_body(input_data, max_out_len, output, **args)
        await self._tried(
            lambda: self.stream_infer(body, output) if self.stream else self.text_infer(body, output), output
        )
        return output

    async def get_ppl(self, input_data: Any, max_out_len: int, output: Any, session: Any = None, **args: Any) -> None:
        """Measure the mean loss of a prompt's tokens, and write it into an answer, or why there is none.

        Args:
            input_data: The prompt, as :meth:`parse_template` returns it.
            max_out_len: Most tokens of the answer, which nobody reads.
            output: The answer: a ``PPLRequestOutput``.
            session: As of :meth:`generate`.
            **args: What :meth:`get_ppl_request_body` takes beside them.
        """
        self.session = session
        body = await self.get_ppl_request_body(input_data, max_out_len, output, **args)

        async def ask() -> None:
            status, reason, text = await self._whole(body)
            if status != _OK:
                output.success, output.error_info = False, reason
                return
            output.origin_prompt_logprobs = self.get_prompt_logprobs(_parsed(text, output))
            output.ppl = self._calc_ppl(output.origin_prompt_logprobs)
            output.success = True

        await self._tried(ask, output)

    async def _tried(self, ask: Callable[[], Awaitable[None]], output: Output) -> None:
        for attempt in range(1, self.retry + 1):
            try:
                await ask()
                break
            except asyncio.CancelledError:
                output.success, output.error_info = False, "the request was cancelled"
                raise
            except Exception as error:  # noqa: BLE001 - servers, sessions and parsers of programs: the answer says it
                output.success = False
                output.error_info = f"after {attempt} attempts: {type(error).__name__}: {error}"
                await output.clear_time_points()

    async def text_infer(self, request_body: Any, output: Output) -> None:
        """Ask once for an answer that comes whole, and write it down.

        Raises:
            AISBenchValueError: The reply is no JSON.
        """
        await output.record_time_point()
        status, reason, text = await self._whole(request_body)
        if status != _OK:
            output.success, output.error_info = False, reason
            return
        await output.record_time_point()
        await self.parse_text_response(_parsed(text, output), output)
        output.success = True

    async def stream_infer(self, request_body: Any, output: Output) -> None:
        """Ask once for an answer that comes in pieces, and write it down; each piece has its point in time.

        Raises:
            AISBenchValueError: A piece is no JSON.
        """
        await output.record_time_point()
        if self.session is None:
            reply = await self._post(request_body, {"Accept": EVENT_STREAM})
            if reply.status == _OK:
                sent = output.time_points[-1] if output.time_points else 0.0
                if output.perf_mode:
                    output.time_points += [sent + seconds for seconds in reply.piece_seconds]
                for event in _EVENTS.split(reply.body):
                    await self._take_piece(event, output)
            output.success, output.error_info = _judged(reply.status, f"the server answered {reply.status}", output)
            return
        async with self.session.post(url=self.url, json=request_body, headers=self.headers) as response:
            if response.status == _OK:
                async for event in self.iter_lines(response.content):
                    if _words(event) == _DONE:
                        break
                    if _words(event):
                        await output.record_time_point()
                    await self._take_piece(event, output)
            output.success, output.error_info = _judged(response.status, response.reason, output)

    async def _take_piece(self, event: bytes, output: Output) -> None:
        words = _words(event)
        if words and words != _DONE:
            await self.parse_stream_response(_parsed(words, output), output)

    async def _whole(self, body: Any) -> tuple[int, str, str]:
        """Return status, reason and words of a reply that comes whole."""
        if self.session is None:
            reply = await self._post(body, {})
            return reply.status, f"the server answered {reply.status}", reply.body.decode("utf-8", "replace")
        async with self.session.post(url=self.url, json=body, headers=self.headers) as response:
            return response.status, response.reason, await response.text() if response.status == _OK else ""

    async def _post(self, body: Any, more: Mapping[str, str]) -> Any:
        transport = AiohttpTransport(1, _ASKED_SECONDS)
        try:
            written = json.dumps(body).encode()
            return await transport.post(self.url, written, {**self.headers, **more}, _ANSWERED_SECONDS)
        finally:
            await asyncio.shield(transport.close())


def _words(event: bytes) -> str:
    """Return what a piece of a stream says; of remarks nothing."""
    text = event.decode().strip()
    return "" if text.startswith(":") else text.removeprefix("data:").strip()


def _judged(status: int, reason: str, output: Output) -> tuple[bool, str]:
    return (True, output.error_info) if status == _OK else (False, reason)


def _parsed(text: str, output: Output) -> Any:
    """Return what a reply says.

    Raises:
        AISBenchValueError: It is no JSON; the answer says what it is.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        output.success, output.error_info = False, f"the server answered with what is no JSON: {text[:_SHOWN]}"
        code = "PARSE_TEXT_RSP_INVALID_FORMAT"
        raise failure("AISBenchValueError", "MODEL_CODES", code, output.error_info) from error


def with_parser(kind: Any, meta_template: Any) -> Any:
    """Return what lays out prompts by a meta template.

    Raises:
        AISBenchTypeError: It cannot be one.
    """
    try:
        return kind(meta_template)
    except TemplateError as error:
        code = "INVALID_TYPE_OF_PARAM_IN_META_TEMPLATE"
        raise failure("AISBenchTypeError", "MODEL_CODES", code, str(error)) from error


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if isinstance(ip_address(host), IPv6Address) else host
    except ValueError:
        return host  # a name


class ServedModel(BaseAPIModel):
    """A model with an address below that of the server.

    Attributes:
        endpoints: The end of the address, where replies come whole and where they come in pieces.
    """

    endpoints: ClassVar[tuple[str, str]] = ("", "")

    def __init__(self, path: str = "", *arguments: Any, **settings: Any) -> None:
        settings.pop("trust_remote_code", None)  # no code of a model runs here
        super().__init__(path, *arguments, **{"max_out_len": 4096, **settings})
        self.url = self._get_url()

    def _get_url(self) -> str:
        return urljoin(self.base_url, self.endpoints[bool(self.stream)])

    async def _parse_usage(self, json_content: Mapping[str, Any], output: Output) -> None:
        if usage := json_content.get("usage"):
            output.input_tokens = usage.get("prompt_tokens", 0)
            output.output_tokens = usage.get("completion_tokens", 0)


def older_name(kind: type, name: str, *, stream: bool = True) -> type:
    """Return a model under its older name, which says how replies come."""

    def made(self: Any, *arguments: Any, **settings: Any) -> None:
        settings.pop("custom_client", None)
        kind.__init__(self, *arguments, **{**settings, "stream": stream})  # type: ignore[misc]
        self.logger.warning("%s is the older name of %s with stream=%s", name, kind.__name__, stream)

    return type(
        name, (kind,), {"__init__": made, "__module__": kind.__module__, "__doc__": f"Older name of {kind.__name__}."}
    )
