"""Scoring: from answers to predictions, from predictions to scores with intervals.

What extensions use: bases of metrics, the grader and what it is made of, scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.scoring.columns import Columns
    from proctor.scoring.composed import MetricPipeline, MetricsEnsemble
    from proctor.scoring.global_metric import GlobalMetric
    from proctor.scoring.grades import Grade, Measured
    from proctor.scoring.grading.grader import ExamGrader
    from proctor.scoring.grading.groups import GroupBy
    from proctor.scoring.grading.protocols import Grading, MetricNames, Reading, ScoreNames, Scorer, Step, TextFunction
    from proctor.scoring.instance_metric import BulkInstanceMetric, InstanceMetric
    from proctor.scoring.map_reduce import EvaluationInput, GroupMetric, MapReduceMetric, ReductionInstanceMetric
    from proctor.scoring.metric import Metric
    from proctor.scoring.pipeline import MetricScorers
    from proctor.scoring.scores import Score, Unit
    from proctor.scoring.text.processors import PostProcess
    from proctor.statistics.intervals import Bootstrap, Interval, wilson

_HOMES = {
    "composed": ("MetricPipeline", "MetricsEnsemble"),
    "global_metric": ("GlobalMetric",),
    "columns": ("Columns",),
    "grades": ("Grade", "Measured"),
    "proctor.scoring.grading.grader": ("ExamGrader",),
    "proctor.scoring.grading.groups": ("GroupBy",),
    "proctor.scoring.grading.protocols": (
        "Grading",
        "MetricNames",
        "Reading",
        "ScoreNames",
        "Scorer",
        "Step",
        "TextFunction",
    ),
    "instance_metric": ("BulkInstanceMetric", "InstanceMetric"),
    "proctor.statistics.intervals": ("Bootstrap", "Interval", "wilson"),
    "map_reduce": ("EvaluationInput", "GroupMetric", "MapReduceMetric", "ReductionInstanceMetric"),
    "metric": ("Metric",),
    "pipeline": ("MetricScorers",),
    "proctor.scoring.text.processors": ("PostProcess",),
    "scores": ("Score", "Unit"),
}

__all__ = [
    "Bootstrap",
    "BulkInstanceMetric",
    "Columns",
    "EvaluationInput",
    "ExamGrader",
    "GlobalMetric",
    "Grade",
    "Grading",
    "GroupBy",
    "GroupMetric",
    "InstanceMetric",
    "Interval",
    "MapReduceMetric",
    "Measured",
    "Metric",
    "MetricNames",
    "MetricPipeline",
    "MetricScorers",
    "MetricsEnsemble",
    "PostProcess",
    "Reading",
    "ReductionInstanceMetric",
    "Score",
    "ScoreNames",
    "Scorer",
    "Step",
    "TextFunction",
    "Unit",
    "wilson",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
