import logging

import pytest

from proctor.dialects.unitxt.resolve import exam_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import DataError
from proctor.recipes import DatasetRecipe, ExamOptions, load_dataset
from proctor.recipes.prompts import Prompts
from proctor.running.run import run_exams
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(
    input_fields={"a": "int"}, reference_fields={"sum": "str"}, prediction_type="str", metrics=["metrics.accuracy"]
)
TEMPLATE = InputOutputTemplate(input_format="{a}+1=?", output_format="{sum}")
NUMBERS = [str(number) for number in range(8)]


def recipe_of(numbers, steps=(), **more):
    rows = {name: [{"a": each, "sum": "1"} for each in numbers] for name in ("train", "test")}
    loader = {"__type__": "load_from_dictionary", "data": rows}
    return DatasetRecipe(
        card=TaskCard(loader=loader, preprocess_steps=list(steps), task=TASK), template=TEMPLATE, **more
    )


CAST = {"__type__": "cast_fields", "fields": {"a": "int"}}


def wrong_at(place):
    return [*NUMBERS[:place], "many", *NUMBERS[place + 1 :]]


def test_a_row_of_the_wrong_type_is_a_failed_instance(tmp_path):
    numbers = [int(each) if each != "many" else each for each in wrong_at(3)]
    exam = exam_of("sums", recipe_of(numbers))
    result = run_exams([exam], ScriptedEngine(answer="1"), log=tmp_path / "log.db")
    assert result.results["sums"]["n"] == 8
    assert result.results["sums"]["failure_kinds"] == {"row": 1}
    assert result.results["sums"]["score"] == 1.0
    failure = result.grades["sums"].failures[3]
    for word in ("sums:", "test[3]", "'a'", "wrong type", "expected int"):
        assert word in failure.message
    with pytest.raises(DataError, match=r"test\[3\]"):
        load_dataset(recipe_of(numbers), split="test")


def test_so_is_a_row_that_a_step_cannot_use_and_the_others_keep_their_numbers():
    exam = exam_of("sums", recipe_of(wrong_at(2), [CAST]))
    questions = list(exam.questions())
    assert [question.failure is None for question in questions] == [True, True, False, *[True] * 5]
    assert [question.number for question in questions] == list(range(8))
    assert [question.instance.get("a") for question in questions] == [0, 1, None, 3, 4, 5, 6, 7]
    assert "test[2] in CastFields" in questions[2].failure.message


def test_both_kinds_of_failure_name_the_row_of_the_data():
    recipe = recipe_of(wrong_at(1), [CAST])
    recipe.card.loader.data["test"][5]["sum"] = 9
    failed = [each.failure.message for each in exam_of("sums", recipe).questions() if each.failure]
    assert len(failed) == 2
    assert "test[1]" in failed[0]
    assert "test[5]" in failed[1]


def test_the_last_row_and_rows_between_a_limit():
    assert [q.failure is None for q in exam_of("s", recipe_of(wrong_at(7), [CAST])).questions()] == [*[True] * 7, False]
    few = exam_of("s", recipe_of(wrong_at(1), [CAST]), ExamOptions(limit=3))
    assert [q.failure is None for q in few.questions()] == [True, False, True]
    half = exam_of("s", recipe_of(wrong_at(1), [CAST]), ExamOptions(limit=0.5))
    assert len(list(half.questions())) == 4


def test_an_exam_of_which_no_row_can_be_used_is_refused_with_the_reason():
    with pytest.raises(DataError, match="many"):
        next(exam_of("s", recipe_of(["many"] * 3, [CAST])).questions())


def test_rows_that_cannot_be_demos_are_said(caplog):
    recipe = recipe_of(wrong_at(1), [CAST], num_demos=2, demos_pool_size=4)
    with caplog.at_level(logging.WARNING, logger="proctor"):
        questions = list(exam_of("sums", recipe).questions())
    assert "1 rows cannot be demos" in caplog.text
    assert sum(q.failure is None for q in questions) == 7


def test_a_share_of_the_instances_is_counted_without_putting_them_in_words(monkeypatch):
    exam = exam_of("s", recipe_of(list(range(8))), ExamOptions(limit=0.25))
    rendered = []
    render = Prompts.render
    monkeypatch.setattr(Prompts, "render", lambda self, *a: rendered.append(1) or render(self, *a))
    assert len(list(exam.questions())) == 2
    assert len(rendered) == 2
