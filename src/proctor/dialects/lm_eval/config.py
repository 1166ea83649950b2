"""The keys of a task file, checked, with lm-eval's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

from proctor.dialects.lm_eval.factory import default_places, resolve_template
from proctor.dialects.lm_eval.generation import DEFAULT_MAX_TOKENS
from proctor.dialects.lm_eval.reader import TaskFile
from proctor.dialects.lm_eval.template import CustomTemplate, GenerateTemplate, QuestionTemplate, TemplateConfig

CHOICE_METRICS = frozenset(
    {"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "brier_score", "likelihood", "mcc", "f1"}
)


@dataclass
class FewshotConfig:
    """The choice and the words of demos; ``None`` inherits from the task."""

    sampler: Any = "default"
    split: str | None = None
    process_docs: Any = None
    fewshot_indices: list[int] | None = None
    samples: Any = None
    doc_to_text: Any = None
    doc_to_choice: Any = None
    doc_to_target: Any = None
    gen_prefix: Any = None
    fewshot_delimiter: str | None = None
    target_delimiter: str | None = None
    for_sampler: Mapping[str, Any] | None = None
    """Keys that only the sampler's class reads."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return a key's value, or ``default`` where nobody gave one."""
        found = (self.for_sampler or {}).get(key, getattr(self, key, None))
        return default if found is None else found


@dataclass
class TaskConfig:
    """A task, as its file describes it.

    With ``template`` the fields ``doc_to_text``, ``doc_to_choice`` and ``doc_to_target`` become functions that wrap
    what was given; what was given stays in :attr:`originals`.
    """

    task: str | None = None
    task_alias: str | None = None
    tag: Any = None
    custom_dataset: Any = None
    dataset_path: str | None = None
    dataset_name: str | None = None
    dataset_kwargs: dict[str, Any] | None = None
    training_split: str | None = None
    validation_split: str | None = None
    test_split: str | None = None
    fewshot_split: str | None = None
    process_docs: Any = None
    doc_to_text: Any = None
    doc_to_target: Any = None
    doc_to_image: Any = None
    doc_to_audio: Any = None
    doc_to_visual: Any = None
    doc_to_messages: Any = None
    unsafe_code: bool = False
    doc_to_choice: Any = None
    process_results: Any = None
    use_prompt: str | None = None
    description: Any = ""
    target_delimiter: str = " "
    fewshot_delimiter: str = "\n\n"
    fewshot_config: Any = None
    num_fewshot: int | None = None
    metric_list: list[dict[str, Any]] | None = None
    output_type: str = "generate_until"
    generation_kwargs: dict[str, Any] | None = None
    repeats: int = 1
    filter_list: Any = None
    should_decontaminate: bool = False
    doc_to_decontamination_query: Any = None
    gen_prefix: Any = None
    metadata: Any = None
    template: Any = None
    template_config: TemplateConfig | None = None
    chat_override: dict[str, Any] | None = None
    recipe: str | None = None
    clusters: str | None = None
    template_choice: str | None = None
    source: TaskFile | None = field(default=None, repr=False, compare=False)
    originals: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for key in _SERIAL_LISTS:
            setattr(self, key, deepcopy(getattr(self, key)))
        self._apply_template()
        self._fill_generation()
        if not isinstance(self.fewshot_config, FewshotConfig):
            self.fewshot_config = self._fewshot(self.fewshot_config or {})

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field, or ``default`` where there is no such field."""
        return getattr(self, key, default)

    @property
    def fewshot(self) -> FewshotConfig:
        """The choice and the words of demos, with nothing left to inherit."""
        return self.fewshot_config  # type: ignore[no-any-return]

    @property
    def is_of_lmms(self) -> bool:
        """Whether it is a task of lmms-eval that shows more than text."""
        return self.doc_to_visual is not None or self.doc_to_messages is not None

    @property
    def version(self) -> Any:
        """The task's version, where its metadata names one."""
        return self.metadata.get("version", "Yaml") if isinstance(self.metadata, dict) else "Yaml"

    def _apply_template(self) -> None:
        if self.template is None and self.template_choice is None:
            return
        file = "" if self.source is None else self.source.path
        self.template_config, places = resolve_template(self.template, self.template_choice, file)
        for key, value in default_places(self.template, self.template_choice).items():
            if getattr(self, key) is None:
                setattr(self, key, value)
        for key, value in places.items():
            setattr(self, key, value)
        made = self.template_config
        text, choice, target = self.doc_to_text, self.doc_to_choice, self.doc_to_target
        self.originals = {"doc_to_text": text, "doc_to_choice": choice, "doc_to_target": target}
        if isinstance(made, CustomTemplate):
            made.read(text, choice, target)
        self._inherit_originals()
        if text is not None:
            self.doc_to_text = made.wrap_doc_to_text(text, choice)
        if target is not None:
            self.doc_to_target = made.wrap_doc_to_target(target, choice)
        if choice is not None:
            self.doc_to_choice = made.wrap_doc_to_choice(choice)
        if getattr(made, "target_delimiter", None) is not None:
            self.fewshot_delimiter = str(made.target_delimiter)  # type: ignore[attr-defined]
        self._adopt_output_type(made)

    def _inherit_originals(self) -> None:
        """Wrap what ``fewshot_config`` says about demos as the task's own fields are wrapped."""
        made, given = self.template_config, self.fewshot_config
        if made is None or not isinstance(given, dict):
            return
        text, choice, target = (given.get(key) for key in ("doc_to_text", "doc_to_choice", "doc_to_target"))
        choices = choice if choice is not None else self.doc_to_choice
        wrapped = dict(given)
        if text is not None:
            wrapped["doc_to_text"] = made.wrap_doc_to_text(text, choices)
        if target is not None:
            wrapped["doc_to_target"] = made.wrap_doc_to_target(target, choices)
        if choice is not None:
            wrapped["doc_to_choice"] = made.wrap_doc_to_choice(choice)
        self.fewshot_config = wrapped

    def _adopt_output_type(self, made: TemplateConfig) -> None:
        wanted = made.output_type
        if wanted is None:
            return
        if wanted == "multiple_choice" and self.doc_to_choice is None:
            return
        scored_choices = all(each.get("metric") in CHOICE_METRICS for each in self.metric_list or ())
        if wanted == "generate_until" and (self.output_type != "generate_until" or isinstance(made, QuestionTemplate)):
            self.doc_to_choice = None
            if self.output_type != "generate_until" or self.generation_kwargs is None:
                self.generation_kwargs = _generation(made)
            if scored_choices:
                self.metric_list = [dict(_ANSWER_METRIC)]
            if self.filter_list is None or self.output_type != "generate_until":
                self.filter_list = _extraction(made)
        elif wanted == "multiple_choice" and self.output_type == "generate_until":
            self.generation_kwargs = self.filter_list = None
            if not scored_choices or not self.metric_list:
                self.metric_list = None
        elif wanted == "generate_until":
            self.doc_to_choice = None
        self.output_type = wanted

    def _fill_generation(self) -> None:
        given = self.generation_kwargs
        if given is not None:
            if "temperature" in given:
                given["temperature"] = float(given["temperature"])
            given.setdefault("until", [self.fewshot_delimiter])
        elif self.output_type == "generate_until":
            self.generation_kwargs = {
                "temperature": 0.0,
                "do_sample": False,
                "max_gen_toks": DEFAULT_MAX_TOKENS,
                "until": [self.fewshot_delimiter],
            }

    def _fewshot(self, given: Mapping[str, Any]) -> FewshotConfig:
        inherited = {
            "split": self.fewshot_split,
            **{key: getattr(self, key) for key in ("process_docs", "doc_to_text", "doc_to_choice", "doc_to_target")},
            **{key: getattr(self, key) for key in ("gen_prefix", "fewshot_delimiter", "target_delimiter")},
        }
        known = {each.name for each in fields(FewshotConfig)}
        own = {key: value for key, value in given.items() if key not in known}
        own |= given.get("for_sampler") or {}
        told = {**inherited, **{key: given[key] for key in given if key in known}, "for_sampler": own or None}
        return FewshotConfig(**told)

    def to_dict(self) -> dict[str, Any]:
        """Return what is set, as plain data; functions by name, wrapped fields as they were given."""
        hidden = {"source", "originals", "template_config", "template_choice"}
        found = {}
        for each in fields(self):
            value = self.originals.get(each.name, getattr(self, each.name))
            if each.name not in hidden and value is not None:
                found[each.name] = plain(value)
        return found


