"""Files that are opened after checks of their path, size and rights (``ais_bench``'s ``humanevalx.file_utils``)."""
# ruff: noqa: PTH101, PTH110, PTH114, PTH116, PTH120, PTH202, PTH208 - programs replace functions of os

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from functools import reduce
from typing import IO, Any

MAX_PATH_LENGTH = 4096
"""Most characters of a path: Linux's own limit."""
MAX_FILE_SIZE = 100 * 2**20
"""Most bytes of a file."""
MAX_FILENUM_PER_DIR = 1024
"""Most files in a folder."""
MAX_LINENUM_PER_FILE = 10 * 2**20
"""Most lines of a file."""
_NEW = os.O_CREAT | os.O_TRUNC
_MORE = os.O_CREAT | os.O_APPEND
FLAG_OS_MAP = {
    "r": os.O_RDONLY, "r+": os.O_RDWR, "w": _NEW | os.O_WRONLY, "w+": _NEW | os.O_RDWR, "a": _MORE | os.O_WRONLY,
    "a+": _MORE | os.O_RDWR, "x": os.O_CREAT | os.O_EXCL, "b": 0,
}  # fmt: skip
"""How the system opens a file, by the letters of a mode."""
if sys.platform == "win32":
    FLAG_OS_MAP["b"] = os.O_BINARY
_CHECKS = "MINDIE_CHECK_INPUTFILES_PERMISSION"
"""What a user sets to 0 where rights of files are not to be checked."""


def is_path_exists(path: str) -> bool:
    """Return whether there is something at a path."""
    return os.path.exists(path)


def check_path_is_none(path: str | None) -> None:
    """Check that there is a path.

    Raises:
        TypeError: There is none.
    """
    if path is None:
        raise TypeError("the path of a file should not be None")


def check_path_is_link(path: str) -> None:
    """Check that a path is no symbolic link.

    Raises:
        ValueError: It is one.
    """
    if os.path.islink(os.path.normpath(path)):
        raise ValueError(f"'{path}' is a symbolic link, and should not be")


def check_path_length_lt(path: str, max_path_length: int = MAX_PATH_LENGTH) -> None:
    """Check that a path is short enough.

    Raises:
        ValueError: It is longer.
    """
    if len(path) > max_path_length:
        raise ValueError(
            f"the length of path should not be greater than {max_path_length}, and is {len(path)}: {path[:200]}…"
        )


def check_file_size_lt(path: str, max_file_size: int = MAX_FILE_SIZE) -> None:
    """Check that a file is small enough.

    Raises:
        ValueError: It is bigger.
    """
    if (size := os.path.getsize(path)) > max_file_size:
        raise ValueError(f"the size of file should not be greater than {max_file_size}, and is {size}: {path}")


def check_owner(path: str) -> None:
    """Check that the user is root, owns a file, or is in its group.

    Raises:
        PermissionError: None of these.
    """
    about = os.stat(path)
    if os.geteuid() not in (0, about.st_uid) and os.getgid() != about.st_gid:
        raise PermissionError(
            f"the user does not have permission for '{path}': neither root, nor its owner, nor in its group"
        )


def check_other_write_permission(file_path: str) -> None:
    """Check that nobody but owner and group may write a file.

    Raises:
        PermissionError: Others may.
    """
    mode = os.stat(file_path).st_mode
    if mode & stat.S_IWOTH:
        raise PermissionError(f"'{file_path}' should not be writable by others: chmod o-w '{file_path}'")


def check_path_permission(file_path: str, is_internal_file: bool = False) -> None:
    """Check who owns a file and who may write it.

    Args:
        file_path: The file.
        is_internal_file: Whether it is checked even where ``MINDIE_CHECK_INPUTFILES_PERMISSION`` is 0.

    Raises:
        PermissionError: One of the two is wrong.
    """
    if is_internal_file or os.environ.get(_CHECKS, "1") != "0":
        check_owner(file_path)
        check_other_write_permission(file_path)


