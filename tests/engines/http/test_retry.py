"""Backoff, jitter and Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.http.retry import RetryPolicy, is_retried, retry_after_seconds

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


@given(st.binary(), st.integers(0, 60))
def test_a_wait_is_between_zero_and_its_cap_and_repeats(content, attempt):
    policy = RetryPolicy(base_seconds=0.5, cap_seconds=30)
    wait = policy.wait_seconds(content, attempt)
    assert 0 <= wait <= min(30, 0.5 * 2.0**attempt)
    assert wait == policy.wait_seconds(content, attempt)


def test_requests_and_attempts_wait_differently():
    policy = RetryPolicy(base_seconds=8)
    waits = {policy.wait_seconds(f"{n}".encode(), attempt) for n in range(20) for attempt in range(3)}
    assert len(waits) == 60
    assert max(waits) > 8 > min(waits)


@given(st.floats(0, 1000))
def test_never_less_than_the_server_asks_for(seconds):
    wait = RetryPolicy().wait_seconds(b"x", 3, seconds)
    assert seconds <= wait <= seconds * 1.1


@pytest.mark.parametrize(
    "headers, expected",
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ],
)
def test_retry_after(headers, expected):
    assert retry_after_seconds(headers, NOW) == expected


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_these_are_asked_again(status):
    assert is_retried(status)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_these_are_not(status):
    assert not is_retried(status)
