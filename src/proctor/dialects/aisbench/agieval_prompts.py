"""AGIEval's own prompts (Zhong et al. 2023): each family of its exams asks in its own words."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENGLISH_QA = ("lsat-ar", "lsat-lr", "lsat-rc", "logiqa-en", "sat-math", "sat-en", "aqua-rat", "sat-en-without-passage",
              "gaokao-english")  # fmt: skip
CHINESE_QA = ("logiqa-zh", "jec-qa-kd", "jec-qa-ca", "gaokao-chinese", "gaokao-geography", "gaokao-history",
              "gaokao-biology", "gaokao-chemistry", "gaokao-physics", "gaokao-mathqa")  # fmt: skip
ENGLISH_CLOZE = ("math",)
CHINESE_CLOZE = ("gaokao-mathcloze",)
_LETTERS = "ABCDEFG"
_UNKNOWN_COUNT = {"en": 5, "zh": 4}
"""Options of a question that lists only one."""


def language_of(name: str) -> str:
    """Return ``en`` or ``zh``; nothing of an exam that AGIEval does not have."""
    if name in (*ENGLISH_QA, *ENGLISH_CLOZE):
        return "en"
    return "zh" if name in (*CHINESE_QA, *CHINESE_CLOZE) else ""


def is_choice(name: str) -> bool:
    """Whether an exam has options."""
    return name in (*ENGLISH_QA, *CHINESE_QA)


def zero_shot(row: Mapping[str, Any], name: str) -> str | None:
    """Return the question of a row, asked for the answer; ``None`` of an exam that AGIEval does not have."""
    passage, question, language = row["passage"] or "", row["question"], language_of(name)
    if not language:
        return None
    if not is_choice(name):
        return f"{passage}Q: {question}\nA: The answer is" if language == "en" else f"{passage}问题：{question}\n答案："
    options, last = " ".join(row["options"]), _last_letter(row, language)
    if language == "en":
        return f"{passage}Q: {question} Answer Choices: {options}\nA: Among A through {last}, the answer is"
    return f"{passage}问题：{question} 选项：{options}\n答案：从A到{last}, 我们应选择"


def zero_shot_reasoned(row: Mapping[str, Any], name: str) -> str | None:
    """Return the question of a row, asked for the way to the answer; ``None`` of an exam that AGIEval does not have."""
    passage, question, language = row["passage"] or "", row["question"], language_of(name)
    if not language:
        return None
    if not is_choice(name):
        if language == "en":
            return f"{passage}Q: {question}\nA: Let's think step by step."
        return f"{passage}问题：{question}\n答案：让我们逐步思考："
    options = " ".join(row["options"])
    if language == "en":
        return f"{passage}Q: {question} Answer Choices: {options}\nLet's think step by step."
    last = _last_letter(row, language)
    return f"{passage}问题：{question} 选项：{options}\n从A到{last}, 我们应选择什么？让我们逐步思考："


def numbered(row: Mapping[str, Any], name: str, number: int, *, with_passage: bool = True) -> str | None:
    """Return the question of a row as one of several; ``None`` of an exam that AGIEval does not have."""
    passage, question, language = (row["passage"] or "") if with_passage else "", row["question"], language_of(name)
    if not language:
        return None
    head = f"Problem {number}.   " if language == "en" else f"问题 {number}.   "
    if not is_choice(name):
        return f"{head}{question}\n"
    options = " ".join(row["options"] or ())
    choose = "Choose from the following options:    " if language == "en" else "从以下选项中选择:    "
    return f"{head}{passage} {question}\n{choose}{options}\n"


def answered(name: str, number: int, answer: Any, explanation: str = "") -> str:
    """Return an answer as examples give it, behind its explanation where there is one."""
    if language_of(name) == "en":
        why = f"Explanation for Problem {number}:   {explanation}\n" if explanation else ""
        return f"{why}The answer is therefore {answer}"
    why = f"问题 {number}的解析:   {explanation}\n" if explanation else ""
    return f"{why}答案是 {answer}"


def _last_letter(row: Mapping[str, Any], language: str) -> str:
    count = len(row["options"])
    return _LETTERS[(_UNKNOWN_COUNT[language] if count == 1 else count) - 1]
