"""Functions that single datasets of AISBench have beside their classes, as programs import them."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.dataset_helpers import get_content_str
from proctor.errors import DataError
from proctor.scoring.evaluators import answers, films, judgements, pictures

# -- programs (LiveCodeBench, HumanEval-X) ---------------------------------------------------------------------------


def _fenced(model_output: str, model_type: str, *, last: bool) -> str:
    if model_type == "base":
        return model_output.strip()
    if model_type != "chat":
        raise ValueError(f"there is no model_type '{model_type}'; there are 'base' and 'chat'")
    lines = model_output.split("\n")
    fences = [place for place, line in enumerate(lines) if "```" in line]
    first, second = (fences[-2:] if last else fences[:2]) if len(fences) > 1 else (0, 0)
    return "\n".join(lines[first + 1 : second])


def extract_code_generation(model_output: str, model_type: str = "chat") -> str:
    """Return the first program between fences; of a base model everything.

    Raises:
        ValueError: There is no such kind of model.
    """
    return _fenced(model_output, model_type, last=False)


def extract_code_generation_v2(model_output: str, model_type: str = "chat") -> str:
    """Return the last program between fences; of a base model everything.

    Raises:
        ValueError: There is no such kind of model.
    """
    return _fenced(model_output, model_type, last=True)


def extract_code_execution(model_output: str, cot: bool = False) -> str:
    """Return what a program prints, as a model says it: after ``==``, before ``[/ANSWER]`` or the end of the line."""
    blocks = re.findall(r"\[PYTHON\](.*?)\[\/PYTHON\]", model_output, re.DOTALL)
    text = blocks[-1] if blocks else model_output
    if cot and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1].strip()
    if "==" in text:
        text = text.split("==")[1].strip()
    return text.split("[/ANSWER]" if "[/ANSWER]" in text else "\n")[0].strip()


def extract_test_output_code(model_output: str) -> str:
    """Return the last line that asserts something, else the first block, Python's before others."""
    lines = model_output.split("\n")
    if asserted := [line for line in lines if line.startswith("assert")]:
        return asserted[-1]
    fences = [place for place, line in enumerate(lines) if "```" in line]
    python = [place for place in fences if "```python" in lines[place] or "```Python" in lines[place]]
    if python:
        fences = [place for place in fences if place >= python[0]]
    return "\n".join(lines[fences[0] + 1 : fences[1]]) if len(fences) > 1 else ""


def get_generic_question_template_test_completion(question_content: str, starter_code: str, testcase_input: str) -> str:
    """Return LiveCodeBench's question for the output of a test.

    Args:
        question_content: The problem.
        starter_code: A function, whose name the test calls.
        testcase_input: Its arguments, one in each line.

    Raises:
        DataError: The code has no function, or several.
    """
    names = [node.name for node in ast.walk(ast.parse(starter_code)) if isinstance(node, ast.FunctionDef)]
    if len(names) != 1:
        raise DataError("the code to begin with needs one function", why=f"it has {len(names)}: {', '.join(names)}")
    asserted = f"assert {names[0]}({', '.join(testcase_input.split(chr(10)))}) == # TODO"
    return (
        f"Problem:\n{question_content}Function:\n```\n{starter_code}\n```\n"
        f"Please complete the following test case:\n\n```\n{asserted}\n```\n"
    )


def pass_at_k_of_each(num_samples: int | Iterable[int], num_correct: Sequence[int], k: int) -> Any:
    """Return for each problem the chance that one of ``k`` programs is right (Chen et al. 2021), as an array.

    Raises:
        RuntimeError: There are not as many samples as problems.
    """
    import numpy as np

    if isinstance(num_samples, int):
        counts: list[int] = [num_samples] * len(num_correct)
    else:
        counts = list(num_samples)
    if len(counts) != len(num_correct):
        raise RuntimeError(f"there are {len(counts)} counts of programs for {len(num_correct)} problems")
    right = [int(each) for each in num_correct]
    missed = [
        np.prod(1.0 - k / np.arange(n - c + 1, n + 1)) if n - c >= k else 0.0
        for n, c in zip(counts, right, strict=True)
    ]
    return np.array([1.0 - each for each in missed])


