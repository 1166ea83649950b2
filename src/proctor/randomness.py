"""Random streams: each derives from the seed and from content, through an explicit digest.

No stream depends on another, on the order in which instances come, or on Python's hash seed.
The derivation is Unitxt's, so that both draw the same demos.
"""

from __future__ import annotations

from hashlib import md5
from random import Random
from typing import Any

from proctor.settings import settings


def digest32(content: Any) -> int:
    """Return the first 32 bits of the MD5 of ``str(content)``."""
    return int(md5(str(content).encode("utf-8"), usedforsecurity=False).hexdigest()[:8], 16)


def random_stream(content: Any, seed: int | None = None) -> Random:
    """Return a generator for some content: a dict, list or text.

    Args:
        content: Text is used as it is; anything else by the digest of its ``str``.
        seed: The seed; ``settings.seed`` by default.
    """
    root = settings.seed if seed is None else seed
    part = content if isinstance(content, str) else _part(content)
    return Random(f"{root}/{part}")


def _part(content: Any) -> str:
    if isinstance(content, (int, float)):
        return str(hash(content))  # numbers hash alike in every process
    return str(digest32(content))
