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
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.document_scores import DocumentScorer
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.filters import make_pipelines
from proctor.dialects.lm_eval.metric_list import metrics_of
from proctor.dialects.lm_eval.package.filters import FilterEnsemble, build_filter_ensemble
from proctor.dialects.lm_eval.package.instance import Instance
from proctor.dialects.lm_eval.package.messages import Message, maybe_delimit, requires_delimiter
from proctor.dialects.lm_eval.package.samplers import ContextSampler, get_sampler
from proctor.dialects.lm_eval.prepared import DocumentView
from proctor.dialects.lm_eval.prompts import joined, make_demo, multiturn_messages, single_message, turn_pieces
from proctor.dialects.lm_eval.task_fields import TaskFields, compile_fields
from proctor.errors import DataError, TemplateError, UsageError

ALL_OUTPUT_TYPES = ["loglikelihood", "multiple_choice", "loglikelihood_rolling", "generate_until"]


class Splits(Mapping[str, Any]):
    """The splits of a dataset, each loaded when it is asked for.

    Args:
        documents: Knows the dataset.
    """

    def __init__(self, documents: TaskDocuments) -> None:
        self._documents = documents

    def __getitem__(self, name: str) -> Any:
        return self._documents.dataset(name)

    @cached_property
    def _names(self) -> list[str]:
        return hub.split_names(self._documents.source())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Task(ABC):
    """An exam written in Python: what it overrides says which documents there are, and what is asked and scored."""

    VERSION: ClassVar[Any] = None
    DATASET_PATH: ClassVar[str | None] = None
    DATASET_NAME: ClassVar[str | None] = None
    OUTPUT_TYPE: ClassVar[str | None] = None

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
    def higher_is_better(self) -> Mapping[str, bool]:
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
        self.fewshot_rnd = Random(seed)
        if hasattr(self, "sampler"):
            self.sampler.set_rnd(seed)

    def doc_iterator(self, limit: int | None = None, samples: Sequence[int] | None = None) -> Iterator[tuple[int, Any]]:
        """Yield documents with their numbers: the first ``limit``, or those of ``samples``, counted anew."""
        docs = enumerate(self.eval_docs)
        if samples:
            wanted = set(samples)
            yield from enumerate(doc for place, doc in docs if place in wanted)
            return
        for place, doc in docs:
            if limit and place >= limit:
                return
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
    ) -> None:
        """Build the requests about all documents.

        Raises:
            DataError: There is no document.
        """
        built: list[Instance] = []
        for number, doc in self.doc_iterator(limit, samples):
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
            UsageError: The run wants a chat, and this class lays out plain text.
        """
        if _chat.get("apply_chat_template") or _chat.get("system_instruction"):
            raise UsageError(f"{type(self).__name__} lays out plain text: derive it from ConfigurableTask for chats")
        random = rnd or self.fewshot_rnd or Random()
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


class ConfigurableTask(Task):
    """A task whose keys are those of task files; a class overrides what they cannot say."""

    VERSION: ClassVar[Any] = "Yaml"
    CONFIG: ClassVar[Mapping[str, Any] | None] = None

    def __init__(
        self,
        data_dir: str | None = None,
        cache_dir: str | None = None,
        download_mode: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if data_dir is not None or cache_dir is not None or download_mode is not None:
            raise UsageError(f"{type(self).__name__} is told how to load", hint="dataset_kwargs says it")
        self._prepare({**(_mapping(self.CONFIG) or {}), **(config or {})})
        self.download(self._config.dataset_kwargs)
        if self._config.filter_list is not None:
            self._filters = [_ensemble(each) for each in self._config.filter_list]
        kind = self._config.fewshot.sampler
        self.sampler = (get_sampler(kind) if isinstance(kind, str) else kind)(list(self.fewshot_docs() or ()), rnd=None)

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **more: Any) -> None:  # type: ignore[override]
        """Make ``self.dataset``: the splits that the keys name."""
        config = deepcopy(self._config)
        config.dataset_kwargs = {**(dataset_kwargs or {}), **more}
        self.dataset = Splits(TaskDocuments(config))

    def has_training_docs(self) -> bool:
        """Whether there is a ``training_split``."""
        return self._config.training_split is not None

    def has_validation_docs(self) -> bool:
        """Whether there is a ``validation_split``."""
        return self._config.validation_split is not None

    def has_test_docs(self) -> bool:
        """Whether there is a ``test_split``."""
        return self._config.test_split is not None

    def training_docs(self) -> Any:
        """Return the documents of ``training_split``."""
        return self._split(self._config.training_split)

    def validation_docs(self) -> Any:
        """Return the documents of ``validation_split``."""
        return self._split(self._config.validation_split)

    def test_docs(self) -> Any:
        """Return the documents of ``test_split``."""
        return self._split(self._config.test_split)

    def _split(self, name: str | None, process: Any = None) -> Any:
        if name is None:
            return None
        process = process or self._config.process_docs
        return self.dataset[name] if process is None else process(self.dataset[name])

    def fewshot_docs(self) -> Any:
        """Return the documents that demos come from: what the keys say, else the first split there is."""
        fewshot: FewshotConfig = self._config.fewshot
        if fewshot.split is not None:
            return self._split(fewshot.split, fewshot.process_docs)
        if fewshot.samples is not None:
            return fewshot.samples() if callable(fewshot.samples) else fewshot.samples
        return super().fewshot_docs()

    @cached_property
    def fields(self) -> TaskFields:
        """What the keys take from a document, compiled."""
        docs = list(self.eval_docs or ())  # a class that is tried without documents has none
        return compile_fields(self._config, list(docs[0]) if docs else [])

    def doc_to_text(self, doc: Any, doc_to_text: Any = None) -> Any:
        """Return the question; ``doc_to_text`` is another specification of it."""
        return self._other("doc_to_text", doc_to_text, doc) if doc_to_text is not None else self.fields.asked.text(doc)

    def doc_to_target(self, doc: Any, doc_to_target: Any = None) -> Any:
        """Return the answer; ``doc_to_target`` is another specification of it."""
        if doc_to_target is not None:
            return self._other("doc_to_target", doc_to_target, doc)
        return self.fields.asked.target(doc)

    def doc_to_choice(self, doc: Any, doc_to_choice: Any = None) -> list[str] | None:
        """Return the choices; ``None`` where there are none."""
        if doc_to_choice is not None:
            return list(self._other("doc_to_choice", doc_to_choice, doc))
        return None if self.fields.asked.choices is None else self.fields.asked.choices(doc)

    def _other(self, key: str, spec: Any, doc: Mapping[str, Any]) -> Any:
        if callable(spec):
            return spec(doc)
        config = deepcopy(self._config)
        setattr(config, key, spec)
        asked = compile_fields(config, list(doc)).asked
        find = {"doc_to_text": asked.text, "doc_to_target": asked.target, "doc_to_choice": asked.choices}[key]
        return None if find is None else find(doc)

    def doc_to_prefix(self, doc: Any) -> str | None:
        """Return how the answer starts."""
        if self._config.gen_prefix is None:
            return None
        return None if self.fields.asked.prefix is None else self.fields.asked.prefix(doc)

    def _has_choices(self) -> bool:
        return self._config.doc_to_choice is not None

    def fewshot_context(  # type: ignore[override]
        self,
        doc: Any,
        num_fewshot: int,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., Any] | None = None,
        gen_prefix: str | None = None,
    ) -> Any:
        """Return system text, demos and question: one text, or what the chat template makes of messages."""
        config = self._config
        system = joined(system_instruction, self._description(doc), config.fewshot_delimiter)
        is_own = config.fewshot.split == config.test_split
        shown = self.sampler.sample(num_fewshot, eval_doc=doc if is_own else None) if num_fewshot else []
        demos = [make_demo(self._pieces(each, number)) for number, each in enumerate(shown)]
        choices = self.doc_to_choice(doc) if self._has_choices() else None
        question: Any = self.doc_to_text(doc)
        if isinstance(question, int) and choices:
            last = [turn_pieces(each, None, None, gen_prefix, ("", "")) for each in choices]
        else:
            last = [turn_pieces(question, None, choices, gen_prefix, (config.target_delimiter, ""))]
        laid_out = []
        for pieces in last:
            if apply_chat_template and chat_template is not None:
                lay_out = multiturn_messages if fewshot_as_multiturn else single_message
                laid_out.append(chat_template(lay_out(system, demos, pieces), add_generation_prompt=not gen_prefix))
            else:
                plain = "".join(each.text + each.delimiter for each in pieces)
                laid_out.append(f"{system}{''.join(each.text for each in demos)}{plain}")
        return laid_out if isinstance(question, int) and choices else laid_out[0]

    def build_qa_turn(
        self,
        *,
        q: str | None = None,
        c: list[str] | None = None,
        a: str | int | list[str] | None = None,
        gen_prefix: str | None = None,
        tgt_delim: str = " ",
        few_delim: str = "\n\n",
    ) -> list[Message]:
        """Return a question, and its answer where there is one, as messages.

        Args:
            q: The question.
            c: The choices, where the answer is the place of one.
            a: The answer; of several the first.
            gen_prefix: How the answer starts.
            tgt_delim, few_delim: What stands between question and answer, and after the answer.

        Raises:
            TemplateError: Question or answer is not a text.
        """
        if not isinstance(q, str):
            raise TemplateError(f"the question is {q!r}, not a text")
        answer = c[a] if c and isinstance(a, int) else a[0] if isinstance(a, list) else a
        if answer is None or answer == "":
            between = tgt_delim if gen_prefix and requires_delimiter(q, gen_prefix) else ""
            return [Message("user", q, between), *([Message("assistant", gen_prefix)] if gen_prefix else [])]
        if not isinstance(answer, str):
            raise TemplateError(f"the answer is {a!r}, not a text")
        between = tgt_delim if not gen_prefix or requires_delimiter(q, gen_prefix) else ""
        return [Message("user", q, between), Message("assistant", maybe_delimit(gen_prefix, answer), few_delim)]

    def _description(self, doc: Any) -> str:
        if not self._config.description:
            return ""
        find = self.fields.description
        return str(find(doc)) if find is not None else ""

    def _pieces(self, doc: Any, number: int) -> Any:
        """Return a demo's question and answer, as ``fewshot_config`` says where that differs."""
        fewshot, config = self._config.fewshot, self._config
        keys = ("doc_to_text", "doc_to_target")
        text, target = ({} if (own := fewshot_spec(fewshot, config, key)) is None else {key: own} for key in keys)
        question: Any = self.doc_to_text(doc, **text)
        choices = self.doc_to_choice(doc) if self._has_choices() else None
        if isinstance(question, int) and choices:
            question, choices = choices[question], None
        between, after = fewshot.target_delimiter, fewshot.fewshot_delimiter
        delimiters = (
            config.target_delimiter if between is None else between,
            config.fewshot_delimiter if after is None else after,
        )
        return turn_pieces(
            question, self.doc_to_target(doc, **target), choices, self.doc_to_prefix(doc), delimiters, number
        )

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Any:
        """Return the requests that ``output_type`` asks for."""
        kind, metadata = self._config.output_type, kwargs.get("metadata", (None, None, None))
        if kind == "multiple_choice":
            return self._choices(doc, ctx, metadata)
        arguments: tuple[Any, ...] = (self.doc_to_target(doc),)
        if kind == "generate_until":
            arguments = (ctx, deepcopy(self._config.generation_kwargs))
        elif kind == "loglikelihood":
            arguments = (ctx, *arguments)
        return Instance(kind, doc, arguments, 0, metadata)  # type: ignore[arg-type]

    def _choices(self, doc: Any, ctx: Any, metadata: Any) -> list[Instance]:
        choices, between = self.doc_to_choice(doc) or [], self._config.target_delimiter
        if isinstance(ctx, list):
            pairs = [(each, f"{between}{self.doc_to_target(doc)}") for each in ctx]
        else:
            pairs = [(ctx, f"{between}{each}") for each in choices]
        if any(each.get("metric") == "acc_mutual_info" for each in self._config.metric_list or ()):
            pairs += [("", f"{between}{each}") for each in choices]
        return [Instance("loglikelihood", doc, pair, place, metadata) for place, pair in enumerate(pairs)]

    @cached_property
    def _scorer(self) -> DocumentScorer:
        single, _ = metrics_of(self._config)
        return DocumentScorer(self._config, self._view, single, make_pipelines(self._config.filter_list)[0])

    def _view(self, doc: Any) -> DocumentView:
        choices = self.doc_to_choice(doc) if self._has_choices() else None
        return DocumentView(doc, self.doc_to_text(doc), self.doc_to_target(doc), choices)

    def process_results(self, doc: Any, results: Sequence[Any]) -> Mapping[str, Any]:
        """Return what the metrics of ``metric_list`` make of a document's answers."""
        return self._scorer.values(doc, list(results))

    def aggregation(self) -> Mapping[str, Callable[[Any], Any]]:
        """Return the aggregations of ``metric_list``."""
        return self._scorer.aggregates

    def higher_is_better(self) -> Mapping[str, bool]:
        """Return the directions of ``metric_list``."""
        return self._scorer.directions

    def should_decontaminate(self) -> bool:
        """Whether the keys say what to look for in training data."""
        return self._config.should_decontaminate


