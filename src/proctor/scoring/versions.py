"""Versions of the packages behind metrics: the same name in another version may be another number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from proctor.jsonable import jsonable

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


def with_versions(metrics: object) -> dict[str, Any]:
    """Return a description of metrics with the versions of the packages that compute them.

    Args:
        metrics: JSON-like data: names, arguments, artifacts by value.
    """
    words = json.dumps(jsonable(metrics)).lower()
    found = {name: _version(name) for name, marks in _PACKAGES.items() if any(mark in words for mark in marks)}
    return {"metrics": metrics, "versions": {name: known for name, known in found.items() if known}}


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # most metrics need no package

    try:
        return version(package)
    except PackageNotFoundError:
        return None
