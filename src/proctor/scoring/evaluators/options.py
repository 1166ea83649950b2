"""Evaluators of multiple choice: the option that an answer is most like, and questions asked in several orders."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import DataError, MissingFieldError, ScoringError
from proctor.scoring.distances import levenshtein
from proctor.scoring.evaluators.cases import Cases, Verdict, share
from proctor.scoring.text.postprocessors.options import first_option

_LETTERS = "ABCD"
_SHIFTED = ("ABCD", "BCDA", "CDAB", "DABC")


def similar_option(cases: Cases, options: Sequence[str]) -> Verdict:
    """Share of predictions whose option is the reference (``OptionSimAccEvaluator``).

    A prediction's option is the one it is, states, or alone mentions; otherwise the one whose letter or text is near.

    Raises:
        ScoringError: An option is not one upper-case letter.
    """
    parsed = _parsed(cases, options)
    return share([given == gold for given, gold in zip(parsed, cases.references, strict=True)], parsed=parsed)


def _parsed(cases: Cases, options: Sequence[str]) -> list[str]:
    require_letters(options)
    return [likest_option(given, row, options) for given, row in zip(cases.predictions, cases.rows, strict=True)]


def require_letters(options: Sequence[str]) -> None:
    """Check what options are called.

    Raises:
        ScoringError: One is not one upper-case letter.
    """
    if not all(isinstance(each, str) and len(each) == 1 and each.isupper() for each in options):
        raise ScoringError(f"the options {list(options)!r} are not single upper-case letters")


def likest_option(prediction: str, row: Mapping[str, Any], options: Sequence[str]) -> str:
    """Return the option that a prediction is, states, alone mentions, or is nearest to; ``""`` where a row has none.

    Args:
        prediction: What was said.
        row: The texts of the options.
        options: What they are called.
    """
    text = prediction.strip()
    if text in options:
        return text
    if stated := first_option(text, "".join(options), cushion=False):
        return stated
    texts = {option: row.get(option) for option in options if row.get(option) is not None}
    inside = [option for option, each in texts.items() if str(each).lower() in text.lower()]
    if len(inside) == 1:
        return inside[0]
    spelled = {option: (option, str(each), f"{option}. {each}") for option, each in texts.items()}
    near = [(min(levenshtein(text, spelling) for spelling in each), option) for option, each in spelled.items()]
    return min(near)[1] if near else ""


# -- the same question with its options in several orders ---------------------------------------------------------


def orders(options: Sequence[str], pattern: str) -> list[tuple[str, ...]]:
    """Return the orders of options: ``circular`` shifts, or ``all_possible``.

    Raises:
        DataError: There is no such pattern.
    """
    if pattern == "circular":
        return [(*options[i:], *options[:i]) for i in range(len(options))]
    if pattern == "all_possible":
        return list(itertools.permutations(options))
    raise DataError(f"there are no circular_patterns '{pattern}'", hint="use circular or all_possible")


def circular(cases: Cases, circular_pattern: str = "circular") -> Verdict:
    """Accuracy over questions that were asked in several orders (``datasets.circular.CircularEvaluator``)."""
    marks = [given == gold for given, gold in cases.pairs()]
    return Verdict(_over_orders(cases, marks, circular_pattern), {"accuracy": [100.0 * mark for mark in marks]})


def similar_option_circular(cases: Cases, options: Sequence[str], circular_pattern: str = "circular") -> Verdict:
    """As :func:`circular`, with the option that an answer is most like (``CircularOptionSimAccEvaluator``)."""
    parsed = _parsed(cases, options)
    marks = [given == gold for given, gold in zip(parsed, cases.references, strict=True)]
    instances = {"accuracy": [100.0 * mark for mark in marks]}
    return Verdict(_over_orders(cases, marks, circular_pattern), instances, marks, parsed)


def _over_orders(cases: Cases, marks: Sequence[bool], pattern: str) -> dict[str, float]:
    if not cases.rows or "circular_pattern" not in cases.rows[0]:
        raise MissingFieldError("the data has no column 'circular_pattern', which the evaluator reads")
    first = list(cases.rows[0]["circular_pattern"])
    kinds = {"origin": [tuple(first)], "circular": orders(first, "circular")}
    if pattern == "all_possible":
        kinds["all_possible"] = orders(first, "all_possible")
    chosen = {
        kind: [
            (row["qid"], mark)
            for row, mark in zip(cases.rows, marks, strict=True)
            if tuple(row["circular_pattern"]) in of
        ]
        for kind, of in kinds.items()
    }
    scores = {f"acc_{kind}": 100 * _mean([mark for _, mark in pairs]) for kind, pairs in chosen.items()}
    for kind, pairs in chosen.items():
        right = _right(pairs)
        for least in range(1, len(kinds[kind]) + 1):
            name = f"perf_{kind}" if least == len(kinds[kind]) else f"more_{least}_{kind}"
            scores[name] = 100 * _mean([count >= least for count in right.values()])
    return scores


def _right(pairs: Sequence[tuple[Any, bool]]) -> dict[Any, int]:
    right: dict[Any, int] = {}
    for question, mark in pairs:
        right[question] = right.get(question, 0) + mark
    return right


def _mean(marks: Sequence[bool]) -> float:
    return sum(marks) / len(marks) if marks else float("nan")


def circular_of_four(cases: Cases) -> Verdict:
    """Accuracy over four shifts of four options (``CircularEvaluator``); references are ``question--answer--order``.

    Raises:
        ScoringError: A reference is not of this form.
    """
    named = [str(reference).split("--") for reference in cases.references]
    if not named or any(len(parts) != len(("question", "answer", "order")) for parts in named):
        raise ScoringError("a reference of CircularEvaluator is not of the form question--answer--order")
    marks = [given == answer for given, (_, answer, _) in zip(cases.predictions, named, strict=True)]
    scores: dict[str, float] = {}
    for size, shifts in ((4, _SHIFTED), (1, _SHIFTED[:1])):
        here = [mark for mark, (_, _, order) in zip(marks, named, strict=True) if order in shifts]
        scores[f"acc_{size}"] = sum(here) / len(marks) * len(_SHIFTED) / size * 100
    for size, shifts in ((1, _SHIFTED[:1]), (4, _SHIFTED)):
        right = _right([(name, mark and order in shifts) for mark, (name, _, order) in zip(marks, named, strict=True)])
        scores |= {
            f"more_{size}_{least}": 100 * _mean([count >= least for count in right.values()])
            for least in range(size + 1)
        }
    scores |= {f"perf_{size}": scores[f"more_{size}_{size}"] for size in (1, 4)}
    scores |= {"vote_4": _voted(cases, named, _SHIFTED), "vote_1": _voted(cases, named, _SHIFTED[:1])}
    letters = Counter(given if given in tuple(_LETTERS) else "-" for given in cases.predictions)
    scores |= {f"prior_{letter}": letters[letter] / len(marks) * 100 for letter in (*_LETTERS, "-")}
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]})


def _voted(cases: Cases, named: Sequence[Sequence[str]], shifts: Sequence[str]) -> float:
    votes: dict[str, Counter[str]] = {}
    gold: dict[str, str] = {}
    for given, (question, answer, order) in zip(cases.predictions, named, strict=True):
        back = dict(zip(_LETTERS, order, strict=True))
        gold.setdefault(question, back[answer])
        counter = votes.setdefault(question, Counter())
        if order in shifts:
            counter[back.get(given, "-")] += 1
    right = [bool(counter) and counter.most_common(1)[0][0] == gold[question] for question, counter in votes.items()]
    return 100 * _mean(right)
