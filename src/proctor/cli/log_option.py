"""The place of a response log as people type it: a file, or the address of a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.running.log_place import LogAddress, placed


class LogPlace(click.Path):
    """A file, or an address.

    Args:
        exists: Whether a file has to be there.
        dir_okay: Whether a folder may stand there, too.
    """

    def __init__(self, *, exists: bool = False, dir_okay: bool = False) -> None:
        super().__init__(exists=exists, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the address.

        Raises:
            UsageError: An address cannot be read.
        """
        if isinstance(value, str) and isinstance(place := placed(value), LogAddress):
            return place
        return super().convert(value, param, ctx)
