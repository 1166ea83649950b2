"""Loaders of other sources: object storage, Kaggle, scikit-learn, Hugging Face spaces, web services.

What each needs is imported when it loads, so cards that name it can be read everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from typing_extensions import override

from proctor import foreign_text
from proctor.data import hub, web
from proctor.data.fields import Row
from proctor.data.loaders import LazyLoader, Loader
from proctor.effects import Effect, asking
from proctor.errors import (
    DataError,
    DatasetNotFoundError,
    MissingExtraError,
    ProctorError,
    ValidationError,
    did_you_mean,
)


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


def required_module(module: str, package: str, loader: str, extra: str = "loaders") -> ModuleType:
    """Return a module of a package that a loader needs.

    Raises:
        MissingExtraError: It is not installed.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError.of(package, extra, loader) from None


class _HubRows:
    """The rows of a split, each time anew."""

    def __init__(self, dataset: hub.Dataset, split: str) -> None:
        self.dataset, self.split = dataset, split

    def __iter__(self) -> Iterator[Row]:
        return hub.rows(self.dataset, self.split)


class LoadFromKaggle(Loader):
    """A dataset of Kaggle; credentials are where Kaggle's client expects them.

    Attributes:
        url: Its address, or ``owner/name``.
    """

    _default_policy = ["public"]

    url: str

    @override
    def effects(self) -> Iterable[Effect]:
        return [Effect("net", "www.kaggle.com", self.type_name())]

    @override
    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        self.act()
        client = required_module("kagglehub", "kagglehub", "LoadFromKaggle")
        name = "/".join(self.url.split("?")[0].rstrip("/").split("/")[-2:])
        folder = client.dataset_download(name)
        dataset = hub.Dataset(path=str(folder))
        return {split: _HubRows(dataset, split) for split in hub.split_names(dataset)}


class LoadFromSklearn(LazyLoader):
    """A dataset that scikit-learn downloads: ``sklearn.datasets.fetch_<dataset_name>(subset=split)``.

    Rows have ``data`` and ``target``, the name of the class.

    Attributes:
        dataset_name: Such as ``20newsgroups``.
    """

    _default_policy = ["public"]

    dataset_name: str
    splits: list[str] = ["train", "test"]

    @override
    def get_splits(self) -> list[str]:
        return self.splits

    @override
    def effects(self) -> Iterable[Effect]:
        return [Effect("net", "ndownloader.figshare.com", self.type_name())]

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        self.act()
        library = required_module("sklearn.datasets", "scikit-learn", "LoadFromSklearn", "classification")
        fetch = getattr(library, f"fetch_{self.dataset_name}", None)
        if fetch is None:
            known = [name.removeprefix("fetch_") for name in dir(library) if name.startswith("fetch_")]
            raise DatasetNotFoundError(
                f"scikit-learn has no dataset '{self.dataset_name}'", hint=did_you_mean(self.dataset_name, known)
            )
        try:
            data = fetch(subset=split)
        except OSError as error:
            raise DatasetNotFoundError(f"'{self.dataset_name}' cannot be downloaded", why=str(error)) from error
        for value, target in zip(data["data"], data["target"], strict=True):
            yield {"data": value, "target": data["target_names"][target]}
