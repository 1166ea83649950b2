"""Scores that a gate compares with: of a run folder, or of a small file to commit to a repository."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import Location, OutputError, ProctorError, UsageError
from proctor.foreign_text import parse_json
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint, instance_digest
from proctor.results.instance_scores import main_score, whole_of
from proctor.running.log_place import LogAddress
from proctor.running.sweeps import is_sweep
from proctor.safe_files import opened, read_bytes, written

FORMAT = "proctor-baseline"
VERSION = 1

_MOST_BYTES = 64 << 20
"""Of a file of scores: a million questions have 30 MB."""

_LINE_BYTES = 64 << 20
"""Of a line of ``samples.jsonl``: the longest prompts have a million characters."""


@dataclass(frozen=True, slots=True)
class ExamBaseline:
    """A model's scores on an exam, question by question.

    Attributes:
        scores: Scores from 0 to 1, by the question's key (:func:`keys_of`).
        fingerprint: What the exam was made of; ``None`` where the file does not say.
        failed: Questions that have no score.
        metric: Name of the score.
    """

    scores: Mapping[str, float]
    fingerprint: Fingerprint | None = None
    failed: int = 0
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The scores of one model on some exams.

    Attributes:
        exams: By the exam's name.
        source: Where they come from, for people.
        model: Whose they are, for people.
    """

    exams: Mapping[str, ExamBaseline] = field(default_factory=dict)
    source: str = ""
    model: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-like data, the same for the same scores."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "exams": {
                name: {
                    "metric": each.metric,
                    "fingerprint": None if each.fingerprint is None else each.fingerprint.to_dict(),
                    "scores": dict(sorted(each.scores.items())),
                }
                for name, each in sorted(self.exams.items())
            },
        }


def keys_of(digests: Iterable[str]) -> list[str]:
    """Return keys of questions by the digests of their instances; equal instances are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for digest in digests:
        number = seen[digest]
        seen[digest] += 1
        found.append(f"{digest}#{number}" if number else digest)
    return found


def is_log(path: Path | LogAddress) -> bool:
    """Return whether a place is that of a response log: an SQLite file, as they are, or the address of a database."""
    if isinstance(path, LogAddress):
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


_SQLITE = b"SQLite format 3\0"
"""How every SQLite 3 file begins."""


def save_baseline(baseline: Baseline, path: Path) -> None:
    """Write scores to a file, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    text = json.dumps(baseline.to_dict(), indent=1, sort_keys=True, ensure_ascii=False)
    try:
        with written(path) as file:
            file.write(text.encode("utf-8", "replace") + b"\n")
    except OSError as error:
        raise OutputError.unwritable(str(path), error, "another file") from error


def load_baseline(path: Path) -> Baseline:
    """Return the scores of a run folder, or of a file that :func:`save_baseline` wrote.

    Raises:
        UsageError: It is neither, or cannot be read.
    """
    if is_sweep(path):
        why = "a gate asks one question after another, in one wording"
        hint = "sweep both models, then proctor compare A B --over wordings --fail-if-worse; or name one of its runs"
        raise UsageError(f"{path} is a sweep of many wordings", why=why, hint=hint)
    return _of_run(path) if path.is_dir() else _of_file(path)


# -- files ----------------------------------------------------------------------------------------------------


def _of_file(path: Path) -> Baseline:
    try:
        data = parse_json(read_bytes(path, _MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unread(path, str(error)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _unread(path, f'it does not say "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise _unread(path, f"it has version {data.get('version')!r}, and this Proctor reads {VERSION}")
    entries = data.get("exams")
    if not isinstance(entries, dict) or not all(isinstance(each, dict) for each in entries.values()):
        raise _unread(path, "'exams' is not a mapping of names to scores")
    exams = {str(name): _entry(path, str(name), entry) for name, entry in entries.items()}
    return Baseline(exams, str(path), str(data.get("model") or ""))


def _entry(path: Path, name: str, entry: Mapping[str, Any]) -> ExamBaseline:
    scores = entry.get("scores")
    if not isinstance(scores, dict) or not all(map(_is_share, scores.values())):
        raise _unread(path, f"the scores of '{name}' are not numbers from 0 to 1")
    known = {str(key): float(value) for key, value in scores.items()}
    return ExamBaseline(known, Fingerprint.from_dict(entry.get("fingerprint")), 0, str(entry.get("metric") or ""))


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _unread(path: Path, why: str) -> UsageError:
    hint = "a baseline is a run folder, a response log, or a file of proctor gate --save-baseline"
    return UsageError("this is not a baseline", location=Location(str(path)), why=why, hint=hint)


# -- run folders ----------------------------------------------------------------------------------------------


def _of_run(path: Path) -> Baseline:
    try:
        document = parse_json(read_bytes(path / "results.json", _MOST_BYTES, within=path).decode("utf-8"))
        results = dict(document["results"])
    except ProctorError:
        raise
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise _unread(path, f"results.json cannot be read: {error}") from None
    lines: dict[str, list[tuple[str, float | None]]] = {}
    try:
        for record in _records(path):
            name = str(record.get("exam"))
            entry = results.get(name)
            score = _score_of(record, entry if isinstance(entry, Mapping) else {})
            lines.setdefault(name, []).append((_digest(record), score))
    except ProctorError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise _unread(path, f"samples.jsonl cannot be read: {error}") from None
    run = document.get("run")
    engine = run.get("engine") if isinstance(run, dict) else None
    model = engine.get("label") if isinstance(engine, dict) else ""
    exams = {name: _of_lines(path, name, found, results.get(name) or {}) for name, found in lines.items()}
    return Baseline(exams, str(path), str(model or ""))


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with opened(path / "samples.jsonl", within=path) as file:
        while line := file.readline(_LINE_BYTES):
            record = parse_json(line.decode("utf-8", "replace"))
            if isinstance(record, dict):
                yield record


def _digest(record: Mapping[str, Any]) -> str:
    known = record.get("instance")
    if isinstance(known, str) and known:
        return known
    given = record.get("input")
    return instance_digest(given) if isinstance(given, Mapping) else ""


def _score_of(record: Mapping[str, Any], entry: Mapping[str, Any]) -> float | None:
    if record.get("failure") or record.get("scoring_failure"):
        return None
    score = main_score(record, str(entry.get("score_name") or ""))
    return score if score is not None and math.isfinite(score) else None


def _of_lines(
    path: Path, name: str, found: Sequence[tuple[str, float | None]], entry: Mapping[str, Any]
) -> ExamBaseline:
    keys = keys_of(digest for digest, _ in found)
    known = {key: score for key, (_, score) in zip(keys, found, strict=True) if score is not None}
    whole = whole_of(known.values(), entry)
    shares = {key: score / whole for key, score in known.items()}
    if not all(map(_is_share, shares.values())):
        raise UsageError(
            f"the baseline's scores of '{name}' are not between 0 and 1",
            location=Location(str(path)),
            why="a gate reckons with the best and the worst that a question can have",
            hint="gate on an accuracy, or another score with bounds",
        )
    main = str(entry.get("score_name") or "")
    return ExamBaseline(shares, Fingerprint.from_dict(entry.get(FINGERPRINT)), len(found) - len(known), main)
