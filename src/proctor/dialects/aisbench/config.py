"""A dataset of a config, checked: what is read, what is asked, how it is scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config_keys import dataset_key_problems, part_problems, without_effect
from proctor.dialects.aisbench.dataset_checks import dataset_value_problems
from proctor.dialects.aisbench.datasets import Replicas, type_arguments
from proctor.dialects.aisbench.datasets.dataset_specs import spec_names
from proctor.dialects.aisbench.datasets.reader import range_problems
from proctor.dialects.aisbench.evaluation_checks import evaluation_slips
from proctor.dialects.aisbench.evaluators import RECORDED_ONLY
from proctor.dialects.aisbench.inference_checks import (
    columns_of_reader,
    idle_labels,
    prompting_problems,
    template_misfits,
)
from proctor.dialects.aisbench.inferencers import (
    GENERATE,
    INFERENCERS,
    PPL,
    Inferencer,
    inferencer_of,
    inferencer_problems,
)
from proctor.dialects.aisbench.judged_names import judge_of
from proctor.dialects.aisbench.older_forms import with_ids_of_retriever, with_names_of_today
from proctor.dialects.aisbench.olympiad_prompts import is_olympiad, plain_inference
from proctor.dialects.aisbench.signatures import known_names, project_named, signature_of
from proctor.dialects.aisbench.values import ConfigDict, Reference, abbr_of, dotted_name, location_of, short_name, shown
from proctor.errors import Diagnostic, Location, ProctorError, ValidationError, did_you_mean


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    """One dataset of a config.

    Attributes:
        abbr: The name under which results are filed.
        values: The dictionary as it was written.
        inferencer: What is asked.
        count: Answers per row (``n``); several for pass@k and its like.
        by_row: Whether the model, not the dataset, says how often: AISBench's files then call every answer by its row.
    """

    abbr: str
    values: Mapping[str, Any]
    inferencer: Inferencer
    count: int = 1
    location: Location | None = field(default=None, compare=False)
    by_row: bool = False

    @property
    def reader(self) -> Mapping[str, Any]:
        """The columns that are read."""
        found: Mapping[str, Any] = self.values["reader_cfg"]
        return found

    @property
    def clusters(self) -> str | None:
        """The column that says which rows belong together; a key of ours, which OpenCompass does not have."""
        found = self.values.get("clusters")
        return None if found is None else str(found)

    @property
    def inference(self) -> Mapping[str, Any]:
        """Templates, retriever and inferencer."""
        return plain_inference(self.values["infer_cfg"])

    @property
    def evaluation(self) -> Mapping[str, Any]:
        """Evaluator and post-processors."""
        found: Mapping[str, Any] = self.values.get("eval_cfg") or {}
        if self.inferencer.count is not None:
            found = ConfigDict({**found, "sc_size": self.inferencer.count}, location=location_of(found))
        judge = found.get("evaluator")
        if not isinstance(judge, Mapping) or short_name(judge.get("type", "")) != "LMEvaluator":
            return found
        told = {
            key: self.values[key] for key in ("mode", "infer_order", "given_pred", "base_models") if key in self.values
        }
        compared = ConfigDict({**judge, "of_dataset": {"abbr": self.abbr, **told}}, location=location_of(judge))
        return ConfigDict({**found, "evaluator": compared}, location=location_of(found))

    @property
    def project(self) -> str:
        """Whose rules are meant: ``aisbench`` where its type or its inferencer is AISBench's, else ``opencompass``."""
        named = (self.values.get("type"), (self.inference.get("inferencer") or {}).get("type"))
        return "aisbench" if "aisbench" in map(project_named, named) else "opencompass"

    def sampled(self, times: int) -> DatasetConfig:
        """Return the dataset with each row asked about as often as the model says (``num_return_sequences``).

        Raises:
            ValidationError: The dataset says another number of runs.
        """
        own = self.values.get("n", times)
        if own != times:
            raise ValidationError(
                f"'{self.abbr}' is to be asked {own} times (n), and {times} times (the model's num_return_sequences)",
                location=self.location,
                path="$.n",
                why="AISBench asks as often as both multiplied, and has no score then",
                hint="say one of them; to ask the other datasets only, name them with --tasks",
            )
        values = ConfigDict({"k": times, **self.values, "n": times}, location=self.location)
        return replace(self, values=values, count=times, by_row=True)

    def repeated(self, times: int) -> DatasetConfig:
        """Return the dataset with each row asked about ``times`` times."""
        values = ConfigDict({**self.values, "n": times}, location=self.location)
        return replace(self, values=values, count=times, by_row=True)

    @property
    def without_effect(self) -> dict[str, str]:
        """Keys that have no effect here, by path, each with the reason."""
        found = without_effect(self.values, self.inferencer.kind, type_arguments(self.values.get("type")))
        found |= idle_labels(self.inference)
        if (asked := judge_of(self.values)) is not None:
            found |= asked.without_effect
        if _is_comparison(self.evaluation.get("evaluator")):
            for key in ("mode", "infer_order", "given_pred"):
                found.pop(f"$.{key}", None)
        is_rows_file = short_name(self.values.get("type", "")) in ("CustomDataset", "CircularCustomDataset")
        if is_rows_file and location_of(self.evaluation) is None:
            found.pop("$.eval_cfg.pred_role", None)  # nobody wrote it: it is what upstream makes of a file of rows
        judge = self.evaluation.get("evaluator")
        name = short_name(judge.get("type", "")) if isinstance(judge, Mapping) else ""
        return found | ({"$.eval_cfg.evaluator": RECORDED_ONLY[name]} if name in RECORDED_ONLY else {})


