"""Verdicts of what a judge said: about answers, several times about one, or about one of two answers."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.evaluators.judgement_readers import Report
from proctor.scoring.evaluators.pair_readers import Judged, PairReader
from proctor.scoring.text.how_read import among, each_of, no_verdict

BIN = 100
"""Answers of about the same confidence whose accuracy is compared with it (``beta`` of HLE's script)."""


def calibrated(cases: Cases) -> Verdict:
    """Accuracy and calibration error by a judge's JSON (``HLEJudgeEvaluator``), in percent.

    A judgement that is not JSON counts as wrong and has no confidence, as in HLE's script; one that does not say yes
    or no counts as wrong, one without a number as unsure. Neither is a whole verdict, which is noted.
    """
    read = [_judgement(given) for given in each_of(cases.predictions)]
    marks = [found is not None and "yes" in str(found.get("correct", "")) for found in read]
    verdict = share(marks, rule=percent_of_sum, digits=2)
    known = [found for found in read if found is not None]
    pairs = [(_confidence(found), "yes" in str(found.get("correct", ""))) for found in known]
    verdict.scores["calibration_error"] = 100 * round(calibration_error(pairs), 2)
    return verdict


def _judgement(text: Any) -> Mapping[str, Any] | None:
    try:
        value = json.loads(re.sub(r"\s+", " ", str(text)))
    except (ValueError, RecursionError):
        value = None
    found: Mapping[str, Any] | None = value if isinstance(value, Mapping) else None
    says = re.search(r"yes|\bno\b", str((found or {}).get("correct", ""))) is not None
    if found is None or not says or not isinstance(found.get("confidence"), int | float):
        no_verdict()
    return found


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


_SHOWN = 80  # characters of a judgement that a message shows


def reported(report: Report, cases: Cases, said: Sequence[Any], places: Sequence[int] = ()) -> Verdict:
    """Return what a family of exams makes of judgements; of several about one answer the mean.

    Answers that were not judged are left out, and listed.

    Args:
        report: Reads the judgements.
        cases: The answers.
        said: What the judge said; a failure where it said nothing.
        places: Which answer each judgement is about; without it, the answers in order.

    Raises:
        ScoringError: There is no judgement, or none can be read.
    """
    about = places or range(len(said))
    silent = {place: each for place, each in zip(about, said, strict=True) if isinstance(each, Failure)}
    kept = [i for i, each in enumerate(said) if not isinstance(each, Failure)]
    if not kept:
        raise ScoringError("the judge answered nothing", why=next(iter(silent.values())).message if silent else "")
    rows: Sequence[Mapping[str, Any]] = cases.rows or [{}] * len(cases.predictions)
    of_rows = [about[i] for i in kept]
    words = [str(said[i]) for i in kept]
    with among(of_rows):
        found = report(words, [rows[i] for i in of_rows], [cases.references[i] for i in of_rows])
    if not found.scores:
        raise ScoringError("no judgement can be read", why=next(iter(found.failures.values())).message)
    failures = {**{of_rows[i]: each for i, each in found.failures.items()}, **silent}
    columns = {}
    for column, values in found.instances.items():
        points = defaultdict[int, list[float]](list)
        for place, value in zip(of_rows, values, strict=True):
            if value is not None:
                points[place].append(value)
        columns[column] = [_mean(points[i]) for i in range(len(cases.predictions))]
        failures = {place: each for place, each in failures.items() if not points[place]}
    parsed = _together(cases, about, said)
    return Verdict(found.scores, columns, parsed=parsed, failures=failures, described=True, main=found.main)


def compared(cases: Cases, asked: Sequence[tuple[int, str]], said: Sequence[Any], reader: PairReader) -> Verdict:
    """Return what comes of judgements about pairs of answers.

    Args:
        cases: The answers of one of both.
        asked: For each judgement the place of the answer, and who stood first.
        said: What the judge said; a failure where it said nothing.
        reader: Reads the judgements.

    Raises:
        ScoringError: No judgement can be read.
    """
    failures: dict[int, Failure] = {}
    good: list[tuple[Judged, float]] = []
    of_rows: dict[int, list[float]] = defaultdict(list)
    for (place, first), text in zip(asked, said, strict=True):
        gold = cases.references[place]
        judged = Judged(str(text), first, gold if isinstance(gold, Mapping) else cases.rows[place])
        points = None if isinstance(text, Failure) else reader.points(judged)
        if points is None:
            why = f"the judgement cannot be read: {judged.words[:_SHOWN]}"
            failures[place] = text if isinstance(text, Failure) else Failure("unreadable", why, retryable=False)
            continue
        good.append((judged, points))
        of_rows[place].append(points)
    if not good:
        raise ScoringError("no judgement can be read", why=next(iter(failures.values())).message)
    column = [50 * (1 + _mean(of_rows[i])) if of_rows[i] else None for i in range(len(cases.predictions))]  # type: ignore[operator]
    failures = {place: each for place, each in failures.items() if not of_rows[place]}
    parsed = _together(cases, [place for place, _ in asked], list(map(str, said)))
    return Verdict(reader.scores(good), {"preference": column}, parsed=parsed, failures=failures, described=True)


def _together(cases: Cases, places: Sequence[int], said: Sequence[Any]) -> list[Any]:
    """Return everything that was said about each answer."""
    of_rows = defaultdict[int, list[Any]](list)
    for place, text in zip(places, said, strict=True):
        of_rows[place].append(text)
    listed = (of_rows[i] for i in range(len(cases.predictions)))
    return [each[0] if len(each) == 1 else "\n".join(map(str, each)) for each in listed]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
