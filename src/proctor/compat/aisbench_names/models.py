"""AISBench's models behind a server: what they send, and what they read out of a reply.

Exams ask through Proctor's engines; programs that hold such a model find here what they call.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from ipaddress import IPv6Address, ip_address
from typing import Any, ClassVar
from urllib.parse import urljoin, urlsplit, urlunsplit

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.opencompass_names.prompting import APITemplateParser, LMTemplateParser
from proctor.engines.http.served_models import first_model
from proctor.engines.http.transport import EVENT_STREAM, AiohttpTransport, Reply, TransportError
from proctor.errors import EngineError, TemplateError

_ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_CHAT: Mapping[str, Any] = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
_ASKED_SECONDS = 5.0  # upstream's patience with a server's list of models
_ANSWERED_SECONDS = 3_600.0  # a request is not given up before: upstream waits for ever
_OK = 200
_EVENTS = re.compile(rb"\r\n\r\n|\n\n|\r\r")


def _not_here(code: Any, what: str) -> Exception:
    kind: type[Exception] = errors.AISBenchNotImplementedError  # type: ignore[attr-defined]
    return kind(code, what)


class BaseModel:
    """A model.

    Attributes:
        is_api: Whether it is behind a server.
    """

    is_api = False


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
        self.template_parser: Any = _parser(APITemplateParser, self.meta_template)
        self.base_url = self._get_base_url()

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a prompt as the model wants it."""
        return self.template_parser.parse_template(prompt_template, mode)

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
            return first_model(f"{self.base_url}v1", self.headers, _ASKED_SECONDS)
        except EngineError as error:
            kind = errors.AISBenchRuntimeError  # type: ignore[attr-defined]
            code = error_codes.MODEL_CODES.GET_SERVICE_MODEL_PATH_FAILED  # type: ignore[attr-defined]
            raise kind(code, str(error)) from error

    def _get_url(self) -> str:
        code = error_codes.MODEL_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} has no address of its own")

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
        code = error_codes.MODEL_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} makes no requests")

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        del api_response, output
        code = error_codes.MODEL_CODES.PARSE_TEXT_RSP_NOT_IMPLEMENTED  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} reads no replies that come whole")

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        del api_response, output
        code = error_codes.MODEL_CODES.PARSE_STREAM_RSP_NOT_IMPLEMENTED  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} reads no replies that come in pieces")

    async def get_ppl_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request for the losses of a prompt."""
        del input_data, max_out_len, output, args
        code = error_codes.ICLI_CODES.IMPLEMENTATION_ERROR_PPL_METHOD_NOT_IMPLEMENTED  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} measures no losses")

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        del data
        code = error_codes.ICLI_CODES.IMPLEMENTATION_ERROR_PPL_METHOD_NOT_IMPLEMENTED  # type: ignore[attr-defined]
        raise _not_here(code, f"{type(self).__name__} measures no losses")

    def _calc_ppl(self, prompt_logprobs: list[Any]) -> float:
        """Return the mean loss of the tokens that have one.

        Raises:
            AISBenchImplementationError: None has.
        """
        values: list[float] = [next(iter(each.values()))["logprob"] for each in prompt_logprobs if each is not None]
        if not values:
            kind = errors.AISBenchImplementationError  # type: ignore[attr-defined]
            code = error_codes.ICLI_CODES.PPL_COMPUTE_ERROR_NO_VALID_TOKENS  # type: ignore[attr-defined]
            raise kind(code, "no token of the prompt has a log-probability")
        return -sum(values) / len(values)

    async def generate(
        self, input_data: Any, max_out_len: int, output: Output, session: Any = None, **args: Any
    ) -> Any:
        """Ask, and write what comes back into an answer; a failure is written there, too.

        Args:
            input_data: The prompt, as :meth:`parse_template` returns it.
            max_out_len: Most tokens of the answer.
            output: The answer.
            session: Kept for programs; connections are Proctor's own.
            **args: What :meth:`get_request_body` takes beside them.
        """
        del session
        body = await self.get_request_body(input_data, max_out_len, output, **args)
        for attempt in range(1, self.retry + 1):
            try:
                await self._ask(body, output)
                break
            except (TransportError, ValueError, KeyError, TypeError) as error:
                output.success = False
                output.error_info = f"after {attempt} attempts: {type(error).__name__}: {error}"
                await output.clear_time_points()
        return output

    async def _ask(self, body: Any, output: Output) -> None:
        await output.record_time_point()
        reply = await self._post(body)
        if reply.status != _OK:
            output.success, output.error_info = False, f"the server answered {reply.status}"
            return
        await output.record_time_point()
        if self.stream:
            for event in _EVENTS.split(reply.body):
                text = event.decode().strip().removeprefix("data:").strip()
                if text == "[DONE]":
                    break
                if text and not text.startswith(":"):
                    await self.parse_stream_response(json.loads(text), output)
        else:
            await self.parse_text_response(json.loads(reply.body), output)
        output.success = True

    async def _post(self, body: Any) -> Reply:
        transport = AiohttpTransport(1, _ASKED_SECONDS)
        headers = {**self.headers, **({"Accept": EVENT_STREAM} if self.stream else {})}
        try:
            return await transport.post(self.url, json.dumps(body).encode(), headers, _ANSWERED_SECONDS)
        finally:
            await asyncio.shield(transport.close())


def _parser(kind: Any, meta_template: Any) -> Any:
    """Return what lays out prompts by a meta template.

    Raises:
        AISBenchTypeError: It cannot be one.
    """
    try:
        return kind(meta_template)
    except TemplateError as error:
        code = error_codes.MODEL_CODES.INVALID_TYPE_OF_PARAM_IN_META_TEMPLATE  # type: ignore[attr-defined]
        raise errors.AISBenchTypeError(code, str(error)) from error  # type: ignore[attr-defined]


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if isinstance(ip_address(host), IPv6Address) else host
    except ValueError:
        return host  # a name


class _Named(BaseAPIModel):
    """A model with an address below that of the server.

    Attributes:
        endpoints: The end of the address, where replies come whole and where they come in pieces.
    """

    endpoints: ClassVar[tuple[str, str]] = ("", "")
    parser: ClassVar[Any] = LMTemplateParser

    def __init__(self, path: str = "", *arguments: Any, **settings: Any) -> None:
        settings.pop("trust_remote_code", None)  # no code of a model runs here
        super().__init__(path, *arguments, **{"max_out_len": 4096, **settings})
        self.url = self._get_url()
        self.template_parser = _parser(self.parser, self.meta_template)

    def _get_url(self) -> str:
        return urljoin(self.base_url, self.endpoints[bool(self.stream)])

    async def _parse_usage(self, json_content: Mapping[str, Any], output: Output) -> None:
        if usage := json_content.get("usage"):
            output.input_tokens = usage.get("prompt_tokens", 0)
            output.output_tokens = usage.get("completion_tokens", 0)


class VLLMCustomAPI(_Named):
    """A server with ``/v1/completions``.

    Args:
        path: The folder of the tokenizer; nothing reads it.
        model: The name of the model; the first that the server lists where it is empty.
        **settings: As of :class:`BaseAPIModel`.
    """

    endpoints = ("v1/completions", "v1/completions")

    def __init__(self, path: str = "", model: str = "", **settings: Any) -> None:
        super().__init__(path, **settings)
        self.model = model or self._get_service_model_path()

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        del args
        output.input = input_data
        body = {"prompt": input_data, "stream": self.stream, **self.generation_kwargs}
        body |= {"max_tokens": max_out_len, "model": self.model}
        return {**body, "stream_options": {"include_usage": True}} if self.stream else body

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        output.content = api_response.get("choices", [{}])[0].get("text", "")
        await self._parse_usage(api_response, output)

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        for choice in api_response.get("choices", [])[:1]:
            output.content += choice["text"] or ""
        await self._parse_usage(api_response, output)

    async def get_ppl_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request for the losses of a prompt."""
        return {**await self.get_request_body(input_data, max_out_len, output, **args), "prompt_logprobs": 0}

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        return next(each.get("prompt_logprobs", {}) for each in data.get("choices", []) if each is not None)


