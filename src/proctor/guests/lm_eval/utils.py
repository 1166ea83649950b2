"""``lm_eval.utils``: the functions that code of tasks and notebooks call, with the results that lm-eval's have.

Source of their rules: lm-eval 0.4.13. Templates render sandboxed, as everywhere here.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import filter as matching
from typing import Any

import numpy as np

eval_logger = logging.getLogger("lm_eval")
SPACING = " " * 47
"""Below what a logged line begins with."""


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


def setup_logging(verbosity: int | str | None = logging.INFO) -> None:
    """Set how much lm-eval's logger says; ``None``, which its parser has where nobody says it, is INFO."""
    eval_logger.setLevel(logging.INFO if verbosity is None else verbosity)


def make_table(result_dict: Mapping[str, Any], column: str = "results", sort_results: bool = False) -> str:
    """Return results of lm-eval's form as a table in Markdown.

    Args:
        result_dict: What ``simple_evaluate`` returns, or what ``results_*.json`` holds.
        column: ``results`` or ``groups``.
        sort_results: Sort by name, instead of members below their groups.
    """
    from proctor.guests.lm_eval.tables import table_of_results

    return table_of_results(result_dict, column, sort_results=sort_results)
