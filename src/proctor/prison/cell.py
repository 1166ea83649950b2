"""A prisoner: a started process, the messages to and from it, and its end."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress

from proctor.prison.inside.frames import HEAD, LONGEST
from proctor.prison.limits import Limits
from proctor.prison.prisons import Prison, Role
from proctor.starter import Popen, run

_END_SECONDS = 8.0
"""How long a warden may take to end what its prisoner left behind."""
_BLOCK = 512  # bytes in which the kernel counts what a file takes
_MOST_FILES = 4096
_SOME = 1 << 18  # bytes that are read at once


class Cell:
    """A started prisoner.

    Args:
        prison: Which kind.
        role: What it does.
        limits: How much it may use.

    Raises:
        OSError: The command cannot be started.
    """

    def __init__(self, prison: Prison, role: Role, limits: Limits) -> None:
        self._start = prison.start(role, limits)
        self._limits = limits
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self.received_bytes = 0
        self.is_open = True
        try:
            self._process = Popen(
                self._start.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._start.folder or "/",
                env=dict(self._start.environment),
                start_new_session=True,
                bufsize=0,
            )
        except OSError:
            self._remove_folder()
            raise
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None  # noqa: S101 - pipes were asked for
            os.set_blocking(stream.fileno(), False)

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self.is_open and self._process.poll() is None

    @property
    def reading(self) -> int:
        """The handle on which messages come."""
        assert self._process.stdout is not None  # noqa: S101
        return self._process.stdout.fileno()

    @property
    def writing(self) -> int:
        """The handle on which messages go."""
        assert self._process.stdin is not None  # noqa: S101
        return self._process.stdin.fileno()

    @property
    def has_outgoing(self) -> bool:
        """Whether something waits to be written."""
        return bool(self._outgoing)

    def post(self, message: bytes) -> None:
        """Put a message among those to be written."""
        self._outgoing += len(message).to_bytes(HEAD, "big") + message

    def write(self) -> None:
        """Write what can be written now."""
        try:
            del self._outgoing[: os.write(self.writing, self._outgoing[:_SOME])]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()
            self.is_open = False

    def read(self) -> None:
        """Read what has come."""
        try:
            data = os.read(self.reading, _SOME)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.received_bytes += len(data)
        self._incoming += data
        if not data or self.received_bytes > self._limits.message_bytes or self._announced > LONGEST:
            self.is_open = False

    @property
    def _announced(self) -> int:
        return int.from_bytes(self._incoming[:HEAD], "big") if len(self._incoming) >= HEAD else 0

    def take(self) -> bytes | None:
        """Return the next message, ``None`` where it has not come whole."""
        size = self._announced
        if len(self._incoming) < HEAD or len(self._incoming) < HEAD + size:
            return None
        message = bytes(self._incoming[HEAD : HEAD + size])
        del self._incoming[: HEAD + size]
        return message

    @property
    def fills_disk(self) -> bool:
        """Whether it has written more than it may, where that has to be measured."""
        if not self._start.folder:
            return False
        total = count = 0
        for folder, folders, names in os.walk(self._start.folder):
            for name in (*folders, *names):
                count += 1
                with suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_blocks * _BLOCK  # noqa: PTH118 - often
                if total > self._limits.disk_bytes or count > _MOST_FILES:
                    return True
        return False

    def complaint(self) -> str:
        """Return the cell's error, which only a prison that could not be built writes."""
        assert self._process.stderr is not None  # noqa: S101
        try:
            return os.read(self._process.stderr.fileno(), 1000).decode("utf-8", "replace").strip()
        except OSError:
            return ""

    def close(self) -> None:
        """End it, with everything that it started, and remove what it wrote."""
        process = self._process
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        if self._start.stop:
            with suppress(subprocess.CalledProcessError):
                run(list(self._start.stop))
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._start.folder:
            shutil.rmtree(self._start.folder, ignore_errors=True)
