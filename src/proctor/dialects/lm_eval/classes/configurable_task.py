"""``ConfigurableTask``: a Python class whose keys are those of task files, and which overrides what they cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from proctor.dialects.lm_eval.classes.older_samplers import demo_messages, demo_text, joined_turns, older_sampler
from proctor.dialects.lm_eval.classes.samplers import get_sampler
from proctor.dialects.lm_eval.classes.task import Splits, Task
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.document_scores import DocumentScorer
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.fields import find_literal, value_of
from proctor.dialects.lm_eval.filters import make_pipelines
from proctor.dialects.lm_eval.metric_list import metrics_of
from proctor.dialects.lm_eval.prepared import DocumentView
from proctor.dialects.lm_eval.prompts import (
    continuation_delimiter,
    joined,
    make_demo,
    multiturn_messages,
    single_message,
    turn_pieces,
)
from proctor.dialects.lm_eval.samplers import lays_out_demos
from proctor.dialects.lm_eval.task_fields import TaskFields, checked_choices, compile_fields
from proctor.errors import TemplateError, UsageError
from proctor.guests.lm_eval.filters import FilterEnsemble, build_filter_ensemble
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.messages import Message, maybe_delimit, requires_delimiter
from proctor.guests.lm_eval.registry import metric_registry
from proctor.guests.overrides import brought, check_brought


class ConfigurableTask(Task):
    """A task whose keys are those of task files; a class overrides what they cannot say."""

    VERSION: Any = "Yaml"
    OUTPUT_TYPE: str | None = None
    CONFIG: ClassVar[Mapping[str, Any] | None] = None

    _fields: tuple[Any, TaskFields] | None = None

    uncalled: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("build_qa_turn", "multiple_input_context"), "override fewshot_context, which lays demos and question out"
        ),
        **dict.fromkeys(("count_bytes", "count_words"), "override process_results, which counts them"),
    }

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
        kind = value_of(self._config.fewshot.sampler, "fewshot_config.sampler")
        kind, pool = get_sampler(kind) if isinstance(kind, str) else kind, list(self.fewshot_docs() or ())
        self.sampler = older_sampler(kind, pool, self) if lays_out_demos(kind) else kind(pool, rnd=None)
        self.VERSION = (self._config.metadata or {}).get("version", type(self).VERSION)
        self.OUTPUT_TYPE = self._config.output_type
        named = ("dataset", "_filters", "sampler", "VERSION", "OUTPUT_TYPE")
        self._made = {name: getattr(self, name) for name in named}

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
        process = value_of(process or self._config.process_docs, "process_docs")
        return self.dataset[name] if process is None else process(self.dataset[name])

    def fewshot_docs(self) -> Any:
        """Return the documents that demos come from: what the keys say, else the first split there is."""
        fewshot: FewshotConfig = self._config.fewshot
        if fewshot.split is not None:
            return self._split(fewshot.split, fewshot.process_docs)
        if fewshot.samples is not None:
            samples = value_of(fewshot.samples, "fewshot_config.samples")
            return samples() if callable(samples) else samples
        return super().fewshot_docs()

    @property
    def fields(self) -> TaskFields:
        """What the keys take from a document, compiled anew where a sampler has changed how to ask."""
        if self._fields is None or self._fields[0] is not self._config.doc_to_text:
            docs = list(self.eval_docs or ())  # a class that is tried without documents has none
            made = compile_fields(self._config, list(docs[0]) if docs else [])
            self._fields = self._config.doc_to_text, made
        return self._fields[1]

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
            return checked_choices(self._other("doc_to_choice", doc_to_choice, doc))
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

    def doc_to_image(self, doc: Any, doc_to_image: Any = None) -> Any:
        """Return the pictures of a document; ``doc_to_image`` is another specification of them."""
        return self._found("doc_to_image", doc_to_image, doc)

    def doc_to_audio(self, doc: Any, doc_to_audio: Any = None) -> Any:
        """Return the sounds of a document; ``doc_to_audio`` is another specification of them."""
        return self._found("doc_to_audio", doc_to_audio, doc)

    def _found(self, key: str, spec: Any, doc: Any) -> Any:
        spec = getattr(self._config, key) if spec is None else spec
        return None if spec is None else find_literal(spec, frozenset(doc), key)(doc)

    @property
    def fewshot_cfg(self) -> FewshotConfig:
        """What the keys say of demos."""
        return self._config.fewshot

    @cached_property
    def multiple_input(self) -> int:
        """How many inputs a document has, where the question is the place of the right one; else 0."""
        doc = next(iter(self.eval_docs))
        return len(self.doc_to_choice(doc) or ()) if isinstance(self.doc_to_text(doc), int) else 0

    @cached_property
    def multiple_target(self) -> int:
        """How many right answers the first document has, where it has a list of them; else 0."""
        target = self.doc_to_target(next(iter(self.eval_docs)))
        return len(target) if isinstance(target, list) else 0

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
        in_chat = chat_template if apply_chat_template else None
        demos, text, turns = [], "", []
        if num_fewshot and not lays_out_demos(type(self.sampler)):
            shown = self.sampler.sample(num_fewshot, eval_doc=doc if is_own else None)
            demos = [make_demo(self._pieces(each, number)) for number, each in enumerate(shown)]
        elif num_fewshot and in_chat is None:
            text = demo_text(self.sampler, doc, num_fewshot, gen_prefix)
        elif num_fewshot:
            turns = demo_messages(self.sampler, doc, num_fewshot, gen_prefix, multiturn=fewshot_as_multiturn)
        choices = self.doc_to_choice(doc) if self._has_choices() else None
        question: Any = self.doc_to_text(doc)
        if isinstance(question, int) and choices:
            last = [turn_pieces(each, None, None, gen_prefix, ("", "")) for each in choices]
        else:
            last = [turn_pieces(question, None, choices, gen_prefix, (config.target_delimiter, ""))]
        laid_out = []
        for pieces in last:
            if in_chat is not None:
                lay_out = multiturn_messages if fewshot_as_multiturn else single_message
                messages = lay_out(system, demos, pieces)
                if turns:
                    opening = [{"role": "system", "content": system}] if system else []
                    messages = [*opening, *joined_turns(turns, lay_out("", [], pieces))]
                laid_out.append(in_chat(messages, add_generation_prompt=not gen_prefix))
            else:
                plain = "".join(each.text + each.delimiter for each in pieces)
                laid_out.append(f"{system}{text}{''.join(each.text for each in demos)}{plain}")
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
        keys = ("doc_to_text", "doc_to_target", "doc_to_choice")
        own = {key: spec for key in keys if (spec := fewshot_spec(fewshot, config, key)) is not None}
        text, target, choice = ({key: own[key]} if key in own else {} for key in keys)
        question: Any = self.doc_to_text(doc, **text)
        choices = self.doc_to_choice(doc, **choice) if choice or self._has_choices() else None
        if isinstance(question, int) and choices:
            question, choices = choices[question], None
        between, after = fewshot.target_delimiter, fewshot.fewshot_delimiter
        delimiters = (
            config.target_delimiter if between is None else between,
            config.fewshot_delimiter if after is None else after,
        )
        prefix = self.resolve_field(doc, fewshot.gen_prefix)
        return turn_pieces(question, self.doc_to_target(doc, **target), choices, prefix, delimiters, number)

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Any:
        """Return the requests that ``output_type`` asks for, with the document's pictures and sounds.

        Args:
            doc: The document.
            ctx: The context; a list of them where a document has several inputs.
            kwargs: ``metadata`` of the requests, and ``apply_chat_template``: in a chat nothing separates a choice
                from its context.
        """
        kind, metadata = self._config.output_type, kwargs.get("metadata", (None, None, None))
        media = self._media(doc)
        if kind == "multiple_choice":
            between = continuation_delimiter(self._config, is_chat=bool(kwargs.get("apply_chat_template")))
            pairs = self._choices(doc, ctx, between)
            return [
                Instance("loglikelihood", doc, (*pair, *media), place, metadata) for place, pair in enumerate(pairs)
            ]
        arguments: tuple[Any, ...] = (self.doc_to_target(doc),)
        if kind == "generate_until":
            arguments = (ctx, deepcopy(self._config.generation_kwargs))
        elif kind == "loglikelihood":
            arguments = (ctx, *arguments)
        return Instance(kind, doc, (*arguments, *media), 0, metadata)  # type: ignore[arg-type]

    def _media(self, doc: Any) -> tuple[dict[str, Any], ...]:
        config = self._config
        found = {"visual": self.doc_to_image(doc)} if config.doc_to_image else {}
        found |= {"audio": self.doc_to_audio(doc)} if config.doc_to_audio else {}
        return (found,) if found else ()

    def _choices(self, doc: Any, ctx: Any, between: str) -> list[tuple[Any, str]]:
        choices = checked_choices(self.doc_to_choice(doc))
        if isinstance(ctx, list) and not isinstance(ctx[0], Mapping):  # of several inputs; messages are one context
            pairs = [(each, f"{between}{self.doc_to_target(doc)}") for each in ctx]
        else:
            pairs = [(ctx, f"{between}{each}") for each in choices]
        if any(each.get("metric") == "acc_mutual_info" for each in self._config.metric_list or ()):
            pairs += [("", f"{between}{each}") for each in choices]
        return pairs

    @cached_property
    def _scorer(self) -> DocumentScorer:
        by_code = any(name == "process_results" for _, name in brought(type(self)))  # scores of choices are named there
        single, _ = metrics_of(self._config, by_code=by_code and self._config.output_type == "multiple_choice")
        return DocumentScorer(self._config, self._view, single, make_pipelines(self._config.filter_list)[0])

    @property
    def _metric_fn_list(self) -> Mapping[str, Any]:
        """Functions of the metrics by name, for overrides that begin as a copy of lm-eval's; nothing can be put in."""
        own = {each.name: each.function for each in self._scorer.metrics}
        known = {} if self._config.process_results else metric_registry
        return MappingProxyType({name: function or known.get(name, None) for name, function in own.items()})

    @property
    def _metric_fn_kwargs(self) -> Mapping[str, Mapping[str, Any]]:
        return MappingProxyType({each.name: each.arguments for each in self._scorer.metrics})

    @property
    def _aggregation_list(self) -> Mapping[str, Callable[[Any], Any]]:
        return MappingProxyType(self._scorer.aggregates)

    @property
    def _higher_is_better(self) -> Mapping[str, bool | None]:
        return MappingProxyType(self._scorer.directions)

    def _view(self, doc: Any) -> DocumentView:
        choices = self.doc_to_choice(doc) if self._has_choices() else None
        target = self.doc_to_target(doc)
        if isinstance(target, list) and self.OUTPUT_TYPE == "generate_until" and not (choices or self.multiple_target):
            target = str(target)  # the first document decides whether lists are several right answers
        return DocumentView(doc, self.doc_to_text(doc), target, choices)

    def process_results(self, doc: Any, results: Sequence[Any]) -> Mapping[str, Any]:
        """Return what the metrics of ``metric_list`` make of a document's answers."""
        return self._scorer.values(doc, list(results))

    def aggregation(self) -> Mapping[str, Callable[[Any], Any]]:
        """Return the aggregations of ``metric_list``."""
        return self._scorer.aggregates

    def higher_is_better(self) -> Mapping[str, bool | None]:
        """Return the directions of ``metric_list``."""
        return self._scorer.directions

    def override_metric(self, metric_name: str) -> None:
        """Score with one metric by its name, instead of those of ``metric_list``."""
        self._config.metric_list = [{"metric": metric_name}]
        self.__dict__.pop("_scorer", None)

    def should_decontaminate(self) -> bool:
        """Whether the keys say what to look for in training data."""
        return self._config.should_decontaminate


