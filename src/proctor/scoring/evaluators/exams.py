"""Evaluators of single exams: how each reads an answer, and what it counts as right."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from typing import Any, Literal

from proctor.errors import ScoringError
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, percent_of_sum, share
from proctor.scoring.text.postprocessors.families import normalized as dapo_spelling
from proctor.scoring.text.postprocessors.general import general
from proctor.scoring.text.postprocessors.mathematics import boxed, is_equivalent_plain

_LETTERS = string.ascii_uppercase


def accuracy_drop(cases: Cases) -> Verdict:
    """Accuracy on attacked rows (the first half), on the originals, and how much is lost (``AccDropEvaluator``)."""
    marks = [str(given) == str(gold) for given, gold in cases.pairs()]
    half = len(marks) // 2
    if not half or len(marks) % 2:
        raise ScoringError(f"{len(marks)} rows are not as many attacked ones as originals")
    after, before = (percent(own) for own in (marks[:half], marks[half:]))
    if not before:
        raise ScoringError("no original was answered rightly, so that nothing can be lost")
    scores = {"acc_drop": 1 - after / before, "acc_after": after, "acc_before": before}
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]})


def musr(cases: Cases, answer_index_modifier: int = 1, self_consistency_n: int = 1) -> Verdict:
    """Share of predictions whose first line with ``ANSWER:`` has the reference's number (``MusrEvaluator``)."""
    del answer_index_modifier, self_consistency_n  # upstream takes them and does not use them

    def right(given: str, gold: Any) -> bool:
        line = next((each for each in given.split("\n") if "ANSWER:" in each), "")
        match = re.search(r"\d+", line.split("ANSWER:")[-1])
        return match is not None and int(match.group()) == gold

    return share([right(given, gold) for given, gold in cases.pairs()], details=False, rule=percent_of_sum)


def crowspairs(cases: Cases) -> Verdict:
    """Accuracy of all and of valid answers, and the share of valid ones (``CrowspairsEvaluator``), in percent."""
    marks = [given == gold for given, gold in cases.pairs()]
    valid = [mark for mark, given in zip(marks, cases.predictions, strict=True) if given != "invalid"]
    if not valid:
        raise ScoringError("there is no valid prediction")
    shares = {
        "accuracy": sum(marks) / len(marks),
        "valid_accuracy": sum(valid) / len(valid),
        "valid_frac": len(valid) / len(marks),
    }
    scores = {name: round(value, 4) * 100 for name, value in shares.items()}
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]})


def nearly_equal(cases: Cases) -> Verdict:
    """Share of predictions that are a number nearer than 0.001 to the reference (``Math401Evaluator``)."""

    def right(given: Any, gold: Any) -> bool:
        try:
            return abs(float(given) - float(gold)) < 1e-3  # noqa: PLR2004 - upstream's
        except (ValueError, TypeError, OverflowError):
            return False

    return share([right(given, gold) for given, gold in cases.pairs()], rule=percent_of_sum)


def dapo(cases: Cases) -> Verdict:
    """Share of predictions that are the reference in DAPO's spelling (``DAPOMathEvaluator``)."""
    return share([given == dapo_spelling(gold) for given, gold in cases.pairs()], rule=percent_of_sum)


def keywords(cases: Cases) -> Verdict:
    """Share of predictions that have all words of the reference (``OpenFinDataKWEvaluator``)."""
    marks = [all(word in given for word in gold.split("、")) for given, gold in cases.pairs()]
    verdict = share(marks, details=False)
    verdict.scores["accuracy"] = round(sum(marks) / len(marks), 4) * 100
    return verdict


def _first_line_equals(cases: Cases, phrase: str) -> Verdict:
    parsed = [general(given.split("\n")[0].lower().split(phrase)[-1]) for given in cases.predictions]
    marks = [
        any(general(each).lower() == given for each in gold)
        for given, gold in zip(parsed, cases.references, strict=True)
    ]
    return share(marks, "score", details=False, parsed=parsed)


def natural_questions_chinese(cases: Cases) -> Verdict:
    """Share of predictions whose first line is an answer (``NQEvaluatorCN``)."""
    return _first_line_equals(cases, "答案是：")  # noqa: RUF001 - Chinese


def squad_answers(cases: Cases) -> Verdict:
    """Share of predictions whose first line is an answer (``SQuAD20Evaluator``)."""
    return _first_line_equals(cases, "answer is")


_UNWANTED = ("I understand", "A through J", "A through E", "A through D")


def medical_option(cases: Cases) -> Verdict:
    """Share of predictions whose first option is the reference (``MedmcqaEvaluator`` …)."""
    marks = []
    for given, gold, row in zip(cases.predictions, cases.references, cases.rows, strict=True):
        text = given
        for phrase in _UNWANTED:
            text = text.replace(phrase, "")
        match = re.search(rf"\b({'|'.join(_LETTERS[: len(row['options'])])})\b", text)
        marks.append(match is not None and match.group() == gold)
    return share(marks, rule=percent_of_sum)


# -- mathematics --------------------------------------------------------------------------------------------------

