"""Services that people have keys of: their hosts and variables.

The table of providers (``engines/http/providers.json``) says it; here it is read for the gate, which lies below the
engines. A host is a service's where its address in the table leads there, or one of the variables in which users say
where the service is (``OPENAI_BASE_URL``). The addresses of local servers in the table are nobody's.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LABEL = "[a-z0-9-]{1,63}"
"""What stands for a region in the name of a host: no dots, which would lead to somebody else's hosts."""
_AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")
_PORTS = {"http": 80, "https": 443}


class Service(NamedTuple):
    """A service that people have keys of.

    Attributes:
        hosts: Patterns of its hosts, which are reached by https.
        keys: Variables whose values belong to it.
        addresses: Variables in which users say where it is.
        port: Port of an address that names neither scheme nor port.
    """

    hosts: tuple[re.Pattern[str], ...]
    keys: frozenset[str]
    addresses: tuple[str, ...]
    port: int | None = None


@cache
def services() -> Mapping[str, Service]:
    """Return the services by name."""
    table = json.loads(files("proctor").joinpath("engines", "http", "providers.json").read_bytes())
    return {name: _service(entry) for name, entry in table.items()}


def _service(entry: Mapping[str, Any]) -> Service:
    named = [variable for names in entry.get("fields", {}).values() for variable in names]
    keys = [*entry.get("key_variables", ()), *entry.get("token_variables", ()), *named]
    whole = _PLACEHOLDER.match(entry["url"])
    addresses = [*entry.get("url_variables", ()), *(entry["variables"][whole[1]]["names"] if whole else ())]
    hosts = [*entry.get("hosts", ()), *_host_in(entry["url"])]
    keys += _AWS if entry.get("auth") == "aws" else ()
    return Service(tuple(map(_pattern, hosts)), frozenset(keys), tuple(addresses), entry.get("port"))


def _host_in(url: str) -> list[str]:
    scheme, _, rest = url.partition("://")
    return [rest.partition("/")[0]] if scheme == "https" else []


def _pattern(host: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w+\}|\*", host)
    return re.compile(_LABEL.join(map(re.escape, parts)))


def is_service(host: str) -> bool:
    """Whether a host is a service's, or one that the user named in its variable."""
    return any(_is_at(service, host) for service in services().values())


def may_have(variable: str, host: str) -> bool:
    """Whether the value of a variable belongs to a host: nobody has to allow that it goes there."""
    return any(variable in service.keys and _is_at(service, host) for service in services().values())


def needs_https(host: str) -> bool:
    """Whether a host is reached by https only: that of a service in the table."""
    return any(pattern.fullmatch(host) for service in services().values() for pattern in service.hosts)


def _is_at(service: Service, host: str) -> bool:
    if any(pattern.fullmatch(host) for pattern in service.hosts):
        return True
    named = (os.environ[name] for name in service.addresses if os.environ.get(name))
    return any(_host_in_address(address, service.port) == host for address in named)


def _host_in_address(address: str, port: int | None) -> str | None:
    """Return the host of an address as the gate writes it, with its port where that is not the usual one."""
    try:
        parts = urlsplit(with_scheme(address.strip(), port))
        host, given = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:  # whoever asks there says what is wrong with it
        return None
    return host if given in (None, _PORTS.get(parts.scheme)) else f"{host}:{given}"


def with_scheme(address: str, port: int | None) -> str:
    """Return an address with its scheme; where it has none, also with a port, and a host that can be asked."""
    address = address.rstrip("/")
    if "://" in address:
        return address
    place, slash, path = address.partition("/")
    if place.startswith(":"):
        place = f"127.0.0.1{place}"
    if port and not re.search(r":\d+$", place):
        place = f"{place}:{port}"
    return f"http://{re.sub(r'^0[.]0[.]0[.]0(?=:|$)', '127.0.0.1', place)}{slash}{path}"
