"""``lm_eval.api.task``: the classes that tasks written in Python derive from (``class: !function task.Name``).

A class says what it overrides; the rest is what a task file's keys say, done by the same parts that do it for task
files: prompts, draws, filters and metrics are theirs.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from random import Random
from typing import Any, ClassVar

from proctor.data import hub
from proctor.dialects.lm_eval.classes.samplers import ContextSampler
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.fields import find_plain
from proctor.errors import DataError, UsageError
from proctor.guests.lm_eval.filters import FilterEnsemble, build_filter_ensemble
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.overrides import Obeyed

ALL_OUTPUT_TYPES = ["loglikelihood", "multiple_choice", "loglikelihood_rolling", "generate_until"]


class Splits(Mapping[str, Any]):
    """The splits of a dataset, each loaded when it is asked for.

    Args:
        documents: Knows the dataset.

    Attributes:
        changed: Splits that a program has put in place of others.
    """

    def __init__(self, documents: TaskDocuments) -> None:
        self._documents = documents
        self.changed: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self.changed[name] if name in self.changed else self._documents.dataset(name)

    def __setitem__(self, name: str, documents: Any) -> None:
        self.changed[name] = documents

    @cached_property
    def _names(self) -> list[str]:
        return hub.split_names(self._documents.source())

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._names, *self.changed)))

    def __len__(self) -> int:
        return len({*self._names, *self.changed})


class Task(Obeyed, ABC):
    """An exam written in Python: what it overrides says which documents there are, and what is asked and scored."""

    VERSION: Any = None
    DATASET_PATH: ClassVar[str | None] = None
    DATASET_NAME: ClassVar[str | None] = None
    OUTPUT_TYPE: str | None = None

    dataset: Any
    sampler: ContextSampler

    def __init__(
        self,
        data_dir: str | None = None,
        cache_dir: str | None = None,
        download_mode: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self._prepare(config)
        self.download(data_dir, cache_dir, download_mode)

    def _prepare(self, config: Mapping[str, Any] | None) -> None:
        self._config = _config_of(config or {})
        self._config.dataset_path = self._config.dataset_path or self.DATASET_PATH
        self._config.dataset_name = self._config.dataset_name or self.DATASET_NAME
        self._instances: list[Instance] = []
        self._filters: list[FilterEnsemble] = [build_filter_ensemble("none", [("take_first", None)])]
        self.fewshot_rnd: Random | None = None
        self.fewshot_seed: int | None = None

    # -- documents ----------------------------------------------------------------------------------------------------

    def download(self, data_dir: str | None = None, cache_dir: str | None = None, download_mode: Any = None) -> None:
        """Make ``self.dataset``: the splits of ``DATASET_PATH``."""
        if cache_dir is not None or download_mode is not None:
            raise UsageError(
                f"{type(self).__name__} is told where to keep downloads",
                hint="HF_DATASETS_CACHE says it to the library that loads",
            )
        config = deepcopy(self._config)
        if data_dir is not None:
            config.dataset_kwargs = {**(config.dataset_kwargs or {}), "data_dir": data_dir}
        self.dataset = Splits(TaskDocuments(config))

    @property
    def config(self) -> TaskConfig:
        """What the class says in words of task files."""
        return self._config

    @abstractmethod
    def has_training_docs(self) -> bool:
        """Whether there are documents to learn from."""

    @abstractmethod
    def has_validation_docs(self) -> bool:
        """Whether there are documents to try on."""

    @abstractmethod
    def has_test_docs(self) -> bool:
        """Whether there are documents to be tested on."""

    def training_docs(self) -> Iterable[Any]:
        """Return the documents to learn from."""
        return []

    def validation_docs(self) -> Iterable[Any]:
        """Return the documents to try on."""
        return []

    def test_docs(self) -> Iterable[Any]:
        """Return the documents to be tested on."""
        return []

    def fewshot_docs(self) -> Iterable[Any]:
        """Return the documents that demos come from: the first of training, validation and test there is."""
        if self.has_training_docs():
            return self.training_docs()
        return self.validation_docs() if self.has_validation_docs() else self.test_docs()

    @property
    def eval_docs(self) -> Any:
        """The documents that are asked about.

        Raises:
            DataError: There are none.
        """
        if self.has_test_docs():
            return self.test_docs()
        if self.has_validation_docs():
            return self.validation_docs()
        raise DataError(f"{type(self).__name__} has neither test nor validation documents")

    # -- what a class says --------------------------------------------------------------------------------------------

    @abstractmethod
    def doc_to_text(self, doc: Any) -> Any:
        """Return the question."""

    @abstractmethod
    def doc_to_target(self, doc: Any) -> Any:
        """Return the answer."""

    def doc_to_prefix(self, doc: Any) -> str | None:
        """Return how the answer starts."""
        del doc
        return ""

    @staticmethod
    def resolve_field(doc: Any, field: str | None = None) -> Any:
        """Return a column of a document by its name, or what a template makes of it."""
        find = find_plain(field, "field")
        return None if find is None else find(doc)

    @property
    def task_name(self) -> str | None:
        """Its name."""
        return self._config.task

    def _process_doc(self, doc: Any) -> Any:
        return doc

    @abstractmethod
    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Any:
        """Return the requests about a document."""

    @abstractmethod
    def process_results(self, doc: Any, results: Sequence[Any]) -> Mapping[str, Any]:
        """Return the metrics of a document."""

    @abstractmethod
    def aggregation(self) -> Mapping[str, Callable[[Any], Any]]:
        """Return how each metric becomes one number."""

    @abstractmethod
    def higher_is_better(self) -> Mapping[str, bool | None]:
        """Return whether more of each metric is better."""

    def should_decontaminate(self) -> bool:
        """Whether the task says what to look for in training data."""
        return False

    @classmethod
    def count_bytes(cls, doc: str) -> int:
        """Return the length in bytes."""
        return len(doc.encode())

    @classmethod
    def count_words(cls, doc: str) -> int:
        """Return the number of words."""
        return len(re.split(r"\s+", doc))

    # -- asking -------------------------------------------------------------------------------------------------------

    @property
    def instances(self) -> list[Instance]:
        """The requests, once they are built."""
        return self._instances

    def set_config(self, key: str, value: Any, update: bool = False) -> None:
        """Set a key of the configuration; with ``update``, add to the mapping that it holds."""
        if update:
            value = {**(self._config.get(key) or {}), **value}
        setattr(self._config, key, value)

    def get_config(self, key: str) -> Any:
        """Return a key of the configuration."""
        return self._config.get(key)

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration as plain data."""
        return self._config.to_dict()

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Start the draws of demos anew."""
        self.fewshot_rnd, self.fewshot_seed = Random(seed), seed
        if hasattr(self, "sampler"):
            self.sampler.set_rnd(seed)

    def doc_iterator(
        self, limit: int | None = None, samples: Sequence[int] | None = None, *, rank: int = 0, world_size: int = 1
    ) -> Iterator[tuple[int, Any]]:
        """Yield documents with their numbers: the first ``limit``, or those of ``samples``, counted anew.

        Of ``world_size`` processes the one of a ``rank`` has every ``world_size``-th of them.
        """
        docs = enumerate(self.eval_docs)
        if samples:
            wanted = set(samples)
            docs = enumerate(doc for place, doc in docs if place in wanted)
        for place, doc in docs:
            if limit and not samples and place >= limit:
                return
            if place % world_size == rank:
                yield place, doc

    def build_all_requests(
        self,
        *,
        limit: int | None = None,
        samples: Sequence[int] | None = None,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., Any] | None = None,
        rank: int = 0,
        world_size: int = 1,
        cache_requests: bool = False,
        rewrite_requests_cache: bool = False,
        tokenizer_name: str = "",
    ) -> None:
        """Build the requests about all documents, or about those of one process of several.

        Requests are not kept, because they are built faster than they are read back: ``cache_requests``,
        ``rewrite_requests_cache`` and ``tokenizer_name``, which names a file of them, decide nothing.

        Raises:
            DataError: There is no document.
        """
        del cache_requests, rewrite_requests_cache, tokenizer_name
        built: list[Instance] = []
        for number, doc in self.doc_iterator(limit, samples, rank=rank, world_size=world_size):
            context = self.fewshot_context(
                doc,
                num_fewshot=self._config.num_fewshot or 0,
                system_instruction=system_instruction,
                apply_chat_template=apply_chat_template,
                fewshot_as_multiturn=fewshot_as_multiturn,
                chat_template=chat_template,
                gen_prefix=self.doc_to_prefix(doc),
            )
            made = self.construct_requests(
                doc=doc,
                ctx=context,
                metadata=(self._config.task, number, self._config.repeats),
                apply_chat_template=apply_chat_template,
                chat_template=chat_template,
            )
            built += made if isinstance(made, list) else [made]
        if not built:
            raise DataError(f"{type(self).__name__} finds no document to ask about")
        self._instances = built

    def fewshot_context(
        self, doc: Any, num_fewshot: int, rnd: Random | None = None, description: str | None = None, **_chat: Any
    ) -> Any:
        """Return demos and the question as one text.

        Raises:
            UsageError: The run wants a chat, and this class lays out plain text; or nothing says how to draw demos.
        """
        if _chat.get("apply_chat_template") or _chat.get("system_instruction"):
            raise UsageError(f"{type(self).__name__} lays out plain text: derive it from ConfigurableTask for chats")
        random = rnd or self.fewshot_rnd
        if random is None:
            raise UsageError(
                f"nothing says how {type(self).__name__} draws its demos",
                hint="pass rnd, a random.Random, or call set_fewshot_seed before",
            )
        shown = self._drawn(doc, num_fewshot, random) if num_fewshot else []
        demos = "".join(f"{self.doc_to_text(each)}{self.doc_to_target(each)}\n\n" for each in shown)
        return f"{description or ''}{demos}{self.doc_to_text(doc)}"

    def _drawn(self, doc: Any, count: int, random: Random) -> list[Any]:
        pool = list(self.fewshot_docs())
        if self.has_training_docs():
            return random.sample(pool, count)
        return ContextSampler.rm_eval_doc(doc, random.sample(pool, count + 1), count)

    def apply_filters(self) -> None:
        """File at each request what the filters make of its answers."""
        for each in self._filters:
            each.apply(self._instances)


def _config_of(given: Mapping[str, Any]) -> TaskConfig:
    known = {name: value for name, value in given.items() if name not in ("group", "class")}
    return TaskConfig(**known)
