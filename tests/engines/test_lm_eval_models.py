"""What people of lm-eval type after --model means the same here, or says why not."""

import logging

import pytest

from proctor.engines import make_engine
from proctor.engines.lm_eval_models import MODELS, NOTHING_HERE, hf_arguments, is_foreign, of_any_engine, own_name
from proctor.errors import UsageError
from proctor.logs import get_logger

URL = "http://127.0.0.1:8000/v1/completions"

EVERY_NAME = """
    anthropic-completions anthropic-chat anthropic-chat-completions gguf ggml hf-audiolm-qwen steered hf-multimodal
    hf-auto huggingface watsonx_llm litellm litellm-chat litellm-chat-completions mamba_ssm megatron_lm hf-mistral3
    nemo_lm neuronx onnxruntime onnxruntime-genai local-completions local-chat-completions openai-completions
    openai-chat-completions azure-openai-chat-completions habana ipex sglang-generate textsynth trtllm
    vllm-vlm winml
""".split()
"""``lm_eval.models.MODEL_MAPPING`` of lm-eval 0.4.13, less those that are names of engines here."""


@pytest.mark.parametrize("name", EVERY_NAME)
def test_every_name_works_or_says_what_does(name, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    if name in NOTHING_HERE:
        with pytest.raises(UsageError, match="Proctor has not") as raised:
            make_engine(name, {"pretrained": "m"})
        assert raised.value.diagnostics[0].hint
    else:
        assert name in MODELS


@pytest.fixture
def said():
    """What is logged, whatever other tests made of the logger."""
    lines, logger = [], get_logger()
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


def test_a_server_as_lm_eval_calls_it(said):
    given = {
        "model": "m",
        "base_url": URL,
        "num_concurrent": 7,
        "max_retries": 2,
        "tokenized_requests": False,
        "tokenizer_backend": "huggingface",
        "max_gen_toks": 33,
        "timeout": 20,
        "seed": 5,
        "verify_certificate": True,
    }
    engine = make_engine("local-completions", given)
    assert (engine.model, engine.base_url, engine.endpoint) == ("m", "http://127.0.0.1:8000/v1", "completions")
    assert (engine.max_concurrency, engine.max_retries, engine.max_tokens, engine.timeout) == (7, 2, 33, 20)
    assert engine.seed == 5
    assert engine.can_score
    assert "of no effect here: tokenized_requests (requests are sent as text); tokenizer_backend (" in said[0]
    same = make_engine(
        "openai",
        {"model": "m", "base_url": "http://127.0.0.1:8000", "endpoint": "completions", "max_tokens": 33, "seed": 5},
    )
    assert engine.identity == same.identity  # answers of one serve the other


def test_azure_takes_the_deployment_from_lm_evals_variables(monkeypatch):
    for name in ("AZURE_API_BASE", "AZURE_OPENAI_HOST", "AZURE_API_VERSION", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT_NAME", "deployed")
    engine = make_engine("azure-openai-chat-completions", {"api_key": "k"})
    assert engine.model == "deployed"
    assert make_engine("azure-openai-chat-completions", {"model": "other", "api_key": "k"}).model == "other"


@pytest.mark.parametrize("route", ["", "/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"])
def test_addresses_with_and_without_the_route(route):
    engine = make_engine("local-chat-completions", {"model": "m", "base_url": f"http://127.0.0.1:8000{route}"})
    assert engine.server_addresses[0] == "http://127.0.0.1:8000/v1"
    assert not engine.can_score


def test_keys_and_headers():
    given = {"model": "m", "base_url": URL, "auth_token": "secret", "header": {"X-Team": "a"}}
    engine = make_engine("local-completions", given)
    assert engine.api_key.get_secret_value() == "secret"
    assert engine.extra_headers == {"X-Team": "a"}


@pytest.mark.parametrize(
    "given, word",
    [
        ({"verify_certificate": False}, "verify_certificate"),
        ({"ca_cert_path": "/x.pem"}, "ca_cert_path"),
        ({"custom_prefix_token_id": 1}, "prefix_token="),
        ({"num_concurent": 3}, "num_concurent"),
    ],
)
def test_what_cannot_be_honoured_is_refused(given, word):
    with pytest.raises(UsageError, match=word):
        make_engine("local-completions", {"model": "m", "base_url": URL, **given})


def test_hf_takes_the_arguments_of_lm_eval(said):
    pytest.importorskip("transformers")
    given = {"pretrained": "org/m", "parallelize": True, "backend": "seq2seq", "use_fast_tokenizer": True}
    for name in ("hf", "hf-auto", "huggingface"):
        engine = make_engine(name, {**given, "batch_size": "auto:4", "max_batch_size": 64})
        assert (engine.model, engine.device_map, engine.family) == ("org/m", "auto", "seq2seq")
        assert engine.batch_size == "auto"
        assert "max_batch_size (a batch that is too large" in said[-1]
    assert make_engine("hf-multimodal", {"pretrained": "org/m"}).family == "image-text"
    with pytest.raises(UsageError, match="softmax_dtype"):
        make_engine("hf", {"pretrained": "org/m", "softmax_dtype": "float32"})
    assert make_engine("hf", {"pretrained": "org/m", "delta": None, "parallelize": False}).device_map is None


def test_arguments_of_our_own_pass_unchanged():
    pytest.importorskip("transformers")
    engine = make_engine("hf", {"model": "org/m", "revision": "main", "batch_size": 4})
    assert (engine.revision, engine.batch_size) == ("main", 4)


@pytest.mark.parametrize("name", ["gguf", "local-completions", "local-chat-completions", "sglang-generate"])
def test_a_server_of_ones_own_is_not_looked_for_at_openai(name, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="has no base_url"):
        make_engine(name, {"model": "m"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000")
    assert make_engine(name, {"model": "m"}).server_addresses[0] == "http://127.0.0.1:8000/v1"


def test_what_everybody_passes_to_every_model_is_said_to_have_no_effect(said):
    dummy = make_engine("dummy", {"batch_size": 8, "device": "cuda:0", "num_concurrent": 3, "parallelize": True})
    assert dummy.answer == "lol"
    (line,) = said
    for word in ("batch_size (requests are", "device (no model", "num_concurrent (nothing is", "parallelize (no model"):
        assert word in line
    assert make_engine("openai", {"model": "m", "num_concurrent": 3, "device": "cpu"}).max_concurrency == 3
    assert "device (" in said[1]
    assert "num_concurrent" not in said[1]


def test_a_device_is_not_idle_where_a_model_is_loaded(said):
    assert of_any_engine("x", {"device": "cpu", "batch_size": 2}, frozenset(), loads_model=True) == {"device": "cpu"}
    assert of_any_engine("x", {"device": "cpu"}, frozenset(), loads_model=False) == {}
    assert of_any_engine("x", {"device": "cpu"}, frozenset({"device"}), loads_model=False) == {"device": "cpu"}
    given = {"num_concurrent": 3, "max_concurrency": 4}
    assert of_any_engine("x", given, frozenset({"max_concurrency"}), loads_model=False) == {"max_concurrency": 4}
    assert len(said) == 2


@pytest.mark.parametrize(
    "given, fields",
    [
        ({"backend": "default"}, {}),
        ({"backend": None}, {}),
        ({"backend": "causal"}, {"family": "causal"}),
        ({"batch_size": "auto"}, {"batch_size": "auto"}),
        ({"batch_size": 4}, {"batch_size": 4}),
        ({"offload_folder": "/x"}, {"model_kwargs": {"offload_folder": "/x"}}),
        ({"offload_folder": None, "parallelize": False, "softmax_dtype": None, "delta": False}, {}),
        ({"max_gen_toks": 5, "revision": "main"}, {"max_new_tokens": 5, "revision": "main"}),
    ],
)
def test_arguments_of_hf_are_read_as_lm_eval_means_them(given, fields):
    assert hf_arguments(given) == fields


def test_what_hf_cannot_be_told_is_refused_together_with_the_reason():
    with pytest.raises(UsageError, match=r"'hf' cannot be told delta, tp_plan here(.|\n)*merge the weights first"):
        hf_arguments({"delta": "x", "tp_plan": "auto"})
    with pytest.raises(UsageError, match="there is no backend 'causl'(.|\n)*did you mean 'causal'"):
        hf_arguments({"backend": "causl"})
    with pytest.raises(UsageError, match="default, causal or seq2seq"):
        hf_arguments({"backend": "zzz"})


def test_our_name_of_an_argument_depends_on_the_model():
    assert own_name("local-completions", "max_gen_toks") == "max_tokens"
    assert own_name("huggingface", "max_gen_toks") == "max_new_tokens"
    assert own_name("scripted", "max_gen_toks") == own_name("vllm", "max_gen_toks") == "max_gen_toks"
    assert (is_foreign("gguf"), is_foreign("textsynth"), is_foreign("hf")) == (True, True, False)
