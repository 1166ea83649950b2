"""KOR-Bench: answers in double brackets, compared as the rule that was told asks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from proctor.errors import ProctorError
from proctor.safe_python.rows import compile_expression
from proctor.scoring.evaluators.cases import Cases, Verdict, share

_NOTHING = "NULL"  # what upstream reads where there are no brackets; it is compared like an answer
_BRACKETS = tuple(
    re.compile(each, re.DOTALL) for each in (r"\[\[\s*(.*?)\s*\]\]", r"\$\\boxed\{(.*?)\}\$", r"\[\s*(.*?)\s*\]")
)
_INNER = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_OBJECT = re.compile(r"{.*}", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1F\x7F]")
_LEFT_OUT = {"clean": '"\n []', "logic": '"\n .'}
_SIGNS = str.maketrans("×−", "*-")  # noqa: RUF001 - as models write them
_NUMBERS = frozenset(("23", "24", "25"))  # rules of operations whose answers are lists of numbers
_POOL = "18"  # the rule of operations, and of puzzles, where the order of signs is free
_SORTED = "5"
_MIXED = "mixed"


def korbench(cases: Cases) -> Verdict:
    """Share of questions that are answered as their rules say (``korbenchEvaluator``).

    Upstream counts every question as its exam's first, so that its comparison of formulas, for some later questions,
    never takes place: formulas are compared as texts.
    """
    marks = []
    for given, gold, row in zip(cases.predictions, cases.references, cases.rows, strict=True):
        if row.get("prompt_mode") == _MIXED:
            marks.append(_all_right(given, row["answers"]))
        else:
            known = row.get("prompt_mode") in ("0_shot", "3_shot")
            marks.append(known and _is_right(given, gold, row.get("category"), row.get("rule_id")))
    return share(marks)


def _all_right(given: str, answers: list[Mapping[str, Any]]) -> bool:
    """Return whether the last object of JSON has a right answer for every question, in their order."""
    found = _OBJECT.findall(given)
    try:
        said = [str(value) for value in json.loads(_CONTROL.sub("", found[-1])).values()] if found else []
    except ValueError:
        return False
    if len(said) < len(answers):
        return False
    pairs = zip(said, answers, strict=False)
    return all(_is_right(text, each["answer"], each["category"], each["rule_id"]) for text, each in pairs)


def _is_right(given: str, gold: str, category: Any, rule: Any) -> bool:
    if category == "logic":
        said = _bracketed(given, "logic")
        return (
            sorted(said.split(";")) == sorted(gold.split(";")) if rule == _SORTED else said == _bracketed(gold, "logic")
        )
    if category == "puzzle":
        return _PUZZLES.get(rule, _same_letters)(_inner(given), _inner(gold))
    if category == "operation":
        return _same_operation(given, gold, rule)
    return _bracketed(given, "clean") == gold


def _same_operation(given: str, gold: str, rule: Any) -> bool:
    said = _bracketed(given, "clean")
    if rule == _POOL:
        return sorted(re.sub(r"\W+", "", said)) == sorted(re.sub(r"\W+", "", _inner(gold)))
    if rule in _NUMBERS:
        return _numbers(said) == _numbers(gold)
    return _same_alternatives(given, gold) if "or" in gold else said == gold


def _bracketed(text: str, kind: str) -> str:
    found = next(filter(None, (each.findall(text) for each in _BRACKETS)), None)
    if found is None:
        return _NOTHING
    return f"[[{found[0].strip().translate({ord(sign): None for sign in _LEFT_OUT[kind]})}]]"


def _inner(text: str) -> str:
    found = _INNER.search(text)
    return found[1] if found is not None else _NOTHING


def _numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", text)))


def _same_alternatives(given: str, gold: str) -> bool:
    said = re.sub(r"\\text\{or\}", "or", _bracketed(given, "clean"))
    if said == _NOTHING:
        return False
    both = (text.strip("[]").split("or") for text in (said, _bracketed(gold, "clean")))
    one, other = (sorted(part.strip() for part in parts) for parts in both)
    return one == other


# -- puzzles, by their rules ------------------------------------------------------------------------------------------


def _same_letters(given: str, gold: str) -> bool:
    return re.sub(r"\W+", "", given) == re.sub(r"\W+", "", gold)


def _latin(text: str) -> str:
    return re.sub(r"[^A-Za-z]", "", text).lower()


def _same_words(given: str, gold: str) -> bool:
    return sorted(filter(None, re.split(r"\W+", given.lower()))) == sorted(gold.split(" "))


def _same_parts(given: str, gold: str) -> bool:
    return sorted(re.sub(r"\s+", "", given).split(",")) == sorted(gold.split(","))


def _value(formula: str) -> Any:
    """Return what a formula of numbers comes to; ``None`` where it is none. Upstream runs it as a program."""
    try:
        return compile_expression(formula.strip())({})
    except (ProctorError, ArithmeticError, ValueError, TypeError):
        return None


def _same_equation(given: str, gold: str) -> bool:
    said, wanted = given.translate(_SIGNS).split("=")[0], gold.translate(_SIGNS)
    signs = [re.findall(r"[+\-*/]", text) for text in (said, wanted.split("=")[0])]
    result = re.search(r"=\s*(-?\d+)", wanted)
    return signs[0] == signs[1] and result is not None and _value(said) == int(result[1])


def _makes_24(given: str, gold: str) -> bool:
    said, wanted = given.translate(_SIGNS).split("=")[0], gold.translate(_SIGNS).split("\n")[0].split("=")[0]
    digits = [sorted(re.sub(r"\W+", "", text)) for text in (said, wanted)]
    return digits[0] == digits[1] and _value(said) == 24  # noqa: PLR2004 - the name of the game


_PUZZLES: Mapping[Any, Callable[[str, str], bool]] = {
    "1": lambda given, gold: _latin(given) == _latin(gold),
    "2": lambda given, gold: _latin(given) in gold.split(","),
    "3": _same_words,
    "4": lambda given, gold: _latin(given) in gold,
    "5": _same_parts,
    "9": _same_equation,
    "10": _makes_24,
    "18": lambda given, gold: re.sub(r"[,\s\[\]]+", "", given) == re.sub(r"[,\s\[\]]+", "", gold),
}
