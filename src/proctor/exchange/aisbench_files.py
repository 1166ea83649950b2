"""Predictions in work folders of AISBench and OpenCompass: those that lie there graded, those of a run written.

:mod:`~proctor.runs.work_dir` finds and reads the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.exam import ConfigExam
from proctor.dialects.aisbench.gradings import ConfigGrader
from proctor.dialects.aisbench.inferencers import CHAT, CLP, GENERATE, PPL, TEXT_PPL
from proctor.dialects.aisbench.readings import Reader, losses_of, prompt_of
from proctor.errors import UsageError
from proctor.exchange.lines import json_text
from proctor.ir import Converse, Failure, Response
from proctor.ir.question import Answered, Ask
from proctor.jsonable import jsonable, to_line
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.recipes.selection import chosen
from proctor.runs.work_dir import PREDICTIONS, RESULTS
from proctor.safe_files import subfolder, write_text, written
from proctor.scoring.evaluators.runs import tabled
from proctor.scoring.flat_scores import read_flat
from proctor.scoring.grades import Grade
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Reading

_UNREAD = {
    CHAT: "they are turns of conversations, not answers",
    CLP: "they are probabilities, not answers",
    TEXT_PPL: "they are losses, not answers",
}
"""Kinds of requests whose predictions are not read back, with the reason."""

# -- grading what was answered elsewhere -----------------------------------------------------------------------------


class RecordedReader:
    """Reads what another program recorded as the prediction: an answer, several answers, or the label that won.

    Args:
        output: The column of the right answer.
    """

    def __init__(self, output: str | None) -> None:
        self._output = output

    def __call__(self, answered: Answered) -> Sequence[Reading]:
        """Return the prediction."""
        question, texts = answered.question, answered.responses[0].texts
        value: Any = list(texts) if len(texts) > 1 else texts[0] if texts else ""
        value = next((label for label in question.labels if str(label) == value), value)
        gold = question.instance.get(self._output) if self._output else None
        return (Reading(value, gold, question.instance, prompt_of(question.requests[0])),)


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
            yield Answered(question, (Response(texts=tuple(map(json_text, texts))),))


def _asks(exam: Exam) -> Iterator[Ask]:
    """Yield which row each question of an exam is about, and how often that was asked before."""
    return (ask for ask, _ in chosen(exam.opened, exam.selection, exam.name))


def _are_rows(exam: Exam, predictions: Mapping[int, Sequence[Any]], config: DatasetConfig) -> bool:
    """Whether lines about rows that are asked several times are numbered by row, rather than one after the other."""
    repeats = any(len(values) > 1 for values in predictions.values())
    is_within = max(predictions, default=-1) < exam.opened.total() // config.count
    return repeats or is_within if config.by_row else repeats and is_within


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


def are_configs(exams: Iterable[Exam]) -> bool:
    """Return whether every exam is a dataset of a config."""
    return all(isinstance(exam.own, ConfigExam) for exam in exams)


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


def write_results(folder: Path, model: str, dataset: str, entry: Mapping[str, Any]) -> Path:
    """Write ``results/MODEL/DATASET.json``, and return its path.

    Args:
        folder: The work folder.
        model: The name of the model's folder.
        dataset: The exam.
        entry: Its scores as ``results.json`` has them, in the order of its grade.

    Raises:
        OSError: It cannot be written.
    """
    path = subfolder(folder, RESULTS, model) / f"{dataset}.json"
    scores = {each.name: float(each.value) for each in read_flat(entry) if isinstance(each.value, int | float)}
    write_text(path, json.dumps({name: scores[name] for name in tabled(scores)}, indent=4, ensure_ascii=False))
    return path
