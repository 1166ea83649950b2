"""``proctor evaluate``: scores of predictions that somebody has already."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from proctor.cli.asking_anew import anew_of, check_anew, refresh_option, retry_verdicts_option
from proctor.cli.commands import WalledCommand, open_wall_for, quiet_option
from proctor.cli.error_reporting import FAILURES, say, show, warn
from proctor.cli.exam_options import (
    TABLE_OPTIONS,
    allow_option,
    sandbox_option,
    table_options,
    take_trust,
    trust_option,
)
from proctor.cli.json_output import print_json
from proctor.cli.log_option import LOG
from proctor.errors import DataError, DatasetNotFoundError, Location, UsageError, reason_of
from proctor.foreign_text import parse_json
from proctor.safe_files import opened

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam
    from proctor.recipes.options import Answers, Truncated
    from proctor.results.evaluate import EvaluationResults
    from proctor.running.run import RunResult


@click.command("evaluate", cls=WalledCommand, asks=True)
@click.argument("exam", required=False, metavar="[EXAM]")
@click.option(
    "--dataset",
    "--tasks",
    "-t",
    "dataset",
    metavar="EXAM",
    help="The same as EXAM: its name or file, or card=…,template=….",
)
@click.option(
    "--predictions",
    type=click.Path(dir_okay=False, path_type=Path),
    help="One for each instance, in order: JSON lines (a text, or an object with `prediction`), lines of a .txt, or a "
    "column of a table.  [default: the exam, where it is a table]",
)
@click.option(
    "--prediction-column",
    metavar="NAME",
    help="The column, or key, that has the predictions.  [default: prediction, else output]",
)
@click.option("--split", default="test", show_default=True, help="The split that was predicted.")
@click.option("--intervals/--no-intervals", default=True, help="Whether to compute confidence intervals.")
@click.option("--log", "--use-cache", "log", type=LOG, help="The response log for judges.")
@retry_verdicts_option
@refresh_option
@click.option(
    "--truncated",
    type=click.Choice(["score", "fail"]),
    help="Predictions whose `finish_reason` says that they were cut off: score them, or count them as failures.  "
    "[default: score]",
)
@click.option(
    "--answers",
    type=click.Choice(["answer", "raw"]),
    help="What is graded: the answer alone, or thoughts and their marks too.  [default: answer]",
)
@table_options
@sandbox_option
@trust_option
@allow_option
@click.option("--instances", is_flag=True, help="Show the scores of the first instances, too.")
@click.option("--allow-failures", is_flag=True, help="Exit with 0 although instances failed.")
@click.option("--json", "as_json", is_flag=True, help="The global scores as JSON.")
@quiet_option
def command(
    predictions: Path | None,
    split: str,
    intervals: bool,
    log: Path | str | None,
    truncated: Truncated | None,
    answers: Answers | None,
    **shown: Any,
) -> int:
    """Score predictions for a dataset. No model is asked but judges, and these only what the log does not have."""
    shown.pop("allow")  # its reader granted it
    check_anew(shown)
    anew = anew_of(refresh=shown.pop("refresh"), retry_verdicts=shown.pop("retry_verdicts"))
    take_trust(shown)
    open_wall_for()
    dataset = _named(shown.pop("exam"), shown.pop("dataset"))
    predictions = predictions or _own_table(dataset)
    given = read_predictions(predictions, shown.pop("prediction_column"))
    from proctor.dialects.resolve import resolve_tasks
    from proctor.recipes import load_recipe
    from proctor.recipes.options import ExamOptions
    from proctor.recipes.permissions import admit
    from proctor.running.evaluate import evaluate, evaluate_exam
    from proctor.scoring.judges.verdicts import UNREAD

    of_table = {name: shown.pop(name) for name in TABLE_OPTIONS if name in shown}
    options = ExamOptions(truncated=truncated, answers=answers, **of_table)
    exams = resolve_tasks([dataset], options)
    admit(exams)
    if any(exam.dialect != "unitxt" for exam in exams):
        _refuse(shown["instances"], intervals=intervals)
        return _of_exam(dataset, exams, partial(evaluate_exam, predictions=given, log=log, anew=anew), shown)
    rows = list(load_recipe(dataset)()[split])
    if len(given) != len(rows):
        raise UsageError(
            f"{predictions} has {len(given)} predictions for {len(rows)} instances of '{split}'",
            hint="one line for each instance, in order; limit the recipe with max_test_instances=…",
        )
    results = evaluate(given, rows, calc_confidence_intervals=intervals, log=log, options=options, anew=anew)
    if shown["as_json"]:
        print_json(dict(results.global_scores), indent=2)
    else:
        show(results.global_scores.summary)
    if shown["instances"] and not shown["as_json"]:
        show(results.instance_scores.summary)
    for judge, counts in results.metadata.get("judges", {}).items():
        say(f"judge {judge}: {counts['asked']} requests asked, {counts['from_log']} answered by the log")
    for note in _ending_notes(given, rows):
        warn(f"note: {note}")
    notes = list(_notes(results))
    for note in notes:
        warn(f"warning: {note}")
    if any(failure["kind"] in UNREAD for failure in results.failures.values()):
        warn("to ask the judges again whose verdicts could not be read: the same command with --retry-verdicts")
    return FAILURES if notes and not shown["allow_failures"] else 0


def _named(exam: str | None, dataset: str | None) -> str:
    """Return the one exam that is named.

    Raises:
        UsageError: There is none, or there are two.
    """
    if exam is not None and dataset is not None:
        raise UsageError(
            f"'{exam}' and '{dataset}' are two exams", hint="predictions are scored for one: leave one out"
        )
    if (named := exam or dataset) is None:
        raise UsageError("there is no exam to score for", hint="proctor evaluate EXAM --predictions FILE")
    return named


def _own_table(exam: str) -> Path:
    """Return the table that an exam is, whatever its brackets say: it may have the predictions, too.

    Raises:
        UsageError: The exam is not a table.
    """
    from proctor.dialects.tables.reader import is_table

    if not is_table(path := exam.partition("[")[0]):
        hint = "name a file with --predictions, one for each instance, in order"
        raise UsageError(f"there are no predictions for '{exam}'", hint=hint)
    return Path(path)


def _refuse(instances: bool, *, intervals: bool) -> None:
    """Refuse what only recipes have.

    Raises:
        UsageError: With every option that was given.
    """
    is_typed = click.get_current_context().get_parameter_source("split") is ParameterSource.COMMANDLINE
    given = {"--instances": instances, "--split": is_typed, "--no-intervals": not intervals}
    if named := [name for name, is_given in given.items() if is_given]:
        raise UsageError(
            f"{' and '.join(named)}: for recipes only",
            why="this exam says itself which split is asked about, and its grader always gives intervals",
            hint="leave it out; proctor run --model replay writes samples.jsonl with the scores of instances",
        )


def _of_exam(
    name: str, exams: Sequence[Exam], evaluated: Callable[[Exam], RunResult], shown: Mapping[str, bool]
) -> int:
    """Score predictions for an exam that is not a recipe, and show them as a run would."""
    from proctor.cli.conclusion import conclude

    if len(exams) != 1:
        raise UsageError(f"'{name}' means {len(exams)} exams", hint="name one of them: proctor ls lists them")
    result = evaluated(exams[0])
    return conclude(result, allow_failures=shown["allow_failures"], every_score=True, as_json=shown["as_json"])


def _ending_notes(predictions: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence on each way in which texts did not end as answers do."""
    from proctor.engines.thoughts import heard, marks_of
    from proctor.ir import Response
    from proctor.results.summary import endings_in_words
    from proctor.scoring.grading.answer_endings import ALIKE, Endings

    endings = Endings()
    for prediction, row in zip(predictions, rows, strict=True):
        response = Response(texts=(prediction,)) if isinstance(prediction, str) else prediction
        if isinstance(response, Response):
            endings.count_texts(heard(response, marks_of()), row["references"])
    counted = endings.as_data()
    yield from endings_in_words(counted, counted.get(ALIKE, {}))


