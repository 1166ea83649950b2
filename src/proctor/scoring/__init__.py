"""Scoring: from answers to predictions, from predictions to scores with intervals.

What extensions use: bases of metrics, the grader and what it is made of, scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.scoring.composed import MetricPipeline, MetricsEnsemble
    from proctor.scoring.global_metric import GlobalMetric
    from proctor.scoring.grade import Columns, Grade, Measured
    from proctor.scoring.grader import ExamGrader
    from proctor.scoring.grading import Grading, MetricNames, Reading, ScoreNames, Scorer, Step, TextFunction
    from proctor.scoring.groupings import GroupBy
    from proctor.scoring.instance_metric import BulkInstanceMetric, InstanceMetric
    from proctor.scoring.map_reduce import EvaluationInput, GroupMetric, MapReduceMetric, ReductionInstanceMetric
    from proctor.scoring.metric import Metric
    from proctor.scoring.pipeline import MetricScorers
    from proctor.scoring.processors import PostProcess
    from proctor.scoring.score import Score, Unit
    from proctor.statistics.intervals import Bootstrap, Interval, wilson

_HOMES = {
    "composed": ("MetricPipeline", "MetricsEnsemble"),
    "global_metric": ("GlobalMetric",),
    "grade": ("Columns", "Grade", "Measured"),
    "grader": ("ExamGrader",),
    "grading": ("Grading", "MetricNames", "Reading", "ScoreNames", "Scorer", "Step", "TextFunction"),
    "groupings": ("GroupBy",),
    "instance_metric": ("BulkInstanceMetric", "InstanceMetric"),
    "proctor.statistics.intervals": ("Bootstrap", "Interval", "wilson"),
    "map_reduce": ("EvaluationInput", "GroupMetric", "MapReduceMetric", "ReductionInstanceMetric"),
    "metric": ("Metric",),
    "pipeline": ("MetricScorers",),
    "processors": ("PostProcess",),
    "score": ("Score", "Unit"),
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
