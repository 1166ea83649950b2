"""``code_eval`` of the Hugging Face hub: the share of programs that pass their tests, in a prison of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from proctor.errors import ScoringError
from proctor.prison import Limits, Outcome, Trial
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.programs.trials import ONE_PROCESS, pass_at, run_programs

_K = (1, 10, 100)  # the hub's default, after the paper of HumanEval (Chen et al., 2021)
Ended = dict[int, list[tuple[int, dict[str, Any]]]]
"""For each problem the number of each of its programs, and how it ended."""
_row: ContextVar[Mapping[str, Any] | None] = ContextVar("proctor_row", default=None)


class LookingAt:
    """Says which row is being scored: what its ``prompt`` defines is the exam's, though it stands in the program."""

    __slots__ = ("_before", "_row")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def __enter__(self) -> None:
        self._before = _row.set(self._row)

    def __exit__(self, *_: object) -> None:
        _row.reset(self._before)


def code_eval(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Sequence[int] = _K,
    num_workers: int = 4,
    timeout: float = 3.0,
) -> tuple[dict[str, float], Ended]:
    """Return pass@k, and how each program ended.

    Args:
        predictions: Programs, several for each problem.
        references: The tests of each problem.
        k: How many are drawn.
        num_workers: Not used: as many run at once as there are processors.
        timeout: Seconds for a program.

    Returns:
        ``pass@k`` by its name, as shares; and for each problem the number of each program with ``passed``, ``result``
        and ``together``: whether program and tests shared a process.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: There are not as many problems as tests.
    """
    del num_workers
    if len(predictions) != len(references):
        raise ScoringError(f"code_eval has programs for {len(predictions)} problems, and tests for {len(references)}")
    return _evaluated(predictions, references, [_row.get() or {}] * len(references), k, timeout)


def _evaluated(
    predictions: Sequence[Any], references: Sequence[str], rows: Sequence[Mapping[str, Any]], k: Any, timeout: float
) -> tuple[dict[str, float], Ended]:
    listed = [[each] if isinstance(each, str) else list(map(str, each)) for each in predictions]
    limits = Limits(seconds=timeout)
    trials = [
        _trial(program, tests, limits, row)
        for programs, tests, row in zip(listed, references, rows, strict=True)
        for program in programs
    ]
    endings = iter(run_programs(trials))
    found = {
        task: [(number, _described(task, number, next(endings))) for number in range(len(programs))]
        for task, programs in enumerate(listed)
    }
    counts = [(len(each), sum(entry["passed"] for _, entry in each)) for each in found.values()]
    shares = {f"pass@{each}": pass_at(counts, each) for each in ([k] if isinstance(k, int) else k)}
    return {name: value for name, value in shares.items() if value is not None}, found


def _described(task: int, number: int, ending: Outcome) -> dict[str, Any]:
    passed = ending.how == "pass"
    result = "passed" if passed else "timed out" if ending.how == "timeout" else f"failed: {ending.why}"
    return {"task_id": task, "passed": passed, "result": result, "completion_id": number, "together": ending.together}


def _trial(program: str, tests: str, limits: Limits, row: Mapping[str, Any]) -> Trial:
    """Return a trial; of a row with a prompt, only what is examined is the program's."""
    prompt, entry = row.get("prompt"), row.get("entry_point")
    if isinstance(prompt, str) and isinstance(entry, str) and program.startswith(prompt):
        return Trial(program, tests, (entry,), given=prompt, limits=limits)
    return Trial(program, tests, limits=limits)


def code_eval_of_cases(cases: Cases, k: Sequence[int] = _K, num_workers: int = 4, timeout: float = 3.0) -> Verdict:
    """Share of programs that pass, as pass@k; tests are the references.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: There are no predictions.
    """
    del num_workers
    if not cases.predictions:
        raise ScoringError("there are no predictions to evaluate")
    rows = cases.rows or [{}] * len(cases.predictions)
    predictions = [each if isinstance(each, list) else str(each) for each in cases.predictions]
    scores, found = _evaluated(predictions, [_joined(each) for each in cases.references], rows, k, timeout)
    shares = [sum(entry["passed"] for _, entry in each) / len(each) if each else None for each in found.values()]
    together = sum(entry["together"] for each in found.values() for _, entry in each)
    extra = {ONE_PROCESS: together} if together else {}
    main = next(iter(scores), "")
    return Verdict({**scores, **extra}, {main: shares} if main == "pass@1" else {}, main=main)


def _joined(tests: Any) -> str:
    return "\n".join(map(str, tests)) if isinstance(tests, list | tuple) else str(tests)
