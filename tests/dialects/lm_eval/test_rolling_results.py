"""``process_results`` of tasks about whole texts is given bare likelihoods, as lm-eval gives them."""

import json

from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.ir import Response, Scored
from proctor.recipes.exam import Answered
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

HELPERS = """
def results(doc, found):
    (likelihood,) = found
    return {"word_perplexity": (likelihood, len(doc["text"].split()))}
"""
TASK = """
task: whole
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: text
process_results: !function helpers.results
metric_list: [{metric: word_perplexity}]
"""


def test_likelihoods_of_whole_texts_are_numbers(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps({'text': each})}\n" for each in ("a b", "c d e")))
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "task.yaml").write_text(TASK)
    source = TaskReader().read(str(tmp_path / "task.yaml"))
    with settings.context(trust_code=True):
        exam = task_exam("whole", task_from_values(source.values, source), ExamOptions())
        answered = [
            Answered(question, [Response(scores=(Scored(value),))])
            for question, value in zip(exam.questions(), (-2.0, -3.0), strict=True)
        ]
        grade = exam.grade(answered)
    assert not grade.failures
    assert grade.scores["word_perplexity"] == 2.718281828459045
