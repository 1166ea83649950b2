"""Which hosts are whose: keys go there without asking, and nowhere else."""

import pytest

from proctor.engines.http.providers import providers
from proctor.services import is_service, may_have, needs_https, services


def test_every_provider_has_its_own_host():
    remote = {name for name, entry in providers().items() if entry.url.startswith("https://")}
    assert {name for name, service in services().items() if service.hosts} == remote
    for name in remote:
        assert set(providers()[name].key_variables) <= services()[name].keys


@pytest.mark.parametrize(
    "variable, host",
    [
        ("OPENAI_API_KEY", "api.openai.com"),
        ("OPENAI_API_KEY", "eu.api.openai.com"),
        ("ANTHROPIC_API_KEY", "api.anthropic.com"),
        ("WATSONX_API_KEY", "eu-de.ml.cloud.ibm.com"),
        ("AWS_SECRET_ACCESS_KEY", "bedrock-runtime.eu-central-1.amazonaws.com"),
        ("VERTEX_ACCESS_TOKEN", "us-central1-aiplatform.googleapis.com"),
        ("HF_TOKEN", "router.huggingface.co"),
    ],
)
def test_a_key_belongs_to_its_service(variable, host):
    assert is_service(host)
    assert may_have(variable, host)
    assert needs_https(host)


@pytest.mark.parametrize(
    "variable, host",
    [
        ("OPENAI_API_KEY", "api.openai.com.evil.net"),
        ("OPENAI_API_KEY", "api.openai.com:8443"),
        ("OPENAI_API_KEY", "evil-api.openai.com"),
        ("OPENAI_API_KEY", "x.y.api.openai.com"),
        ("OPENAI_API_KEY", "api.openai.com\n"),
        ("OPENAI_API_KEY", "api.anthropic.com"),
        ("OPENAI_API_KEY", "127.0.0.1:8000"),
        ("OPENAI_API_KEY", "openrouter.ai"),
        ("AWS_SECRET_ACCESS_KEY", "bedrock-runtime.bucket.s3.amazonaws.com"),
        ("AWS_SECRET_ACCESS_KEY", "bedrock-runtime.x.evil.net"),
        ("VERTEX_ACCESS_TOKEN", "evil.net-aiplatform.googleapis.com"),
        ("AZURE_API_KEY", "evil.openai.azure.com"),
        ("HOME", "api.openai.com"),
        ("AWS_SECRET_ACCESS_KEY", "api.openai.com"),
    ],
)
def test_a_key_belongs_to_nobody_else(variable, host):
    assert not may_have(variable, host)


@pytest.mark.parametrize(
    "name, address, host, key",
    [
        ("OPENAI_BASE_URL", "http://gpu:8000/v1", "gpu:8000", "OPENAI_API_KEY"),
        ("OPENAI_BASE_URL", "http://gpu/v1", "gpu", "OPENAI_API_KEY"),
        ("VLLM_BASE_URL", "https://vllm.example.org", "vllm.example.org", "OPENAI_API_KEY"),
        ("OLLAMA_HOST", "gpu", "gpu:11434", "OLLAMA_API_KEY"),
        ("OLLAMA_HOST", ":1234", "127.0.0.1:1234", "OLLAMA_API_KEY"),
        ("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com", "mine.openai.azure.com", "AZURE_API_KEY"),
        ("WATSONX_URL", "https://watsonx.example.org/", "watsonx.example.org", "WATSONX_API_KEY"),
    ],
)
def test_a_host_in_a_variable_is_the_users(monkeypatch, name, address, host, key):
    assert not is_service(host)
    monkeypatch.setenv(name, address)
    assert is_service(host)
    assert may_have(key, host)
    assert not may_have("ANTHROPIC_API_KEY", host)


@pytest.mark.parametrize("address", ["http://[::1", "http://host:x", "", "://", "http://"])
def test_a_variable_that_holds_no_address_names_nobody(monkeypatch, address):
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    assert not is_service("")
    assert not is_service("host")
