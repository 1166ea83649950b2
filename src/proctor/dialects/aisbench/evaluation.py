"""``eval_cfg``: from raw predictions through the post-processors to scores, in upstream's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from proctor.dialects.aisbench.evaluators import Row, evaluator
from proctor.dialects.aisbench.postprocessors import postprocessor, project_of
from proctor.dialects.aisbench.values import dotted_name
from proctor.errors import MissingExtraError, ProctorError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.evaluation import Evaluation, Outcome
from proctor.scoring.repeats import most_frequent


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
    functions = prediction_functions(eval_cfg, model_postprocessor)
    parsed = list(predictions)
    for function in functions:
        parsed = [processed(function, *each) for each in zip(parsed, rows or repeat({}), strict=False)]
    cases = Cases(parsed, references, rows, prompts, columns or {}, project_of_config(eval_cfg))
    return evaluated(eval_cfg, cases, runs, in_blocks=cases.project != "aisbench")


def evaluated(
    eval_cfg: Mapping[str, Any], cases: Cases, runs: tuple[int | Sequence[int], int] = (1, 1), *, in_blocks: bool = True
) -> Evaluation:
    """Return the scores of predictions that have been through the post-processors.

    Args:
        eval_cfg: Of the dataset's config.
        cases: The predictions; references are as the output column has them.
        runs: ``k`` and ``n`` of the dataset's config.
        in_blocks: Whether the runs stand behind each other, rather than those of one row.

    Raises:
        ScoringError: The evaluator or a post-processor is unknown, or there is nothing to score.
    """
    judge = evaluator(eval_cfg.get("evaluator") or {})
    references: Sequence[Any] = cases.references
    if config := eval_cfg.get("dataset_postprocessor"):
        function = postprocessor(config, cases.project)
        rows: Iterable[Row] = cases.rows or repeat({})
        references = [processed(function, gold, row) for gold, row in zip(references, rows, strict=False)]
    found = replace(cases, references=references)
    failures = {i: failure for i, pair in enumerate(found.pairs()) if (failure := _failure(pair)) is not None}
    return Outcome(judge, found, failures, runs, in_blocks).evaluation()


def project_of_config(eval_cfg: Mapping[str, Any]) -> str:
    """Return whose rules an ``eval_cfg`` means."""
    return project_of(dotted_name((eval_cfg.get("evaluator") or {}).get("type")))


def prediction_functions(
    eval_cfg: Mapping[str, Any], model_postprocessor: Mapping[str, Any] | None = None
) -> list[Callable[[Any, Row], Any]]:
    """Return what is done to each answer, in order: the model's post-processor, the dataset's, the evaluator's own.

    Raises:
        ScoringError: A post-processor is unknown.
    """
    project = project_of_config(eval_cfg)
    own = (eval_cfg.get("evaluator") or {}).get("pred_postprocessor")
    found = [
        postprocessor(each, project) for each in (model_postprocessor, eval_cfg.get("pred_postprocessor"), own) if each
    ]
    return [*found, _voted] if eval_cfg.get("sc_size") is not None else found


def _voted(answer: Any, row: Row) -> Any:
    """Return the most frequent of several answers (``sc_size``)."""
    del row
    return most_frequent(answer) if isinstance(answer, list) else answer


def processed(function: Callable[[Any, Row], Any], value: object, row: Row) -> Any:
    """Return what a post-processor makes of an answer; a failure where it stumbles."""
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
