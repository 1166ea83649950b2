"""The engines that Unitxt users know: names, fields, and what they lead to."""

import pytest

from proctor.artifacts import build
from proctor.errors import UsageError, ValidationError
from proctor.guests.unitxt.engines.lmms import LMMSEvalInferenceEngine
from proctor.guests.unitxt.engines.providers import (
    AzureOpenAIInferenceEngine,
    CrossProviderInferenceEngine,
    GenericInferenceEngine,
    IbmGenAiInferenceEngine,
    LiteLLMInferenceEngine,
    MockInferenceEngine,
    OllamaInferenceEngine,
    OpenAiInferenceEngine,
    RITSInferenceEngine,
    TogetherAiInferenceEngine,
    VLLMRemoteInferenceEngine,
    WMLInferenceEngine,
    WMLInferenceEngineChat,
    WMLInferenceEngineGeneration,
)
from proctor.guests.unitxt.engines.vllm import VLLMInferenceEngine
from proctor.settings import settings
from proctor.testing import Faults, FaultServer

ROWS = [{"source": "hello"}]

# Entries of Unitxt's catalog of engines, which say nothing about where a key comes from.
SAVED = [
    {"__type__": "cross_provider_inference_engine", "model": "llama-3-8b-instruct"},
    {
        "__type__": "cross_provider_inference_engine",
        "model": "gpt-oss-120b",
        "logprobs": True,
        "max_tokens": None,
        "temperature": 0.0,
        "top_logprobs": 5,
        "provider": "watsonx",
    },
    {"__type__": "ollama_inference_engine", "model": "llama2"},
    {
        "__type__": "rits_inference_engine",
        "model_name": "meta-llama/Llama-3.1-8B-Instruct",
        "max_tokens": 8,
        "seed": 42,
    },
    {"__type__": "open_ai_inference_engine", "model_name": "gpt-4o", "max_tokens": 2048, "seed": 42},
    {"__type__": "azure_open_ai_inference_engine", "model_name": "gpt-4o", "logprobs": True, "top_logprobs": 5},
    {"__type__": "wml_inference_engine", "model_name": "m", "max_new_tokens": 2048, "random_seed": 42},
    {
        "__type__": "wml_inference_engine_generation",
        "model_name": "m",
        "max_new_tokens": 5,
        "random_seed": 42,
        "decoding_method": "greedy",
    },
]


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved["__type__"])
def test_saved_engines_load_without_keys_or_a_network(saved):
    engine = build(saved)
    assert engine.to_dict()["__type__"] == saved["__type__"]
    assert build(engine.to_dict()) == engine
    assert engine.model == engine.model_name == (saved.get("model") or saved["model_name"])


def test_decoding_fields_under_their_other_names():
    engine = WMLInferenceEngineGeneration(
        model_name="m", max_new_tokens=5, random_seed=3, stop_sequences=["x"], top_k=4
    )
    defaults = engine.decoding_defaults()
    assert (defaults["max_tokens"], defaults["seed"], defaults["stop"]) == (5, 3, ("x",))
    assert defaults["extra"]["top_k"] == 4


