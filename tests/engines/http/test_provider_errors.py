"""How servers say that a prompt is too long: each wording as its source or a public report of it has it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.http.provider_errors import error_message, excess_text, hidden_error
from proctor.engines.http.retrying_client import failure_of
from proctor.engines.http.transport import Reply


def reply(status: int, body: Any) -> Reply:
    return Reply(status, {}, body if isinstance(body, bytes) else msgspec.json.encode(body))


WORDINGS = [
    # OpenAI, chat completions (error code context_length_exceeded)
    (("This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens. Please "
     "reduce the length of the messages."), "904 tokens"),
    (("This model's maximum context length is 128000 tokens. However, you requested 130016 tokens (130000 in the "
     "messages, 16 in the completion). Please reduce the length of the messages or completion."), "2016 tokens"),
    # vLLM 0.33 (vllm/renderers/params.py), chat and completions
    (("This model's maximum context length is 8192 tokens. However, you requested 512 output tokens and your prompt "
     "contains at least 7681 input tokens, for a total of at least 8193 tokens. Please reduce the length of the input "
     "prompt or the number of requested output tokens. (parameter=input_tokens, value=7681)"), "at least 1 token"),
    (("This model's maximum context length is 8192 tokens. However, your prompt contains 9000 input tokens, which "
     "exceeds this limit even without any output tokens. Please reduce the length of the input prompt. "
     "(parameter=input_tokens, value=9000)"), "808 tokens"),
    (("This model's maximum context length is 2048 tokens. However, your prompt contains 90000 characters (more than "
     "81920 characters, which is the upper bound for 2048 input tokens). Please reduce the length of the input "
     "prompt. (parameter=input_text, value=90000)"), None),
    # vLLM 0.10
    (("This model's maximum context length is 2048 tokens. However, your request has 2100 input tokens. Please reduce "
     "the length of the input messages."), "52 tokens"),
    (("'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens "
     "and your request has 5000 input tokens (32000 > 8192 - 5000)."), "28808 tokens"),
    # vLLM before
    (("This model's maximum context length is 2048 tokens. However, you requested 2100 tokens (2084 in the messages, "
     "16 in the completion). Please reduce the length of the messages or completion."), "52 tokens"),
    # vLLM 0.33, its own process (vllm/v1/engine/input_processor.py)
    (("The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that "
     "`max_model_len` is no smaller than the number of text tokens."), "904 tokens"),
    # SGLang 0.5.23 (sglang/srt/managers/tokenizer_manager.py)
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", "904 tokens"),
    (("Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5100 "
     "tokens: 4000 tokens from the input messages and 1100 tokens for the completion. Please reduce the number of "
     "tokens in the input messages or the completion to fit within the limit."), "1004 tokens"),
    # text-generation-inference (router/src/validation.rs)
    (("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1244 `inputs` tokens and "
     "1000 `max_new_tokens`"), "196 tokens"),
    ("Input validation error: `inputs` must have less than 1024 tokens. Given: 1168", "144 tokens"),
    # llama.cpp's server, now and in 2025; the numbers of the latter stand beside the message
    ("request (1407 tokens) exceeds the available context size (256 tokens), try increasing it", "1151 tokens"),
    ("input (300 tokens) is larger than the max context size (256 tokens). skipping", "44 tokens"),
    ("the request exceeds the available context size. try increasing the context size or enable context shift", None),
    ("Context size has been exceeded.", None),
    # Ollama 0.32 with truncate=false
    ("prompt too long; exceeded max context length by 4 tokens", "4 tokens"),
    ("the input length exceeds the context length", None),
    # LM Studio 0.3 and 0.4
    (("Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context "
     "length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide "
     "a shorter input"), "78722 tokens"),
    (("The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: "
     "4096). Try to load the model with a larger context length, or provide a shorter input."), "8959 tokens"),
    # Anthropic
    ("prompt is too long: 210000 tokens > 200000 maximum", "10000 tokens"),
    (("input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or "
     "`max_tokens` and try again"), "8059 tokens"),
    # Gemini, through Vertex AI
    ("The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", "151717 tokens"),
    # Mistral
    ("Prompt contains 321774 tokens and 0 draft tokens, too large for model with 262144 maximum context length",
     "59630 tokens"),
    # Amazon Bedrock: Claude and Llama, Titan
    ("Input is too long for requested model.", None),
    ("400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 ", "1087 tokens"),
    # watsonx.ai
    (("Invalid input argument for Model 'meta-llama/llama-2-70b-chat': the number of input tokens 4098 cannot exceed "
     "the total tokens limit 4096 for this model"), "2 tokens"),
    # OpenRouter
    (("This endpoint's maximum context length is 200000 tokens. However, you requested about 5028244 tokens (5028244 "
     'of text input). Please reduce the length of either one, or use the "middle-out" transform.'), "4828244 tokens"),
    # Groq
    ("Please reduce the length of the messages or completion.", None),
    # one of whoever runs a server of his own
    ("context window of 2,048 exceeded: 2,100 tokens", "52 tokens"),
]  # fmt: skip


@pytest.mark.parametrize("message, excess", WORDINGS, ids=[message[:60] for message, _ in WORDINGS])
def test_every_server_is_understood(message: str, excess: str | None) -> None:
    failure = failure_of("u", reply(400, {"error": {"message": message}}))
    assert failure.kind == "context_too_long"
    assert not failure.retryable
    assert "--truncate demos" in failure.message
    assert excess_text(message) == ("" if excess is None else f" (too long by {excess})")
    if excess is not None:
        assert f"too long by {excess}" in failure.message


@pytest.mark.parametrize(
    "message",
    ["Rate limit exceeded", "n must be 1 when using greedy sampling, got 2.",
     "max_tokens must be at least 1, got 0.", "stop cannot contain an empty string."],
)  # fmt: skip
def test_other_complaints_are_not_taken_for_it(message: str) -> None:
    assert failure_of("u", reply(400, {"error": {"message": message}})).kind == "refused"


@pytest.mark.parametrize(
    "status, message, kind, hint",
    [
        (400, "The provided model identifier is invalid.", "not_found", "name of the model"),  # Amazon Bedrock
        (
            400,
            (
                "Invocation of model ID meta.llama3-3-70b-instruct-v1:0 with on-demand throughput isn\u2019t supported. "
                "Retry your request with the ID or ARN of an inference profile that contains this model."
            ),
            "not_found",
            "put the region before its id",
        ),
        (400, "openrouter/foo is not a valid model ID", "not_found", "name of the model"),
        (400, "Model Not Exist", "not_found", "name of the model"),  # DeepSeek
        (400, "Invalid model: mistral-huge", "not_found", "name of the model"),  # Mistral
        (400, "The requested model 'x' does not exist.", "not_found", "name of the model"),  # Hugging Face
        (400, "The model `x` does not exist", "not_found", "name of the model"),
        (400, "API key not valid. Please pass a valid API key.", "authentication", "check the API key"),  # Google
    ],
)
def test_unknown_models_and_keys_are_found_out_whatever_the_status(
    status: int, message: str, kind: str, hint: str
) -> None:
    failure = failure_of("u", reply(status, {"message": message}))
    assert failure.kind == kind
    assert hint in failure.message


LLAMA_SERVER = {
    "error": {
        "code": 500,
        "message": "the request exceeds the available context size. try increasing the context size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 1407,
        "n_ctx": 256,
    }
}


@pytest.mark.parametrize("body", [LLAMA_SERVER, {"error": json.dumps(LLAMA_SERVER)}], ids=["llama-server", "ollama"])
@pytest.mark.parametrize("status", [400, 500])
def test_the_numbers_beside_the_message_are_read(body: Any, status: int) -> None:
    failure = failure_of("u", reply(status, body))
    assert (failure.kind, failure.retryable) == ("context_too_long", False)
    assert "(too long by 1151 tokens)" in failure.message


@pytest.mark.parametrize(
    "body, expected",
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "b"}, "b"),
        ({"message": "c"}, "c"),
        ({"detail": "d"}, "d"),
        ({"detail": [{"loc": ["body"], "msg": "e"}]}, '[{"loc":["body"],"msg":"e"}]'),
        ({"errors": [{"code": "invalid_input_argument", "message": "f"}], "trace": "x"}, "f"),  # watsonx.ai
        ({"object": "error", "message": "g", "type": "BadRequestError", "code": 400}, "g"),  # SGLang
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "h"}}, "h"),  # Anthropic
        ({"Message": "i"}, "i"),  # Amazon
        ([{"error": {"code": 400, "message": "j", "status": "INVALID_ARGUMENT"}}], "j"),  # Google
        ({"error": '{"error":{"code":400,"message":"k"}}'}, "k"),  # Ollama hands on what llama.cpp says
        ({"errorCode": "BXNIM0415E", "errorMessage": "l"}, "l"),  # IBM Cloud IAM
        ({"error": "m", "error_type": "validation"}, "m"),  # text-generation-inference
        (b"<html>nginx</html>", "<html>nginx</html>"),
        (b"", "no message"),
    ],
)
def test_error_messages_of_many_servers(body: Any, expected: str) -> None:
    assert error_message(reply(500, body)) == expected


@pytest.mark.parametrize(
    "body, status",
    [
        (b'{"error":"(n_keep: 13055>= n_ctx: 4096). Try a larger context length"}', 400),  # LM Studio
        (b'{"error":"The model has crashed without additional information."}', 500),
        (b'{"error":{"code":429,"message":"Provider returned error"},"user_id":"u"}', 429),  # OpenRouter
        (b'{"error":null,"choices":[]}', None),
        (b'{"choices":[]}', None),
        (b"no json", None),
        (b"[]", None),
    ],
)
def test_errors_in_replies_that_claim_success(body: bytes, status: int | None) -> None:
    found = hidden_error(body)
    assert (found and found.status) == status


@given(st.binary(max_size=60) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["error", "errors", "message", "detail", "code", "n_ctx"]), inner, max_size=3),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_any_body_has_a_message(body: bytes) -> None:
    assert isinstance(error_message(reply(500, body)), str)
    hidden_error(body)
    assert failure_of("u", reply(400, body)).message


@given(st.text(max_size=200))
def test_any_message_is_read(message: str) -> None:
    excess_text(message)
