"""Helpers that draw random numbers draw those of lm-eval, the same in every run, and nobody else's."""

import json
import random
import subprocess
import sys

import pytest

from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

HELPERS = """
import random
OWN = random.Random(7)
WORDS = ["a", "b", "c", "d", "e", "f"]

def shuffled(docs):
    def add(doc):
        words = list(WORDS)
        random.shuffle(words)
        return {"words": " ".join(words), "own": OWN.random()}
    return docs.map(add)

def text(doc):
    return f"{doc['q']} {random.random()}"

def results(doc, found):
    return {"acc": random.random()}
"""
TASK = """
task: drawing
dataset_path: json
dataset_kwargs: {{data_files: {{train: {rows}, test: {rows}}}}}
test_split: test
{more}
output_type: generate_until
doc_to_text: {text}
doc_to_target: t
process_docs: !function helpers.shuffled
process_results: !function helpers.results
metric_list: [{{metric: acc}}]
"""


@pytest.fixture
def task(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join(json.dumps({"q": f"question {number}"}) for number in range(4)))
    (tmp_path / "helpers.py").write_text(HELPERS)

    def make(text='"{{words}} {{own}}"', more="", **options):
        file = tmp_path / "task.yaml"
        file.write_text(TASK.format(rows=rows, text=text, more=more))
        source = TaskReader().read(str(file))
        return task_exam("drawing", task_from_values(source.values, source), ExamOptions(**options))

    with settings.context(trust_code=True):
        yield make


def prompts(exam):
    return [question.requests[0].prompt.text for question in exam.questions()]


def expected(passes):
    """Return what lm-eval shows: one stream from seed 0, over all documents that are processed."""
    draw, own, found = random.Random(0), random.Random(7), []
    for _ in range(passes):
        found = []
        for _ in range(4):
            words = ["a", "b", "c", "d", "e", "f"]
            draw.shuffle(words)
            found.append(f"{' '.join(words)} {own.random()}")
    return found


def test_documents_are_shuffled_from_lm_evals_seed(task):
    assert prompts(task()) == expected(1)


def test_documents_of_demos_are_drawn_first_also_where_none_are_shown(task):
    assert prompts(task(more="training_split: train")) == expected(2)
    assert [
        each.rpartition("\n\n")[2] for each in prompts(task(more="training_split: train", num_demos=1))
    ] == expected(2)


def test_rows_that_an_earlier_run_left_in_a_cache_change_nothing(task):
    first = prompts(task())
    assert [each.rpartition("\n\n")[2] for each in prompts(task(more="training_split: train", num_demos=1))] != first
    assert prompts(task()) == first


def test_whatever_ran_before_changes_nothing(task):
    first = prompts(task())
    random.seed(99)
    assert prompts(task()) == first


def test_the_generators_of_others_stay_as_they_were(task):
    random.seed(5)
    before = random.getstate()
    prompts(task())
    assert random.getstate() == before


def test_what_draws_for_a_document_draws_the_same_each_time(task):
    exam = task(text="!function helpers.text")
    first = prompts(exam)
    assert len(set(first)) == 4
    assert prompts(exam) == first == prompts(task(text="!function helpers.text"))


def test_the_user_says_what_code_of_a_task_draws_from(task):
    own = words_of(task())
    assert words_of(task(code_seeds=(0, 1234))) == own, "lm-eval's defaults"
    assert words_of(task(code_seeds=(5, 1234))) != own
    assert words_of(task(code_seeds=(5, 1234))) == words_of(task(code_seeds=(5, 99))), (
        "Python's generator knows no numpy"
    )
    assert words_of(task(seed=5)) == words_of(task(code_seeds=(5, 5))), "one seed is for everything"
    assert words_of(task(seed=5, code_seeds=(0, 1234))) == own
    random.seed(5)
    expected = list("abcdef")
    random.shuffle(expected)
    assert words_of(task(code_seeds=(5, 1234)))[0] == " ".join(expected)


def test_a_module_that_seeds_itself_draws_the_same_with_every_seed(task, tmp_path):
    make = task
    (tmp_path / "helpers.py").write_text(HELPERS.replace("OWN =", "random.seed(42)\nOWN ="))
    assert words_of(make()) == words_of(make(code_seeds=(5, 6)))


def test_rows_that_datasets_kept_of_another_seed_are_not_taken(task, tmp_path):
    file = tmp_path / "task.yaml"
    task()
    shown = [
        subprocess.run(
            [sys.executable, "-m", "proctor", "show", str(file), "--docs", "1", "--trust-code", "--seed", seed],
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0,1234,1,1", "5,1234,1,1", "5,1234,1,1")
    ]  # fmt: skip
    questions = [next(line for line in each.splitlines() if line.startswith("question")) for each in shown]
    assert questions[0] != questions[1] == questions[2]


def words_of(exam):
    return [" ".join(question.requests[0].prompt.text.split()[:-1]) for question in exam.questions()]
