"""The only module of the recordings that knows where things live in Proctor, beside the programs that compare live.

A redesign changes this module; the recordings stay as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.artifacts.fetch import build
from proctor.data.streams import MultiStream
from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.solvers import made_of
from proctor.dialects.lm_eval.filters import make_filter
from proctor.dialects.lm_eval.groups import pooled_error, unweighted_error, weighted
from proctor.dialects.lm_eval.metrics import find_metric
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.engine import Engine
from proctor.ir import Request
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.running.log import ResponseLog
from proctor.running.run import run_exams
from proctor.scoring.aggregations import AGGREGATIONS, standard_error
from proctor.scoring.evaluators.checked_answers import CHECKS
from proctor.scoring.grades import Grade

Items = Sequence[Any]
Rows = Sequence[Mapping[str, Any]]

# -- exams --------------------------------------------------------------------------------------------------------


def exam_of(name: str, **options: Any) -> Exam:
    """Return the one exam that a name means."""
    (exam,) = resolve_tasks([name], ExamOptions(**options))
    return exam


def requests_of(exam: Exam) -> list[tuple[Request, ...]]:
    """Return the requests of each ask, in order."""
    return [item.requests for item in exam.questions()]


def scores_of(exam: Exam, engine: Engine) -> Mapping[str, Any]:
    """Return the scores of an exam that an engine sits."""
    with tempfile.TemporaryDirectory() as folder, ResponseLog(Path(folder) / "log.db") as log:
        return run_exams([exam], engine, log=log).grades[exam.name].scores


def grade_of(exam: Exam, engine: Engine) -> Grade:
    """Return the whole grade of an exam that an engine sits, judges and all."""
    with tempfile.TemporaryDirectory() as folder, ResponseLog(Path(folder) / "log.db") as log:
        return run_exams([exam], engine, log=log).grades[exam.name]


def hub_check(name: str, args: Mapping[str, Any]) -> Any:
    """Return a scorer of ``eval.yaml`` that asks nobody: from an answer and its targets to a verdict."""
    return made_of(name, CHECKS[name], Step(name, args))


def rows_of(recipe: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a recipe's splits."""
    return {name: list(stream) for name, stream in build(dict(recipe))().items()}  # type: ignore[operator]


# -- text functions and scores ------------------------------------------------------------------------------------


def filtered(name: str, arguments: Mapping[str, Any], answers: Sequence[Sequence[str]], docs: Rows) -> list[Any]:
    """Return what a filter of lm-eval leaves of answers."""
    return list(make_filter({"function": name, **arguments}).filtered(answers, docs))


def processed(name: str, text: str) -> tuple[Any, Any]:
    """Return what a processor of the catalog makes of a prediction and of references."""
    rows = [{"prediction": text, "references": [text]}]
    (row,) = fetch_artifact(name)(MultiStream.from_iterables({"test": rows}))["test"]  # type: ignore[operator]
    return row["prediction"], row["references"]


def aggregated(name: str, items: Items, resamples: int) -> tuple[float, float | str]:
    """Return an aggregate of lm-eval's and its standard error."""
    function = AGGREGATIONS[name]
    return float(function(items)), standard_error("", function, items, resamples)


def matched(reference: str, prediction: str, arguments: Mapping[str, Any]) -> float:
    """Return lm-eval's ``exact_match`` of one answer."""
    _, function, given = find_metric({"metric": "exact_match", **arguments})
    return float(function(references=[reference], predictions=[prediction], **given)["exact_match"])


def grouped(
    values: Sequence[float], errors: Sequence[float], sizes: Sequence[int], *, by_size: bool
) -> tuple[float, float]:
    """Return the score of a group of lm-eval's and its standard error."""
    if by_size:
        return weighted(values, sizes), pooled_error(errors, sizes)
    return weighted(values, [1] * len(sizes)), unweighted_error(errors)
