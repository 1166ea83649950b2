"""Evaluators of single exams: how each reads an answer, and what it counts as right."""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.evaluators.answers import english_tokens, f1
from proctor.dialects.aisbench.evaluators.cases import Cases, Verdict, share
from proctor.dialects.aisbench.evaluators.long_texts import mean
from proctor.dialects.aisbench.processing.general import general, read_literal
from proctor.dialects.aisbench.processing.mathematics import boxed, is_equivalent_plain
from proctor.errors import MissingExtraError, ScoringError

_LETTERS = string.ascii_uppercase


def accuracy_drop(cases: Cases) -> Verdict:
    """Accuracy on attacked rows (the first half), on the originals, and how much is lost (``AccDropEvaluator``)."""
    marks = [str(given) == str(gold) for given, gold in cases.pairs()]
    half = len(marks) // 2
    if not half or len(marks) % 2:
        raise ScoringError(f"{len(marks)} rows are not as many attacked ones as originals")
    after, before = (100 * sum(own) / half for own in (marks[:half], marks[half:]))
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

    return share([right(given, gold) for given, gold in cases.pairs()], details=False)


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

    return share([right(given, gold) for given, gold in cases.pairs()])


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
    return share(marks)


# -- mathematics --------------------------------------------------------------------------------------------------

_PREFIXES = ("The answer is therefore", "答案是")


def agieval(cases: Cases) -> Verdict:
    """Share of predictions whose formula is the reference's in another spelling (``AGIEvalEvaluator``), in percent."""
    parsed = [_formula(given) for given in cases.predictions]
    marks = [is_equivalent_plain(given, gold) for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, "score", parsed=parsed)


def _formula(text: str) -> str | None:
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
    numbers = re.findall(r"(?:\$)?\d+(?:\.\d+)?(?![\w\d])", text)
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


def gaokao(cases: Cases, question_type: str) -> Verdict:
    """Points of a Gaokao question type, in percent (``GaokaoBenchEvaluator_…``); 0 for types that need a person."""
    if question_type not in _READERS:
        return Verdict({"score": 0})
    return _points(cases, question_type, _READERS[question_type])


def kaoshi(cases: Cases, question_type: str) -> Verdict:
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
    return Verdict({"score": 100 * reached / possible}, {"score": marks}, [mark == 100 for mark in marks])  # noqa: PLR2004


def _worth(said: str, wanted: str, full: int) -> int:
    """Return the points of an answer; where several options are right, some of them and no wrong one are worth one."""
    if said == wanted:
        return full
    return int(full > 1 and all(letter in wanted for letter in said))


# -- tables and grids ---------------------------------------------------------------------------------------------


def s3eval(cases: Cases) -> Verdict:
    """F1 of table cells, of listed values, or of words (``S3EvalEvaluator``), in percent."""
    return mean([100 * _table_f1(given, gold) for given, gold in cases.pairs()], described=False)


def _table_f1(given: str, gold: str) -> float:
    if "|" in gold:
        return _overlap(Counter(_cells(given)), Counter(_cells(gold)))
    if "," in gold:
        one, other = ({item.strip() for item in text.split(",")} for text in (given, gold))
        return _overlap(Counter(one), Counter(other))
    try:
        return float(float(given) == float(gold))
    except ValueError:
        return f1(english_tokens(given), english_tokens(gold))


def _cells(text: str) -> list[tuple[str, ...]]:
    lines = (line for line in text.split("\n")[2:] if line.strip())
    return [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines]


def _overlap(given: Counter[Any], gold: Counter[Any]) -> float:
    same = sum((given & gold).values())
    precision, recall = same / (sum(given.values()) or 1), same / (sum(gold.values()) or 1)
    return 2 * (precision * recall) / (precision + recall) if same else 0.0


def arc_prize(cases: Cases) -> Verdict:
    """Share of grids that are right in every cell (``ARCPrizeEvaluator``), as a fraction."""
    marks = [_grid(given) == [list(row) for row in gold] for given, gold in cases.pairs()]
    if not marks:
        raise ScoringError("there are no predictions to evaluate")
    return Verdict({"accuracy": sum(marks) / len(marks)}, {"accuracy": [float(mark) for mark in marks]}, marks)


def _grid(text: str) -> list[list[int]]:
    """Return the first list of lists of whole numbers in a text; one cell with 0 where there is none."""
    start = text.find("[[")
    end = text.find("]]", start)
    value = read_literal(text[start : end + 2]) if start >= 0 and end >= 0 else None
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return [[0]]
    return value if all(isinstance(cell, int) for row in value for cell in row) else [[0]]


# -- TabMWP -------------------------------------------------------------------------------------------------------

_CHOSEN = (
    r"^\(([A-Za-z])\)$", r"^([A-Za-z])$", r"^([A-Za-z]). ", r"[Th]he answer is ([A-Z])", r"^\(([A-Za-z])\) [\s\S]+$",
    r"[Th]he answer is \(([A-Za-z])\) [\s\S]+$",
)  # fmt: skip
_SAID = (
    r"[Th]he answer is ([\s\S]+)$", r"[Th]he table shows that ([\d\$\.\,\/\:]+) ", r" = ([\d\$\.\,\/\:]+)",
    r"(?<= be| is) ([\-\d\$\.\,\/\:]{0,}[\d]+)", r"(?<= are| was) ([\-\d\$\.\,\/\:]{0,}[\d]+)",
    r"(?<= were) ([\-\d\$\.\,\/\:]{0,}[\d]+)", r" ([\d\$\.\,\/\:]+ [AP]\.M\.)", r"([\-\d\$\.\,\/\:]{0,}[\d]+)",
)  # fmt: skip


