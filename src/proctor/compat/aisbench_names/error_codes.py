"""AISBench's error codes: ``UTILS_CODES.UNKNOWN_ERROR`` and its like, with their messages."""

from __future__ import annotations

import json
from enum import Enum
from importlib.resources import files
from typing import Any

_TABLE: dict[str, Any] = json.loads(files(__package__).joinpath("error_codes.json").read_bytes())
_FAQ = "https://ais-bench-benchmark.readthedocs.io/zh-cn/latest/faqs/error_codes.html#"

ErrorModule = Enum("ErrorModule", _TABLE["modules"])  # type: ignore[misc]
ErrorType = Enum("ErrorType", _TABLE["types"])  # type: ignore[misc]


class BaseErrorCode:
    """An error code.

    Args:
        code_name: The code in full, such as ``UTILS-CFG-001``.
        module: Which part of AISBench it is of.
        err_type: What kind of error it is.
        code: Its number among those.
        message: What is wrong, for people.

    Raises:
        ValueError: The name is not that of module, kind and number.
    """

    FAQ_BASE_URL = _FAQ

    def __init__(self, code_name: str, module: Any, err_type: Any, code: int, message: str) -> None:
        self.module, self.err_type, self.code, self.message = module, err_type, code, message
        self.faq_url = self.FAQ_BASE_URL + self.heading_id
        if code_name != self.full_code:
            raise ValueError(f"the code '{code_name}' is '{self.full_code}' by its parts")

    @property
    def full_code(self) -> str:
        """The code in full."""
        return f"{self.module.value}-{self.err_type.value}-{self.code:03d}"

    @property
    def heading_id(self) -> str:
        """The place of the code on AISBench's page of errors."""
        return self.full_code.lower()

    def __str__(self) -> str:
        return f"{self.full_code}: {self.message}"


class ErrorCodeManager:
    """All codes by their names."""

    def __init__(self) -> None:
        self._codes: dict[str, BaseErrorCode] = {}

    def register(self, ec: BaseErrorCode) -> None:
        """Add a code.

        Raises:
            ValueError: There is one of this name.
        """
        if ec.full_code in self._codes:
            raise ValueError(f"there is an error code {ec.full_code} already")
        self._codes[ec.full_code] = ec

    def get(self, full_code: str) -> BaseErrorCode | None:
        """Return a code, ``None`` where there is none of this name."""
        return self._codes.get(full_code)

    def list_all(self) -> dict[str, BaseErrorCode]:
        """Return all codes by their names."""
        return dict(self._codes)


error_manager = ErrorCodeManager()
"""The codes of this process."""


def _code(name: str, message: str) -> BaseErrorCode:
    module, kind, number = name.rsplit("-", 2)
    code = BaseErrorCode(name, ErrorModule(module), ErrorType(kind), int(number), message)
    error_manager.register(code)
    return code


_FAMILIES: dict[str, type] = {
    family: type(family, (), {name: _code(*given) for name, given in codes.items()})
    for family, codes in _TABLE["codes"].items()
}
FAMILIES = tuple(_FAMILIES)
"""Names of the classes that hold the codes: ``UTILS_CODES`` …"""
globals().update(_FAMILIES)
ERROR_CODES_CLASSES = list(_FAMILIES.values())
"""The classes that hold the codes."""