class VLLMCustomAPIChat(VLLMCustomAPI):
    """A server with ``/v1/chat/completions``; arguments as of :class:`VLLMCustomAPI`."""

    is_chat_api = True
    endpoints = ("v1/chat/completions", "v1/chat/completions")
    parser = APITemplateParser

    def __init__(self, path: str = "", model: str = "", **settings: Any) -> None:
        super().__init__(path, model, **{**settings, "meta_template": settings.get("meta_template") or _CHAT})

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request; an empty text where no token may be written."""
        if max_out_len <= 0:
            return ""
        turns = [{"role": "HUMAN", "prompt": input_data}] if isinstance(input_data, str) else input_data
        messages = [
            {
                "content": turn["prompt"],
                "role": _ROLES.get(turn.get("role", ""), turn.get("role", "")),
                **{key: value for key, value in turn.items() if key not in ("role", "prompt")},
            }
            for turn in turns
        ]
        output.input = messages
        body: dict[str, Any] = {"stream": self.stream, "messages": messages}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        body |= {**self.generation_kwargs, "max_tokens": max_out_len, "model": self.model}
        return {**body, "tools": args["tools"]} if args.get("tools") else body

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer; several choices stand behind each other."""
        for choice in api_response.get("choices", []):
            _add(choice["message"], output)
        await self._parse_usage(api_response, output)
        output.update_extra_details_data_from_text_response(dict(api_response))

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        for choice in api_response.get("choices", []):
            _add(choice["delta"], output)
        await self._parse_usage(api_response, output)

    def get_prompt_logprobs(self, data: Mapping[str, Any]) -> Any:
        """Return the log-probabilities of a prompt in a reply."""
        return data.get("prompt_logprobs", [])


