"""How judgements are read: the ``dict_postprocessor`` of ``GenericLLMEvaluator``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.values import Reference
from proctor.errors import ScoringError, did_you_mean
from proctor.scoring.evaluators.cases import Verdict
from proctor.scoring.evaluators.judgement_readers import REPORTS as GENERIC_REPORTS
from proctor.scoring.evaluators.judgement_readers import Report
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS

REPORTS: Mapping[str, Report] = {**GENERIC_REPORTS, **SUBJECTIVE_REPORTS}
"""Readers of judgements about single answers."""

_RIGHT, _WRONG = "right", "wrong"
_LETTERS = ("generic_llmjudge_postprocess", "generic_llmjudge_academic_postprocess")
READERS = (*_LETTERS, *REPORTS)


def _reader_name(config: Mapping[str, Any] | None) -> str:
    kind = config.get("type") if config else ""
    return (kind.name if isinstance(kind, Reference) else str(kind)).rpartition(".")[2]


def report_of(config: Mapping[str, Any] | None) -> Report:
    """Return what makes a verdict of judgements, by a ``dict_postprocessor``.

    Raises:
        ScoringError: There is none, or it is not known.
    """
    return REPORTS.get(_reader_name(config)) or _graded(reader_of(config))


def _graded(read: Callable[[str], str]) -> Report:
    def report(said: Sequence[str], rows: Sequence[Mapping[str, Any]], golds: Sequence[Any]) -> Verdict:
        del rows, golds
        grades = [read(text) for text in said]
        return Verdict(_scores(grades), {"accuracy": [100.0 * (grade == _RIGHT) for grade in grades]}, parsed=said)

    return report


def reader_of(config: Mapping[str, Any] | None) -> Callable[[str], str]:
    """Return a function from a judgement to whether it says right, wrong, or neither.

    Raises:
        ScoringError: There is none, or it is not known.
    """
    if not config:
        raise ScoringError("the evaluator says nothing about how judgements are read", hint="add a dict_postprocessor")
    name = _reader_name(config)
    if name not in READERS:
        raise ScoringError(
            f"judgements cannot be read by '{name}' here",
            location=getattr(config, "location", None),
            why=f"known are {', '.join(READERS)}",
            hint=did_you_mean(name, READERS),
        )
    right, wrong = str(config.get("true_tag", "A")), str(config.get("false_tag", "B"))
    pattern = re.compile(f"{re.escape(right)}|{re.escape(wrong)}")

    def read(text: str) -> str:
        match = pattern.search(str(text))
        return "" if match is None else _RIGHT if match.group() == right else _WRONG

    return read


def _scores(grades: Sequence[str]) -> dict[str, Any]:
    count, right, wrong = len(grades), grades.count(_RIGHT), grades.count(_WRONG)
    accuracy = right / count
    attempted = (right + wrong) / count
    of_attempted = accuracy / attempted if attempted else 0.0
    both = of_attempted + accuracy
    return {
        "accuracy": accuracy * 100,
        "accuracy_given_attempted": of_attempted * 100,
        "f1": 2 * of_attempted * accuracy / both if both else 0.0,
        "attempted_ratio": attempted * 100,
        "correct_count": right,
        "incorrect_count": wrong,
        "not_attempted_count": count - right - wrong,
    }
