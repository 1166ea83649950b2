"""Retries: exponential backoff with full jitter, or the delay that the server names.

Full jitter (every wait is uniform between zero and an exponentially growing cap) spreads the load of many clients
best; see "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. The jitter derives from the request, so a run
repeats exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from http import HTTPStatus

from msgspec import Struct

RETRIED_STATUSES = frozenset({408, 409, 424, 425, 429})
"""424: a failure while the model worked (Amazon Bedrock, text-generation-inference)."""
_LONGEST_WAIT_SECONDS = 1e9  # thirty years: larger numbers, infinities too, are not meant as a wait
PATIENCE = 8  # in a row: where the server works, so many do not fail by chance; engines allow one for each worker


def is_retried(status: int) -> bool:
    """Return whether a request that met this HTTP status is worth asking again."""
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in RETRIED_STATUSES


class RetryPolicy(Struct, frozen=True):
    """Limits of retrying: attempts, waits, total time.

    Attributes:
        max_retries: Attempts after the first one.
        base_seconds: Cap of the first wait; it doubles with each attempt.
        cap_seconds: Longest wait that is our own choice. A server may ask for more.
        timeout_seconds: Longest time for one call, all attempts and waits included.
        attempt_seconds: Longest time for one attempt.
        patience: Calls in a row that may fail for want of an answer before the server counts as gone.
    """

    max_retries: int = 8
    base_seconds: float = 0.5
    cap_seconds: float = 30.0
    timeout_seconds: float = 600.0
    attempt_seconds: float = 600.0
    patience: int = PATIENCE

    def wait_seconds(self, content: bytes, attempt: int, retry_after: float | None = None) -> float:
        """Return how long to wait after attempt number ``attempt`` (counted from 0) of a request.

        Never less than ``retry_after``, which the server asked for.
        """
        cap = min(self.cap_seconds, self.base_seconds * 2.0**attempt)
        jitter = cap * _fraction(content, attempt)
        if retry_after is None:
            return jitter
        return retry_after + min(jitter, retry_after / 10)


def _fraction(content: bytes, attempt: int) -> float:
    digest = blake2b(content + attempt.to_bytes(4, "big"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return how long a server asks to wait, or ``None`` where it does not say.

    Reads ``Retry-After-Ms``, and ``Retry-After`` as seconds or as an HTTP date (RFC 9110, 10.2.3). A date that has
    passed is 0; what cannot be read is ignored.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None or (seconds := _number(value)) is not None:
        return seconds if value is not None else None
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return number if 0 <= number < _LONGEST_WAIT_SECONDS else None
