"""Asks a server which model it serves and what its texts begin with.

The model is the first of its list (``GET /models``), as AISBench takes it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from proctor.engines.http.transport import AiohttpTransport, Reply, TransportError
from proctor.errors import EngineError

_OK = 200
_HINT = "start the server, or name the model: --model-args model=NAME (in a config: model='NAME')"


class _Model(Struct):
    id: str
    root: str | None = None


class _Models(Struct):
    data: list[_Model]


class _Properties(Struct):
    bos_token: str = ""
    eos_token: str = ""


_PROPERTIES = msgspec.json.Decoder(_Properties)
_LIST = msgspec.json.Decoder(_Models)


def first_model(url: str, headers: Mapping[str, str], timeout_seconds: float) -> str:
    """Return the name of the first model that a server lists.

    Args:
        url: The server's base URL, with ``/v1``.
        headers: Say who asks.
        timeout_seconds: Longest time to wait.

    Raises:
        EngineError: The server cannot be reached, or lists no model.
    """
    address = f"{url}/models"
    try:
        reply = _fetched(address, headers, timeout_seconds)
        if reply.status != _OK:
            raise EngineError(
                "the server does not say which model it has", why=f"{address}: {reply.status}", hint=_HINT
            )
        found = _LIST.decode(reply.body).data
    except TransportError as error:
        raise EngineError("no model is named, and the server cannot be asked", why=str(error), hint=_HINT) from None
    except msgspec.DecodeError as error:
        raise EngineError("the server's list of models cannot be read", why=f"{address}: {error}", hint=_HINT) from None
    if not found:
        raise EngineError("the server has no model", why=f"{address} lists none", hint=_HINT)
    return found[0].id


def root_of(url: str, headers: Mapping[str, str], timeout_seconds: float, model: str) -> str | None:
    """Return from where a server loaded a model, as its list of models says; ``None`` where nobody answers.

    Args:
        url: The server's base URL, with ``/v1``.
        headers: Say who asks.
        timeout_seconds: Longest time to wait.
        model: Its name there.
    """
    try:
        reply = _fetched(f"{url}/models", headers, timeout_seconds)
    except TransportError:
        return None
    with suppress(msgspec.DecodeError):
        if reply.status == _OK:
            return next((each.root or "" for each in _LIST.decode(reply.body).data if each.id == model), "")
    return ""


def first_token(url: str, headers: Mapping[str, str], timeout_seconds: float) -> str:
    """Return the text of the token that stands before a text with nothing before it: the first, else the last one.

    Args:
        url: Base URL of a server of llama.cpp, with or without ``/v1``.
        headers: Say who asks.
        timeout_seconds: Longest time to wait.

    Raises:
        EngineError: The server cannot be reached, or is not llama.cpp's.
    """
    address = f"{url.removesuffix('/v1')}/props"
    what, hint = "scoring=llamacpp asks llama.cpp's server, and this is none", "leave scoring out for servers that echo"
    try:
        reply = _fetched(address, headers, timeout_seconds)
        if reply.status != _OK:
            raise EngineError(what, why=f"{address}: {reply.status}", hint=hint)
        found = _PROPERTIES.decode(reply.body)
    except TransportError as error:
        raise EngineError("the server cannot be asked", why=str(error), hint="start llama-server first") from None
    except msgspec.DecodeError as error:
        raise EngineError(what, why=f"{address}: {error}", hint=hint) from None
    return found.bos_token or found.eos_token


def _fetched(url: str, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
    """Return what is at an address, from a loop of its own: the caller may be inside one (notebooks)."""
    replies: list[Reply] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            replies.append(asyncio.run(_get(url, headers, timeout_seconds)))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, name="proctor-models", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return replies[0]


async def _get(url: str, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
    transport = AiohttpTransport(1, timeout_seconds)
    try:
        return await transport.get(url, headers, timeout_seconds)
    finally:
        await transport.close()
