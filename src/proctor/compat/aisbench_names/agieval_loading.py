"""How AGIEval's own code makes prompts (``ais_bench.benchmark.datasets.agieval.dataset_loader``), step by step."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

import ast
import builtins
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.agieval_names import (  # noqa: F401 - its names, too
    chinese_cloze_datasets,
    chinese_qa_datasets,
    english_cloze_datasets,
    english_qa_datasets,
    math_output_datasets,
    multi_choice_datasets,
)
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.dialects.aisbench import agieval_prompts
from proctor.foreign_text import parse_json
from proctor.safe_files import write_text

logger = AISLogger()
enc: Any = None
"""Counts tokens; loaded when it is needed first."""
_ENCODING = "gpt-4"
_HEADS = {"en": "Here are the answers for the problems in the exam.\n", "zh": "以下是考试中各个问题的答案。\n"}
_CONTEXT_LINES, _EXPLANATION_LINES = (0, 1, 3, 5, 7, 9), (0, 2, 4, 6, 8, 10)
"""Lines of the table of examples: the first names the exams, then questions and explanations take turns."""
_EXTRACT = {
    "en": "Based on the previous results, your task is to extract the final answer and provide the output enclosed in "
    "brackets【】, such as 【0】 or 【A】.",
    "zh": "根据以上内容，你的任务是把最终的答案提取出来并填在【】中，例如【0】或者【A】。",
}
_THEREFORE = {
    ("en", True): "Therefore, among A through E, the answer is",
    ("zh", True): "因此，从A到D, 我们应选择",
    ("en", False): "Therefore, the answer is",
    ("zh", False): "因此，答案是",
}


@dataclass
class TaskSchema:
    """The parts of a question."""

    passage: Any = None
    question: Any = None
    options: Any = None
    label: Any = None
    answer: Any = None
    other: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dict."""
        return asdict(self)


@dataclass
class AgiInstance:
    """What a dataset says of itself."""

    task_description: Any
    data_source: Any
    task_schema: TaskSchema
    output: Any
    evaluation_metric: Any
    task_example: Any

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dict whose keys are words."""
        return {name.replace("_", " "): value for name, value in asdict(self).items()}


@dataclass
class ChatGPTSchema:
    """What a model is asked."""

    context: Any = None
    metadata: Any = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dict."""
        return asdict(self)


