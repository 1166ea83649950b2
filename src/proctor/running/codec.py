"""Codec of stored responses: MessagePack, which keeps every bit of a float, deflated where that pays.

Before it stands a sum over the engine's identity, the key, the time and the body. A bit that flipped on the
disk, a body that got under another key, an answer of another engine do not have the right one, and count as damaged.
Behind it stands a mark that only its writer can make (:mod:`proctor.running.writers`). Logs of version 2 have digests
without a key, those of version 1 nothing; what they hold is read.
"""

from __future__ import annotations

import struct
import zlib
from hashlib import blake2b
from typing import Any
from zlib import crc32

import msgspec

from proctor.errors import ForgedError, LogError
from proctor.ir import Response
from proctor.running.writers import ID_BYTES, UNSIGNED, Writers

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Response)
_DEFLATE_FROM_BYTES = 1024  # below it at most half a kilobyte is saved, for 20 to 40 µs per response
_ZLIB_FIRST_BYTE = 0x78
"""A zlib stream starts with this byte, which in MessagePack is a small integer and never a response."""

_SEALED, _KEYED = b"\xff", b"\xfe"
"""Sealed bodies start so. A body without a seal begins with 0x80 to 0x8f or 0x78: three bits away."""

_SEAL_BYTES = 8  # 2**-64 that damage keeps it, and that somebody guesses it who has no key
_PACKED = struct.Struct("<Hqq").pack
_HEAD = struct.Struct(f"<cI{_SEAL_BYTES}s{ID_BYTES}s")  # the form, the sum, the mark, the id
_BODY_FROM = _HEAD.size
_OLD_BODY_FROM = 1 + _SEAL_BYTES
_WHAT_NEXT = "proctor log verify --log PATH names what is damaged and can drop it, so that it is asked again"


class Sealer:
    """Seals the bodies of one engine.

    A keyed body has a sum, which damage breaks, a mark, which only the owner of a key can make, and the key's id. One
    of an earlier version has a digest without a key, or nothing.

    Args:
        identity: The engine's identity.
        writers: Whose key is used, and whose answers.
    """

    def __init__(self, identity: str, writers: Writers) -> None:
        whose = blake2b(identity.encode("utf-8", "surrogatepass")).digest()
        self._start = blake2b(whose, digest_size=_SEAL_BYTES, person=b"proctor log", key=writers.key or b"")
        self._old = blake2b(whose, digest_size=_SEAL_BYTES, person=b"proctor log")
        self._engine = crc32(whose)
        self._writers, self._own = writers, writers.own

    def sealed(self, request: bytes, repeat: int, at: int, body: bytes) -> bytes:
        """Return the stored form."""
        what = _PACKED(len(request), repeat, at) + request + body
        digest = self._start.copy()
        digest.update(what)
        if not self._own:
            return _SEALED + digest.digest() + body
        mark = digest.digest()
        return _HEAD.pack(_KEYED, crc32(what + mark + self._own, self._engine), mark, self._own) + body

    def opened(self, request: Any, repeat: Any, at: Any, stored: Any) -> bytes:
        """Return the body.

        Raises:
            LogError: It, or what it is filed under, is damaged; :class:`ForeignError`: it is not to be used.
            ForgedError: It has our key's id, and not its mark.
        """
        try:
            if type(stored) is bytes:
                if stored[:1] == _KEYED:
                    body = stored[_BODY_FROM:]
                    self._check_mark(_HEAD.unpack_from(stored), _PACKED(len(request), repeat, at) + request + body)
                    return body
                self._writers.check(UNSIGNED)
                if stored[:1] != _SEALED:
                    return stored
                digest, body = self._old.copy(), stored[_OLD_BODY_FROM:]
                digest.update(_PACKED(len(request), repeat, at) + request + body)
                if digest.digest() == stored[1:_OLD_BODY_FROM]:
                    return body
        except (struct.error, TypeError):  # a damaged row has a text or nothing where a number belongs
            pass
        raise _damaged()

    def _check_mark(self, head: tuple[bytes, int, bytes, bytes], what: bytes) -> None:
        _, total, mark, writer = head
        if crc32(what + mark + writer, self._engine) != total:
            raise _damaged()
        if writer != self._own:
            self._writers.check(writer)
            return
        digest = self._start.copy()
        digest.update(what)
        if digest.digest() != mark:
            raise ForgedError(
                "the response log has an answer that is not what was filed",
                why="an answer says that your key filed it, and does not have its digest",
                hint=_WHAT_NEXT,
            )

    def is_sound(self, request: Any, repeat: Any, at: Any, stored: Any) -> bool:
        """Whether a stored body has its seal, and may be used; one without a seal, whether it can be read.

        Raises:
            ForgedError: As :meth:`opened`.
        """
        try:
            self.check(request, repeat, at, stored)
        except LogError:
            return False
        return True

    def check(self, request: Any, repeat: Any, at: Any, stored: Any) -> None:
        """Look at a stored body; raises as :meth:`opened`, and where one without a seal cannot be read."""
        body = self.opened(request, repeat, at, stored)
        if not is_sealed(stored):
            decode(body)


def _damaged() -> LogError:
    return LogError("a stored response is damaged", why="it does not have its digest", hint=_WHAT_NEXT)


def is_sealed(stored: object) -> bool:
    """Whether a stored body has a seal, right or wrong."""
    return type(stored) is bytes and stored[:1] in (_SEALED, _KEYED)


def writer_of(stored: bytes) -> str:
    """Return the id of the key that filed a stored body, in hexadecimal; empty where none did."""
    return stored[_BODY_FROM - ID_BYTES : _BODY_FROM].hex() if stored[:1] == _KEYED else ""


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
        raise LogError("a stored response cannot be read", why=str(error), hint=_WHAT_NEXT) from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value
