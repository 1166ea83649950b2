"""How a response is stored: MessagePack, which keeps infinities and every bit of a float, deflated where that pays."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec

from proctor.errors import LogError
from proctor.ir import Response

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Response)
_DEFLATE_FROM_BYTES = 1024  # below it at most half a kilobyte is saved, for 20 to 40 µs per response
_ZLIB_FIRST_BYTE = 0x78
"""A zlib stream starts with this byte, which in MessagePack is a small integer and never a response."""


def encode(response: Response) -> bytes:
    """Return the stored form; surrogates without a partner, which no file can hold, become U+FFFD."""
    try:
        body = _ENCODER.encode(response)
    except UnicodeEncodeError:
        body = _ENCODER.encode(_without_surrogates(msgspec.to_builtins(response)))
    if len(body) < _DEFLATE_FROM_BYTES:
        return body
    deflated = zlib.compress(body, 1)
    return deflated if len(deflated) < len(body) else body


def decode(body: bytes) -> Response:
    """Return the response; raise :class:`LogError` where the stored form is damaged."""
    try:
        if body and body[0] == _ZLIB_FIRST_BYTE:
            body = zlib.decompress(body)
        return _DECODER.decode(body)
    except (zlib.error, msgspec.DecodeError) as error:
        raise LogError(
            "a stored response cannot be read",
            why=str(error),
            hint="proctor log verify --log PATH names what is damaged and can drop it, so that it is asked again",
        ) from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value
