"""Packages that scoring needs: what a machine lacks, said before anybody is asked, and the versions of what it has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Final
from zipfile import BadZipFile

from proctor.errors import Diagnostic
from proctor.jsonable import jsonable

_DATA = "nltk:"


def lacking(name: str, requirements: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield what something needs and this machine lacks; data is looked for where NLTK is installed.

    Args:
        name: What needs it, for messages.
        requirements: What it needs.
    """
    for requirement in dict.fromkeys(requirements):
        needed, _, command = requirement.partition("=")
        if not needed.startswith(_DATA):
            if find_spec(needed) is None:
                yield Diagnostic(f"'{name}' needs the package '{needed}', which is not installed", hint=command)
        elif find_spec("nltk") is not None and not is_here(needed.removeprefix(_DATA)):
            what = f"'{name}' needs NLTK's data '{needed.rpartition('/')[2]}', which is not on this machine"
            yield Diagnostic(what, hint=f"{command}; the variable NLTK_DATA names a folder that has it")


def is_here(place: str) -> bool:
    """Return whether NLTK finds data (``corpora/wordnet``), unpacked or as it is fetched."""
    import nltk

    for form in (place, f"{place}.zip"):
        try:
            nltk.data.find(form)
        except (LookupError, BadZipFile):  # a download that was cut off is none
            continue
        return True
    return False


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
