"""Changes that a run makes to a dataset of a config: command line's options and model's config put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.values import ConfigDict, as_data, location_of, short_name
from proctor.errors import UsageError
from proctor.ir import Decoding
from proctor.lazy import Deferred
from proctor.recipes.options import ExamOptions

if TYPE_CHECKING:
    from proctor.dialects.aisbench import models
    from proctor.formats.meta_template import MetaTemplate
else:
    models = Deferred("proctor.dialects.aisbench.models")

DEFAULT_MAX_TOKENS = 512
"""Tokens of an answer where neither dataset nor model says: what upstream's models have."""
_GENERATION_NAMES = {"max_new_tokens": "max_tokens", "max_out_len": "max_tokens"}


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """What a run changes about a dataset; ``None`` leaves what the config says.

    Attributes:
        num_demos: Examples in each prompt.
        system_prompt: Said before everything.
        meta_template: How the model wants dialogues laid out.
        as_messages: Whether prompts are chat messages rather than one string.
        max_seq_len: Longest prompt in tokens, where the dataset does not say (the model's ``max_seq_len``).
        max_out_len: Tokens of an answer where the dataset does not say (the model's ``max_out_len``).
        decoding: Fields of :class:`~proctor.ir.Decoding` that replace everything else.
        stop: Texts that end an answer of this model.
        model_postprocessor: What is done to this model's answers before the dataset's own post-processing.
        repeats: How often every row is asked about, where the model says so.
        takes_stops: Whether upstream gives the model the texts that end an answer according to the dataset;
            ``None`` where no model is named.
        own_limit: Whether the model's ``max_out_len`` comes before the dataset's.
        returns_tool_calls: Whether the model is given functions as tools, and returns calls.
    """

    num_demos: int | None = None
    system_prompt: str | None = None
    meta_template: MetaTemplate | None = None
    as_messages: bool = False
    max_seq_len: int | None = None
    max_out_len: int | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    model_postprocessor: Mapping[str, Any] | None = None
    repeats: int = 1
    takes_stops: bool | None = None
    own_limit: bool = False
    returns_tool_calls: bool = False

    def postprocessor_of(self, dataset: str) -> Mapping[str, Any] | None:
        """Return what is done to this model's answers to a dataset first; models may say it by patterns of names."""
        found = self.model_postprocessor
        if not found or "type" in found:
            return found
        return next((each for pattern, each in found.items() if fnmatchcase(dataset, pattern)), None)

    def to_dict(self) -> dict[str, Any]:
        """Return what is changed, as JSON-like data."""
        changed = {
            "num_demos": self.num_demos,
            "system_prompt": self.system_prompt,
            "meta_template": self.meta_template.to_dict() if self.meta_template is not None else None,
            "as_messages": self.as_messages or None,
            "max_seq_len": self.max_seq_len,
            "max_out_len": self.max_out_len,
            "decoding": dict(self.decoding) or None,
            "stop": list(self.stop) or None,
            "model_postprocessor": self.model_postprocessor,
            "repeats": self.repeats if self.repeats > 1 else None,
            "returns_tool_calls": self.returns_tool_calls or None,
        }
        return {key: as_data(value) for key, value in changed.items() if value is not None}


def dataset_options(options: ExamOptions) -> DatasetOptions:
    """Return what a run's options mean for datasets; what a model's config says comes before defaults.

    Raises:
        ProctorError: The model's config or the meta template cannot be read.
    """
    model = model_of(options.model_config)
    template = options.meta_template or (model.meta_template if model is not None else None)
    return DatasetOptions(
        num_demos=options.num_demos,
        system_prompt=options.system_prompt,
        meta_template=None if template is None else _meta_template(template),
        as_messages=options.apply_chat_template or (model is not None and model.as_messages),
        max_seq_len=model.max_seq_len if model is not None else None,
        max_out_len=model.max_out_len if model is not None else None,
        decoding={**(model.decoding if model is not None else {}), **options.decoding},
        stop=model.stop if model is not None else (),
        model_postprocessor=model.postprocessor if model is not None else None,
        repeats=model.repeats if model is not None else 1,
        takes_stops=model.takes_stops if model is not None else None,
        own_limit=model is not None and model.own_limit,
        returns_tool_calls=model is not None and model.returns_tool_calls,
    )


def _meta_template(fields: Mapping[str, Any]) -> MetaTemplate:
    from proctor.formats.meta_template import MetaTemplate

    return MetaTemplate.from_config(fields)