def _notes(results: EvaluationResults) -> Iterator[str]:
    """Yield a sentence on each metric that failed, and on the instances that did, with the first of each kind."""
    for name, reason in (results.global_scores.get("metric_failures") or {}).items():
        yield f"{name} failed: {reason}"
    scores = results.global_scores
    main = scores.get("score_name", "score")
    if isinstance(scores.get("score"), float) and not math.isfinite(scores["score"]):
        yield f"{main} is {scores['score']}: there is no number that says how good the predictions are"
    failures = results.failures
    for kind in dict.fromkeys(failure["kind"] for failure in failures.values()):
        mine = {position: each["message"] for position, each in failures.items() if each["kind"] == kind}
        first = next(iter(mine))
        yield f"{len(mine)} of {len(results)} instances failed ({kind}); the first is {first}: {mine[first]}"


def read_predictions(path: Path, column: str | None = None) -> list[Any]:
    """Return the predictions in a file; what is said about how one came makes a response of it.

    Args:
        path: JSON lines, a table, or ``.txt`` with one a line.
        column: The column, or key, that has them.

    Raises:
        DataError: The file is missing, or a line is not a prediction; with the line.
        UsageError: A column is named, and the file has none.
    """
    from proctor.dialects.tables.reader import is_table

    if not path.name.lower().endswith((".jsonl", ".ndjson")) and is_table(str(path)):
        return _of_table(path, column)
    try:
        with opened(path) as file:
            lines = file.read().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        hint = "name the file with --predictions; paths start at the folder that proctor is called in"
        raise DatasetNotFoundError(f"the file {path} cannot be read", why=reason_of(error), hint=hint) from None
    if path.suffix.lower() == ".txt":
        if column:
            raise UsageError(f"{path} has lines, and no column '{column}'", hint=_LEAVE_OUT)
        return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    values = {number: _value(path, number, line) for number, line in enumerate(lines, 1) if line.strip()}
    if values and all(map(_is_aisbench, values.values())):
        values = _in_order_of_rows(path, values)
    return [_prediction(path, number, value, column) for number, value in values.items()]


