"""Functions of AGIEval's evaluation under AISBench's names: how its answers are read, and when two are equal."""

from __future__ import annotations

import re
from typing import Any

from proctor.dialects.aisbench import agieval_prompts
from proctor.scoring.evaluators.exams import read_formula
from proctor.scoring.postprocessors.mathematics import (
    is_equivalent_plain,
    stripped_plain,
)

english_qa_datasets, chinese_qa_datasets = list(agieval_prompts.ENGLISH_QA), list(agieval_prompts.CHINESE_QA)
english_cloze_datasets = list(agieval_prompts.ENGLISH_CLOZE)
chinese_cloze_datasets = list(agieval_prompts.CHINESE_CLOZE)
multi_choice_datasets = ["jec-qa-kd", "jec-qa-ca", "gaokao-physics"]
math_output_datasets = ["gaokao-mathcloze", "math"]
_COT = "few-shot-CoT"
_LANGUAGES = {"en": "answer is .*?([A-G])", "zh": "答案是.*?([A-G])"}
_PREFIXES = ("The answer is therefore", "答案是")


def extract_last_line(string: str) -> str:
    """Return the last line that has something in it; of a text without one, the text."""
    return next((line for line in reversed(string.split("\n")) if line.strip()), string)


def remove_few_shot_prefix(string: str) -> str:
    """Return what follows the last words that announce an answer."""
    for prefix in _PREFIXES:
        if string.startswith(prefix):
            string = string[len(prefix) :].strip()
        elif prefix in string:
            string = string[string.rfind(prefix) + len(prefix) :].strip()
    return string


def try_parse_few_shot_qa_single_answer(string: str, setting_name: str, language: str = "en") -> str | None:
    """Return the letter that a text announces; ``None`` where it announces none.

    Raises:
        ValueError: It is neither English nor Chinese.
    """
    if language not in _LANGUAGES:
        raise ValueError(f"there is no language '{language}'; there are 'en' and 'zh'")
    text = extract_last_line(string) if setting_name == _COT else string
    match = re.search(_LANGUAGES[language], text)
    return match.group(1) if match else None


def try_parse_few_shot_pattern(string: str, dataset_name: str, setting_name: str) -> bool:
    """Whether a text announces its answer as the examples of a dataset do."""
    text = extract_last_line(string) if setting_name == _COT else string
    if dataset_name in chinese_cloze_datasets:
        return text.startswith("答案是")
    if dataset_name in english_cloze_datasets:
        return text.startswith("The answer is therefore")
    for names, language in ((chinese_qa_datasets, "zh"), (english_qa_datasets, "en")):
        if dataset_name in names:
            return re.search(_LANGUAGES[language], text) is not None
    return False


def parse_few_shot_qa_single_answer(string: str, setting_name: str, language: str = "en") -> str:
    """Return the letter that a text announces, else its first capital letter of an option."""
    announced = try_parse_few_shot_qa_single_answer(string, setting_name, language)
    return find_first_capital_letter(string) if announced is None else announced


def find_first_capital_letter(answer: str) -> str:
    """Return the first of the letters A to F, or ``""``."""
    return next((letter for letter in answer if letter in "ABCDEF"), "")


def extract_answer_in_bracket(answer: str, prefix: str = "【", suffix: str = "】") -> str:
    """Return what stands between two brackets, or ``""``.

    Raises:
        ValueError: There is only one of them.
    """
    if prefix not in answer and suffix not in answer:
        return ""
    return answer[answer.index(prefix) + len(prefix) : answer.index(suffix)]


def parse_math_answer(setting_name: str, raw_string: str) -> str | None:
    """Return the formula that a text gives as its answer."""
    text = extract_last_line(raw_string) if setting_name == _COT else raw_string
    if setting_name in (_COT, "few-shot"):
        return remove_few_shot_prefix(text)
    return read_formula(text, "aisbench")


def parse_qa_multiple_answer(string: str, setting_name: str) -> list[str]:
    """Return all capital letters of a text."""
    return re.findall(r"[A-Z]", extract_last_line(string) if setting_name == _COT else string)


def post_process(dataset_name: str, setting_name: str, prediction: str) -> Any:
    """Return the answer of a text, by the rules of a dataset.

    Raises:
        ValueError: There is no such dataset.
    """
    if dataset_name in (*english_cloze_datasets, *chinese_cloze_datasets):
        return parse_math_answer(setting_name, prediction)
    if dataset_name in multi_choice_datasets:
        return parse_qa_multiple_answer(prediction, setting_name)
    if "zero-shot" in setting_name:
        return find_first_capital_letter(prediction)
    for names, language in ((english_qa_datasets, "en"), (chinese_qa_datasets, "zh")):
        if dataset_name in names:
            return parse_few_shot_qa_single_answer(prediction, setting_name, language)
    raise ValueError(f"there is no dataset '{dataset_name}' in AGIEval")


def is_equiv(str1: str | None, str2: str | None, verbose: bool = False) -> bool:
    """Whether two formulas are the same (Hendrycks et al. 2021)."""
    del verbose
    return is_equivalent_plain(str1, str2)


def strip_string(string: str) -> str:
    """Return a formula in one spelling."""
    return stripped_plain(string, strict=False)


def convert_to_set(item: Any) -> Any:
    """Return answers as a set; of none an empty one.

    Raises:
        ValueError: It is neither text nor list.
    """
    if item is None:
        return set()
    if isinstance(item, str | list):
        return {item} if isinstance(item, str) else set(item)
    raise ValueError(f"answers are a text or a list, not {type(item).__name__}")


def evaluate_single_sample(dataset_name: str, prediction: Any, label: Any) -> bool:
    """Whether an answer is right, by the rules of a dataset."""
    if dataset_name in multi_choice_datasets:
        return bool(convert_to_set(prediction) == convert_to_set(label))
    if dataset_name in math_output_datasets:
        return is_equiv(prediction, label)
    return bool(prediction == label)
