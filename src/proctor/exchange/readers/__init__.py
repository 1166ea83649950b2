"""Files of results of many systems, read as :class:`~proctor.exchange.observed.ObservedExam`.

Which system wrote a file is seen from what is in it; nothing in it is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.errors import Location, UsageError, did_you_mean
from proctor.exchange.lines import json_lines
from proctor.exchange.observed import ObservedExam
from proctor.exchange.readers import every_eval_ever, inspect_log, lm_eval, opencompass, run_folder, unitxt
from proctor.foreign_text import parse_json
from proctor.runs.stored_run import is_run
from proctor.safe_files import read_bytes

_MOST_BYTES: Final = 1 << 30
"""Of a file of results that is one JSON value: a hundred thousand instances with their prompts."""

Reader = Callable[[Path, Any], "list[ObservedExam] | None"]
"""From a file and what it says to its exams; ``None`` where another system wrote it."""

READERS: Final[tuple[Reader, ...]] = (
    every_eval_ever.read,
    inspect_log.read,
    opencompass.read,
    unitxt.read,
    lm_eval.read,
)
KINDS: Final = (
    "a run folder; lm-eval's samples_*.jsonl or their folder; predictions of OpenCompass or AISBench; results of "
    "Unitxt (JSON); an inspect log (.eval, .json); a file of Every Eval Ever"
)


def observed(place: str) -> list[ObservedExam]:
    """Return the exams of a file or a folder; ``PLACE::EXAM`` is one of them.

    Raises:
        UsageError: There is no such file, nobody known wrote it, or it does not have the exam.
        DataError: It cannot be read.
    """
    path = Path(place)
    name = ""
    if not path.exists():
        text, _, name = place.partition("::")
        path = Path(text)
    if not path.exists():
        raise UsageError(f"there is no file or folder {path}", hint=f"name {KINDS}")
    found = _of_folder(path) if path.is_dir() else _of_file(path)
    if not found:
        hint = f"name its run folder, {path.parent}" if path.is_file() and is_run(path.parent) else f"name {KINDS}"
        raise UsageError(f"{path} holds no results that can be read here", hint=hint)
    if not name:
        return found
    chosen = [each for each in found if each.name == name]
    if not chosen:
        names = [each.name for each in found]
        raise UsageError(f"{path} has no exam '{name}'", hint=did_you_mean(name, names) or f"it has {', '.join(names)}")
    return chosen


def _of_folder(path: Path) -> list[ObservedExam]:
    if is_run(path):
        return run_folder.read(path)
    files = sorted(each for each in path.rglob("*") if each.suffix in (".json", ".jsonl", ".eval"))
    found: list[ObservedExam] = []
    for file in files:
        if file.name.startswith("results_") or file.name.endswith("_samples.jsonl"):
            continue  # read together with the file beside it
        found += _of_file(file)
    return found


def _of_file(path: Path) -> list[ObservedExam]:
    content = _content(path)
    for read in READERS:
        found = read(path, content)
        if found is not None:
            return found
    return []


def _content(path: Path) -> Any:
    """Return what a file says: the value of a JSON file, the objects of JSON Lines, nothing of an archive."""
    if path.suffix == ".jsonl":
        return list(json_lines(path))
    if path.suffix != ".json":
        return None
    try:
        return parse_json(read_bytes(path, _MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, json.JSONDecodeError, ValueError) as error:
        raise UsageError("the file is not JSON", location=Location(str(path)), why=str(error)) from None


def single(exams: Sequence[ObservedExam], place: str) -> ObservedExam:
    """Return the only exam.

    Raises:
        UsageError: There are several.
    """
    if len(exams) == 1:
        return exams[0]
    raise UsageError(
        f"{place} has several exams: {', '.join(each.name for each in exams)}",
        hint=f"name one of them: '{place}::{exams[0].name}'",
    )
