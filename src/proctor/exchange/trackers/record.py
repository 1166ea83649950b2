"""The record of a run for experiment trackers: numbers, parameters, files and a table."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

from proctor.errors import UsageError
from proctor.exchange.lines import samples_of
from proctor.exchange.observed import text_of
from proctor.recipes.fingerprint import Fingerprint
from proctor.results.summary import ScoreRow, score_rows
from proctor.running.folder import RESULTS, SAMPLES, SPEC
from proctor.runs.stored_run import StoredRun
from proctor.safe_files import opened, written
from proctor.scoring.flat_scores import read_flat
from proctor.secrets import cleaned, keep_environment, redacted, without_secrets

Parameter = str | int | float | bool

COLUMNS: Final = ("exam", "number", "instance", "prompt", "answer", "prediction", "references", "score", "failure")
"""Of the table of instances; ``score`` is that of the exam's main metric."""

MOST_ROWS: Final = 10_000
"""Rows of the table: trackers keep it in memory and show it in a browser. ``samples.jsonl`` has all."""

_LONGEST_NAME: Final = 250
"""Characters of a name: MLflow's limit; the others have none."""

_LONGEST_VALUE: Final = 6_000
"""Characters of a parameter: MLflow's limit; the whole is in ``run.yaml``."""

_STRANGE: Final = re.compile(r"[^\w\-. :/]+", re.ASCII)
"""What MLflow takes in no name; brackets, equals signs and commas of exams and filters."""


@dataclass(frozen=True, slots=True)
class Record:
    """A run as trackers keep it.

    Attributes:
        name: What the run is called.
        started, ended: Milliseconds since 1970, where they are known.
        parameters: Model, options, units of scores, fingerprints.
        metrics: Scores, bounds, standard errors and counts, as ``EXAM/METRIC``, ``EXAM/METRIC/ci_low``, ``EXAM/n`` …
        files: Copies of the run's files, without secrets.
        rows: The table of instances.
        left_out: What trackers are not told, and why.
    """

    name: str
    started: int | None
    ended: int | None
    parameters: Mapping[str, Parameter]
    metrics: Mapping[str, float]
    files: Sequence[Path]
    rows: Sequence[Mapping[str, Any]]
    left_out: Sequence[str]


@contextmanager
def recorded(run: StoredRun) -> Iterator[Record]:
    """Yield the record of a finished run; its copies of files are there until the block ends.

    Raises:
        UsageError: The run has no results.
    """
    if not run.results:
        raise UsageError(f"there are no results in {run.path}", why=run.problem or "the run did not end")
    keep_environment()
    names = _Names()
    metrics, units, left_out = _metrics(run, names)
    parameters = {**_parameters(run), **units, **_fingerprints(run, names)}
    rows, more = _rows(run)
    with tempfile.TemporaryDirectory() as folder:
        yield Record(
            redacted(f"{run.model} {run.path.resolve().name}"),
            *_times(run),
            parameters,
            metrics,
            _copies(run.path, Path(folder)),
            rows,
            [*left_out, *names.changed(), *more],
        )


# -- names ----------------------------------------------------------------------------------------------------------