def check_file_safety(
    file_path: str,
    mode: str = "r",
    is_exist_ok: bool = True,
    max_file_size: int = MAX_FILE_SIZE,
    is_check_file_size: bool = True,
) -> None:
    """Check a file before it is opened; of one that is not there the folder.

    Args:
        file_path: The file.
        mode: How it will be opened.
        is_exist_ok: Whether it may be there.
        max_file_size: Most bytes.
        is_check_file_size: Whether they are counted.

    Raises:
        FileExistsError: It is there, and must not be.
        FileNotFoundError: It is not there, and is to be read.
        PermissionError: It is somebody else's, or others may write it.
        ValueError: It is too big.
    """
    if not is_path_exists(file_path):
        if mode in ("r", "r+"):
            raise FileNotFoundError(f"'{file_path}' is expected to exist, and does not")
        check_path_permission(os.path.dirname(file_path))
        return
    if not is_exist_ok:
        raise FileExistsError(f"'{file_path}' is expected not to exist, and does")
    if is_check_file_size:
        check_file_size_lt(file_path, max_file_size)
    check_path_permission(file_path)


def standardize_path(path: str, max_path_length: int = MAX_PATH_LENGTH, check_link: bool = True) -> str:
    """Return where a path leads.

    Args:
        path: The path.
        max_path_length: Most characters.
        check_link: Whether it must not be a symbolic link.

    Raises:
        TypeError: There is none.
        ValueError: It is too long, or a link.
    """
    check_path_is_none(path)
    check_path_length_lt(path, max_path_length)
    if check_link:
        check_path_is_link(path)
    return os.path.realpath(path)


def safe_open(  # noqa: PLR0917 - upstream's arguments
    file_path: str,
    mode: str = "r",
    encoding: str | None = None,
    permission_mode: int = 0o600,
    is_exist_ok: bool = True,
    max_path_length: int = MAX_PATH_LENGTH,
    max_file_size: int = MAX_FILE_SIZE,
    check_link: bool = False,
) -> IO[Any]:
    """Open a file after checks.

    Args:
        file_path: The file.
        mode: As of ``open``.
        encoding: As of ``open``.
        permission_mode: The rights of a file that is made.
        is_exist_ok: Whether it may be there.
        max_path_length: Most characters of the path.
        max_file_size: Most bytes.
        check_link: Whether it must not be a symbolic link.

    Raises:
        OSError: It cannot be opened, is there and must not be, or has the wrong rights.
        ValueError: Its path is too long, it is too big, or a link.
    """
    path = standardize_path(file_path, max_path_length, check_link)
    check_file_safety(path, mode, is_exist_ok, max_file_size)
    letters = [mode[place] + ("+" if mode[place + 1 : place + 2] == "+" else "") for place in _letters(mode)]
    flags = reduce(lambda one, other: one | other, (FLAG_OS_MAP.get(each, os.O_RDONLY) for each in letters))
    return os.fdopen(os.open(path, flags, permission_mode), mode, encoding=encoding)


def _letters(mode: str) -> Sequence[int]:
    return [place for place, letter in enumerate(mode) if letter != "+"]


def safe_listdir(file_path: str, max_file_num: int = MAX_FILENUM_PER_DIR) -> list[str]:
    """Return the names in a folder.

    Raises:
        ValueError: There are too many.
    """
    names = os.listdir(file_path)
    if len(names) > max_file_num:
        raise ValueError(f"'{file_path}' has {len(names)} files, which exceeds the limit {max_file_num}")
    return names


def safe_chmod(file_path: str, permission_mode: int) -> None:
    """Change the rights of a file after checks.

    Raises:
        PermissionError: It is somebody else's, or others may write it.
        ValueError: Its path is too long, or a link.
    """
    check_path_permission(standardize_path(file_path))
    os.chmod(file_path, permission_mode)


def has_owner_write_permission(file_path: str) -> int:
    """Return the bit that says whether a file's owner may write it."""
    return os.stat(file_path).st_mode & stat.S_IWUSR


def safe_readlines(file_obj: IO[Any], max_line_num: int = MAX_LINENUM_PER_FILE) -> list[Any]:
    """Return the lines of an open file.

    Raises:
        ValueError: There are too many.
    """
    lines = file_obj.readlines()
    if len(lines) > max_line_num:
        raise ValueError(f"'{file_obj.name}' has {len(lines)} lines, which exceeds the limit {max_line_num}")
    return lines
