"""Scores of OCRBench v2: means of groups of types, then the mean of the groups of a language."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.scoring.evaluators.cases import average, percent_of_sum

_GROUPS = {
    "en": (
        ("text recognition", "fine-grained text recognition", "full-page OCR"),
        ("text grounding", "VQA with position"),
        ("text spotting",),
        ("key information extraction", "key information mapping"),
        ("document parsing", "chart parsing", "table parsing", "formula recognition"),
        ("math QA", "text counting"),
        ("document classification", "cognition VQA", "diagram QA"),
        ("reasoning VQA", "science QA", "APP agent", "ASCII art classification"),
    ),
    "cn": (
        ("full-page OCR",),
        ("key information extraction", "handwritten answer extraction"),
        ("document parsing", "table parsing", "formula recognition"),
        ("cognition VQA",),
        ("reasoning VQA", "text translation"),
    ),
}
"""Types of questions that count as one ability, for each language (AISBench's groups)."""
_GROUP_OF = {
    f"{name} {language}": (language, place)
    for language, groups in _GROUPS.items()
    for place, names in enumerate(groups)
    for name in names
}
_OVERALL = {"en": "English Overall Score", "cn": "Chinese Overall Score"}  # names that AISBench reports


def overall_scores(scored: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the percentages of both languages; a language or group without questions is left out.

    Args:
        scored: The type of each question with its score of 0 to 1, in the order of the questions.

    Raises:
        ValueError: A type is not one of the benchmark's.
    """
    found: dict[tuple[str, int], list[float]] = {}
    for kind, score in scored:
        if kind not in _GROUP_OF:
            raise ValueError(f"OCRBench v2 has no questions of the type {kind!r}")
        found.setdefault(_GROUP_OF[kind], []).append(score)
    made: dict[str, float] = {}
    for language, name in _OVERALL.items():
        means = [average(found[each]) for each in sorted(found) if each[0] == language]
        if means:
            made[name] = percent_of_sum(means)
    return made