class _Names:
    """Names that every tracker takes, each for one thing."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, *parts: str) -> str:
        """Return the name of parts; parts that would be one name with others have a number behind them."""
        return "/".join(self._part(each) for each in parts)

    def _part(self, part: str) -> str:
        if part not in self._found:
            plain = _STRANGE.sub("_", redacted(part).replace("/", ".")).strip(" .")[: _LONGEST_NAME // 3] or "_"
            number, name = 1, plain
            while name in self._taken:
                number += 1
                name = f"{plain}_{number}"
            self._found[part] = name
            self._taken.add(name)
        return self._found[part]

    def changed(self) -> list[str]:
        """Return the names that differ from those in the run."""
        return [f"the name '{part}', which is '{name}' there" for part, name in self._found.items() if part != name]


# -- numbers --------------------------------------------------------------------------------------------------------


def _metrics(run: StoredRun, names: _Names) -> tuple[dict[str, float], dict[str, Parameter], list[str]]:
    """Return scores and counts, the units of scores, and which scores are not numbers."""
    metrics: dict[str, float] = {}
    units: dict[str, Parameter] = {}
    left_out = []
    for exam, entry in run.results.items():
        errors = {score.name: score.stderr for score in read_flat(entry)}
        rows = list(score_rows({exam: entry}, every_score=True))
        for row in rows:
            name = names.of(exam, row.metric)
            if row.value is None or not isfinite(row.value):
                left_out.append(f"{exam}: {row.metric} has no finite value")
                continue
            metrics |= {f"{name}{end}": value for end, value in _numbers(row, errors.get(row.metric))}
            units[f"unit/{name}"] = row.unit
            if row.is_main:
                units[f"main/{names.of(exam)}"] = row.metric
        own = names.of(exam)
        metrics |= {f"{own}/n": rows[0].asked, f"{own}/scored": rows[0].scored, f"{own}/failed": rows[0].failed}
        failures = entry.get("failure_kinds") or {}
        metrics |= {f"{own}/failed/{names.of(str(kind))}": float(count) for kind, count in failures.items()}
    return metrics, units, left_out


def _numbers(row: ScoreRow, stderr: float | None) -> Iterator[tuple[str, float]]:
    for end, value in (("", row.value), ("/ci_low", row.low), ("/ci_high", row.high), ("/stderr", stderr)):
        if value is not None and isfinite(value):
            yield end, float(value)


def _fingerprints(run: StoredRun, names: _Names) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for exam, entry in run.results.items():
        fingerprint = Fingerprint.from_dict(entry.get("fingerprint"))
        if fingerprint is not None:
            layers = {name: digest for name, digest in fingerprint.to_dict().items() if digest}
            found |= {f"fingerprint/{names.of(exam)}/{name}": digest for name, digest in layers.items()}
            found[f"fingerprint/{names.of(exam)}"] = fingerprint.short
    return found


def _parameters(run: StoredRun) -> dict[str, Parameter]:
    """Return what was run, as ``run.yaml`` says it without the exams' descriptions, which are in the file."""
    said = {} if run.spec is None else run.spec.to_dict()
    given = {name: value for name, value in said.items() if name not in ("exams", "fingerprints", "schema_version")}
    found = {"model": run.model, **dict(_flat(without_secrets({**given, "model": run.model})))}
    return {"proctor/run": redacted(str(run.path.resolve())), "proctor/started": run.started, **found}


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Parameter]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{_STRANGE.sub('_', str(name))}/")
        elif value is not None:
            yield f"{before}{_STRANGE.sub('_', str(name))}"[:_LONGEST_NAME], _parameter(value)


def _parameter(value: Any) -> Parameter:
    if isinstance(value, (bool, int, float)):
        return value
    text = redacted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _times(run: StoredRun) -> tuple[int | None, int | None]:
    try:
        started = round(datetime.fromisoformat(run.started).timestamp() * 1_000)
    except ValueError:
        return None, None
    seconds = run.run.get("seconds")
    return started, started + round(seconds * 1_000) if isinstance(seconds, (int, float)) else None


# -- files and instances --------------------------------------------------------------------------------------------


def _copies(run: Path, folder: Path) -> list[Path]:
    """Copy a run's files without the secrets that this process knows, line by line."""
    found = []
    for name in (RESULTS, SPEC, SAMPLES):
        if not (run / name).is_file():
            continue
        found.append(folder / name)
        with opened(run / name, within=run) as source, written(found[-1]) as target:
            for line in source:
                target.write(cleaned(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
    return found


def _rows(run: StoredRun) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the table of instances, and how many are not in it."""
    mains = {exam: next(score_rows({exam: entry})).metric for exam, entry in run.results.items()}
    rows: list[dict[str, Any]] = []
    count = 0
    for line in samples_of(run.path):
        count += 1
        if count <= MOST_ROWS:
            rows.append(_row(line, mains.get(str(line.get("exam")), "")))
    if count == 0:
        return rows, ["instances: the run has no samples.jsonl"]
    return rows, [f"{count - MOST_ROWS} instances of the table: {SAMPLES} has all {count}"] if count > MOST_ROWS else []


def _row(line: Mapping[str, Any], metric: str) -> dict[str, Any]:
    failure = line.get("failure") or line.get("scoring_failure")
    score = (line.get("scores") or {}).get(metric)
    values = {
        "exam": line.get("exam"),
        "instance": line.get("instance"),
        "prompt": line.get("prompt"),
        "answer": line.get("output"),
        "prediction": line.get("processed_prediction"),
        "references": line.get("references"),
        "failure": failure.get("message", failure) if isinstance(failure, Mapping) else failure,
    }
    texts = {name: cleaned(text_of(value) or "") for name, value in values.items()}
    number = line.get("doc_id")
    found: dict[str, Any] = {
        **texts,
        "number": number if isinstance(number, int) else -1,
        "score": float(score) if isinstance(score, (bool, int, float)) else None,
    }
    return {name: found[name] for name in COLUMNS}
