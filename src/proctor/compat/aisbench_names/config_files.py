"""AISBench's functions for files: configs by their names, lines of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.foreign_text import parse_json
from proctor.jsonable import to_line
from proctor.safe_files import opened, write_text, written

logger = AISLogger()
_Names = str | Sequence[str]
_MEDIA = ("image", "video", "audio")


def match_files(path: str, pattern: _Names, fuzzy: bool = False) -> list[tuple[str, str]]:
    """Return the files below a folder whose names fit: each without its ending, and its path; sorted by name.

    Args:
        path: The folder.
        pattern: One glob, or several; upper and lower case are the same.
        fuzzy: Whether anything may stand before and behind.
    """
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    globs = [f"*{each}*".lower() if fuzzy else each.lower() for each in patterns]
    found = [
        (name[:-3], os.path.join(folder, name))  # noqa: PTH118 - texts, as upstream
        for folder, _, names in os.walk(path)
        for name in names
        if any(fnmatch(name.lower(), each) for each in globs)
    ]
    logger.debug("%d files below %s are called %s", len(found), path, ", ".join(patterns))
    return sorted(found, key=lambda each: each[0])


def match_cfg_file(workdir: _Names, pattern: _Names) -> list[tuple[str, str]]:
    """Return the configs of some names: one for each; of several with one name, the first.

    Args:
        workdir: Where they are looked for: one folder, or several.
        pattern: One name, or several, with or without ``.py``.

    Raises:
        FileMatchError: There is none of a name.
    """
    folders = [workdir] if isinstance(workdir, str) else list(workdir)
    given = [pattern] if isinstance(pattern, str) else list(pattern)
    names = [each if each.endswith(".py") else f"{each}.py" for each in given]
    found = [match for folder in folders for match in match_files(folder, names)]
    if len(found) == len(names):
        return found
    by_name = {name: [match for folder in folders for match in match_files(folder, name)] for name in names}
    if several := {name: matches for name, matches in by_name.items() if len(matches) > 1}:
        for name, matches in several.items():
            logger.warning("several configs are called %s; the first is taken: %s", name, [each[1] for each in matches])
        return [matches[0] for matches in several.values()]
    listed = ", ".join(name.removesuffix(".py") for name, matches in by_name.items() if not matches)
    kind, code = errors.FileMatchError, error_codes.UTILS_CODES.MATCH_CONFIG_FILE_FAILED  # type: ignore[attr-defined]
    raise kind(code, f"there is no config {listed} below {', '.join(folders)}")


def check_mm_custom(path: str | Path) -> bool:
    """Whether every line of a file names a picture, a film or a sound."""
    return all(each.get("type") in _MEDIA and "path" in each for each in load_jsonl(path))


def load_jsonl(path: str | Path) -> list[dict[str, Any]]:
    """Return the lines of a file of JSON lines."""
    with opened(Path(path)) as file:
        return [parse_json(line.decode("utf-8")) for line in file if line.strip()]


def dump_jsonl(data: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write a file of JSON lines."""
    with written(Path(path)) as file:
        for each in data:
            file.write(to_line(each) + b"\n")


def write_status(file_path: str | Path, status: Any) -> bool:
    """Add a status to a list in a file; whether it could be written. A file that cannot be read begins anew."""
    try:
        write_text(Path(file_path), json.dumps([*_statuses(Path(file_path)), status]))
    except OSError as error:
        logger.warning("the status cannot be written to %s: %s", file_path, error)
        return False
    return True


def read_and_clear_statuses(tmp_file_dir: str | Path, tmp_file_name_list: Sequence[str]) -> list[Any]:
    """Return the statuses of some files, and empty them; of a folder that is not there none."""
    folder, found = Path(tmp_file_dir), []
    for name in tmp_file_name_list if folder.is_dir() else ():
        found += _statuses(folder / name)
        try:
            write_text(folder / name, "[]")
        except OSError as error:
            logger.warning("%s cannot be emptied: %s", folder / name, error)
    return found


def _statuses(path: Path) -> list[Any]:
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        logger.warning("%s cannot be read, and begins anew: %s", path, error)
        return []
    return found if isinstance(found, list) else []
