"""Code that computes scores, beside Proctor's own: versions of packages, what programs registered and plugins bring."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final

from proctor.jsonable import jsonable
from proctor.plugins import plugins
from proctor.recipes.held_code import code_of, code_of_module
from proctor.scoring.metric_table import metric_table
from proctor.scoring.named_table import PROGRAM

_PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "sacrebleu": ("bleu", "chrf", "ter"),
    "rouge-score": ("rouge",),
    "nltk": ("meteor", "rouge", "ifeval", "nltk"),
    "bert-score": ("bert_score", "bertscore"),
    "sentence-transformers": ("sentence_bert", "sentence_transformers"),
    "jiwer": ("wer", "cer"),
    "rapidfuzz": ("edit", "levenshtein", "anls"),
    "scikit-learn": ("roc_auc", "sklearn"),
    "scipy": ("spearman", "kendall", "pearson"),
    "evaluate": ("hf_", "huggingface", "hugging_face"),
    "spacy": ("spacy",),
    "seqeval": ("seqeval", "ner"),
}
"""Packages that compute scores, with words by which the names of their metrics are known."""


def with_code(metrics: object) -> dict[str, Any]:
    """Return a description of metrics with what computes them: versions of packages, digests of the code of others.

    Args:
        metrics: JSON-like data: names, arguments, artifacts by value.
    """
    data = jsonable(metrics)
    words = json.dumps(data).lower()
    found = {name: installed_version(name) for name, marks in _PACKAGES.items() if any(mark in words for mark in marks)}
    described = {"metrics": metrics, "versions": {name: known for name, known in found.items() if known}}
    registered = metric_table().of(PROGRAM)
    names = {text.partition("[")[0].removeprefix(f"{PROGRAM}:") for text in _texts(data)}
    entries = [registered[name] for name in sorted(names & registered.keys())]
    code: dict[str, Any] = {each.name: [_described(each.load()), _described(each.aggregation)] for each in entries}
    brought = plugins("metrics")
    for name in sorted({each.removeprefix("metrics.") for each in names} & brought.keys()):
        code[name] = code_of_module(brought[name].place.partition(":")[0])
    return {**described, "code": code} if code else described


def _described(function: Any) -> Any:
    """Return which function of which code computes: a file may have several, and one may be given arguments."""
    if isinstance(function, str):
        return function
    given = [function.args, function.keywords] if isinstance(function, partial) else []
    bare = function.func if isinstance(function, partial) else function
    return [getattr(bare, "__qualname__", type(bare).__qualname__), jsonable(given), code_of([bare])]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for name, each in data.items():
            yield from (name, *_texts(each))
    elif isinstance(data, list):
        for each in data:
            yield from _texts(each)


@cache
def installed_version(package: str) -> str | None:
    """Return the version of a package; ``None`` where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # most metrics need no package

    try:
        return version(package)
    except PackageNotFoundError:
        return None
