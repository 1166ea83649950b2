"""Questions of a wanted length, made up (``ais_bench.benchmark.datasets.synthetic``): programs look at the rows.

Numbers are drawn by numpy's own generator, as upstream draws them: who seeds it gets upstream's lengths.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proctor.compat.aisbench_names import small_names
from proctor.compat.aisbench_names.base_datasets import BaseDataset

_MOST = 2**20
_LARGEST = 3.0e38
_PAIR = 2
_DRAWN: Mapping[str, set[str]] = {
    "uniform": {"MinValue", "MaxValue"},
    "gaussian": {"Mean", "Var", "MinValue", "MaxValue"},
    "zipf": {"Alpha", "MinValue", "MaxValue"},
}
"""How lengths are drawn, and what each way needs."""


@dataclass
class NumberRange:
    """Where a number may lie; ``None`` is no bound."""

    lower: float | None = None
    upper: float | None = None
    lower_inclusive: bool = True
    upper_inclusive: bool = True


_BOUNDS: Mapping[str, NumberRange] = {
    "MinValue": NumberRange(1, _MOST),
    "MaxValue": NumberRange(1, _MOST),
    "Mean": NumberRange(-_LARGEST, _LARGEST),
    "Var": NumberRange(0, _LARGEST),
    "Alpha": NumberRange(1.0, 10.0, lower_inclusive=False),
}


def _check_keys_equal(got_keys: Collection[str], true_keys: Collection[str], comment: str) -> None:
    if unknown := [key for key in got_keys if key not in true_keys]:
        raise ValueError(f"{comment} has no {', '.join(map(str, unknown))}")
    if set(got_keys) != set(true_keys):
        raise ValueError(f"{comment} needs {sorted(true_keys)}, and has {sorted(got_keys)}")


def _ensure_keys_present(check_keys: Collection[str], required_keys: set[str], comment: str) -> None:
    if missing := required_keys - set(check_keys):
        raise ValueError(f"{comment} misses required {', '.join(sorted(missing))}")


def check_type(name: str, value: Any, types: tuple[type, ...]) -> None:
    """See to it that a value is of one of some types.

    Raises:
        ValueError: It is not.
    """
    if not isinstance(value, types):
        wanted = ", ".join(each.__name__ for each in types)
        raise ValueError(f"{name} must be of type {wanted}, and is of type {type(value).__name__}")  # noqa: TRY004 - upstream's


def check_range(name: str, value: Any, param: NumberRange) -> None:
    """See to it that a number lies where it may.

    Raises:
        ValueError: It does not.
    """
    low, high = param.lower, param.upper
    below = low is not None and (value < low or (value == low and not param.lower_inclusive))
    above = high is not None and (value > high or (value == high and not param.upper_inclusive))
    if below or above:
        left = f"{'[' if param.lower_inclusive else '('}{'-inf' if low is None else low}"
        right = f"{'+inf' if high is None else high}{']' if param.upper_inclusive else ')'}"
        raise ValueError(f"{name} is {value}, not within the required range {left}, {right}")


def normalize_file_path(file_path: str) -> str:
    """Return a whole path; ``~`` is the user's folder."""
    return os.path.abspath(os.path.expanduser(file_path))  # noqa: PTH100, PTH111 - texts, as upstream


