"""Starts the app on loopback and opens the browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from proctor.web.library import Library

_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised, not bound unless the user says so


def serve(
    runs: Sequence[Path], host: str, port: int, *, open_browser: bool = True, include_paths: Sequence[str] = ()
) -> None:
    """Serve until Ctrl-C.

    Args:
        runs: Run folders, or folders that hold some; by default ``runs``.
        host: Address to listen on.
        port: Port; 0 takes any free one.
        open_browser: Whether to open the first page.
        include_paths: More folders with exams, for the explorer.

    Raises:
        MissingExtraError: The extra ``web`` is not installed.
        UsageError: The address cannot be listened on.
    """
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtraError.of(package, "web", "proctor view")
    import uvicorn

    from proctor.web.app import create_app
    from proctor.web.library import Library, roots_of
    from proctor.web.security import LOOPBACK

    roots = roots_of(runs)
    listening = _listen(host, port)
    names = ["*"] if host in _EVERYWHERE else [*LOOPBACK, host.lower()]
    shown = "127.0.0.1" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/" + _first_page(Library(roots), runs)
    app = create_app(roots, names, include_paths)
    print(f"{address}\nCtrl-C ends", file=sys.stderr, flush=True)  # noqa: T201 - for the person who started it
    if host not in LOOPBACK:
        warning = "warning: whoever reaches this machine can read your runs"
        print(warning, file=sys.stderr, flush=True)  # noqa: T201
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
    with suppress(KeyboardInterrupt):  # Ctrl-C is how this ends
        uvicorn.Server(config).run(sockets=[listening])


def _first_page(library: Library, runs: Sequence[Path]) -> str:
    from proctor.runs.stored_run import is_run

    return f"runs/{library.id_of(runs[0])}" if len(runs) == 1 and is_run(runs[0]) else "runs"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)  # from now on a browser waits instead of being refused
    except OSError as error:
        listening.close()
        raise UsageError(
            f"nothing can listen on {host}:{port}", why=error.strerror or str(error), hint="choose another --port, or 0"
        ) from None
    return listening
