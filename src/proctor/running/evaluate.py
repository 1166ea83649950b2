"""``evaluate`` as users call it: what judges said is kept in the response log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.recipes.options import ExamOptions
    from proctor.results.evaluate import EvaluationResults
    from proctor.running.log import ResponseLog


def evaluate(
    predictions: Sequence[Any] | None,
    dataset: Any = None,
    data: Any = None,
    calc_confidence_intervals: bool = True,
    *,
    log: ResponseLog | str | Path | None = None,
    options: ExamOptions | None = None,
) -> EvaluationResults:
    """Score predictions on a dataset that a recipe made.

    Judges ask through the response log: what one said about a prediction before, in whatever process, is taken from
    there, and its engine is asked nothing. ``metadata["judges"]`` of the results counts what was asked. How far judges
    are is logged every ten seconds.

    Args:
        predictions: One for each instance, in order: what a model wrote, or a whole :class:`~proctor.ir.Response`, or a
            :class:`~proctor.ir.Failure` where there is none. ``None`` for metrics that need no predictions.
        dataset: One split: a Hugging Face dataset or a list of rows.
        data: An old name of ``dataset``.
        calc_confidence_intervals: Whether to compute confidence intervals.
        log: The response log or its file; by default the one in the cache folder. Without judges it is not touched.
        options: ``answers`` and ``truncated`` say what of a text is graded: by default what stands behind the thoughts,
            cut off or not.

    Raises:
        ScoringError: The lengths differ, or there is nothing to score.
        PolicyError: A judge's engine may not see the data. Nothing of it was sent.
        ProctorError: A metric cannot be had, or a package is missing.
    """
    from proctor.results import evaluate as scores  # on first use: the name is imported by programs that only ask
    from proctor.running.judging import judges_through
    from proctor.running.progress import JudgeLog

    with judges_through(log, watch=JudgeLog()) as judging:
        results = scores.evaluate(predictions, dataset, data, calc_confidence_intervals, options=options)
    if judged := judging.summary():
        results.metadata["judges"] = judged
    return results
