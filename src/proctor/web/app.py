"""The app: routes, templates, errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from proctor.errors import ProctorError
from proctor.results.origins import COLOURS, label_of, part_of
from proctor.results.summary import interval, shown
from proctor.web import compare_pages, explorer_pages, run_pages
from proctor.web.library import Library
from proctor.web.security import LOOPBACK, Guard

Page = Callable[[Library, Request], tuple[str, dict[str, Any]]]
"""A page: from the library and a request to the name of a template and its values."""

PAGES: dict[str, Page] = {
    "/runs": run_pages.runs,
    "/runs/{run}": run_pages.run,
    "/runs/{run}/samples": run_pages.samples,
    "/runs/{run}/samples/{number:int}": run_pages.sample,
    "/compare": compare_pages.compare,
    "/explore": explorer_pages.search,
    "/explore/exam": explorer_pages.exam,
}


def create_app(roots: Sequence[Path], hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """Return the app that shows the runs below ``roots``, answering to ``hosts``."""
    library = Library(roots)
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


@cache
def environment() -> Environment:
    """Return the templates: everything is escaped, an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("proctor.web", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"shown": shown, "interval": interval, "visible": visible, "pretty": pretty}
    made.globals |= {"label_of": label_of, "part_class": part_class, "parts": COLOURS}
    return made


def render(name: str, **values: Any) -> str:
    """Return a page."""
    return environment().get_template(name).render(**values)


def part_class(origin: str) -> str:
    """Return the style class of a part of a prompt."""
    return "part-" + part_of(origin).replace(" ", "-")


@cache
def part_styles() -> str:
    """Return the style sheet that gives parts their colours, made of the one table of colours."""
    return "".join(f".part-{part.replace(' ', '-')} {{ color: {colour}; }}\n" for part, colour in COLOURS.items())


_BIDI = {code: f"[U+{code:04X}]" for code in (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_CONTROL = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {0x7F: "␡"}
_VISIBLE = {**_BIDI, **_CONTROL}


def visible(text: object) -> str:
    """Return a text whose control characters and direction marks can be seen and do nothing."""
    return str(text).translate(_VISIBLE)


def pretty(value: Any) -> str:
    """Return a value as people read it: text as it is, everything else as indented JSON."""
    if isinstance(value, str):
        return visible(value)
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str))
