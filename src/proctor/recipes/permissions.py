"""Permissions that the user gave to exams, remembered by content.

``--allow`` is said once: the next time, the same exam asks for nothing. An exam is the same while its file, what it is
made of and what it wants to do are. The memory is a JSON file in the user's own data folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor import effects
from proctor.effects import Author, Effect
from proctor.errors import Diagnostic, NotAllowedError, SettingsError
from proctor.foreign_text import read_source
from proctor.jsonable import jsonable
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.safe_files import write_text
from proctor.starter import keep
from proctor.state import kept_table, read_table, sealed_table

if TYPE_CHECKING:
    from proctor.engines.engine import Engine


def memory() -> Path:
    """Return the file that remembers permissions."""
    return kept_table("allowed.json")


def remembered() -> dict[str, dict[str, Any]]:
    """Return the remembered permissions by fingerprint: the ``exam`` and its ``allowed`` effects.

    Raises:
        SettingsError: The file cannot be read.
        ForgedError: Somebody else wrote it.
    """
    try:
        return read_table(memory())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{memory()} cannot be read", why=str(error), hint="delete it: exams ask for permission once more"
        ) from None


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


def admit(exams: Iterable[Exam], engine: Engine | None = None) -> None:
    """Let exams do what the user allowed, now or before, and remember what he allowed on the command line.

    Args:
        exams: What is run.
        engine: Who is asked. Where the user says himself where it is, that is remembered: a run file that says the
            same later asks for nothing.

    Raises:
        NotAllowedError: With every effect of every exam, and of the engine, that nobody allowed.
    """
    now = effects.grants()  # what was allowed to one exam before is allowed to no other
    refused: list[Diagnostic] = []
    asking: list[_Asking] = []
    for exam in exams:
        if exam.author is not None and exam.author.file:
            effects.open_folder(exam.author.file)
        if wanted := _needing(exam.effects()):
            asking.append(_Asking(fingerprint(exam, wanted), exam.name, exam.author, wanted, wanted))
    if engine is not None and (wanted := _needing(engine.would_do())):
        strange = list(engine.effects()) if engine.author is not None else []
        asking.append(_Asking(_engine_fingerprint(engine, wanted), engine.label, engine.author, wanted, strange))
    known = remembered() if asking else {}
    granted, new = [], {}
    for each in asking:
        before = [grant for grant in known.get(each.key, {}).get("allowed", ()) if grant in each.grants()]
        refused += effects.refusals(effects.missing(each.strange, now.union(before)), each.author, each.name)
        given = {one.grant for one in each.wanted if one not in each.strange or effects.is_granted(one)}.union(before)
        if given.difference(before):
            new[each.key] = {"exam": each.name, "allowed": sorted(given)}
        granted += before
    if refused:
        raise NotAllowedError(refused)
    effects.grant(*granted)
    if new:
        _remember({**known, **new})


class _Asking(NamedTuple):
    """Who asks for permission."""

    key: str
    name: str
    author: Author | None
    wanted: list[Effect]
    strange: list[Effect]

    def grants(self) -> frozenset[str]:
        """Return the grants that would allow all of it."""
        return frozenset(each.grant for each in self.wanted)


def _needing(wanted: Iterable[Effect]) -> list[Effect]:
    return effects.missing(wanted, ())


def _engine_fingerprint(engine: Engine, wanted: Iterable[Effect]) -> str:
    """Return a digest of a model at a place, and of the variables whose values go there."""
    whole = ["engine", engine.type_name(), engine.label, *sorted(each.grant for each in wanted)]
    return hashlib.sha256(json.dumps(whole).encode("utf-8", "surrogatepass")).hexdigest()


def _remember(table: dict[str, dict[str, Any]]) -> None:
    try:
        text = sealed_table(table)
        if not keep(text):
            memory().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_text(memory(), text, mode=0o600)
    except OSError as error:  # a home that cannot be written: what was allowed holds for this run
        get_logger().warning("%s cannot be written (%s): exams will ask for permission again", memory(), error)
