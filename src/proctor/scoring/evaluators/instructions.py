"""``IFEvaluator``: whether answers follow the instructions of their prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.errors import MissingExtraError, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.instructions import follows, follows_loosely

_KINDS = {"strict": follows, "loose": follows_loosely}


def instructions_followed(cases: Cases) -> Verdict:
    """Shares of prompts and of instructions that answers follow, strictly and loosely (``IFEvaluator``), in percent.

    An answer one of whose instructions cannot be checked is a failure.

    Raises:
        ScoringError: No answer can be checked.
        MissingExtraError: A package that checks need is not installed.
    """
    found: dict[int, dict[str, list[bool]]] = {}
    failures: dict[int, Failure] = {}
    for i, (given, gold) in enumerate(cases.pairs()):
        try:
            found[i] = _followed(str(given), gold)
        except MissingExtraError:
            raise
        except (ProctorError, KeyError, TypeError) as error:
            failures[i] = Failure("scoring", f"{type(error).__name__}: {error}", retryable=False)
    if not found:
        raise ScoringError("no answer can be checked", why=next((each.message for each in failures.values()), ""))
    scores: dict[str, Any] = {}
    columns: dict[str, list[float | None]] = {}
    for kind in _KINDS:
        marks = {i: each[kind] for i, each in found.items()}
        single = [mark for own in marks.values() for mark in own]
        prompt, instruction = f"Prompt-level-{kind}-accuracy", f"Inst-level-{kind}-accuracy"
        scores[prompt] = percent([all(own) for own in marks.values()])
        scores[instruction] = percent(single)
        columns[prompt] = [100.0 * all(marks[i]) if i in marks else None for i in range(len(cases.predictions))]
    right = [all(found[i]["strict"]) if i in found else False for i in range(len(cases.predictions))]
    return Verdict(scores, columns, right, failures=failures)


def _followed(given: str, gold: Mapping[str, Any]) -> dict[str, list[bool]]:
    asked = list(zip(gold["instruction_id_list"], gold["kwargs"], strict=True))
    return {kind: [check(name, given, arguments or {}) for name, arguments in asked] for kind, check in _KINDS.items()}
