"""What an error of a server means."""

import msgspec
import pytest

from proctor.engines.http.retrying_client import failure_of
from proctor.engines.http.transport import Reply


def reply(status, body, **headers):
    return Reply(status, headers, body if isinstance(body, bytes) else msgspec.json.encode(body))


@pytest.mark.parametrize(
    "status, kind, retryable",
    [
        (301, "refused", False),
        (400, "refused", False),
        (401, "authentication", True),
        (402, "forbidden", True),
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


def test_a_redirect_says_where_to():
    assert "https://new/v1" in failure_of("u", reply(308, b"", location="https://new/v1")).message


def test_an_empty_account_is_no_rate_limit():
    body = {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}}
    failure = failure_of("u", reply(429, body))
    assert failure.kind == "forbidden"
    assert "no credit left" in failure.message
