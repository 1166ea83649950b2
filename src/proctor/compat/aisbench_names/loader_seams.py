"""What a program puts in the place of a loader's means: ``open``, ``get_data_path``, ``load_dataset``.

Programs and tests replace names of the module that a dataset class comes from. The loaders here are Proctor's, which
read nothing through those modules; so they ask, each time, whether a program has replaced one, and use what it gave.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from proctor.compat.aisbench_names.logger import AISLogger
from proctor.data.fields import Row
from proctor.data.file_access import FileAccess, reached_by
from proctor.errors import DataError

logger = AISLogger()
"""What loaders write to, in every module of datasets."""

_PACKAGE = "ais_bench.benchmark.datasets"
_READERS: Mapping[str, str] = {"read_csv": "pandas.io.parsers.readers", "read_parquet": "pandas.io.parquet"}
"""Functions of ``pandas`` that read files, and the modules that they are of where no program has replaced them."""
_HELPERS = "proctor.compat.aisbench_names.dataset_helpers"
SEAMS: Mapping[str, str] = {
    "get_data_path": f"{_HELPERS}:get_data_path",
    "get_content_str": f"{_HELPERS}:get_content_str",
    "get_meta_json": f"{_HELPERS}:get_meta_json",
    "get_sample_data": f"{_HELPERS}:get_sample_data",
    "load_dataset": "datasets:load_dataset",
    "concatenate_datasets": "datasets:concatenate_datasets",
    "Dataset": "datasets:Dataset",
    "DatasetDict": "datasets:DatasetDict",
    "logger": f"{__name__}:logger",
    "AISLogger": "proctor.compat.aisbench_names.logger:AISLogger",
    "environ": "os:environ",
    "os": "os",
    "osp": "os.path",
    "json": "json",
    "csv": "csv",
    "re": "re",
    "random": "random",
    "pd": "pandas",
    "np": "numpy",
}
"""Names that every module of datasets has, and what they are where nobody has replaced them."""


class ReplacedFiles(FileAccess):
    """Files as a program's own ``open`` and ``os`` give them."""

    def exists(self, path: Path) -> bool:
        """Whether the program has such a file; its ``open`` and its ``pandas.read_csv`` have every one."""
        return _is_open_replaced() or _is_table_replaced("read_csv") or os.path.exists(path)  # noqa: PTH110 - programs replace it

    def is_file(self, path: Path) -> bool:
        """Whether it is one of them, rather than a folder on the disk."""
        return not path.is_dir()

    def opened(self, path: Path, encoding: str | None = "utf-8", errors: str = "strict") -> IO[str]:
        """Open a file with the program's ``open``."""
        del errors
        return builtins.open(str(path), encoding=encoding)  # noqa: PTH123 - programs replace it

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file from the program's ``open``."""
        with builtins.open(str(path), "rb") as file:  # noqa: PTH123 - programs replace it
            return file.read()

    def parquet(self, path: Path) -> Iterator[Row]:
        """Yield the rows of the table that the program's ``pandas.read_parquet`` gives."""
        if not _is_table_replaced("read_parquet"):
            return super().parquet(path)
        table = sys.modules["pandas"].read_parquet(str(path))
        return iter(table.to_dict("records"))


def _is_open_replaced() -> bool:
    return builtins.open is not io.open


def _is_table_replaced(name: str) -> bool:
    """Whether a program has put something in the place of a function of ``pandas``."""
    home, own = sys.modules.get("pandas"), sys.modules.get(_READERS[name])
    return home is not None and own is not None and getattr(home, name) is not getattr(own, name)


class LoaderSeams:
    """What a program has replaced around a dataset class.

    Args:
        kind: The class.
    """

    def __init__(self, kind: type[Any]) -> None:
        self._modules = list(_modules_with(kind))

    def replaced(self, name: str) -> Any:
        """Return what a program has put in the place of a name; ``None`` where it has not."""
        home, _, attribute = SEAMS[name].partition(":")
        own = getattr(import_module(home), attribute)
        values = (vars(module).get(name) for module in self._modules)
        return next((value for value in values if value is not None and value is not own), None)

    def resolved(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a loader's arguments, the path where a program's ``get_data_path`` says it is."""
        where = self.replaced("get_data_path")
        if where is None or "path" not in arguments:
            return arguments
        return {**arguments, "path": where(arguments["path"], local_mode=True)}

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let loaders in this block read with the program's ``open``, where it has one.

        Raises:
            OSError: That ``open`` raises it.
        """
        if not (_is_open_replaced() or any(map(_is_table_replaced, _READERS))):
            yield
            return
        try:
            with reached_by(ReplacedFiles()):
                yield
        except DataError as error:
            if isinstance(error.__context__, OSError):  # the program's own, which it waits for
                raise error.__context__ from error
            raise


def _modules_with(kind: type[Any]) -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE) and vars(module).get(kind.__name__) is kind:
            yield module
