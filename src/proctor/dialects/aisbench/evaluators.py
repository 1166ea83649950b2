"""``eval_cfg``: from raw predictions through the post-processors to scores, in upstream's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_problems, project_of
from proctor.dialects.aisbench.trusted_evaluators import class_evaluator, evaluator_class
from proctor.dialects.aisbench.values import as_data, dotted_name
from proctor.errors import Diagnostic, Location, MissingExtraError, ProctorError, ScoringError, did_you_mean
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.evaluation import Evaluation, Outcome
from proctor.scoring.evaluators.metrics import metric_evaluator
from proctor.scoring.metric_table import MetricEntry, check_metric, metric_entry, metric_of, metric_table
from proctor.scoring.registered_metric import call_evaluator, check_arguments
from proctor.scoring.registry import OPENCOMPASS, is_in_catalog, named
from proctor.scoring.repeats import most_frequent
from proctor.settings import settings

_UPSTREAM = ("opencompass", "ais_bench")
_ELSEWHERE = {
    "HumanEvalPlus": "its tests are in the package 'evalplus'; HumanEvalEvaluator runs the problems' own",
    "BigCodeBench": "it runs programs on a server of its authors'",
    "DS1000": "its tests are pickled, and run with seven libraries of fixed versions",
    "Toxic": "it sends predictions to Google's Perspective service",
    "LM": "it compares models in pairs or by many rules; see docs/judges.md for judges of Proctor's own",
}


def evaluate(
    eval_cfg: Mapping[str, Any],
    predictions: Sequence[Any],
    references: Sequence[Any],
    rows: Sequence[Row],
    prompts: Sequence[Any] = (),
    model_postprocessor: Mapping[str, Any] | None = None,
    *,
    runs: tuple[int | Sequence[int], int] = (1, 1),
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> Evaluation:
    """Return the scores of raw predictions.

    Predictions go through the model's ``pred_postprocessor``, then the dataset's, then the evaluator's own; references
    through ``dataset_postprocessor``. ``pred_role`` changes nothing, as upstream: there its condition never holds.

    Args:
        eval_cfg: Of the dataset's config.
        predictions: What the model said (a list where it was asked several times at once), or a failure.
        references: The output column.
        rows: The whole rows.
        prompts: What was asked.
        model_postprocessor: ``pred_postprocessor`` of the model's config.
        runs: ``k`` and ``n`` of the dataset's config.
        columns: Further columns of the answers (``ppl`` …).

    Raises:
        ScoringError: The evaluator or a post-processor is unknown, or there is nothing to score.
    """
    config = eval_cfg.get("evaluator") or {}
    name = dotted_name(config.get("type"))
    project = project_of(name)
    judge = evaluator(config)
    parsed = _through(
        predictions,
        [model_postprocessor, eval_cfg.get("pred_postprocessor"), config.get("pred_postprocessor")],
        project,
        rows,
    )
    if eval_cfg.get("sc_size") is not None:
        parsed = [most_frequent(each) if isinstance(each, list) else each for each in parsed]
    wanted = _through(references, [eval_cfg.get("dataset_postprocessor")], project, rows)
    failures = {i: each for i, each in enumerate(zip(parsed, wanted, strict=True)) if _failure(each)}
    cases = Cases(parsed, wanted, rows, prompts, columns or {}, project)
    outcome = Outcome(judge, cases, {i: f for i, pair in failures.items() if (f := _failure(pair))}, runs)
    return outcome.evaluation()


def _through(
    texts: Sequence[Any], configs: Sequence[Mapping[str, Any] | None], project: str, rows: Sequence[Row]
) -> list[Any]:
    functions = [postprocessor(config, project) for config in configs if config]
    values = list(texts)
    for function in functions:
        values = [_processed(function, value, row) for value, row in zip(values, rows or repeat({}), strict=False)]
    return values


def _processed(function: Callable[[Any, Row], Any], value: Any, row: Row) -> Any:
    if isinstance(value, Failure):
        return value
    try:
        return function(value, row)
    except MissingExtraError:
        raise
    except (ProctorError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        return Failure("processor", f"{type(error).__name__}: {error}", retryable=False)


def _failure(pair: tuple[Any, Any]) -> Failure | None:
    return next((each for each in pair if isinstance(each, Failure)), None)


# -- evaluators by name -------------------------------------------------------------------------------------------


def evaluator_names() -> list[str]:
    """Return the names of all evaluators that are known."""
    return sorted({name.rpartition(".")[2] for name in metric_table().of(OPENCOMPASS)})


def is_known(config: Mapping[str, Any]) -> bool:
    """Return whether an ``evaluator`` config names a metric that works without upstream's class."""
    return _entry(config) is not None or _is_metric(config)


