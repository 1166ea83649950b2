"""Loaders of other sources: object storage, Kaggle, scikit-learn, Hugging Face spaces, web services.

What each needs is imported when it loads, so cards that name it can be read everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType

from typing_extensions import override

from proctor.data import hub
from proctor.data.fields import Row
from proctor.data.loaders import LazyLoader, Loader
from proctor.effects import Effect
from proctor.errors import DatasetNotFoundError, MissingExtraError, did_you_mean


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