_SERIAL_LISTS = ("generation_kwargs", "metric_list")

_ANSWER_METRIC = {
    "metric": "exact_match",
    "aggregation": "mean",
    "higher_is_better": True,
    "ignore_case": True,
    "ignore_punctuation": True,
}


def _generation(made: TemplateConfig) -> dict[str, Any]:
    stop = list(made.stop) if isinstance(made, QuestionTemplate) else ["\n", "Question:"]
    tokens = made.max_gen_toks if isinstance(made, QuestionTemplate) else 32
    return {"temperature": 0.0, "do_sample": False, "max_gen_toks": tokens, "until": stop}


def _extraction(made: TemplateConfig) -> list[dict[str, Any]] | None:
    """Return the filters that find the answer in what a model writes under this template."""
    if isinstance(made, CustomTemplate):
        return None
    if isinstance(made, GenerateTemplate):
        steps: list[dict[str, Any]] = [{"function": "regex", "regex_pattern": made.label_pattern()}]
    elif isinstance(made, QuestionTemplate) and made.answer_pattern:
        steps = [{"function": "regex", "regex_pattern": made.answer_pattern, "group_select": -1}]
    else:
        steps = [{"function": "remove_whitespace"}]
    return [{"name": "extract-answer", "filter": [*steps, {"function": "take_first"}]}]


def plain(value: Any) -> Any:
    """Return a value of a task file as JSON-like data; functions and unknown objects by name."""
    if isinstance(value, FewshotConfig):
        return {each.name: plain(item) for each in fields(value) if (item := getattr(value, each.name)) is not None}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    if isinstance(value, TemplateConfig):
        return value.to_dict()
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    return str(value)