_PREFIXES = ("The answer is therefore", "答案是")
_NUMBER = r"\d+(?:\.\d+)?(?![\w\d])"


def agieval(cases: Cases) -> Verdict:
    """Share of predictions whose formula is the reference's in another spelling (``AGIEvalEvaluator``), in percent."""
    parsed = [read_formula(given, cases.project) for given in cases.predictions]
    marks = [is_equivalent_plain(given, gold) for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, "score", parsed=parsed)


def read_formula(text: str, project: str = "opencompass") -> str | None:
    """Return the formula that a text gives as its answer: in a box, between dollars, after an equals sign, a number.

    Args:
        text: What a model said.
        project: Whose rules: OpenCompass leaves a dollar sign before the number, AISBench does not.
    """
    for prefix in _PREFIXES:
        if prefix in text:
            start = 0 if text.startswith(prefix) else text.rfind(prefix)
            text = text[start + len(prefix) :].strip()
    if "\\boxed" in text:
        inside = boxed(text)
        return None if inside is None else _after_equals(inside)
    between = re.findall(r"\$(.*)\$", text)
    if between and (answer := _after_equals(between[-1])):
        return answer
    if "=" in text:
        return text.split("=")[-1].lstrip(" ").rstrip(".").split("\\n")[0]
    numbers = re.findall(_NUMBER if project == "aisbench" else r"\$?" + _NUMBER, text)
    return numbers[-1] if numbers else None


def _after_equals(text: str) -> str:
    return text.rsplit("=", maxsplit=1)[-1].lstrip(" ") if "=" in text else text


# -- Chinese exams ------------------------------------------------------------------------------------------------

_ANSWER_MARK = "【答案】"


def _single_choice(text: str, _: int) -> list[str]:
    return re.findall("[A-D]", text)[-1:]


def _several_questions(text: str, count: int) -> list[str]:
    marked = re.findall(r"【答案】\s*[:：]*\s*[A-Z]", text)  # noqa: RUF001 - Chinese
    return [each[-1] for each in marked] if len(marked) == count else re.findall("[A-Z]", text)[:count]


def _multiple_choice(text: str, _: int) -> list[str]:
    text = re.sub(r"\s+", "", text)
    place = text.find(_ANSWER_MARK)
    letters = "".join(re.findall("[A-D]", text[place:] if place > 0 else text[-10:]))
    return [letters] if letters else []


def _five_of_seven(text: str, _: int) -> list[str]:
    return re.findall("[A-G]", text)[:5]


def _written(text: str, _: int) -> list[str]:
    return re.findall("【答案】(.*?) ", text)[:1]


_READERS: Mapping[str, Callable[[str, int], list[str]]] = {
    "single_choice": _single_choice,
    "multi_question_choice": _several_questions,
    "multi_choice": _multiple_choice,
    "five_out_of_seven": _five_of_seven,
}
_WRITTEN = {"cloze": _written, "judgment": _written}


def gaokao(
    cases: Cases,
    question_type: Literal[
        "single_choice",
        "multi_choice",
        "multi_question_choice",
        "five_out_of_seven",
        "cloze",
        "subjective",
        "correction",
    ],
) -> Verdict:
    """Points of a Gaokao question type, in percent (``GaokaoBenchEvaluator_…``); 0 for types that need a person."""
    if question_type not in _READERS:
        return Verdict({"score": 0})
    return _points(cases, question_type, _READERS[question_type])


def kaoshi(
    cases: Cases,
    question_type: Literal[
        "single_choice", "multi_question_choice", "multi_choice", "five_out_of_seven", "cloze", "judgment"
    ],
) -> Verdict:
    """Points of a question type, in percent (``KaoshiEvaluator``)."""
    readers = {**_READERS, **_WRITTEN}
    if question_type not in readers:
        raise ScoringError(f"there is no question_type '{question_type}'", hint=f"choose one of {', '.join(readers)}")
    return _points(cases, question_type, readers[question_type])


def _points(cases: Cases, question_type: str, read: Callable[[str, int], list[str]]) -> Verdict:
    reached = possible = 0
    marks = []
    for given, gold in cases.pairs():
        wanted = [gold] if question_type in _WRITTEN else gold
        said = read(given, len(wanted))
        if len(said) != len(wanted):
            said = ["Z"] * len(wanted)
        full = 2 if question_type == "multi_choice" else 1
        points = [_worth(one, other, full) for one, other in zip(said, wanted, strict=True)]
        reached, possible = reached + sum(points), possible + full * len(points)
        marks.append(100.0 * sum(points) / (full * len(points)) if points else 0.0)
    if not possible:
        raise ScoringError("the references have no questions")
    return Verdict({"score": reached / possible * 100}, {"score": marks}, [mark == 100 for mark in marks])  # noqa: PLR2004


def _worth(said: str, wanted: str, full: int) -> int:
    """Return the points of an answer; where several options are right, some of them and no wrong one are worth one."""
    if said == wanted:
        return full
    return int(full > 1 and all(letter in wanted for letter in said))
