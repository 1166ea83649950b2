"""The documents of a task: its dataset's splits, processed as the task says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.code_draws import DEFAULT_SEEDS, Seeds, Stream, draws_of
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import as_function
from proctor.effects import Author, Effect, author_of_file
from proctor.errors import DataError, Location, ProctorError
from proctor.lazy import Deferred

if TYPE_CHECKING:
    from proctor.data import hub
else:
    hub = Deferred("proctor.data.hub")

LOAD_ARGUMENTS = frozenset({"data_dir", "data_files", "revision", "num_proc"})

Documents = Sequence[Mapping[str, Any]]


class TaskDocuments:
    """Reads the splits that a task names, each once.

    Args:
        config: The task.
        seeds: What code of the task draws from.
    """

    def __init__(self, config: TaskConfig, seeds: Seeds = DEFAULT_SEEDS) -> None:
        self.config = config
        self._whole: Any = None
        self._splits: dict[str, Any] = {}
        self._processed: dict[tuple[str, Any], Documents] = {}
        self._stream = Stream(seeds)

    @property
    def eval_split(self) -> str:
        """The split that is asked about: the test split, else the validation split.

        Raises:
            DataError: The task names neither.
        """
        split = self.config.test_split or self.config.validation_split
        if split is None:
            raise DataError(
                f"the task '{self.config.task}' has neither test_split nor validation_split",
                why="nothing says which rows are asked",
                hint="write test_split: test; rows of files that dataset_kwargs names are in the split 'train'",
            )
        return split

    def asked(self) -> Documents:
        """Return the documents to ask about.

        Where ``process_docs`` draws, those that demos come from are processed before, as in lm-eval.
        """
        process, split = self.config.process_docs, self.eval_split
        is_first = (split, _key_of(process)) not in self._processed
        if is_first and process is not None and draws_of(as_function(process, "process_docs")) is not None:
            with suppress(DataError):  # of demos that nobody asks for; where somebody does, it is said then
                self.pool()
        return self.split(split, process)

    def pool(self) -> Documents:
        """Return the documents that demos come from.

        They are the fewshot split, the samples, or the first of train, validation and test split that there is.
        """
        config, fewshot = self.config, self.config.fewshot
        if fewshot.split is not None:
            return self.split(fewshot.split, fewshot.process_docs)
        if fewshot.samples is not None:
            function = as_function(fewshot.samples, "fewshot_config.samples")
            with self._stream.going_on(function):
                return self._samples(fewshot.samples if function is None else function())
        return self.split(self.pool_split or self.eval_split, config.process_docs)

    @property
    def pool_split(self) -> str | None:
        """The split that demos come from; ``None`` where the task brings samples."""
        config, fewshot = self.config, self.config.fewshot
        if fewshot.split is not None:
            return fewshot.split
        if fewshot.samples is not None:
            return None
        return config.training_split or config.validation_split or self.eval_split

    def _samples(self, samples: Any) -> Documents:
        """Return demos that a task brings."""
        listed = list(samples)
        odd = next((place for place, each in enumerate(listed) if not isinstance(each, Mapping)), None)
        if odd is None:
            return listed
        source = self.config.source
        raise DataError(
            f"fewshot_config.samples[{odd}] is {listed[odd]!r}, not a row",
            location=source.location(f"fewshot_config.samples[{odd}]") if source is not None else None,
            hint="each sample is a mapping of columns",
        )

    def shown_pool(self) -> Documents:
        """Return :meth:`pool`, or the documents of it that ``fewshot_config.fewshot_indices`` chooses."""
        pool, places = self.pool(), self.config.fewshot.fewshot_indices
        return pool if places is None else [pool[place] for place in places]

    def split(self, name: str, process: Any) -> Documents:
        """Return a split's documents after ``process_docs``."""
        key = (name, _key_of(process))
        if key not in self._processed:
            function = as_function(process, "process_docs")
            try:
                with self._stream.going_on(function):
                    made = self._rows(name) if function is None else hub.rows_of(function(self.dataset(name)))
                self._processed[key] = made
            except DataError as error:
                source = self.config.source
                raise error.located(source.location("dataset_path") if source is not None else None) from None
        return self._processed[key]

    def draws(self) -> bool:
        """Whether code that makes documents draws at random; not where it may not run."""
        config = self.config
        for spec in (config.process_docs, config.fewshot.process_docs, config.custom_dataset, config.fewshot.samples):
            with suppress(ProctorError):
                if draws_of(as_function(spec, "documents")) is not None:
                    return True
        return False

    def columns(self) -> list[str]:
        """Return the names of the columns of the documents that are asked about."""
        docs = self.asked()
        return list(docs[0]) if docs else []

    # -- loading ----------------------------------------------------------------------------------------------

    def source(self) -> hub.Dataset:
        """Return what to load."""
        config = self.config
        arguments = dict(config.dataset_kwargs or {})
        arguments.pop("trust_remote_code", None)
        known = {key: arguments.pop(key) for key in LOAD_ARGUMENTS & set(arguments)}
        if "data_files" in known:
            known["data_files"] = located_files(
                known["data_files"], None if config.source is None else config.source.path
            )
        if config.dataset_path is None:
            raise DataError(f"the task '{config.task}' names no dataset_path")
        name = None if config.dataset_name is None else str(config.dataset_name)
        return hub.Dataset(path=str(config.dataset_path), name=name, extra=arguments, author=self.author, **known)

    @property
    def author(self) -> Author | None:
        """The task's file; ``None`` where a program made the task."""
        return None if self.config.source is None else author_of_file(self.config.source.path)

    def effects(self) -> list[Effect]:
        """Return what loading does besides reading mapped folders."""
        if self.author is None or self.config.dataset_path is None or self.config.custom_dataset is not None:
            return []
        return self.source().effects("dataset_path")

    def _rows(self, name: str) -> Documents:
        if self.config.custom_dataset is not None:
            return hub.rows_of(self.dataset(name))
        path = str(self.config.dataset_path)
        if hub.local_folder(path) is not None or path in hub.FILE_FORMATS:
            return hub.held_rows(self.source(), name)
        return hub.rows_of(self.dataset(name))

    def dataset(self, name: str) -> Any:
        """Return a split as ``datasets`` gives it, which is what functions of task files expect."""
        if name not in self._splits:
            self._splits[name] = self._custom(name) if self.config.custom_dataset is not None else self._load(name)
        return self._splits[name]

    def _custom(self, name: str) -> Any:
        if self._whole is None:
            function = as_function(self.config.custom_dataset, "custom_dataset")
            if function is None:
                raise DataError("custom_dataset is not a function")
            metadata = dict(self.config.metadata) if isinstance(self.config.metadata, dict) else {}
            if self.config.source is not None:  # lm-eval adds it, and functions may name it among their parameters
                metadata["config_source"] = str(self.config.source.path)
            with self._stream.going_on(function):
                self._whole = function(**metadata, **(self.config.dataset_kwargs or {}))
        if name not in self._whole:
            raise DataError(f"custom_dataset has no split '{name}'", why=f"the splits are {', '.join(self._whole)}")
        return self._whole[name]

    def _load(self, name: str) -> Any:
        source = self.source()
        source.act()
        return hub.library_split(source, name)


def located_files(files: Any, source: str | Path | None) -> Any:
    """Return data files with paths: as given where that exists, else beside the task file ``source``."""
    if isinstance(files, dict):
        return {split: located_files(each, source) for split, each in files.items()}
    if isinstance(files, list):
        return [located_files(each, source) for each in files]
    if not isinstance(files, str | Path):
        raise DataError(
            f"data_files names {files!r}",
            location=None if source is None else Location(str(source)),
            hint="write the name of a file, a list of names, or one for each split",
        )
    if not source or "://" in str(files) or Path(files).exists():
        return files
    beside = Path(source).parent / str(files)
    return str(beside) if beside.exists() else files


def _key_of(process: Any) -> str | None:
    """Return under which name documents are kept that a function has processed."""
    return None if process is None else str(process)
