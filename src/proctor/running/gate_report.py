"""Reports of a gate: a paragraph for people, JSON for programs, JUnit XML for continuous integration."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from proctor.running.gate import ExamVerdict, GateResult, GateRules
from proctor.secrets import redacted
from proctor.terminal_text import printable

EXIT_CODES = {"passed": 0, "failed": 1, "undecided": 4}
"""Of ``proctor gate``. 2 and 3 are errors, as of every command."""


def paragraph(result: GateResult) -> str:
    """Return the report for people: verdict, questions asked of how many, difference, cost."""
    said = [_sentence(each, result) for each in result.exams]
    if len(said) > 1:
        shared = f"all {len(said)} exams together are wrong with a chance of at most {_percent(1 - result.rules.level)}"
        said.insert(0, f"{result.verdict.upper()}: {result.label}; {shared}.")
    return "\n".join([*said, _cost(result)])


def _sentence(each: ExamVerdict, result: GateResult) -> str:
    asked = f"{each.asked:,} of {each.questions:,} questions were asked"
    if each.decided_after is not None and each.decided_after < each.asked:
        asked += f", {each.decided_after:,} were enough"
    if each.clusters is not None:
        asked += f" (whole clusters of '{each.clusters}', of which there are {each.units:,})"
    parts = [f"{each.verdict.upper()}: {each.exam}: {_claim(each, result.rules, result.label)}.", f"{asked};"]
    parts.append(_numbers(each, result.rules))
    if each.failed:
        parts.append(f"{each.failed} questions have no score and count against either verdict.")
    if each.why:
        parts.append(f"Why: {each.why}.")
    if each.note:
        parts.append(f"Note: {each.note}.")
    return " ".join(parts)


def _claim(each: ExamVerdict, rules: GateRules, label: str) -> str:
    if rules.at_least is None:
        what = f"worse than the baseline by more than {_points(rules.margin)}"
        claims = {"passed": f"{label} is not {what}", "failed": f"{label} is {what}"}
        return claims.get(each.verdict, f"it is not known whether {label} is {what}")
    claims = {"passed": "scores at least", "failed": "scores less than"}
    if each.verdict in claims:
        return f"{label} {claims[each.verdict]} {rules.at_least:g}"
    return f"it is not known whether {label} scores at least {rules.at_least:g}"


def _numbers(each: ExamVerdict, rules: GateRules) -> str:
    if math.isnan(each.difference):
        return "none of them has a score."
    is_whole = each.asked == each.questions and not each.failed and not each.is_corrected
    if rules.at_least is not None:
        bounds = f"{_percent(rules.level)} bounds {each.low:.4f} and {each.high:.4f}"
        between = "on all questions" if is_whole else bounds
        return f"{each.metric} {each.model:.4f} ({between})."
    bounds = f"{_percent(rules.level)} bounds {_signed(each.low)} and {_signed(each.high)}"
    between = "on all questions" if is_whole else bounds
    scores = f"{each.model:.4f} against {each.baseline or 0.0:.4f}"
    return (
        f"the difference of {each.metric} is {_signed(each.difference)} points ({between}; {scores} on what was asked)."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"  # 99.9% are not all


def _points(share: float) -> str:
    points = round(100 * share, 6)
    return f"{points:g} point{'' if points == 1 else 's'}"


def _signed(share: float) -> str:
    return f"{100 * share:+.2f}"


def _cost(result: GateResult) -> str:
    requests, usage = result.requests, result.usage
    said = f"{requests['asked']:,} requests, {requests['from_log']:,} answers from the log"
    said += f", {usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out"
    said += " of all answers" * any(each.is_corrected for each in result.exams)
    return f"It took {said}" + (f", ${result.usd:,.4f} at list prices." if result.usd is not None else ".")


def as_data(result: GateResult) -> dict[str, Any]:
    """Return JSON-like data; differences and scores are shares of 1."""
    return {
        "verdict": result.verdict,
        "exit_code": EXIT_CODES[result.verdict],
        "model": result.label,
        "baseline": result.baseline or None,
        "margin": None if result.rules.at_least is not None else result.rules.margin,
        "at_least": result.rules.at_least,
        "level": result.rules.level,
        "exams": [_plain(asdict(each)) for each in result.exams],
        "requests": dict(result.requests),
        "usage": {"prompt_tokens": result.usage.prompt_tokens, "completion_tokens": result.usage.completion_tokens},
        "usd": result.usd,
        "stopped": result.stopped,
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}


def junit_xml(result: GateResult) -> str:
    """Return a JUnit report: a test case for each exam; what is undecided is an error, what failed a failure."""
    verdicts = [each.verdict for each in result.exams]
    suite = ET.Element(
        "testsuite",
        name=_text(f"proctor gate {result.label}"),
        tests=str(len(verdicts)),
        failures=str(verdicts.count("failed")),
        errors=str(verdicts.count("undecided")),
        skipped="0",
    )
    for each in result.exams:
        case = ET.SubElement(suite, "testcase", classname="proctor.gate", name=_text(each.exam))
        said = _text(_sentence(each, result))
        if each.verdict == "passed":
            ET.SubElement(case, "system-out").text = said
        else:
            kind = "failure" if each.verdict == "failed" else "error"
            ET.SubElement(case, kind, message=said, type=each.verdict).text = said
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """Return a text that XML can hold: without control characters and secrets."""
    return printable(redacted(text))
