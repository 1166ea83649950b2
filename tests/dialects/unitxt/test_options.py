import json
import re

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.unitxt.options import parts_of
from proctor.dialects.unitxt.resolve import exam_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import UsageError
from proctor.ir import Choose, Generate
from proctor.recipes import DatasetRecipe, ExamOptions
from proctor.running.run import run_exams
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate, MultipleChoiceTemplate

SUMS = [{"a": number, "kind": "odd" if number % 2 else "even", "sum": str(number + 1)} for number in range(12)]
TASK = Task(
    input_fields={"a": "int"},
    reference_fields={"sum": "str", "kind": "str"},
    prediction_type="str",
    metrics=["metrics.accuracy"],
)
LOADER = {"__type__": "load_from_dictionary", "data": {"train": SUMS, "test": SUMS}}
TEMPLATE = InputOutputTemplate(instruction="Add.", input_format="{a}+1=?", output_format="{sum}")
OTHER = InputOutputTemplate(input_format="What comes after {a}?", output_format="{sum}")
SUM = DatasetRecipe(
    card=TaskCard(loader=LOADER, task=TASK), template=TEMPLATE, num_demos=2, demos_pool_size=8, max_tokens=5
)
QUESTIONS = [{"question": f"Which {number}?", "choices": ["x", "y"], "label": number % 2} for number in range(4)]
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


def keys(recipe, **options):
    return [
        request.key for each in exam_of("x", recipe, ExamOptions(**options)).questions() for request in each.requests
    ]


def nearly(prompt):
    """Answer small sums right."""
    return str(int(re.findall(r"(\d+)\+1", prompt.text)[-1]) % 7 + 1)


class Writer(ScriptedEngine):
    """An engine without log-probabilities."""

    can_score = False


def test_the_seed_changes_what_is_drawn_and_no_interval(tmp_path):
    assert keys(SUM) == keys(SUM, seed=42)
    assert keys(SUM, seed=1) != keys(SUM, seed=2)
    assert keys(SUM, seed=1) == keys(SUM, seed=1)
    results = []
    for seed in (1, 2):
        exam = exam_of("x", SUM, ExamOptions(seed=seed))
        results.append(run_exams([exam], ScriptedEngine(function=nearly), log=tmp_path / f"{seed}.db").results["x"])
    prints = [each.pop("fingerprint") for each in results]
    assert [name for name in prints[0] if prints[0][name] != prints[1][name]] == ["prompts"]
    assert results[0] == results[1]
    assert results[0]["score_ci_low"] < results[0]["score"] < results[0]["score_ci_high"]


def test_the_seed_reaches_templates_orders_and_rows():
    several = SUM.model_copy(update={"template": [TEMPLATE, OTHER], "num_demos": 0})
    assert keys(several, seed=1) != keys(several, seed=2)
    counts = SUM.model_copy(update={"num_demos": [0, 1, 2, 3]})
    assert keys(counts, seed=1) != keys(counts, seed=2)
    ordered = CHOICE.model_copy(
        update={"template": MultipleChoiceTemplate(input_format="{question} {choices}", shuffle_choices=True)}
    )
    assert keys(ordered, seed=1) != keys(ordered, seed=5)
    card = TaskCard(loader=LOADER, task=TASK, preprocess_steps=[{"__type__": "shuffle"}])
    rows = DatasetRecipe(card=card, template=TEMPLATE)
    assert keys(rows, seed=1) != keys(rows, seed=2)
    assert sorted(keys(rows, seed=1)) == sorted(keys(rows, seed=2))


def test_an_exam_says_with_which_seed_it_draws():
    assert exam_of("x", SUM).specification()["seed"] == 42
    assert exam_of("x", SUM, ExamOptions(seed=7)).specification()["seed"] == 7


