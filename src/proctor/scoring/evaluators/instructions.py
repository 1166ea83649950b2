"""``IFEvaluator`` and its like: whether answers follow the instructions of their prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.errors import MissingExtraError, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.instructions.following import follows, follows_loosely

_KINDS = {"strict": follows, "loose": follows_loosely}
_NAMES = {
    key: f"{level}-level-{kind}-accuracy"
    for kind in _KINDS
    for level, key in (("Prompt", f"prompt_{kind}"), ("Inst", f"inst_{kind}"))
}
"""What ``IFEvaluator`` calls the shares."""
_TURNS = (1, 2, 3)

_Followed = Mapping[str, Sequence[bool]]  # by kind: whether an answer follows each instruction


def instructions_followed(cases: Cases) -> Verdict:
    """Shares of prompts and of instructions that answers follow, strictly and loosely (``IFEvaluator``), in percent.

    An answer one of whose instructions cannot be checked is a failure.

    Raises:
        ScoringError: No answer can be checked.
        MissingExtraError: A package that checks need is not installed.
    """
    rows = cases.rows or [{}] * len(cases.references)
    golds = [gold if isinstance(gold, Mapping) else row for gold, row in zip(cases.references, rows, strict=True)]
    asked = replace(cases, references=golds)
    found, failures = _each(asked, lambda given, gold: _followed(given, gold["instruction_id_list"], gold["kwargs"]))
    shares, columns = _shares(found, len(cases.predictions))
    scores = {_NAMES[key]: value for key, value in shares.items()}
    named = {_NAMES[key]: column for key, column in columns.items()}
    right = [all(found[i]["strict"]) if i in found else False for i in range(len(cases.predictions))]
    return Verdict(scores, named, right, failures=failures)


def instructions_followed_on_average(cases: Cases) -> Verdict:
    """The four shares of ``IFEvaluator``, behind their mean (``IFBenchEvaluator``), in percent.

    Raises:
        ScoringError: No answer can be checked.
        MissingExtraError: A package that checks need is not installed.
    """
    verdict = instructions_followed(cases)
    mean = sum(verdict.scores.values()) / len(verdict.scores)
    return Verdict({"score": mean, **verdict.scores}, verdict.instances, verdict.correct, failures=verdict.failures)


def instructions_followed_by_turn(cases: Cases) -> Verdict:
    """Shares of the instructions of three turns that answers follow, by turn, and their means (``MultiIFEvaluator``).

    A prediction has an answer for each turn.

    Raises:
        ScoringError: No conversation can be checked.
        MissingExtraError: A package that checks need is not installed.
    """
    found, failures = _each(cases, _of_turns)
    scores: dict[str, Any] = {}
    columns: dict[str, list[float | None]] = {}
    for turn in _TURNS:
        shares, of_rows = _shares({i: turns[turn - 1] for i, turns in found.items()}, len(cases.predictions))
        named = {f"turn_{turn}_{key}": value for key, value in shares.items()}
        scores |= {**named, f"turn_{turn}_overall": sum(named.values()) / len(named)}
        columns |= {f"turn_{turn}_{key}": column for key, column in of_rows.items()}
    scores["overall"] = sum(scores[f"turn_{turn}_overall"] for turn in _TURNS) / len(_TURNS)
    right = [i in found and all(all(each["strict"]) for each in found[i]) for i in range(len(cases.predictions))]
    return Verdict(scores, columns, right, failures=failures, main="overall")


def _of_turns(given: Any, gold: Mapping[str, Any]) -> list[_Followed]:
    if not isinstance(given, list) or len(given) < len(_TURNS):
        raise ScoringError("a prediction has an answer for each of three turns", why=f"it is {str(given)[:80]!r}")
    return [
        _followed(given[turn - 1], gold[f"turn_{turn}_instruction_id_list"], gold[f"turn_{turn}_kwargs"])
        for turn in _TURNS
    ]


def _each(cases: Cases, check: Callable[[Any, Any], Any]) -> tuple[dict[int, Any], dict[int, Failure]]:
    """Return what a check says of answers, by place, and those that cannot be checked."""
    found: dict[int, Any] = {}
    failures: dict[int, Failure] = {}
    for i, (given, gold) in enumerate(cases.pairs()):
        try:
            found[i] = check(given, gold)
        except MissingExtraError:
            raise
        except (ProctorError, KeyError, TypeError) as error:
            failures[i] = Failure("scoring", f"{type(error).__name__}: {error}", retryable=False)
    if not found:
        raise ScoringError("no answer can be checked", why=next((each.message for each in failures.values()), ""))
    return found, failures


def _shares(found: Mapping[int, _Followed], count: int) -> tuple[dict[str, float], dict[str, list[float | None]]]:
    """Return shares of prompts and of instructions by kind, and what each row adds to those of prompts."""
    shares: dict[str, float] = {}
    columns: dict[str, list[float | None]] = {}
    for kind in _KINDS:
        marks = {i: each[kind] for i, each in found.items()}
        single = [mark for own in marks.values() for mark in own]
        shares[f"prompt_{kind}"] = percent([all(own) for own in marks.values()])
        shares[f"inst_{kind}"] = percent(single)
        columns[f"prompt_{kind}"] = [100.0 * all(marks[i]) if i in marks else None for i in range(count)]
    return shares, columns


def _followed(given: Any, names: Sequence[str], arguments: Sequence[Mapping[str, Any] | None]) -> _Followed:
    asked = list(zip(names, arguments, strict=True))
    said = [(name, {key: value for key, value in (each or {}).items() if value is not None}) for name, each in asked]
    return {kind: [check(name, str(given), each) for name, each in said] for kind, check in _KINDS.items()}
