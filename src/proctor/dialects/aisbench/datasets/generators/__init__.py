"""Functions that make a dataset's rows where no table can say it: texts built around a needle, folders of documents.

A generator takes what it reads with (:class:`Source`), and returns the rows of a split. Tables name it as
``module:function``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from proctor.data.fields import Row
from proctor.data.row_files import PLAIN, FileFormat
from proctor.dialects.aisbench.datasets.files import file_rows, find_file, found_file, local_path
from proctor.dialects.aisbench.datasets.hub_loads import loaded_splits
from proctor.dialects.aisbench.datasets.splits import WHOLE
from proctor.errors import DataError, Location, reason_of

LINES = FileFormat(lines=True)
"""Files of JSON lines, whatever they are called."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files and arguments that a generator reads.

    Attributes:
        arguments: Of the dataset's config; paths are places in the data folder.
        place: Where the config is.
        split: The split whose rows are wanted.
    """

    arguments: Mapping[str, Any]
    place: Location | None = None
    split: str = WHOLE

    def rows(self, path: str, layout: FileFormat = PLAIN) -> list[Row]:
        """Return the rows of a file.

        Raises:
            DatasetNotFoundError: There is no such file.
            DataError: It is not what its name says.
        """
        return file_rows(path, layout, self.place)

    def document(self, path: str) -> Any:
        """Return a whole JSON document.

        Raises:
            DatasetNotFoundError: There is no such file.
            DataError: It is not JSON.
        """
        return file_rows(path, FileFormat(whole=True), self.place)[0]["value"]

    def text(self, path: str, most: int = -1) -> str:
        """Return the text of a file, or its first characters.

        Raises:
            DatasetNotFoundError: There is no such file.
            DataError: It is not UTF-8.
        """
        file = found_file(path, self.place)
        try:
            with file.open(encoding="utf-8") as stream:
                return stream.read(most)
        except (OSError, UnicodeDecodeError) as error:
            raise DataError("the file cannot be read", location=Location(str(file)), why=reason_of(error)) from None

    def find(self, path: str) -> Path | None:
        """Return where a file or folder is; ``None`` where it is not."""
        return find_file(local_path(path), self.place)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted.

        Raises:
            DatasetNotFoundError: There is no such folder.
        """
        return sorted(each.name for each in found_file(folder, self.place).iterdir())

    def load(self, **arguments: Any) -> list[Row]:
        """Return the rows of one split, as ``datasets.load_dataset`` gives them.

        Raises:
            DatasetNotFoundError: There is no such dataset.
        """
        return list(loaded_splits(arguments, self.place)[WHOLE]())


Generator = Callable[[Source], list[Row]]


def generator(place: str) -> Generator:
    """Return a generator by ``module:function``."""
    module, _, function = place.partition(":")
    found: Generator = getattr(import_module(f"{__package__}.{module}"), function)
    return found