def percent_pass_at_k(num_samples: int | Iterable[int], num_correct: Sequence[int], k: int) -> Any:
    """Return :func:`pass_at_k_of_each` in percent, as LiveCodeBench has it."""
    return 100 * pass_at_k_of_each(num_samples, num_correct, k)


def compute_metrics_from_results(
    results: Mapping[Any, Sequence[Sequence[float]]], k_list: Sequence[int] = (1, 5)
) -> dict[str, Any]:
    """Return ``pass@k`` in percent over problems, and of each problem as ``detail``.

    Args:
        results: By problem: for each program the outcomes of its tests, above 0 where one is passed.
        k_list: Which; those that some problem has too few programs for are left out.
    """
    right = {name: [all(outcome > 0 for outcome in each) for each in programs] for name, programs in results.items()}
    totals, corrects = [len(each) for each in right.values()], [sum(each) for each in right.values()]
    found = {f"pass@{k}": percent_pass_at_k(totals, corrects, k) for k in k_list if all(n >= k for n in totals)}
    detail = {name: dict(zip(right, values.tolist(), strict=True)) for name, values in found.items()}
    return {**{name: values.mean() for name, values in found.items()}, "detail": detail}


def extract_instance_results(results: Mapping[Any, Sequence[Sequence[float]]]) -> list[list[bool]]:
    """Return whether each program passes all its tests, problems in order."""
    return [[all(outcome > 0 for outcome in each) for each in results[name]] for name in sorted(results)]


# -- words -----------------------------------------------------------------------------------------------------------


def normalize(s: str) -> str:
    """Return the words of a text without case, punctuation and articles (DROP)."""
    return " ".join(answers.english_tokens(s))


def fuzzy_match(s1: str, s2: str) -> bool:
    """Whether one of two answers contains the other, after :func:`normalize`; an empty one equals an empty one."""
    one, other = normalize(s1), normalize(s2)
    return (one in other or other in one) if one and other else one == other


def normalize_zh_answer(s: str) -> str:
    """Return a text without case, blanks and punctuation, Chinese or not (LongBench)."""
    return answers.plain_chinese_word(s)


# -- pictures and films ----------------------------------------------------------------------------------------------


def can_infer_option(answer: str, choices: Mapping[str, Any]) -> str | bool:
    """Return the letter that an answer names, ``Z`` of a refusal, ``False`` where it is not clear."""
    return pictures.named_option(answer, choices)


def can_infer_text(answer: str, choices: Mapping[str, Any]) -> str | bool:
    """Return the letter of the one option whose words an answer has; ``False`` where it is not one, or it is long."""
    return pictures.worded_option(answer, choices)


def can_infer(answer: Any, choices: Mapping[str, Any]) -> str | bool:
    """Return the letter that an answer names or whose words it has; ``False`` where neither is clear."""
    return can_infer_option(str(answer), choices) or can_infer_text(str(answer), choices)


def cot_postproc(response: str) -> str:
    """Return the letter of the one line ``Answer: …``, or what it says; of other texts the text."""
    return pictures.answer_line(response)


def extract_characters_regex(s: str) -> str:
    """Return the first of the letters A to D after the words that announce an answer, or ``""``."""
    return films.first_letter(s)


def calib_err(confidence: Any, correct: Any, p: str = "2", beta: int = 100) -> float:
    """Return how far confidence is from being right (Humanity's Last Exam).

    Args:
        confidence: Between 0 and 1.
        correct: Whether each answer is right.
        p: The norm; ``"2"`` alone is here.
        beta: How many answers are in a bin; 100 alone is here.

    Raises:
        ValueError: Another norm or size is asked for.
    """
    if p != "2" or beta != judgements.BIN:
        raise ValueError(f"p is '2' and beta is {judgements.BIN} here, not {p!r} and {beta}")
    return judgements.calibration_error(
        [(float(sure), bool(right)) for sure, right in zip(confidence, correct, strict=True)]
    )


def build_combinations(*groups: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return every choice of one of each group."""
    return list(itertools.product(*groups))


def parse_hle_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of Humanity's Last Exam as its content with tags, and its answer."""
    parts = [{"type": "text", "text": item.get("question", "")}]
    if isinstance(picture := item.get("image", ""), str) and picture:
        parts.append({"type": "image_url", "image_url": picture})
    return {"content": get_content_str(parts), "answer": item.get("answer", "")}
