"""Readers of judgements, by family of exams: OpenCompass' ``dict_postprocessor``."""
# ruff: noqa: ARG001, ARG002 - readers are called with all there is

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Verdict, average, grouped, percent, percent_of_sum, share
from proctor.scoring.text.how_read import each_of, no_verdict

Row = Mapping[str, Any]
T = TypeVar("T")
Report = Callable[[Sequence[str], Sequence[Row], Sequence[Any]], Verdict]
"""Makes a verdict of judgements, with the rows and the right answers beside them."""


def _read(said: Sequence[str], read: Callable[[str], T | None], default: T) -> list[T]:
    """Return what is read of each judgement; of one without a verdict, which is noted, what upstream counts it as."""
    found: list[T] = []
    for text in each_of(said):
        value = read(text)
        if value is None:
            no_verdict()
        found.append(default if value is None else value)
    return found


def _marks(said: Sequence[str], pattern: str, default: str) -> list[str]:
    return _read(said, partial(_group, re.compile(pattern)), default)


def _group(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match.group()


def _marked(scores: dict[str, Any], marks: Sequence[bool], main: str, said: Sequence[str]) -> Verdict:
    return Verdict(scores, {main: [100.0 * mark for mark in marks]}, list(marks), parsed=list(said), main=main)


def attempts(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Shares of A (right), B (wrong) and C (not attempted), as SimpleQA's authors combine them; ``f1`` is a share."""
    grades = _marks(said, "[ABC]", "C")
    right, tried = grades.count("A") / len(grades), (grades.count("A") + grades.count("B")) / len(grades)
    given = right / tried if tried else 0.0
    f1 = 2 * given * right / (given + right) if given + right else 0.0
    scores = {"accuracy": 100 * right, "accuracy_given_attempted": 100 * given, "f1": f1}
    return _marked(scores, [grade == "A" for grade in grades], "accuracy", said)


def chinese_attempts(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """As :func:`attempts`, as shares and under Chinese SimpleQA's names."""
    grades = _marks(said, "[ABC]", "C")
    scores = {name: grades.count(letter) / len(grades) for name, letter in _CHINESE_NAMES.items()}
    right, tried = scores["correct"], grades.count("A") + grades.count("B")
    given = grades.count("A") / tried if tried else 0.0
    scores |= {"given_attempted_accuracy": given, "F1": 2 * given * right / (given + right) if given + right else 0.0}
    return Verdict(scores, {"correct": [float(grade == "A") for grade in grades]}, parsed=list(said), main="correct")


_CHINESE_NAMES = {"correct": "A", "incorrect": "B", "not_attempted": "C"}


@dataclass(frozen=True, slots=True)
class Tagged:
    """Shares of judgements that say right, wrong or neither (``generic_llmjudge_postprocess``), in percent.

    Attributes:
        right: What a judge says of a right answer; the first of both marks in a judgement counts.
        wrong: What it says of a wrong one.
    """

    right: str = "A"
    wrong: str = "B"

    def __call__(self, said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
        """Return what comes of judgements."""
        grades = _marks(said, f"{re.escape(self.right)}|{re.escape(self.wrong)}", "")
        marks = [grade == self.right for grade in grades]
        count, right, wrong = len(grades), sum(marks), sum(grade == self.wrong for grade in grades)
        accuracy, attempted = right / count, (right + wrong) / count
        given = accuracy / attempted if attempted else 0.0
        scores = {
            "accuracy": accuracy * 100,
            "accuracy_given_attempted": given * 100,
            "f1": 2 * given * accuracy / (given + accuracy) if given + accuracy else 0.0,
            "attempted_ratio": attempted * 100,
            "correct_count": right,
            "incorrect_count": wrong,
            "not_attempted_count": count - right - wrong,
        }
        return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]}, parsed=said)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Accuracy of all, and of the rows that share a value: rounded to two decimals, as upstream.

    Attributes:
        prefix: Before the names of groups.
        fields: Columns whose values are groups; of several in a tuple the values together.
    """

    prefix: str
    fields: tuple[tuple[str, ...], ...]

    def __call__(self, said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
        """Return the verdict."""
        marks = [grade == "A" for grade in _marks(said, "[AB]", "B")]
        scores: dict[str, Any] = {"accuracy": round(percent(marks), 2)}
        scores |= {"total_correct": sum(marks), "total_count": len(marks)}
        for names in self.fields:
            groups = grouped(marks, (["-".join(str(row.get(name, "unknown")) for name in names)] for row in rows))
            scores |= {f"{self.prefix}-{name}": round(percent(own), 2) for name, own in groups.items()}
        return _marked(scores, marks, "accuracy", said)


_NUMBER = r"[-+]?\d*\.\d+|\d+\.\d*|\d+"


def absolute_error(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Mean absolute difference of the first number that the judge writes (else 0) and the right one."""
    numbers = [float(each) for each in _marks(said, _NUMBER, "0")]
    errors = [abs(number - float(gold or 0)) for number, gold in zip(numbers, golds, strict=True)]
    return Verdict({"mae": average(errors)}, {"mae": errors}, parsed=numbers, main="mae")


_MARKED_NUMBER = re.compile(r"(?:<NUMBER>\s*|\\boxed\{)\s*(-?\d*\.?\d+)\s*(?:</NUMBER>|\})")


def marked_number(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Mean of the last number from 0 to 1 that the judge marks, in percent with two decimals; without one it is 0."""
    points = [float(each[-1]) for each in _read(said, lambda text: _MARKED_NUMBER.findall(text) or None, ["0"])]
    return _rated(said, points, 1, "final_score", lambda good: round(percent_of_sum(good), 2))


def _rated(
    said: Sequence[str], points: Sequence[float], most: int, name: str, rule: Callable[[Sequence[float]], float]
) -> Verdict:
    """Return the verdict of ratings; one beyond the scale is a failure, for nobody knows what the judge meant."""
    failures = {
        place: Failure("unreadable", f"the rating {each:g} is not between 0 and {most}", retryable=False)
        for place, each in enumerate(points)
        if not 0 <= each <= most
    }
    good = [each for place, each in enumerate(points) if place not in failures]
    column = [None if place in failures else 100.0 * (each / most) for place, each in enumerate(points)]
    return Verdict({name: rule(good)} if good else {}, {name: column}, parsed=list(said), failures=failures, main=name)


_WHOLE_NUMBER = r"^\s*[-+]?\d+\s*$|(?<!\d)\d+(?!\d)"
_FULL_POINTS = 10


def of_ten(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Mean of the first whole number that the judge writes, of ten, in percent; 0 without one (EESE)."""
    points = [int(each) for each in _marks(said, _WHOLE_NUMBER, "0")]
    return _rated(
        said, points, _FULL_POINTS, "overall_score", lambda good: sum(good) / (_FULL_POINTS * len(good)) * 100
    )


_KINDS = {
    "Question Correction": "QC", "Intentional Textual Flaws": "ITF", "Code without Comments": "CC",
    "Counter-Conventional Formatting": "CCF", "Deliberately Incorrect Answers": "DIA", "Instructional Induction": "II",
    "Mid-turn Instruction Modification": "MIM", "Counterfactual Answering": "CA",
}  # fmt: skip
_SCORE_PATTERNS = (
    r'"answer_score"\s*:\s*"?([01])"?', r'answer_score\s*[:：]\s*"?([01])"?', r"【评分】\s*[:：]\s*([01])\s*分",  # noqa: RUF001
    r"评分\s*[:：]\s*([01])\s*分",  # noqa: RUF001
)  # fmt: skip


def inverse_instructions(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Share of answers that the judge gives a 1, by language and kind of instruction (Inverse IFEval), in percent."""
    points = _read(said, _answer_score, None)
    marks = [each == 1 for each in points]
    unread = points.count(None)
    scores: dict[str, Any] = {"accuracy": percent(marks), "correct_count": sum(marks)}
    scores |= {"parse_error_count": unread, "parse_error_rate": unread / len(marks) * 100}
    groups = grouped(marks, map(_inverse_groups, rows))
    scores |= {f"{name}_accuracy": percent(own) for name, own in sorted(groups.items())}
    return _marked(scores, marks, "accuracy", said)


def _inverse_groups(row: Row) -> list[str]:
    language, kind = row.get("language", ""), row.get("instruction_types", "")
    short = _KINDS.get(kind, kind)
    return [name for name in (language, short, f"{language}_{short}" if language and short else "") if name]


def _answer_score(text: str) -> int | None:
    blocks = re.findall(r"```(?:json)?\s*([\s\S]*?)```", text, flags=re.IGNORECASE)
    for block in [*blocks, *re.findall(r"\{[\s\S]*?answer_score[\s\S]*?\}", text)]:
        try:
            found = json.loads(block.strip())
        except (ValueError, RecursionError):
            continue
        score = str(found.get("answer_score")).strip() if isinstance(found, Mapping) else ""
        if score in ("0", "1"):
            return int(score)
    match = next((match for pattern in _SCORE_PATTERNS if (match := re.search(pattern, text))), None)
    return None if match is None else int(match.group(1))


def rubrics(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Share of answers whose ``Overall Score`` is 1, and by category (CL-bench), in percent."""
    marks = [score == 1 for score in _read(said, _overall, 0)]
    scores: dict[str, Any] = {"accuracy": percent(marks), "correct_count": sum(marks)}
    scores["total_count"] = len(marks)
    kinds = (row.get("context_category") or (row.get("metadata") or {}).get("context_category") for row in rows)
    groups = grouped(marks, ([str(kind or "Unknown")] for kind in kinds))
    scores |= {f"category_accuracy/{name}": percent(own) for name, own in groups.items()}
    return _marked(scores, marks, "accuracy", said)


def _overall(text: str) -> int | None:
    text = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found = json.loads(text)
        if isinstance(found, Mapping) and "Overall Score" in found:
            return int(found["Overall Score"])
    except (ValueError, TypeError, RecursionError):
        pass
    patterns = (r'"?Overall Score"?\s*:\s*([01])', r"\b([01])\s*points?\b")
    match = next((match for each in patterns if (match := re.search(each, text, re.IGNORECASE))), None)
    return None if match is None else int(match.group(1))


def truths(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Share of judgements that say TRUE, in percent (PEER)."""
    found = _read(said, lambda text: re.findall("TRUE|FALSE", text.upper()) or None, list[str]())
    return share(["TRUE" in words for words in found], parsed=list(said))


def verdicts(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Share of judgements that say CORRECT, in percent, also by category of documents (AA-LCR)."""
    found = _read(said, lambda text: re.findall(r"\b(?:IN)?CORRECT\b", text.upper()) or None, list[str]())
    wrong = ["INCORRECT" in words for words in found]
    marks = [bool(words) and not other for words, other in zip(found, wrong, strict=True)]
    scores: dict[str, Any] = {"accuracy": percent(marks), "correct_count": sum(marks)}
    scores |= {"incorrect_count": sum(wrong), "unknown_count": len(marks) - sum(marks) - sum(wrong)}
    scores["total"] = len(marks)
    groups = grouped(marks, ([str(row.get("document_category", "unknown"))] for row in rows))
    for name, own in groups.items():
        scores["accuracy_" + re.sub(r"\W+", "_", name).strip("_")] = percent(own)
    return _marked(scores, marks, "accuracy", said)


_SATISFIED = "SATISFIED_ALL_REQUIREMENTS"


def requirements(said: Sequence[str], rows: Sequence[Row], golds: Sequence[Any]) -> Verdict:
    """Share of answers that satisfy all their requirements, and of requirements, in percent (AdvancedIF)."""
    read = _read(said, _requirements, ("", list[bool]()))
    marks = [satisfied == "YES" for satisfied, _ in read]
    unread = sum(not satisfied for satisfied, _ in read)
    listed = [kept for satisfied, checks in read if satisfied for kept in checks]
    scores: dict[str, Any] = {"accuracy": percent(marks)}
    scores["micro_pass_rate"] = percent(listed) if listed else 0
    scores |= {"correct_count": sum(marks), "total": len(marks), "total_rubrics": len(listed)}
    scores |= {
        "passed_rubrics": sum(listed),
        "parse_error_count": unread,
        "parse_error_rate": unread / len(marks) * 100,
    }
    return _marked(scores, marks, "accuracy", said)


def _requirements(text: str) -> tuple[str, list[bool]] | None:
    """Return YES or NO, and for each requirement whether it is kept; ``None`` where it cannot be read."""
    start, end = text.find("{"), text.rfind("}")
    checks: list[bool] = []
    place = text.find(f'"{_SATISFIED}"')
    if 0 <= start < place < end:
        try:
            found = json.loads(text[start : end + 1])
        except (ValueError, RecursionError):
            found = {}
        listed = found.get("rubrics_check") or {}
        values = listed.values() if isinstance(listed, Mapping) else ()
        checks = [isinstance(each, str) and "yes" in each.lower() for each in values]
        satisfied = found.get(_SATISFIED, "")
        if isinstance(satisfied, str) and satisfied.strip().upper() in ("YES", "NO"):
            return satisfied.strip().upper(), checks
    match = re.search(rf'"{_SATISFIED}"\s*:\s*"(YES|NO)"', text, re.IGNORECASE)
    return None if match is None else (match.group(1).upper(), checks)


def labels_of_parts(text: str, mark: str = "</think>") -> list[Any]:
    """Return the label that a judgement gives each part of an answer, ``None`` where it gives none (ATLAS).

    Args:
        text: The judgement, with JSON in a fence or without one.
        mark: What ends the judge's thoughts.
    """
    found = _judgements_in(text.rsplit(mark, maxsplit=1)[-1])
    found = found.get("judgements", [{}]) if isinstance(found, Mapping) else found
    listed = found if isinstance(found, list) else [found]
    return [each.get("label") if isinstance(each, Mapping) else None for each in listed]


def _judgements_in(text: str) -> Any:
    fenced = re.search(r"```json(.*?)```", text, re.DOTALL) or re.search(r"```(.*?)```", text, re.DOTALL)
    if fenced is not None:
        tried = [fenced.group(1).strip()]
    else:
        judgements, label = (text.rsplit(f'"{name}"', maxsplit=1)[-1] for name in ("judgements", "label"))
        tried = ['{"judgements"' + judgements, '{"judgements": [{"label"' + label + "}]}"]
    for each in tried:
        try:
            return json.loads(with_escapes(each))
        except (ValueError, RecursionError):
            continue
    return [{}]


def with_escapes(text: str) -> str:
    r"""Return JSON whose backslashes that escape nothing are written as two (``\\alpha``)."""
    return re.sub(r"(?<!\\)\\(?![\\/\"bfnrtu])", r"\\\\", text)


REPORTS: Mapping[str, Report] = {
    "simpleqa_postprocess": attempts,
    "livereasonbench_postprocess": attempts,
    "csimpleqa_postprocess": chinese_attempts,
    "supergpqa_llmjudge_postprocess": Grouped(
        "SuperGPQA", (("discipline",), ("discipline", "field"), ("discipline", "field", "subfield"))
    ),
    "medmcqa_llmjudge_postprocess": Grouped("medmcqa", (("subject_name",), ("choice_type",), ("topic_name",))),
    "MedXpertQA_llmjudge_postprocess": Grouped("MedXpertQA", (("medical_task",), ("body_system",), ("question_type",))),
    "medbullets_llmjudge_postprocess": Grouped("Medbullets", (("question_type",),)),
    "numerical_llmjudge_postprocess": absolute_error,
    "chem_exam_score_llmjudge_postprocess": marked_number,
    "eese_score_postprocess_dict": of_ten,
    "inverse_ifeval_judge_postprocess": inverse_instructions,
    "clbench_llmjudge_postprocess": rubrics,
    "peer_llm_judge_postprocess": truths,
    "aa_lcr_llmjudge_postprocess": verdicts,
    "advancedif_rubric_postprocess": requirements,
}
"""Readers of judgements by the names that configs give them."""
