"""What an error of a server means."""

import msgspec
import pytest

from proctor.engines.calls import error_message, failure_of
from proctor.engines.http import Reply


def reply(status, body, **headers):
    return Reply(status, headers, body if isinstance(body, bytes) else msgspec.json.encode(body))


@pytest.mark.parametrize(
    "status, kind, retryable",
    [
        (301, "refused", False),
        (400, "refused", False),
        (401, "authentication", True),
        (403, "forbidden", True),
        (404, "not_found", True),
        (408, "server_error", True),
        (422, "refused", False),
        (429, "rate_limited", True),
        (500, "server_error", True),
        (529, "server_error", True),
    ],
)
def test_statuses(status, kind, retryable):
    failure = failure_of("http://x/v1", reply(status, {"error": {"message": "because"}}))
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert "http://x/v1" in failure.message
    if status != 301:
        assert "because" in failure.message


@pytest.mark.parametrize(
    "message, excess",
    [
        # OpenAI
        ("This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.", 904),
        # vLLM
        (
            (
                "This model's maximum context length is 2048 tokens. However, you requested 2100 tokens (2084 in the "
                "messages, 16 in the completion). Please reduce the length of the messages or completion."
            ),
            52,
        ),
        # Anthropic
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
        # llama-server
        ("the request exceeds the available context size, try increasing it", None),
        # TGI
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens: input is too long", None),
    ],
)
def test_a_prompt_that_is_too_long_says_by_how_much(message, excess):
    failure = failure_of("u", reply(400, {"error": {"message": message}}))
    assert failure.kind == "context_too_long"
    assert not failure.retryable
    assert (f"too long by {excess} tokens" in failure.message) if excess else True


@pytest.mark.parametrize(
    "body, expected",
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "b"}, "b"),
        ({"message": "c"}, "c"),
        ({"detail": "d"}, "d"),
        ({"detail": [{"loc": ["body"], "msg": "e"}]}, '[{"loc":["body"],"msg":"e"}]'),
        ({"errors": [{"message": "f"}]}, '{"errors":[{"message":"f"}]}'),
        (b"<html>nginx</html>", "<html>nginx</html>"),
        (b"", "no message"),
    ],
)
def test_error_messages_of_many_servers(body, expected):
    assert error_message(reply(500, body)) == expected


def test_a_redirect_says_where_to():
    assert "https://new/v1" in failure_of("u", reply(308, b"", location="https://new/v1")).message
