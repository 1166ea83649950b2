"""Starts the app on loopback and opens the browser."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from html import escape
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from proctor import effects
from proctor.errors import MissingExtraError, UsageError, reason_of
from proctor.starter import browse

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from proctor.web.library import Library

_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound unless the user says so


def serve(
    runs: Sequence[Path],
    host: str,
    port: int,
    *,
    open_browser: bool = True,
    include_paths: Sequence[str] = (),
    needs_token: bool = True,
) -> None:
    """Serve until Ctrl-C.

    Args:
        runs: Run folders, or folders that hold some; by default ``runs``.
        host: Address to listen on.
        port: Port; 0 takes any free one.
        open_browser: Whether to open the first page.
        include_paths: More folders with exams, for the explorer.
        needs_token: Whether only those are answered who have the token of this start; on loopback it may be left out.

    Raises:
        MissingExtraError: The extra ``web`` is not installed.
        UsageError: The address cannot be listened on, or everybody could reach it.
    """
    _require("starlette", "uvicorn")
    from proctor.web.access import TOKEN, WITHOUT_TOKEN, Access
    from proctor.web.app import create_app
    from proctor.web.library import Library, roots_of

    roots = roots_of(runs)
    listening = _listen(host, port)
    is_local = _is_loopback(listening)
    with closing(listening), effects.session():
        if not (needs_token or is_local):
            raise UsageError(
                f"without a token the viewer listens on loopback only, and {host or 'every address'} is not that",
                why="whoever reaches this machine could read your runs",
                hint="leave out --no-token, or --host",
            )
        access = Access() if needs_token else WITHOUT_TOKEN
        first = _first_page(Library(roots), runs)
        app = create_app(roots, _names(host, is_local=is_local), include_paths, access=access, first=f"/{first}")
        shown = "127.0.0.1" if host in _EVERYWHERE else _in_address(host)
        place = f"http://{shown}:{listening.getsockname()[1]}/"
        address = f"{place}?{TOKEN}={access.token}" if access.token else f"{place}{first}"
        print(f"{address}\nCtrl-C ends", file=sys.stderr, flush=True)  # noqa: T201 - for the person who started it
        _warn(needs_token=needs_token, is_local=is_local)
        with _page_that_leads_to(address) as page:
            if open_browser:
                threading.Timer(0.5, browse, [page.as_uri()]).start()
            _answer(app, listening)


def export_pages(runs: Sequence[Path], folder: Path, say: Callable[[str], None]) -> int:
    """Write the pages of runs into a folder, as :func:`proctor.web.site.export_site` does; return how many.

    Raises:
        MissingExtraError: The extra ``web`` is not installed.
        UsageError: The folder holds other things, or cannot be written.
    """
    _require("starlette")
    from proctor.web.library import roots_of
    from proctor.web.site import export_site

    try:
        with effects.session():
            return export_site(roots_of(runs), folder, say)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written", why=reason_of(error), hint="name another --export") from None


def _require(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError.of(package, "web", "proctor view")


@contextmanager
def _page_that_leads_to(address: str) -> Iterator[Path]:
    """Give a file that only its owner reads and that leads on: every user sees the arguments of a browser."""
    handle, name = tempfile.mkstemp(prefix="proctor-view-", suffix=".html")
    link = escape(address)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><a href="{link}">proctor view</a>'
        )
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _names(host: str, *, is_local: bool) -> list[str]:
    """Return the names under which the viewer answers."""
    from proctor.web.security import ANY_HOST, LOOPBACK

    if host in _EVERYWHERE and not is_local:
        return [ANY_HOST]
    return [*LOOPBACK, _in_address(host.lower())]


def _answer(app: Starlette, listening: socket.socket) -> None:
    """Answer whoever asks, until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
    )
    with suppress(KeyboardInterrupt):  # Ctrl-C is how this ends
        uvicorn.Server(config).run(sockets=[listening])


def _warn(*, needs_token: bool, is_local: bool) -> None:
    """Say what is less safe than it could be."""
    if not is_local:
        warning = "warning: whoever has this address can read your runs, and on the way to you so can the network"
        print(warning, file=sys.stderr, flush=True)  # noqa: T201 - as above
    elif not needs_token:
        warning = "warning: every user and program of this machine can read your runs"
        print(warning, file=sys.stderr, flush=True)  # noqa: T201 - as above


def _is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine reaches a socket: by the address that it is bound to, whatever its name was."""
    return ip_address(str(listening.getsockname()[0]).partition("%")[0]).is_loopback


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
        hint = "choose another --host" if isinstance(error, socket.gaierror) else "choose another --port, or 0"
        raise UsageError(f"nothing can listen on {host}:{port}", why=reason_of(error), hint=hint) from None
    return listening
