"""The secrets that this process uses, and how they are kept out of everything that it writes.

Whoever reads a key, a password or a token to send it somewhere says so (:func:`keep`). Servers echo what they were
sent, and libraries put addresses with passwords into their errors; so every failure and every problem passes
:func:`redacted`, and every answer of a server :func:`cleaned`, before anybody sees or files it.

An answer loses nothing but a whole secret, in one of the spellings that servers use. A message also loses pieces of
one, because messages are cut, and the name and password in an address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "[secret]"
"""What stands in place of a secret."""

_SHORTEST = 8
"""Shorter values are not secrets but words (``EMPTY``, ``none``), and would be found in honest answers."""
_PIECE = 12
"""Characters of a secret that are taken out of a message although the rest is cut off: fewer would be guesses."""
_NO_SECRETS = frozenset(
    {"no-key-required", "not-needed", "not-required", "sk-no-key-required", "token-abc123", "lm-studio", "no-api-key"}
)
"""What the documents of local servers (llama.cpp, vLLM, LM Studio) tell people to give as a key."""

_NAME = re.compile(
    r"(^|[_-])(api_?key|key|token|secret|password|passwd|pwd|authorization|auth|cookie|credentials?|access_?key)$",
    re.IGNORECASE,
)
_TOKEN_OF_TEXT = re.compile(
    r"(^|_)(bos|eos|pad|unk|sep|cls|mask|ice|image|audio|video|prefix|special|think|(start|end|stop)(_of_\w+)?)_token$",
    re.IGNORECASE,
)
"""Tokens that a model reads or writes (``add_bos_token``, ``think_end_token``): no credential is called so."""
_KEY_ID = re.compile(r"(secret|token|password|api_?key)", re.IGNORECASE)
_LOGIN = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#\"'<>]*@")

_spellings: dict[str, None] = {}
_pieces: set[str] = set()


def is_secret(name: str) -> bool:
    """Whether the value of an argument, a header or a variable of this name must never be written to a file."""
    return _NAME.search(name) is not None and _TOKEN_OF_TEXT.search(name) is None


def keep(value: str | None) -> None:
    """Take a value out of whatever is written from now on; short values and usual placeholders are not secrets."""
    if not value or len(value) < _SHORTEST or value.lower() in _NO_SECRETS or value in _spellings:
        return
    for spelling in dict.fromkeys(_spelled(value)):
        _spellings[spelling] = None
        _pieces.update(spelling[start : start + _PIECE] for start in range(len(spelling) - _PIECE + 1))


def keep_named(values: Mapping[str, Any]) -> None:
    """Take the values out whose names say that they are secrets, at any depth."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            keep_named(value)
        elif isinstance(value, str) and is_secret(str(name)):
            keep(value)


def _spelled(value: str) -> Iterable[str]:
    """Yield a value as servers echo it: as it is, in JSON, in an address, and as a Basic header has it."""
    import base64
    import json
    from urllib.parse import quote, quote_plus

    yield value
    for is_ascii in (True, False):
        text = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (text, text.replace("/", "\\/"))
    for quoted in (quote(value, safe=""), quote_plus(value, safe="")):
        yield from (quoted, re.sub("%..", lambda found: found[0].lower(), quoted))
    data = value.encode("utf-8", "replace")
    yield from (each.decode().rstrip("=") for each in (base64.b64encode(data), base64.urlsafe_b64encode(data)))


def keep_login(user: str, password: str) -> None:
    """Take the name and password of an address out of whatever is written from now on."""
    for each in (password, f"{user}:{password}"):
        keep(each)


def variable(name: str) -> str | None:
    """Return an environment variable whose value is a secret, and keep it; ``None`` where it is not set or empty.

    Blanks and line breaks around it are none of it: ``$(cat key.txt)`` and files of variables leave them there.
    """
    value = os.environ.get(name, "").strip() or None
    keep(value)
    return value


def keep_environment() -> None:
    """Keep the values of all variables whose names are those of secrets: libraries read them without telling us."""
    for name in list(os.environ):
        if is_secret(name) and _KEY_ID.search(name):
            variable(name)


def redacted(text: str) -> str:
    """Return a message without the secrets that are known, pieces of them, and names and passwords in addresses."""
    if "://" in text and "@" in text:
        text = without_logins(text)
    if not _spellings:
        return text
    text = cleaned(text)
    spans = [start for start in range(len(text) - _PIECE + 1) if text[start : start + _PIECE] in _pieces]
    for start, end in reversed(_joined(spans)):
        text = f"{text[:start]}{HIDDEN}{text[end:]}"
    return text


def _joined(starts: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start in starts:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], start + _PIECE)
        else:
            found.append((start, start + _PIECE))
    return found


def cleaned(text: str) -> str:
    """Return an answer without the secrets that are known; the same text where it has none."""
    for spelling in list(_spellings):
        if spelling in text:
            text = text.replace(spelling, HIDDEN)
    return text


def without_logins(text: str) -> str:
    """Return a text whose addresses have no name and no password."""
    return _LOGIN.sub(r"\1", text)


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for a file: without those that are secrets, at any depth, and with addresses without passwords."""
    return {
        name: _public(value) for name, value in values.items() if isinstance(value, bool) or not is_secret(str(name))
    }


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        return without_secrets(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_public, value)) if type(value) in (list, tuple) else [_public(each) for each in value]
    if isinstance(value, str):
        return cleaned(without_logins(value) if "@" in value else value)
    return value


def forget() -> None:
    """Forget every secret: for tests."""
    _spellings.clear()
    _pieces.clear()
