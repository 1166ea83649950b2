"""The app: routes, templates, errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from proctor.errors import ProctorError
from proctor.web import compare_pages, explorer_pages, run_pages, sample_pages
from proctor.web.library import Library
from proctor.web.rendering import part_styles, render
from proctor.web.security import LOOPBACK, Guard

Page = Callable[[Library, Request], tuple[str, dict[str, Any]]]
"""A page: from the library and a request to the name of a template and its values."""

PAGES: dict[str, Page] = {
    "/runs": run_pages.runs,
    "/runs/{run}": run_pages.run,
    "/runs/{run}/samples": sample_pages.samples,
    "/runs/{run}/samples/{number:int}": sample_pages.sample,
    "/compare": compare_pages.compare,
    "/explore": explorer_pages.search,
    "/explore/exam": explorer_pages.exam,
}


def create_app(roots: Sequence[Path], hosts: Sequence[str] = LOOPBACK, include_paths: Sequence[str] = ()) -> Starlette:
    """Return the app that shows the runs below ``roots`` and the exams in ``include_paths``, answering to ``hosts``."""
    library = Library(roots, include_paths)
    static = StaticFiles(directory=str(files("proctor.web").joinpath("static")))
    app = Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/runs")),
            Route("/static/parts.css", lambda _: Response(part_styles(), media_type="text/css")),
            Mount("/static", static),
            *(Route(path, _endpoint(page, library)) for path, page in PAGES.items()),
        ],
        middleware=[Middleware(Guard, hosts=tuple(hosts))],
        exception_handlers={ProctorError: _show_error, HTTPException: _show_http_error},
    )
    app.state.library = library
    return app


def _endpoint(page: Page, library: Library) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:  # not async: pages read files and databases, so they run in threads
        name, values = page(library, request)
        return HTMLResponse(render(name, path=request.url.path, **values).encode("utf-8", "backslashreplace"))

    return respond


def _show_error(request: Request, error: Exception) -> Response:
    problems = error.diagnostics if isinstance(error, ProctorError) else ()
    return _error_page(request, problems, 404 if "/runs" in request.url.path else 400)


def _show_http_error(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    problems = ProctorError("there is no such page" if code == 404 else str(error)).diagnostics  # noqa: PLR2004
    return _error_page(request, problems, code)


def _error_page(request: Request, problems: Sequence[Any], code: int) -> Response:
    page = render("error.html", path=request.url.path, problems=problems)
    return HTMLResponse(page.encode("utf-8", "backslashreplace"), code)