@dataclass
class ResultsForHumanSchema:
    """A question, what came of it, and whether that is right."""

    index: int
    problem_input: Any
    label: Any
    model_input: str = ""
    model_output: str = ""
    parse_result: str = ""
    first_stage_output: str = ""
    second_stage_input: str = ""
    is_correct: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dict."""
        return asdict(self)


def read_jsonl(path: str) -> list[Any]:
    """Return the values of a file of JSON lines.

    Raises:
        ValueError: A line is not JSON.
    """
    with builtins.open(path, encoding="utf8") as file:  # noqa: PTH123 - programs replace it
        return [parse_json(line) if line != "null" else line for line in file if line is not None]


def save_jsonl(lines: Sequence[Any], directory: str) -> None:
    """Write values as a file of JSON lines."""
    write_text(directory, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


def extract_answer(js: Any) -> Any:
    """Return the text of a service's reply, or of a text itself; nothing of a reply without one."""
    if js is None or js == "null" or isinstance(js, str):
        return "" if js is None or js == "null" else js
    try:
        choice = js["choices"][0]
        return choice["text"] if "text" in choice else choice["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return ""


def convert_zero_shot(line: Mapping[str, Any], dataset_name: str) -> str | None:
    """Return a row's question, asked for the answer; ``None`` of an exam that AGIEval does not have."""
    return agieval_prompts.zero_shot(line, dataset_name)


def convert_zero_shot_CoT_stage1(line: Mapping[str, Any], dataset_name: str) -> str | None:  # noqa: N802 - its name
    """Return a row's question, asked for the way to the answer; ``None`` of an exam that AGIEval does not have."""
    return agieval_prompts.zero_shot_reasoned(line, dataset_name)


def combine_prompt(
    prompt_path: str, dataset_name: str, load_explanation: bool = True, chat_mode: bool = False
) -> list[Any]:
    """Return the examples of an exam from AGIEval's table of them: texts, or questions with answers.

    Raises:
        ParameterValueError: AGIEval has no such exam.
    """
    import pandas as pd

    with_passage = dataset_name != "sat-en-without-passage"
    name = dataset_name if with_passage else "sat-en"
    if not agieval_prompts.language_of(name):
        code = error_codes.DSET_CODES.INVALID_PARAM_VALUE  # type: ignore[attr-defined]
        raise errors.ParameterValueError(code, f"AGIEval has no exam '{name}'")  # type: ignore[attr-defined]
    contexts, explanations = (
        pd.read_csv(prompt_path, header=0, skiprows=lambda line: line not in lines, keep_default_na=False)  # noqa: B023
        for lines in (_CONTEXT_LINES, _EXPLANATION_LINES)
    )
    rows = [ast.literal_eval(text) for text in contexts[name] if text]
    reasons = [str(text).replace("\n\n", "\n") for text in explanations[name] if text]
    key = "label" if agieval_prompts.is_choice(name) else "answer"
    found: list[Any] = []
    for number, (row, reason) in enumerate(zip(rows, reasons, strict=False), 1):
        asked = agieval_prompts.numbered(row, name, number, with_passage=with_passage) or ""
        said = row.get(key)
        answer = agieval_prompts.answered(
            name, number, "" if said is None else said, reason if load_explanation else ""
        )
        found.append((asked, answer) if chat_mode else f"{asked}{answer}\n")
    return found


def _lazy_load_enc() -> None:
    global enc  # noqa: PLW0603 - programs set it to None
    if enc is None:
        import tiktoken  # type: ignore[import-not-found,unused-ignore]

        enc = tiktoken.encoding_for_model(_ENCODING)


def concat_prompt(
    demos: Sequence[str], dataset_name: str, max_tokens: int, end_of_example: str = "\n", verbose: bool = False
) -> tuple[str, int]:
    """Return as many examples as have room, and how many they are.

    Raises:
        ValueError: Not one of them has.
    """
    _lazy_load_enc()
    texts, kept, count = dict(_HEADS), "", 0
    for number, demo in enumerate(demos, 1):
        if language := agieval_prompts.language_of(dataset_name):
            texts[language] += demo + end_of_example
        if not all(len(enc.encode(text)) < max_tokens for text in texts.values()):
            break
        kept, count = max(texts["zh"], texts["en"], key=len), number
    if not count:
        raise ValueError(f"{max_tokens} tokens have no room for an example of '{dataset_name}'")
    if verbose:
        logger.info("%d examples of '%s' have %d tokens", count, dataset_name, len(enc.encode(kept)))
    return kept, count


def concat_prompt_chat_mode(
    demos: Sequence[Sequence[str]],
    dataset_name: str,
    max_tokens: int,
    end_of_example: str = "\n",
    verbose: bool = False,
) -> tuple[list[dict[str, str]], int]:
    """Return as many examples as have room, as messages, and how many they are; answers alone count, as upstream."""
    del end_of_example  # messages have no end
    _lazy_load_enc()
    messages: list[dict[str, str]] = []
    counted = ""
    for asked, answer in demos:
        pair = [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
        counted += json.dumps(pair[-1])
        if len(enc.encode(counted)) > max_tokens:
            break
        messages += pair
    if verbose:
        logger.info("%d examples of '%s'", len(messages) // 2, dataset_name)
    return messages, len(messages) // 2


def convert_few_shot(
    line: Mapping[str, Any], dataset_name: str, demo: Any, n_shot: int, chat_mode: bool = False
) -> Any:
    """Return a row's question behind examples."""
    asked = agieval_prompts.numbered(line, dataset_name, n_shot + 1)
    return [*demo, {"role": "user", "content": asked}] if chat_mode else f"{demo}{asked}"


def load_dataset(  # noqa: PLR0917 - upstream's signature
    dataset_name: str,
    setting_name: str,
    parent_path: str,
    prompt_path: str | None = None,
    max_tokens: int | None = None,
    end_of_example: str = "\n",
    chat_mode: bool = False,
    verbose: bool = False,
) -> list[dict[str, Any]]:
    """Return the prompts of an exam.

    Args:
        dataset_name: The exam.
        setting_name: ``zero-shot``, ``zero-shot-CoT``, ``few-shot`` or ``few-shot-CoT``.
        parent_path: The folder with its rows.
        prompt_path: The table of examples.
        max_tokens: How much room they have.
        end_of_example: What stands behind each.
        chat_mode: Whether prompts are messages.
        verbose: Whether the log says how many examples there are.

    Raises:
        ValueError: There is no such setting.
    """
    rows = read_jsonl(os.path.join(parent_path, f"{dataset_name}.jsonl"))  # noqa: PTH118 - a text, as upstream
    if setting_name in ("few-shot", "few-shot-CoT"):
        demos = combine_prompt(str(prompt_path), dataset_name, setting_name == "few-shot-CoT", chat_mode)
        concat: Any = concat_prompt_chat_mode if chat_mode else concat_prompt
        shown, count = concat(demos, dataset_name, max_tokens, end_of_example, verbose=verbose)
        contexts = [convert_few_shot(row, dataset_name, shown, count, chat_mode) for row in rows]
    elif setting_name in ("zero-shot", "zero-shot-CoT"):
        convert = convert_zero_shot if setting_name == "zero-shot" else convert_zero_shot_CoT_stage1
        contexts = [convert(row, dataset_name) for row in rows]
    else:
        raise ValueError(f"there is no setting '{setting_name}'")
    return [ChatGPTSchema(context, place).to_dict() for place, context in enumerate(contexts)]


def generate_second_stage_input(
    dataset_name: str,
    input_list: Sequence[Mapping[str, Any]],
    output_list: Sequence[Any],
    with_format_prompt: bool = False,
) -> list[dict[str, Any]]:
    """Return prompts that ask for the answer behind what a model thought.

    Raises:
        ValueError: AGIEval has no such exam.
    """
    language = agieval_prompts.language_of(dataset_name)
    if not language:
        raise ValueError(f"AGIEval has no exam '{dataset_name}'")
    end = _THEREFORE[language, agieval_prompts.is_choice(dataset_name)]
    if with_format_prompt:
        end = _EXTRACT[language] + end
    return [
        ChatGPTSchema(f"{asked['context']}\n{extract_answer(said)}\n{end}", asked["metadata"]).to_dict()
        for asked, said in zip(input_list, output_list, strict=True)
    ]


def load_dataset_as_result_schema(dataset_name: str, parent_path: str) -> list[ResultsForHumanSchema]:
    """Return the questions of an exam with their right answers."""
    rows = read_jsonl(os.path.join(parent_path, f"{dataset_name}.jsonl"))  # noqa: PTH118 - a text, as upstream
    return [
        ResultsForHumanSchema(place, convert_zero_shot(row, dataset_name), row["label"] or row["answer"])
        for place, row in enumerate(rows)
    ]
