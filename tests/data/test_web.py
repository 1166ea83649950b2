"""What servers send is read up to a limit, from the web alone, and secrets stay with the host that they are for."""

import io
import ssl
from types import SimpleNamespace

import pytest

from proctor.data import web
from proctor.errors import DataError


class Reply(io.BytesIO):
    """A reply of a server."""

    url = "http://127.0.0.1/x"


def test_a_reply_may_be_as_long_as_the_limit_and_no_longer():
    assert web.read(Reply(b"abc"), 3) == b"abc"
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1/x sends more than 0 MiB"):
        web.read(Reply(b"abcd"), 3)
    with pytest.raises(DataError, match="sends more than 2 MiB"):
        web.read(Reply(bytes((2 << 20) + 1)), 2 << 20)


def test_a_file_is_copied_up_to_the_limit_and_no_further(monkeypatch):
    monkeypatch.setattr(web, "_BLOCK", 2)
    target = io.BytesIO()
    web.copy(Reply(b"abcde"), target, 5)
    assert target.getvalue() == b"abcde"
    target = io.BytesIO()
    with pytest.raises(DataError, match="the file has more than 0 MiB"):
        web.copy(Reply(b"abcde"), target, 4)
    assert target.getvalue() == b"abcd"


def test_only_addresses_of_the_web_are_asked():
    for address in ("file:///etc/passwd", "ftp://127.0.0.1/x", "/x"):
        with pytest.raises(DataError, match="the address is not http or https"), web.opened(address, None):
            pass


@pytest.mark.parametrize("verify", [True, False])
def test_certificates_are_checked_unless_somebody_says_otherwise(verify, monkeypatch):
    built = []

    def build(*handlers):
        built.extend(handlers)
        return SimpleNamespace(open=lambda request, timeout: Reply(request.data or b""))

    monkeypatch.setattr(web.urllib.request, "build_opener", build)
    with web.opened("https://127.0.0.1/x", None, body=b"posted", verify=verify) as response:
        assert response.read() == b"posted"
    context = built[0]._context
    assert context.check_hostname is verify
    assert (context.verify_mode is ssl.CERT_REQUIRED) is verify


@pytest.mark.parametrize(
    "place, kept", [("http://127.0.0.1/y", {"Authorization", "Accept"}), ("http://127.0.0.2/y", {"Accept"})]
)
def test_headers_that_say_who_asks_go_along_to_the_same_host_only(place, kept):
    request = web.urllib.request.Request("http://127.0.0.1/x", headers={"Authorization": "Bearer s", "Accept": "*"})
    made = web._Gated(None, "").redirect_request(request, None, 302, "Found", {}, place)
    assert set(made.headers) == kept
