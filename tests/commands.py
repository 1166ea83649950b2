"""Commands in the process of a test, for tests that need no process of their own: starting one takes most of a second."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from proctor.logs import get_logger
from proctor.settings import settings


def proctor(*arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """Run ``proctor`` with arguments; return its exit code and what it wrote, as ``subprocess.run`` does.

    Args:
        arguments: As a user types them.
        cwd: Where it runs.
        env: Its environment; that of the test where it is not given.
    """
    from proctor.cli.__main__ import main

    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    typed = list(map(str, arguments))
    before = dict(settings._assigned)
    handlers = [each for each in get_logger().handlers if isinstance(each, logging.StreamHandler)]
    streams = [each.stream for each in handlers]  # those of the tests that they were made in: closed, most of them
    for handler in handlers:
        handler.stream = err
    with (
        chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, env or os.environ, clear=True),
        mock.patch.object(sys, "argv", ["proctor", *typed]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            code = main(typed)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        finally:
            settings._assigned.clear()
            settings._assigned.update(before)
            for handler, stream in zip(handlers, streams, strict=True):
                handler.stream = stream
    written = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
    return CompletedProcess(["proctor", *typed], int(code or 0), *written)
