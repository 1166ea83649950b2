"""Work folders of AISBench and OpenCompass: the predictions and results that lie in them.

``WORK/[TIME/]predictions/MODEL/DATASET.jsonl`` has a line for each answer (AISBench); OpenCompass writes ``.json``, an
object by position, perhaps in parts (``DATASET_0.json`` …). ``results/MODEL/DATASET.json`` has the scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import DataError, Location, UnknownArtifactError, did_you_mean
from proctor.foreign_text import parse_json
from proctor.ir import Failure
from proctor.safe_files import opened, read_bytes

PREDICTIONS, RESULTS = "predictions", "results"
_LATEST = "latest"
_MOST_BYTES = 1 << 30
"""Bytes of a file of OpenCompass' predictions, which is one JSON document."""
_PART = re.compile(r"_(\d+)$")


@dataclass(frozen=True, slots=True)
class WorkDir:
    """A folder that AISBench or OpenCompass worked in.

    Attributes:
        path: The folder that has ``predictions`` or ``results``.
        parts: Folders in it that have them instead: of several models, each has a run folder of its own.
    """

    path: Path
    parts: tuple[Path, ...] = ()

    @classmethod
    def find(cls, path: Path, time: str | None = None) -> WorkDir:
        """Return a work folder.

        Args:
            path: The folder itself, or the one above that has a folder for each time.
            time: Which of them (``20260101_101500``); ``latest`` or nothing is the last one.

        Raises:
            UnknownArtifactError: There is none.
        """
        inner = sorted(each.name for each in path.iterdir() if _is_work(each)) if path.is_dir() else []
        if time not in (None, _LATEST):
            if time in inner:
                return cls(path / str(time))
            hint = did_you_mean(str(time), inner) or f"there are {', '.join(inner) or 'none'}"
            raise UnknownArtifactError(f"{path} has no folder '{time}' with predictions or results", hint=hint)
        if _is_work(path):
            return cls(path)
        if inner:
            parts = [cls(path / each) for each in inner]
            names = [name for part in parts for name in {*part.models(), *part.models(RESULTS)}]
            own = all((part.path / "run.yaml").is_file() for part in parts) and len(names) == len(set(names))
            return cls(path, tuple(part.path for part in parts)) if own and len(parts) > 1 else parts[-1]
        raise UnknownArtifactError(
            f"{path} is not a folder of AISBench, OpenCompass or Proctor",
            why="neither it nor a folder in it has predictions/ or results/",
            hint="name it with --work-dir, and the time with --reuse",
        )

    def models(self, kind: str = PREDICTIONS) -> list[str]:
        """Return the models that have predictions (or results)."""
        return sorted({each.name for part in self._places() for each in (part / kind).glob("*") if each.is_dir()})

    def of(self, model: str) -> Path:
        """Return the folder in which a model's predictions and results are."""
        found = (part for part in self._places() for kind in (PREDICTIONS, RESULTS) if (part / kind / model).is_dir())
        return next(found, self.path)

    def _places(self) -> tuple[Path, ...]:
        return self.parts or (self.path,)

    def predictions(self, model: str, dataset: str) -> dict[int, list[Any]] | None:
        """Return a model's answers by line number, each line's in order; ``None`` where no file is.

        Raises:
            DataError: A file cannot be read.
        """
        folder = self.of(model) / PREDICTIONS / model
        lines = folder / f"{dataset}.jsonl"
        if lines.is_file():
            return _gathered(_of_lines(lines))
        whole = folder / f"{dataset}.json"
        if whole.is_file():
            return _gathered(_of_document(whole).items())
        parts = _parts(folder, dataset)
        if not parts:
            return None
        joined: dict[int, Any] = {}
        for part in parts:
            start = len(joined)
            joined.update({start + place: value for place, value in _of_document(part).items()})
        return _gathered(joined.items())

    def results(self, model: str) -> dict[str, dict[str, Any]]:
        """Return the scores of a model by dataset, as its files have them.

        Raises:
            DataError: A file cannot be read.
        """
        folder = self.of(model) / RESULTS / model
        files = sorted(folder.glob("*.json")) if folder.is_dir() else []
        return {file.stem: {key: value for key, value in _object(file).items() if key != "details"} for file in files}


def _is_work(path: Path) -> bool:
    return (path / PREDICTIONS).is_dir() or (path / RESULTS).is_dir()


def _gathered(numbered: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for number, value in numbered:
        found.setdefault(number, []).append(value)
    return found


def _parts(folder: Path, dataset: str) -> list[Path]:
    found = {}
    for file in folder.glob(f"{_escaped(dataset)}_*.json") if folder.is_dir() else ():
        if (match := _PART.search(file.stem)) and file.stem[: match.start()] == dataset:
            found[int(match.group(1))] = file
    return [found[place] for place in sorted(found)]


def _escaped(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _of_lines(path: Path) -> Iterator[tuple[int, Any]]:
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                place = Location(str(path), number)
                row = _parsed(line, place)
                if not isinstance(row, Mapping) or "prediction" not in row:
                    raise DataError("the line has no prediction", location=place, hint="AISBench writes 'prediction'")
                position = row.get("id", number - 1)
                if not isinstance(position, int):
                    raise DataError("the line's 'id' is not a position", location=place, why=f"it is {position!r}")
                yield position, row["prediction"] if row.get("success", True) else _unanswered(row)


def _unanswered(row: Mapping[str, Any]) -> Failure:
    return Failure("engine", str(row.get("error_info") or "the request failed"), retryable=False)


def _of_document(path: Path) -> dict[int, Any]:
    found = _object(path)
    if not all(key.isdigit() and isinstance(row, Mapping) and "prediction" in row for key, row in found.items()):
        raise DataError("the file has no predictions by position", location=Location(str(path)))
    return {int(key): found[key]["prediction"] for key in sorted(found, key=int)}


def _object(path: Path) -> dict[str, Any]:
    found = _parsed(read_bytes(path, _MOST_BYTES), Location(str(path)))
    if not isinstance(found, dict):
        raise DataError("the file is not a JSON object", location=Location(str(path)))
    return found


def _parsed(text: bytes, place: Location) -> Any:
    try:
        return parse_json(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError("this is not JSON", location=place, why=str(error)) from None
