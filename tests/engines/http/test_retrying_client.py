"""What an error of a server means, and when there is no more sense in asking it."""

import asyncio

import msgspec
import pytest
from aiohttp import web

from proctor.engines.http.retry import RetryPolicy
from proctor.engines.http.retrying_client import Caller, CallError, ReplyError, check_response, failure_of
from proctor.engines.http.transport import AiohttpTransport, Reply
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


class Answering:
    """A transport whose replies are a list, the last one for ever; it counts."""

    def __init__(self, *replies):
        self.replies, self.sent = list(replies), 0

    async def post(self, *_):
        self.sent += 1
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    async def close(self):
        pass


def called(transport, count, **policy):
    """Call a server one time after the other; returns the failures, ``None`` for an answer."""
    caller = Caller(transport, {}, RetryPolicy(**{"base_seconds": 0.0, **policy}))

    async def all_calls():
        found = []
        for number in range(count):
            try:
                await caller.call("http://x/v1", {"n": number}, msgspec.json.decode)
                found.append(None)
            except CallError as error:
                found.append(error.failure)
        return found

    return asyncio.run(all_calls())


PAGE = reply(200, b"<html>log in</html>")
WELL = reply(200, {})


@pytest.mark.parametrize(
    "answer, most, kind",
    [
        (PAGE, 24, "protocol"),
        (reply(402, {"error": {"message": "no balance"}}), 1, "forbidden"),
        (reply(400, {"error": {"message": "unknown field"}}), 8, "refused"),
        (reply(500, {"error": {"message": "boom"}}), 8 * 9, "server_error"),
        (reply(429, {"error": {"message": "slow"}}), 8 * 9, "rate_limited"),
    ],
)
def test_who_cannot_succeed_is_not_asked_for_ever(answer, most, kind, said):
    transport = Answering(answer)
    failures = called(transport, 100)
    assert transport.sent == most
    assert {each.kind for each in failures} == {kind}
    assert ["nothing more is sent to this server" in line for line in said] == [True]


@pytest.mark.parametrize("status", [402, 500])
def test_a_server_that_answered_before_is_given_up_after_some_equal_failures(status):
    transport = Answering(*[WELL] * 20, reply(status, {"error": {"message": "no more"}}))
    failures = called(transport, 100, max_retries=0)
    assert failures[:20] == [None] * 20
    assert transport.sent == 20 + 8


@pytest.mark.parametrize(
    "replies",
    [
        [reply(500, {"error": {"message": str(number)}}) for number in range(30)],  # each fails in its own way
        [reply(400, {"error": {"message": "this question"}}) for _ in range(7)],
        [each for _ in range(15) for each in (reply(500, {"error": {"message": "now and then"}}), WELL)],
        [WELL, *[reply(400, {"error": {"message": "such questions"}}) for _ in range(29)]],
    ],
)
def test_failures_of_some_questions_stop_nobody(replies):
    transport = Answering(*replies, WELL)
    failures = called(transport, 40, max_retries=0)
    assert transport.sent == 40
    assert failures[-1] is None


def test_how_long_a_server_asks_to_wait_stands_in_the_message():
    transport = Answering(reply(429, {"error": {"message": "slow"}}, **{"retry-after": "3600"}))
    (failure,) = called(transport, 1)
    assert transport.sent == 1
    assert "it asks to wait for 3,600 seconds" in failure.message


def test_files_are_put_and_signed_addresses_get_no_key():
    seen = []

    async def answer(request):
        seen.append((request.method, request.path_qs, dict(request.headers), len(await request.read())))
        return web.Response(text="ok")

    async def ask():
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        there, transport = f"http://127.0.0.1:{runner.addresses[0][1]}", AiohttpTransport(4, 5)
        caller = Caller(transport, {"Authorization": "Bearer key"}, RetryPolicy())
        file = ("PUT", f"{there}/a%20b.jsonl", b"x" * 2_000_000, "application/jsonl", {"x-amz-date": "1"})
        assert (await caller.ask(*file, is_bare=True)).body == b"ok"
        await caller.ask("GET", f"{there}/a?signature=a%2Bb", is_bare=True)
        await caller.ask("GET", f"{there}/a")
        await transport.close()
        await runner.cleanup()

    app = web.Application(client_max_size=1 << 22)
    app.router.add_route("*", "/{there:.*}", answer)
    asyncio.run(ask())
    assert [each[:2] for each in seen] == [("PUT", "/a%20b.jsonl"), ("GET", "/a?signature=a%2Bb"), ("GET", "/a")]
    assert [each[2].get("Authorization") for each in seen] == [None, None, "Bearer key"]
    assert (seen[0][3], seen[0][2]["x-amz-date"], seen[0][2]["Content-Type"]) == (2_000_000, "1", "application/jsonl")
