"""Notes of people on answers that they read: a thumb and some words, kept in the run folder.

A note belongs to an answer by the key that labels have (:func:`~proctor.runs.sample_lines.answer_key`), so it
stays where the same answers are graded again. ``notes.jsonl`` has a line a note; of each person's notes on an answer
the last counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from proctor.errors import UsageError
from proctor.foreign_text import parse_json
from proctor.safe_files import append_line, read_bytes

NOTES: Final = "notes.jsonl"
THUMBS: Final[Mapping[str, str]] = {"up": "👍", "down": "👎", "": ""}
LONGEST: Final = {"thumb": 4, "note": 2000, "who": 100}
"""Characters of a note's fields: some paragraphs, and a name."""
_MOST_BYTES: Final = 16 << 20  # of the file: ten thousand notes of some paragraphs


class Note(NamedTuple):
    """What somebody said of an answer: ``up``, ``down`` or nothing, some words, who it was if they said, and when."""

    thumb: str
    text: str
    who: str = ""
    when: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (THUMBS[self.thumb], self.text, self.who and f"({self.who})")))


Notes = Mapping[str, list[Note]]
"""The notes on each answer, by its key."""


def notes_of(folder: Path) -> Notes:
    """Return the notes of a run folder; lines of other shapes are left out."""
    found: dict[str, dict[str, Note]] = {}
    with suppress(OSError):
        for line in read_bytes(folder / NOTES, _MOST_BYTES, within=folder).splitlines():
            with suppress(ValueError, RecursionError):
                key, note = _read(parse_json(line.decode("utf-8", "replace")))
                found.setdefault(key, {})[note.who] = note
    return {
        key: kept for key, by in found.items() if (kept := [each for each in by.values() if each.thumb or each.text])
    }


def _read(record: Any) -> tuple[str, Note]:
    if not isinstance(record, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - as other lines that are none
    said = {name: str(record.get(name) or "")[:most] for name, most in LONGEST.items()}
    thumb = said["thumb"] if said["thumb"] in THUMBS else ""
    return str(record.get("answer")), Note(thumb, said["note"], said["who"], str(record.get("when") or "")[:40])


def add_note(folder: Path, key: str, note: Note) -> None:
    """Add a note on an answer; one without a thumb and words takes back what the same person said before.

    Raises:
        UsageError: It is too long, or its thumb is none.
        OSError: It cannot be written.
    """
    for name, text in (("note", note.text), ("who", note.who)):
        if len(text) > LONGEST[name]:
            raise UsageError(f"the {name} has {len(text):,} characters", hint=f"{LONGEST[name]:,} at most are kept")
    if note.thumb not in THUMBS:
        raise UsageError(f"there is no thumb '{note.thumb[:10]}'", hint="it is up, down or empty")
    when = note.when or datetime.now(UTC).isoformat(timespec="seconds")
    record = {"answer": key, "when": when, "who": note.who, "thumb": note.thumb, "note": note.text}
    line, file = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"), folder / NOTES
    if file.is_file() and file.stat().st_size + len(line) >= _MOST_BYTES:  # more than are read again
        raise UsageError(f"{file} has {_MOST_BYTES >> 20} MiB of notes, and takes no more", hint="move it away")
    append_line(file, line)
