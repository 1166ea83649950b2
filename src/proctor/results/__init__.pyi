# Made by tools/update_stubs.py.

from proctor.results.comparison import Comparison as Comparison, compare as compare
from proctor.results.evaluate import EvaluationResults as EvaluationResults, post_process as post_process
from proctor.results.file_schemas import schema_of as schema_of
from proctor.results.row_scoring import evaluate_frame as evaluate_frame
from proctor.results.scores import GlobalScores as GlobalScores, GroupsScores as GroupsScores, InstanceScores as InstanceScores, SubsetsScores as SubsetsScores
from proctor.results.summary import ScoreRow as ScoreRow, score_rows as score_rows
