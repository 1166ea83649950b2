"""Tells whether the Hugging Face hub may be asked, and whether it answers."""

from __future__ import annotations

import os
import socket
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from proctor.settings import settings

_CONNECT_SECONDS = 5.0  # a connection takes some tenths of a second; without a network everything waits for this
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY")


def is_offline() -> bool:
    """Return whether the hub must not be asked."""
    return bool(settings.offline) or os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}


def is_local_only(place: str) -> bool:
    """Return whether a model or tokenizer is to be looked for on this machine alone: ``local_files_only``.

    The libraries that ask the hub try each file again for half a minute where it does not answer.

    Args:
        place: A folder, for which nobody asks the hub, or a hub id.
    """
    return is_offline() or not (Path(place).exists() or hub_answers())


def hub_answers() -> bool:
    """Return whether the hub takes connections; tried once in a process."""
    from huggingface_hub import constants

    return _answers(constants.ENDPOINT)


@lru_cache(maxsize=8)
def _answers(endpoint: str) -> bool:
    if any(os.environ.get(name) for name in _PROXIES):
        return True  # a proxy may know the way
    url = urlsplit(endpoint)
    try:
        with socket.create_connection((url.hostname or "", url.port or 443), timeout=_CONNECT_SECONDS):
            return True
    except OSError:
        return False