def _add(message: Mapping[str, Any], output: Output) -> None:
    output.content += message.get("content") or ""
    output.reasoning_content += message.get("reasoning_content") or message.get("reasoning") or ""


class _Plain(_Named):
    """A server that takes a text and parameters, and gives the whole text in every piece.

    Attributes:
        keys: The names of the prompt and of the answer.
    """

    keys: ClassVar[tuple[str, str]] = ("inputs", "generated_text")

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        del args
        output.input = input_data
        return {self.keys[0]: input_data, "parameters": {**self.generation_kwargs, "max_new_tokens": max_out_len}}

    async def parse_text_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a reply into an answer."""
        output.content = api_response.get(self.keys[1], "")

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer: the last one has the whole text."""
        output.content = api_response.get(self.keys[1], "")


class TGICustomAPI(_Plain):
    """A server of text-generation-inference; arguments as of :class:`BaseAPIModel`."""

    endpoints = ("generate", "generate_stream")


class MindieStreamApi(_Plain):
    """A server of MindIE, whose replies come in pieces; arguments as of :class:`BaseAPIModel`."""

    endpoints = ("infer", "infer")

    def __init__(self, path: str = "", stream: bool = True, **settings: Any) -> None:
        super().__init__(path, stream, **settings)

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request."""
        return {**await super().get_request_body(input_data, max_out_len, output, **args), "stream": True}

    parse_text_response = BaseAPIModel.parse_text_response


class TritonCustomAPI(_Plain):
    """A server of Triton.

    Args:
        path: The folder of the tokenizer; nothing reads it.
        model_name: The name of the model; the first that the server lists where it is empty.
        **settings: As of :class:`BaseAPIModel`.
    """

    keys = ("text_input", "text_output")

    def __init__(self, path: str = "", model_name: str = "", **settings: Any) -> None:
        self.model_name = model_name
        super().__init__(path, **settings)

    def _get_url(self) -> str:
        self.model_name = self.model_name or self._get_service_model_path()
        end = "generate_stream" if self.stream else "generate"
        return urljoin(self.base_url, f"v2/models/{self.model_name}/{end}")

    async def get_request_body(self, input_data: Any, max_out_len: int, output: Output, **args: Any) -> Any:
        """Return the body of a request, with a number of its own."""
        return {"id": str(uuid.uuid4()), **await super().get_request_body(input_data, max_out_len, output, **args)}

    async def parse_stream_response(self, api_response: Mapping[str, Any], output: Output) -> None:
        """Write a piece of a reply into an answer."""
        output.content += api_response.get(self.keys[1], "")


def _streaming(kind: type, name: str, *, stream: bool = True) -> type:
    """Return a model under its older name, which says how replies come."""

    def made(self: Any, *arguments: Any, **settings: Any) -> None:
        settings.pop("custom_client", None)
        kind.__init__(self, *arguments, **{**settings, "stream": stream})  # type: ignore[misc]
        self.logger.warning("%s is the older name of %s with stream=%s", name, kind.__name__, stream)

    return type(name, (kind,), {"__init__": made, "__module__": __name__, "__doc__": f"Older name of {kind.__name__}."})


VLLMCustomAPIStream = _streaming(VLLMCustomAPI, "VLLMCustomAPIStream")
VLLMCustomAPIChatStream = _streaming(VLLMCustomAPIChat, "VLLMCustomAPIChatStream")
VllmMultiturnAPIChatStream = _streaming(VLLMCustomAPIChat, "VllmMultiturnAPIChatStream")
VLLMFunctionCallAPIChat = _streaming(VLLMCustomAPIChat, "VLLMFunctionCallAPIChat", stream=False)
TGICustomAPIStream = _streaming(TGICustomAPI, "TGICustomAPIStream")
TritonCustomAPIStream = _streaming(TritonCustomAPI, "TritonCustomAPIStream")
