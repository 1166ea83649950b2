"""Loaders of other sources: object storage, Kaggle, scikit-learn, Hugging Face spaces, web services.

What each needs is imported when it loads, so cards that name it can be read everywhere.
"""

from __future__ import annotations

import fnmatch
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
from proctor.data.files import parse_json
from proctor.data.loaders import LazyLoader, Loader
from proctor.effects import Effect, asking, is_allowed, writing
from proctor.errors import DataError, DatasetNotFoundError, Location, MissingExtraError, ValidationError, did_you_mean
from proctor.safe_files import written
from proctor.settings import settings

_HUB = "huggingface.co"
DataFiles = str | list[str] | dict[str, str | list[str]]


def _required(module: str, package: str, loader: str, extra: str = "loaders") -> ModuleType:
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
        storage = _required("boto3", "boto3", "LoadFromIBMCloud")
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
        client = _required("kagglehub", "kagglehub", "LoadFromKaggle")
        name = "/".join(self.url.split("?")[0].rstrip("/").split("/")[-2:])
        folder = client.dataset_download(name)
        dataset = hub.Dataset(path=str(folder))
        return {split: _HubRows(dataset, split) for split in hub.split_names(dataset)}


class LoadFromSklearn(LazyLoader):
    """A dataset that scikit-learn downloads: ``sklearn.datasets.fetch_<dataset_name>(subset=split)``.

    Rows have ``data`` and ``target``, the name of the class.

    Attributes:
        dataset_name: Such as ``20newsgroups``.
        splits: The splits.
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
        library = _required("sklearn.datasets", "scikit-learn", "LoadFromSklearn", "classification")
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


class LoadFromHFSpace(LazyLoader):
    """JSON lines in the files of a Hugging Face space.

    Attributes:
        space_name: ``owner/name``.
        data_files: Paths in the space, by split or all in ``train``; ``*`` and ``?`` match any characters.
        path: A folder to keep the files in.
        revision: A branch, tag or commit.
        use_token: A token, or whether to use that of ``token_env``.
        token_env: The environment variable with a token.
    """

    _default_policy = ["public"]

    space_name: str
    data_files: DataFiles
    path: str | None = None
    revision: str | None = None
    use_token: bool | str | None = None
    token_env: str | None = None

    @override
    def get_splits(self) -> list[str]:
        return list(self.data_files) if isinstance(self.data_files, dict) else ["train"]

    @override
    def effects(self) -> Iterable[Effect]:
        key = [Effect("env", f"{self.token_env}@{_HUB}", self.type_name())] if self.token_env else []
        folder = writing(self.path, self.type_name()) if self.path else []
        return [Effect("hub", f"spaces/{self.space_name}", self.type_name()), *key, *folder]

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        self.act()
        files = self.data_files.get(split, []) if isinstance(self.data_files, dict) else self.data_files
        for pattern in [files] if isinstance(files, str) else files:
            for name in self._matching(pattern):
                yield from _json_lines(self._file(name))

    def _token(self) -> bool | str | None:
        if self.token_env is None:
            return self.use_token
        token = os.environ.get(self.token_env)
        if token is None and self.use_token:
            raise DataError(f"the environment variable {self.token_env} is not set", path=self.label())
        return token

    def _matching(self, pattern: str) -> list[str]:
        if not any(character in pattern for character in "*?[]"):
            return [pattern]
        folder = hub.local_folder(self.space_name)
        mapped = sorted(each.relative_to(folder).as_posix() for each in folder.glob(pattern)) if folder else []
        if mapped:
            return mapped
        client = _required("huggingface_hub", "huggingface_hub", "LoadFromHFSpace", "hf").HfApi()
        try:
            names = client.list_repo_files(self.space_name, repo_type="space", revision=self.revision)
        except _hub_errors() as error:
            raise self._not_found(pattern, error) from error
        return fnmatch.filter(names, pattern)

    def _file(self, name: str) -> Path:
        if (folder := hub.local_folder(self.space_name)) is not None and (folder / name).is_file():
            return folder / name
        client = _required("huggingface_hub", "huggingface_hub", "LoadFromHFSpace", "hf")
        try:
            path = client.hf_hub_download(
                repo_id=self.space_name,
                filename=name,
                repo_type="space",
                token=self._token(),
                revision=self.revision,
                local_dir=self.path,
            )
        except _hub_errors() as error:
            raise self._not_found(name, error) from error
        return Path(path)

    def _not_found(self, name: str, error: Exception) -> DatasetNotFoundError:
        return DatasetNotFoundError(
            f"'{name}' of the space '{self.space_name}' cannot be downloaded",
            why=str(error).strip().partition("\n")[0],
            hint=f"put it in <folder>/{self.space_name}/ and set PROCTOR_HUB_DIR=<folder>",
        )


def _hub_errors() -> tuple[type[Exception], ...]:
    from huggingface_hub.errors import HfHubHTTPError

    return (HfHubHTTPError, OSError, ValueError)


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if text := line.strip():
                row = parse_json(text, str(path), number)
                if not isinstance(row, dict):
                    raise DataError("the line is not a JSON object", location=Location(str(path), number, 1))
                yield row


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


class TURLColumnTypeAnnotationLoader(LazyLoader):
    """Columns of Wikipedia tables with the types of what is in them (TURL, in HELM's collection on the hub)."""

    _default_policy = ["public"]

    @override
    def get_splits(self) -> list[str]:
        return ["train", "validation", "test"]

    @override
    def effects(self) -> Iterable[Effect]:
        return [Effect("hub", "stanford-crfm/helm-scenarios", self.type_name())]

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        self.act()
        for page in foreign_text.parse_json(self._file(split).read_text(encoding="utf-8")):
            _, title, _, section, caption, names, cells, annotations = page[:8]
            table = _turl_table(names, cells)
            for name, types in zip(names, annotations, strict=False):
                yield {
                    "page_title": title,
                    "section_title": section,
                    "table_caption": caption,
                    "table": table,
                    "colname": name,
                    "annotations": types,
                }

    def _file(self, split: str) -> Path:
        repository = "stanford-crfm/helm-scenarios"
        name = f"turl-column-type-annotation/{'dev' if split == 'validation' else split}.table_col_type.json"
        if (folder := hub.local_folder(repository)) is not None and (folder / name).is_file():
            return folder / name
        client = _required("huggingface_hub", "huggingface_hub", "TURLColumnTypeAnnotationLoader", "hf")
        try:
            return Path(client.hf_hub_download(repository, filename=name, repo_type="dataset", revision="main"))
        except _hub_errors() as error:
            raise hub.not_found(hub.Dataset(path=repository), error) from error


def _turl_table(names: list[str], columns: list[Any]) -> Row:
    """Return the table of TURL's cells, ``[[row, column], [id, text]]`` by column, without the last row as upstream."""
    if not columns:
        return {"header": names, "rows": []}
    texts = [{cell[0][0]: cell[1][1] for cell in reversed(column)} for column in columns]
    count = max(column[-1][0][0] for column in columns)
    rows = [[column.get(i, "") for column in texts] for i in range(count)]
    return {"header": names, "rows": [row for row in rows if any(row)]}