class SyntheticDataset(BaseDataset):
    """Questions of a wanted length: of one word, or of random tokens of a tokenizer."""

    @staticmethod
    def check_synthetic_string_config(synthetic_config: Mapping[str, Any]) -> None:
        """Check how lengths of questions and answers are drawn.

        Raises:
            ValueError: Something is missing, unknown or out of range.
        """
        _ensure_keys_present(synthetic_config.keys(), {"Input", "Output"}, "SyntheticConfig")
        for part in ("Input", "Output"):
            drawn = synthetic_config[part]
            _check_keys_equal(drawn.keys(), {"Method", "Params"}, f"SyntheticConfig of '{part}'")
            method, params = drawn["Method"], drawn["Params"]
            if method not in _DRAWN:
                raise ValueError(f"Method should be one of {', '.join(_DRAWN)}, and is {method}")
            _check_keys_equal(params.keys(), _DRAWN[method], method)
            for name, value in params.items():
                check_type(f"{part} {name}", value, (int,) if name in _DRAWN["uniform"] else (int, float))
                check_range(f"{part} {name}", value, _BOUNDS[name])
            if params["MinValue"] > params["MaxValue"]:
                raise ValueError(f"MinValue {params['MinValue']} is more than MaxValue {params['MaxValue']}")

    @staticmethod
    def check_synthetic_tokenid_config(synthetic_config: Mapping[str, Any]) -> None:
        """Check how many tokens questions have.

        Raises:
            ValueError: It is missing, or out of range.
        """
        _ensure_keys_present(synthetic_config.keys(), {"RequestSize"}, "SyntheticConfig")
        check_type("RequestSize", synthetic_config["RequestSize"], (int,))
        check_range("RequestSize", synthetic_config["RequestSize"], NumberRange(1, _MOST))

    @staticmethod
    def _check_synthetic_config(synthetic_config: Mapping[str, Any]) -> None:
        _ensure_keys_present(synthetic_config.keys(), {"Type", "RequestCount"}, "SyntheticConfig")
        kind = synthetic_config["Type"]
        check_type("Type", kind, (str,))
        check_type("RequestCount", synthetic_config["RequestCount"], (int,))
        check_range("RequestCount", synthetic_config["RequestCount"], NumberRange(1, _MOST))
        checks = {
            "string": ("StringConfig", SyntheticDataset.check_synthetic_string_config),
            "tokenid": ("TokenIdConfig", SyntheticDataset.check_synthetic_tokenid_config),
        }
        if kind.lower() not in checks:
            raise ValueError(f"Type is one of {', '.join(checks)}, and is {kind}")
        part, check = checks[kind.lower()]
        _ensure_keys_present(synthetic_config.keys(), {part}, "SyntheticConfig")
        check(synthetic_config[part])

    @staticmethod
    def sample_one_value(method: str, params: Mapping[str, Any]) -> int:
        """Return a length.

        Raises:
            ValueError: There is no such way to draw one.
        """
        low, high = params["MinValue"], params["MaxValue"]
        if method == "uniform":
            return int(np.random.uniform(low, high))  # noqa: NPY002 - the generator that programs seed
        if method == "gaussian":
            return int(np.clip(np.random.normal(params["Mean"], np.sqrt(params["Var"])), low, high))  # noqa: NPY002
        if method == "zipf":
            return int(np.clip(np.random.zipf(params["Alpha"]), low, high))  # noqa: NPY002
        raise ValueError(f"there is no method '{method}': it is one of {', '.join(_DRAWN)}")

    @staticmethod
    def read_line(self: Any, line: Sequence[int]) -> tuple[str, int]:  # noqa: PLW0211 - upstream's
        """Return a question of as many words as a line says, and how many tokens its answer may have.

        Raises:
            ValueError: The line does not have two numbers.
        """
        del self
        if not hasattr(line, "__len__") or len(line) != _PAIR:
            raise ValueError("a line is a list of 2 numbers: of the question's tokens, and of the answer's")
        words, tokens = line
        return " ".join(["A"] * words), tokens

    @staticmethod
    def find_first_file_path(search_path: str, search_file: str) -> str:
        """Return where a file of a name is below a folder.

        Raises:
            ValueError: There is no such folder.
            FileNotFoundError: There is no such file.
        """
        top = normalize_file_path(search_path)
        if not os.path.exists(top):  # noqa: PTH110 - programs replace it
            raise ValueError(f"Path does not exist: {top}")
        if not os.path.isdir(top):  # noqa: PTH112
            raise ValueError(f"Not a directory: {top}")
        for folder, _, names in os.walk(top):
            if search_file in names:
                return os.path.join(folder, search_file)  # noqa: PTH118
        raise FileNotFoundError(f"No {search_file} found in directory tree: {top}")

    @staticmethod
    def generate_valid_random_ids(valid_indices: Any, request_size: int) -> Any:
        """Return some of the tokens that may be drawn, each drawn anew."""
        return valid_indices[np.random.randint(0, len(valid_indices), (request_size,))]  # noqa: NPY002

    def load(self, config: dict[str, Any], **kwargs: Any) -> Any:  # type: ignore[override]
        """Return the questions.

        Args:
            config: How many, and of what kind.
            **kwargs: ``model_path``: the folder of the tokenizer; ``trust_remote_code``.

        Raises:
            ValueError: The config cannot be obeyed.
        """
        from datasets import Dataset

        config["ModelPath"] = kwargs.get("model_path")
        self._check_synthetic_config(config)
        if config["Type"].lower() == "string":
            return Dataset.from_list(self._of_words(config["StringConfig"], config["RequestCount"]))
        trusted = config.get("TrustRemoteCode") or kwargs.get("trust_remote_code", False)
        return Dataset.from_list(self._of_tokens(config, trusted))

    def _of_words(self, config: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
        drawn = [(config[part]["Method"], config[part]["Params"]) for part in ("Input", "Output")]
        lines = [[self.sample_one_value(*each) for each in drawn] for _ in range(count)]
        made = [self.read_line(self, line) for line in lines]
        return [{"question": question, "answer": "aaa", "max_out_len": tokens} for question, tokens in made]

    def _of_tokens(self, config: Mapping[str, Any], trusted: bool) -> list[dict[str, Any]]:
        wanted, path = config["TokenIdConfig"], config["ModelPath"]
        size, shared = wanted["RequestSize"], wanted.get("PrefixLen", 0)
        check_type("PrefixLen", shared, (int,))
        check_range("PrefixLen", shared, NumberRange(0, size))
        check_type("ModelPath", path, (str,))
        if not os.path.exists(normalize_file_path(path)):  # noqa: PTH110
            raise ValueError(f"ModelPath does not exist: {path}")
        file = self.find_first_file_path(path, "tokenizer_config.json")
        kind = globals().get("AutoTokenizer")  # a program's own, where it has replaced the one of this module
        load = small_names.load_tokenizer if kind is None else kind.from_pretrained
        tokenizer = load(os.path.dirname(file), trust_remote_code=trusted)  # noqa: PTH120
        if not (words := tokenizer.vocab_size or wanted.get("VocabSize")):
            raise ValueError(f"neither the config nor {file} says how many words the tokenizer has: say VocabSize")
        valid = np.setdiff1d(np.arange(words), np.array(tokenizer.all_special_ids, dtype=np.int64))
        start = tokenizer.decode(self.generate_valid_random_ids(valid, shared))
        drawn = (self.generate_valid_random_ids(valid, size - shared) for _ in range(config["RequestCount"]))
        return [{"question": start + tokenizer.decode(each), "answer": "aaa"} for each in drawn]