def fewshot_spec(fewshot: FewshotConfig, config: TaskConfig, key: str) -> Any:
    """Return what ``fewshot_config`` says of a field; ``None`` where it is what the task says."""
    own = getattr(fewshot, key)
    return None if own == getattr(config, key) else own


def _mapping(given: Any) -> Mapping[str, Any] | None:
    return given if given is None or isinstance(given, Mapping) else given.to_dict()


def _config_of(given: Mapping[str, Any]) -> TaskConfig:
    known = {name: value for name, value in given.items() if name not in ("group", "class")}
    return TaskConfig(**known)


def _ensemble(pipeline: Mapping[str, Any]) -> FilterEnsemble:
    steps = [
        (step["function"], {key: value for key, value in step.items() if key != "function"})
        for step in pipeline["filter"]
    ]
    return build_filter_ensemble(str(pipeline["name"]), steps)


class MultipleChoiceTask(Task):
    """A task whose documents have ``choices`` and the place of the right one, ``gold``."""

    OUTPUT_TYPE: ClassVar[str | None] = "loglikelihood"

    def doc_to_target(self, doc: Any) -> str:
        """Return the right choice."""
        return f" {doc['choices'][doc['gold']]}"

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> list[Instance]:
        """Return a likelihood of each choice."""
        metadata = kwargs.get("metadata", (None, None, None))
        return [
            Instance("loglikelihood", doc, (ctx, f" {each}"), place, metadata)
            for place, each in enumerate(doc["choices"])
        ]

    def process_results(self, doc: Any, results: Sequence[Any]) -> dict[str, float]:
        """Return whether the likeliest choice is the right one, also by length."""
        values, gold = [each[0] for each in results], doc["gold"]
        by_length = [value / len(text) for value, text in zip(values, doc["choices"], strict=True)]
        right = [float(max(range(len(each)), key=each.__getitem__) == gold) for each in (values, by_length)]
        return {"acc": right[0], "acc_norm": right[1]}

    def higher_is_better(self) -> dict[str, bool]:
        """Return that more is better."""
        return {"acc": True, "acc_norm": True}

    def aggregation(self) -> dict[str, Callable[[Any], Any]]:
        """Return means."""
        from proctor.scoring.aggregations import mean

        return {"acc": mean, "acc_norm": mean}


