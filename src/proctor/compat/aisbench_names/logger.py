"""AISBench's logger: coloured levels, codes before errors, a file beside; secrets of this process are left out."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from proctor.compat.aisbench_names.error_codes import BaseErrorCode, ErrorType, error_manager
from proctor.secrets import redacted
from proctor.settings import settings
from proctor.terminal_text import printable

LOG_NAME = "ais_bench"
SUBPROCESS_LOG_LEVEL = logging.ERROR
LOG_NORMAL_FORMATTER = "[%(asctime)s] [%(name)s] [%(levelname)s] %(message)s"
LOG_DEBUG_FORMATTER = "[%(asctime)s] [%(name)s] [%(levelname)s] [%(pathname)s:%(lineno)d] %(message)s"


class Colors:
    """Escape codes of terminals (ECMA-48)."""

    BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, WHITE = (f"\033[{n}m" for n in (30, 31, 32, 33, 34, 35, 37))
    BG_BLACK, BG_RED, BG_GREEN, BG_YELLOW, BG_BLUE, BG_MAGENTA, BG_WHITE = (
        f"\033[{n}m" for n in (40, 41, 42, 43, 44, 45, 47)
    )
    BOLD, UNDERLINE, RESET = "\033[1m", "\033[4m", "\033[0m"


LOG_COLORS = {
    logging.DEBUG: Colors.BLUE,
    logging.INFO: Colors.GREEN,
    logging.WARNING: Colors.YELLOW,
    logging.ERROR: Colors.BOLD + Colors.RED,
    logging.CRITICAL: Colors.BG_RED,
}


class ColoredLevelFormatter(logging.Formatter):
    """A line with its level in colour; of debugging also with its place in the code."""

    _LAYOUTS: ClassVar = {
        is_debug: logging.Formatter(LOG_DEBUG_FORMATTER if is_debug else LOG_NORMAL_FORMATTER)
        for is_debug in (True, False)
    }

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without the secrets that this process uses."""
        shown = logging.makeLogRecord(vars(record))
        shown.levelname = f"{LOG_COLORS.get(record.levelno, Colors.RESET)}{record.levelname}{Colors.RESET}"
        return redacted(self._LAYOUTS[record.levelno == logging.DEBUG].format(shown))


def to_error_code_format(msg: str) -> str:
    """Return a code as logs show it."""
    return f"{Colors.BOLD}{Colors.BG_RED}{Colors.YELLOW}{msg}{Colors.RESET}"


def to_url_format(msg: str) -> str:
    """Return an address as logs show it."""
    return f"{Colors.UNDERLINE}{Colors.MAGENTA}{msg}{Colors.RESET}"


def to_code_msg_format(msg: str) -> str:
    """Return what a code means as logs show it."""
    return f"{Colors.BOLD}{Colors.RED}{msg}{Colors.RESET}"


def get_formatted_log_content(code_str: str, msg: Any) -> str:
    """Return an error as logs show it: its code, what that means, the message, where there is help.

    Raises:
        ValueError: There is no such code.
    """
    code = error_manager.get(code_str)
    if code is None:
        raise ValueError(f"there is no error code {code_str}")
    text = f"[{to_error_code_format(code_str)}]{to_code_msg_format(code.message)}. {msg}"
    if code.err_type == ErrorType.UNKNOWN:  # type: ignore[attr-defined]
        return text
    return f"{text} | Visit {to_url_format(code.faq_url)} for further help."


class AISLogger:
    """A logger by AISBench's calls: an error's code comes before its message.

    Args:
        name: Of the logger; one of a name has the settings that it was last made with.
        level: From which level on it speaks; where it is not said, ``--verbose`` and ``--quiet`` say it.
        is_main_process: Whether it may write to a file; in other processes it speaks of errors alone.
        log_file: A file that gets all lines, too.
        file_mode: How that file is opened.
    """

    def __init__(
        self,
        name: str = LOG_NAME,
        level: int | str | None = None,
        is_main_process: bool = True,
        log_file: str | None = None,
        file_mode: str = "w",
    ) -> None:
        shown = str(settings.default_verbosity).upper() if level is None else level
        self.name, self.level = name, level
        self.formatter = ColoredLevelFormatter()
        self.logger = logging.getLogger(name)
        if self.logger.handlers:
            self.logger.handlers.clear()
        self.logger.propagate = False
        if is_main_process and log_file is not None:
            self._add(logging.FileHandler(log_file, file_mode), shown)
        self.logger.setLevel(shown if is_main_process else SUBPROCESS_LOG_LEVEL)
        self._add(logging.StreamHandler(), shown)

    def _add(self, handler: logging.Handler, level: int | str) -> None:
        handler.setFormatter(self.formatter)
        handler.setLevel(level)
        self.logger.addHandler(handler)

    def debug(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Say something that matters to developers."""
        self.logger.debug(_plain(msg), *map(_plain, arguments), stacklevel=2, **named)

    def info(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Say something."""
        self.logger.info(_plain(msg), *map(_plain, arguments), stacklevel=2, **named)

    def warning(self, msg: Any, *arguments: Any, **named: Any) -> None:
        """Warn of something."""
        self.logger.warning(_plain(msg), *map(_plain, arguments), stacklevel=2, **named)

    def error(self, error_code: BaseErrorCode, msg: Any, *arguments: Any, **named: Any) -> None:
        """Report an error with its code.

        Raises:
            ValueError: It is not one of AISBench's codes.
        """
        if not isinstance(error_code, BaseErrorCode):
            raise ValueError(f"error_code {error_code} is not instance of BaseErrorCode!")  # noqa: TRY004 - as upstream
        text = get_formatted_log_content(error_code.full_code, _plain(msg))
        self.logger.error(text, *map(_plain, arguments), stacklevel=2, **named)


def _plain(value: Any) -> Any:
    """Return a text without what a terminal would obey; anything else as it is."""
    return printable(value) if isinstance(value, str) else value