@pytest.mark.parametrize(
    "engine, provider",
    [
        (OpenAiInferenceEngine(model_name="m"), "open-ai"),
        (AzureOpenAIInferenceEngine(model_name="m"), "azure"),
        (VLLMRemoteInferenceEngine(model_name="m"), "vllm-server"),
        (RITSInferenceEngine(model_name="m"), "rits"),
        (OllamaInferenceEngine(model="m"), "ollama"),
        (TogetherAiInferenceEngine(model_name="m"), "together-ai"),
        (WMLInferenceEngine(model_name="m"), "watsonx-text"),
        (WMLInferenceEngineChat(model_name="m"), "watsonx"),
        (IbmGenAiInferenceEngine(model_name="m"), "bam"),
        (LiteLLMInferenceEngine(model="watsonx/ibm/granite"), "watsonx"),
        (LiteLLMInferenceEngine(model="bedrock/meta.llama3"), "aws"),
        (LiteLLMInferenceEngine(model="claude-3-haiku"), "anthropic"),
        (LiteLLMInferenceEngine(model="gpt-4o"), "open-ai"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_each_is_a_name_for_a_provider(engine, provider):
    assert engine.provider == provider


@pytest.mark.parametrize(
    "engine, policy",
    [
        (OpenAiInferenceEngine(model_name="m"), ["public"]),
        (RITSInferenceEngine(model_name="m"), ["public", "proprietary"]),
        (WMLInferenceEngine(model_name="m"), ["public", "proprietary"]),
        (OllamaInferenceEngine(model="m"), ["public", "proprietary"]),
        (CrossProviderInferenceEngine(model="m", provider="together-ai"), ["public"]),
        (CrossProviderInferenceEngine(model="m", provider="aws", data_classification_policy=["pii"]), ["pii"]),
    ],
)
def test_policies(engine, policy):
    assert engine.policy == policy


def test_a_server_of_ones_own():
    with FaultServer(answer=lambda body: f"{body['model']} {body.get('max_tokens')}") as server:
        address = {"api_key": "k", "api_url": server.url}
        assert OpenAiInferenceEngine(model_name="m", credentials=address, max_tokens=3)(ROWS) == ["m 3"]
        assert OpenAiInferenceEngine("m", base_url=server.url, credentials={"api_key": "k"})(ROWS) == ["m None"]
        assert VLLMRemoteInferenceEngine(model_name="m", base_url=server.url)(ROWS) == ["m None"]


def test_ollama_on_loopback_through_faults():
    rows = [{"source": f"question {n}"} for n in range(20)]
    with FaultServer() as server:
        calm = OllamaInferenceEngine(model="llama2", credentials={"api_base": server.url.removesuffix("/v1")})(rows)
    with FaultServer(faults=Faults.random(3, rate=0.4)) as server:
        engine = OllamaInferenceEngine(model="llama2", base_url=server.url.removesuffix("/v1"), max_tokens=4, stop="z")
        assert engine(rows) == calm
        assert server.statistics()["answered_twice"] == 0


def test_parameters_in_one_place_as_old_engines_had_them():
    engine = OpenAiInferenceEngine(model_name="m", parameters={"max_tokens": 5, "seed": 1}, seed=2, label="mine")
    assert (engine.max_tokens, engine.seed, engine.inference_label) == (5, 2, "mine")


def test_a_deployment_instead_of_a_model():
    engine = WMLInferenceEngineChat(deployment_id="d", credentials={"api_key": "k", "project_id": "p"})
    assert engine._options()["route"] == "/ml/v1/deployments/d/text/chat"
    assert (engine.label, engine.identity_values()["deployment_id"]) == ("d", "d")
    without_key = WMLInferenceEngineChat(deployment_id="d")
    assert without_key.identity == engine.identity, "nobody is asked for a list of models"
    for fields in ({}, {"model_name": "m", "deployment_id": "d"}):
        with pytest.raises(ValidationError, match="deployment_id"):
            WMLInferenceEngineChat(**fields)


def test_requests_per_second():
    assert LiteLLMInferenceEngine(model="m", max_requests_per_second=2).requests_per_minute == 120


def test_the_engine_that_the_environment_names(monkeypatch):
    engine = GenericInferenceEngine(default='{"__type__": "scripted_engine", "answer": "default"}')
    assert engine(ROWS) == ["default"]
    monkeypatch.setenv("UNITXT_INFERENCE_ENGINE", '{"__type__": "scripted_engine", "answer": "named"}')
    assert engine(ROWS) == ["named"]
    assert GenericInferenceEngine().identity == engine.identity
    monkeypatch.delenv("UNITXT_INFERENCE_ENGINE")
    with pytest.raises(UsageError, match="PROCTOR_INFERENCE_ENGINE"):
        GenericInferenceEngine()(ROWS)


def test_the_mock():
    engine = MockInferenceEngine(model_name="m")
    assert engine(ROWS) == ["[[10]]"]
    assert engine.infer_log_probs(ROWS) == [engine.default_inference_value_logprob]
    assert MockInferenceEngine(model_name="m", default_inference_value="x")(ROWS) == ["x"]


def test_offline_vllm_keeps_its_fields():
    engine = VLLMInferenceEngine(model="m", max_tokens=32, top_k=5, repetition_penalty=1.1, use_cache=False)
    defaults = engine.decoding_defaults()
    assert (defaults["max_tokens"], defaults["top_k"], defaults["extra"]) == (32, 5, {"repetition_penalty": 1.1})


def test_users_may_ask_for_the_name_that_unitxt_files_an_engine_under():
    assert OpenAiInferenceEngine(model_name="org/gpt-4.1-mini", label="openai").get_engine_id() == "gpt_4,1_mini_openai"


def test_an_engine_is_filed_under_the_providers_name_of_its_model():
    engine = CrossProviderInferenceEngine(model="llama-3-2-1b-instruct", provider="ollama")
    assert engine.get_engine_id() == "llama3,2:1b_ollama"
    later = CrossProviderInferenceEngine(model="llama-3-2-1b-instruct")
    assert later.get_engine_id() == "llama_3_2_1b_instruct_watsonx"
    with settings.context(default_provider="rits"):
        assert later.get_engine_id() == "llama_3_2_1b_instruct_rits"


@pytest.mark.parametrize(
    "engine, name",
    [
        (WMLInferenceEngineChat(deployment_id="abc-1"), "abc_1_wml"),
        (WMLInferenceEngineChat(model_name="ibm/granite-3-8b"), "granite_3_8b_wml"),
        (VLLMInferenceEngine(model="a/b-C"), "b_c_vllm"),
        (LMMSEvalInferenceEngine(model_type="llava", model_args={"pretrained": "x"}), "llava_lmms-eval"),
    ],
)
def test_engines_have_the_names_that_unitxt_files_them_under(engine, name):
    assert engine.get_engine_id() == name


def test_an_engine_that_stands_in_for_any_is_not_looked_up_where_none_is_asked():
    with settings.context(mock_inference_mode=True):
        assert GenericInferenceEngine(default="engines.no_such").get_engine_id() == "generic_inference_engine"