class PerplexityTask(Task):
    """A task of whole texts, whose perplexity is measured."""

    OUTPUT_TYPE: ClassVar[str | None] = "loglikelihood_rolling"

    def has_training_docs(self) -> bool:
        """Return that there are none."""
        return False

    def doc_to_text(self, doc: Any) -> str:
        """Return nothing: the text is all there is."""
        del doc
        return ""

    def doc_to_target(self, doc: Any) -> Any:
        """Return the text."""
        return doc

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Instance:
        """Return the likelihood of a whole text."""
        del ctx
        metadata = kwargs.get("metadata", (None, None, None))
        return Instance("loglikelihood_rolling", doc, (self.doc_to_target(doc),), 0, metadata)

    def process_results(self, doc: Any, results: Sequence[Any]) -> dict[str, Any]:
        """Return the likelihood with the text's lengths."""
        (found,), text = results, self.doc_to_target(doc)
        likelihood = found[0] if isinstance(found, tuple) else found
        words, size = self.count_words(text), self.count_bytes(text)
        return {
            "word_perplexity": (likelihood, words),
            "byte_perplexity": (likelihood, size),
            "bits_per_byte": (likelihood, size),
        }

    def higher_is_better(self) -> dict[str, bool]:
        """Return that less is better."""
        return dict.fromkeys(("word_perplexity", "byte_perplexity", "bits_per_byte"), False)

    def aggregation(self) -> dict[str, Callable[[Any], Any]]:
        """Return perplexities by word and byte, and bits."""
        from proctor.scoring.aggregations import bits_per_byte, weighted_perplexity

        return {
            "word_perplexity": weighted_perplexity,
            "byte_perplexity": weighted_perplexity,
            "bits_per_byte": bits_per_byte,
        }
