"""Work folders of AISBench and OpenCompass: the predictions and results that lie in them, read and written.

``WORK/[TIME/]predictions/MODEL/DATASET.jsonl`` has a line for each answer (AISBench); OpenCompass writes ``.json``, an
object by position, perhaps in parts (``DATASET_0.json`` …). ``results/MODEL/DATASET.json`` has the scores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.exam import ConfigExam
from proctor.dialects.aisbench.gradings import ConfigGrader
from proctor.dialects.aisbench.inferencers import CHAT, CLP, GENERATE, PPL, TEXT_PPL
from proctor.dialects.aisbench.readings import Reader, RecordedReader, losses_of, prompt_of
from proctor.errors import DataError, Location, UnknownArtifactError, UsageError, did_you_mean
from proctor.foreign_text import parse_json
from proctor.ir import Converse, Failure, Response
from proctor.ir.question import Answered, Ask
from proctor.jsonable import jsonable, to_line
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.recipes.selection import chosen
from proctor.safe_files import opened, read_bytes, subfolder, write_text, written
from proctor.scoring.grade import Grade
from proctor.scoring.groupings import GroupBy

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
    """

    path: Path

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
            return cls(path / inner[-1])
        raise UnknownArtifactError(
            f"{path} is no folder of AISBench, OpenCompass or Proctor",
            why="neither it nor a folder in it has predictions/ or results/",
            hint="name it with --work-dir, and the time with --reuse",
        )

    def models(self, kind: str = PREDICTIONS) -> list[str]:
        """Return the models that have predictions (or results)."""
        folder = self.path / kind
        return sorted(each.name for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []

    def predictions(self, model: str, dataset: str) -> dict[int, list[Any]] | None:
        """Return what a model answered: by the number of each line all answers in order; ``None`` where no file is.

        Raises:
            DataError: A file cannot be read.
        """
        folder = self.path / PREDICTIONS / model
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
        folder = self.path / RESULTS / model
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


_UNREAD = {
    CHAT: "they are turns of conversations, not answers",
    CLP: "they are probabilities, not answers",
    TEXT_PPL: "they are losses, not answers",
}
"""Kinds of requests whose predictions are not read back, with the reason."""

# -- grading what was answered elsewhere -----------------------------------------------------------------------------


def grade_predictions(exam: Exam, predictions: Mapping[int, Sequence[Any]]) -> tuple[Grade, int]:
    """Return the grade of predictions that lie in a work folder, and how many instances the exam has.

    An instance without a prediction is a failure; AISBench counts it as answered wrong.

    Args:
        exam: A dataset of a config.
        predictions: By number all answers in order. Numbers are those of rows after ``reader_cfg``; where the dataset
            says ``n``, positions with copies included.

    Raises:
        UsageError: The exam is not a dataset of a config, or its predictions have no place for single turns.
    """
    own = _config_of(exam)
    if own.config.inferencer.kind in _UNREAD:
        raise UsageError(f"predictions of '{exam.name}' cannot be graded", why=_UNREAD[own.config.inferencer.kind])
    reader = RecordedReader(own.config.reader.get("output_column"))
    in_blocks, by = (lambda: own.rows.dataset.in_blocks), GroupBy.of(exam.options.group_by)
    grader = ConfigGrader(own.config, own.options, in_blocks, by, reader=reader)
    asked = list(_answered(exam, predictions, own.config))
    return replace(exam, grader=grader).grade(asked), len(asked)


def _answered(exam: Exam, predictions: Mapping[int, Sequence[Any]], config: DatasetConfig) -> Iterator[Answered]:
    missing = Failure("missing", "the work folder has no prediction", retryable=False)
    by_row = config.count == 1 or _are_rows(exam, predictions, config)
    if not by_row and (exam.selection.limit or exam.selection.places):
        raise UsageError(f"'{exam.name}' asks every row {config.count} times", hint="leave the limit out")
    most = config.count if by_row else 1
    if more := [number for number, values in predictions.items() if len(values) > most]:
        get_logger().warning(
            "%s: %d rows have more answers than %d, row %d first; only the first of them count",
            exam.name, len(more), most, more[0],
        )  # fmt: skip
    for place, (question, ask) in enumerate(zip(exam.questions(), _asks(exam), strict=True)):
        values = predictions.get(ask.number if by_row else place, ())
        turn = ask.repeat if by_row else 0
        found = values[turn] if turn < len(values) else missing
        if isinstance(found, Failure):
            yield Answered(question, (Response(failure=found),))
        else:
            texts = [str(each) for each in found] if isinstance(found, list) else [found]
            yield Answered(question, (Response(texts=tuple(map(_text, texts))),))


def _asks(exam: Exam) -> Iterator[Ask]:
    """Yield which row each question of an exam is about, and how often that was asked before."""
    return (ask for ask, _ in chosen(exam.opened, exam.selection, exam.name))


def _are_rows(exam: Exam, predictions: Mapping[int, Sequence[Any]], config: DatasetConfig) -> bool:
    """Whether lines about rows that are asked several times are numbered by row, rather than one after the other.

    AISBench numbers by row where the model says how often, and by position where the dataset does; OpenCompass, and
    Proctor before AISBench's numbers were known, by position always.
    """
    repeats = any(len(values) > 1 for values in predictions.values())
    is_within = max(predictions, default=-1) < exam.opened.total() // config.count
    return repeats or is_within if config.by_row else repeats and is_within


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- writing ---------------------------------------------------------------------------------------------------------


_ROLES = {"user": "HUMAN", "assistant": "BOT", "system": "SYSTEM"}


def prediction_lines(exam: Exam, items: Iterable[Answered]) -> Iterator[dict[str, Any]]:
    """Yield AISBench's lines for answers in order: one for each, or one for each turn of a conversation.

    Raises:
        UsageError: The exam is not a dataset of a config.
    """
    own = _config_of(exam)
    kind, project = own.config.inferencer.kind, own.config.project
    read = Reader(kind, own.config.reader.get("output_column"), project)
    rows = (ask.number for ask in _asks(exam)) if own.config.by_row else None
    for position, each in enumerate(items):
        place = position if own.config.count > 1 else each.question.number
        beginning = {"data_abbr": exam.name, "id": place if rows is None else next(rows)}
        if each.failure is not None:
            yield {**beginning, "success": False, "error_info": each.failure.message}
            continue
        known = {**beginning, "success": True, "uuid": f"{place:032x}"}
        output = own.config.reader.get("output_column")
        if kind == CHAT:
            gold = {"gold": jsonable(each.question.instance.get(output))} if output else {}
            yield from ({**known, "origin_prompt": asked, "prediction": said, **gold} for asked, said in _turns(each))
            continue
        for reading in read(each):
            line = {**known, "origin_prompt": _prompt(reading.prompt, is_text=_asks_text(own.config))}
            gold = {} if reading.references is None else {"gold": jsonable(reading.references)}
            if kind == PPL:
                line |= _compared(each, 0 if project == "aisbench" else 1)
            said = _written(each.responses[0]) if kind == GENERATE else reading.value
            yield {**line, "prediction": said, **gold}


def _written(response: Response) -> Any:
    """Return what a model wrote, its thoughts first, as AISBench files it; of several answers a list."""
    padded = [(*part, *[""] * len(response.texts)) for part in (response.written, response.thoughts)]
    found = [
        whole or (f"{thought}</think>{text}" if thought else text)
        for text, whole, thought in zip(response.texts, *padded, strict=False)
    ]
    return found if len(found) > 1 else found[0] if found else ""


def _turns(each: Answered) -> Iterator[tuple[Any, str]]:
    """Yield what was said before each turn of the model, and what it said there."""
    if isinstance(first := each.question.requests[0], Converse):
        said: list[Any] = []
        texts = iter(each.responses[0].texts)
        for turn in first.turns:
            if turn is None:
                text = next(texts)
                yield _prompt(list(said)), text
                said.append({"role": "assistant", "content": text})
            else:
                said.append(turn)
        return
    for request, response in zip(each.question.requests, each.responses, strict=True):
        yield _prompt(prompt_of(request)), response.texts[0]


def _compared(each: Answered, first_token: int) -> dict[str, Any]:
    """Return what was compared: the prompt of every label, and its loss."""
    step = len(each.question.requests) // max(len(each.question.labels), 1)
    asked = each.question.requests[::step]
    prompts = [list(getattr(request, "messages", ())) or prompt_of(request) for request in asked]
    pairs = zip(each.question.labels, losses_of(each, first_token), strict=True)
    return {"origin_prompt": prompts, "ppl_list": [{"label": jsonable(label), "ppl": loss} for label, loss in pairs]}


def _asks_text(config: DatasetConfig) -> bool:
    """Whether a dataset's prompts are texts, which AISBench files as they are, whatever a chat makes of them."""
    for name in ("prompt_template", "ice_template"):
        if isinstance(part := config.inference.get(name), Mapping):
            return isinstance(part.get("template"), str)
    return False


def _prompt(source: Any, *, is_text: bool = False) -> Any:
    """Return a prompt as AISBench writes it: a text, or turns of its own roles."""
    if isinstance(source, str):
        return source
    if is_text and len(source) == 1 and isinstance(source[0].get("content"), str):
        return source[0]["content"]
    return [
        {
            "role": _ROLES.get(turn["role"], turn["role"]),
            "prompt": turn.get("content"),
            **{key: value for key, value in turn.items() if key not in ("role", "content")},
        }
        for turn in source
    ]


def _config_of(exam: Exam) -> ConfigExam:
    if not isinstance(exam.own, ConfigExam):
        raise UsageError(
            f"'{exam.name}' is not a dataset of AISBench or OpenCompass",
            hint="leave --output-format out, and name configs in --mode eval",
        )
    return exam.own


def check_configs(exams: Iterable[Exam]) -> None:
    """See to it that every exam is a dataset of a config.

    Raises:
        UsageError: One is not.
    """
    for exam in exams:
        _config_of(exam)


def write_predictions(folder: Path, model: str, exam: Exam, items: Iterable[Answered]) -> list[Path]:
    """Write ``predictions/MODEL/DATASET.jsonl``, and ``…_failed.jsonl`` where something was not answered.

    Returns:
        The files.

    Raises:
        OSError: They cannot be written.
    """
    home = subfolder(folder, PREDICTIONS, model)
    paths = [home / f"{exam.name}.jsonl", home / f"{exam.name}_failed.jsonl"]
    with written(paths[0]) as answered, written(paths[1]) as failed:
        counts = [0, 0]
        for line in prediction_lines(exam, items):
            counts[not line["success"]] += 1
            (answered if line["success"] else failed).write(to_line(line) + b"\n")
    if not counts[1]:
        paths.pop().unlink()
    return paths


def write_results(folder: Path, model: str, dataset: str, scores: Mapping[str, float]) -> Path:
    """Write ``results/MODEL/DATASET.json``, and return its path.

    Raises:
        OSError: It cannot be written.
    """
    path = subfolder(folder, RESULTS, model) / f"{dataset}.json"
    write_text(path, json.dumps(dict(scores), indent=4, ensure_ascii=False))
    return path
