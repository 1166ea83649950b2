"""Which documents are asked about, and which demos they are shown."""

import pytest

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.exam import task_exam
from proctor.errors import DataError
from proctor.recipes.options import ExamOptions
from proctor.recipes.selection import Selection

SPLITS = {"test": [{"q": f"t{n}"} for n in range(12)], "train": [{"q": f"d{n}"} for n in range(50)], "none": []}


class _Given(TaskDocuments):
    def split(self, name, process):
        return SPLITS[name]


def exam(options=None, **values):
    given = {"task": "t", "test_split": "test", "training_split": "train", "doc_to_text": "{{q}}", "doc_to_target": "q"}
    config = TaskConfig(**{**given, **values})
    return task_exam("t", config, options, _Given(config))


def draws(made):
    opened = made.opened
    draw = made.draw.bind(opened, made.options.seed)
    from proctor.recipes.selection import chosen

    return {ask.number: draw(ask, row) for ask, row in chosen(opened, made.selection, made.name)}


def test_one_stream_goes_over_the_documents_that_are_asked_about():
    assert draws(exam(ExamOptions(num_demos=3)))[5] == (1, 22, 41)
    assert draws(exam(ExamOptions(num_demos=3, samples={"t": [5]})))[5] == (49, 28, 7)
    assert draws(exam(ExamOptions(num_demos=3, limit=0.5))) == {
        number: places for number, places in draws(exam(ExamOptions(num_demos=3))).items() if number < 6
    }


def test_the_seed_is_lm_evals_unless_one_is_given():
    assert draws(exam(ExamOptions(num_demos=3, seed=1234))) == draws(exam(ExamOptions(num_demos=3)))
    assert draws(exam(ExamOptions(num_demos=3, seed=7))) != draws(exam(ExamOptions(num_demos=3)))


def test_a_pool_is_opened_only_where_demos_are_shown():
    assert exam(training_split="missing").opened.pool == ()
    with pytest.raises(KeyError):
        _ = exam(ExamOptions(num_demos=1), training_split="missing").opened


def test_a_split_without_documents():
    with pytest.raises(DataError, match="the exam 't' has no instance") as caught:
        exam(test_split="none").rows.open(Selection())
    assert "its split 'none' is empty" in str(caught.value)


def test_stages_count_documents_and_the_pool():
    found = [
        (title, {name: len(list(each)) for name, each in streams.items()})
        for title, streams in exam(ExamOptions(num_demos=2), process_docs=lambda docs: docs).stages()
    ]
    assert found == [
        ("the dataset is loaded", {"test": 12}),
        ("process_docs", {"test": 12}),
        ("the pool of demos", {"test": 12, "demos": 50}),
    ]
