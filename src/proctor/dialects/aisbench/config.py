"""A dataset of a config, checked: what is read, what is asked, how it is scored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.dialects.aisbench.config_keys import dataset_key_problems, part_problems, without_effect
from proctor.dialects.aisbench.datasets import type_arguments
from proctor.dialects.aisbench.evaluators import RECORDED_ONLY
from proctor.dialects.aisbench.values import ConfigDict, location_of, short_name
from proctor.errors import Diagnostic, Location, ProctorError, ValidationError, did_you_mean

GENERATE, PPL, LL, CLP, CHAT, TEXT_PPL = "gen", "ppl", "ll", "clp", "chat", "text_ppl"
"""What an inferencer asks: an answer; the perplexity of each label's prompt; the likelihood of each label's
continuation; the probabilities of single-token choices; the turns of a conversation; the loss of a text by itself."""

INFERENCERS: Mapping[str, str] = {
    "GenInferencer": GENERATE,
    "ParallelGenInferencer": GENERATE,
    "PPLInferencer": PPL,
    "PPLOnlyInferencer": TEXT_PPL,
    "LLInferencer": LL,
    "CLPInferencer": CLP,
    "ChatInferencer": CHAT,
    "ParallelChatInferencer": CHAT,
    "ChatMLInferencer": CHAT,
    "ParallelChatMLInferencer": CHAT,
    "MultiTurnGenInferencer": CHAT,
}
_ELSEWHERE: Mapping[str, str] = {
    "AgentInferencer": "it lets the model call tools and run code",
    "AttackInferencer": "it searches for attacks with the model in the loop",
    "SCInferencer": "it samples several answers; set n on the dataset and use GenInferencer",
    "ToTInferencer": "it searches a tree of thoughts with the model in the loop",
    "BFCLV3FunctionCallInferencer": "it runs the functions that the model calls",
    "LMMGenInferencer": "it makes images and films",
    "MinKPercentInferencer": "it looks at single tokens of a text",
    "InferencePPLOnlyInferencer": "it measures single tokens of a response",
    "SWCELossInferencer": "it measures texts in sliding windows",
}
CHAT_MODES = ("last", "every", "every_with_gt")
_ABBR = re.compile(r"/")


@dataclass(frozen=True, slots=True)
class Inferencer:
    """What is asked of the model.

    Attributes:
        kind: :data:`GENERATE` …
        max_out_len: Most tokens of an answer, where the dataset says so.
        stop: Texts that end an answer.
        labels: Labels to compare, where the dataset says so (``PPL``).
        normalizing: What replaces the context in the normaliser of a perplexity.
        mode: Which turns of a conversation the model takes.
        max_seq_len: Longest prompt; examples are dropped until it fits.
    """

    kind: str
    max_out_len: int | None = None
    stop: tuple[str, ...] = ()
    labels: tuple[Any, ...] | None = None
    normalizing: str | None = None
    mode: str = "last"
    max_seq_len: int | None = None


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    """One dataset of a config.

    Attributes:
        abbr: The name under which results are filed.
        values: The dictionary as it was written.
        inferencer: What is asked.
        count: Answers per row (``n``); several for pass@k and its like.
    """

    abbr: str
    values: Mapping[str, Any]
    inferencer: Inferencer
    count: int = 1
    location: Location | None = field(default=None, compare=False)

    @property
    def reader(self) -> Mapping[str, Any]:
        """Which columns are read."""
        found: Mapping[str, Any] = self.values["reader_cfg"]
        return found

    @property
    def inference(self) -> Mapping[str, Any]:
        """Templates, retriever and inferencer."""
        found: Mapping[str, Any] = self.values["infer_cfg"]
        return found

    @property
    def evaluation(self) -> Mapping[str, Any]:
        """Evaluator and post-processors."""
        found: Mapping[str, Any] = self.values.get("eval_cfg") or {}
        return found

    def repeated(self, times: int) -> DatasetConfig:
        """Return the dataset with each row asked about ``times`` times."""
        values = ConfigDict({**self.values, "n": times}, location=self.location)
        return replace(self, values=values, count=times)

    @property
    def without_effect(self) -> dict[str, str]:
        """Keys that have no effect here, by path, each with the reason."""
        found = without_effect(self.values, self.inferencer.kind, type_arguments(self.values.get("type")))
        judge = self.evaluation.get("evaluator")
        name = short_name(judge.get("type", "")) if isinstance(judge, Mapping) else ""
        return found | ({"$.eval_cfg.evaluator": RECORDED_ONLY[name]} if name in RECORDED_ONLY else {})


def abbr_of(values: Mapping[str, Any]) -> str:
    """Return the name of a dataset: ``abbr``, else made of path and name as upstream makes it."""
    if values.get("abbr"):
        return str(values["abbr"])
    parts = [str(values[key]) for key in ("path", "name") if values.get(key)]
    return _ABBR.sub("_", "_".join(parts)) or short_name(values.get("type", "dataset"))


def model_abbr_of(values: Mapping[str, Any]) -> str:
    """Return the name of a model: ``abbr``, else its type and the end of its path."""
    if values.get("abbr"):
        return str(values["abbr"])
    ending = "_".join(str(values.get("path") or values.get("model") or "").rstrip("/").split("/")[-2:])
    return f"{short_name(values.get('type', 'model'))}_{ending}".rstrip("_")


def dataset_config(values: Mapping[str, Any]) -> DatasetConfig:
    """Return a dataset of a config, checked.

    Raises:
        ValidationError: With everything that is wrong with it.
    """
    problems = list(_problems(values))
    if problems:
        raise ValidationError(problems)
    count = values.get("n")
    return DatasetConfig(
        abbr_of(values),
        values,
        _inferencer(values["infer_cfg"]["inferencer"]),
        count if isinstance(count, int) and count > 1 else 1,
        location_of(values),
    )


def _problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where, name = location_of(values), abbr_of(values)
    if "type" not in values:
        yield Diagnostic(f"the dataset '{name}' has no type", location=where, hint="type=HFDataset, or another class")
    for key in ("reader_cfg", "infer_cfg"):
        if not isinstance(values.get(key), Mapping):
            why = "there is none" if key not in values else f"it is a {type(values[key]).__name__}"
            yield Diagnostic(f"the dataset '{name}' needs {key}=dict(…)", location=where, why=why)
    reader, inference = values.get("reader_cfg"), values.get("infer_cfg")
    if isinstance(reader, Mapping):
        yield from _reader_problems(reader)
    if isinstance(inference, Mapping):
        yield from _inference_problems(inference)
    if "type" in values:
        yield from dataset_key_problems(values, type_arguments(values["type"]))
    if isinstance(reader, Mapping) and isinstance(inference, Mapping):
        yield from part_problems(values, _kind_of(inference))


def _kind_of(inference: Mapping[str, Any]) -> str:
    inferencer = inference.get("inferencer")
    name = short_name(inferencer.get("type", "")) if isinstance(inferencer, Mapping) else ""
    return INFERENCERS.get(name, "")


def _reader_problems(reader: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where = location_of(reader)
    columns = reader.get("input_columns")
    if not isinstance(columns, str | Sequence):
        yield Diagnostic("reader_cfg needs input_columns", path="$.reader_cfg", location=where, hint="a list of names")
    output = reader.get("output_column")
    if output is not None and not isinstance(output, str):
        yield Diagnostic(
            "output_column is one name",
            path="$.reader_cfg.output_column",
            location=where,
            why=f"it is {output!r}",
        )


_PART_EXAMPLES = {
    "ice_template": "dict(type=PromptTemplate, template=…)",
    "prompt_template": "dict(type=PromptTemplate, template=…)",
    "retriever": "dict(type=ZeroRetriever), or FixKRetriever with fix_id_list",
}


def _shown(value: object) -> str:
    return "'...', which stands for something to fill in" if value is ... else repr(value)[:80]


def _inference_problems(inference: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where = location_of(inference)
    for key in ("ice_template", "prompt_template", "retriever"):
        if inference.get(key) is not None and not isinstance(inference[key], Mapping):
            yield Diagnostic(
                f"'{key}' of infer_cfg is {_shown(inference[key])}",
                path=f"$.infer_cfg.{key}",
                location=where,
                hint=_PART_EXAMPLES[key],
            )
    if not inference.get("prompt_template") and not inference.get("ice_template"):
        yield Diagnostic(
            "infer_cfg has no template",
            path="$.infer_cfg",
            location=where,
            hint="prompt_template=dict(type=PromptTemplate, template=…)",
        )
    inferencer = inference.get("inferencer")
    if not isinstance(inferencer, Mapping) or "type" not in inferencer:
        yield Diagnostic(
            "infer_cfg has no inferencer",
            path="$.infer_cfg.inferencer",
            location=where,
            hint="dict(type=GenInferencer)",
        )
        return
    yield from _inferencer_problems(inferencer)


def _inferencer_problems(inferencer: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where, name = location_of(inferencer), short_name(inferencer["type"])
    path = "$.infer_cfg.inferencer"
    if name in _ELSEWHERE:
        yield Diagnostic(f"{name} cannot be run here", path=path, location=where, why=_ELSEWHERE[name])
    elif name not in INFERENCERS:
        hint = did_you_mean(name, INFERENCERS) or f"there are {', '.join(INFERENCERS)}"
        yield Diagnostic(f"there is no inferencer '{name}'", path=path, location=where, hint=hint)
    mode = inferencer.get("infer_mode", "last")
    if mode not in CHAT_MODES:
        hint = did_you_mean(str(mode), CHAT_MODES) or f"choose one of {', '.join(CHAT_MODES)}"
        yield Diagnostic(f"there is no infer_mode {mode!r}", path=f"{path}.infer_mode", location=where, hint=hint)
    for key in ("max_out_len", "max_seq_len"):
        value = inferencer.get(key)
        if value is not None and (not isinstance(value, int) or value <= 0):
            yield Diagnostic(
                f"{key} is a number of tokens", path=f"{path}.{key}", location=where, why=f"it is {value!r}"
            )


def _inferencer(values: Mapping[str, Any]) -> Inferencer:
    stop = values.get("stopping_criteria") or ()
    labels = values.get("labels")
    return Inferencer(
        INFERENCERS[short_name(values["type"])],
        values.get("max_out_len"),
        (stop,) if isinstance(stop, str) else tuple(stop),
        tuple(labels) if labels else None,
        values.get("normalizing_str"),
        values.get("infer_mode", "last"),
        values.get("max_seq_len"),
    )


def checked(datasets: Sequence[Mapping[str, Any]]) -> list[DatasetConfig]:
    """Return datasets, checked.

    Raises:
        ValidationError: With the problems of all of them, each once.
    """
    found: list[DatasetConfig] = []
    problems: dict[Diagnostic, None] = {}
    for values in datasets:
        try:
            found.append(dataset_config(values))
        except ProctorError as error:
            problems.update(dict.fromkeys(error.diagnostics))
    if problems:
        raise ValidationError(list(problems))
    return found
