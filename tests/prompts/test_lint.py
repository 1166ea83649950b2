import pytest

from proctor.ir import Choose, Exchange, Generate, Media, Pair, Prompt, Span, Turn, turn
from proctor.prompts.lint import warnings_of
from proctor.recipes.exam import Question


def warned(parts, fields=None, choices=(), references=(), gold=None, answer=None):
    spans = tuple(Span(text, origin) for text, origin in parts)
    prompt = Prompt("".join(span.text for span in spans), lambda: (Turn("user", spans),))
    request = Choose(tuple(Pair(prompt, choice) for choice in choices)) if choices else Generate(prompt)
    exchange = Exchange((turn("user", "?"),), answer=answer, references=references, choices=choices, gold=gold)
    return list(warnings_of(Question(0, {"input_fields": fields or {}}, exchange, (request,))))


def test_a_good_prompt_has_no_warning():
    parts = [
        ("Answer.\n", "instruction"),
        ("2+2?", "demo[0].question"),
        ("four", "demo[0].answer"),
        ("3+3?", "question"),
    ]
    assert warned(parts, {"sum": "3+3?"}, references=("six",)) == []


def test_the_answer_in_the_prompt():
    assert warned([("What is Paris?", "question")], references=("paris",)) == [
        "the answer 'paris' appears in the prompt"
    ]


def test_a_label_among_all_labels_is_no_leak():
    parts = [("Is it entailment or not entailment?", "question")]
    labels = {"classes": ["entailment", "not entailment"]}
    assert warned(parts, labels, references=("entailment",)) == []
    assert warned(parts, {"classes": ["entailment", "neutral"]}, references=("entailment",)) != []


def test_a_list_of_one_label_offers_no_choice():
    assert warned([("Is it entailment?", "question")], {"classes": ["entailment"]}, references=("entailment",)) != []


def test_the_answer_in_a_demo_is_no_leak():
    assert warned([("Paris", "demo[0].answer"), ("Capital?", "question")], references=("Paris",)) == []


def test_a_short_answer_may_occur():
    assert warned([("A cat?", "question")], references=("A",)) == []
    assert warned([("Is this cat fine?", "question")], references=("fine",)) != []


def test_a_demo_that_is_the_instance():
    parts = [("3+3? ", "demo[1].question"), ("3+3?", "question")]
    assert warned(parts) == ["demo 2 question is the instance itself"]


def test_choices_that_are_alike():
    assert warned([("?", "question")], choices=(" a", "b", " a")) == ["choices 1 and 3 are alike: 'a'"]


def test_fields_that_are_not_used_are_named_together():
    found = warned([("Capital?", "question")], {"context": "a long passage", "id": "number 17"}, references=("Paris",))
    assert found == ["the fields 'context', 'id' are not in the prompt"]


@pytest.mark.parametrize(
    "value, warns", [("a long passage", True), ("Paris", False), ("abc", False), ("four", True), (17, False)]
)
def test_a_field_that_is_not_used(value, warns):
    found = warned([("Capital?", "question")], {"context": value}, references=("Paris",))
    assert found == (["the field 'context' is not in the prompt"] if warns else [])


def test_where_a_picture_is_shown_no_field_is_missed():
    parts = (Span("Which one?"), Media("image", "cat.png"))
    prompt = Prompt("Which one?", lambda: (Turn("user", parts),))
    item = Question(0, {"caption": "a cat on a mat"}, Exchange((turn("user", "?"),)), (Generate(prompt),))
    assert list(warnings_of(item)) == []


def test_a_field_that_one_of_several_prompts_shows_is_used():
    prompts = [Prompt(f"Is it {word}?") for word in ("the first thing", "the second thing")]
    item = Question(
        0,
        {"one": "the first thing", "two": "the second thing", "three": "the third thing"},
        Exchange((turn("user", "?"),)),
        tuple(Generate(prompt) for prompt in prompts),
    )
    assert list(warnings_of(item)) == ["the field 'three' is not in the prompt"]