def dataset_config(values: Mapping[str, Any]) -> DatasetConfig:
    """Return a dataset of a config, checked.

    Raises:
        ValidationError: With everything that is wrong with it.
    """
    values = with_names_of_today(with_ids_of_retriever(values))
    problems = list(_problems(values))
    if problems:
        raise ValidationError(problems)
    count = values.get("n")
    return DatasetConfig(
        abbr_of(values),
        values,
        inferencer_of(values["infer_cfg"]["inferencer"]),
        count if isinstance(count, int) and count > 1 else 1,
        location_of(values),
    )


def _problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where, name = location_of(values), abbr_of(values)
    if values.get("type") is None:
        yield Diagnostic(f"the dataset '{name}' has no type", location=where, hint="type=HFDataset, or another class")
    for key in ("reader_cfg", "infer_cfg"):
        if not isinstance(values.get(key), Mapping):
            why = "there is none" if key not in values else f"it is a {type(values[key]).__name__}"
            yield Diagnostic(f"the dataset '{name}' needs {key}=dict(…)", location=where, why=why)
    reader, inference = values.get("reader_cfg"), values.get("infer_cfg")
    if isinstance(reader, Mapping):
        yield from _reader_problems(reader)
        yield from range_problems(reader, location_of(reader))
    yield from dataset_value_problems(values)
    if isinstance(inference, Mapping):
        yield from _inference_problems(inference)
        if not is_olympiad(inference):  # its words are made of all columns
            yield from prompting_problems(inference, columns_of_reader(reader))
    if values.get("type") is not None:
        yield from _type_problems(values["type"], where)
        yield from dataset_key_problems(values, type_arguments(values["type"]))
    yield from _run_problems(values)
    if isinstance(reader, Mapping) and isinstance(inference, Mapping):
        yield from part_problems(values, _kind_of(inference))
        yield from template_misfits(inference)
    yield from _scoring_problems(values)


