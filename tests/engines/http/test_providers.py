"""Each provider's request and response shapes, from its public documentation, and how credentials are found."""

import hashlib
import json
import logging
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proctor.engines.http.authorization import AWSSignature
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.providers import connection_to, provider_named, providers
from proctor.engines.http.transport import Reply
from proctor.errors import EngineError, UsageError
from proctor.guests.unitxt.engines.providers import CrossProviderInferenceEngine
from proctor.ir import Decoding, Generate, Prompt, Usage
from proctor.settings import settings

HERE = Path(__file__).parent
FIELDS = json.loads((HERE / "provider_fields.json").read_text())
"""What providers document, recorded from their Python packages by conformance/providers/fields.py; ``sources`` has the
versions."""
UNITXT = json.loads((HERE / "unitxt_models.json").read_text())
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}]
CHAT = Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 plus 4?"}])
TEXT = Prompt("What is 2 plus 4?")
DECODING = Decoding(max_tokens=300, temperature=0.5, top_p=0.9, stop=("END",), seed=7)

OPENAI = {
    "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
    "object": "chat.completion",
    "created": 1741570283,
    "model": "gpt-4o-2024-08-06",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "6", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1117, "completion_tokens": 46, "total_tokens": 1163},
    "service_tier": "default",
}
WATSONX_CHAT = {
    "id": "chatcmpl-2f47da4026950db321698cb733b25e89",
    "model_id": "mistralai/mistral-large",
    "model": "mistralai/mistral-large",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "H6KoCbaZV",
                        "type": "function",
                        "function": {"name": "add", "arguments": '{"a": 2, "b": 4}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "created": 1739311926,
    "usage": {"completion_tokens": 25, "prompt_tokens": 189, "total_tokens": 214},
}
WATSONX_TEXT = {
    "model_id": "google/flan-t5-xxl",
    "created_at": "2023-07-21T16:52:32.190Z",
    "results": [
        {"generated_text": "4,000 km", "generated_token_count": 4, "input_token_count": 12, "stop_reason": "eos_token"}
    ],
}
ANTHROPIC = {
    "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-20250514",
    "content": [{"type": "text", "text": "Hi! My name is Claude."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 2095, "output_tokens": 503, "cache_read_input_tokens": 5},
}
BEDROCK = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Here is an answer."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 30, "outputTokens": 628, "totalTokens": 658},
    "metrics": {"latencyMs": 1275},
}
OLLAMA = {
    "model": "llama3.2",
    "created_at": "2023-12-12T14:13:43.416799Z",
    "message": {"role": "assistant", "content": "Hello! How are you today?"},
    "done": True,
    "done_reason": "stop",
    "total_duration": 5191566416,
    "prompt_eval_count": 26,
    "eval_count": 298,
}
REPLICATE = {
    "id": "gm3qorzdhgbfurvjtvhg6dckhu",
    "model": "meta/meta-llama-3-8b-instruct",
    "input": {"prompt": "x"},
    "output": ["The", " answer", " is 6."],
    "error": None,
    "status": "succeeded",
    "metrics": {"input_token_count": 15, "output_token_count": 5},
}
TOKEN = {"access_token": "eyJhbGciOi", "refresh_token": "x", "token_type": "Bearer", "expires_in": 3600}


class Recorder:
    """A transport that keeps what was posted and answers from a list."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.posts = []

    async def post(self, url, body, headers, timeout_seconds):
        self.posts.append((url, body, dict(headers)))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, Reply) else Reply(200, {}, json.dumps(reply).encode())

    async def close(self):
        pass


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch, tmp_path):
    names = {name for entry in providers().values() for name in (*entry.key_variables, *entry.url_variables)}
    names |= {name for entry in providers().values() for each in entry.variables.values() for name in each.names}
    names |= {name for entry in providers().values() for each in entry.fields.values() for name in each}
    names |= {name for entry in providers().values() for name in entry.token_variables}
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "nowhere"))
    for name in [
        *names,
        "AWS_PROFILE",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "UNITXT_DEFAULT_PROVIDER",
    ]:
        monkeypatch.delenv(name, raising=False)


def ask(provider, model, reply, prompt=CHAT, decoding=DECODING, env=None, **fields):
    """Return the response, and url, body and headers of the last post."""
    engine = ProviderEngine(model=model, provider=provider, max_retries=0, **fields)
    recorder = Recorder(*(reply if isinstance(reply, list) else [reply]))
    engine._make_transport = lambda: recorder
    before = dict(os.environ)
    os.environ.update(env or {})
    try:
        [(_, response)] = list(engine.generate([Generate(prompt, decoding)]))
    finally:
        os.environ.clear()
        os.environ.update(before)
    url, body, headers = recorder.posts[-1]
    return response, url, json.loads(body), headers


def without(data, path):
    """Return the data with one field, named by a dotted path, removed."""
    head, _, rest = path.partition(".")
    if isinstance(data, list):
        return [without(data[0], path), *data[1:]]
    if not rest:
        return {key: value for key, value in data.items() if key != head}
    return {**data, head: without(data[head], rest)}


def test_openai():
    response, url, body, headers = ask("open-ai", "gpt-4o", OPENAI, env={"OPENAI_API_KEY": "sk"})
    assert url == "https://api.openai.com/v1/chat/completions"
    assert headers["Authorization"] == "Bearer sk"
    assert body == {
        "model": "gpt-4o",
        "messages": list(CHAT.payload),
        "max_tokens": 300,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END"],
        "seed": 7,
    }
    assert (response.text, response.finish_reasons, response.usage.prompt_tokens, response.usage.completion_tokens) == (
        "6",
        ("stop",),
        1117,
        46,
    )


def test_openai_reasoning_models_take_other_fields():
    _, _, body, _ = ask("openai", "o1-mini", OPENAI, api_key="sk")
    assert body["max_completion_tokens"] == 300
    assert not {"max_tokens", "temperature", "top_p", "stop"} & body.keys()


@pytest.mark.parametrize("version", ["OPENAI_API_VERSION", "AZURE_API_VERSION", "AZURE_OPENAI_API_VERSION"])
def test_azure(version):
    env = {
        "AZURE_OPENAI_API_KEY": "k",
        "AZURE_OPENAI_HOST": "https://me.openai.azure.com/",
        version: "2024-06-01",
    }
    response, url, _, headers = ask("azure", "gpt-4o", OPENAI, env=env)
    assert url == "https://me.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-06-01"
    assert headers["api-key"] == "k"
    assert "Authorization" not in headers
    assert response.text == "6"


def test_watsonx_exchanges_its_key_once_and_names_the_project():
    env = {"WATSONX_API_KEY": "k", "WATSONX_URL": "https://eu-de.ml.cloud.ibm.com", "WATSONX_PROJECT_ID": "p"}
    decoding = Decoding(max_tokens=300, extra={"tools": TOOLS})
    response, url, body, headers = ask("watsonx", "mistral-large-instruct", [TOKEN, WATSONX_CHAT], CHAT, decoding, env)
    assert url == "https://eu-de.ml.cloud.ibm.com/ml/v1/text/chat?version=2024-10-10"
    assert headers["Authorization"] == "Bearer eyJhbGciOi"
    assert body["model_id"].startswith("mistralai/mistral-large")
    assert body["project_id"] == "p"
    assert "model" not in body
    assert body["tools"] == TOOLS
    assert response.text == '{"name": "add", "arguments": {"a": 2, "b": 4}}'
    assert response.finish_reasons == ("tool_calls",)


def test_a_token_is_exchanged_once_for_many_requests():
    engine = ProviderEngine(
        model="m", provider="watsonx", credentials={"api_key": "k", "space_id": "s"}, max_concurrency=1
    )
    recorder = Recorder(TOKEN, WATSONX_CHAT)
    engine._make_transport = lambda: recorder
    assert len(list(engine.generate([Generate(TEXT)] * 5))) == 5
    addresses = [url for url, _, _ in recorder.posts]
    assert addresses[0] == "https://iam.cloud.ibm.com/identity/token"
    assert b"apikey=k" in recorder.posts[0][1]
    assert sum("identity" in url for url in addresses) == 1
    assert json.loads(recorder.posts[-1][1])["space_id"] == "s"


def test_a_key_that_ibm_refuses():
    refused = Reply(400, {}, b'{"errorCode":"BXNIM0415E","errorMessage":"Provided API key could not be found."}')
    credentials = {"api_key": "k", "project_id": "p"}
    engine = ProviderEngine(model="m", provider="watsonx", credentials=credentials, max_concurrency=1)
    recorder = Recorder(refused)
    engine._make_transport = lambda: recorder
    answers = dict(engine.generate([Generate(TEXT)] * 50))
    assert {each.failure.kind for each in answers.values()} == {"authentication"}
    assert len(recorder.posts) == 1


def test_watsonx_text_generation():
    env = {"WML_APIKEY": "k", "WML_URL": "https://us-south.ml.cloud.ibm.com", "WML_SPACE_ID": "s"}
    response, url, body, _ = ask("watsonx-text", "flan", [TOKEN, WATSONX_TEXT], TEXT, DECODING, env)
    assert url == "https://us-south.ml.cloud.ibm.com/ml/v1/text/generation?version=2024-03-14"
    assert body == {
        "model_id": "flan",
        "input": "What is 2 plus 4?",
        "space_id": "s",
        "parameters": {
            "decoding_method": "sample",
            "temperature": 0.5,
            "max_new_tokens": 300,
            "random_seed": 7,
            "stop_sequences": ["END"],
            "top_p": 0.9,
        },
    }
    assert (response.text, response.finish_reasons, response.usage.completion_tokens) == ("4,000 km", ("stop",), 4)
    chat, _, _, _ = ask("bam", "m", WATSONX_TEXT, TEXT, DECODING, {"GENAI_KEY": "k"})
    assert chat.text == "4,000 km"


def test_anthropic():
    env = {"ANTHROPIC_API_KEY": "k"}
    response, url, body, headers = ask("anthropic", "claude-sonnet-4", ANTHROPIC, env=env)
    assert url == "https://api.anthropic.com/v1/messages"
    assert headers["x-api-key"] == "k"
    assert headers["anthropic-version"] == "2023-06-01"
    assert body == {
        "model": "claude-sonnet-4-20250514",
        "max_tokens": 300,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop_sequences": ["END"],
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "What is 2 plus 4?"}],
    }
    assert response.text == "Hi! My name is Claude."
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (2100, 503)
    assert response.finish_reasons == ("stop",)


def test_anthropic_needs_a_limit_and_refuses_blank_stops():
    reply = {**ANTHROPIC, "content": [{"type": "text", "text": "one\ntwo"}]}
    response, _, body, _ = ask("anthropic", "c", reply, TEXT, Decoding(stop=("\n", "END")), api_key="k")
    assert body["max_tokens"] > 0
    assert body["stop_sequences"] == ["END"]
    assert response.text == "one"


def test_anthropic_tools_and_pictures():
    reply = {
        **ANTHROPIC,
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 2}}],
    }
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    prompt = Prompt([{"role": "user", "content": [{"type": "text", "text": "?"}, picture]}])
    response, _, body, _ = ask("anthropic", "c", reply, prompt, Decoding(extra={"tools": TOOLS}), api_key="k")
    assert body["tools"] == [{"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}]
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert body["messages"][0]["content"][1] == {"type": "image", "source": source}
    assert response.text == '{"name": "add", "arguments": {"a":2}}'


def test_bedrock():
    env = {"AWS_BEARER_TOKEN_BEDROCK": "k", "AWS_REGION": "eu-west-1"}
    response, url, body, headers = ask("aws", "llama-3-8b-instruct", BEDROCK, env=env)
    assert url == "https://bedrock-runtime.eu-west-1.amazonaws.com/model/meta.llama3-8b-instruct-v1%3A0/converse"
    assert headers["Authorization"] == "Bearer k"
    assert body == {
        "messages": [{"role": "user", "content": [{"text": "What is 2 plus 4?"}]}],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"temperature": 0.5, "maxTokens": 300, "topP": 0.9, "stopSequences": ["END"]},
    }
    assert (response.text, response.usage.prompt_tokens) == ("Here is an answer.", 30)


def test_bedrock_signs_where_there_is_no_bearer_token():
    env = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "t"}
    _, _, _, headers = ask("aws", "m", BEDROCK, env=env)
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert headers["x-amz-security-token"] == "t"
    assert "secret" not in str(headers)


def test_a_signature_is_the_one_that_amazon_computes():
    # The request, key and signature of the "post-vanilla" case of Amazon's Signature Version 4 test suite.
    signature = AWSSignature(
        "AKIDEXAMPLE",
        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        None,
        "us-east-1",
        "service",
        lambda: datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )
    headers = signature.headers("https://example.amazonaws.com/", b"")
    assert headers["Authorization"].endswith(
        "SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    )


def test_a_signature_of_s3_is_the_one_that_amazon_computes():
    # The example "GET Bucket (List Objects)" of Amazon's reference of S3, its query in another order.
    def now():
        return datetime(2013, 5, 24, tzinfo=UTC)

    key = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None)
    signature = AWSSignature(*key, "us-east-1", now=now)
    headers = signature.headers("https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2", b"", "GET", "s3")
    assert headers["Authorization"].endswith(
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )
    assert headers["x-amz-content-sha256"] == hashlib.sha256(b"").hexdigest()


def test_ollama():
    response, url, body, headers = ask("ollama", "llama-3-2-1b-instruct", OLLAMA, env={"OLLAMA_HOST": "box:11434"})
    assert url == "http://box:11434/api/chat"
    assert "Authorization" not in headers
    assert body == {
        "model": "llama3.2:1b",
        "messages": list(CHAT.payload),
        "stream": False,
        "truncate": False,
        "shift": False,
        "options": {"temperature": 0.5, "num_predict": 300, "top_p": 0.9, "seed": 7, "stop": ["END"]},
    }
    assert (response.text, response.usage.completion_tokens) == ("Hello! How are you today?", 298)


def test_replicate():
    response, url, body, headers = ask("replicate", "llama-3-8b-instruct", REPLICATE, env={"REPLICATE_API_TOKEN": "k"})
    assert url == "https://api.replicate.com/v1/models/meta/meta-llama-3-8b-instruct/predictions"
    assert headers["Prefer"] == "wait"
    assert body["input"]["prompt"] == "What is 2 plus 4?"
    assert body["input"]["system_prompt"] == "Be brief."
    assert (response.text, response.usage.completion_tokens) == ("The answer is 6.", 5)
    failed, _, _, _ = ask("replicate", "m", {**REPLICATE, "status": "failed", "error": "boom"}, api_key="k")
    assert "boom" in failed.failure.message
    waiting, _, _, _ = ask("replicate", "m", {**REPLICATE, "status": "starting", "output": None}, api_key="k")
    assert (waiting.failure.kind, waiting.failure.attempts, waiting.failure.retryable) == ("timeout", 1, True)
    assert "--retry-failed" in waiting.failure.message


def test_rits_has_an_address_for_each_model():
    env = {"RITS_API_KEY": "k"}
    _, url, body, headers = ask("rits", "llama-3-1-8b-instruct", OPENAI, env=env)
    assert url.endswith(".com/llama-3-1-8b-instruct/v1/chat/completions")
    assert body["model"] == "meta-llama/Llama-3.1-8B-Instruct"
    assert headers["RITS_API_KEY"] == "k"
    _, url, body, _ = ask("rits", "byom-x/ibm/granite", OPENAI, env=env)
    assert url.endswith(".com/byom-x/v1/chat/completions")
    assert body["model"] == "ibm/granite"


@pytest.mark.parametrize(
    "provider, address",
    [
        ("together-ai", "https://api.together.ai/v1/chat/completions"),
        ("groq", "https://api.groq.com/openai/v1/chat/completions"),
        ("mistral", "https://api.mistral.ai/v1/chat/completions"),
        ("deepseek", "https://api.deepseek.com/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
        ("google", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"),
        ("xai", "https://api.x.ai/v1/chat/completions"),
        ("dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions"),
        ("perplexity", "https://api.perplexity.ai/chat/completions"),
        ("hf-inference", "https://router.huggingface.co/v1/chat/completions"),
        ("vllm-server", "http://127.0.0.1:8000/v1/chat/completions"),
        ("lm-studio", "http://127.0.0.1:1234/v1/chat/completions"),
        ("sglang", "http://127.0.0.1:30000/v1/chat/completions"),
    ],
)
def test_others_speak_the_protocol_of_openai(provider, address):
    response, url, body, _ = ask(provider, "m", OPENAI, api_key="k")
    assert url == address
    assert response.text == "6"
    assert ("random_seed" in body) == (provider == "mistral")


def test_a_key_of_google_is_a_bearer_token_where_openai_is_spoken():
    _, _, _, headers = ask("gemini", "gemini-2.5-pro", OPENAI, api_key="k")
    assert headers["Authorization"] == "Bearer k"
    assert "x-goog-api-key" not in headers


def test_a_custom_provider():
    _, url, _, headers = ask("custom", "m", OPENAI, base_url="http://h:1", api_key="k")
    assert url == "http://h:1/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k"
    with pytest.raises(EngineError, match="needs an address"):
        ask("custom", "m", OPENAI)


@pytest.mark.parametrize(
    "provider, reply, required, optional",
    [
        ("open-ai", OPENAI, ["choices", "choices.message"], ["usage", "id", "choices.index", "choices.finish_reason"]),
        ("anthropic", ANTHROPIC, ["content", "stop_reason", "content.type"], ["usage", "id"]),
        (
            "aws",
            BEDROCK,
            ["output", "output.message", "output.message.content", "stopReason"],
            ["usage", "metrics"],
        ),
        ("ollama", OLLAMA, ["message"], ["done_reason", "eval_count", "prompt_eval_count"]),
        ("bam", WATSONX_TEXT, ["results", "results.generated_text"], ["model_id", "results.stop_reason"]),
        ("replicate", REPLICATE, ["status", "output"], ["metrics", "error"]),
    ],
)
def test_a_reply_without_a_field_is_noticed(provider, reply, required, optional):
    prompt = TEXT
    for path in required:
        response, _, _, _ = ask(provider, "m", without(reply, path), prompt, api_key="k")
        assert response.failure is not None, path
        assert response.failure.kind == "protocol"
    for path in optional:
        response, _, _, _ = ask(provider, "m", without(reply, path), prompt, api_key="k")
        assert response.failure is None, path


def test_several_answers_where_a_provider_gives_one_at_a_time():
    response, _, body, _ = ask("anthropic", "m", ANTHROPIC, TEXT, Decoding(count=3, seed=1), api_key="k")
    assert len(response.texts) == 3
    assert response.usage.completion_tokens == 3 * 503
    assert "n" not in body


# -- what providers document --------------------------------------------------------------------------------------


def documented(body, name, more=()):
    """Check that a body has nothing but documented fields, and all that are required."""
    assert body.keys() <= {*FIELDS[name]["all"], *more}, body.keys() - set(FIELDS[name]["all"])
    assert set(FIELDS[name].get("required") or ()) <= body.keys()


@pytest.mark.parametrize(
    "provider, name",
    [("open-ai", "openai chat"), ("together-ai", "together-ai"), ("groq", "groq"), ("mistral", "mistral")],
)
def test_chat_sends_documented_fields_only(provider, name):
    decoding = Decoding(
        max_tokens=5, temperature=0.5, top_p=0.9, stop=("END",), seed=7, count=2 if name != "groq" else 1
    )
    reply = {**OPENAI, "choices": [{**OPENAI["choices"][0], "index": index} for index in range(decoding.count)]}
    response, _, body, _ = ask(provider, "m", reply, CHAT, decoding, api_key="k", logprobs=True, top_logprobs=2)
    assert response.failure is None
    documented(body, name)
    assert ("n" in body) == (name != "groq")


@pytest.mark.parametrize("provider", ["open-ai", "together-ai", "groq", "mistral"])
def test_streams_ask_for_usage_where_that_is_a_field(provider):
    piece = {"choices": [{"index": 0, "delta": {"content": "6"}, "finish_reason": "stop"}], "usage": OPENAI["usage"]}
    streamed = Reply(200, {}, f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode())
    response, _, body, _ = ask(provider, "m", streamed, CHAT, Decoding(), api_key="k", stream=True)
    assert body["stream"] is True
    assert ("stream_options" in body) == (provider == "open-ai")
    documented(body, "openai chat" if provider == "open-ai" else provider, more=("stream",))
    assert response.usage.completion_tokens == 46


def test_together_counts_log_probabilities_in_chat_too():
    log_probabilities = {"tokens": ["6"], "token_logprobs": [-0.1], "token_ids": [1.0]}
    reply = {**OPENAI, "choices": [{**OPENAI["choices"][0], "logprobs": log_probabilities}]}
    response, _, body, _ = ask("together-ai", "m", reply, api_key="k", logprobs=True, top_logprobs=2)
    assert body["logprobs"] == 2
    assert [(each.token, each.log_probability) for each in response.tokens[0]] == [("6", -0.1)]


def test_completions_send_documented_fields_only():
    reply = {
        "choices": [{"text": "6", "index": 0, "finish_reason": "stop", "logprobs": None}],
        "usage": OPENAI["usage"],
    }
    fields = {"api_key": "k", "endpoint": "completions", "logprobs": True, "top_logprobs": 2}
    response, url, body, _ = ask("open-ai", "m", reply, TEXT, DECODING, **fields)
    assert url.endswith("/v1/completions")
    assert response.text == "6"
    documented(body, "openai completions")
    assert body["logprobs"] == 2


def test_the_other_protocols_send_documented_fields_only():
    decoding = Decoding(max_tokens=5, temperature=0.5, top_p=0.9, top_k=3, stop=("END",), extra={"tools": TOOLS})
    _, _, body, _ = ask("anthropic", "m", ANTHROPIC, CHAT, decoding, api_key="k")
    documented(body, "anthropic")
    _, _, body, _ = ask("ollama", "m", OLLAMA, CHAT, decoding)
    documented(body, "ollama", more=("truncate", "shift"))  # ollama/api/types.go has these
    documented(body["options"], "ollama options")
    _, _, body, _ = ask("aws", "m", BEDROCK, CHAT, decoding, api_key="k")
    aws = FIELDS["aws"]
    assert body.keys() <= set(aws["ConverseRequest"]["all"])
    assert body["inferenceConfig"].keys() <= set(aws["InferenceConfiguration"]["all"])
    assert body["messages"][0].keys() == set(aws["Message"]["required"])
    assert body["messages"][0]["content"][0].keys() <= set(aws["ContentBlock"]["all"])
    assert body["toolConfig"]["tools"][0]["toolSpec"].keys() <= set(aws["ToolSpecification"]["all"])
    assert body["additionalModelRequestFields"] == {"top_k": 3}


def test_watsonx_sends_documented_fields_only():
    names = {"model_id", "project_id", "messages", "tools"}
    decoding = Decoding(max_tokens=5, temperature=0.5, top_p=0.9, top_k=3, stop=("END",), seed=7)
    env = {"WATSONX_TOKEN": "t", "WATSONX_PROJECT_ID": "p"}
    _, _, body, headers = ask("watsonx", "m", WATSONX_CHAT, CHAT, decoding, env)
    documented(body, "watsonx", more=names)
    assert headers["Authorization"] == "Bearer t"  # a token needs no exchange
    _, _, body, _ = ask("watsonx-text", "m", WATSONX_TEXT, TEXT, decoding, env)
    documented(body["parameters"], "watsonx-text")


@pytest.mark.parametrize(
    "reply, name",
    [(OPENAI, "openai reply"), (OPENAI["choices"][0], "openai choice"), (OPENAI["usage"], "openai usage"),
     (ANTHROPIC, "anthropic reply"), (ANTHROPIC["usage"], "anthropic usage"), (OLLAMA, "ollama reply")],
)  # fmt: skip
def test_recorded_replies_are_complete(reply, name):
    assert set(FIELDS[name]["required"]) <= reply.keys()
    assert reply.keys() <= set(FIELDS[name]["all"])


def test_the_recorded_reply_of_bedrock_is_complete():
    aws = FIELDS["aws"]
    assert set(aws["ConverseResponse"]["required"]) <= BEDROCK.keys() <= set(aws["ConverseResponse"]["all"])
    assert set(aws["TokenUsage"]["required"]) <= BEDROCK["usage"].keys()
    assert BEDROCK["output"]["message"].keys() == set(aws["Message"]["required"])


@pytest.mark.parametrize("reason", FIELDS["aws"]["StopReason"])
def test_every_way_in_which_bedrock_stops_is_an_answer_a_refusal_or_unfinished(reason):
    response, _, _, _ = ask("aws", "m", {**BEDROCK, "stopReason": reason}, api_key="k")
    if reason in ("content_filtered", "guardrail_intervened"):
        assert response.failure.kind == "content_filter"
        return
    if "malformed" in reason:
        assert response.failure.kind == "unfinished"
        return
    assert response.text == "Here is an answer."
    if "max_tokens" in reason or "context_window" in reason:
        assert response.finish_reasons == ("length",)


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "model_context_window_exceeded"])
def test_anthropic_may_say_nothing(reason):
    response, _, _, _ = ask("anthropic", "m", {**ANTHROPIC, "content": [], "stop_reason": reason}, api_key="k")
    assert response.failure is None
    assert response.text == ""


def test_cached_and_reasoning_tokens_are_counted_once():
    # OpenAI: parts of the totals. Anthropic, Bedrock: beside input_tokens.
    details = {"prompt_tokens_details": {"cached_tokens": 1024}, "completion_tokens_details": {"reasoning_tokens": 40}}
    response, _, _, _ = ask("open-ai", "m", {**OPENAI, "usage": {**OPENAI["usage"], **details}}, api_key="k")
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (1117, 46)
    usage = {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2}
    response, _, _, _ = ask("anthropic", "m", {**ANTHROPIC, "usage": usage}, api_key="k")
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (17, 3)
    usage = {
        "inputTokens": 10,
        "outputTokens": 3,
        "totalTokens": 20,
        "cacheReadInputTokens": 5,
        "cacheWriteInputTokens": 2,
    }
    response, _, _, _ = ask("aws", "m", {**BEDROCK, "usage": usage}, api_key="k")
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (17, 3)


@pytest.mark.parametrize(
    "provider, usage, counted",
    [
        ("open-ai", {"prompt_tokens": 2000, "completion_tokens": 10,
                     "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 1990}},
         Usage(2000, 10, 0, 5, 1990)),
        ("open-ai", {"prompt_tokens": 90, "completion_tokens": 60, "prompt_tokens_details": {"audio_tokens": 70},
                     "completion_tokens_details": {"audio_tokens": 50}},
         Usage(90, 60, audio_prompt_tokens=70, audio_completion_tokens=50)),
        ("anthropic", {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 5,
                       "cache_creation_input_tokens": 9,
                       "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 7}},
         Usage(24, 3, 0, 5, 2, 7)),
        ("anthropic", {"input_tokens": 10, "output_tokens": 3, "cache_creation_input_tokens": 9},
         Usage(19, 3, 0, 0, 9)),
        ("aws", {"inputTokens": 10, "outputTokens": 3, "totalTokens": 30, "cacheReadInputTokens": 5,
                 "cacheWriteInputTokens": 9,
                 "cacheDetails": [{"ttl": "5m", "inputTokens": 2}, {"ttl": "1h", "inputTokens": 7}]},
         Usage(24, 3, 0, 5, 2, 7)),
    ],
)  # fmt: skip
def test_tokens_that_are_put_into_a_cache_are_counted_by_how_long_they_stay(provider, usage, counted):
    reply = {"open-ai": OPENAI, "anthropic": ANTHROPIC, "aws": BEDROCK}[provider]
    response, _, _, _ = ask(provider, "m", {**reply, "usage": usage}, api_key="k")
    assert response.usage == counted


def test_ollama_gives_log_probabilities():
    tokens = [{"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": [{"token": "Ho", "logprob": -1.5}]}]
    fields = {"logprobs": True, "top_logprobs": 1}
    response, _, body, _ = ask("ollama", "m", {**OLLAMA, "logprobs": tokens}, **fields)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 1)
    assert response.tokens[0][0].top == (("Ho", -1.5),)
    assert response.tokens[0][0].token == "Hi"


# -- what a model does not take -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "provider, model",
    [("open-ai", "o3"), ("open-ai", "gpt-5-mini"), ("open-ai", "gpt-6-sol"), ("azure", "o4-mini"),
     ("anthropic", "claude-opus-4-8"), ("anthropic", "claude-sonnet-5"), ("anthropic", "claude-mythos-preview"),
     ("aws", "us.anthropic.claude-opus-5-v1:0")],
)  # fmt: skip
def test_models_that_take_no_temperature(provider, model):
    replies = {"anthropic": ANTHROPIC, "aws": BEDROCK}
    fields = {"api_key": "k", "credentials": {"host": "https://h"}}
    _, _, body, _ = ask(provider, model, replies.get(provider, OPENAI), **fields)
    sent = body.get("inferenceConfig", body)
    assert not {"temperature", "top_p", "topP"} & sent.keys()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-nano", "gpt-5-chat-latest", "chatgpt-4o-latest"])
def test_models_that_take_a_temperature(model):
    _, _, body, _ = ask("open-ai", model, OPENAI, api_key="k")
    assert body["temperature"] == 0.5


def test_stop_strings_that_are_not_sent_end_the_answer_nevertheless():
    reply = {**OPENAI, "choices": [{**OPENAI["choices"][0], "message": {"role": "assistant", "content": "6END 7"}}]}
    response, _, body, _ = ask("open-ai", "o3", reply, api_key="k")
    assert "stop" not in body
    assert response.text == "6"
    decoding = Decoding(stop=("a", "b", "c", "d", "END"))
    response, _, body, _ = ask("open-ai", "gpt-4o", reply, CHAT, decoding, api_key="k")
    assert body["stop"] == ["a", "b", "c", "d"]  # OpenAI takes four
    assert response.text == "6"


@pytest.mark.parametrize(
    "provider, reply, message, gone",
    [
        ("aws", BEDROCK, "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
         "stopSequences"),
        ("aws", BEDROCK, "This model doesn't support the temperature field. Remove temperature and try again.",
         "temperature"),
        ("anthropic", ANTHROPIC, "`temperature` is deprecated for this model.", "temperature"),
        ("anthropic", ANTHROPIC, ("`temperature` and `top_p` cannot both be specified for this model. Please use only "
         "one."), "top_p"),
        ("custom", OPENAI, ("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
         "value is supported."), "temperature"),
        ("custom", OPENAI, ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead."), "max_tokens"),
        ("custom", OPENAI, "Unsupported parameter: 'stop' is not supported with this model.", "stop"),
    ],
)  # fmt: skip
def test_what_a_model_does_not_take_is_learnt(provider, reply, message, gone, caplog):
    refusal = Reply(400, {}, json.dumps({"error": {"message": message}}).encode())
    engine = ProviderEngine(
        model="m", provider=provider, max_retries=0, api_key="k", max_concurrency=1, base_url="https://h"
    )
    recorder = Recorder(refusal, reply, reply, reply)
    engine._make_transport = lambda: recorder
    logging.getLogger("proctor").propagate = True
    with caplog.at_level(logging.WARNING, logger="proctor"):
        answers = list(engine.generate([Generate(CHAT, DECODING)] * 3))
    logging.getLogger("proctor").propagate = False
    assert all(response.failure is None for _, response in answers)
    bodies = [json.loads(body) for _, body, _ in recorder.posts]
    sent = [body.get("inferenceConfig", body) for body in bodies]
    assert len(sent) == 4
    assert [gone in body for body in sent] == [True, False, False, False]
    assert ("asked without" in caplog.text) == (gone in ("temperature", "top_p"))
    if gone == "max_tokens":
        assert sent[1]["max_completion_tokens"] == 300


def test_a_limit_on_stop_strings_is_learnt():
    message = "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5."
    refusal = Reply(400, {}, json.dumps({"error": {"message": message}}).encode())
    recorded = [refusal, OPENAI]
    response, _, body, _ = ask(
        "custom", "m", recorded, CHAT, Decoding(stop=tuple("abcde")), api_key="k", base_url="https://h"
    )
    assert body["stop"] == list("abcd")
    assert response.text == "6"


def test_other_refusals_are_not_learnt():
    refusal = Reply(400, {}, json.dumps({"error": {"message": "Unsupported parameter: 'foo'"}}).encode())
    response, _, _, _ = ask("custom", "m", refusal, api_key="k", base_url="https://h")
    assert response.failure.kind == "refused"


def test_a_learnt_field_that_is_still_refused_is_a_failure():
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    refusal = Reply(400, {}, json.dumps({"error": {"message": message}}).encode())
    response, _, _, _ = ask("custom", "m", refusal, api_key="k", base_url="https://h")
    assert "temperature" in response.failure.message


def test_messages_are_laid_out_as_providers_take_them():
    messages = [
        {"role": "system", "content": "s"}, {"role": "user", "content": "one"}, {"role": "user", "content": "two"},
        {"role": "assistant", "content": "Answer: "},
    ]  # fmt: skip
    _, _, body, _ = ask("aws", "m", BEDROCK, Prompt(messages), api_key="k")
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    assert body["messages"][0]["content"] == [{"text": "one"}, {"text": "two"}]
    _, _, body, _ = ask("anthropic", "m", ANTHROPIC, Prompt(messages), api_key="k")
    assert body["messages"][-1] == {"role": "assistant", "content": "Answer:"}  # the service refuses trailing blanks


def test_calls_of_tools_are_laid_out_as_providers_take_them():
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 4}'}}
    messages = [
        {"role": "user", "content": "2+4?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "6"},
        {"role": "user", "content": "So?"},
    ]
    decoding = Decoding(extra={"tools": TOOLS})
    _, _, body, _ = ask("anthropic", "m", ANTHROPIC, Prompt(messages), decoding, api_key="k")
    assert body["messages"][1:3] == [
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 2, "b": 4}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "6"}]},
    ]  # fmt: skip
    _, _, body, _ = ask("aws", "m", BEDROCK, Prompt(messages), decoding, api_key="k")
    assert body["messages"][1:] == [
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 2, "b": 4}}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "6"}]}}, {"text": "So?"}]},
    ]  # fmt: skip
    assert body["messages"][1]["content"][0]["toolUse"].keys() == set(FIELDS["aws"]["ToolUseBlock"]["required"])
    _, _, body, _ = ask("ollama", "m", OLLAMA, Prompt(messages), decoding)
    assert body["messages"][1]["tool_calls"] == [{"function": {"name": "add", "arguments": {"a": 2, "b": 4}}}]
    _, _, body, _ = ask("open-ai", "m", OPENAI, Prompt(messages), decoding, api_key="k")
    assert body["messages"] == messages


# -- the table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(providers()))
def test_every_entry_is_complete(name):
    entry = providers()[name]
    assert entry.description
    assert entry.source or name in ("custom", "hf-local")
    assert entry.policy
    if entry.auth not in ("none", "optional") and entry.engine is None:
        assert entry.key_variables
    placeholders = {"model", "endpoint", *entry.variables}
    for text in (entry.url, entry.query):
        assert set(re.findall(r"\{(\w+)\}", text)) <= placeholders


@pytest.mark.parametrize("provider", [name for name in UNITXT if name != "source"])
def test_every_model_of_unitxt_is_known_by_both_names(provider):
    entry = provider_named(provider)[1]
    for shared, native in UNITXT[provider].items():
        found = entry.model_name(shared)
        assert shared in entry.models
        # Gemini is Google's in the OpenAI-compatible endpoint of Vertex AI; litellm leaves that out.
        assert entry.model_name(native).removeprefix("google/") == found.removeprefix("google/")


@pytest.mark.parametrize(
    "provider, model, name",
    [
        ("aws", "bedrock/converse/us.meta.llama3-1-8b-instruct-v1:0", "us.meta.llama3-1-8b-instruct-v1:0"),
        ("together-ai", "together_ai/org/model", "org/model"),
        ("open-ai", "openai/gpt-4o", "gpt-4o"),
        ("openrouter", "openrouter/auto", "openrouter/auto"),
        ("groq", "groq/compound", "groq/compound"),
        ("watsonx", "watsonx/ibm/granite-4", "ibm/granite-4"),
    ],
)
def test_prefixes_of_other_programs_are_left_out(provider, model, name):
    assert provider_named(provider)[1].model_name(model) == name


@pytest.mark.parametrize(
    "address, url",
    [
        ("1.2.3.4", "http://1.2.3.4:11434"),
        ("1.2.3.4:56789", "http://1.2.3.4:56789"),
        (":56789", "http://127.0.0.1:56789"),
        ("http://1.2.3.4:80", "http://1.2.3.4:80"),
        ("https://example.com:56789/path/", "https://example.com:56789/path"),
        ("example.com/path", "http://example.com:11434/path"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
    ],
)
def test_addresses_of_ollama(address, url):
    # ollama 0.6.3, _client.py, _parse_host; where the server listens everywhere, this machine is asked.
    assert connection_to("ollama", providers()["ollama"], "m", {"url": address}).url == url


def test_credentials_of_amazon_come_from_the_shared_file_too(tmp_path, monkeypatch):
    path = tmp_path / "credentials"
    path.write_text("[default]\naws_access_key_id = A\naws_secret_access_key = B\n"
                    "[work]\naws_access_key_id = C\naws_secret_access_key = D%\naws_session_token = E\n")  # fmt: skip
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    _, _, _, headers = ask("aws", "m", BEDROCK)
    assert "Credential=A/" in headers["Authorization"]
    monkeypatch.setenv("AWS_PROFILE", "work")
    _, _, _, headers = ask("aws", "m", BEDROCK)
    assert "Credential=C/" in headers["Authorization"]
    assert headers["x-amz-security-token"] == "E"
    path.write_text("no section\n")
    with pytest.raises(EngineError, match="credentials file cannot be read"):
        ask("aws", "m", BEDROCK)


def test_a_signature_for_bedrock_is_the_one_of_botocore():
    # Computed by botocore 1.44.5 (SigV4Auth) for this request and time; the path is encoded twice.
    signature = AWSSignature(
        "AKID", "SECRET", "TOKEN/+==", "us-east-1", now=lambda: datetime(2026, 11, 22, 6, 0, tzinfo=UTC)
    )
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/meta.llama3-8b-instruct-v1%3A0/converse"
    assert signature.headers(url, b'{"a":1}')["Authorization"].endswith(
        "SignedHeaders=host;x-amz-date;x-amz-security-token, "
        "Signature=3ad45b18bceef4cb20dd02687be5c13cbf1b6a5c6fd70e43d92c142680cc14c1"
    )


def test_names_of_providers():
    assert provider_named("openai")[0] == "open-ai"
    with pytest.raises(UsageError, match="did you mean 'watsonx'"):
        provider_named("watsonxx")
    with pytest.raises(UsageError, match="PROCTOR_DEFAULT_PROVIDER"):
        provider_named(None)


def test_the_default_provider(monkeypatch):
    engine = CrossProviderInferenceEngine(model="llama-3-3-70b-instruct")
    with settings.context(default_provider="together-ai"):
        assert engine.served_model == "meta-llama/Llama-3.3-70B-Instruct-Turbo"
        first = engine.identity
    monkeypatch.setenv("PROCTOR_DEFAULT_PROVIDER", "watsonx")
    assert engine.served_model == "meta-llama/llama-3-3-70b-instruct"
    assert engine.identity != first


@pytest.mark.parametrize(
    "provider, variable",
    [
        ("open-ai", "OPENAI_API_KEY"),
        ("watsonx", "WATSONX_API_KEY"),
        ("aws", "AWS_ACCESS_KEY_ID"),
        ("azure", "AZURE_API_BASE"),
        ("vertex-ai", "VERTEXAI_PROJECT"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_sent(provider, variable):
    engine = CrossProviderInferenceEngine(model="m", provider=provider)
    with pytest.raises(EngineError, match=variable):
        engine([{"source": "x"}])


def test_credentials_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("WML_APIKEY", "env")
    monkeypatch.setenv("WML_PROJECT_ID", "env")
    given = {"api_key": "k", "project_id": "p", "url": "https://x"}
    connection = connection_to("watsonx", providers()["watsonx"], "m", given)
    assert (connection.url, connection.fields) == ("https://x", {"project_id": "p"})


def test_credentials_are_never_written_down():
    engine = CrossProviderInferenceEngine(
        model="m", provider="aws", credentials={"api_key": "hidden"}, api_key="hidden2"
    )
    assert "hidden" not in engine.to_json() + repr(engine) + str(engine.identity_values())
    assert "credentials" not in repr(engine)


def test_a_provider_is_priced_by_its_own_name_of_the_model_and_billed_where_it_is_reached_as_services_are():
    engine = CrossProviderInferenceEngine(model="llama-3-3-70b-instruct", provider="watsonx")
    assert engine.price_name == "watsonx/meta-llama/llama-3-3-70b-instruct"
    assert engine.is_billed
    assert not CrossProviderInferenceEngine(model="m", provider="ollama").is_billed


def test_arguments_for_one_provider():
    arguments = {"watsonx": {"max_concurrency": 4, "max_tokens": 9}}
    engine = CrossProviderInferenceEngine(model="m", provider="watsonx", provider_specific_args=arguments)
    assert engine._adapted().max_concurrency == 4
    other = CrossProviderInferenceEngine(model="m", provider="open-ai", provider_specific_args=arguments)
    assert other._adapted() is other
    assert engine.identity == CrossProviderInferenceEngine(model="m", provider="watsonx", max_tokens=9).identity
