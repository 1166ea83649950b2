"""Rows that a server hands out in answer to a request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import override

from proctor import foreign_text
from proctor.data import web
from proctor.data.fields import Row
from proctor.data.loaders import Loader
from proctor.effects import Effect, asking
from proctor.errors import DataError, DatasetNotFoundError, ProctorError, ValidationError


class LoadFromAPI(Loader):
    """Rows from a web service that answers with JSON.

    Attributes:
        urls: An address for each split.
        api_key_env_var: The environment variable with a key, sent as a bearer token.
        headers: More headers.
        data_field: Where in the answer the rows are.
        method: ``GET`` or ``POST``.
        verify_cert: Check the server's certificate.
    """

    _default_policy = ["proprietary"]

    urls: dict[str, str]
    chunksize: int = 100000
    api_key_env_var: str | None = None
    headers: dict[str, Any] | None = None
    data_field: str | None = "data"
    method: str = "GET"
    verify_cert: bool = True

    @override
    def verify(self) -> None:
        super().verify()
        if self.method not in ("GET", "POST"):
            raise ValidationError(f"LoadFromAPI cannot send {self.method}", hint="use GET or POST")
        for url in self.urls.values():
            if not url.startswith(("http://", "https://")):
                raise ValidationError(f"'{url}' is not an address of a web service")

    @override
    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        self.act()
        return {split: self._rows(url) for split, url in self.urls.items()}

    @override
    def effects(self) -> Iterable[Effect]:
        return [each for url in self.urls.values() for each in asking(url, self.type_name(), [self.api_key_env_var])]

    def _rows(self, url: str) -> list[Row]:
        data = self._ask(url)
        if self.data_field:
            if not isinstance(data, dict) or self.data_field not in data:
                raise DataError(f"the answer of {url} has no '{self.data_field}'", path=self.label())
            data = data[self.data_field]
        if not isinstance(data, list):
            raise DataError(f"the answer of {url} is not a list of rows", path=self.label())
        return data

    def _ask(self, url: str) -> Any:
        body = b"{}" if self.method == "POST" else None
        headers, verify = self._headers(), self.verify_cert
        try:
            with web.opened(url, self.author, self.type_name(), headers=headers, body=body, verify=verify) as response:
                return foreign_text.parse_json(web.read(response))
        except ProctorError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise DatasetNotFoundError(f"{url} cannot be loaded", why=str(error)) from error

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "accept": "application/json"}
        if self.api_key_env_var is not None:
            key = os.environ.get(self.api_key_env_var)
            if not key:
                raise DataError(f"the environment variable {self.api_key_env_var} is not set", path=self.label())
            headers["Authorization"] = f"Bearer {key}"
        return {**headers, **(self.headers or {})}
