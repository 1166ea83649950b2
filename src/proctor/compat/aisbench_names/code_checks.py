"""Small functions around the checking of programs and answers (``…datasets.livecodebench``, ``…datasets.textvqa``).

What runs programs is not here: exams run them in Proctor's own sandbox, when their code is trusted.
"""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import dataclass
from enum import Enum
from io import StringIO
from typing import Any, NoReturn, Self

from proctor.compat.aisbench_names.dataset_helpers import process_punctuation
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.scoring.evaluators.pictures import vqa_words

logger = AISLogger()
MAX_TARGET_LENGTH = 32_768
"""Most characters of an answer that VQA compares: upstream's limit."""
_SPECIAL = ("☞", "☟", "☜", "<unk>", "<|im_end|>", "<|endoftext|>")


class CODE_TYPE(Enum):  # noqa: N801 - upstream's name
    """How a program is given its input: by a call, or on standard input."""

    call_based = 0
    standard_input = 1


class Platform(Enum):
    """Where a problem comes from."""

    LEETCODE = "leetcode"
    CODEFORCES = "codeforces"
    ATCODER = "atcoder"


class Difficulty(Enum):
    """How hard a problem is."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class TestType(Enum):
    """How a test gives a program its input."""

    __test__ = False
    STDIN = "stdin"
    FUNCTIONAL = "functional"


@dataclass
class Test:
    """A test of a program: its input, the right output, and how the input is given."""

    __test__ = False
    input: str
    output: str
    testtype: TestType

    def __post_init__(self) -> None:
        self.testtype = TestType(self.testtype)


class TimeoutException(Exception):  # noqa: N818 - upstream's name
    """A program took too long."""


class TimeOutException(Exception):  # noqa: N818 - upstream's name
    """A program of MBPP took too long."""


def timeout_handler(signum: Any, frame: Any) -> NoReturn:
    """End a program that takes too long.

    Raises:
        TimeoutException: Always.
    """
    del frame
    raise TimeoutException(f"the program took too long (signal {signum})")


class Capturing(list[str]):
    """A list of what is printed while its block runs: one text, of everything."""

    def __enter__(self) -> Self:
        self._before, self._written = sys.stdout, StringIO()
        sys.stdout = self._written
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._before
        self.append(self._written.getvalue())


def truncatefn(s: str, length: int = 300) -> str:
    """Return a text, without its middle where it is too long."""
    half = length // 2
    return s if len(s) <= length else f"{s[:half]}...(truncated) ...{s[-half:]}"


def only_int_check(val: Any) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(val, int)


def string_int_check(val: Any) -> bool:
    """Return whether a value is a text of digits."""
    return isinstance(val, str) and val.isdigit()


def combined_int_check(val: Any) -> bool:
    """Return whether a value is a whole number, or a text of digits."""
    return only_int_check(val) or string_int_check(val)


def stripped_string_compare(s1: str, s2: str) -> bool:
    """Return whether two texts are equal but for space at their ends."""
    return s1.strip() == s2.strip()


def custom_compare_(output: Any, ground_truth: str) -> bool:
    """Return whether lines that a program wrote are the right text, with or without the space around them."""
    if not isinstance(output, list):
        return False
    lines = [each.lstrip().rstrip() for each in output]
    return any(stripped_string_compare("\n".join(each), ground_truth) for each in (output, lines))


def parse_assert_statement(statement: str) -> str | None:
    """Return what stands right of ``==`` in an assertion; of anything else what is wrong with it."""
    try:
        body = ast.parse(statement).body
    except SyntaxError:
        return "Invalid syntax"
    if not body:
        return "Empty statement"
    first = body[0]
    if not isinstance(first, ast.Assert):
        return "Not an assert statement"
    if not isinstance(first.test, ast.Compare) or not isinstance(first.test.ops[0], ast.Eq):
        return "Not an equality assertion"
    return ast.get_source_segment(statement, first.test.comparators[0])


def check_testcase_output(testcase_str: str, expected_output: str) -> bool:
    """Return whether an assertion, or a value, says the right output.

    Values are read as literals; nothing of an answer is run.

    Args:
        testcase_str: The answer; of several lines the first with an assertion.
        expected_output: The right value as JSON.
    """
    lines = testcase_str.splitlines()
    if len(lines) > 1:
        asserting = (line for line in lines if not line.startswith("#") and "assert" in line)
        testcase_str = next(asserting, testcase_str)
    said = testcase_str.strip()
    try:
        value = ast.literal_eval(str(parse_assert_statement(said)) if "assert" in said else said)
        return bool(value == json.loads(expected_output))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        logger.debug("an output cannot be compared: %s", error)
        return False


class VQAEvalMethod:
    """How the official script of VQA makes answers alike."""

    def process_punctuation(self, in_text: str) -> str:
        """Return an answer without punctuation.

        Raises:
            ValueError: It is too long.
        """
        return process_punctuation(_short(in_text))

    def process_digit_article(self, in_text: str) -> str:
        """Return an answer without articles, its numbers as digits.

        Raises:
            ValueError: It is too long.
        """
        return vqa_words(_short(in_text))

    def remove_special_characters(self, input_str: str) -> str:
        """Return an answer without the marks of models."""
        for mark in _SPECIAL:
            input_str = input_str.replace(mark, "")
        return input_str


def _short(text: str) -> str:
    if len(text) > MAX_TARGET_LENGTH:
        raise ValueError(f"the answer has {len(text)} characters, and at most {MAX_TARGET_LENGTH} are compared")
    return text
