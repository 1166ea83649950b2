"""Scoring: from answers to predictions, from predictions to scores with intervals.

What extensions use: bases of metrics, the grader and what it is made of, scores.
"""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "composed": "MetricPipeline MetricsEnsemble",
    "global_metric": "GlobalMetric",
    "columns": "Columns",
    "grades": "Grade Measured",
    "proctor.scoring.grading.grader": "ExamGrader",
    "proctor.scoring.grading.groups": "GroupBy",
    "proctor.scoring.grading.protocols": "Grading MetricNames Reading ScoreNames Scorer Step TextFunction",
    "instance_metric": "BulkInstanceMetric InstanceMetric",
    "proctor.statistics.intervals": "Bootstrap Interval wilson",
    "map_reduce": "EvaluationInput GroupMetric MapReduceMetric ReductionInstanceMetric",
    "metric": "Metric",
    "pipeline": "MetricScorers",
    "proctor.scoring.text.processors": "PostProcess",
    "scores": "Score Unit",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
