"""One recipe, one score: a run and ``evaluate`` read, process and score the same answers alike."""

import json
import math

import pytest

from proctor import evaluate, load_dataset
from proctor.artifacts import fetch_artifact
from proctor.dialects.unitxt.resolve import exam_of
from proctor.ir import Failure, Response
from proctor.recipes import Answered, DatasetRecipe
from proctor.results.evaluate import post_process
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

ROWS = [{"a": number, "parts": [number, 2], "sum": str(number + 2)} for number in range(8)]
CARD = TaskCard(
    loader={"__type__": "load_from_dictionary", "data": {"test": ROWS}},
    task=Task(
        input_fields={"a": "int", "parts": "List[int]"},
        reference_fields={"sum": "str"},
        prediction_type="str",
        metrics=["metrics.accuracy", "metrics.f1_micro"],
    ),
)


def recipe(prefix="", **changes):
    template = InputOutputTemplate(
        input_format="{a}+2=",
        target_prefix=prefix,
        output_format="{sum}",
        postprocessors=["processors.to_string_stripped", "processors.first_character"],
    )
    return DatasetRecipe(card=CARD, template=changes.pop("template", template), **changes)


def answered_by_run(made, texts):
    questions = list(exam_of("sums", made).questions())
    responses = [
        Response(failure=text) if isinstance(text, Failure) else Response(texts=(text,))
        for text in texts[: len(questions)]
    ]
    return exam_of("sums", made).grade(
        Answered(question, (response,)) for question, response in zip(questions, responses, strict=True)
    )


def same(one, other):
    return one == other or (
        isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    )


TEXTS = ["2", " 3 ", "Sum: 4", "Sum of 3, 2: 5", "x", Failure("timeout", "late"), "8.", "Sum of 7, 2: 9"]


@pytest.mark.parametrize("prefix", ["", "Sum: ", "Sum of {parts}: "])
@pytest.mark.parametrize("postprocessors", [None, [], ["processors.take_first_non_empty_line"]])
@pytest.mark.parametrize("group_by", [[], ["sum"]])
def test_run_and_evaluate_agree(prefix, postprocessors, group_by):
    changes = {} if postprocessors is None else {"postprocessors": postprocessors}
    made = recipe(prefix, group_by=group_by, **changes)
    grade = answered_by_run(made, TEXTS)
    results = evaluate(TEXTS, list(made()["test"]))
    scores = {name: value for name, value in grade.scores.items() if name != "groups"}
    assert list(scores) == list(results.global_scores)
    assert all(same(value, results.global_scores[name]) for name, value in scores.items())
    assert list(grade.processed_predictions) == [row["processed_prediction"] for row in results]
    for place, row in enumerate(results):
        assert row["score"]["instance"] == {name: column[place] for name, column in grade.instance_scores.items()}
    if group_by:
        theirs = results.groups_scores["sum"]
        assert [group["score"] for group in grade.scores["groups"]] == [each["score"] for each in theirs.values()]


def test_several_templates_bring_their_own_processors_and_prefixes():
    plain = InputOutputTemplate(input_format="{a}", target_prefix="Sum: ", output_format="{sum}", postprocessors=[])
    made = recipe(template=[plain, recipe("Sum of {parts}: ").template])
    grade = answered_by_run(made, TEXTS)
    results = evaluate(TEXTS, list(made()["test"]))
    assert list(grade.processed_predictions) == [row["processed_prediction"] for row in results]
    assert grade.scores["accuracy"] == results.global_scores["accuracy"]


def test_no_postprocessors_means_none_everywhere():
    made = fetch_artifact("samples.arithmetic").model_copy()
    made.postprocessors = []
    rows = list(made()["test"])
    texts = [f" {row['target']} " for row in rows]
    assert evaluate(texts, rows).global_scores.score == answered_by_run(made, texts).scores["score"]
    assert post_process(texts[:2], rows[:2]) == texts[:2]


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_nothing_is_not_an_answer_that_is_wrong(nothing):
    rows = list(load_dataset("card=samples.cards.arithmetic,template=samples.templates.arithmetic", split="test"))[:2]
    results = evaluate([nothing, rows[1]["target"]], rows)
    assert (results.global_scores.score, results.global_scores["num_of_instances"]) == (1.0, 1)
    assert results.global_scores["num_of_failures"] == 1
    assert results.failures[0]["kind"] == "no_prediction"
    assert results[0]["score"]["instance"]["score"] is None
    assert math.isnan(evaluate([nothing], rows[:1]).global_scores.score)


def test_the_command_line_says_the_same(tmp_path):
    from click.testing import CliRunner

    from proctor.cli.evaluate import command

    recipe_text = "card=samples.cards.arithmetic,template=samples.templates.arithmetic"
    rows = list(load_dataset(recipe_text, split="test"))
    texts = [row["target"] if place % 3 else "no idea" for place, row in enumerate(rows)]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(text) + "\n" for text in texts))
    shown = CliRunner().invoke(command, ["--dataset", recipe_text, "--predictions", str(path), "--json"])
    assert json.loads(shown.output)["score"] == answered_by_run(fetch_artifact(recipe_text), texts).scores["score"]
