"""``--include-path``: one option of every command that looks for exams by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click


class _Folders(click.Path):
    """A folder, or several with colons between them, as lm-eval takes them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the folders of one value."""
        text = os.fspath(value)
        parts = [text] if Path(text).is_dir() or ":" not in text else [each for each in text.split(":") if each]
        return [super(_Folders, self).convert(each, param, ctx) for each in parts]


def _all_of(_context: click.Context, _parameter: click.Parameter, values: Iterable[list[str]]) -> tuple[str, ...]:
    return tuple(folder for folders in values for folder in folders)


def include_path_option() -> Callable[..., Any]:
    """Return the option; the command gets ``include_paths``, a tuple of folders."""
    return click.option(
        "--include-path",
        "include_paths",
        multiple=True,
        type=_Folders(exists=True, file_okay=False),
        callback=_all_of,
        help="One more folder with exams; may be repeated.",
    )
