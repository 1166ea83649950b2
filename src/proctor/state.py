"""The user's state: what no exam may write, in a folder that only its owner reads.

The response log, fetched packages and permissions lie here, and not in the cache, in which exams have folders of their
own. Where the user says himself where the cache is, its folder ``state`` holds them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from proctor.errors import ForgedError
from proctor.logs import get_logger
from proctor.settings import cache_home, home_of, settings

_KEY_BYTES = 32
"""Of the key: as many as its digests have."""

LOG_NAME = "responses.db"
"""The response log's file."""

LOG_PLACE = f"log/{LOG_NAME}"
"""Where it lies in the state: in a folder of its own, beside which a run writes nothing."""


def data_home() -> Path:
    """Return the folder of what users keep, for this program."""
    return home_of("XDG_DATA_HOME", ".local/share")


def kept_table(name: str) -> Path:
    """Return the place of a table of what the user allows or trusts, and make its folder.

    They have a folder of their own: a wall holds the files that lay there when it was raised, and other processes
    write these anew.
    """
    place, earlier = data_home() / "kept" / name, data_home() / name
    with suppress(OSError):  # whoever writes the table says so
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if earlier.exists() and not place.exists():
            earlier.replace(place)
    return place


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
    whole = b"".join(len(each).to_bytes(8, "big") + each for each in parts)
    return hmac.new(secret(), whole, hashlib.sha256).hexdigest()


def sealed_table(table: dict[str, Any]) -> str:
    """Return a table as JSON that :func:`read_table` reads.

    Raises:
        OSError: As :func:`seal`.
    """
    return json.dumps({**table, _SEAL: _seal_of(table)}, indent=1, ensure_ascii=False, sort_keys=True)


def read_table(path: Path) -> dict[str, Any]:
    """Return a table of the state; an empty one where there is none, or one of an earlier version, which has no seal.

    Raises:
        ForgedError: It is not what was filed.
        OSError, ValueError: It cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    table: dict[str, Any] = found if isinstance(found, dict) else {}
    told = table.pop(_SEAL, None)
    if told is None:
        return {}
    if not hmac.compare_digest(str(told).encode(), _seal_of(table).encode()):
        raise ForgedError(
            f"{path} is not what was filed",
            why="its digest is another one: somebody else wrote it",
            hint="nothing of it is used; delete it",
        )
    return table


_SEAL = "seal"


def _seal_of(table: dict[str, Any]) -> str:
    return seal(b"table", json.dumps(table, sort_keys=True).encode())


def secret() -> bytes:
    """Return this user's key, made where there is none; it is read once, before there is a wall.

    Raises:
        OSError: It cannot be read or made.
    """
    return _secret_in(data_home())


@cache
def _secret_in(folder: Path) -> bytes:
    key = folder / "key"
    with suppress(FileNotFoundError):
        return _whole(key)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = secrets.token_bytes(_KEY_BYTES)
    try:
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
    except FileExistsError:  # another process made it meanwhile
        return _whole(key)
    return made


def _whole(key: Path) -> bytes:
    """Return a key that another process may just be writing; who was killed then left it without its bytes."""
    until = time.monotonic() + 2.0
    while len(found := key.read_bytes()) < _KEY_BYTES and time.monotonic() < until:
        time.sleep(0.005)
    return found


def place_in_state(name: str, settle: Callable[[Path], bool] = Path.exists) -> Path:
    """Return the place of a part of the state; what lies where earlier versions kept it is moved here once, and said.

    Args:
        name: Of a file or folder.
        settle: Makes what lies at the old place ready to be moved; returns whether it is.

    Returns:
        The old place, where it holds something that cannot be moved now.
    """
    place = state_folder() / name
    earlier = [folder / place.name for folder in (state_folder(), Path(settings.cache_dir))]
    old = next((each for each in earlier if each != place and os.path.lexists(each)), None)
    if os.path.lexists(place) or old is None or not settle(old):
        return place
    try:
        made_state_folder()
        place.parent.mkdir(exist_ok=True, mode=0o700)
        shutil.move(old, place)
        place.chmod(0o700 if place.is_dir() else 0o600)
    except OSError as error:
        if old.exists():
            get_logger().warning("%s stays where it is: it cannot be moved to %s (%s)", old, place, error)
            return old
        return place  # another process moved it meanwhile
    get_logger().warning("%s was moved to %s, where exams cannot write", old, place)
    return place
