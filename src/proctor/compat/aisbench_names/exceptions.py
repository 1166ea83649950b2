"""AISBench's exceptions, for programs that raise them and for those that catch what prompts and datasets raise.

An exception is raised with a code and a message. Proctor's own errors are made to be AISBench's, too, when this module
is imported (which only programs written for AISBench do): ``except AISBenchValueError`` around a template that is wrong
catches Proctor's ``TemplateError``, whose words are Proctor's and whose ``error_code_str`` is that of an unknown error.
"""

from __future__ import annotations

from typing import ClassVar

from proctor import errors
from proctor.compat.aisbench_names.error_codes import BaseErrorCode, ErrorType, error_manager


class AISBenchBaseException(Exception):  # noqa: N818 - AISBench's name
    """An error of AISBench.

    Args:
        error_code: The code.
        message: What is wrong.

    Raises:
        ValueError: It is not one of AISBench's codes.
    """

    error_code_str: str = "UNK-UNK-001"

    def __init__(self, error_code: BaseErrorCode, message: str | None = None) -> None:
        if not isinstance(error_code, BaseErrorCode) or error_manager.get(error_code.full_code) is None:
            raise ValueError(f"{error_code} is not an error code of AISBench")
        self.error_code_str = error_code.full_code
        text = f"[{error_code.full_code}]{error_code.message}. {message}"
        more = "" if error_code.err_type == ErrorType.UNKNOWN else f" | Visit {error_code.faq_url} for further help."  # type: ignore[attr-defined]
        super().__init__(text + more)


_NAMES = (
    "CommandError", "AISBenchConfigError", "AISBenchImportError", "AISBenchValueError", "AISBenchImplementationError",
    "FileMatchError", "FileOperationError", "ParameterValueError", "AISBenchMetricError", "AISBenchDumpError",
    "AISBenchDataContentError", "PerfResultCalcException", "AISBenchNotImplementedError", "AISBenchKeyError",
    "AISBenchTypeError", "AISBenchRuntimeError", "AISBenchModuleNotFoundError", "PredictionInvalidException",
    "AISBenchInvalidTypeException",
)  # fmt: skip
_PLAIN = {"AISBenchImplementationError": NotImplementedError, "AISBenchNotImplementedError": NotImplementedError}
"""What is also one of Python's: a method that a class of a program is to have."""
_CLASSES: dict[str, type[AISBenchBaseException]] = {
    name: type(
        name,
        (AISBenchBaseException, *([_PLAIN[name]] if name in _PLAIN else [])),
        {"__doc__": f"AISBench's ``{name}``."},
    )
    for name in _NAMES
}
NAMES = ("AISBenchBaseException", *_NAMES)
"""The exceptions that there are."""
globals().update(_CLASSES)
_OLDER = {"ConfigError": "AISBenchConfigError", "AISRuntimeError": "AISBenchRuntimeError"}
globals().update({older: _CLASSES[name] for older, name in _OLDER.items()})  # what releases before 3.1 call them

_ALSO: dict[type[errors.ProctorError], tuple[str, ...]] = {
    errors.TemplateError: ("AISBenchValueError", "AISBenchTypeError", "AISBenchKeyError"),
    errors.DemosError: ("ParameterValueError", "AISBenchValueError"),
    errors.DataError: ("AISBenchDataContentError", "ParameterValueError", "FileOperationError"),
    errors.ScoringError: ("AISBenchMetricError", "PredictionInvalidException", "AISBenchValueError"),
    errors.ValidationError: ("AISBenchConfigError", "AISBenchTypeError", "AISBenchValueError"),
    errors.EngineError: ("AISBenchRuntimeError", "AISBenchNotImplementedError"),
    errors.MissingExtraError: ("AISBenchImportError", "AISBenchModuleNotFoundError"),
    errors.OutputError: ("AISBenchDumpError",),
}
"""What Proctor's errors are in AISBench's words."""


class _Known:
    """Whether Proctor's errors are AISBench's already."""

    done: ClassVar[bool] = False


def join_errors() -> None:
    """Let Proctor's errors be caught as AISBench's; doing it twice changes nothing."""
    if not _Known.done:
        for ours, names in _ALSO.items():
            ours.__bases__ = (*ours.__bases__, *(_CLASSES[name] for name in names))
        _Known.done = True


join_errors()
