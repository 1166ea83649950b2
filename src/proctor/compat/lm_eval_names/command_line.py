"""``lm_eval.__main__``: the command line, which is ``proctor``'s; ``lm_eval._cli.utils``: helpers of its parsers."""

from __future__ import annotations

import argparse
import runpy
import sys
from ast import literal_eval
from collections.abc import Mapping
from typing import Any, NoReturn

from proctor.errors import UsageError
from proctor.foreign_text import parse_json
from proctor.logs import get_logger

_CLOSING = {"[": "]", "(": ")", "{": "}"}


def cli_evaluate(args: Any = None) -> int:
    """Run the command line that this program was called with, as ``lm-eval`` would.

    Args:
        args: Arguments that :class:`~proctor.compat.lm_eval_names.commands.HarnessCLI` has parsed; by default
            ``proctor`` reads what was typed.

    Raises:
        UsageError: Other arguments are given.
        SystemExit: The command fails, with its exit code.
    """
    if args is not None:
        if not callable(getattr(args, "func", None)):
            raise UsageError("these arguments name no command", hint="HarnessCLI().parse_args() makes arguments")
        args.func(args)
        return 0
    typed = [each.partition("=")[0] for each in sys.argv]
    written = {"--output_path", "-o", "--output"} & {*typed} and "--output-format" not in typed
    sys.argv += ["--output-format", "lm-eval"] if written else []
    try:
        runpy.run_module("proctor", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    return 0


def try_parse_json(value: str | Mapping[str, Any] | None) -> Any:
    """Return what JSON says; a text that is none as it is.

    Raises:
        ValueError: It has a brace, and is not JSON.
    """
    if value is None or isinstance(value, Mapping):
        return value
    try:
        return parse_json(value)
    except ValueError:
        if "{" in value:
            raise ValueError(f"Invalid JSON: {value}. Hint: names and texts stand in double quotes") from None
        return value


def _int_or_none_list_arg_type(
    min_len: int, max_len: int, defaults: str, value: str, split_char: str = ","
) -> list[int | None]:
    """Return whole numbers (``None`` for ``none``); one stands for all, and defaults for what is missing.

    Raises:
        ValueError: One is not a number, or there are too few or too many.
    """
    given, known = ([_int_or_none(each) for each in text.split(split_char)] for text in (value, defaults))
    if len(given) == 1:
        return given * max_len
    if not min_len <= len(given) <= max_len:
        raise ValueError(f"Argument requires {max_len} integers or None, separated by '{split_char}'")
    if len(given) < max_len:
        get_logger().warning("%d numbers are wanted; what is missing is %s", max_len, known[len(given) :])
    return [*given, *known[len(given) :]]


def _int_or_none(text: str) -> int | None:
    word = text.strip().lower()
    if word == "none":
        return None
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"{word} is not an integer or None") from None


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


def handle_cli_value_string(arg: str) -> Any:
    """Return a value: a truth value, a number, a Python literal, or the text."""
    if arg.lower() in ("true", "false"):
        return arg.lower() == "true"
    if arg.isnumeric():
        return int(arg)
    try:
        return float(arg)
    except ValueError:
        pass
    try:
        return literal_eval(arg)
    except (ValueError, SyntaxError):
        return arg


def split_top_level(args: str) -> list[str]:
    """Return a text split at commas that stand in no bracket and in no quotes."""
    parts, depth, quote = [""], 0, ""
    for char in args:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _CLOSING:
            depth += 1
        elif char in _CLOSING.values():
            depth = max(depth - 1, 0)
        elif char == "," and not depth:
            parts.append("")
            continue
        parts[-1] += char
    return [part for part in parts if part]


def key_val_to_dict(args: str) -> dict[str, Any]:
    """Return ``key=value,key=value`` as a mapping; of a key that is given twice the later value.

    Raises:
        ValueError: A part has no equals sign.
    """
    found: dict[str, Any] = {}
    for part in split_top_level(args or ""):
        key, equals, text = part.partition("=")
        if not equals:
            raise ValueError(f"expected `key=value`, got {part!r}")
        value = handle_cli_value_string(text)
        if key in found:
            get_logger().warning("Overwriting key '%s': %r -> %r", key, found[key], value)
        found[key] = value
    return found


class MergeDictAction(argparse.Action):
    """Puts ``key=value`` arguments, or JSON, together in one mapping."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add to what earlier ones said."""
        before = dict(getattr(namespace, self.dest, None) or {})
        for each in self._read(parser, values or [], option_string):
            for key in before.keys() & each.keys():
                get_logger().warning("%s: Overwriting %s: %r -> %r", option_string, key, before[key], each[key])
            before.update(each)
        if values:
            setattr(namespace, self.dest, before)

    def _read(self, parser: argparse.ArgumentParser, values: Any, option: str | None) -> list[dict[str, Any]]:
        whole = try_parse_json(values[0]) if values else {}
        if isinstance(whole, Mapping):
            return [dict(whole)]
        try:
            return [key_val_to_dict(each) for each in values]
        except ValueError as error:
            _refuse(parser, f"argument {option or self.dest}: {error}")


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.error(message)


class SplitArgs(argparse.Action):
    """Puts names together that commas or blanks separate."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add to what earlier ones said."""
        if not values:
            _refuse(parser, f"argument {option_string or self.dest}: no value is given")
        more = [name for each in values for name in each.split(",")]
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest, None) or []), *more])
