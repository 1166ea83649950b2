"""Evaluators that run the programs that models write, in a prison."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from proctor.errors import MissingFieldError, ScoringError
from proctor.prison import Limits, Outcome, Trial
from proctor.regexes import BoundedPattern, SlowPatternError
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.programs.trials import ONE_PROCESS, pass_at, run_programs
from proctor.scoring.text.postprocessors.general import read_literal

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


_HOW = ("pass", "timeout", "failed", "wrong_answer")
_EACH = (1, 10, 100)  # upstream's default for k, after the paper of HumanEval (Chen et al., 2021)


def humaneval(cases: Cases, k: Sequence[int] = _EACH) -> Verdict:
    """Share of completions that pass their problem's tests, as pass@k (``HumanEvalEvaluator``), in percent.

    Tests come from the rows, which have the problems' columns; upstream reads them from a file of its own.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
    """
    samples = samples_of(cases)
    programs = []
    for position, completion in samples:
        row = cases.rows[position] if cases.rows else {}
        if missing := [name for name in ("prompt", "test", "entry_point") if name not in row]:
            raise MissingFieldError(f"HumanEvalEvaluator reads the column '{missing[0]}', which the data lacks")
        programs.append(humaneval_trial(row, f"{row['prompt']}{completion}"))
    endings = run_programs(programs)
    names = [cases.references[position] for position, _ in samples]
    scores = {f"humaneval_pass@{each}": value for each, value in pass_at_of(names, endings, k).items()}
    instances = {"humaneval_pass@1": by_case(samples, endings, len(cases.predictions))}
    return Verdict({**scores, **one_process(endings)}, instances, described=True)


def humaneval_trial(row: Mapping[str, Any], program: str) -> Trial:
    """Return a program with the tests of its problem, which may call what the problem's prompt defines."""
    entry = str(row["entry_point"])
    tests = f"{row['test']}\ncheck({entry})"
    return Trial(program, tests, (entry,), given=str(row["prompt"]), limits=Limits(seconds=3.0))


def samples_of(cases: Cases) -> list[tuple[int, str]]:
    """Return every program with the position of its case; a case has several where several were asked for."""
    return [
        (position, str(each))
        for position, given in enumerate(cases.predictions)
        for each in (given if isinstance(given, list) else [given])
    ]


def pass_at_of(names: Sequence[Any], endings: Sequence[Outcome], k: Sequence[int]) -> dict[int, float]:
    """Return pass@k by k, in percent; programs of one name answer one problem."""
    counts: dict[Any, tuple[int, int]] = {}
    for name, ending in zip(names, endings, strict=True):
        total, passed = counts.get(name, (0, 0))
        counts[name] = (total + 1, passed + (ending.how == "pass"))
    shares = {each: pass_at(list(counts.values()), each) for each in k}
    return {each: 100 * value for each, value in shares.items() if value is not None}


def rows_with(cases: Cases, *columns: str) -> Sequence[Mapping[str, Any]]:
    """Return the rows of cases, which have some columns.

    Raises:
        MissingFieldError: One of them lacks a column.
    """
    rows = cases.rows or [{}] * len(cases.predictions)
    for row in rows:
        if missing := [name for name in columns if name not in row]:
            raise MissingFieldError(f"the evaluator reads the column '{missing[0]}', which the data lacks")
    return rows


def one_process(endings: Sequence[Outcome]) -> dict[str, int]:
    """Return how many programs shared a process with their tests, where some did."""
    count = sum(each.together for each in endings)
    return {ONE_PROCESS: count} if count else {}


def by_case(samples: Sequence[tuple[int, str]], endings: Sequence[Outcome], count: int) -> list[float | None]:
    """Return the share of each case's programs that pass, in percent."""
    marks: list[list[bool]] = [[] for _ in range(count)]
    for (position, _), ending in zip(samples, endings, strict=True):
        marks[position].append(ending.how == "pass")
    return [percent(own) if own else None for own in marks]


