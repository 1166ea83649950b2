"""Codec of stored responses: MessagePack, which keeps every bit of a float, deflated where that pays.

Before it stands a seal: a digest over the engine's identity, the key, the time and the body. A bit that flipped on the
disk, a body that got under another key, an answer of another engine do not have the right one, and count as damaged.
Logs of version 1 have no seals; what they hold is read as it stands.
"""

from __future__ import annotations

import struct
import zlib
from hashlib import blake2b
from typing import Any

import msgspec

from proctor.errors import LogError
from proctor.ir import Response

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Response)
_DEFLATE_FROM_BYTES = 1024  # below it at most half a kilobyte is saved, for 20 to 40 µs per response
_ZLIB_FIRST_BYTE = 0x78
"""A zlib stream starts with this byte, which in MessagePack is a small integer and never a response."""

_SEALED = b"\xff"
"""Sealed bodies start so. A body without a seal begins with 0x80 to 0x8f or 0x78: three bits away."""

_SEAL_BYTES = 8  # 2**-64 that damage keeps it; not a secret, and no guard against whoever writes logs
_BODY_FROM = len(_SEALED) + _SEAL_BYTES
_PACKED = struct.Struct("<Hqq").pack
_WHAT_NEXT = "proctor log verify --log PATH names what is damaged and can drop it, so that it is asked again"


class Sealer:
    """Seals the bodies of one engine.

    Args:
        identity: The engine's identity.
    """

    def __init__(self, identity: str) -> None:
        whose = blake2b(identity.encode("utf-8", "surrogatepass")).digest()
        self._start = blake2b(whose, digest_size=_SEAL_BYTES, person=b"proctor log")

    def sealed(self, request: bytes, repeat: int, at: int, body: bytes) -> bytes:
        """Return the stored form: the seal and the body."""
        return _SEALED + self._seal(request, repeat, at, body) + body

    def opened(self, request: Any, repeat: Any, at: Any, stored: Any) -> bytes:
        """Return the body; raise :class:`LogError` where it, or what it is filed under, is damaged."""
        if type(stored) is bytes:
            if stored[:1] != _SEALED:
                return stored
            body = stored[_BODY_FROM:]
            try:
                if self._seal(request, repeat, at, body) == stored[1:_BODY_FROM]:
                    return body
            except (struct.error, TypeError):  # a damaged row has a text or nothing where a number belongs
                pass
        raise LogError("a stored response is damaged", why="it does not have its digest", hint=_WHAT_NEXT)

    def is_sound(self, request: Any, repeat: Any, at: Any, stored: Any) -> bool:
        """Whether a stored body has its seal; one without a seal, whether it can be read."""
        if type(stored) is not bytes:
            return False
        try:
            if stored[:1] == _SEALED:
                return self._seal(request, repeat, at, stored[_BODY_FROM:]) == stored[1:_BODY_FROM]
            decode(stored)
        except (LogError, struct.error, TypeError):
            return False
        return True

    def _seal(self, request: bytes, repeat: int, at: int, body: bytes) -> bytes:
        digest = self._start.copy()
        digest.update(_PACKED(len(request), repeat, at) + request + body)
        return digest.digest()


def is_sealed(stored: object) -> bool:
    """Whether a stored body has a seal, right or wrong."""
    return type(stored) is bytes and stored[:1] == _SEALED


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
    except (zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LogError(
            "a stored response cannot be read",
            why=str(error),
            hint=_WHAT_NEXT,
        ) from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value