_LEAVE_OUT = "leave --prediction-column out"
_USUAL = ("prediction", "raw_prediction", "output", "response", "actual_output", "model_output", "completion")
"""Columns, and keys, that have predictions where nobody names one."""


def _of_table(path: Path, column: str | None) -> list[Any]:
    """Return a column of a table, cells as texts; where none is named the usual one, or the only one.

    Raises:
        DataError: It has none.
    """
    from proctor.dialects.tables.reader import columns_of, read_table

    rows = read_table(str(path))
    columns = columns_of(rows)
    wanted = (column,) if column else (*_USUAL, *(columns if len(columns) == 1 else ()))
    name = next((each for each in wanted if each in columns), None)
    if name is None:
        raise DataError(
            f"{path} has no column '{wanted[0]}'",
            why=f"its columns are {', '.join(columns)}",
            hint="--prediction-column names the one with the predictions, or --predictions another file",
        )
    cells = (row.get(name) for row in rows)
    return [cell if cell is None or isinstance(cell, (str, list, dict)) else str(cell) for cell in cells]


def _is_aisbench(value: Any) -> bool:
    """Whether a line is one of AISBench's ``predictions/*.jsonl``, which stand in the order of arrival."""
    return isinstance(value, dict) and "data_abbr" in value and isinstance(value.get("id"), int)


def _in_order_of_rows(path: Path, values: dict[int, Any]) -> dict[int, Any]:
    """Return AISBench's lines in the order of their rows.

    Raises:
        DataError: A row has no line, or several.
    """
    ordered = dict(sorted(values.items(), key=lambda each: each[1]["id"]))
    for place, (number, value) in enumerate(ordered.items()):
        if value["id"] != place:
            is_twice = value["id"] < place
            raise DataError(
                f"row {value['id'] if is_twice else place} has {'several answers' if is_twice else 'no answer'}",
                location=Location(str(path), number),
                why="AISBench numbers its lines by row, however often a row was asked",
                hint="proctor run CONFIG.py --mode eval --work-dir FOLDER grades a whole work folder, repeats included",
            )
    return ordered


def _value(path: Path, number: int, line: str) -> Any:
    try:
        return parse_json(line)
    except json.JSONDecodeError as error:
        raise DataError(
            "the line is not valid JSON", location=Location(str(path), number, error.colno), why=error.msg,
            hint='a text stands in quotes ("Paris"), and an object has `prediction`; one a line',
        ) from None  # fmt: skip
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nested without end
        raise DataError("the line cannot be read", location=Location(str(path), number), why=str(error)) from None


def _prediction(path: Path, number: int, value: Any, column: str | None) -> Any:
    if not isinstance(value, dict) and column is None:
        return value
    if not isinstance(value, dict):
        where = Location(str(path), number, 1)
        raise DataError(f"the line is not an object, and has no '{column}'", location=where, hint=_LEAVE_OUT)
    if _is_aisbench(value) and value.get("success") is False:
        reason = {"kind": "engine", "message": str(value.get("error_info") or "the request failed")}
        return _recorded(None, {"failure": reason})
    for name in (column,) if column else _USUAL:
        if name in value:
            return _recorded(value[name], value)
    raise DataError(
        "the line has no prediction",
        location=Location(str(path), number, 1),
        why=f"its keys are {', '.join(value)}",
        hint="write a text, or an object with 'prediction'; --prediction-column names another key",
    )


def _recorded(prediction: Any, row: dict[str, Any]) -> Any:
    """Return a prediction with what its line says about how it came: thoughts, how it ended, why there is none."""
    from proctor.engines.replay import recorded_response

    about = ("thinking", "finish_reason", "finish_reasons", "written")
    reason = row.get("failure")
    is_text = isinstance(prediction, str) or (prediction is None and isinstance(reason, dict))
    if not is_text or not (reason or any(row.get(name) for name in about)):
        return prediction
    return recorded_response(prediction, row)