def changed_class() -> type[ConfigurableTask] | None:
    """Return the class of tasks that files say, where a program has put something upon it; else ``None``.

    Raises:
        UsageError: Nothing would call what a program has put there.
    """
    if not any(name for _, name in brought(ConfigurableTask)):
        return None
    check_brought(ConfigurableTask)
    return ConfigurableTask


def plain_config(task: Any) -> TaskConfig | None:
    """Return what a task is made of, where its keys say all of it; ``None`` where its class or a program says more."""
    made = vars(task).get("_made")
    if type(task) is not ConfigurableTask or made is None or changed_class() is not None:
        return None
    is_as_made = all(getattr(task, name) is each for name, each in made.items()) and not task.dataset.changed
    return deepcopy(task.config) if is_as_made and not vars(task).keys() - UNASKED - made.keys() else None


UNASKED = frozenset(("_config", "_instances", "fewshot_rnd", "fewshot_seed", "_fields", "_scorer", "_made"))
"""What a task keeps of itself that changes nothing of what it asks."""


def fewshot_spec(fewshot: FewshotConfig, config: TaskConfig, key: str) -> Any:
    """Return what ``fewshot_config`` says of a field; ``None`` where it is what the task says."""
    own = getattr(fewshot, key)
    return None if own == getattr(config, key) else own


def _mapping(given: Any) -> Mapping[str, Any] | None:
    return given if given is None or isinstance(given, Mapping) else given.to_dict()


def _ensemble(pipeline: Mapping[str, Any]) -> FilterEnsemble:
    steps = [
        (step["function"], {key: value for key, value in step.items() if key != "function"})
        for step in pipeline["filter"]
    ]
    return build_filter_ensemble(str(pipeline["name"]), steps)
