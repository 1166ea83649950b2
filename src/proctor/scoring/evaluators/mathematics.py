"""Evaluators of mathematical answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from proctor.errors import ScoringError, needed
from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.text.postprocessors.mathematics import final_answer_boxed, is_equivalent, is_equivalent_intern


def math(cases: Cases, version: Literal["v1", "v2"] = "v1") -> Verdict:
    """Share of predictions that are their reference in another spelling (``MATHEvaluator``).

    AISBench's evaluator of this name in ``icl_evaluator`` is the one that verifies symbolically; the one in
    ``datasets`` is :func:`math_spelled`.

    Raises:
        ScoringError: There is no such version.
    """
    return math_verified(cases) if cases.project == "aisbench" else math_spelled(cases, version)


def math_spelled(cases: Cases, version: Literal["v1", "v2"] = "v1") -> Verdict:
    """Share of predictions that are their reference in another spelling (``datasets.math.MATHEvaluator``).

    Args:
        cases: The answers.
        version: Rules for the spelling: ``v1`` (MATH), ``v2`` (more units and symbols).

    Raises:
        ScoringError: There is no such version.
    """
    if version not in ("v1", "v2"):
        raise ScoringError(f"MATHEvaluator has no version '{version}'", hint="use v1 or v2")
    return share([is_equivalent(given, gold, version) for given, gold in cases.pairs()], rule=percent_of_sum)


def live_math(
    cases: Cases,
    model_name: str = "",
    url: str | Sequence[str] = (),
    use_extract_model: bool = False,
    extract_url: Sequence[str] = (),
    extract_model_name: str = "",
) -> Verdict:
    """Share of predictions whose box is the reference in another spelling (``LiveMathBenchEvaluator`` without a judge).

    Raises:
        ScoringError: The evaluator names a judge, or a model that takes answers out of words.
    """
    del extract_url, extract_model_name
    if problem := live_math_problem(model_name, url, use_extract_model=use_extract_model):
        raise ScoringError(problem, hint=LIVE_MATH_HINT)
    return share([is_equivalent(final_answer_boxed(given), gold, "v2") for given, gold in cases.pairs()])


def live_math_problem(model_name: str = "", url: str | Sequence[str] = (), *, use_extract_model: bool = False) -> str:
    """Return why LiveMathBench's evaluator cannot be had with these arguments; empty where it can."""
    if use_extract_model:
        return "no model takes answers out of words here"
    return "the evaluator's judge is not asked here" if model_name and url else ""


LIVE_MATH_HINT = "say model_name='' and url=[] to grade by rules, or judge with a GenericLLMEvaluator"


def math_intern(cases: Cases) -> Verdict:
    """Share of answers that are the reference by InternLM's rules, in percent (``MATHInternEvaluator``)."""
    return share([is_equivalent_intern(given, gold) for given, gold in cases.pairs()], rule=percent_of_sum)


def math_verified(cases: Cases) -> Verdict:
    """Share of predictions whose boxed answer ``math-verify`` finds equal to the reference (``MATHVerifyEvaluator``).

    Raises:
        MissingExtraError: ``math-verify`` is not installed.
    """
    return share([_verified(str(given), str(gold)) for given, gold in cases.pairs()], rule=percent_of_sum)


def _verified(given: str, gold: str) -> bool:
    parse, verify, plain, latex = _tools()
    wanted = parse(gold, extraction_mode="first_match", extraction_config=plain)
    if not wanted:
        wanted = parse(f"${gold}$", extraction_mode="first_match", extraction_config=plain)
    if not wanted:
        return False
    return bool(verify(parse(given, extraction_mode="first_match", extraction_config=latex), wanted))


def _tools() -> tuple[Any, Any, Any, Any]:
    with needed("math-verify", "math", "MATHVerifyEvaluator"):
        from latex2sympy2_extended import NormalizationConfig
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
    rules = NormalizationConfig(
        nits=False, malformed_operators=False, basic_latex=True, equations=True, boxed="all", units=True
    )
    boxed = LatexExtractionConfig(normalization_config=rules, boxed_match_priority=0, try_extract_without_anchor=False)
    return parse, verify, [LatexExtractionConfig(), ExprExtractionConfig()], [boxed]
