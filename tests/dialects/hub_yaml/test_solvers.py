"""Conversations that solvers make, what they say of the model's writing, and what they do not take."""

import pytest

from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.solvers import choices_template, compiled, decoding_of, shown_of
from proctor.dialects.hub_yaml.talk import talk_about
from proctor.errors import DataError, ProctorError, ValidationError

GENERATE = Step("generate")


def sample(question="Who?", choices=(), **metadata):
    return {"input": question, "target": "A", "choices": list(choices), "metadata": metadata}


def asked(*steps, system=None, **given):
    """What the model is told each time; its answers are numbers."""
    talk = compiled(steps, epochs=1).run(talk_about(sample(**given), system))
    return [[(each.role, *each.words) for each in context] for context in talk.asked]


def test_words_go_around_the_last_message_of_the_user_and_system_messages_to_the_top():
    steps = [
        Step("system_message", {"template": "One {topic}."}),
        Step("system_message", {"template": "Two {n}.", "n": 2}),
        Step("prompt_template", {"template": "[{prompt}|{topic}|{topic2}]", "topic": "own"}),
        Step("user_message", {"template": "Go {topic}!"}),
        Step("chain_of_thought", {"template": "{prompt} Think {topic}."}),
        GENERATE,
    ]
    (told,) = asked(*steps, topic="x", system="Zero.")
    assert told == [
        ("system", "Zero."), ("system", "One x."), ("system", "Two 2."),
        ("user", "[Who?|own|{topic2}]"), ("user", "Go x! Think {topic}."),
    ]  # fmt: skip


def test_each_answer_stands_in_the_conversation():
    critique = Step(
        "self_critique", {"critique_template": "C {completion} {question}", "completion_template": "D {critique}"}
    )
    first, second, third = asked(GENERATE, critique)
    assert first == [("user", "Who?")]
    assert second == [("user", "C ", 0, " Who?")]
    assert third == [("user", "Who?"), ("assistant", 0), ("user", "D ", 1)]


def test_choices_are_lettered_and_the_question_asks_for_a_letter():
    (told,) = asked(Step("multiple_choice", {"template": "{question} of {letters}:\n{choices}"}), choices=["x", "y"])
    assert told == [("user", "Who? of A,B:\nA) x\nB) y")]
    for args in ({}, {"cot": True}, {"multiple_correct": True}):
        (((_, text),),) = asked(Step("multiple_choice", args), choices=["x", "y"])
        words = choices_template(cot="cot" in args, several="multiple_correct" in args)
        assert text == words.format(letters="A,B", question="Who?", choices="A) x\nB) y")
    with pytest.raises(DataError, match="the row has no choices"):
        asked(Step("multiple_choice"))
    assert [(cot, several, choices_template(cot=cot, several=several)[:120]) for cot in (False, True) for several in (False, True)] == [
        (False, False, "Answer the following multiple choice question. The entire content of your response should be of the following format: 'A"),
        (False, True, "Answer the following multiple choice question where multiple answers may be correct. The entire content of your response"),
        (True, False, "Answer the following multiple choice question. The last line of your response should be of the following format: 'ANSWER"),
        (True, True, "Answer the following multiple choice question where multiple answers may be correct. The last line of your response shou"),
    ]  # fmt: skip
    assert "LETTERS is one or more of {letters}. Think step by step" in choices_template(cot=True, several=True)


def test_how_often_is_asked_and_which_answers_are_letters():
    steps = [
        GENERATE,
        Step("multiple_choice", {"multiple_correct": True}),
        Step("self_critique"),
        Step("multiple_choice"),
    ]
    made = compiled(steps, epochs=1)
    assert (made.answers, made.lettered) == (5, ((1, True), (4, False)))
    assert compiled([Step("use_tools"), GENERATE], epochs=1).answers == 1


@pytest.mark.parametrize(
    "epochs, args, temperature",
    [(1, {}, 0.0), (2, {}, 1.0), (2, {"temperature": 0.5}, 0.5), (1, {"temperature": 2}, 2)],
)
def test_answers_to_the_same_question_are_sampled_unless_the_file_says_how(epochs, args, temperature):
    assert compiled([Step("generate", args)], epochs=epochs).decoding.temperature == temperature


