"""``lm_eval.utils``: the functions that code of tasks and notebooks call, with the results that lm-eval's have.

Source of their rules: lm-eval 0.4.13. Templates render sandboxed, as everywhere here.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import filter as matching
from typing import Any, Final

import numpy as np

eval_logger = logging.getLogger("lm_eval")


def weighted_f1_score(items: Iterable[tuple[Any, Any]]) -> float:
    """Return the F1 of each class, weighted by how often it is the gold answer; items are (gold, prediction).

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    from proctor.scoring.aggregations import columns, need_scikit_learn

    need_scikit_learn("weighted_f1_score")
    from sklearn.metrics import f1_score

    golds, predictions = columns(list(items))
    return float(f1_score(golds, predictions, average="weighted"))


_SPACED = ((" n't", "n't"), (" )", ")"), ("( ", "("), ('" ', '"'), (' "', '"'))


def general_detokenize(string: str) -> str:
    """Return a text without the blanks that tokenizers put before punctuation."""
    for spaced, tight in _SPACED:
        string = string.replace(spaced, tight)
    return re.sub(r" (['.,])", r"\1", string)


def regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Return a text with what a pattern matches replaced."""
    return re.sub(pattern, repl, string, count=count)


def handle_arg_string(arg: str) -> Any:
    """Return a value of ``key=value``: a truth value, ``None``, a number, or the text; quotes keep it a text."""
    arg = arg.strip()
    if len(arg) > 1 and arg[0] == arg[-1] and arg[0] in "'\"":
        return arg[1:-1]
    if arg.lower() in _CONSTANTS:
        return _CONSTANTS[arg.lower()]
    for kind in (int, float):
        try:
            return kind(arg)
        except ValueError:
            continue
    return arg


_CONSTANTS = {"true": True, "false": False, "none": None}


def simple_parse_args_string(args_string: str | None) -> dict[str, Any]:
    """Return ``a=1,b=x`` as a mapping."""
    parts = (each.partition("=") for each in (args_string or "").strip().split(",") if each)
    return {key: handle_arg_string(value) for key, _, value in parts}


def escaped_split(text: str, sep_char: str, maxsplit: int = -1) -> list[str]:
    r"""Return a text split at a character, but not where a backslash stands before it.

    Raises:
        ValueError: The separator is not one character.
    """
    if len(sep_char) != 1:
        raise ValueError(f"the separator is one character, not {sep_char!r}")
    if maxsplit == 0:
        return [text]
    return re.split(rf"(?<!\\){re.escape(sep_char)}", text, maxsplit=max(0, maxsplit))


def pattern_match(patterns: str | Iterable[str], source_list: Iterable[str]) -> list[str]:
    """Return, sorted, the names that match one of the patterns (``mmlu_*``)."""
    listed, names = [patterns] if isinstance(patterns, str) else patterns, list(source_list)
    return sorted({name for pattern in listed for name in matching(names, pattern)})


def softmax(x: Any) -> Any:
    """Return numbers as shares that sum up to one."""
    powers = np.exp(x - np.max(x))
    return powers / powers.sum()


def hash_string(string: str) -> str:
    """Return the SHA-256 of a text, as hexadecimal digits."""
    return hashlib.sha256(string.encode("utf-8")).hexdigest()


def group(arr: Iterable[Any], fn: Callable[[Any], Any]) -> list[list[Any]]:
    """Return things in lists, one for each value of a function of them."""
    found: dict[Any, list[Any]] = {}
    for each in arr:
        found.setdefault(fn(each), []).append(each)
    return list(found.values())


def handle_non_serializable(o: Any) -> Any:
    """Return a value for JSON: numbers of numpy as numbers, sets as lists, everything else as text."""
    if isinstance(o, np.bool_ | np.integer | np.floating):
        return o.item()
    return list(o) if isinstance(o, set) else str(o)


def sanitize_model_name(model_name: str) -> str:
    """Return a model's name as part of a path."""
    return re.sub(r"[\"<>:/|\\?*\[\]]+", "__", model_name)


def sanitize_task_name(task_name: str) -> str:
    """Return a task's name as part of a path."""
    return re.sub(r"\W", "_", task_name)