def tabmwp(cases: Cases) -> Verdict:
    """Share of predictions that name the reference's option or number (``TabMWPEvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        unit = gold["unit"]
        said = _plain_number(_table_answer(given, gold["choices"]), unit).lower()
        marks.append(said == _plain_number(gold["answer"], unit).lower())
    return share(marks, details=False)


def _table_answer(text: str, options: Sequence[str] | None) -> str:
    text = re.sub(r"\$?\\frac\{([\d\.\,\-]+)\}\{([\d\.\,]+)\}\$?", r"\1/\2", text)
    text = re.sub(r"(?<![AP]\.M)\.$", "", text)
    text = re.sub(r"(?<=\d)[\=](?=[\-\$\d])", " = ", text).replace("\u2212", "-")
    if options:
        return _table_option(text, options)
    for pattern in _SAID:
        if found := re.findall(pattern, text):
            answer: str = found[-1].strip()
            return answer[:-1] if answer.endswith(".") and ".M." not in answer else answer
    return text


def _table_option(text: str, options: Sequence[str]) -> str:
    for pattern in _CHOSEN:
        found = re.findall(pattern, text)
        if found and (place := "ABCDEFGH".find(found[0].upper())) >= 0:
            if place >= len(options):  # upstream draws one, each time with the same seed
                place = random.Random(123).choice(range(len(options)))
            return options[place]
    likeness = [_likeness(option, text) for option in options]
    return options[likeness.index(max(likeness))]


def _likeness(option: str, text: str) -> float:
    if option == text:
        return 2.0
    if " " not in option and " " not in text:
        return 0.0
    one, other = option.split(" "), text.split(" ")
    return len({*one} & {*other}) / max(len(one), len(other))


def _plain_number(text: str, unit: str | None) -> str:
    text = re.sub(r"[\,\.\,\/]$", "", re.sub(r"^[\$]", "", text))
    if re.match(r"^[-+]?[\d,./]+$", text) is None:
        return text.replace(unit, "").strip() if unit else text
    text = text.replace(",", "")
    if re.match(r"[-+]?\d+$", text):
        return str(int(text))
    parts = text.split("/")
    number = float(parts[0]) / float(parts[1]) if len(parts) > 1 else float(text)
    return re.sub(r"\.[0]+$", "", str(round(number, 3)))


# -- numbers ------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:<NUMBER>\s*|\\boxed\{)\s*(-?\d*\.?\d+)\s*(?:</NUMBER>|\})")


def smol_error(cases: Cases) -> Verdict:
    """Mean distance of the first marked numbers (``RMSEEvaluator``); an answer without one is 0."""
    errors = []
    for given, gold in cases.pairs():
        said, wanted = _NUMBER.findall(given), _NUMBER.findall(gold)
        if not wanted:
            raise ScoringError("a reference has no number", why=repr(gold))
        errors.append(abs(float(said[0] if said else 0) - float(wanted[0])))
    return mean(errors)


def mol_error(cases: Cases) -> Verdict:
    """Mean distance of the last marked number from the reference (``MAEEvaluator``); an answer without one is 0."""
    errors = []
    for given, gold in cases.pairs():
        said = _NUMBER.findall(given)
        errors.append(abs(float(said[-1] if said else 0) - float(gold)))
    return mean(errors)


def openswi(cases: Cases) -> Verdict:
    """Mean root of squared errors of a list of numbers, and the share of valid lists (``OpenSWIMSEEvaluator``)."""
    errors, valid = [], []
    for given, gold in cases.pairs():
        found = re.findall(r"(\[.*?\])", given, re.DOTALL)
        said = read_literal(found[-1]) if found else None
        fits = isinstance(said, list) and bool(said) and all(isinstance(each, float) for each in said)
        numbers = said if fits and isinstance(said, list) else [0.0] * len(gold)
        valid.append(fits and len(numbers) == len(gold))
        numbers = [*numbers, *[0.0] * len(gold)][: len(gold)]
        errors.append((sum((b - a) ** 2 for a, b in zip(numbers, gold, strict=True)) / len(gold)) ** 0.5)
    verdict = mean(errors)
    verdict.scores["valid"] = 100 * sum(valid) / len(valid)
    return verdict


def meteor(cases: Cases) -> Verdict:
    """Mean METEOR of words cut at spaces (``MeteorEvaluator``), as a fraction.

    Raises:
        MissingExtraError: NLTK or its data is not there.
    """
    try:
        from nltk.translate.meteor_score import meteor_score
    except ImportError as error:
        raise MissingExtraError.of("nltk", "text", "MeteorEvaluator") from error
    try:
        marks = [
            float(meteor_score([gold.split()], given.split())) if gold and given else 0.0
            for given, gold in cases.pairs()
        ]
    except LookupError as error:
        hint = "python -m nltk.downloader wordnet omw-1.4"
        raise MissingExtraError("METEOR needs data of NLTK that is not here", hint=hint) from error
    return mean(marks)
