"""Evaluators of what a judge wrote: predictions are judgements, not answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share

BIN = 100
"""Answers of about the same confidence whose accuracy is compared with it (``beta`` of HLE's script)."""


def calibrated(cases: Cases) -> Verdict:
    """Accuracy and calibration error by a judge's JSON (``HLEJudgeEvaluator``), in percent.

    A judgement that is not JSON counts as wrong and has no confidence, as in HLE's script.
    """
    read = [_judgement(given) for given in cases.predictions]
    marks = [found is not None and "yes" in str(found.get("correct", "")) for found in read]
    verdict = share(marks, rule=percent_of_sum, digits=2)
    known = [found for found in read if found is not None]
    pairs = [(_confidence(found), "yes" in str(found.get("correct", ""))) for found in known]
    verdict.scores["calibration_error"] = 100 * round(calibration_error(pairs), 2)
    return verdict


def _judgement(text: Any) -> Mapping[str, Any] | None:
    try:
        found = json.loads(re.sub(r"\s+", " ", str(text)))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None


def _confidence(found: Mapping[str, Any]) -> float:
    value = found.get("confidence")
    return float(value) / 100 if isinstance(value, int | float) else 0.0


def calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """Return the root mean square difference of confidence and accuracy over bins of answers (HLE's ``calib_err``).

    The last bin is left out, as in the official script. With fewer answers than a bin holds it is the difference of the
    averages; without answers 0.
    """
    ordered = sorted(pairs, key=lambda pair: pair[0])
    if not ordered:
        return 0.0
    bins = [ordered[start : start + BIN] for start in range(0, len(ordered) // BIN * BIN, BIN)]
    if not bins:
        return _gap(ordered)
    return math.sqrt(sum(len(each) / len(ordered) * _gap(each) ** 2 for each in bins[:-1]))


def _gap(pairs: Sequence[tuple[float, bool]]) -> float:
    return abs(sum(confidence - right for confidence, right in pairs)) / len(pairs)
