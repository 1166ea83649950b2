"""``eval_cfg``: from raw predictions through the post-processors to scores, in upstream's order."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module, resources
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.postprocessors import postprocessor, project_of
from proctor.dialects.aisbench.trusted_evaluators import class_evaluator, evaluator_class
from proctor.dialects.aisbench.values import Reference
from proctor.errors import MissingExtraError, ProctorError, ScoringError, did_you_mean
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Evaluator, Verdict
from proctor.scoring.evaluators.evaluation import Evaluation, Outcome
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
    name = evaluator_name(config)
    project = project_of(name)
    judge = evaluator(config)
    parsed = _through(
        predictions,
        [model_postprocessor, eval_cfg.get("pred_postprocessor"), config.get("pred_postprocessor")],
        project,
    )
    if eval_cfg.get("sc_size") is not None:
        parsed = [Counter(each).most_common(1)[0][0] if isinstance(each, list) else each for each in parsed]
    wanted = _through(references, [eval_cfg.get("dataset_postprocessor")], project)
    failures = {i: each for i, each in enumerate(zip(parsed, wanted, strict=True)) if _failure(each)}
    cases = Cases(parsed, wanted, rows, prompts, columns or {}, project)
    outcome = Outcome(judge, cases, {i: f for i, pair in failures.items() if (f := _failure(pair))}, runs)
    return outcome.evaluation()


def _through(texts: Sequence[Any], configs: Sequence[Mapping[str, Any] | None], project: str) -> list[Any]:
    functions = [postprocessor(config, project) for config in configs if config]
    values = list(texts)
    for function in functions:
        values = [_processed(function, value) for value in values]
    return values


def _processed(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Failure):
        return value
    try:
        return [function(each) for each in value] if isinstance(value, list) else function(value)
    except MissingExtraError:
        raise
    except (ProctorError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        return Failure("processor", f"{type(error).__name__}: {error}", retryable=False)


def _failure(pair: tuple[Any, Any]) -> Failure | None:
    return next((each for each in pair if isinstance(each, Failure)), None)


# -- evaluators by name -------------------------------------------------------------------------------------------


@cache
def _table() -> Mapping[str, Any]:
    """Return the evaluators of the core, and those that ask a judge as configs describe it."""
    core = resources.files("proctor.scoring.evaluators").joinpath("evaluators.json")
    own = resources.files(__package__).joinpath("evaluators.json")
    return {**json.loads(core.read_text(encoding="utf-8")), **json.loads(own.read_text(encoding="utf-8"))}


def evaluator_names() -> list[str]:
    """Return the names of all evaluators that are known."""
    return sorted({name.rpartition(".")[2] for name in _table()})


def evaluator_name(config: Mapping[str, Any]) -> str:
    """Return the dotted name of an evaluator config's type."""
    kind = config.get("type")
    if isinstance(kind, Reference):
        return kind.name
    if isinstance(kind, str):
        return kind
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind)}"


def is_known(config: Mapping[str, Any]) -> bool:
    """Return whether an ``evaluator`` config names an evaluator that works without upstream's class."""
    whole = evaluator_name(config)
    return _known_name(whole) in _table() and ("." not in whole or whole.partition(".")[0] in _UPSTREAM)


def _known_name(whole: str) -> str:
    """Return the name in the table: with the folder of datasets before it where several classes have one name."""
    name = whole.rpartition(".")[2]
    _, folder, rest = whole.rpartition(".datasets.")
    first = rest.partition(".")[0]
    return next((each for each in (f"{first}.{name}", f"datasets.{name}") if folder and each in _table()), name)


def evaluator(config: Mapping[str, Any]) -> Callable[[Cases], Verdict]:
    """Return the evaluator that an ``evaluator`` config stands for, with its arguments.

    Raises:
        ScoringError: None is known by this name; the error says why, where that is on purpose.
    """
    place = getattr(config, "location", None)
    if not config.get("type"):
        raise ScoringError("the eval_cfg names no evaluator", location=place)
    whole = evaluator_name(config)
    name = _known_name(whole)
    arguments = {key: value for key, value in config.items() if key not in ("type", "pred_postprocessor")}
    if not is_known(config):
        kind = config["type"] if inspect.isclass(config["type"]) else None
        if settings.trust_code and (kind := kind or evaluator_class(whole)) is not None:
            return class_evaluator(kind, arguments, place)
        why = next((text for start, text in _ELSEWHERE.items() if name.startswith(start)), "")
        raise ScoringError(
            f"the evaluator '{name}' cannot be computed here",
            location=place,
            why=why or "its class would have to run; that needs --trust-code, and its package installed",
            hint=did_you_mean(name, evaluator_names()) if not why else "",
        )
    entry = _table()[name]
    if isinstance(entry, list):
        entry, fixed = entry
        arguments = {**fixed, **arguments}
    module, _, function = entry.partition(":")
    found: Evaluator = getattr(import_module(module), function)

    def judge(cases: Cases) -> Verdict:
        try:
            return found(cases, **arguments)
        except (TypeError, AttributeError, ValueError, KeyError, IndexError) as error:
            why = f"{type(error).__name__}: {error}"
            raise ScoringError(f"{name} cannot be computed", location=place, why=why) from error

    return judge