def _tally(endings: Sequence[Outcome]) -> dict[str, Any]:
    return {how: sum(ending.how == how for ending in endings) for how in _HOW}


# -- MBPP ---------------------------------------------------------------------------------------------------------

_QUOTED = r"'(.*)'\s*", r"'(.*)\s*", r"(.*)\s*"
_BEGIN, _DONE = (r"\[BEGIN\]\s*", r"BEGIN\s*"), (r"\[DONE\]", "DONE")
_ANSWERS = tuple(
    BoundedPattern(pattern, re.DOTALL)
    for pattern in (
        *(f"{begin}{body}{done}" for body in _QUOTED for done in _DONE for begin in _BEGIN),
        r"```python\s*(.*)\s*```",
        r"```\s*(.*)\s*```",
        r"```python\s*(.*)\s*$",
        r"```\s*(.*)\s*$",
        r"(.*)\s*```.*",
        r"\[BEGIN\]\s*'(.*)",
        r"\[BEGIN\](.*)",
        r"'(.*)'\s*\[DONE\]",
    )
)
_END = re.compile(r"'?\s*\[?DONE\]?")


def mbpp_program(text: str) -> str:
    """Return the program of an answer: what stands between marks or fences, else all of it."""
    for pattern in _ANSWERS:
        try:
            groups = pattern.groups(text)
        except SlowPatternError:  # upstream's searches have a limit, too, and then found nothing
            groups = None
        if groups is not None:
            text = groups[1] or ""
            break
    return _END.split(text.split("```")[0])[0].replace("\\_", "_").strip()


def mbpp_program_plain(text: str) -> str:
    """Return the program of an answer as ``MBPPEvaluator2`` finds it: the first block, without its own tests."""
    if "```" in text:
        blocks = re.findall(r"```(.*?)```", text, re.DOTALL)
        if blocks:
            text = blocks[0] if blocks[0].startswith("\n") else blocks[0][max(blocks[0].find("\n") + 1, 0) :]
        else:
            text = text.split("```")[1]
    elif re.search(r"Here(.*?)\n", text):
        text = re.sub(r"Here(.*?)\n", "", text, count=1)
    for mark in ("# Test", "#Test", "#test", "# test"):
        text = text.partition(mark)[0]
    return _between_marks(text.strip()).strip().removeprefix("'")


def _between_marks(text: str) -> str:
    if match := re.search(r"('\s*|)(\[DONE\]|DONE)", text):
        text = text[: match.start()]
    if match := re.search(r"(\[BEGIN\]|BEGIN)('\s*|)", text):
        text = text[match.end() :]
    return text


class _StrictEquality(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            node.test = ast.Call(ast.Name("__same_value", ast.Load()), [test.left, test.comparators[0]], [])
        return node


def strict_tests(source: str) -> str:
    """Return tests whose ``assert a == b`` also compare types, and ask no object whether it is equal."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source
    return ast.unparse(ast.fix_missing_locations(_StrictEquality().visit(tree)))


def _mbpp_task(program: str, tests: str, project: str) -> Trial:
    return Trial(program, tests if project == "aisbench" else strict_tests(tests), limits=Limits(seconds=9.0))


def mbpp(cases: Cases, metric: Literal["MBPP", "MBPPPlus"] = "MBPP") -> Verdict:
    """Share of programs that pass, with how the others ended (``MBPPEvaluator``), in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: The metric is another one: its tests are in the package ``evalplus``.
    """
    return _mbpp(cases, metric, mbpp_program)


def mbpp_plain(cases: Cases, metric: Literal["MBPP", "MBPPPlus"] = "MBPP") -> Verdict:
    """``MBPPEvaluator2``: the same, with other rules for where the program is."""
    return _mbpp(cases, metric, mbpp_program_plain)


def _mbpp(cases: Cases, metric: str, program: Any) -> Verdict:
    if metric == "MBPPPlus":
        return mbpp_plus(cases)
    if metric != "MBPP":
        raise ScoringError(f"MBPPEvaluator has no metric '{metric}'", hint="MBPP or MBPPPlus")
    tasks = [_mbpp_task(program(str(given)), str(gold), cases.project) for given, gold in cases.pairs()]
    endings = run_programs(tasks)
    right = [ending.how == "pass" for ending in endings]
    scores = {**_tally(endings), "score": percent(right), **one_process(endings)}
    return Verdict(scores, {"score": [100.0 * mark for mark in right]}, right)


def mbpp_pass_at(cases: Cases, k: object = _EACH, metric: Literal["MBPP"] = "MBPP") -> Verdict:
    """pass@k over all programs of a problem (``MBPPPassKEvaluator``), in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
    """
    if metric != "MBPP":
        raise ScoringError(f"MBPPPassKEvaluator has no metric '{metric}'", hint="MBPP; MBPPPlus is MBPPEvaluator's")
    return _problems(cases, k, lambda text: [mbpp_program(text)], _mbpp_task)


def _problems(cases: Cases, k: Any, blocks: Any, task: Any) -> Verdict:
    """pass@k, where an answer may hold several programs: it passes where one of them does."""
    samples = samples_of(cases)
    found = [blocks(text) for _, text in samples]
    tests = [_tests_of(cases.references[position]) for position, _ in samples]
    tasks = [
        task(program, test["test_list_2"], cases.project)
        for programs, test in zip(found, tests, strict=True)
        for program in programs
    ]
    ended = iter(run_programs(tasks))
    endings = []
    for programs in found:
        own = [next(ended) for _ in programs]
        endings.append(next((each for each in own if each.how == "pass"), own[0]))
    rates = pass_at_of([test["task_id"] for test in tests], endings, k if isinstance(k, list | tuple) else (k,))
    scores = {**_tally(endings), **{f"pass@{each}": value for each, value in rates.items()}, **one_process(endings)}
    return Verdict(scores, {"pass@1": by_case(samples, endings, len(cases.predictions))})


def _tests_of(reference: Any) -> Mapping[str, Any]:
    if not isinstance(reference, Mapping) or not {"test_list_2", "task_id"} <= {*reference}:
        raise MissingFieldError("the output column has no 'test_list_2' and 'task_id', which the evaluator reads")
    tests = reference["test_list_2"]
    return {**reference, "test_list_2": tests if isinstance(tests, str) else "\n".join(tests)}


# -- LeetCode -----------------------------------------------------------------------------------------------------


def contest_programs(text: str) -> list[str]:
    """Return all programs of an answer to a contest's problem."""
    literal = _literal_text(text)
    blocks: list[str] = []
    if "```" in literal:
        blocks = [block.strip() for block in re.findall(r"```python\s*(.*?)```", literal, re.DOTALL)]
        plain = [] if blocks else re.findall(r"```(.*?)```", literal, re.DOTALL)
        for block in plain:
            headed = not block.startswith("\n") and "\n" in block
            blocks.append((block[block.find("\n") + 1 :] if headed else block).strip())
        if not blocks:
            blocks = [literal.split("```")[1]]
    return [_contest_program(block) for block in blocks or [literal]]


def _literal_text(text: str) -> str:
    value = read_literal(text)
    return value if isinstance(value, str) else text


def _contest_program(block: str) -> str:
    return _between_marks(block.strip()).strip().removeprefix("'").removesuffix("'").replace("\\", "")


def _contest_task(program: str, tests: str, project: str) -> Trial:
    del project
    if "class Solution" in program:
        for name in dict.fromkeys(re.findall(r"assert\s+(\w+)\(", tests)):
            tests = re.sub(rf"(\bassert\s+){name}(\()", rf"\1Solution().{name}\2", tests)
    return Trial(program, strict_tests(tests), limits=Limits(seconds=29.0))


def contest_pass_at(cases: Cases, k: object = _EACH) -> Verdict:
    """pass@k of contests' problems (``LCPassKEvaluator``), in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
    """
    return _problems(cases, k, contest_programs, _contest_task)
