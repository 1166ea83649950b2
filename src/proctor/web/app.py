"""The app: routes, templates, errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from proctor.errors import ProctorError, UsageError
from proctor.logs import get_logger
from proctor.web import compare_pages, explorer_pages, item_pages, label_pages, run_pages, sample_pages, sweep_pages
from proctor.web.access import Access, parameters
from proctor.web.confinement import page_of, watch
from proctor.web.library import Library
from proctor.web.rendering import part_styles, render
from proctor.web.sample_pages import keep_note
from proctor.web.security import LONGEST_QUERY, LOOPBACK, Guard, is_loopback

Page = Callable[[Library, Request], tuple[str, dict[str, Any]]]
"""A page: from the library and a request to the name of a template and its values."""

PAGES: dict[str, Page] = {
    "/runs": run_pages.runs,
    "/runs/{run}": run_pages.run,
    "/runs/{run}/samples": sample_pages.samples,
    "/runs/{run}/samples/{number}": sample_pages.sample,
    "/runs/{run}/label": label_pages.label,
    "/compare": compare_pages.compare,
    "/items": item_pages.items,
    "/sweeps": sweep_pages.sweeps,
    "/explore": explorer_pages.search,
    "/explore/exam": explorer_pages.exam,
}


def create_app(
    roots: Sequence[Path],
    hosts: Sequence[str] = LOOPBACK,
    include_paths: Sequence[str] = (),
    *,
    access: Access | None = None,
    first: str = "/runs",
) -> Starlette:
    """Return the app that shows runs and exams; its ``state`` has the ``library`` and the ``access``.

    Args:
        roots: Run folders, or folders that hold some.
        hosts: Names under which the app answers, without ports; ``*`` is any.
        include_paths: More folders with exams.
        access: Who is let in; by default whoever has a token that is made now: ``app.state.access.token``.
        first: The page that ``/`` leads to.

    Raises:
        UsageError: Everybody would be let in, and not only from this machine.
    """
    access = access or Access()
    if access.is_open and not all(map(is_loopback, hosts)):
        raise UsageError(
            "without a token the viewer answers on loopback only",
            why="whoever reaches this machine could read your runs",
            hint="leave --no-token out, or listen on 127.0.0.1",
        )
    library = Library(roots, include_paths)
    watch()
    static = StaticFiles(directory=str(files("proctor.web").joinpath("static")))
    app = Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse(first)),
            Route("/static/parts.css", lambda _: Response(part_styles(), media_type="text/css")),
            Mount("/static", static),
            Route("/runs/{run}/samples/{number}/note", _keeping(partial(keep_note, library)), methods=["POST"]),
            Route("/runs/{run}/label", _keeping(partial(label_pages.keep_label, library)), methods=["POST"]),
            *(Route(path, _endpoint(page, library)) for path, page in PAGES.items()),
        ],
        middleware=[Middleware(Guard, hosts=tuple(hosts), access=access)],
        exception_handlers={ProctorError: _show_error, OSError: _show_refusal, HTTPException: _show_http_error},
    )
    app.state.library, app.state.access = library, access
    library.takes_notes = not access.is_open
    return app


def _endpoint(page: Page, library: Library) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:  # not async: pages read files and databases, so they run in threads
        with page_of(library):
            name, values = page(library, request)
            text = render(name, path=request.url.path, **values)
        return HTMLResponse(text.encode("utf-8", "backslashreplace"))

    return respond


def _keeping(keep: Callable[..., str]) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST_QUERY:
                raise HTTPException(413, f"a form has {LONGEST_QUERY:,} bytes at most")
        given = dict(parameters(body))
        return RedirectResponse(await run_in_threadpool(keep, *map(str, request.path_params.values()), given), 303)

    return respond


def _show_error(request: Request, error: Exception) -> Response:
    problems = error.diagnostics if isinstance(error, ProctorError) else ()
    return _error_page(request, problems, 404 if "/runs" in request.url.path else 400)


def _show_refusal(request: Request, error: Exception) -> Response:
    """Show what the system, or the confinement of pages, refused; the log has where."""
    get_logger().warning("%s: %s", request.url.path, error, exc_info=error)
    what = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return _error_page(request, ProctorError(f"the page cannot be made: {what}").diagnostics, 400)


def _show_http_error(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    problems = ProctorError("there is no such page" if code == 404 else str(error)).diagnostics  # noqa: PLR2004
    return _error_page(request, problems, code)


def _error_page(request: Request, problems: Sequence[Any], code: int) -> Response:
    page = render("error.html", path=request.url.path, problems=problems)
    return HTMLResponse(page.encode("utf-8", "backslashreplace"), code)
