"""Engines that are saved have Unitxt's names of their fields, so that both read them."""

import json

import pytest

from proctor.artifacts import build, fetch_artifact
from proctor.engines.engine_registry import make_engine
from proctor.guests.table import table_of
from proctor.guests.unitxt.engines.providers import LiteLLMInferenceEngine, MockInferenceEngine

# What Unitxt 1.26.9 writes is what it was given; each of these was compared with it, names, values and order.
SAVED = [
    ("OpenAiInferenceEngine", {"model_name": "gpt-4o", "default_headers": {"X-A": "b"}, "num_parallel_requests": 3}),
    (
        "OpenAiInferenceEngine",
        {"model_name": "m", "base_url": "http://localhost:1/v1", "top_logprobs": 5, "label": "mine", "n": 2,
         "stop": ["a"], "seed": 3, "logit_bias": {"5": 3}, "use_cache": False, "cache_batch_size": 7},
    ),
    ("AzureOpenAIInferenceEngine", {"model_name": "deployment", "max_tokens": 5}),
    ("VLLMRemoteInferenceEngine", {"model_name": "m", "base_url": "http://localhost:1/v1"}),
    ("RITSInferenceEngine", {"model_name": "ibm/granite", "max_tokens": 3}),
    ("OllamaInferenceEngine", {"model": "llama3", "temperature": 0.1}),
    ("TogetherAiInferenceEngine", {"model_name": "t/m", "max_tokens": 6, "top_k": 3, "min_p": 0.1}),
    ("LiteLLMInferenceEngine", {"model": "ollama_chat/llama3", "max_requests_per_second": 3, "max_tokens": 9}),
    ("LiteLLMInferenceEngine", {"model": "gpt-4o"}),
    (
        "CrossProviderInferenceEngine",
        {"model": "llama-3-8b-instruct", "provider": "watsonx", "provider_specific_args": {"rits": {"max_tokens": "3"}}},
    ),
    (
        "WMLInferenceEngineGeneration",
        {"model_name": "ibm/g", "max_new_tokens": 4, "random_seed": 3, "stop_sequences": ["x"],
         "decoding_method": "greedy", "concurrency_limit": 4},
    ),
    ("WMLInferenceEngine", {"deployment_id": "d", "max_new_tokens": 4}),
    ("WMLInferenceEngineChat", {"model_name": "ibm/g", "max_tokens": 4, "response_format": {"type": "json"}}),
    ("MockInferenceEngine", {"model_name": "m", "default_inference_value": "x", "label": "mine"}),
    ("GenericInferenceEngine", {"default": "engines.openai.gpt_4o"}),
    (
        "HFAutoModelInferenceEngine",
        {"model_name": "a/b", "max_new_tokens": 4, "batch_size": 3, "tokenizer_name": "c/d",
         "chat_kwargs_dict": {"x": 1}, "torch_dtype": "torch.bfloat16", "label": "l", "do_sample": True,
         "temperature": 0.3, "lazy_load": True, "n_top_tokens": 3, "padding_side": "right"},
    ),
    ("HFPipelineBasedInferenceEngine", {"model_name": "a/b", "use_fp16": False, "task": "text-generation"}),
    ("HFLlavaInferenceEngine", {"model_name": "a/b", "max_new_tokens": 4, "image_token": "<i>"}),
    ("HFPeftInferenceEngine", {"model_name": "a/b", "max_new_tokens": 4, "lazy_load": True}),
    ("HFOptionSelectingInferenceEngine", {"model_name": "a/b", "batch_size": 2}),
    (
        "LMMSEvalInferenceEngine",
        {"model_type": "llava_onevision", "model_args": {"pretrained": "x"}, "generate_until": ["x"]},
    ),
    (
        "LMMSEvalLoglikelihoodInferenceEngine",
        {"model_type": "llava", "model_args": {"pretrained": "x"}, "request_type": "loglikelihood"},
    ),
    ("VLLMInferenceEngine", {"model": "x", "max_tokens": 4, "min_p": 0.3, "best_of": 2, "ignore_eos": True}),
]  # fmt: skip


@pytest.mark.parametrize("name, fields", SAVED, ids=[f"{name}-{len(fields)}" for name, fields in SAVED])
def test_engines_are_saved_as_unitxt_saves_them(name, fields, tmp_path):
    engine = table_of("unitxt").find("unitxt.inference", name)(**fields)
    engine.save(tmp_path / "engine.json")
    saved = json.loads((tmp_path / "engine.json").read_text())
    assert saved == {"__type__": engine.type_name(), **fields}
    assert list(saved) == ["__type__", *fields]
    read = fetch_artifact(str(tmp_path / "engine.json"))
    assert type(read) is type(engine)
    assert read.identity == engine.identity
    assert build(engine.to_dict()) == engine


@pytest.mark.parametrize(
    "name, fields, secret",
    [
        ("OpenAiInferenceEngine", {"model_name": "m", "credentials": {"api_key": "s-1"}}, "s-1"),
        ("WMLInferenceEngine", {"model_name": "m", "credentials": {"apikey": "s-1", "url": "https://u"}}, "s-1"),
        ("OllamaInferenceEngine", {"model": "m", "credentials": {"api_key": "s-1"}}, "s-1"),
    ],
)
def test_credentials_are_never_saved(name, fields, secret):
    engine = table_of("unitxt").find("unitxt.inference", name)(**fields)
    del fields["credentials"]
    assert engine.to_dict() == {"__type__": engine.type_name(), **fields}
    assert secret not in engine.to_json()


def test_our_own_names_are_saved_as_unitxts():
    engine = table_of("unitxt").find("unitxt.inference", "OpenAiInferenceEngine")(model="m", max_concurrency=4)
    assert engine.to_dict() == {
        "__type__": "open_ai_inference_engine",
        "model_name": "m",
        "num_parallel_requests": 4,
    }


def test_what_was_changed_since_is_saved():
    engine = LiteLLMInferenceEngine(model="ollama_chat/llama3")
    changed = make_engine(engine, {"max_tokens": 5})
    assert changed.to_dict() == {
        "__type__": "lite_llm_inference_engine",
        "model": "ollama_chat/llama3",
        "max_tokens": 5,
    }
    other = make_engine(engine, {"model": "qwen"})
    assert build(other.to_dict()).identity == other.identity


def test_a_mock_has_a_label():
    engine = MockInferenceEngine(model_name="m", label="mine")
    (found,) = engine.infer([{"source": "hello"}], return_meta_data=True)
    assert found.inference_type == "mine"
