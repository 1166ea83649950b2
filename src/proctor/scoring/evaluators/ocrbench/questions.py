"""OCRBench v2: which rule scores which type of question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import ScoringError
from proctor.foreign_text import parse_literal
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict, average, percent_of_sum
from proctor.scoring.evaluators.ocrbench.fields import field_score, placed_answer_score
from proctor.scoring.evaluators.ocrbench.matching import (
    box_said,
    chinese_formula_said,
    chinese_said_or_similar,
    count_said,
    formula_said,
    letters_alone,
    said_or_similar,
    written_choice_said,
)
from proctor.scoring.evaluators.ocrbench.reading import page_similarity, reading_score
from proctor.scoring.evaluators.ocrbench.tables import (
    chart_similarity,
    html_table_similarity,
    markdown_table_similarity,
)
from proctor.scoring.metrics.text_packages import WORDNET

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


_NO_RULE, _NO_BOX = "without eval", "without bbox"
"""What the table says where a question has no rule or place of its own."""
_LONG_ANSWER = "简答"  # word in questions about handwriting whose answer is a text, rather than letters
_UNREADABLE = (ValueError, TypeError, SyntaxError, LookupError, AttributeError)
"""What comes of answers in a table that are not what their type has."""


@dataclass(frozen=True, slots=True)
class _Question:
    said: str
    asked: Any
    answers: Any
    rule: Any
    box: Any

    def first(self) -> Any:
        """Return the first of the answers."""
        if isinstance(self.answers, list | str) and self.answers:
            return self.answers[0]
        raise ValueError(f"there is no list of answers: {self.answers!r}")

    def text(self) -> str:
        """Return the first of the answers, which has to be a text."""
        found = self.first()
        if not isinstance(found, str):
            raise ValueError(f"the answer is not a text: {found!r}")  # noqa: TRY004 - a row that is wrong
        return found

    def only(self) -> Any:
        """Return the one answer."""
        found = self.first()
        if len(self.answers) != 1:
            raise ValueError(f"there are {len(self.answers)} answers rather than one")
        return found


def ocrbench(cases: Cases) -> Verdict:
    """Means of the groups of questions, then of the groups of each language (``OCRBenchV2Evaluator``).

    The text spotting of AISBench's edition is always 0: its program never fills the list of right boxes. So it is here.

    Args:
        cases: What was said; references are dictionaries of the question and its answer.

    Raises:
        ScoringError: No question can be scored.
    """
    marks: list[float | None] = []
    scored: list[tuple[str, float]] = []
    failures: dict[int, Failure] = {}
    for place, (given, reference) in enumerate(cases.pairs()):
        try:
            mark = question_score("" if given is None else str(given), reference)
            if mark is not None:
                scored.append((reference["category"], mark))
        except _UNREADABLE as error:
            mark, failures[place] = None, Failure("scoring", f"{type(error).__name__}: {error}", retryable=False)
        marks.append(mark)
    if not scored:
        why = next((each.message for each in failures.values()), "no question counts")
        raise ScoringError("there are no predictions to evaluate", why=why)
    scores = overall_scores(scored)
    in_percent = [None if mark is None else 100.0 * mark for mark in marks]
    return Verdict(scores, {"score": in_percent}, failures=failures, main=next(iter(scores)))


def question_score(said: str, reference: Mapping[str, Any]) -> float | None:
    """Return the score of 0 to 1 of an answer; ``None`` where the question does not count.

    Args:
        said: What the model said.
        reference: The question: ``answer`` and ``bbox_raw`` as Python literals, ``category``, ``question``, ``evals``.

    Raises:
        ValueError: The reference is not such a question, its type is unknown, or its answers are of another form.
        SyntaxError: The answers are not a literal.
    """
    if not isinstance(reference, Mapping) or not reference.keys() >= {"category", "answer"}:
        raise ValueError("the reference is not a question of OCRBench v2: a mapping with 'category' and 'answer'")
    kind, box = reference["category"], reference.get("bbox_raw")
    if kind not in _RULES:
        raise ValueError(f"OCRBench v2 has no questions of the type {kind!r}")
    answers = parse_literal(str(reference["answer"]))
    place = parse_literal(box) if isinstance(box, str) and box != _NO_BOX else box
    return _RULES[kind](_Question(said, reference.get("question"), answers, reference.get("evals"), place))


# -- rules -----------------------------------------------------------------------------------------------------------


def data_of(reference: object) -> tuple[str, ...]:
    """Return the data that scoring a question needs: WordNet, where texts that were read are compared."""
    kind = reference.get("category") if isinstance(reference, Mapping) else None
    return (WORDNET,) if _RULES.get(str(kind)) in _READING else ()


def _short(question: _Question) -> float:
    answers = question.answers
    return _ruled(question, [answers] if isinstance(answers, str) else answers, said_or_similar)


def _chinese_short(question: _Question) -> float:
    # a text of one letter is as good as a list with it, since the benchmark's program takes the first of both
    only = [question.answers] if isinstance(question.answers, str) and len(question.answers) == 1 else question.answers
    return _ruled(question, only, chinese_said_or_similar)


def _ruled(question: _Question, choices: Any, plain: Callable[[str, Any], float]) -> float:
    if question.rule == _NO_RULE:
        return plain(question.said, question.answers)
    if question.rule == "multiple choice":
        return letters_alone(question.said, choices)
    if question.rule == "case sensitive":
        return said_or_similar(question.said, question.answers, case=True)
    raise ValueError(f"answers are compared by 'multiple choice' or 'case sensitive', not by {question.rule!r}")


def _handwriting(question: _Question) -> float:
    if _LONG_ANSWER in str(question.asked):
        return reading_score(question.said, question.text())
    return written_choice_said(question.said, [question.only()])


def _read(question: _Question) -> float:
    return reading_score(question.said, question.text()) if question.said else 0.0


def _translation(question: _Question) -> float | None:
    if not question.said:
        return 0.0
    return reading_score(question.said, question.text()) if question.text() else None


def _table(question: _Question) -> float | None:
    only = question.only()
    if not isinstance(question.asked, str):
        return None
    form = question.asked.lower()
    if "html" in form:
        return html_table_similarity(question.said, question.text())
    if "markdown" in form:
        return markdown_table_similarity(question.said, question.text())
    raise ValueError(f"the question asks neither for HTML nor for Markdown, so {str(only)[:40]!r} cannot be compared")


def _fields(question: _Question) -> float:
    return field_score(question.said, question.only())


def _chinese_fields(question: _Question) -> float:
    question.only()
    found = parse_literal(question.text())
    if not isinstance(found, dict):
        raise ValueError("the fields of an answer are not a dictionary")  # noqa: TRY004 - a row that is wrong
    return field_score(question.said, {key: each if isinstance(each, list) else [each] for key, each in found.items()})


def _page(question: _Question) -> float:
    question.only()
    return page_similarity(question.said, question.text())


_ENGLISH_SHORT = (
    "APP agent", "ASCII art classification", "math QA", "reasoning VQA", "science QA", "text recognition",
    "document classification", "cognition VQA", "diagram QA",
)  # fmt: skip
_RULES: Mapping[str, Callable[[_Question], float | None]] = {
    **{f"{name} en": _short for name in _ENGLISH_SHORT},
    "cognition VQA cn": _chinese_short,
    "reasoning VQA cn": _chinese_short,
    "handwritten answer extraction cn": _handwriting,
    "formula recognition en": lambda question: formula_said(question.said, question.answers),
    "formula recognition cn": lambda question: chinese_formula_said(question.said, question.answers),
    "text counting en": lambda question: count_said(question.said, question.answers, question.rule),
    "table parsing en": _table,
    "table parsing cn": lambda question: html_table_similarity(question.said, question.text()),
    "chart parsing en": lambda question: chart_similarity(question.said, question.first()),
    "document parsing en": _page,
    "document parsing cn": _page,
    "key information extraction en": _fields,
    "key information mapping en": _fields,
    "key information extraction cn": _chinese_fields,
    "VQA with position en": lambda question: placed_answer_score(question.said, question.answers, question.box),
    "text grounding en": lambda question: box_said(question.said, question.answers),
    "text spotting en": lambda question: 0.0,
    "text translation cn": _translation,
    "fine-grained text recognition en": _read,
    "full-page OCR en": _read,
    "full-page OCR cn": _read,
}
"""The rule of each type of question."""
_READING = (_handwriting, _translation, _read)  # rules that compare texts by METEOR among others
