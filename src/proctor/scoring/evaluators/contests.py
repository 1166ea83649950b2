"""Evaluators of contests' problems: programs that read an input and print, or functions; LiveCodeBench, APPS, TACO."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from proctor.prison import Limits, Outcome, Trial
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, percent_of_sum
from proctor.scoring.evaluators.code import one_process, pass_at_of, rows_with
from proctor.scoring.programs.trials import run_programs
from proctor.scoring.text.postprocessors.general import read_literal

_STARS = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
)
_PRELUDE = "\n".join(
    [
        *(f"from {name} import *" for name in _STARS.split()),
        f"import {', '.join(name for name in _STARS.split() if name not in ('builtins', 'typing'))}",
        "sys.setrecursionlimit(6 * 10**5)\n",
    ]
)
"""What contests' judges put before a program: it may use the usual libraries without importing them."""

_STANDARD_INPUT = """
for __given, __wanted in zip(__task["inputs"], __task["outputs"]):
    assert __comparing.is_same_output(__script(__comparing.as_lines(__given)), __comparing.as_lines(__wanted))
"""
_CALLS = """
for __given, __wanted in zip(__task["inputs"], __task["outputs"]):
    __solution = {solution}
    assert __comparing.is_same_answer(__solution(*__comparing.{arguments}(__given)), __comparing.{answer}(__wanted))
"""


def contest_trial(program: str, sample: Mapping[str, Any], seconds: float, *, as_text: bool) -> Trial:
    """Return a program with the inputs and outputs of its problem.

    Args:
        program: What the model wrote.
        sample: ``inputs``, ``outputs``, and ``fn_name`` where a function is called.
        seconds: For each input.
        as_text: Whether arguments and results of calls stand as lines of JSON (LiveCodeBench), or as values (APPS).
    """
    inputs, outputs, name = sample["inputs"], sample["outputs"], sample.get("fn_name")
    data = {"inputs": list(inputs), "outputs": list(outputs)}
    limits = Limits(seconds=(seconds + 1) * max(1, len(inputs)) + 5, call_seconds=seconds)
    source = _PRELUDE + program
    if name is None:
        return Trial(source, _STANDARD_INPUT, data=data, load=False, limits=limits)
    in_class = "class Solution" in program
    readers = ("contest_arguments", "contest_answer") if as_text else ("call_arguments", "call_answer")
    solution = f"Solution().{name}" if in_class else str(name)
    tests = _CALLS.format(solution=solution, arguments=readers[0], answer=readers[1])
    return Trial(source, tests, ("Solution" if in_class else str(name),), data=data, limits=limits)


# -- LiveCodeBench ------------------------------------------------------------------------------------------------


def block_between_fences(text: str, version: str = "v1") -> str:
    """Return what stands between the first two fences of an answer (``v1``), or the last two (``v2``)."""
    lines = text.split("\n")
    fences = [place for place, line in enumerate(lines) if "```" in line]
    if len(fences) <= 1:
        return ""
    first, second = fences[-2:] if version == "v2" else fences[:2]
    return "\n".join(lines[first + 1 : second])


def livecodebench(
    cases: Cases,
    *,
    num_process_evaluate: int = 4,
    timeout: float = 6,
    release_version: str = "release_v1",
    extractor_version: Literal["v1", "v2"] = "v1",
    start_date: str | None = None,
    end_date: str | None = None,
    memory_limit_bytes: int | None = None,
) -> Verdict:
    """Share of programs that pass all tests of their problem (``LCBCodeGenerationEvaluator``), in percent.

    Tests come from the rows, which the exam's dataset has read; upstream reads the dataset again, by version and dates.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        MissingFieldError: The rows have no tests.
    """
    del num_process_evaluate, release_version, start_date, end_date, memory_limit_bytes
    trials = []
    for prediction, row in zip(cases.predictions, rows_with(cases, "evaluation_sample"), strict=True):
        program = block_between_fences(str(prediction), extractor_version)
        trials.append(contest_trial(program, json.loads(row["evaluation_sample"]), float(timeout), as_text=True))
    return _share(run_programs(trials), "pass@1")


def _share(endings: Sequence[Outcome], name: str, rule: Callable[[Sequence[bool]], float] = percent_of_sum) -> Verdict:
    right = [each.how == "pass" for each in endings]
    scores = {name: rule(right), **one_process(endings)}
    return Verdict(scores, {name: [100.0 * mark for mark in right]}, right)


_IMPORTS = """
from itertools import *
from copy import deepcopy
from string import ascii_lowercase
from math import floor, log2, log10, sqrt, comb, gcd, ceil, inf, isqrt, log, prod
from collections import defaultdict, deque, Counter, OrderedDict
from bisect import bisect, bisect_left, bisect_right, insort
from heapq import heappush, heappop, heapify, merge
from functools import reduce, cache, lru_cache, partial
from random import randrange, shuffle
from operator import itemgetter, sub, iand
from re import search as re_search
from os.path import commonprefix
from typing import *
import copy, string, math, collections, bisect, heapq, functools, random, itertools, operator, re, sys
"""
_TABLES = "import numpy as np\nimport pandas as pd\n"


def answered_value(text: str) -> str:
    """Return the expression that an answer about a program's result ends in (LiveCodeBench's execution)."""
    blocks = re.findall(r"\[PYTHON\](.*?)\[\/PYTHON\]", text, re.DOTALL)
    text = blocks[-1] if blocks else text
    if "==" in text:
        text = text.split("==")[1].strip()
    return (text.split("[/ANSWER]")[0] if "[/ANSWER]" in text else text.split("\n")[0]).strip()


