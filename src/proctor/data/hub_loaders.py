"""Rows of files on the hub that are not datasets: of spaces, and TURL's tables."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typing_extensions import override

from proctor import foreign_text
from proctor.data import hub
from proctor.data.fields import Row
from proctor.data.files import parse_json
from proctor.data.hub_access import is_local_only
from proctor.data.loaders import LazyLoader
from proctor.data.remote import required_module
from proctor.effects import Effect, writing
from proctor.errors import DataError, DatasetNotFoundError, Location
from proctor.safe_python import compile_predicate


class LoadHF(LazyLoader):
    """A dataset by its hub id, see :mod:`proctor.data.hub` for where it is looked for.

    Attributes:
        path: The hub id, a folder, or a file format (``csv``, ``json``, ``parquet``) with ``data_files``.
        name: The configuration.
        data_dir: A folder inside the dataset.
        data_files: Files inside the dataset, all in one or by split.
        revision: A branch, tag or commit.
        streaming: Download rows as they are read.
        filtering_lambda: Keep rows for which this is true, as in ``lambda x: x["lang"] == "en"``; an expression of the
            kind that ``FilterByExpression`` takes.
        splits: The names of the splits, which saves asking for them.
        requirements_list: Accepted for old cards.
    """

    path: str
    name: str | None = None
    data_dir: str | None = None
    split: str | None = None
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    revision: str | None = None
    streaming: bool | None = None
    filtering_lambda: str | None = None
    num_proc: int | None = None
    splits: list[str] | None = None

    @override
    def prepare(self) -> None:
        super().prepare()
        if self.filtering_lambda:
            compile_predicate(self.filtering_lambda)

    @override
    def default_policy(self) -> list[str] | None:
        return ["proprietary"] if os.path.exists(self.path) else ["public"]  # noqa: PTH110 - a hub id is not a path

    def dataset(self) -> hub.Dataset:
        """Return the dataset to load."""
        return hub.Dataset(
            path=self.path,
            name=self.name,
            data_dir=self.data_dir,
            data_files=self.data_files,
            revision=self.revision,
            streaming=bool(self.streaming),
            num_proc=self.num_proc,
            author=self.author,
        )

    @override
    def effects(self) -> Iterable[Effect]:
        return self.dataset().effects(self.label())

    @override
    def get_splits(self) -> list[str]:
        return self.splits if self.splits is not None else hub.split_names(self.dataset())

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        rows: Iterable[Row] = hub.rows(self.dataset(), split)
        if self.filtering_lambda:
            keep: Any = compile_predicate(self.filtering_lambda)
            rows = filter(keep, rows)
        yield from rows


_HUB = "huggingface.co"
DataFiles = str | list[str] | dict[str, str | list[str]]


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
        folder = writing(self.path, self.author, self.type_name()) if self.path else []
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
        client = required_module("huggingface_hub", "huggingface_hub", "LoadFromHFSpace", "hf").HfApi()
        if is_local_only(self.space_name):
            raise self._not_found(pattern, OSError("the hub does not answer, or must not be asked"))
        try:
            names = client.list_repo_files(self.space_name, repo_type="space", revision=self.revision)
        except _hub_errors() as error:
            raise self._not_found(pattern, error) from error
        return fnmatch.filter(names, pattern)

    def _file(self, name: str) -> Path:
        if (folder := hub.local_folder(self.space_name)) is not None and (folder / name).is_file():
            return folder / name
        client = required_module("huggingface_hub", "huggingface_hub", "LoadFromHFSpace", "hf")
        try:
            path = client.hf_hub_download(
                repo_id=self.space_name,
                filename=name,
                repo_type="space",
                token=self._token(),
                revision=self.revision,
                local_dir=self.path,
                local_files_only=is_local_only(self.space_name),
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


def _turl_table(names: list[str], columns: list[Any]) -> Row:
    """Return the table of TURL's cells, ``[[row, column], [id, text]]`` by column, without the last row as upstream."""
    if not columns:
        return {"header": names, "rows": []}
    texts = [{cell[0][0]: cell[1][1] for cell in reversed(column)} for column in columns]
    count = max(column[-1][0][0] for column in columns)
    rows = [[column.get(i, "") for column in texts] for i in range(count)]
    return {"header": names, "rows": [row for row in rows if any(row)]}


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
        client = required_module("huggingface_hub", "huggingface_hub", "TURLColumnTypeAnnotationLoader", "hf")
        try:
            local = is_local_only(repository)
            return Path(client.hf_hub_download(repository, name, repo_type="dataset", local_files_only=local))
        except _hub_errors() as error:
            raise hub.not_found(hub.Dataset(path=repository), error) from error


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if text := line.strip():
                row = parse_json(text, str(path), number)
                if not isinstance(row, dict):
                    raise DataError("the line is not a JSON object", location=Location(str(path), number, 1))
                yield row