def test_demos_stand_in_turns_or_in_one_message():
    def first(**options):
        return next(exam_of("x", SUM, ExamOptions(apply_chat_template=True, **options)).questions()).requests[0].prompt

    assert [each["role"] for each in first().messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert first(demos_as_turns=True).messages == first().messages
    one = first(demos_as_turns=False)
    assert [each["role"] for each in one.messages] == ["system", "user"]
    words = [each["content"] for each in first().messages[1:]]
    pairs = [f"{question}\n{answer}\n\n" for question, answer in zip(words[::2], words[1::2], strict=False)]
    assert one.messages[1]["content"] == "".join(pairs) + words[-1]
    assert "".join(part.text for part in one.turns[1].parts) == one.messages[1]["content"]
    assert [part.origin for part in one.turns[1].parts][:2] == ["demo[0].question", "demo[0].answer"]


def test_a_format_of_its_own_that_is_a_chat_shows_demos_as_it_is_told():
    chat = SUM.model_copy(update={"format": None})
    chat.format = "formats.chat_api"
    assert keys(chat, demos_as_turns=True) == keys(chat)
    assert keys(chat, demos_as_turns=False) != keys(chat)
    assert exam_of("x", chat).specification()["recipe"]["format"] == "formats.chat_api"


def test_turns_of_a_text_are_refused():
    (problem,) = exam_of("x", SUM, ExamOptions(demos_as_turns=True)).refused()
    assert problem.what == "'x' cannot honour --demos-as-turns"
    assert problem.hint == "add --apply-chat-template"


def test_every_refusal_of_every_exam_at_once():
    options = ExamOptions(metadata={"a": 1}, keys={"b": 2}, resamples=3)
    with pytest.raises(UsageError) as raised:
        resolve_tasks(["samples.science", "samples.sentiment"], options)
    refused = [each.what for each in raised.value.diagnostics]
    assert len(refused) == 6
    assert "'samples.sentiment' cannot honour --metadata" in refused


def test_choices_are_written_where_the_run_says_so_or_the_engine_needs_it():
    exam = exam_of("x", CHOICE)
    assert isinstance(next(exam.questions()).requests[0], Choose)
    written = exam_of("x", CHOICE, ExamOptions(choices_as_text=True))
    assert isinstance(next(written.questions()).requests[0], Generate)
    assert written.variant.startswith("choices as text")
    writer = Writer(answer="A")
    assert isinstance(next(exam.suited_to(writer).questions()).requests[0], Generate)
    assert exam_of("x", CHOICE, ExamOptions(choices_as_text=False)).suited_to(writer).variant == ""


def test_answers_without_scores(tmp_path):
    exam = exam_of("x", SUM.model_copy(update={"metrics": ["metrics.no_such"]}), ExamOptions(predict_only=True))
    result = run_exams([exam], ScriptedEngine(answer="3"), log=tmp_path / "log.db", output=tmp_path / "run")
    assert "score" not in result.results["x"]
    assert result.results["x"]["n"] == 12
    line = json.loads((tmp_path / "run" / "samples.jsonl").read_text().splitlines()[0])
    assert (line["output"], line["prediction"], line["scores"]) == ("3", "3", {})


def test_chosen_instances():
    exam = exam_of("x", SUM, ExamOptions(samples={"x": [7, 2]}))
    assert [each.number for each in exam.questions()] == [2, 7]
    assert [each.requests[0].key for each in exam.questions()] == [keys(SUM)[2], keys(SUM)[7]]


def test_groups_that_a_run_asks_for(tmp_path):
    exam = exam_of("x", SUM, ExamOptions(group_by=("kind", ("kind", "a"))))
    groups = run_exams([exam], ScriptedEngine(answer="3"), log=tmp_path / "log.db").results["x"]["groups"]
    assert [each["by"] for each in groups[:2]] == [{"kind": "even"}, {"kind": "odd"}]
    assert len(groups) == 14


def test_the_model_of_a_config_has_limits_and_stop_words(tmp_path):
    config = tmp_path / "model.py"
    config.write_text(
        "models = [dict(type='HuggingFacewithChatTemplate', abbr='m', path='gpt', max_out_len=9, max_seq_len=50, stop_words=['END'])]\n"
    )
    recipe = SUM.model_copy(update={"max_tokens": None, "stop": ["\n"]})
    exam = exam_of("x", recipe, ExamOptions(model_config=f"{config}::m"))
    decoding = next(exam.questions()).requests[0].decoding
    assert (decoding.max_tokens, decoding.stop) == (9, ("\n", "END"))
    counting = ScriptedEngine(answer="x")
    whole = len(next(exam.questions()).requests[0].prompt.text.split())
    exam_of_the_engine = exam.suited_to(counting)
    assert exam_of_the_engine.longest == 50
    assert whole > 0


def test_what_a_row_shows_and_what_it_chooses_between_is_what_its_template_names():
    asked = Task(
        input_fields={"question": "str", "options": "List[str]"},
        reference_fields={"answer": "int", "options": "List[str]"},
        prediction_type="str",
        metrics=["metrics.accuracy"],
    )
    card = TaskCard(loader={"__type__": "load_from_dictionary", "data": {"test": [{"question": "?"}]}}, task=asked)
    choosing = MultipleChoiceTemplate(
        input_format="{question} {choices}", choices_field="options", target_field="answer"
    )
    writing = InputOutputTemplate(input_format="{question} {options}", output_format="{answer}")
    found = parts_of(DatasetRecipe(card=card, template=choosing))
    assert (found.inputs, found.choices) == (("input_fields/question",), ("input_fields/options",))
    assert (found.answer, found.copy) == ("reference_fields/answer", "reference_fields/options")
    plain = parts_of(DatasetRecipe(card=card, template=writing))
    assert (plain.inputs, plain.choices) == (("input_fields/question", "input_fields/options"), ())
