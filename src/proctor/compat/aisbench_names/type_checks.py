"""AISBench's checks of values: each returns the value, or fails with an error of AISBench's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn, TypeVar

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger

logger = AISLogger()
_T = TypeVar("_T")
_LONGEST_SHOWN = 100
_PARTS = 2  # a number of tokens, and its share
_NUMBER_OR_TEXT = (int, str)
_META: Mapping[str, Any] = {
    "output_config": {
        "method": str,
        "params": {"min_value": _NUMBER_OR_TEXT, "max_value": _NUMBER_OR_TEXT, "percentage_distribute": list},
    },
    "request_count": _NUMBER_OR_TEXT,
    "sampling_mode": str,
}
"""Keys of a ``.meta.json``, and what their values are."""


def _wrong_type(code: str, message: str) -> NoReturn:
    raise errors.AISBenchInvalidTypeException(getattr(error_codes.UTILS_CODES, code), message)  # type: ignore[attr-defined]


def _wrong_config(code: str, message: str) -> NoReturn:
    raise errors.AISBenchConfigError(getattr(error_codes.UTILS_CODES, code), message)  # type: ignore[attr-defined]


def _shown(obj: Any) -> str:
    text = repr(obj)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def check_type_list(obj: Any, typelist: Sequence[type | None]) -> Any:
    """Return a value that is of one of several types; ``None`` among them stands for itself."""
    if any(obj is None if kind is None else isinstance(obj, kind) for kind in typelist):
        return obj
    names = [None if kind is None else kind.__name__ for kind in typelist]
    _wrong_type("INVALID_TYPE", f"{_shown(obj)} is a {type(obj).__name__}, and one of {names} is wanted")


def check_dataset(obj: Any) -> Any:
    """Return a value that is a ``Dataset`` or a ``DatasetDict``."""
    from datasets import Dataset, DatasetDict

    if isinstance(obj, Dataset | DatasetDict):
        return obj
    _wrong_type("INVALID_DATASET_TYPE", f"{_shown(obj)} is a {type(obj).__name__}, and no dataset")


def check_list(obj: Any) -> list[Any]:
    """Return a value that is a list."""
    return _checked(obj, list, "INVALID_LIST_TYPE")


def check_str(obj: Any) -> str:
    """Return a value that is a text."""
    return _checked(obj, str, "INVALID_STRING_TYPE")


def check_dict(obj: Any) -> dict[Any, Any]:
    """Return a value that is a dictionary."""
    return _checked(obj, dict, "INVALID_DICT_TYPE")


def _checked(obj: Any, kind: type[_T], code: str) -> _T:
    if isinstance(obj, kind):
        return obj
    _wrong_type(code, f"{_shown(obj)} is a {type(obj).__name__}, and a {kind.__name__} is wanted")


def check_type(obj: Any, expected_type: Any) -> Any:
    """Return a value that is of a type."""
    if not isinstance(expected_type, type):
        _wrong_type("INVALID_TYPE_SPECIFIER", f"{expected_type!r} is no type")
    if isinstance(obj, expected_type):
        return obj
    if obj is None:
        _wrong_type("INVALID_TYPE", f"there is nothing, and a {expected_type.__name__} is wanted")
    what = f"a {expected_type.__name__} is wanted, and this is a {type(obj).__name__}: {_shown(obj)}"
    _wrong_type("TYPE_MISMATCH", what)


def check_meta_json_dict(obj: Any) -> dict[str, Any]:
    """Return what a ``.meta.json`` holds, where every key of it is known and every value can be."""
    _check_keys(obj, _META)
    if "request_count" in obj and not _is_count(obj["request_count"]):
        _wrong_config("INVALID_REQUEST_COUNT", "'request_count' is a whole number, 1 or more")
    found: dict[str, Any] = obj
    return found


def _check_keys(obj: Any, known: Mapping[str, Any]) -> None:
    check_dict(obj)
    if unknown := [str(key) for key in obj if key not in known]:
        _wrong_config("ILLEGAL_KEYS_IN_CONFIG", f"nothing reads {', '.join(unknown)}; there are {', '.join(known)}")
    for key, value in obj.items():
        if isinstance(known[key], Mapping):
            _check_keys(value, known[key])
        elif not isinstance(value, known[key]):
            _wrong_type("TYPE_MISMATCH", f"'{key}' is {_shown(value)}")


def _is_count(value: Any) -> bool:
    try:
        return int(value) > 0
    except (ValueError, TypeError):
        logger.warning("%s is no whole number", _shown(value))
        return False


def _is_share(value: Any) -> bool:
    try:
        return 0 < float(value) <= 1
    except (ValueError, TypeError):
        logger.warning("%s is no share of 1", _shown(value))
        return False


def check_output_config_from_meta_json(obj: Mapping[str, Any]) -> bool:
    """Return whether a ``.meta.json`` says how many tokens each answer may have.

    Raises:
        AISBenchConfigError: It says so in a way that cannot be.
    """
    if "output_config" not in obj:
        return False
    method, given = obj["output_config"].get("method"), obj["output_config"].get("params")
    if not given:
        _wrong_config("MISSING_PARAMS", "'output_config' has no 'params'")
    if method == "uniform":
        _check_uniform(given)
    elif method == "percentage":
        _check_shares(given)
    else:
        _wrong_config("UNSUPPORTED_DISTRIBUTION_METHOD", f"'method' is {method!r}, and not 'uniform' or 'percentage'")
    return True


def _check_uniform(given: Mapping[str, Any]) -> None:
    if "min_value" not in given or "max_value" not in given:
        _wrong_config("MISSING_PARAMS", "'uniform' needs 'min_value' and 'max_value'")
    least, most = given["min_value"], given["max_value"]
    if not (_is_count(least) and _is_count(most)):
        _wrong_config("INVALID_MIN_MAX_VALUE", "'min_value' and 'max_value' are whole numbers, 1 or more")
    if int(least) > int(most):
        _wrong_config("MIN_GREATER_THAN_MAX", f"'min_value' {least} is more than 'max_value' {most}")


def _check_shares(given: Mapping[str, Any]) -> None:
    if "percentage_distribute" not in given:
        _wrong_config("MISSING_PARAMS", "'percentage' needs 'percentage_distribute'")
    listed = given["percentage_distribute"]
    pairs = isinstance(listed, list) and all(isinstance(each, list) and len(each) == _PARTS for each in listed)
    fits = pairs and all(_is_count(tokens) and _is_share(share) for tokens, share in listed)
    if not fits or sum((Decimal(str(share)) for _, share in listed), Decimal(0)) != 1:
        why = "it is a list of [tokens, share], such as [[1000, 0.5], [500, 0.5]], whose shares make 1"
        _wrong_config("INVALID_PERCENTAGE_DISTRIBUTE", why)
