import pytest

from proctor.dialects.unitxt.asker import RecipeAsker
from proctor.dialects.unitxt.resolve import exam_of, exams_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import DataError, TemplateError
from proctor.ir import Choose, Failure, Generate, Response, Scored
from proctor.recipes import Answered, Benchmark, DatasetRecipe, ExamOptions
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate, MultipleChoiceTemplate

SUMS = [{"a": number, "b": 1, "sum": str(number + 1)} for number in range(6)]
SUM = DatasetRecipe(
    card=TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": SUMS}},
        task=Task(
            input_fields={"a": "int", "b": "int"},
            reference_fields={"sum": "str"},
            prediction_type="str",
            metrics=["metrics.accuracy"],
        ),
    ),
    template=InputOutputTemplate(input_format="{a}+{b}=?", target_prefix="Sum: ", output_format="{sum}"),
    max_tokens=5,
    stop=["\n"],
)
QUESTIONS = [{"question": "Which?", "choices": ["x", "y"], "label": number % 2} for number in range(4)]
CHOICE = DatasetRecipe(
    card=TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": QUESTIONS}},
        task=Task(
            input_fields={"question": "str", "choices": "List[str]"},
            reference_fields={"choices": "List[str]", "label": "int"},
            prediction_type="str",
            metrics=["metrics.accuracy"],
        ),
    ),
    template=MultipleChoiceTemplate(input_format="{question} {choices}\nAnswer:"),
    request="choose",
)


def take(exam, respond):
    return exam.grade(Answered(item, [respond(item)]) for item in exam.questions())


def test_generation_to_score():
    exam = exam_of("sum", SUM)
    items = list(exam.questions())
    assert [item.number for item in items] == list(range(6))
    request = items[0].requests[0]
    assert isinstance(request, Generate)
    assert (request.prompt.text, request.decoding.max_tokens, request.decoding.stop) == ("0+1=?\nSum: ", 5, ("\n",))
    grade = take(exam, lambda item: Response(texts=(f" Sum: {item.instance['a'] + 1} ",)))
    assert grade.scores["accuracy"] == 1.0
    half = take(exam, lambda item: Response(texts=(str(1 + item.instance["a"] % 3),)))
    assert half.scores["score"] == 0.5
    assert half.scores["score_ci_low"] < 0.5 < half.scores["score_ci_high"]


def test_failures_are_counted_not_scored():
    def respond(item):
        if item.number < 2:
            return Response(failure=Failure("timeout", "no answer in 60 s"))
        return Response(texts=(item.exchange.answer,))

    grade = take(exam_of("sum", SUM), respond)
    assert grade.scores["accuracy"] == 1.0
    assert set(grade.failures) == {0, 1}
    assert grade.failures[0].kind == "timeout"


def test_choices_are_compared_by_likelihood():
    exam = exam_of("choice", CHOICE)
    request = next(exam.questions()).requests[0]
    assert isinstance(request, Choose)
    assert [pair.continuation for pair in request.pairs] == ["A", "B"]
    grade = take(exam, lambda item: Response(scores=(Scored(-1.0), Scored(-2.0))))
    assert grade.scores["accuracy"] == 0.5
    assert list(grade.predictions) == ["A"] * 4


def test_options_change_any_exam():
    exam = exam_of("sum", SUM, ExamOptions(limit=2, decoding={"max_tokens": 9, "top_k": 3, "beams": 2}))
    items = list(exam.questions())
    assert len(items) == 2
    decoding = items[0].requests[0].decoding
    assert (decoding.max_tokens, decoding.top_k, decoding.extra, decoding.stop) == (9, 3, {"beams": 2}, ("\n",))
    assert len(list(exam_of("sum", SUM, ExamOptions(limit=0.5)).questions())) == 3
    chat = exam_of("sum", SUM, ExamOptions(apply_chat_template=True, system_prompt="Hi."))
    assert [message["role"] for message in next(chat.questions()).requests[0].prompt.messages] == ["system", "user"]


def test_members_of_a_benchmark_are_named_by_their_path():
    benchmark = Benchmark(subsets={"sum": SUM, "more": Benchmark(subsets={"choice": CHOICE})}, max_samples_per_subset=1)
    exams = exams_of("all", benchmark)
    assert [exam.name for exam in exams] == ["all.sum", "all.more.choice"]
    assert len(list(exams[0].questions())) == 1


def test_exams_that_cannot_be_asked_say_why():
    wrong = SUM.model_copy()
    wrong.split = "tset"
    with pytest.raises(DataError, match="did you mean 'test'"):
        list(exam_of("sum", wrong).questions())
    unchoosing = SUM.model_copy()
    unchoosing.request = "choose"
    with pytest.raises(TemplateError, match="has none"):
        list(exam_of("sum", unchoosing).questions())


def test_task_data_are_those_that_were_asked_about_and_nothing_is_put_in_words_again(monkeypatch):
    exam = exam_of("sum", SUM)
    answered = [Answered(question, [Response(texts=("x",))]) for question in exam.questions()]
    monkeypatch.setattr(RecipeAsker, "compile", None)  # nobody may put anything in words while grading
    assert exam.grade(answered).scores["num_of_instances"] == len(answered)


def test_with_an_engine_of_the_test_kit():
    engine = ScriptedEngine(function=lambda prompt: str(sum(map(int, prompt.text[:3].split("+")))))
    exam = exam_of("sum", SUM)
    items = list(exam.questions())
    answers = dict(engine.generate([item.requests[0] for item in items]))
    grade = exam.grade(Answered(item, [answers[item.number]]) for item in items)
    assert grade.scores["accuracy"] == 1.0


def test_a_template_whose_processor_does_not_exist_asks_nobody():
    template = InputOutputTemplate(
        input_format="{text}", output_format="{label}", postprocessors=["processors.lower_cas"]
    )
    exam = exam_of("x", DatasetRecipe(card="samples.cards.sentiment", template=template))
    (problem,) = exam.problems()
    assert "processors.lower_cas" in problem.what
    assert "processors.lower_case" in problem.hint


def test_processors_of_the_recipe_replace_those_of_its_template():
    template = InputOutputTemplate(
        input_format="{text}", output_format="{label}", postprocessors=["processors.lower_cas"]
    )
    recipe = DatasetRecipe(card="samples.cards.sentiment", template=template, postprocessors=["processors.lower_case"])
    assert exam_of("x", recipe).problems() == []


def test_an_exam_without_instances_asks_nobody():
    nothing_left = {"__type__": "filter_by_condition", "values": {"a": 99}, "condition": "eq"}
    nothing_left["error_on_filtered_all"] = False
    card = TaskCard(loader=SUM.card.loader, preprocess_steps=[nothing_left], task=SUM.card.task)
    recipe = DatasetRecipe(card=card, template=SUM.template)
    with pytest.raises(DataError, match="the exam 'none' has no instance") as raised:
        next(exam_of("none", recipe).questions())
    assert "--steps" in raised.value.diagnostics[0].hint
