"""What an error of a server means."""

import msgspec
import pytest

from proctor.engines.http.retrying_client import CallError, ReplyError, check_response, failure_of
from proctor.engines.http.transport import Reply
from proctor.ir import Response, Scored, TokenLogProbability, Usage


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


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    "response, message",
    [
        (Response(usage=Usage(-1)), "a number of tokens that there cannot be"),
        (Response(usage=Usage(0, 10**9 + 1)), "a number of tokens that there cannot be"),
        (Response(tokens=((TokenLogProbability("a", NOT_A_NUMBER),),)), "a log-probability is not a number"),
        (Response(scores=(Scored(-1.0), Scored(NOT_A_NUMBER))), "a log-likelihood is not a number"),
    ],
)
def test_numbers_that_cannot_be_are_no_answer(response, message):
    with pytest.raises(ReplyError, match=message):
        check_response(response)


def test_a_filtered_answer_is_not_graded_and_its_tokens_are_counted():
    with pytest.raises(CallError, match="refused or filtered") as caught:
        check_response(Response(("a", "b"), finish_reasons=("stop", "content_filter"), usage=Usage(3, 4)))
    assert (caught.value.failure.kind, caught.value.failure.retryable) == ("content_filter", False)
    assert caught.value.usage == Usage(3, 4)
    check_response(Response(("a",), finish_reasons=("length",), usage=Usage(0, 10**9)))
