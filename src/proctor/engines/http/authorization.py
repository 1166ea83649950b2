"""Headers that say who asks, where a fixed key is not enough: IBM's short-lived tokens, and Amazon's signatures."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from proctor.engines.http.provider_errors import error_message
from proctor.engines.http.retrying_client import CallError
from proctor.engines.http.transport import Transport
from proctor.ir import Failure

IAM_URL = "https://iam.cloud.ibm.com/identity/token"
_GRANT = "urn:ibm:params:oauth:grant-type:apikey"
_MARGIN_SECONDS = 120  # a token lives for an hour; it must not end while a request is under way or our clock is behind
_TOKEN_TIMEOUT_SECONDS = 30.0  # the exchange takes a second, but all requests wait for it


class _Token(Struct):
    access_token: str
    expires_in: float = 3600.0


class GoogleKey:
    """A key of Google's Gemini API: a bearer token where OpenAI's protocol is spoken, a header of its own elsewhere."""

    def __init__(self, api_key: str) -> None:
        self._api_key = api_key

    async def __call__(self, transport: Transport, url: str, content: bytes) -> Mapping[str, str]:  # noqa: ARG002
        """Return the header that says who asks."""
        is_compatible = "/openai/" in url
        return {"Authorization": f"Bearer {self._api_key}"} if is_compatible else {"x-goog-api-key": self._api_key}


class IAMToken:
    """Exchanges an IBM Cloud API key for a token, and again before it expires (IAM Identity Services API).

    Args:
        api_key: The key.
        url: Where to exchange it.
        clock: The time in seconds.
    """

    def __init__(self, api_key: str, url: str = IAM_URL, clock: Callable[[], float] = time.monotonic) -> None:
        self._api_key = api_key
        self._url = url
        self._clock = clock
        self._token = ""
        self._good_until = float("-inf")

    async def __call__(self, transport: Transport, url: str, content: bytes) -> Mapping[str, str]:  # noqa: ARG002
        """Return the header with a token that is good for at least two minutes."""
        if self._clock() >= self._good_until:
            await self._exchange(transport)
        return {"Authorization": f"Bearer {self._token}"}

    async def _exchange(self, transport: Transport) -> None:
        body = urlencode({"grant_type": _GRANT, "apikey": self._api_key}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        reply = await transport.post(self._url, body, headers, _TOKEN_TIMEOUT_SECONDS)
        if reply.status != HTTPStatus.OK:
            refused = HTTPStatus.BAD_REQUEST <= reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
            kind = "authentication" if refused else "server_error"
            raise CallError(
                Failure(kind, f"{self._url}: HTTP {reply.status}: {error_message(reply)} (check the API key)")
            )
        token = msgspec.json.decode(reply.body, type=_Token)
        self._token = token.access_token
        self._good_until = self._clock() + token.expires_in - _MARGIN_SECONDS


class AWSSignature:
    """Signs requests with AWS Signature Version 4 (AWS General Reference, "Signing AWS API requests").

    Args:
        access_key, secret_key, session_token: Credentials.
        region, service: Scope of the signature.
        now: The time, for tests.
    """

    def __init__(
        self,
        access_key: str,
        secret_key: str,
        session_token: str | None,
        region: str,
        service: str = "bedrock",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._access_key = access_key
        self._secret_key = secret_key
        self._session_token = session_token
        self._region = region
        self._service = service
        self._now = now

    async def __call__(self, transport: Transport, url: str, content: bytes) -> Mapping[str, str]:  # noqa: ARG002
        """Return the headers of a signed POST."""
        return self.headers(url, content)

    def headers(self, url: str, content: bytes, method: str = "POST", service: str = "") -> dict[str, str]:
        """Return the headers that sign a request of this content; S3 has its path as it stands, and the digest."""
        service = service or self._service
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        parts = urlsplit(url)
        digest = hashlib.sha256(content).hexdigest()
        signed = {"host": parts.netloc, "x-amz-date": stamp}
        if service == "s3":
            signed["x-amz-content-sha256"] = digest
        if self._session_token:
            signed["x-amz-security-token"] = self._session_token
        names = ";".join(sorted(signed))
        path = parts.path or "/"
        canonical = "\n".join(
            [
                method,
                path if service == "s3" else quote(path, safe="/-_.~"),
                "&".join(sorted(parts.query.split("&"))),
                *(f"{name}:{signed[name]}" for name in sorted(signed)),
                "",
                names,
                digest,
            ]
        )
        scope = f"{stamp[:8]}/{self._region}/{service}/aws4_request"
        said = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(self._signing_key(stamp[:8], service), said.encode(), hashlib.sha256)
        authorization = (
            f"AWS4-HMAC-SHA256 Credential={self._access_key}/{scope}, SignedHeaders={names}, "
            f"Signature={signature.hexdigest()}"
        )
        return {**{name: value for name, value in signed.items() if name != "host"}, "Authorization": authorization}

    def _signing_key(self, day: str, service: str) -> bytes:
        key = f"AWS4{self._secret_key}".encode()
        for part in (day, self._region, service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key
