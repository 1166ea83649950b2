# Made by tools/update_stubs.py.

from proctor.scoring.columns import Columns as Columns
from proctor.scoring.composed import MetricPipeline as MetricPipeline, MetricsEnsemble as MetricsEnsemble
from proctor.scoring.global_metric import GlobalMetric as GlobalMetric
from proctor.scoring.grades import Grade as Grade, Measured as Measured
from proctor.scoring.instance_metric import BulkInstanceMetric as BulkInstanceMetric, InstanceMetric as InstanceMetric
from proctor.scoring.map_reduce import EvaluationInput as EvaluationInput, GroupMetric as GroupMetric, MapReduceMetric as MapReduceMetric, ReductionInstanceMetric as ReductionInstanceMetric
from proctor.scoring.metric import Metric as Metric
from proctor.scoring.pipeline import MetricScorers as MetricScorers
from proctor.scoring.grading.grader import ExamGrader as ExamGrader
from proctor.scoring.grading.groups import GroupBy as GroupBy
from proctor.scoring.grading.protocols import Grading as Grading, MetricNames as MetricNames, Reading as Reading, ScoreNames as ScoreNames, Scorer as Scorer, Step as Step, TextFunction as TextFunction
from proctor.scoring.text.processors import PostProcess as PostProcess
from proctor.statistics.intervals import Bootstrap as Bootstrap, Interval as Interval, wilson as wilson
from proctor.scoring.scores import Score as Score, Unit as Unit
