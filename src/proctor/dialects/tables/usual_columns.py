"""Columns by their usual names: those of people's own tables, and of the datasets that are asked most."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from proctor.dialects.tables.choices import LETTERS
from proctor.dialects.tables.reader import Row, Rows
from proctor.errors import DataError

Mark = Literal["####", r"\boxed"]
"""What a right answer ends with that is the end of a solution: GSM8K's mark, or MATH's box."""

QUESTIONS: Final = (
    *("question", "instruction", "input", "prompt", "query", "problem", "messages", "conversation", "conversations"),
    *("question_stem", "inputs", "user_input", "user_query", "q"),
    *("问题", "题目", "题干", "试题", "提问", "输入", "指令"),
    *("goal", "ctx", "sentence", "text"),  # PIQA, HellaSwag, SST-2 and WinoGrande, AG News
)
ANSWERS: Final = (
    *("ground_truth", "ground_truths", "gold", "expected_answer", "expected_output", "expected", "reference_answer"),
    *("ideal", "correct_answers", "correct_answer", "answer", "target", "targets", "label", "output", "reference"),
    *("answers", "references"),
    *("answerkey", "answer_key", "correct", "correct_option", "cop", "best_answer", "final_decision", "answers_spans"),
    *("答案", "正确答案", "标准答案", "参考答案", "标签", "输出"),
)
"""What can only be right comes first: where a table has ``answer`` beside it, that is a model's (Ragas)."""
CHOICES: Final = ("choices", "options", "endings", "选项")
"""Names of columns that are looked for, in this order and in any case, where the user names none."""
MATERIAL: Final = (
    *("context", "passage", "document", "article", "paragraph", "background", "system", "premise", "support"),
    *("contexts", "retrieved_contexts", "reference_contexts", "passages", "documents", "材料", "上下文"),
    "sentence",  # below a question: QNLI
)
"""Names of columns without which a question may make no sense."""
MEDIA: Final[Mapping[str, tuple[str, ...]]] = {
    "image": ("decoded_image", "image", "images", "picture", "pictures"),  # the first beside names of absent files
    "audio": ("audio",),
}
"""Columns of pictures and sounds, which chat models are shown."""
TOOLS: Final = "tools"
"""The column of the functions that a model may call, in OpenAI's form."""
SOLUTION: Final = "solution"
"""The column that holds what is right in a box, where no other column is right."""

_PARTS: Final = ("text", "aliases", "spans", "value")
"""Parts of an object that are right answers: SQuAD's, TriviaQA's, DROP's."""
_SERIES: Final = re.compile(r"(option|choice|opt|op|ending|sol|answer|选项)([ _-]?)([01a])", re.IGNORECASE)
"""The first of several columns with a choice each: ``option1``, ``choice_a``, ``opa``, ``answerA``."""
_FINAL: Final = re.compile(r"####\s*(\S[^\n]*?)\s*\Z")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{")
_IDS: Final = re.compile(r"(?:.*[_. -])?(?:id|idx|ind|index|key|uid|uuid)", re.IGNORECASE)


def usual(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the first of some names that a table has, in any case, with blanks or hyphens for its underscores."""
    lowered = {re.sub(r"[ -]", "_", name.strip().lower()): name for name in reversed(names)}
    return next((lowered[each] for each in wanted if each in lowered), None)


def usual_choices(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns ``A``, ``B`` … where there are at least two, a series, or one that is called choices."""
    count = next((place for place, letter in enumerate(LETTERS) if letter not in names), len(LETTERS))
    if count > 1:
        return tuple(LETTERS[:count])
    if (one := usual(names, CHOICES)) is not None:
        return (one,)
    return max((_series(each, names) for each in names), key=len, default=())


def _series(first: str, names: Sequence[str]) -> tuple[str, ...]:
    match = _SERIES.fullmatch(first)
    if match is None or (match[1].lower() == "answer" and match[3] != "A"):  # answer1, answer2 may both be right
        return ()
    at = match.start(3)
    signs = string.digits[int(match[3]) :] if match[3].isdigit() else LETTERS if match[3] == "A" else LETTERS.lower()
    wanted = [first[:at] + sign for sign in signs]
    count = next((place for place, each in enumerate(wanted) if each not in names), len(wanted))
    return tuple(wanted[:count]) if count > 1 else ()


def usual_answers(rows: Rows, names: Sequence[str]) -> str | None:
    """Return the column of right answers: one with a usual name, or the part of its objects that is right."""
    found = usual(names, ANSWERS)
    if found is None or not isinstance(rows[0].get(found), Mapping):
        return found
    return next((f"{found}.{part}" for part in _PARTS if all(_has(row.get(found), part) for row in rows)), found)


def _has(value: object, part: str) -> bool:
    return isinstance(value, Mapping) and part in value


def final_of(rows: Rows, column: str) -> Mark | None:
    """Return what every right answer of a column ends with, where they are solutions."""
    for mark in ("####", r"\boxed"):
        if all(final_answer(row.get(column), mark) is not None for row in rows):
            return mark
    return None


def final_answer(cell: object, mark: Mark) -> str | None:
    r"""Return the answer that ends a solution; ``None`` where it has none.

    >>> final_answer("3 + 4 = 7\n#### 7", "####"), final_answer(r"so $\boxed{\frac{1}{2}}$.", "\\boxed")
    ('7', '\\frac{1}{2}')
    """
    if not isinstance(cell, str):
        return None
    if mark == "####":
        return found[1] if (found := _FINAL.search(cell)) else None
    starts = [match.end() for match in _BOX.finditer(cell)]
    return _braced(cell, starts[-1]) if starts else None


def _braced(text: str, start: int) -> str | None:
    """Return the text from a place to the brace that closes there."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start:place].strip() or None
    return None


def example_column(row: Row, names: Sequence[str]) -> str:
    """Return the column that is most likely to be asked: the longest text, and no identifier."""
    from proctor.dialects.tables.nested import part_of  # which most tables do not need

    cells = {name: row[name] if name in row else part_of(row, name) for name in names if not _IDS.fullmatch(name)}
    texts = {name: value for name, value in cells.items() if isinstance(value, str)}
    return max(texts, key=lambda name: len(texts[name]), default=names[0])


def needed_final(cell: object, mark: Mark, column: str) -> str:
    """Return the answer that ends a solution.

    Raises:
        DataError: It has none.
    """
    found = final_answer(cell, mark)
    if found is None:
        raise DataError(f"the column '{column}' has no answer behind '{mark}' in this row")
    return found
