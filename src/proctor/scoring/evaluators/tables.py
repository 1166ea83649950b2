"""Evaluators of tables, grids and numbers."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from proctor.errors import ScoringError
from proctor.scoring.evaluators.answers import english_tokens, f1
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, share
from proctor.scoring.evaluators.long_texts import mean
from proctor.scoring.metrics.text_packages import words_meteor
from proctor.scoring.text.postprocessors.general import read_literal

# -- tables and grids ---------------------------------------------------------------------------------------------


def s3eval(cases: Cases) -> Verdict:
    """F1 of table cells, of listed values, or of words (``S3EvalEvaluator``), in percent."""
    return share([_table_f1(given, gold) for given, gold in cases.pairs()], "score", details=False)


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
    verdict.scores["valid"] = percent(valid)
    return verdict


def meteor(cases: Cases) -> Verdict:
    """Mean METEOR of words cut at spaces (``MeteorEvaluator``), as a fraction.

    Raises:
        MissingExtraError: NLTK or its data is not there.
    """
    marks = [
        words_meteor(given.split(), gold.split(), "MeteorEvaluator") if gold and given else 0.0
        for given, gold in cases.pairs()
    ]
    return mean(marks)
