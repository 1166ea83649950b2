"""AISBench's logger: messages go where Proctor's go, with the error code in front where one is given."""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names.error_codes import BaseErrorCode
from proctor.logs import get_logger


class AISLogger:
    """A logger by AISBench's calls: the error code comes before the message.

    Args:
        name: Kept for programs; there is one logger.
        level: Kept for programs; ``--verbose`` and ``--quiet`` say what is shown.
    """

    def __init__(self, name: str = "ais_bench", level: str | int | None = None) -> None:
        self.name, self.level = name, level
        self._logger = get_logger()

    def debug(self, message: Any, *arguments: Any) -> None:
        """Say something that matters to developers."""
        self._logger.debug(message, *arguments)

    def info(self, message: Any, *arguments: Any) -> None:
        """Say something."""
        self._logger.info(message, *arguments)

    def warning(self, message: Any, *arguments: Any) -> None:
        """Warn of something."""
        self._logger.warning(message, *arguments)

    def error(self, error_code: BaseErrorCode | Any, message: Any = "", *arguments: Any) -> None:
        """Report an error, with its code where there is one."""
        if isinstance(error_code, BaseErrorCode):
            self._logger.error("[%s] " + str(message), error_code.full_code, *arguments)  # noqa: G003 - a format
        else:
            self._logger.error(error_code, *((message, *arguments) if message != "" else arguments))
