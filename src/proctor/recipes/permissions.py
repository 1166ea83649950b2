"""What the user allowed exams to do, remembered by what they are.

``--allow`` is said once: the next time, the same exam asks for nothing. An exam is the same while its file, what it is
made of and what it wants to do are. The memory is a JSON file in the user's own data folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from proctor import effects
from proctor.effects import Effect
from proctor.errors import NotAllowedError, SettingsError
from proctor.foreign_text import read_source
from proctor.jsonable import jsonable
from proctor.recipes.exam import Exam
from proctor.safe_files import write_text


def memory() -> Path:
    """Return the file that remembers permissions."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "proctor" / "allowed.json"


def remembered() -> dict[str, dict[str, Any]]:
    """Return what was allowed: for each fingerprint, the ``exam`` that it was of and its ``allowed`` effects.

    Raises:
        SettingsError: The file cannot be read.
    """
    try:
        table = json.loads(memory().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{memory()} cannot be read", why=str(error), hint="delete it: exams ask for permission once more"
        ) from None
    return table if isinstance(table, dict) else {}


def forget() -> None:
    """Forget every permission."""
    memory().unlink(missing_ok=True)


def fingerprint(exam: Exam, wanted: Iterable[Effect]) -> str:
    """Return a digest of an exam, of its file, and of what it wants to do."""
    source = {name: value for name, value in exam.source.items() if name != "options"}
    whole = {"source": source, "wants": sorted(each.grant for each in wanted), "file": _content(exam)}
    text = json.dumps(jsonable(whole), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(exam: Exam) -> str:
    try:
        return hashlib.sha256(read_source(exam.author.file)).hexdigest() if exam.author else ""
    except OSError:
        return ""


def admit(exams: Iterable[Exam]) -> None:
    """Let exams do what the user allowed, now or before, and remember what he allowed on the command line.

    Raises:
        NotAllowedError: With every effect of every exam that nobody allowed.
    """
    exams = list(exams)
    known = None
    refused, new = [], {}
    for exam in exams:
        if exam.author is not None and exam.author.file:
            effects.open_folder(exam.author.file)
        wanted = [each for each in exam.effects() if effects.missing([each], ())]
        if not wanted:
            continue
        known = remembered() if known is None else known
        key = fingerprint(exam, wanted)
        before = frozenset(known.get(key, {}).get("allowed", ()))
        effects.grant(*(each.grant for each in wanted if each.grant in before))
        refused += effects.refusals(wanted, exam.author, exam.name)
        given = [each.grant for each in wanted if each.grant in before or effects.is_granted(each)]
        if set(given) - before:
            new[key] = {"exam": exam.name, "allowed": sorted(given)}
    if refused:
        raise NotAllowedError(refused)
    if new:
        _write({**(known or {}), **new})


def _write(table: dict[str, dict[str, Any]]) -> None:
    path = memory()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(path, json.dumps(table, indent=1, ensure_ascii=False, sort_keys=True), mode=0o600)
