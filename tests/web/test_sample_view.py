import json
import math

import pytest

from proctor.ir import Prompt
from proctor.runs.question_words import question_of
from proctor.web.charts import share_of
from proctor.web.sample_view import (
    Room,
    assertions_in,
    choices_of,
    excerpt,
    judgements_in,
    messages_of,
    reasons_of,
    values_of,
)


@pytest.mark.parametrize(
    "prompt, wanted",
    [
        (None, []),
        ("text", [("", "text")]),
        (["one", "two"], [("choice 1", "one"), ("choice 2", "two")]),
        ([{"role": "user", "content": "hi"}], [("user", "hi")]),
        (
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
            [("user", "ab")],
        ),
        ([[{"role": "user", "content": "x"}], [{"role": "user", "content": "y"}]], [("user", "x"), ("user", "y")]),
        ({"odd": 1}, []),
    ],
)
def test_stored_prompts_are_messages(prompt, wanted):
    assert [(each["role"], each["content"]) for each in messages_of(prompt)] == wanted


def test_only_pictures_in_the_prompt_itself_are_shown():
    links = ["data:image/png;base64,AA==", "https://somewhere.example/a.png", "data:text/html,<script>"]
    content = [{"type": "image_url", "image_url": {"url": link}} for link in links]
    (message,) = messages_of([{"role": "user", "content": content}])
    assert (message["media"], message["content"]) == (links[:1], "[image][image]")


def test_sounds_and_calls_of_tools_are_told_of():
    call = {"function": {"name": "weather", "arguments": "{}"}}
    content = [{"type": "text", "text": "Hear "}, {"type": "audio_url", "audio_url": {"url": "a.wav"}}]
    content.append({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})
    chat = [{"role": "user", "content": content}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert [each["content"] for each in messages_of(chat)] == ["Hear [audio][audio]", json.dumps([call])]
    assert json.dumps([call]) in [span.text for span in Prompt(chat).spans]


def test_a_choice_without_likelihood_has_no_share():
    choices = choices_of({"output": [{"log_likelihood": None}, {"log_likelihood": -1.0}], "continuations": [" A"]})
    assert choices[0]["log_likelihood"] == -math.inf
    assert [each["best"] for each in choices] == [False, True]
    assert choices[1]["text"] == ""
    assert share_of(-math.inf, [-math.inf, -1.0]) == 0.0
    assert share_of(-1.0, [-1.0, -1.0]) == 0.5


@pytest.mark.parametrize(
    "record, names",
    [
        ({"output": "a", "prediction": "a", "processed_prediction": "a"}, ["Output and prediction"]),
        ({"output": "a!", "prediction": "a!", "processed_prediction": "a"}, ["Output", "Prediction after processors"]),
        ({"output": [{"log_likelihood": -1.0}], "prediction": "A", "processed_prediction": "A"}, ["Prediction"]),
        ({"references": ["x"], "processed_references": ["x"]}, ["References"]),
        ({"references": ["x"], "processed_references": ["y"]}, ["References", "References after processors"]),
        ({"failure": {"kind": "timeout"}}, ["Failure"]),
    ],
)
def test_what_is_the_same_is_there_once(record, names):
    assert [entry["name"] for entry in values_of(record)] == names


def test_references_stand_one_a_line():
    (entry,) = values_of({"references": ["x", "y"]})
    assert entry["value"] == "x\ny"
    (entry,) = values_of({"references": ["x\nz", "y"]})
    assert entry["value"] == ["x\nz", "y"]


def test_the_question_is_the_longest_field():
    assert question_of({"input": {"a": "short", "b": "much longer"}}) == "much longer"
    assert question_of({"prompt": "the end"}) == "the end"
    assert len(found := excerpt("first " + "word " * 1000 + "last")) <= 163
    assert found.startswith("first word")
    assert found.endswith("word last")


def test_several_comparisons_of_a_judge_are_told_apart():
    scores = {
        "one_response_name": "one",
        "one_winrate": 0.5,
        "one_compared_to": ["two", "three"],
        "one_selections": ["one", "three"],
        "one_assessments": ["better", "worse"],
        "one_prompts": {"assessment": [[{"role": "user", "content": "?"}], [{"role": "user", "content": "!"}]]},
    }
    (judgement,) = judgements_in({"scores": scores})
    assert judgement["verdict"] == "Against two: one\n\nAgainst three: three"
    assert dict(judgement["words"])["Reasoning"] == "Against two: better\n\nAgainst three: worse"
    assert [stage for stage, _ in judgement["prompts"]] == ["assessment 1", "assessment 2"]
    assert judgements_in({"scores": None}) == []


def test_the_question_is_what_is_asked_and_not_the_longer_answer():
    record = {
        "input": {"q": "Who?", "answer": "Somebody with a very long name", "source": "a folder that nobody is shown"},
        "prompt": "Question: Who?\nAnswer:",
        "references": ["Somebody with a very long name"],
    }
    assert question_of(record) == "Who?"
    assert question_of({**record, "input": {"answer": "Somebody with a very long name"}}) == record["references"][0]
    assert question_of({**record, "input": None}) == record["prompt"]


@pytest.mark.parametrize(
    "scores, shown",
    [
        ({"acc": 1.0, "f1": 0.5, "score": 0.5, "score_name": "f1"}, [("f1", 0.5), ("acc", 1.0)]),
        ({"score": 0.5, "score_name": "f1"}, [("score", 0.5), ("score_name", "f1")]),
        ({"f1": 0.4, "score": 0.5, "score_name": "f1"}, [("f1", 0.4), ("score", 0.5), ("score_name", "f1")]),
    ],
    ids=["once", "not among them", "of another value"],
)
def test_the_main_score_is_shown_once_and_first(scores, shown):
    [entry] = [each for each in values_of({"scores": scores}) if each["part"] == "scores"]
    assert list(entry["value"].items()) == shown


def test_the_end_of_a_long_answer_is_shown_for_it_is_graded():
    room = Room(1_000)
    shown = room.cut("begin" + "x" * 5_000 + "the answer is 42")
    assert shown.startswith("begin")
    assert shown.endswith("the answer is 42")
    assert room.left_out == 5_021 - 1_000


def test_what_became_of_assertions_is_listed_and_says_why_an_answer_is_not_right():
    told = [
        {"assertion": "contains: a", "passed": True, "score": 1.0},
        {"assertion": "llm-rubric: kind", "passed": False, "score": 0.2, "reason": "it is rude"},
        {"assertion": "number", "passed": None, "reason": "no right answer is a number"},
    ]
    record = {"scores": {"passed": 0.0, "assertions": told}, "scoring_failure": {"message": "no verdict"}}
    assert assertions_in(record) == [{"reason": "", **each} for each in told]
    assert reasons_of(record) == [
        "no verdict",
        "not llm-rubric: kind: it is rude",
        "not number: no right answer is a number",
    ]
    unanswered = {"failure": {"message": "no answer"}, "scoring_failure": {"message": "no answer"}}
    assert reasons_of(unanswered) == ["no answer"]
    (scores,) = [each["value"] for each in values_of(record) if each["part"] == "scores"]
    assert scores == {"passed": 0.0}
    assert assertions_in({"scores": {"assertions": "odd"}}) == []