def livecodebench_execution(cases: Cases) -> Verdict:
    """Share of results of programs that are foretold (``LCBCodeExecutionEvaluator``), in percent.

    The answer is an expression of the model's, and is computed where programs run; one that calls the program is wrong.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
    """
    trials, places = [], []
    for place, (prediction, reference) in enumerate(cases.pairs()):
        sample = json.loads(reference)
        expression = answered_value(str(prediction))
        if sample["input"] in expression:
            continue
        code = str(sample["code"])
        source = f"{_IMPORTS}{_TABLES if 'np.' in code or 'pd.' in code else ''}{code}"
        tests = f"assert __same_value(({sample['output']}), __evaluate({expression!r}))"
        trials.append(Trial(source, tests, limits=Limits(seconds=3.0)))
        places.append(place)
    wrong = Outcome("wrong_answer", "the answer calls the program")
    endings = dict(zip(places, run_programs(trials), strict=True))
    return _share([endings.get(place, wrong) for place in range(len(cases.predictions))], "pass@1", percent)


def cruxeval_output(cases: Cases, timeout: int = 3) -> Verdict:
    """Share of results of programs that are foretold (``CRUXEvalOEvaluator``), in percent.

    The answer is an expression of the model's, and is computed where programs run; one that calls the program with its
    input is wrong. Of several answers to a row one has to be right.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        MissingFieldError: The rows have no programs.
    """
    trials, places = [], []
    for place, row in enumerate(rows_with(cases, "code", "input", "output")):
        given = cases.predictions[place]
        for answer in given if isinstance(given, list) else [given]:
            if f"f({row['input']})" not in str(answer):
                tests = f"assert __same_value(({row['output']}), __evaluate({str(answer)!r}))"
                trials.append(Trial(str(row["code"]), tests, limits=Limits(seconds=float(timeout))))
                places.append(place)
    endings: dict[int, Outcome] = {}
    for place, ending in zip(places, run_programs(trials), strict=True):
        if place not in endings or ending.how == "pass":
            endings[place] = ending
    wrong = Outcome("wrong_answer", "the answer calls the program")
    return _share([endings.get(place, wrong) for place in range(len(cases.predictions))], "CRUXEval-O", percent)


def last_assertion(text: str) -> str:
    """Return the last line that asserts something, else what stands in a fence (LiveCodeBench's test output)."""
    lines = text.split("\n")
    if asserted := [line for line in lines if line.startswith("assert")]:
        return asserted[-1]
    named = next((place for place, line in enumerate(lines) if "```python" in line or "```Python" in line), None)
    fences = [place for place, line in enumerate(lines) if "```" in line]
    if named is not None:
        fences = [named, *(place for place in fences if place > named)]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""


def livecodebench_test_output(cases: Cases) -> Verdict:
    """Share of tests whose expected value is completed rightly (``LCBTestOutputEvaluator``), in percent.

    Answers are read as literals; upstream runs them.
    """
    right = [
        _is_expected(last_assertion(str(prediction)), json.loads(reference)["output"])
        for prediction, reference in cases.pairs()
    ]
    return _share([Outcome("pass" if mark else "wrong_answer") for mark in right], "pass@1")


def _is_expected(test: str, output: str) -> bool:
    if len(lines := test.splitlines()) > 1:
        test = next((line for line in lines if not line.startswith("#") and "assert" in line), test)
    shown = _right_side(test.strip()) if "assert" in test else test.strip()
    value = read_literal(shown)
    try:
        return bool(value == json.loads(output)) and not (isinstance(value, str) and value == shown)
    except ValueError:
        return False


def _right_side(statement: str) -> str:
    try:
        body = ast.parse(statement).body
    except (SyntaxError, ValueError, RecursionError):
        return ""
    test = body[0].test if body and isinstance(body[0], ast.Assert) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return ""
    return ast.get_source_segment(statement, test.comparators[0]) or ""


# -- APPS and TACO ------------------------------------------------------------------------------------------------


def first_block(text: str) -> str:
    """Return the first block of an answer without the word behind its fence; the answer where there is none."""
    if "```" not in text:
        return text
    blocks: list[str] = re.findall(r"```(.*?)```", text, re.DOTALL)
    if not blocks:
        return text.split("```")[1]
    return blocks[0] if blocks[0].startswith("\n") else blocks[0][max(blocks[0].find("\n") + 1, 0) :]


_SECONDS_OF_A_CALL, _SECONDS_OF_A_PROGRAM = 4.0, 11.0  # as upstream


def apps(cases: Cases, k: Sequence[int] = (1, 10, 100)) -> Verdict:
    """pass@k of programs that pass all tests of their problem (``APPSEvaluator``, ``TACOEvaluator``), in percent.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        MissingFieldError: The rows have no tests.
    """
    rows = rows_with(cases, "input_output")
    trials = []
    for prediction, row in zip(cases.predictions, rows, strict=True):
        sample = json.loads(row["input_output"])
        trial = contest_trial(first_block(str(prediction)), sample, _SECONDS_OF_A_CALL, as_text=False)
        limits = Limits(seconds=_SECONDS_OF_A_PROGRAM, call_seconds=_SECONDS_OF_A_CALL)
        trials.append(Trial(trial.source, trial.tests, trial.entry, data=trial.data, load=trial.load, limits=limits))
    endings = run_programs(trials)
    scores = {f"pass@{each}": value for each, value in pass_at_of(cases.references, endings, k).items()}
    marks = [100.0 * (each.how == "pass") for each in endings]
    return Verdict({**scores, **one_process(endings)}, {"pass@1": marks})