def model_of(text: str | None) -> models.ModelConfig | None:
    """Return the model that ``FILE.py::ABBR`` means.

    Raises:
        UsageError: It means none, or several.
    """
    if text is None:
        return None
    found = models.find_models(text)
    if not found:
        raise UsageError(f"there is no model config '{text}'", hint="FILE.py::ABBR names a model of a config")
    if len(found) > 1:
        raise UsageError(
            f"'{text}' has {len(found)} models", hint=f"choose one: {', '.join(name for name, _ in found)}"
        )
    return models.model_config(found[0][1])


def decoding_of(config: DatasetConfig, options: DatasetOptions) -> Callable[[int | None], Decoding]:
    """Return a function from a row's own limit of tokens to how the model is to write.

    The row's limit comes first, then the dataset's, then the model's (with models of AISBench the model's, since its
    inferencers read none); what the command line says replaces them all.
    """
    own = config.inferencer
    given = _named(options.decoding)
    if given.get("temperature", 0.0) is None:  # left to the server
        given["extra"] = {**given.get("extra", {}), "temperature": given.pop("temperature")}
    override, voting = ExamOptions(decoding=given), ExamOptions(decoding=_named(own.sampling))
    known: dict[int | None, Decoding] = {}
    several = {} if own.count is None else {"count": own.count}
    limits = (own.max_out_len, options.max_out_len)
    usual = next(filter(None, reversed(limits) if options.own_limit else limits), DEFAULT_MAX_TOKENS)
    stop = (*(own.stop if sends_stops(config, options) else ()), *options.stop)

    def decode(limit: int | None) -> Decoding:
        if limit not in known:
            base = Decoding(max_tokens=limit or usual, stop=stop)
            known[limit] = structs.replace(override.decode(voting.decode(base)), **several)
        return known[limit]

    return decode


def _named(generation: Mapping[str, Any]) -> dict[str, Any]:
    return {_GENERATION_NAMES.get(key, key): value for key, value in generation.items()}


def sends_stops(config: DatasetConfig, options: DatasetOptions) -> bool:
    """Return whether the dataset's ``stopping_criteria`` reach the model: never in AISBench, which sends none.

    In OpenCompass they reach models that run where it runs, and no service.
    """
    return config.project != "aisbench" and options.takes_stops is not False


def changed_inference(inference: Mapping[str, Any], options: DatasetOptions) -> Mapping[str, Any]:
    """Return ``infer_cfg`` with the examples and the system prompt that a run asks for."""
    changed = dict(inference)
    if options.num_demos is not None:
        changed["retriever"] = _with_demos(inference.get("retriever") or {}, options.num_demos)
    if options.system_prompt is not None:
        name = "prompt_template" if inference.get("prompt_template") else "ice_template"
        changed[name] = _with_system(inference[name], options.system_prompt)
    return changed


def _with_demos(retriever: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    name = short_name(retriever.get("type", "ZeroRetriever"))
    if not count:
        return {"type": "ZeroRetriever"}
    if name == "ZeroRetriever":
        return {"type": "FixKRetriever", "fix_id_list": list(range(count))}
    if name == "FixKRetriever":
        own = list(retriever.get("fix_id_list") or ())
        more = (place for place in range(count + len(own)) if place not in own)
        return {**retriever, "fix_id_list": [*own[:count], *(next(more) for _ in range(count - len(own)))]}
    return {**retriever, "k" if name == "SlidingWindowRetriever" else "ice_num": count}


def _with_system(template: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    return ConfigDict({**template, **_opened_by(template, text)}, location=location_of(template))


def _opened_by(template: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return the part of a template that changes where a text opens its prompts."""
    own, messages = template.get("template"), template.get("messages")
    if isinstance(messages, list):  # RawPromptTemplate
        first: Any = messages[0] if messages else None
        if isinstance(first, Mapping) and first.get("role") == "system":
            return {"messages": [{**first, "content": f"{text}\n{first.get('content')}"}, *messages[1:]]}
        return {"messages": [{"role": "system", "content": text}, *messages]}
    if isinstance(own, Mapping) and "round" in own:
        begin = own.get("begin") or []
        opening = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text}
        rest = [begin] if isinstance(begin, str | Mapping) else begin
        return {"template": {**own, "begin": [opening, *rest]}}
    if isinstance(own, Mapping):
        return {"template": {label: _opened_by({"template": each}, text)["template"] for label, each in own.items()}}
    return {"template": f"{text}\n{own}" if isinstance(own, str) else own}
