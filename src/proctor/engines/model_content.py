"""What lies in the folders and files of a model, as digests: other weights in the same folder are another model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.errors import NotAllowedError
from proctor.safe_files import Stamp, stamp_of
from proctor.settings import model_folder

if TYPE_CHECKING:
    from proctor.engines.engine import Engine

_BLOCKS, _BLOCK = 256, 4_096
"""Of a larger file so many blocks of so many bytes count: training changes weights everywhere, and a whole model would
take as long to read as to load."""
_DECIDES: Final = frozenset({".safetensors", ".bin", ".pt", ".pth", ".gguf", ".json", ".jinja", ".model", ".txt"})
"""Endings of files that decide answers: weights, configuration, tokenizer, templates."""
_OF_TRAINING: Final = ("optimizer", "scheduler", "scaler", "rng_state", "trainer_state", "training_args")
"""How the names of files begin with which a training goes on."""


def content_of(names: Iterable[str | None]) -> list[str]:
    """Return the digests of those of the names that are folders or files here; nothing of the others.

    A name of the hub is the folder that it is mapped to. Where a folder lies and when it was written does not count, so
    that copies are one model.
    """
    folders = (Path(model_folder(each) or each).expanduser() for each in names if each)
    return [_digest_of(path) for path in folders if path.exists()]


def content_of_engine(engine: Engine, names: Iterable[str | None]) -> dict[str, list[str]]:
    """Return what the identity of an engine says of the folders that it loads; nothing where it may not read them."""
    try:
        engine.act()
        found = content_of(names)
    except (NotAllowedError, OSError):  # whoever asks is told
        return {}
    return {"content": found} if found else {}


def _digest_of(path: Path) -> str:
    found = blake2b(digest_size=8)
    files = [path] if path.is_file() else sorted(each for each in path.iterdir() if _decides(each))
    for each in files:
        found.update(f"{each.name} {_sampled(str(each), stamp_of(each))}\n".encode())
    return found.hexdigest()


def _decides(path: Path) -> bool:
    return path.suffix in _DECIDES and not path.name.startswith(_OF_TRAINING) and path.is_file()


@lru_cache(maxsize=1_024)
def _sampled(path: str, stamp: Stamp) -> str:
    """Return a digest of a file's size and blocks; a file that nobody has changed is read once."""
    del stamp
    with open(path, "rb") as file:  # noqa: PTH123 - the user's own, or admitted
        size = file.seek(0, os.SEEK_END)
        found = blake2b(str(size).encode(), digest_size=8)
        for place in range(0, size, max(size // _BLOCKS, _BLOCK)):
            file.seek(place)
            found.update(file.read(_BLOCK))
    return found.hexdigest()
