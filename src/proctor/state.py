"""The user's state: what no exam may write, in a folder that only its owner reads.

The response log, fetched packages and permissions lie here, and not in the cache, in which exams have folders of their
own. Where the user says himself where the cache is, its folder ``state`` holds them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from proctor.logs import get_logger
from proctor.settings import cache_home, settings

_KEY_BYTES = 32
"""Of the key: as many as its digests have."""

LOG_NAME = "responses.db"
"""The response log's file."""


def data_home() -> Path:
    """Return the folder of what users keep, for this program."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "proctor"


def state_folder() -> Path:
    """Return the folder of the state; it need not be there."""
    cache = Path(settings.cache_dir)
    return data_home() if cache == cache_home() else cache / "state"


def made_state_folder() -> Path:
    """Return the folder of the state, made for its owner alone where it is missing.

    Raises:
        OSError: It cannot be made.
    """
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def seal(*parts: bytes) -> str:
    """Return a digest of bytes that only the owner of the state can make.

    Raises:
        OSError: The key cannot be read, or made where there is none.
    """
    key = made_state_folder() / "key"
    try:
        secret = key.read_bytes()
    except FileNotFoundError:
        secret = secrets.token_bytes(_KEY_BYTES)
        try:
            with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secret)
        except FileExistsError:  # another process made it meanwhile
            secret = key.read_bytes()
    whole = b"".join(len(each).to_bytes(8, "big") + each for each in parts)
    return hmac.new(secret, whole, hashlib.sha256).hexdigest()


def place_in_state(name: str, settle: Callable[[Path], bool] = Path.exists) -> Path:
    """Return the place of a part of the state; what lies where earlier versions kept it is moved here once, and said.

    Args:
        name: Of a file or folder.
        settle: Makes what lies at the old place ready to be moved; returns whether it is.

    Returns:
        The old place, where it holds something that cannot be moved now.
    """
    place, old = state_folder() / name, Path(settings.cache_dir) / name
    if os.path.lexists(place) or not os.path.lexists(old) or not settle(old):
        return place
    try:
        made_state_folder()
        shutil.move(old, place)
        place.chmod(0o700 if place.is_dir() else 0o600)
    except OSError as error:
        if old.exists():
            get_logger().warning("%s stays where it is: it cannot be moved to %s (%s)", old, place, error)
            return old
        return place  # another process moved it meanwhile
    get_logger().warning("%s was moved to %s, where exams cannot write", old, place)
    return place
