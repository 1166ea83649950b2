"""Engines that stand in for others."""

import pytest

from proctor.engines.engine_registry import make_engine
from proctor.engines.scripted import ScriptedEngine
from proctor.engines.substitution import StandIn, engine_map
from proctor.errors import PolicyError, SettingsError
from proctor.guests.unitxt.engines.providers import CrossProviderInferenceEngine, WMLInferenceEngineGeneration
from proctor.ir import Decoding, Generate, Likelihood, Prompt
from proctor.settings import settings

ROWS = [{"source": "hello"}]


def test_a_remote_model_is_answered_locally():
    engine = CrossProviderInferenceEngine(model="llama-3-3-70b-instruct", provider="watsonx")
    with settings.context(engine_map="gpt-4=hf;llama-3-3-70b-instruct=scripted[answer=here]"):
        assert engine(ROWS) == ["here"]
        assert engine.infer(ROWS, return_meta_data=True)[0].model_name == "llama-3-3-70b-instruct (by scripted)"


def test_by_the_environment_and_by_the_providers_own_name(monkeypatch):
    monkeypatch.setenv("PROCTOR_ENGINE_MAP", "meta-llama/llama-3-3-70b-instruct=scripted[answer=x]")
    assert CrossProviderInferenceEngine(model="llama-3-3-70b-instruct", provider="watsonx")(ROWS) == ["x"]
    assert WMLInferenceEngineGeneration(model_name="meta-llama/llama-3-3-70b-instruct")(ROWS) == ["x"]


def test_a_star_takes_every_model():
    with settings.context(engine_map="*=scripted[answer=any]"):
        assert CrossProviderInferenceEngine(model="whatever", provider="aws")(ROWS) == ["any"]


def test_a_provider_need_not_be_named():
    with settings.context(engine_map="gpt-4=scripted[answer=any]"):
        assert CrossProviderInferenceEngine(model="gpt-4")(ROWS) == ["any"]


def test_without_a_map_nothing_changes():
    engine = ScriptedEngine(answer="a")
    assert engine.answering() is engine
    with settings.context(engine_map="other=scripted"):
        assert engine.answering() is engine


def test_the_decoding_of_the_engine_that_was_asked_for():
    seen = []

    class Spy(ScriptedEngine):
        def generate(self, requests):
            def noted():
                for request in requests:
                    seen.append(request.decoding)
                    yield request

            return super().generate(noted())

    asked = CrossProviderInferenceEngine(model="m", provider="open-ai", max_tokens=5, seed=3)
    stand_in = StandIn.of(asked, Spy(answer="x"))
    list(stand_in.generate([Generate(Prompt("q")), Generate(Prompt("q"), Decoding(max_tokens=9))]))
    assert [(each.max_tokens, each.seed) for each in seen] == [(5, 3), (9, 3)]


def test_identity_is_of_the_engine_that_answers():
    engine = CrossProviderInferenceEngine(model="m", provider="open-ai")
    found = set()
    for text in ("m=scripted[answer=a]", "m=scripted[answer=b]"):
        with settings.context(engine_map=text):
            found.add(engine.answering().identity)
    assert len({*found, engine.identity}) == 3


def test_make_engine_reads_the_map_and_writes_what_was_asked_for():
    with settings.context(engine_map="m=scripted[answer=a]"):
        engine = make_engine("watsonx", {"model": "m"})
    assert engine.label == "m (by scripted)"
    assert engine.to_dict()["model"] == "m"


def test_the_policy_is_that_of_the_engine_that_answers():
    rows = [{"source": "x", "data_classification_policy": ["proprietary"]}]
    engine = CrossProviderInferenceEngine(model="m", provider="open-ai")
    with pytest.raises(PolicyError):
        engine(rows)
    with settings.context(engine_map="m=scripted[answer=a]"):
        assert engine(rows) == ["a"]


@pytest.mark.parametrize("text", ["m", "=x", "m=", "a=b;c"])
def test_what_is_no_map(text):
    with settings.context(engine_map=text), pytest.raises(SettingsError, match="not a model=engine|no model=engine"):
        engine_map()


def test_programs_that_are_tried_out_get_unitxts_mock_tokens():
    engine = CrossProviderInferenceEngine(model="m", provider="open-ai")
    with settings.context(mock_inference_mode=True):
        assert engine.infer([{"source": "x"}]) == ["x"]
        (tokens,) = engine.infer_log_probs([{"source": "x"}])
    assert tokens == [{"text": "[[10]]", "logprob": -1.0, "top_tokens": [{"text": "[[10]]", "logprob": -1.0}]}]


def test_what_stands_in_is_asked_about_itself_as_the_engine_that_answers():
    asked = CrossProviderInferenceEngine(model="m", provider="open-ai")
    listed = ScriptedEngine(answers=["a", "b"], log_likelihoods={"a": -1.0})
    stand_in = StandIn.of(asked, listed)
    assert (stand_in.is_billed, asked.is_billed, stand_in.only_chats, asked.only_chats) == (False, True, False, True)
    assert (stand_in.price_name, stand_in.answers_in_order, stand_in.can_score) == ("scripted", True, True)
    assert not StandIn.of(asked, ScriptedEngine(answer="a")).answers_in_order
    assert stand_in.answering() is stand_in
    ((_, response),) = stand_in.score([Likelihood(Prompt("q"), "a")])
    assert response.scores[0].log_likelihood == -1.0


def test_nothing_stands_in_for_what_stands_in():
    stand_in = StandIn.of(ScriptedEngine(answer="a"), ScriptedEngine(answer="b"))
    with settings.context(engine_map="*=scripted[answer=c]"):
        assert StandIn.in_place_of(stand_in) is stand_in


def test_what_the_other_engine_holds_is_released():
    class Held(ScriptedEngine):
        def close(self):
            closed.append(self.answer)

    closed = []
    StandIn.of(ScriptedEngine(answer="a"), Held(answer="b")).close()
    assert closed == ["b"]


def test_tried_out_programs_hear_their_prompts_and_send_nothing():
    engine = CrossProviderInferenceEngine(model="m", provider="open-ai", data_classification_policy=["public"])
    chat = [{"role": "user", "content": "x"}]
    with settings.context(mock_inference_mode=True):
        assert engine([{"source": chat, "data_classification_policy": ["public"]}]) == [str(chat)]
        stand_in = engine.answering()
        assert stand_in.policy == ["public"]
        answers = dict(stand_in.generate([Generate(Prompt("q"), Decoding(count=2, extra={"logprobs": True}))]))
    assert answers[0].texts == ("[[10]]", "[[10]]")
    assert len(answers[0].tokens) == 2


def test_parts_of_a_map_may_be_empty_and_models_may_have_brackets():
    with settings.context(engine_map=" a = scripted[answer=x] ;; b=hf;"):
        assert engine_map() == {"a": "scripted[answer=x]", "b": "hf"}
    with settings.context(engine_map=None):
        assert engine_map() == {}
