"""Addresses of servers: what is one, who asks there by name and password, and which is this machine."""

from __future__ import annotations

import base64
import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from proctor.errors import UsageError
from proctor.secrets import keep, keep_login

_HOST = re.compile(r"[^\s\x00-\x20\x7f/?#@\\%<>\"'`{}|^\[\],;]{1,253}")
"""What a name of a host may hold; which names exist is for the resolver to say. No host has a longer name (DNS)."""
_BAD = re.compile(r"[\s\x00-\x1f\x7f\\<>\"`{}|^]")
"""What no address holds; programs disagree about what such a text leads to."""
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\](:\d+)?")
_LONGEST_LABEL = 63  # characters between two dots (DNS)
_SEVERAL = "it names several servers, which the engine 'openai' alone takes"
_LONGEST = 2000  # characters that servers and proxies take of an address


class Login(NamedTuple):
    """The name and the password of an address."""

    user: str
    password: str

    @property
    def header(self) -> str:
        """The value of ``Authorization``."""
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def put_into(self, address: str) -> str:
        """Return an address with the name and password again: :func:`split_login` backwards."""
        scheme, separator, rest = address.partition("://")
        return f"{scheme}{separator}{quote(self.user, safe='')}:{quote(self.password, safe='')}@{rest}"


def split_login(address: str) -> tuple[str, Login | None]:
    """Return an address without its name and password, and these; they are kept as secrets."""
    scheme, separator, rest = address.partition("://") if "://" in address else ("", "", address)
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" not in place or _BAD.search(place):  # the latter is not an address, which whoever asks is told
        return address, None
    pair, _, host = place.rpartition("@")
    user, _, password = (unquote(part) for part in pair.partition(":"))
    login = Login(user, password)
    keep_login(user, password)
    keep(pair.partition(":")[2])
    keep(login.header.removeprefix("Basic "))
    return f"{scheme}{separator}{host}{rest[len(place) :]}", login


def checked_address(address: str, source: str = "base_url") -> str:
    """Return an address that a route can be appended to, as it is.

    Args:
        address: The address, without a name and a password.
        source: What says it: a field, or a variable.

    Raises:
        UsageError: It is none, with the reason.
    """
    if why := _SEVERAL if "," in address else _fault(address):
        raise UsageError(
            f"{source} is not the address of a server: '{re.sub(r'//[^/]*@', '//', address)[:200]}'",
            why=why,
            hint="write http://host:port/path or https://host/path",
        )
    return address


def _fault(address: str) -> str:
    if (found := _BAD.search(address)) or len(address) > _LONGEST:
        return f"it holds {found[0]!r}" if found else f"it has more than {_LONGEST} characters"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return f"'{parts.scheme}' is neither http nor https"
    if "?" in address or "#" in address:
        return "what comes behind ? or # would hide the route that is asked"
    if not host or port == 0:
        return "no server has the port 0" if host else "it names no host"
    return "" if _IPV6.fullmatch(parts.netloc) else _host_fault(host if "[" not in parts.netloc else parts.netloc)


def _host_fault(host: str) -> str:
    if not _HOST.fullmatch(host):
        return f"'{host}' cannot be the name of a host"
    try:
        name = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return f"'{host}' cannot be the name of a host"
    labels = name.rstrip(".").split(".")
    return "" if all(0 < len(label) <= _LONGEST_LABEL for label in labels) else f"'{host}' cannot be the name of a host"


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine, by its own text: a name that only leads here may lead elsewhere."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    if host == "localhost":
        return True
    try:
        found = ip_address(host)
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified
