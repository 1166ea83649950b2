"""Evaluators whose tests share a process with the program: BigCodeBench, DS-1000; and tests that follow a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from proctor.errors import ScoringError
from proctor.prison import Limits, Outcome, Trial
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.evaluators.code import one_process, pass_at_of, rows_with
from proctor.scoring.programs.trials import run_programs

_BIGCODEBENCH_SECONDS = 240.0  # for the test cases of a problem, as upstream; some draw figures and train models
_DS1000_SECONDS = 120.0
_LONGEST_LOOKED_AT = 2000  # lines of an answer in which a program is looked for; the search takes the square of it
_IMPORTED = ("unittest.mock",)
"""What test cases use to replace parts of a program; imported before it, so that it can be compared afterwards."""


def _shares(endings: Sequence[Outcome], names: Sequence[Any], k: Sequence[int], prefix: str = "pass@") -> Verdict:
    scores = {f"{prefix}{each}": value for each, value in pass_at_of(names, endings, k).items()}
    right = [each.how == "pass" for each in endings]
    return Verdict({**scores, **one_process(endings)}, {f"{prefix}1": [100.0 * mark for mark in right]}, right)


# -- BigCodeBench -------------------------------------------------------------------------------------------------


def longest_program(text: str) -> str:
    """Return the most lines of an answer, one after the other, that are Python."""
    lines = text.strip().split("\n")[:_LONGEST_LOOKED_AT]
    best, count = (0, 0), 0
    for start in range(len(lines)):
        if len(lines) - start <= count:
            break
        for end in range(len(lines), start + count, -1):
            filled = sum(1 for line in lines[start:end] if line.strip())
            if filled <= count:
                break
            if _is_python("\n".join(lines[start:end])):
                best, count = (start, end), filled
                break
    return "\n".join(lines[best[0] : best[1]])


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def needed_program(text: str, entry_point: str) -> str:
    """Return imports, and the definitions that a function needs, of an answer (BigCodeBench's sanitizing)."""
    source = longest_program(text)
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        for name in _names_of(node):
            defined.setdefault(name, node)
    wanted, queue = {entry_point}, [entry_point]
    while queue:
        node_or_none = defined.get(queue.pop())
        if node_or_none is None:
            continue
        used = {each.id for each in ast.walk(node_or_none) if isinstance(each, ast.Name)} - wanted
        wanted |= used
        queue += used
    kept = [node for name, node in defined.items() if name in wanted]
    pieces = [ast.get_source_segment(source, node) or "" for node in [*imports, *dict.fromkeys(kept)]]
    return "\n".join(pieces)


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def bigcodebench(
    cases: Cases,
    *,
    release_version: str = "v0.1.2",
    eval_type: Literal["instruct", "complete"] = "instruct",
    remote_execute_api: str = "",
    headers: Mapping[str, str] | None = None,
    dataset_version: str = "full",
    local_mode: bool = False,
    path: str = "",
    pass_k: str = "1,5,10",  # noqa: S107 - k of pass@k
    parallel: int = -1,
    min_time_limit: float = 1,
    max_as_limit: int = 30 * 1024,
    max_data_limit: int = 30 * 1024,
    max_stack_limit: int = 10,
    check_gt_only: bool = False,
    no_gt: bool = False,
) -> Verdict:
    """Share of programs that pass the test cases of their problem (``BigCodeBenchEvaluator``), in percent.

    Here they run in a prison of this machine, with the packages that it has; upstream sends them to a server.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: The kind of exam is another one.
    """
    del release_version, remote_execute_api, headers, dataset_version, local_mode, path, parallel, min_time_limit
    del max_data_limit, max_stack_limit, check_gt_only, no_gt
    if eval_type not in ("instruct", "complete"):
        raise ScoringError(f"there is no eval_type '{eval_type}'", hint="instruct or complete")
    trials = []
    rows = rows_with(cases, "test", "entry_point", "code_prompt")
    for prediction, row in zip(cases.predictions, rows, strict=True):
        text = f"{row.get('complete_prompt', '')}{prediction}" if eval_type == "complete" else str(prediction)
        trials.append(bigcodebench_trial(row, needed_program(text, str(row["entry_point"])), max_as_limit * 1024**2))
    names = [row.get("task_id", place) for place, row in enumerate(rows)]
    return _shares(run_programs(trials), names, [int(each) for each in str(pass_k).split(",")])


def bigcodebench_trial(row: Mapping[str, Any], program: str, memory_bytes: int) -> Trial:
    """Return a program with the test cases of its problem, in one process: they replace parts of the program."""
    source = f"{row['code_prompt']}\n    pass\n{program}"
    limits = Limits(seconds=_BIGCODEBENCH_SECONDS, memory_bytes=memory_bytes)
    return Trial(source, str(row["test"]), limits=limits, together=True, imports=_IMPORTED, suite=True)


# -- DS-1000 ------------------------------------------------------------------------------------------------------

_DS1000_TESTS = """
test_execution({program!r})
if "test_string" in globals():
    test_string({program!r})
"""


def ds1000_program(text: str) -> str:
    """Return the program of an answer (DS-1000's own rules): without fences and marks."""
    text = text.partition("</code>")[0].replace("```python", "").partition("```")[0]
    text = text.partition("\nEND SOLUTION")[0].replace("<code>", "")
    return text.strip("\n")


def ds1000(cases: Cases) -> Verdict:
    """Share of programs that pass the tests of their problem in DS-1000, in percent.

    Rows are those of the simplified edition (``xlangai/DS-1000``): their column ``code_context`` has the tests, which
    run the program in the middle of code of their own, with the packages that this machine has.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
    """
    trials = []
    rows = rows_with(cases, "code_context")
    for prediction, row in zip(cases.predictions, rows, strict=True):
        tests = str(row["code_context"]) + _DS1000_TESTS.format(program=ds1000_program(str(prediction)))
        needed = tuple(name for name in ("numpy", "pandas") if re.search(rf"\b{name}\b", tests))
        limits = Limits(seconds=_DS1000_SECONDS, memory_bytes=16 * 1024**3)
        trials.append(Trial("", tests, limits=limits, together=True, imports=needed))
    endings = run_programs(trials)
    right = [each.how == "pass" for each in endings]
    scores = {"accuracy": percent(right), **one_process(endings)}
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in right]}, right)


# -- tests that follow a program ----------------------------------------------------------------------------------


def followed(cases: Cases, language: str = "py", ip_address: str = "localhost", retry: int = 5) -> Verdict:
    """Share of programs that pass the assertions behind them (``HumanevalProEvaluator``, ``MBPPProEvaluator``).

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: The language is not Python.
    """
    del ip_address, retry
    if language not in ("py", "python"):
        raise ScoringError(
            f"programs in '{language}' are not run here", why="a prison holds Python", hint="language='py'"
        )
    trials = []
    rows = rows_with(cases, "test_code")
    for prediction, row in zip(cases.predictions, rows, strict=True):
        blocks = re.findall(r"```\w*\n(.*?)```", str(prediction), re.DOTALL)
        program = blocks[0] if blocks else str(prediction)
        trials.append(Trial(program, str(row["test_code"]), limits=Limits(seconds=10.0)))
    return _shares(run_programs(trials), range(len(rows)), (1,))