ALL = {"max_tokens": 5, "temperature": 0.1, "top_p": 0.2, "top_k": 3, "seed": 4, "stop_seqs": ["x"], "logit_bias": {}}


def test_what_a_file_says_of_the_models_writing():
    found = decoding_of(Step("generate", {**ALL, "timeout": 3, "cache": True, "tool_calls": "none", "top_p": None}))
    assert found == {
        "max_tokens": 5, "temperature": 0.1, "top_k": 3, "seed": 4, "stop": ("x",), "extra": {"logit_bias": {}}
    }  # fmt: skip
    assert decoding_of(Step("multiple_choice", {"max_tokens": 7})) == {"max_tokens": 7}
    assert decoding_of(Step("multiple_choice", {"max_tokens": None})) == decoding_of(Step("self_critique")) == {}
    for step, what in (
        (Step("multiple_choice", {"max_tokens": 0}), "max_tokens is 0"),
        (Step("generate", {"top_p": 2}), "top_p is 2"),
    ):
        with pytest.raises(ValidationError, match=what):
            decoding_of(step)


OWNERS = [
    ("prompt_template", "template"),
    ("system_message", "template"),
    ("user_message", "template"),
    ("chain_of_thought", "template"),
    ("self_critique", "critique_template"),
    ("self_critique", "completion_template"),
    ("multiple_choice", "template"),
]


@pytest.mark.parametrize("template", ["{prompt", "https://x.example/t", "words.txt", "words.md ", 3])
@pytest.mark.parametrize("name, argument", OWNERS)
def test_every_template_is_looked_at_before_anybody_is_asked(name, argument, template):
    with pytest.raises(ProctorError, match=f"the template of {name}"):
        compiled([Step(name, {argument: template}), GENERATE], epochs=1)


@pytest.mark.parametrize(
    "template", ["See https://x.example: {prompt}", "Read words.txt now.", "words.csv", "{prompt}.txt"]
)
def test_words_with_addresses_and_names_of_files_are_words(template):
    assert asked(Step("prompt_template", {"template": template}), GENERATE)


@pytest.mark.parametrize(
    "steps, told",
    [
        ([Step("system_message", {"template": "x"})], "no solver asks the model"),
        ([Step("generate", {"seed": 1}), GENERATE], "in different ways"),
        ([Step("generate", {"max_tokens": 5}), Step("multiple_choice", {"max_tokens": 6})], "in different ways"),
        ([Step("use_tools", {"tool_choice": "any", "tools": 1}), GENERATE], "'use_tools' has no argument 'tools'"),
        ([Step("user_message"), GENERATE], "'user_message' needs the argument 'template'"),
        ([Step("self_critique", {"model": "x"})], "self_critique names another model"),
    ],
)
def test_solvers_that_cannot_be_followed(steps, told):
    with pytest.raises(ValidationError, match=told):
        compiled(steps, epochs=1)
    assert compiled([Step("self_critique", {"model": None})], epochs=1).answers == 2


def test_the_question_that_people_are_shown_is_the_last_that_is_asked_first():
    talk = compiled(
        [Step("user_message", {"template": "More?"}), GENERATE, Step("user_message", {"template": "No."})], epochs=1
    )
    assert shown_of(talk.run(talk_about(sample()))) == "More?"
    alone = compiled([GENERATE], epochs=1).run(talk_about(sample([{"role": "system", "content": "S"}])))
    assert shown_of(alone) == ""


def test_a_solver_needs_a_message_of_the_user_to_change():
    with pytest.raises(ProctorError, match="chain_of_thought needs a message of the user"):
        asked(Step("chain_of_thought"), GENERATE, question=[{"role": "system", "content": "S"}])


def test_pictures_stay_beside_the_words_of_their_message():
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    content = [{"type": "text", "text": "Look:"}, picture, {"type": "text", "text": "what?"}]
    talk = compiled([Step("prompt_template", {"template": "[{prompt}]"}), GENERATE], epochs=1).run(
        talk_about(sample([{"role": "user", "content": content}]))
    )
    assert talk.question == "Look:\nwhat?"
    assert talk.asked[0][0].message() == {
        "role": "user",
        "content": [{"type": "text", "text": "[Look:\nwhat?]"}, picture],
    }
