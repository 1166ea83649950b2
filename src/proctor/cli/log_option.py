"""The place of a response log as people type it: a file, or the address of a PostgreSQL database."""

from pathlib import Path
from typing import Any

import click

from proctor.running.log_place import LogAddress, placed


class LogPlace(click.Path):
    """A file, or an address."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the address."""
        found = placed(value)
        return found if isinstance(found, LogAddress) else super().convert(value, param, ctx)


LOG = LogPlace(dir_okay=False, path_type=Path)
