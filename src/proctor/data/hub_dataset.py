"""A dataset by hub id: what is loaded, and the effects of loading it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.data.mapped_folder import local_folder
from proctor.effects import Author, Effect, has_scheme, reading, require, writing
from proctor.errors import DataError, DatasetNotFoundError, did_you_mean


@dataclass(frozen=True)
class Dataset:
    """A dataset to load: the arguments of ``datasets.load_dataset`` that choose it."""

    path: str
    name: str | None = None
    data_dir: str | None = None
    data_files: Any = None
    revision: str | None = None
    streaming: bool = False
    num_proc: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    author: Author | None = field(default=None, compare=False)

    @property
    def is_files(self) -> bool:
        """Whether it is files that are named one by one, and not a dataset."""
        return self.path in FILE_FORMATS and local_folder(self.path) is None

    @property
    def folder(self) -> Path | None:
        """The folder of this machine that it lies in; ``None`` for named files and for what is on the hub."""
        if self.is_files:
            return None
        found = local_folder(self.path)
        return found or (Path(self.path) if not has_scheme(self.path) and Path(self.path).is_dir() else None)

    def effects(self, by: str = "") -> list[Effect]:
        """Return the effects of loading beside reading mapped folders: other folders and files, the hub, servers."""
        effects: list[Effect] = []
        is_files = self.is_files
        if not is_files and local_folder(self.path) is None:
            is_place = has_scheme(self.path) or Path(self.path).expanduser().exists()
            effects += reading(self.path, self.author, by) if is_place else [Effect("hub", self.path, by)]
        base = self.folder or Path()
        for path in (*paths_in(self.data_files), *paths_in(self.data_dir)):
            if is_files or has_scheme(path) or Path(path).is_absolute() or ".." in Path(path).parts:
                effects += reading(path if has_scheme(path) else base / path, self.author, by)
        if self.extra.get("cache_dir"):
            effects += writing(str(self.extra["cache_dir"]), self.author, by)
        return effects

    def act(self) -> None:
        """Pass the gate: called directly before anything is loaded.

        Raises:
            NotAllowedError: Nobody allowed one of the :meth:`effects` to the file that names the dataset.
        """
        if self.author is not None:
            require(self.effects("loading the dataset"), self.author)

    def __str__(self) -> str:
        return f"'{self.path}'" + (f" ({self.name})" if self.name else "")


def paths_in(files: Any) -> Iterator[str]:
    """Yield the paths in ``data_files``: of a list, by split, or the one there is."""
    if isinstance(files, Mapping):
        files = list(files.values())
    if isinstance(files, (list, tuple)):
        for each in files:
            yield from paths_in(each)
    elif files is not None:
        yield str(files)


FILE_FORMATS = frozenset({"json", "csv", "parquet", "text", "arrow", "webdataset", "imagefolder", "audiofolder"})
"""Names of ``datasets`` that read files instead of a dataset of that name."""


def not_there(dataset: Dataset, what: str, name: str, known: Sequence[str], folder: Path | None = None) -> DataError:
    """Return the error of a configuration or split that is not there, or that nobody named; it tells those that are."""
    more = f" and {len(known) - 20} more" if len(known) > 20 else ""  # noqa: PLR2004 - more make a message a list
    hint = did_you_mean(name, known) or (f"choose one of {', '.join(known[:20])}{more}" if known else "")
    lacks = f"has no {what} '{name}'" if name else f"needs a {what}"
    return DatasetNotFoundError(f"the dataset {dataset} {lacks}", path=str(folder or ""), hint=hint)