def _type_problems(kind: Any, where: Location | None) -> Iterator[Diagnostic]:
    """Yield a dataset type that neither package has, where it is nearly one that they have."""
    if not isinstance(kind, Reference | str) or type_arguments(kind) is not None or signature_of("datasets", kind):
        return
    name, project = short_name(kind), project_named(kind, "opencompass")
    if name in spec_names() or ("." in dotted_name(kind) and not project_named(kind)):
        return
    from proctor.guests.clones import is_defined_around  # most configs name what is here

    if where is not None and is_defined_around(Path(where.file), name):
        return
    if hint := did_you_mean(name, {*known_names(project, "datasets"), *spec_names()}):
        yield Diagnostic(f"there is no dataset type '{name}'", where, "$.type", hint=hint)


def _run_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    try:
        Replicas.of(values)
    except ProctorError as error:
        yield from (each.at(path="$.n") for each in error.diagnostics)
    clusters = values.get("clusters")
    if clusters is not None and (not isinstance(clusters, str) or not clusters):
        why = "it is the name of the column that says which rows belong together"
        yield Diagnostic(f"clusters is {clusters!r}", location_of(values), "$.clusters", why)


def _scoring_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    evaluation = values.get("eval_cfg")
    if evaluation is not None and not isinstance(evaluation, Mapping):
        yield Diagnostic(
            "eval_cfg is not a dictionary", location_of(values), "$.eval_cfg", f"it is {shown(evaluation)}"
        )
    elif evaluation:
        if (judge := evaluation.get("evaluator")) is not None and not isinstance(judge, Mapping):
            place, path = location_of(evaluation), "$.eval_cfg.evaluator"
            why, hint = f"it is {shown(judge)}", "evaluator=dict(type=…)"
            yield Diagnostic("the evaluator is not a dictionary", place, path, why, hint)
        yield from evaluation_slips({key: each for key, each in evaluation.items() if not _is_comparison(each)})
        yield from _vote_problems(evaluation, values.get("infer_cfg"))
    judging = values.get("judge_infer_cfg")
    if judging and not isinstance(judging, Mapping):
        place, path = location_of(values), "$.judge_infer_cfg"
        yield Diagnostic("judge_infer_cfg is not a dictionary", place, path, f"it is {shown(judging)}")
    if (judge := judge_of(values)) is not None:
        yield from judge.problems(columns_of_reader(values.get("reader_cfg")))


def _vote_problems(evaluation: Mapping[str, Any], inference: Any) -> Iterator[Diagnostic]:
    """Yield a vote among answers of which there is one each."""
    inferencer = inference.get("inferencer") if isinstance(inference, Mapping) else None
    name = short_name(inferencer.get("type", "")) if isinstance(inferencer, Mapping) else ""
    if evaluation.get("sc_size") is not None and INFERENCERS.get(name) in (GENERATE, PPL) and name != "SCInferencer":
        why = f"{name} asks for one; upstream then takes the most frequent character of each answer"
        hint = "inferencer=dict(type=SCInferencer, sc_size=…), or take it out"
        where = location_of(evaluation)
        yield Diagnostic("sc_size votes among several answers", where, "$.eval_cfg.sc_size", why, hint)


def _is_comparison(part: Any) -> bool:
    """Whether a part of ``eval_cfg`` is a judge of pairs, whose problems the whole dataset tells."""
    return isinstance(part, Mapping) and short_name(part.get("type", "")) == "LMEvaluator"


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
    if output is not None and (not isinstance(output, str) or not output):
        yield Diagnostic(
            "output_column is one name", path="$.reader_cfg.output_column", location=where, why=f"it is {output!r}"
        )


_PART_EXAMPLES = {
    "ice_template": "dict(type=PromptTemplate, template=…)",
    "prompt_template": "dict(type=PromptTemplate, template=…)",
    "retriever": "dict(type=ZeroRetriever), or FixKRetriever with fix_id_list",
}


def _inference_problems(inference: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where = location_of(inference)
    for key in ("ice_template", "prompt_template", "retriever"):
        if inference.get(key) is not None and not isinstance(inference[key], Mapping):
            yield Diagnostic(
                f"'{key}' of infer_cfg is {shown(inference[key])}",
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
    yield from inferencer_problems(inferencer)


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
