"""Errors with the place where they happened, settings and logs, as Unitxt's programs ask for them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from proctor.errors import UsageError
from proctor.guests.unitxt.functions import Documentation, get_constants
from proctor.logs import get_logger

context_block_title = "Proctor error context"
log_levels = {name.lower(): getattr(logging, name) for name in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")}
_LONGEST = 100_000
"""Letters of a message that a log keeps, as there."""


def additional_info(path: str) -> str:
    """Return the address of a page of Unitxt's, as the end of a message."""
    return f"\nFor more information: see {Documentation.URL}/{path} \n"


@contextmanager
def error_context(context_object: Any = None, **context: Any) -> Iterator[None]:
    """Note on whatever is raised in a block of code where it happened; the error stays what it is.

    Args:
        context_object: What was at work.
        context: More, by name.
    """
    try:
        yield
    except Exception as error:
        found = getattr(error, "error_context", {})
        about = (
            {"object": getattr(context_object, "artifact_id", "") or type(context_object).__name__}
            if context_object
            else {}
        )
        text = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in {**about, **context}.items())
        error.add_note(f"{context_block_title}: {text}")
        vars(error)["error_context"] = {**found, **about, **context}  # what programs look at
        vars(error).setdefault("original_error", error)
        raise


def Constants() -> SimpleNamespace:  # noqa: N802
    """Return names that are kept in one place."""
    return get_constants()


class SizeLimitedFormatter(logging.Formatter):
    """Cuts messages that are longer than anybody reads."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a message, cut."""
        text = super().format(record)
        if len(text) <= _LONGEST:
            return text
        return f"{text[:_LONGEST]}...\n(the message has {len(text)} letters; {_LONGEST} are shown)"


def enable_explicit_format() -> None:
    """Write level, file, line and time before each message."""
    for handler in get_logger().handlers:
        handler.setFormatter(
            SizeLimitedFormatter("[Proctor|%(levelname)s|%(filename)s:%(lineno)s] %(asctime)s >> %(message)s")
        )


def get_all_files_in_dir(dir_path: str, recursive: bool = False, file_extension: str | None = None) -> list[str]:
    """Return the files in a folder.

    Args:
        dir_path: The folder.
        recursive: And those in folders in it.
        file_extension: Only those whose name ends so.

    Raises:
        ValueError: It is not a folder.
    """
    if not Path(dir_path).is_dir():
        raise UsageError(f"{dir_path} is not a directory")
    found: list[str] = []
    for root, _, names in os.walk(dir_path):
        found += [str(Path(root, name)) for name in names if name.endswith(file_extension or "")]
        if not recursive:
            break
    return found


def read_file(source: Any) -> bytes:
    """Return the bytes of a file, by its path, its address or itself."""
    if hasattr(source, "read"):
        return source.read()  # type: ignore[no-any-return]
    text = str(source)
    if text.startswith(("http://", "https://")):
        raise UsageError(
            "a file on a server is not read here", hint="use the loader for it, which asks who may connect"
        )
    return Path(text).read_bytes()
