"""``lm_eval.__main__``: the command line, which is ``proctor``'s."""

from __future__ import annotations

import argparse
import runpy
import sys
from typing import Any

from proctor.errors import UsageError


def cli_evaluate(args: Any = None) -> int:
    """Run the command line that this program was called with, as ``lm-eval`` would.

    Raises:
        UsageError: Parsed arguments are given.
        SystemExit: The command fails, with its exit code.
    """
    if args is not None:
        raise UsageError(
            "cli_evaluate takes no parsed arguments here", hint="it reads what the program was called with"
        )
    typed = [each.partition("=")[0] for each in sys.argv]
    written = {"--output_path", "-o", "--output"} & {*typed} and "--output-format" not in typed
    sys.argv += ["--output-format", "lm-eval"] if written else []
    try:
        runpy.run_module("proctor", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    return 0


def request_caching_arg_to_dict(cache_requests: str | None) -> dict[str, bool]:
    """Return the three arguments of ``evaluate`` that one word stands for; they have no effect here.

    Raises:
        argparse.ArgumentTypeError: The word is none of three.
    """
    if cache_requests is None:
        return {}
    if cache_requests not in ("true", "refresh", "delete"):
        raise argparse.ArgumentTypeError(f"invalid value '{cache_requests}' (choose from true, refresh, delete)")
    return {
        "cache_requests": cache_requests != "delete",
        "rewrite_requests_cache": cache_requests == "refresh",
        "delete_requests_cache": cache_requests == "delete",
    }
