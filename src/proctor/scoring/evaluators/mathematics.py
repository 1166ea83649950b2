"""Evaluators of mathematical answers."""

from __future__ import annotations

from typing import Any

from proctor.errors import MissingExtraError, ScoringError
from proctor.scoring.evaluators.cases import Cases, Verdict, share
from proctor.scoring.postprocessors.mathematics import is_equivalent


def math(cases: Cases, version: str = "v1") -> Verdict:
    """Share of predictions that are their reference in another spelling (``MATHEvaluator``).

    AISBench's evaluator of this name is the one that verifies symbolically.

    Raises:
        ScoringError: There is no such version.
    """
    if cases.project == "aisbench":
        return math_verified(cases)
    if version not in ("v1", "v2"):
        raise ScoringError(f"MATHEvaluator has no version '{version}'", hint="use v1 or v2")
    return share([is_equivalent(given, gold, version) for given, gold in cases.pairs()])


def math_verified(cases: Cases) -> Verdict:
    """Share of predictions whose boxed answer ``math-verify`` finds equal to the reference (``MATHVerifyEvaluator``).

    Raises:
        MissingExtraError: ``math-verify`` is not installed.
    """
    return share([_verified(str(given), str(gold)) for given, gold in cases.pairs()])


def _verified(given: str, gold: str) -> bool:
    parse, verify, plain, latex = _tools()
    wanted = parse(gold, extraction_mode="first_match", extraction_config=plain)
    if not wanted:
        wanted = parse(f"${gold}$", extraction_mode="first_match", extraction_config=plain)
    if not wanted:
        return False
    return bool(verify(parse(given, extraction_mode="first_match", extraction_config=latex), wanted))


def _tools() -> tuple[Any, Any, Any, Any]:
    try:
        from latex2sympy2_extended import NormalizationConfig
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
    except ImportError as error:
        raise MissingExtraError.of("math-verify", "math", "MATHVerifyEvaluator") from error
    rules = NormalizationConfig(
        nits=False, malformed_operators=False, basic_latex=True, equations=True, boxed="all", units=True
    )
    boxed = LatexExtractionConfig(normalization_config=rules, boxed_match_priority=0, try_extract_without_anchor=False)
    return parse, verify, [LatexExtractionConfig(), ExprExtractionConfig()], [boxed]
