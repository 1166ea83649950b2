"""Files and replies from the web on behalf of an exam: through the gate on every hop, and never without an end."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPResponse
from typing import IO, Any
from urllib.parse import urlsplit

from typing_extensions import override

from proctor.effects import Author, asking, host_of, require
from proctor.errors import DataError

REPLY_BYTES = 1 << 28
"""Most bytes of a reply that is held in memory: rows of more than 256 MiB belong into a file."""

FILE_BYTES = 1 << 32
"""Most bytes of a file that is downloaded: more than any dataset of the catalogs, less than a disk."""

TIMEOUT_SECONDS = 60.0
"""How long a server may be silent: what data hosts need to wake an archive."""

_BLOCK = 1 << 20  # bytes read at a time: few calls, little memory


class _Gated(urllib.request.HTTPRedirectHandler):
    """Follows redirects where the gate lets them pass, and takes no key to another host.

    The base class refuses what is not an address of the web.
    """

    def __init__(self, who: Author | None, by: str) -> None:
        self.who, self.by = who, by

    @override
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        require(asking(newurl, self.by), self.who)
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None and host_of(newurl) != host_of(req.full_url):
            made.headers = {name: value for name, value in made.headers.items() if name.lower() in _PLAIN_HEADERS}
        return made


_PLAIN_HEADERS = frozenset({"accept", "content-type", "user-agent"})
"""Headers that go along to another host; any other may be a secret."""


@contextmanager
def opened(
    url: str,
    who: Author | None,
    by: str = "",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    verify: bool = True,
) -> Iterator[HTTPResponse]:
    """Ask a server; each redirect passes the gate, too.

    Args:
        url: An http(s) address.
        who: On whose behalf; ``None`` for the user.
        by: What asks, for messages.
        headers: Headers to send; on another host only those that say nothing of who asks.
        body: What to post; without one the address is read.
        verify: Whether to check the server's certificate.

    Raises:
        NotAllowedError: A redirect leads where nobody allowed to.
        DataError: The address is not one of the web.
        OSError: There is no reply, or a redirect leads elsewhere than to the web.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise DataError(f"'{url}' cannot be read", why="the address is not http or https")
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _Gated(who, by))
    request = urllib.request.Request(url, data=body, headers=dict(headers or {}))  # noqa: S310 - the scheme was checked
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS) as response:
            yield response
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        raise


def read(response: HTTPResponse, most: int = REPLY_BYTES) -> bytes:
    """Return the body of a reply.

    Raises:
        DataError: It has more than ``most`` bytes.
    """
    content = response.read(most + 1)
    if len(content) > most:
        raise DataError(f"{response.url} sends more than {most >> 20} MiB", hint="download the file, and read it there")
    return content


def copy(response: IO[bytes], file: IO[bytes], most: int = FILE_BYTES, source: str = "the file") -> None:
    """Copy a body to a file.

    Raises:
        DataError: It has more than ``most`` bytes; what came until then is in the file.
    """
    count = 0
    while block := response.read(_BLOCK):
        count += len(block)
        if count > most:
            raise DataError(f"{source} has more than {most >> 20} MiB", why="nothing that an exam reads is that large")
        file.write(block)
