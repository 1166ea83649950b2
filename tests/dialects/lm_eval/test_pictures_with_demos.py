"""The pictures of a question stand in the question, whatever demos stand before it."""

import json

from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.recipes.options import ExamOptions

TASK = """
task: pictures
dataset_path: json
dataset_kwargs: {data_files: {train: rows.jsonl, test: rows.jsonl}}
training_split: train
test_split: test
output_type: generate_until
doc_to_image: [picture]
doc_to_text: "<image>{{q}}?"
doc_to_target: "{{q}}!"
metric_list: [{metric: exact_match}]
"""


def test_the_last_place_is_the_questions(tmp_path):
    rows = [{"q": each, "picture": f"https://example.org/{each}.png"} for each in ("one", "two", "three")]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "task.yaml").write_text(TASK)
    source = TaskReader().read(str(tmp_path / "task.yaml"))
    exam = task_exam("pictures", task_from_values(source.values, source), ExamOptions(num_demos=1))
    for row, question in zip(rows, exam.questions(), strict=True):
        [message] = question.requests[0].prompt.messages
        before, picture, after = message["content"]
        assert before["text"].startswith("<image>")
        assert before["text"].endswith("!\n\n")
        assert picture["image_url"]["url"] == row["picture"]
        assert after["text"] == f"{row['q']}?"
