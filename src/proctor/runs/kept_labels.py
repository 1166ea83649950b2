"""Labels that are kept beside the answers they are of: ``labels.jsonl`` in a run folder, a line a label.

A label belongs to an answer, so every run that has it and lies in the same folder of runs uses it, whoever judged it
since. Of each person's labels of an answer the last counts; one without a value takes back the one before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from proctor.errors import UsageError
from proctor.runs.answer_labels import LABELS, Labels, read_labels
from proctor.runs.sample_index import SampleIndex
from proctor.safe_files import Stamp, append_line, stamp_of

LONGEST_NAME: Final = 100
"""Characters of a labeller's name."""


class Label(NamedTuple):
    """What somebody said of an answer, from 0 to 1, or ``None`` to take it back; and of which draw it was."""

    answer: str
    label: float | None
    who: str
    draw: str = ""
    stands_for: float = 1.0


def keep_labels(folder: Path, labels: Iterable[Label]) -> None:
    """Add labels to those of a run folder.

    Raises:
        UsageError: A name is missing or too long.
        OSError: They cannot be written.
    """
    when = datetime.now(UTC).isoformat(timespec="seconds")
    for each in labels:
        if not each.who.strip() or len(each.who) > LONGEST_NAME:
            raise UsageError(f"a label has a labeller's name of 1 to {LONGEST_NAME} characters", hint="say who you are")
        line = json.dumps({**each._asdict(), "when": when}, ensure_ascii=False).encode("utf-8", "replace")
        append_line(folder / LABELS, line)


def kept_labels(*folders: Path) -> Labels | None:
    """Return the labels that are kept in run folders and in those beside them; ``None`` where there are none."""
    places = [folder.resolve() / LABELS for folder in folders]
    for parent in dict.fromkeys(place.parent.parent for place in places):
        with suppress(OSError), os.scandir(parent) as beside:
            places += sorted(Path(each.path) / LABELS for each in beside)
    found = [place for place in dict.fromkeys(places) if os.path.isfile(place)]  # noqa: PTH113 - False where none may look
    if not found:
        return None
    return _read(tuple((place, stamp_of(place)) for place in found))


@lru_cache(maxsize=4)  # a page compares many exams of the same runs
def _read(stamps: tuple[tuple[Path, Stamp], ...]) -> Labels:
    labels = read_labels([place for place, _ in stamps])
    labels.is_kept = True
    return labels


def labels_for(index: SampleIndex) -> Labels | None:
    """Return the labels that correct a run: those that a user named, else those that are kept."""
    given = index.labels
    return given if isinstance(given, Labels) else kept_labels(index.path.parent)
