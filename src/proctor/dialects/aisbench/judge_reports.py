"""Reads judgements: the ``dict_postprocessor`` of ``GenericLLMEvaluator``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.values import short_name
from proctor.errors import ScoringError, did_you_mean
from proctor.scoring.evaluators.judgement_readers import REPORTS as GENERIC_REPORTS
from proctor.scoring.evaluators.judgement_readers import Report, Tagged
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS

_REPORTS: Mapping[str, Report] = {**GENERIC_REPORTS, **SUBJECTIVE_REPORTS}
_TAGGED = ("generic_llmjudge_postprocess", "generic_llmjudge_academic_postprocess")
READERS = (*_TAGGED, *_REPORTS)


def report_of(config: Mapping[str, Any] | None) -> Report:
    """Return what makes a verdict of judgements, by a ``dict_postprocessor``.

    Raises:
        ScoringError: There is none, or it is not known.
    """
    if not config:
        raise ScoringError("the evaluator says nothing about how judgements are read", hint="add a dict_postprocessor")
    name = short_name(config.get("type", ""))
    if name in _TAGGED:
        return Tagged(str(config.get("true_tag", "A")), str(config.get("false_tag", "B")))
    if name in _REPORTS:
        return _REPORTS[name]
    raise ScoringError(
        f"judgements cannot be read by '{name}' here",
        location=getattr(config, "location", None),
        why=f"known are {', '.join(READERS)}",
        hint=did_you_mean(name, READERS),
    )
