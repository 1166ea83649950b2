"""Loaders of other sources: object storage, Kaggle, scikit-learn, Hugging Face spaces, web services.

What each needs is imported when it loads, so cards that name it can be read everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from typing_extensions import override

from proctor import foreign_text
from proctor.data import hub, web
from proctor.data.fields import Row
from proctor.data.loaders import LazyLoader, Loader
from proctor.effects import Effect, asking, is_allowed
from proctor.errors import (
    DataError,
    DatasetNotFoundError,
    MissingExtraError,
    ProctorError,
    ValidationError,
    did_you_mean,
)
from proctor.safe_files import written
from proctor.settings import settings


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


class LoadFromIBMCloud(Loader):
    """Files in object storage that speaks S3 (IBM Cloud, AWS, MinIO).

    Downloaded files are kept in the cache folder; ``.jsonl`` files are only read as far as ``loader_limit``.

    Attributes:
        endpoint_url_env: The environment variable with the address of the service.
        aws_access_key_id_env: The environment variable with the key's id.
        aws_secret_access_key_env: The environment variable with the key.
        bucket_name: The bucket.
        data_dir: A folder in the bucket.
        data_files: The files, in a list or by split.
        data_field: Where in a JSON file the rows are.
        caching: Use files that were downloaded before.
    """

    _default_policy = ["proprietary"]

    endpoint_url_env: str
    aws_access_key_id_env: str
    aws_secret_access_key_env: str
    bucket_name: str
    data_dir: str | None = None
    data_files: list[str] | dict[str, str | list[str]]
    data_field: str | None = None
    caching: bool | None = True

    @override
    def effects(self) -> Iterable[Effect]:
        named = Effect("env", self.endpoint_url_env, self.type_name())
        endpoint = os.environ.get(self.endpoint_url_env) if self.author is None or is_allowed(named) else None
        keys = (self.aws_access_key_id_env, self.aws_secret_access_key_env)
        return [named, *(asking(endpoint, self.type_name(), keys) if endpoint else ())]

    @override
    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        self.act()
        folder = self._download()
        extra = {"field": self.data_field} if self.data_field else {}
        files: Any = self.data_files if isinstance(self.data_files, dict) else None
        dataset = hub.Dataset(path=str(folder), data_files=files, extra=extra)
        return {split: _HubRows(dataset, split) for split in hub.split_names(dataset)}

    def file_names(self) -> list[str]:
        """Return the files to download."""
        if isinstance(self.data_files, list):
            return self.data_files
        return [name for each in self.data_files.values() for name in ([each] if isinstance(each, str) else each)]

    def _download(self) -> Path:
        root = Path(settings.cache_dir) / "object_storage"
        folder = root / self.bucket_name / (self.data_dir or "") / f"limit_{self.get_limit()}"
        for each in (folder, *(folder / name for name in self.file_names())):
            if not Path(os.path.abspath(each)).is_relative_to(root.absolute()):  # noqa: PTH100 - links in the cache are the user's
                raise DataError(f"'{each}' lies outside the cache", path=self.label())
        wanted = [name for name in self.file_names() if not (self.caching and (folder / name).is_file())]
        if wanted:
            client = self._client()
            for name in wanted:
                self._fetch(client, name, folder / name)
        return folder

    def _client(self) -> Any:
        names = (self.endpoint_url_env, self.aws_access_key_id_env, self.aws_secret_access_key_env)
        endpoint, key_id, key = (os.environ.get(name) for name in names)
        missing = [name for name, value in zip(names, (endpoint, key_id, key), strict=True) if not value]
        if missing:
            raise DataError(f"the environment variables {', '.join(missing)} are not set", path=self.label())
        storage = required_module("boto3", "boto3", "LoadFromIBMCloud")
        return storage.client("s3", endpoint_url=endpoint, aws_access_key_id=key_id, aws_secret_access_key=key)

    def _fetch(self, client: Any, name: str, target: Path) -> None:
        key = f"{self.data_dir}/{name}" if self.data_dir else name
        limit = self.get_limit() if name.endswith(".jsonl") else None
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with written(target) as file:
                body = client.get_object(Bucket=self.bucket_name, Key=key)["Body"]
                if limit is None:
                    file.writelines(body.iter_chunks(1 << 20))
                else:
                    file.writelines(line + b"\n" for line in islice(body.iter_lines(), limit))
        except _storage_errors() as error:
            raise DatasetNotFoundError(
                f"'{key}' cannot be downloaded from the bucket '{self.bucket_name}'", why=str(error)
            ) from error


def _storage_errors() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-not-found, unused-ignore]

    return (BotoCoreError, ClientError, OSError)


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
