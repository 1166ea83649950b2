"""Evaluators of HumanEval+ and MBPP+: many inputs for each problem, whose results a reference solution gives."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import MissingFieldError
from proctor.prison import Limits, Trial
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.code import by_case, humaneval_trial, mbpp_program, one_process, pass_at_of, samples_of
from proctor.scoring.programs.trials import run_programs

_SECONDS = 60.0  # for all inputs of a problem, as evalplus; there are up to a thousand
_CALL_SECONDS = 10.0  # for one input: evalplus gives four times what its own machine took, and at least a second

_TESTS = """
from copy import deepcopy as __copy
__names = {{}}
exec(__task["reference"], __names)
for __given in __evalplus.plus_inputs(__task["problem"], __task["inputs"]):
    __wanted = __names["{entry}"](*__copy(__given))
    __found = {entry}(*__copy(__given))
    assert __evalplus.is_plus_answer(__task["problem"], "{entry}", __given, __found, __wanted, __task["atol"])
"""


def plus_trial(row: Mapping[str, Any], program: str) -> Trial:
    """Return a program with the inputs of its problem, in either form in which evalplus publishes them.

    Raises:
        MissingFieldError: The row has only the tests of the original problem.
    """
    if "plus_input" in row:
        entry = str(row["entry_point"])
        if not entry.isidentifier():
            raise MissingFieldError(f"'{entry}' is not the name of a function")
        data = {
            "problem": str(row["task_id"]),
            "reference": f"{row.get('prompt') or ''}{row['canonical_solution']}",
            "inputs": [*row.get("base_input", ()), *row["plus_input"]],
            "atol": float(row.get("atol") or 0),
        }
        limits = Limits(seconds=_SECONDS, call_seconds=_CALL_SECONDS)
        return Trial(program, _TESTS.format(entry=entry), (entry,), data=data, limits=limits)
    tests = str(row.get("test") or "")
    if not re.search(r"^\s*inputs\s*=", tests, re.MULTILINE):
        raise MissingFieldError(
            "the data has the original tests of its problems only, without those of evalplus",
            hint="let path name evalplus's HumanEvalPlus.jsonl or MbppPlus.jsonl, or rows of evalplus/humanevalplus",
        )
    limits = Limits(seconds=_SECONDS, call_seconds=_CALL_SECONDS)
    if "entry_point" in row:
        trial = humaneval_trial(row, program)
        return Trial(trial.source, trial.tests, trial.entry, trial.given, limits=limits)
    return Trial(program, tests, limits=limits)


def humaneval_plus(cases: Cases, k: Sequence[int] = (1, 10, 100)) -> Verdict:
    """Share of completions that pass the tests of evalplus (``HumanEvalPlusEvaluator``), as pass@k in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        MissingFieldError: The data has no tests of evalplus.
    """
    samples = samples_of(cases)
    rows = _rows(cases)
    trials = [plus_trial(rows[place], f"{rows[place]['prompt']}{completion}") for place, completion in samples]
    return _verdict(cases, trials, samples, "humaneval_plus_pass@", k)


def mbpp_plus(cases: Cases, k: Sequence[int] = (1,)) -> Verdict:
    """Share of programs that pass the tests of evalplus (``MBPPEvaluator`` of the metric ``MBPPPlus``), in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        MissingFieldError: The data has no tests of evalplus.
    """
    samples = samples_of(cases)
    rows = _rows(cases)
    trials = [plus_trial(rows[place], mbpp_program(text)) for place, text in samples]
    return _verdict(cases, trials, samples, "mbpp_plus_pass@", k)


def _rows(cases: Cases) -> Sequence[Mapping[str, Any]]:
    return cases.rows or [{}] * len(cases.predictions)


def _verdict(
    cases: Cases, trials: Sequence[Trial], samples: Sequence[tuple[int, str]], name: str, k: Sequence[int]
) -> Verdict:
    endings = run_programs(trials)
    problems = [cases.references[place] for place, _ in samples]
    keys = [str(each.get("task_id")) if isinstance(each, Mapping) else each for each in problems]
    scores = {f"{name}{each}": value for each, value in pass_at_of(keys, endings, k).items()}
    instances = {f"{name}1": by_case(samples, endings, len(cases.predictions))}
    return Verdict({**scores, **one_process(endings)}, instances, described=True)
