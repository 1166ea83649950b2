"""Results as objects: scores, tables, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.results.comparison import Comparison, compare
    from proctor.results.evaluate import EvaluationResults, post_process
    from proctor.results.file_schemas import schema_of
    from proctor.results.row_scoring import evaluate_frame
    from proctor.results.scores import GlobalScores, GroupsScores, InstanceScores, SubsetsScores
    from proctor.results.summary import ScoreRow, score_rows

_HOMES = {
    "comparison": ("Comparison", "compare"),
    "evaluate": ("EvaluationResults", "post_process"),
    "file_schemas": ("schema_of",),
    "row_scoring": ("evaluate_frame",),
    "scores": ("GlobalScores", "GroupsScores", "InstanceScores", "SubsetsScores"),
    "summary": ("ScoreRow", "score_rows"),
}

__all__ = [
    "Comparison", "EvaluationResults", "GlobalScores", "GroupsScores", "InstanceScores", "ScoreRow", "SubsetsScores",
    "compare", "evaluate_frame", "post_process", "schema_of", "score_rows",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
