"""Exams that bring code of their own, for the goldens: what runs, and what is refused in which words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from conformance.own import made_up
from conformance.own.cases import LOST, Case

Values = dict[str, Any]

_HEAD: Values = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "test.jsonl"}},
    "test_split": "test",
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "label",
}
_HELPERS = """
import numpy as np
from lm_eval.api.filter import Filter
from lm_eval.api.metrics import mean, perplexity
from lm_eval.api.registry import register_aggregation, register_filter, register_metric
from lm_eval.utils import general_detokenize


@register_aggregation("upper_quarter")
def upper_quarter(items):
    return float(np.quantile(items, 0.75))


@register_metric(metric="holds_label", higher_is_better=True, output_type="generate_until", aggregation="mean")
def holds_label(predictions, references, **kwargs):
    return float(np.mean([int(right in said) for said, right in zip(predictions, references)]))


@register_metric(metric="letters", higher_is_better=True, output_type="generate_until", aggregation="upper_quarter")
def letters(predictions, references, **kwargs):
    return float(len(predictions[0]))


@register_filter("sorted_letters")
class SortedLetters(Filter):
    def apply(self, resps, docs):
        return [["".join(sorted(text)) for text in some] for some in resps]


class LastWord(Filter):
    def apply(self, resps, docs):
        return [[(text.split() or [""])[-1] for text in some] for some in resps]


def prompt(doc):
    return general_detokenize(doc["question"])


def shares(references, predictions, k=None):
    return {f"share_{n}": float(len(predictions[0]) % (n + 1)) for n in k}


def total(items):
    return sum(items) * 10


def two_scores(doc, results):
    return {"right": float(doc["label"] in results[0]), "size": len(results[0])}
"""
_CLASS = """
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask


class Shouted(ConfigurableTask):
    def doc_to_text(self, doc):
        return super().doc_to_text(doc).upper()


class Counted(ConfigurableTask):
    def process_results(self, doc, results):
        return {"length": len(results[0])}

    def aggregation(self):
        return {"length": max}

    def higher_is_better(self):
        return {"length": True}
"""


class _Code(str):
    """A name that a task file writes behind ``!function``."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes names of code with their tag."""


_Dumper.add_representer(_Code, lambda dumper, name: dumper.represent_scalar("!function", str(name)))
_PROMPT = _Code("helpers.prompt")


def _tasks() -> dict[str, Values]:
    metric = {"metric": _Code("helpers.shares"), "aggregation": _Code("helpers.total"), "k": [1, 3]}
    return {
        "prompt": {"doc_to_text": _PROMPT},
        "metric_of_helpers": {"doc_to_text": _PROMPT, "metric_list": [{"metric": "holds_label"}]},
        "aggregation_of_helpers": {"doc_to_text": _PROMPT, "metric_list": [{"metric": "letters"}]},
        "filter_of_helpers": {"doc_to_text": _PROMPT, "filter_list": _filters("sorted_letters")},
        "filter_class": {"filter_list": _filters(_Code("helpers.LastWord"))},
        "metric_function": {"metric_list": [{**metric, "higher_is_better": True}]},
        "aggregation_of_package": {
            "process_results": _Code("helpers.two_scores"),
            "metric_list": [
                {"metric": "right", "aggregation": _Code("helpers.mean"), "higher_is_better": True},
                {"metric": "size", "aggregation": _Code("helpers.upper_quarter"), "higher_is_better": True},
            ],
        },
        "no_such_helper": {"doc_to_text": _Code("helpers.promt")},
        "class_of_texts": {"class": _Code("classes.Shouted")},
        "class_of_scores": {"class": _Code("classes.Counted")},
    }


def _filters(function: str) -> list[Values]:
    return [{"name": "own", "filter": [{"function": function}, {"function": "take_first"}]}]


_BENCH = """
import json

from datasets import Dataset
from {package}.openicl.icl_evaluator import {evaluator}
from {package}.{datasets} import BaseDataset
from {package}.registry import ICL_EVALUATORS, LOAD_DATASET, TEXT_POSTPROCESSORS


@LOAD_DATASET.register_module()
class OwnRows(BaseDataset):
    @staticmethod
    def load(path):
        with open(path, encoding="utf-8") as file:
            return Dataset.from_list([json.loads(line) for line in file])


@TEXT_POSTPROCESSORS.register_module("own_last")
def own_last(text):
    return (text.split() or [""])[-1]


@ICL_EVALUATORS.register_module()
class OwnEvaluator({evaluator}):
    def score(self, predictions, references):
        right = [said == wanted for said, wanted in zip(predictions, references)]
        return {{"share": 100 * sum(right) / len(right)}}
"""
_CONFIG = """
from {package}.openicl.icl_evaluator import AccEvaluator
from {package}.openicl.icl_inferencer import GenInferencer
from {package}.openicl.icl_prompt_template import PromptTemplate
from {package}.openicl.icl_retriever import ZeroRetriever
from {package}.datasets import JsonlDataset
from {module} import OwnEvaluator, OwnRows, own_last

datasets = [
    dict(
        abbr="own",
        type={kind},
        path="test.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="label"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="Q: {{question}}"),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type={evaluator}){processor}),
    )
]
"""
_PACKAGES = {
    "oc": {"package": "opencompass", "datasets": "datasets.base", "evaluator": "BaseEvaluator"},
    "ais": {"package": "ais_bench.benchmark", "datasets": "datasets.base", "evaluator": "BaseEvaluator"},
}
_KINDS = {
    "rows": {"kind": "OwnRows", "evaluator": "AccEvaluator", "processor": ""},
    "evaluator": {"kind": "JsonlDataset", "evaluator": "OwnEvaluator", "processor": ""},
    "processor": {
        "kind": "JsonlDataset",
        "evaluator": "AccEvaluator",
        "processor": ", pred_postprocessor=dict(type=own_last)",
    },
}


def _configs() -> dict[str, str]:
    return {
        f"{system}_{name}": _CONFIG.format(module=f"{system}_parts", package=names["package"], **kind)
        for system, names in _PACKAGES.items()
        for name, kind in _KINDS.items()
    }


def write(folder: Path) -> None:
    """Write tasks, configs, their code and their rows."""
    lines = "".join(json.dumps(row) + "\n" for row in made_up.asked())
    (folder / "test.jsonl").write_text(lines, encoding="utf-8")
    (folder / "helpers.py").write_text(_HELPERS, encoding="utf-8")
    (folder / "classes.py").write_text(_CLASS, encoding="utf-8")
    for name, values in _tasks().items():
        text = yaml.dump({"task": name, **_HEAD, **values}, Dumper=_Dumper, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    for system, names in _PACKAGES.items():
        (folder / f"{system}_parts.py").write_text(_BENCH.format(**names), encoding="utf-8")
    for name, text in _configs().items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def cases() -> Iterator[Case]:
    """Yield the cases: each exam by itself, since one that is refused would take the others along."""
    files = [*(f"{name}.yaml" for name in _tasks()), *(f"{name}.py" for name in _configs())]
    for file in files:
        name, _, kind = file.partition(".")
        yield Case(name, (file,), {"resamples": 40} if kind == "yaml" else {}, trusts_code=True)
    yield Case("untrusted", ("prompt.yaml",))
    yield Case("untrusted-config", ("oc_rows.py",))
    yield Case("lost", ("aggregation_of_package.yaml",), {"resamples": 40}, {"lost": list(LOST)}, trusts_code=True)
