"""``lm_eval.__main__`` and ``lm_eval._cli``: the command line, which is ``proctor``'s, and parsers of its arguments."""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from proctor.compat.lm_eval_names.evaluator_config import seeds_of
from proctor.dialects.lm_eval.flags import FLAGS, parse_pairs

_DEFAULTS: Final[Mapping[str, Any]] = {
    "batch_size": 1, "seed": [0, 1234, 1234, 1234], "model": "hf", "cache_requests": None
}  # fmt: skip
_TEXTS: Final = frozenset(("model_args", "wandb_args", "wandb_config_args", "hf_hub_log_args"))
"""Arguments that programs add text to: empty where nobody gave any, before 0.4.10."""
_TYPES: Final[Mapping[str, Any]] = {"num_fewshot": int, "max_batch_size": int, "limit": float, "seed": seeds_of}


class MergeDictAction(argparse.Action):
    """Reads ``a=1,b=2``, ``a=1 b=2`` or JSON as a mapping; what comes later adds to it."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Keep the mapping."""
        del parser, option_string
        for text in [values] if isinstance(values, str) else values:
            setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **parse_pairs(text)})


def _filled(parser: argparse.ArgumentParser, *, of_today: bool) -> argparse.ArgumentParser:
    """Add lm-eval's arguments; tasks and pairs are one text each before its 0.4.10, then lists and mappings."""
    for flag in FLAGS:
        name, names = flag.name.removeprefix("--"), [each for each in (flag.short, flag.name) if each]
        given: dict[str, Any] = {"type": _TYPES.get(name, str), "default": _DEFAULTS.get(name)}
        if name in _TEXTS and not of_today:
            given["default"] = ""
        if flag.takes == "nothing":
            given = {"action": "store_true"}
        elif flag.takes == "perhaps":
            given = {"nargs": "?", "const": True, "default": _DEFAULTS.get(name, False)}
        elif flag.takes == "pairs" and of_today:
            given |= {"nargs": "+", "action": MergeDictAction}
        elif flag.takes == "many" and of_today:
            given |= {"nargs": "+"}
        parser.add_argument(*names, help=flag.note.replace("%", "%%"), **given)
    return parser


def setup_parser() -> argparse.ArgumentParser:
    """Return a parser of lm-eval's arguments, to which a program adds its own."""
    return _filled(argparse.ArgumentParser(prog="lm-eval"), of_today=False)


def parse_eval_args(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return what this program was called with."""
    return parser.parse_args()


class HarnessCLI:
    """lm-eval's command line as an object; a program may add arguments to its parser of ``run``."""

    def __init__(self) -> None:
        self._parser = argparse.ArgumentParser(prog="lm-eval")
        self._parser.set_defaults(func=self.execute)
        self._subparsers = self._parser.add_subparsers(dest="command")
        _filled(self._subparsers.add_parser("run"), of_today=True)
        for name in ("ls", "validate"):
            self._subparsers.add_parser(name, add_help=False)  # their words are read when they are executed

    def parse_args(self) -> argparse.Namespace:
        """Return what this program was called with; ``run`` may be left out."""
        words = (
            sys.argv[1:] if {*sys.argv[1:2]} <= {*self._subparsers.choices, "-h", "--help"} else ["run", *sys.argv[1:]]
        )
        args, others = self._parser.parse_known_args(words)
        if others and args.command == "run":
            self._parser.error(f"unrecognized arguments: {' '.join(others)}")
        return args

    def execute(self, args: argparse.Namespace) -> None:
        """Run what was asked for."""
        cli_evaluate(args if args.command == "run" else None)


def cli_evaluate(args: argparse.Namespace | None = None) -> int:
    """Run the command line that this program was called with, as ``lm-eval`` would.

    Args:
        args: Parsed arguments that stand for it; what is not lm-eval's among them is the program's own.

    Raises:
        SystemExit: The command fails, with its exit code.
    """
    if args is not None:
        sys.argv[1:] = _words(vars(args))
    typed = [each.partition("=")[0] for each in sys.argv]
    written = {"--output_path", "-o", "--output"} & {*typed} and "--output-format" not in typed
    sys.argv += ["--output-format", "lm-eval"] if written else []
    try:
        runpy.run_module("proctor", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    return 0


def _words(args: Mapping[str, Any]) -> Sequence[str]:
    found: list[str] = []
    for flag in FLAGS:
        name = flag.name.removeprefix("--")
        value = args.get(name)
        if value is None or value is False or value in ("", [], {}) or value == _DEFAULTS.get(name) != "hf":
            continue
        text = json.dumps(value) if isinstance(value, Mapping) else str(value)
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else text
        found += [flag.name] if value is True else [flag.name, text]
    return found


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
