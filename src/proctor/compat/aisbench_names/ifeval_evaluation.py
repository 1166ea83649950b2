"""IFEval's evaluation as programs call it (``ais_bench.benchmark.datasets.ifeval.evaluation_main``).

An answer is checked by the classes of the registry, which a program may replace; scores are the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from proctor.compat.aisbench_names import ifeval_registry as instructions_registry
from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.scoring.evaluators.instructions import shares_of_followed
from proctor.scoring.instructions import answer_variants

_EXAM = "ais_bench.benchmark.datasets.ifeval.ifeval"
_GRADES = ("none", "loose", "strict")


@dataclass
class InputExample:
    """A prompt of IFEval: its key, the ids of its instructions, and their arguments."""

    key: int
    instruction_id_list: list[str]
    prompt: str
    kwargs: list[dict[str, Any]]


@dataclass
class OutputExample:
    """An answer, and which instructions of its prompt it follows."""

    instruction_id_list: list[str]
    prompt: str
    response: str
    follow_all_instructions: bool
    follow_instruction_list: list[bool]


def test_instruction_following_strict(inp: InputExample, response: str) -> OutputExample:
    """Return which instructions an answer follows as it is; an empty one follows none."""
    return _followed(inp, response, [response])


def test_instruction_following_loose(inp: InputExample, response: str) -> OutputExample:
    """Return which instructions an answer follows without its first or last line, or without asterisks."""
    return _followed(inp, response, answer_variants(response))


for _function in (test_instruction_following_strict, test_instruction_following_loose):
    vars(_function)["__test__"] = False  # upstream's names; pytest takes them for tests


def _followed(inp: InputExample, response: str, variants: Sequence[str]) -> OutputExample:
    found = []
    for name, arguments in zip(inp.instruction_id_list, inp.kwargs, strict=True):
        instruction = instructions_registry.INSTRUCTION_DICT[name](name)
        instruction.build_description(**arguments)
        if "prompt" in (instruction.get_instruction_args() or {}):
            instruction.build_description(prompt=inp.prompt)
        found.append(any(bool(each.strip()) and bool(instruction.check_following(each)) for each in variants))
    return OutputExample(inp.instruction_id_list, inp.prompt, response, all(found), found)


class IFEvaluator(BaseEvaluator):
    """Shares of prompts and of instructions that answers follow, strictly and loosely, in percent."""

    def score(  # type: ignore[override]
        self, predictions: Sequence[str], references: Sequence[Any], origin_prompt: Sequence[Any]
    ) -> dict[str, Any]:
        """Return the four shares, and ``details`` with the grade of each answer: ``strict``, ``loose`` or ``none``.

        Args:
            predictions: The answers.
            references: Of each ``key``, ``instruction_id_list``, ``prompt`` and ``kwargs``.
            origin_prompt: What was asked, for the details.
        """
        found, details = {}, {}
        for place, (answer, asked) in enumerate(zip(predictions, references, strict=True)):
            given = [{key: value for key, value in each.items() if value is not None} for each in asked["kwargs"]]
            example = InputExample(asked["key"], asked["instruction_id_list"], asked["prompt"], given)
            strict, loose = (
                _of_exam(f"test_instruction_following_{kind}")(example, answer) for kind in ("strict", "loose")
            )
            marks = {"strict": strict.follow_instruction_list, "loose": loose.follow_instruction_list}
            found[place] = marks
            is_strict, is_loose = all(marks["strict"]), all(marks["loose"])
            details[str(place)] = {
                "prompt": origin_prompt[place], "pred": answer, "refer": asked, "is_strict_correct": is_strict,
                "is_loose_correct": is_loose, "is_correct": is_strict,
                "grade": _GRADES[2 * is_strict or is_loose],
            }  # fmt: skip
        return {**shares_of_followed(found), "details": details}


def _of_exam(name: str) -> Callable[[InputExample, str], OutputExample]:
    """Return a function as the exam's module has it: a program may have replaced it there."""
    found: Callable[[InputExample, str], OutputExample] = getattr(import_module(_EXAM), name)
    return found
