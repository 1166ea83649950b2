import pytest

from proctor.dialects.unitxt.repeats import EachAnswer, until_one
from proctor.dialects.unitxt.resolve import exam_of
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure, Response
from proctor.recipes import Answered, DatasetRecipe, ExamOptions
from proctor.running.run import run_exams
from proctor.scoring.columns import Columns
from proctor.scoring.text.processor_steps import processor_steps
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

CARD = TaskCard(
    loader={"__type__": "load_from_dictionary", "data": {"test": [{"a": n, "sum": str(n + 1)} for n in range(4)]}},
    task=Task(
        input_fields={"a": "int"}, reference_fields={"sum": "str"}, prediction_type="str", metrics=["metrics.accuracy"]
    ),
)
SUM = DatasetRecipe(card=CARD, template=InputOutputTemplate(input_format="{a}+1=", output_format="{sum}"))
ANSWERS = [["1", "1", "0"], ["2", "0", "0"], ["0", "0", "0"], ["4", "4", "4"]]


def graded(answers=ANSWERS, **changes):
    recipe = SUM.model_copy()
    for name, value in changes.items():
        setattr(recipe, name, value)
    exam = exam_of("x", recipe, ExamOptions(repeats=len(answers[0])))
    assert exam.problems() == []
    texts = iter(answers)
    return exam.grade(Answered(each, [Response(texts=(text,)) for text in next(texts)]) for each in exam.questions())


def test_a_vote_makes_one_answer():
    grade = graded(postprocessors=["processors.lower_case", "majority_vote"])
    assert list(grade.predictions) == ANSWERS
    assert list(grade.processed_predictions) == ["1", "0", "0", "4"]
    assert grade.scores["score"] == 0.5
    assert list(graded(postprocessors=["take_first"]).processed_predictions) == ["1", "2", "0", "4"]


def test_metrics_of_repeats_see_every_answer():
    assert graded(metrics=["pass@k"]).scores["pass@3"] == 0.75
    assert graded(metrics=["avg@k"]).scores["score"] == pytest.approx((2 + 1 + 0 + 3) / 12)
    two = {"__type__": "registered_metric", "metric": "pass@k", "arguments": {"k": 2}}
    assert graded(metrics=[two]).scores["pass@2"] == pytest.approx((1 + 2 / 3 + 0 + 1) / 4)


def test_processors_see_one_answer_at_a_time_and_references_once():
    (step,) = until_one(processor_steps(["processors.lower_case"]))
    assert isinstance(step, EachAnswer)
    done = step.process(Columns([["A", "b"], ["C", "D"]], [["X"], ["Y", "Z"]], [{}, {}]))
    assert list(done.predictions) == [["a", "b"], ["c", "d"]]
    assert list(done.references) == [["x"], ["y", "z"]]
    done = step.process(Columns([["A", 3], ["C", "D"]], [["X"], ["Y"]], [{}, {}]))
    assert isinstance(done.predictions[0], Failure)
    assert done.predictions[1] == ["c", "d"]


def test_each_repeat_is_an_answer_of_its_own_in_the_log(tmp_path):
    recipe = SUM.model_copy()
    recipe.postprocessors = ["majority_vote"]
    said = iter("000100020003")
    engine = ScriptedEngine(function=lambda prompt: next(said))
    options = ExamOptions(repeats=3, limit=2)
    result = run_exams([exam_of("x", recipe, options)], engine, log=tmp_path / "log.db")
    assert result.run["requests"]["asked"] == 6
    assert result.results["x"]["n"] == 2
    once = run_exams([exam_of("x", SUM, ExamOptions(limit=2))], engine, log=tmp_path / "log.db")
    assert once.run["requests"] == {"asked": 0, "answered": 0, "failed": 0, "from_log": 2}


def test_a_recipe_that_takes_one_answer_is_graded_once_for_each(tmp_path):
    assert exam_of("x", SUM, ExamOptions(repeats=3)).refused() == []
    grade = graded()
    assert grade.scores["score"] == pytest.approx((2 + 1 + 0 + 3) / 12)
    assert list(grade.predictions) == ANSWERS
    assert grade.scores["repeats"]["repeats"] == 3


def test_a_recipe_that_makes_one_answer_of_several_is_not_reduced_again():
    recipe = SUM.model_copy()
    recipe.postprocessors = ["majority_vote"]
    (problem,) = exam_of("x", recipe, ExamOptions(repeats=3, reduce=("best",))).refused()
    assert problem.what == "'x' cannot honour --reduce"


def test_one_answer_that_failed_fails_its_instance():
    recipe = SUM.model_copy()
    recipe.postprocessors = ["majority_vote"]
    exam = exam_of("x", recipe, ExamOptions(repeats=2))
    lost = Response(failure=Failure("timeout", "no answer"))
    grade = exam.grade(
        Answered(each, [Response(texts=("1",)), lost if each.number == 1 else Response(texts=("1",))])
        for each in exam.questions()
    )
    assert set(grade.failures) == {1}
    assert grade.scores["num_of_failures"] == 1
