"""Results as objects: scores, tables, comparisons."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "comparison": "Comparison compare",
    "evaluate": "EvaluationResults post_process",
    "file_schemas": "schema_of",
    "row_scoring": "evaluate_frame",
    "scores": "GlobalScores GroupsScores InstanceScores SubsetsScores",
    "summary": "ScoreRow score_rows",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