def _entry(config: Mapping[str, Any]) -> MetricEntry | None:
    """Return the evaluator that a config names; classes are known where they come from upstream's packages."""
    whole = dotted_name(config.get("type"))
    if "." in whole and whole.partition(".")[0] not in _UPSTREAM:
        return None
    found = metric_table().find(_known_name(whole), OPENCOMPASS, {OPENCOMPASS})
    return found if found is not None and found.reads == "columns" else None


def _is_metric(config: Mapping[str, Any]) -> bool:
    """Return whether a config names a metric of another system: by its name in a catalog or in the table."""
    kind = config.get("type")
    return isinstance(kind, str) and (is_in_catalog(kind) or metric_entry(named(kind)[0], OPENCOMPASS) is not None)


def _known_name(whole: str) -> str:
    """Return the name in the table: with the folder of datasets before it where several classes have one name."""
    name = whole.rpartition(".")[2]
    _, folder, rest = whole.rpartition(".datasets.")
    first = rest.partition(".")[0]
    known = metric_table().of(OPENCOMPASS) if folder else {}
    return next((each for each in (f"{first}.{name}", f"datasets.{name}") if each in known), name)


def evaluator(config: Mapping[str, Any]) -> Callable[[Cases], Verdict]:
    """Return the evaluator that an ``evaluator`` config stands for, with its arguments.

    Raises:
        ScoringError: None is known by this name; the error says why, where that is on purpose.
    """
    place = getattr(config, "location", None)
    if not config.get("type"):
        raise ScoringError("the eval_cfg names no evaluator", location=place)
    arguments = {key: value for key, value in config.items() if key not in ("type", "pred_postprocessor")}
    if (entry := _entry(config)) is not None:
        return _called(entry, arguments, place)
    if _is_metric(config):
        return _metric(str(config["type"]), arguments, place)
    whole = dotted_name(config.get("type"))
    kind = config["type"] if inspect.isclass(config["type"]) else None
    if settings.trust_code and (kind := kind or evaluator_class(whole)) is not None:
        return class_evaluator(kind, arguments, place)
    raise _unknown(whole, place)


def _called(entry: MetricEntry, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    def judge(cases: Cases) -> Verdict:
        try:
            return call_evaluator(entry, {**entry.arguments, **arguments}, cases)
        except ScoringError as error:
            raise error.located(place) from error.__cause__

    return judge


def _metric(name: str, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    try:
        return metric_evaluator(metric_of(name, OPENCOMPASS, as_data(arguments)))
    except ProctorError as error:
        raise error.located(place) from None


def _unknown(whole: str, place: Location | None) -> ScoringError:
    name = _known_name(whole) if whole.partition(".")[0] != "metrics" else whole
    why = next((text for start, text in _ELSEWHERE.items() if name.startswith(start)), "")
    return ScoringError(
        f"the evaluator '{name}' cannot be computed here",
        location=place,
        why=why or "its class would have to run; that needs --trust-code, and its package installed",
        hint="" if why else did_you_mean(name, [*evaluator_names(), *metric_table().names()]),
    )


def check_evaluator(config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an ``evaluator`` config that can be known before anybody is asked."""
    place = getattr(config, "location", None)
    try:
        evaluator(config)
        found: Sequence[Diagnostic] = list(_checks(config))
    except ProctorError as error:
        found = error.diagnostics
    yield from (each.at(place, "$.eval_cfg.evaluator") for each in found)


def _checks(config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    arguments = {key: value for key, value in config.items() if key not in ("type", "pred_postprocessor")}
    if (entry := _entry(config)) is not None:
        yield from entry.check()
        check_arguments(entry, arguments)
    elif _is_metric(config):
        yield from check_metric(config["type"], OPENCOMPASS, as_data(arguments))


def grading_problems(
    eval_cfg: Mapping[str, Any], model_postprocessor: Mapping[str, Any] | None = None
) -> Iterator[Diagnostic]:
    """Yield what is wrong with an ``eval_cfg`` that can be known before anybody is asked.

    Args:
        eval_cfg: Of the dataset's config.
        model_postprocessor: ``pred_postprocessor`` of the model's config.
    """
    config = eval_cfg.get("evaluator") or {}
    project = project_of(dotted_name(config.get("type")))
    yield from check_evaluator(config)
    for place, each in (
        ("models.pred_postprocessor", model_postprocessor),
        ("eval_cfg.pred_postprocessor", eval_cfg.get("pred_postprocessor")),
        ("eval_cfg.dataset_postprocessor", eval_cfg.get("dataset_postprocessor")),
        ("eval_cfg.evaluator.pred_postprocessor", config.get("pred_postprocessor")),
    ):
        yield from (problem.at(path=f"$.{place}") for problem in postprocessor_problems(each, project))
