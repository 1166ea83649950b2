"""OlympiadBench's templates: words that depend on the language, the subject and the kind of answer of a row."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.values import ConfigDict, location_of, short_name

Row = Mapping[str, Any]
COLUMN = "olympiad_prompt"
"""The name of the words in what a template is filled with."""
_TEMPLATES: Mapping[str, Mapping[str, Any]] = {
    "OlympiadBenchTemplate": {
        "type": "PromptTemplate",
        "template": {"round": [{"role": "HUMAN", "prompt": f"{{{COLUMN}}}"}]},
    },
    "OlympiadBenchRawTemplate": {
        "type": "RawPromptTemplate",
        "messages": [{"role": "user", "content": f"{{{COLUMN}}}"}],
    },
}


def is_olympiad(inference: Mapping[str, Any]) -> bool:
    """Return whether an ``infer_cfg`` has one of these templates."""
    template = inference.get("prompt_template")
    return isinstance(template, Mapping) and short_name(template.get("type", "")) in _TEMPLATES


def plain_inference(inference: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an ``infer_cfg`` with the template that is filled with :func:`olympiad_row`."""
    if not is_olympiad(inference):
        return inference
    own = inference["prompt_template"]
    template = ConfigDict(dict(_TEMPLATES[short_name(own["type"])]), location=location_of(own))
    return ConfigDict({**inference, "prompt_template": template}, location=location_of(inference))


def olympiad_row(row: Row) -> Row:
    """Return what the templates are filled with: the question in words, and nothing else of the row."""
    ask = _chinese if row.get("language", "English") == "Chinese" else _english
    words = ask(row, is_math=row.get("subject", "Math") == "Math")
    return {COLUMN: words.replace("{problem}", str(row.get("problem", "")))}


_KINDS = {
    "Numerical": ("a numerical value", "数值"),
    "Expression": ("an expression", "表达式"),
    "Equation": ("an equation", "方程"),
    "Interval": ("an interval", "区间"),
}


def _kinds(row: Row, language: int) -> list[str]:
    """Return the kinds of a row's answers in words; none where they cannot be told.

    Raises:
        ValueError: A kind is unknown.
    """
    said = str(row.get("answer_type", ""))
    if "Need_human_evaluate" in said or "Tuple" in said:
        return []
    parts = said.split(",") if row.get("is_multiple_answer") and "," in said else [said]
    return [_kind(part.partition("-")[0], language) for part in parts]


def _kind(name: str, language: int) -> str:
    found = next((words for key, words in _KINDS.items() if key in name), None)
    if found is None:
        raise ValueError(f"there is no kind of answers '{name}'")
    return found[language]


def _english(row: Row, *, is_math: bool) -> str:
    contest = f"an International {'Math' if is_math else 'Physics'} competition"
    if row.get("question_type") == "Theorem proof":
        words = (
            f"The following is a theorem proving problem from {contest}. Please use logical reasoning and common "
            "theorems to prove the proposition in the problem according to the given requirements. Please use LaTeX "
            "format to represent the variables and formulas used in the proof."
        )
    else:
        several, unit = row.get("is_multiple_answer"), row.get("unit")
        box = "\\boxed{multiple answers connected with commas}" if several else "\\boxed{answer}"
        note = ", note that the unit of the answer should not be included in \\boxed{}" if unit else ""
        words = (
            f"The following is an open-ended problem from {contest}. {_english_kinds(row)}Please calculate the "
            "answer according to the given requirements and the information provided. Please use LaTeX format to "
            "represent the variables and formulas used in the solution process and results. Please end your solution "
            'with "So the '
            f'final answer is {box}{"(unit)" if unit else ""}." and give the result explicitly{note}.'
        )
    end = "Please reason step by step, and put your final answer within \\boxed{}."
    return f"{words}\n{{problem}}\n\n{end}"


def _english_kinds(row: Row) -> str:
    kinds = _kinds(row, 0)
    if not kinds:
        return ""
    if not row.get("is_multiple_answer"):
        return f"The answer of The problem should be {kinds[0]}. "
    if len(set(kinds)) == 1:
        return f"The problem has multiple answers, each of them should be {kinds[0]}. "
    return f"The problem has multiple answers, with the answers in order being {', '.join(kinds)}. "


def _chinese(row: Row, *, is_math: bool) -> str:
    subject = "数学" if is_math else "物理"
    if row.get("question_type") == "Theorem proof":
        words = (
            f"以下是中国{subject}竞赛中的证明题。请根据题目的要求，运用逻辑推理及常用定理证明题目中的命题。"
            "证明过程中使用的变量和公式请使用LaTeX格式表示。"
        )
    else:
        unit = row.get("unit")
        box = "\\boxed{用英文逗号连接的多个答案}" if row.get("is_multiple_answer") else "\\boxed{答案}"
        note = "，注意答案的单位不要放在\\boxed{}中" if unit else ""
        words = (
            f"以下是中国{subject}竞赛中的解答题{_chinese_kinds(row)}。请根据题目的要求和所提供的信息计算得出答案。"
            "解答过程和结果中使用的变量和公式请使用LaTeX格式表示。"
            f'请在最后以"所以最终答案是{box}{"(单位)" if unit else ""}。"显式给出结果{note}。'
        )
    return f"{words}\n{{problem}}\n\n请通过逐步推理来解答问题，并把最终答案放置于\\boxed{{}}中。"


def _chinese_kinds(row: Row) -> str:
    kinds = _kinds(row, 1)
    if not kinds:
        return ""
    if not row.get("is_multiple_answer"):
        return f"，答案类型为{kinds[0]}"
    if len(set(kinds)) == 1:
        return f"，题目有多个答案，答案类型均为{kinds[0]}"
    return f"，题目有多个答案，答案类型分别为{'、'.join(kinds)}"
