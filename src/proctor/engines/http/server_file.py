"""A file with the addresses of servers that a cluster rewrites: a line each, read again when it changes.

What a run is told in it while it goes on is believed when it stands still: a file that is being written has half an
address at its end. What cannot be read then changes nothing, and is said; at the start of a run it ends it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from proctor.engines.http.addresses import checked_address, split_login
from proctor.errors import Diagnostic, EngineError, Location, NotAllowedError, UsageError
from proctor.logs import get_logger

_PREFIX = "file:"
_ENDINGS = (".txt", ".list")  # no host is called so: there are no such top-level domains
_PATHS = ("/", "./", "../", "~")
_LOOK_SECONDS = 0.5
"""Between two looks at the file: a new server waits for twice as long, and a look costs a few microseconds."""
_MOST_BYTES = 1 << 20  # ten thousand addresses
_HOW = "write one address a line: http://host:port; lines that begin with # are notes"
_FIRST_REST_SECONDS, _LONGEST_REST_SECONDS = 5.0, 60.0
"""Between two attempts at a server that is named and cannot be asked: models load for minutes, and a look may block."""
Admit = Callable[[str], None]
"""Sees to it that a further server may be asked and has the model; raises what tells why not."""


class ServerAwayError(EngineError):
    """A server that is named does not answer yet."""


def file_of(address: str) -> Path | None:
    """Return the file that a ``base_url`` names; ``None`` where it is an address, or several."""
    text = address.strip()
    if text.startswith(_PREFIX):
        return Path(text.removeprefix(_PREFIX).removeprefix("//")).expanduser()
    is_path = "://" not in text and "," not in text and (text.startswith(_PATHS) or text.endswith(_ENDINGS))
    return Path(text).expanduser() if is_path else None


class ServerFile:
    """The servers of a file.

    Args:
        path: The file.
        spelled: Returns an address as requests need it.

    Attributes:
        addresses: The servers that are asked now, in the order of the file.
        admit: Is asked about each server that was not there at the start.

    Raises:
        UsageError: The file cannot be read, names no server, one twice, or something that is none; with every line.
    """

    def __init__(self, path: Path, spelled: Callable[[str], str], admit: Admit) -> None:
        self._path, self._spelled, self.admit = path, spelled, admit
        self.addresses = self._read()
        self._last = self._seen = self._state()
        self._looked = time.monotonic()
        self._left_out: dict[str, tuple[str, float, float]] = {}

    def look(self) -> None:
        """Read the file again if it has changed and stands still; seldom more than a look at its date."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        before, self._seen = self._seen, self._state()
        if self._seen != before or (self._seen == self._last and not self._left_out):
            return
        is_new, self._last = self._seen != self._last, self._seen
        try:
            named = self._read()
        except UsageError as error:
            if is_new:
                said = "; ".join(f"{each.location or self._path}: {each.what}" for each in error.diagnostics)
                get_logger().warning("%s: the servers that were known are asked further", said)
            return
        self._left_out = {each: why for each, why in self._left_out.items() if each in named}
        added = [each for each in named if each not in self.addresses and self._is_admitted(each, now)]
        found = tuple(each for each in named if each in self.addresses or each in added)
        if found and found != self.addresses:
            gone = [f"{each} gets nothing new" for each in self.addresses if each not in found]
            news = [*(f"{each} is asked from now on" for each in added), *gone] or ["the order of the servers changed"]
            get_logger().warning("%s: %s", self._path, "; ".join(news))
            self.addresses = found

    def _is_admitted(self, address: str, now: float) -> bool:
        said, until, rest = self._left_out.get(address, ("", 0.0, _FIRST_REST_SECONDS))
        if now < until:
            return False
        try:
            self.admit(address)
        except (NotAllowedError, ServerAwayError) as error:
            if str(error) != said:
                get_logger().warning("%s is left out: %s", address, error)
            self._left_out[address] = str(error), now + rest, min(2.0 * rest, _LONGEST_REST_SECONDS)
            return False
        self._left_out.pop(address, None)
        return True

    def _state(self) -> tuple[int, ...]:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - twice a second
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> tuple[str, ...]:
        try:
            with self._path.open("rb") as file:
                text = file.read(_MOST_BYTES + 1).decode()
        except (OSError, UnicodeDecodeError) as error:
            why = str(error)
            hint = f"name a file that is there: {_HOW}"
            if isinstance(error, PermissionError) and self._path.exists():
                hint = "a file that takes the place of another is read behind the wall only in a folder without hidden "
                hint += "files: give it a folder of its own, or write the same file again"
            raise UsageError(f"the file of servers {self._path} cannot be read", why=why, hint=hint) from None
        found: dict[str, int] = {}
        problems = list(self._problems(text, found))
        if not found and not problems:
            problems = [Diagnostic("the file names no server", location=Location(str(self._path)), hint=_HOW)]
        if len(text) > _MOST_BYTES or problems:
            raise UsageError(problems or f"the file of servers {self._path} has more than {_MOST_BYTES:,} bytes")
        return tuple(found)

    def _problems(self, text: str, found: dict[str, int]) -> Iterator[Diagnostic]:
        """Yield what is wrong, and collect the addresses with their lines."""
        for number, line in enumerate(text.splitlines(), 1):
            if not (said := line.strip()) or said.startswith("#"):
                continue
            place = Location(str(self._path), number)
            said, login = split_login(said if "://" in said else f"http://{said}")
            if login is not None:
                what = "a name and a password stand in the file"
                yield Diagnostic(what, location=place, hint="leave them out: api_key=… or extra_headers says who asks")
            try:
                address = self._spelled(checked_address(said, "the line"))
            except UsageError as error:
                yield from error.located(place).diagnostics
                continue
            if address in found:
                said = f"the server {address} stands in line {found[address]} already"
                yield Diagnostic(said, location=place, hint="leave it out once")
            found.setdefault(address, number)
