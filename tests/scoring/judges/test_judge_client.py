"""How judges ask."""

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import EngineError, PolicyError, ValidationError
from proctor.ir import Failure, Response
from proctor.scoring.judges.judge_client import JudgePrompt, ask, asking_through, is_asked_through, remembering
from proctor.settings import settings


def counting():
    asked = []
    return asked, ScriptedEngine(function=lambda prompt: asked.append(prompt.payload) or "yes")


def test_an_answer_says_who_gave_it():
    [answer] = ask(ScriptedEngine(answer="two words"), [JudgePrompt("q")])
    assert answer.prediction == "two words"
    assert answer.metadata == {
        "input_tokens": 1,
        "output_tokens": 2,
        "stop_reason": "stop",
        "model_name": "scripted",
        "inference_type": "scripted_engine",
    }


def test_a_failure_is_an_answer_without_counts():
    engine = ScriptedEngine(function=lambda prompt: Response(failure=Failure("timeout", "too slow")))
    [answer] = ask(engine, [JudgePrompt("q")])
    assert answer.prediction.kind == "timeout"
    assert set(answer.metadata) == {"model_name", "inference_type"}


def test_equal_questions_of_one_call_are_asked_each_and_of_later_calls_not_again():
    asked, engine = [], ScriptedEngine(answer="yes")  # one that counts by itself would be another after each count

    def asking(engine, requests):
        listed = list(requests)
        asked.extend(each.prompt.payload for each in listed)
        return engine.generate(listed)

    with remembering(), asking_through(asking):
        ask(engine, [JudgePrompt("a"), JudgePrompt("a"), JudgePrompt("b")])
        ask(engine, [JudgePrompt("a"), JudgePrompt("a"), JudgePrompt("c")])
    assert asked == ["a", "a", "b", "c"]


def test_classes_of_the_data_are_looked_at_before_anything_is_sent():
    asked, engine = counting()
    engine.data_classification_policy = ["public"]
    with pytest.raises(PolicyError):
        ask(engine, [JudgePrompt("a", ["public"]), JudgePrompt("b", ["pii"])])
    assert asked == []


def test_requests_go_through_what_stands_between():
    seen = []

    def asking(engine, requests):
        for position, request in enumerate(requests):
            seen.append((engine.label, request.prompt.payload, dict(request.decoding.extra)))
            yield position, Response(("so",))

    assert not is_asked_through()
    with asking_through(asking):
        assert is_asked_through()
        assert [each.prediction for each in ask(ScriptedEngine(answer="x"), [JudgePrompt("a")])] == ["so"]
        with pytest.raises(EngineError, match="no log-probabilities"):
            ask(ScriptedEngine(answer="x"), [JudgePrompt("b")], log_probabilities=True)
    assert seen == [("scripted", "a", {}), ("scripted", "b", {"logprobs": True, "top_logprobs": 5})]


def test_another_engine_may_stand_in():
    with settings.context(engine_map="m=scripted[answer=here]"):
        [answer] = ask(
            fetch_artifact("engines.model.flan.t5_small.hf").model_copy(update={"model": "m"}), [JudgePrompt("a")]
        )
    assert (answer.prediction, answer.metadata["model_name"]) == ("here", "m (by scripted)")


def test_what_is_not_an_engine_cannot_be_asked():
    with pytest.raises(ValidationError, match="cannot predict"):
        ask(fetch_artifact("metrics.accuracy"), [JudgePrompt("a")])
