"""Engines that stand in for others."""

import pytest

from proctor.engines.engine_registry import make_engine
from proctor.engines.scripted import ScriptedEngine
from proctor.engines.substitution import engine_map
from proctor.errors import PolicyError, SettingsError
from proctor.guests.unitxt.engines.providers import CrossProviderInferenceEngine, WMLInferenceEngineGeneration
from proctor.ir import Decoding, Generate, Prompt
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

    from proctor.engines.substitution import StandIn

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