def get_rolling_token_windows(
    token_list: Sequence[int], prefix_token: int, max_seq_len: int, context_len: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (input tokens, predicted tokens) that predict every token once, each after ``context_len`` or more.

    Raises:
        ValueError: The context is longer than a window, or shorter than one token.
    """
    if not 1 <= context_len <= max_seq_len:
        raise ValueError(f"a context of {context_len} tokens in windows of {max_seq_len}")
    tokens, first = list(token_list), min(max_seq_len, len(token_list))
    if tokens:
        yield [prefix_token, *tokens[: first - 1]], tokens[:first]
    for start in range(first, len(tokens), max_seq_len - context_len + 1):
        end = min(len(tokens), start + max_seq_len - context_len + 1)
        yield tokens[end - max_seq_len - 1 : end - 1], tokens[start:end]


def make_disjoint_window(pair: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    """Return a window whose input ends where its predicted tokens begin."""
    given, predicted = pair
    return given[: len(given) - (len(predicted) - 1)], predicted


def warning_once(logger: logging.Logger, msg: str, *args: Any) -> None:
    """Log a warning, each only once."""
    if (msg, args) not in _said:
        _said.add((msg, args))
        logger.warning(msg, *args)


_said: set[tuple[str, tuple[Any, ...]]] = set()


def setup_logging(verbosity: int | str = logging.INFO) -> None:
    """Set how much lm-eval's logger says."""
    eval_logger.setLevel(verbosity)


def make_table(result_dict: Mapping[str, Any], column: str = "results", sort_results: bool = False) -> str:
    """Return results of lm-eval's form as a table in Markdown.

    Args:
        result_dict: What ``simple_evaluate`` returns, or what ``results_*.json`` holds.
        column: ``results`` or ``groups``.
        sort_results: Sort by name, instead of members below their groups.
    """
    from proctor.guests.lm_eval.tables import table_of_results

    return table_of_results(result_dict, column, sort_results=sort_results)


SPACING: Final = " " * 47
"""What lm-eval's help puts before lines that go on."""

HIGHER_IS_BETTER_SYMBOLS: Final = {True: "↑", False: "↓"}


def maybe_warn(msg: str, verbose: bool = True) -> None:
    """Log a warning, where that is wanted."""
    if verbose:
        eval_logger.warning(msg)


def convert_bytes_to_hash(value: Any) -> str:
    """Return the SHA-256 of bytes as Python writes them."""
    return hash_string(str(value))


def convert_pil_to_hash(value: Any) -> str:
    """Return the SHA-256 of a picture as PNG."""
    file = io.BytesIO()
    value.save(file, format="PNG")
    return hashlib.sha256(file.getvalue()).hexdigest()


def hash_dict_images(data_dict: Any) -> Any:
    """Return values with digests in place of bytes and pictures, also of those in mappings and lists."""
    if isinstance(data_dict, bytes | bytearray):
        return convert_bytes_to_hash(data_dict)
    if hasattr(data_dict, "save") and hasattr(data_dict, "mode"):
        return convert_pil_to_hash(data_dict)
    if isinstance(data_dict, Mapping):
        return {name: hash_dict_images(each) for name, each in data_dict.items()}
    if isinstance(data_dict, list | tuple):
        return type(data_dict)(hash_dict_images(each) for each in data_dict)
    return data_dict


class Reorderer:
    """Things sorted by a function, and the way back to their order.

    Args:
        arr: The things.
        fn: What they are sorted by.
    """

    def __init__(self, arr: Sequence[Any], fn: Callable[[Any], Any]) -> None:
        numbered = [each for some in group(list(enumerate(arr)), lambda each: fn(each[1])) for each in some]
        self.size = len(arr)
        self.arr = sorted((([place], some) for place, some in numbered), key=lambda each: fn(each[1]))

    def get_reordered(self) -> list[Any]:
        """Return the things, sorted."""
        return [each for _, each in self.arr]

    def get_original(self, newarr: Sequence[Any]) -> list[Any]:
        """Return values, given in the sorted order, in the order of the things.

        Raises:
            ValueError: There are not as many as things.
        """
        found: list[Any] = [None] * self.size
        for ([place], _), value in zip(self.arr, newarr, strict=True):
            found[place] = value
        return found
