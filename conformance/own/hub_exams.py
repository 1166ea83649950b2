"""``eval.yaml`` files for the goldens, and the cases that ask them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from conformance.own import made_up
from conformance.own.cases import LOST, Case

Values = dict[str, Any]

_TEXT: Values = {"field_spec": {"input": "question", "target": "number", "metadata": ["topic", "value"]}}
_CHOICE: Values = {"field_spec": {"input": "question", "target": "answer", "choices": "options"}}
_COLUMNS: Values = {"field_spec": {"input": "text", "target": "literal:B", "choices": ["A", "B", "C"]}}
_PLACE: Values = {"field_spec": {"input": "question", "target": "gold", "choices": "options"}}


def _task(fields: Values, solvers: Sequence[Any], scorers: Sequence[Any], **more: Any) -> Values:
    def step(each: Any) -> Values:
        return {"name": each} if isinstance(each, str) else {"name": each[0], "args": each[1]}

    return {**fields, "solvers": [step(each) for each in solvers], "scorers": [step(each) for each in scorers], **more}


def _tasks() -> dict[str, Values]:
    template = ("prompt_template", {"template": "On {topic} ({value:.1f}): {prompt}"})
    numeric = ("match", {"location": "any", "numeric": True})
    line = ("answer", {"pattern": "line"})
    own = ("multiple_choice", {"template": "{question}\n{choices}\nOne of {letters}", "max_tokens": 5})
    return {
        "includes": _task(_TEXT, ["generate"], ["includes"]),
        "kept_case": _task(_TEXT, ["generate"], [("includes", {"ignore_case": False})]),
        "several": _task(_TEXT, ["chain_of_thought", "generate"], [numeric, "exact", "f1", line]),
        "pattern": _task(_TEXT, [template, "generate"], [("pattern", {"pattern": r"answer is (\w+)"})]),
        "limits": _task(_TEXT, [("generate", {"max_tokens": 7, "temperature": 0.5, "stop_seqs": ["\n"]})], ["match"]),
        "system": _task(_TEXT, [("system_message", {"template": "You know {topic}."}), "generate"], ["includes"]),
        "critique": _task(_TEXT, ["generate", "self_critique"], ["includes"]),
        "turns": _task(_TEXT, ["generate", ("user_message", {"template": "Sure?"}), "generate"], ["includes"]),
        "judged": _task(_TEXT, ["generate"], [("model_graded_qa", {"partial_credit": True}), "model_graded_fact"]),
        "choice": _task(_CHOICE, ["multiple_choice"], ["choice"]),
        "thought": _task(_CHOICE, [("multiple_choice", {"cot": True})], ["choice"]),
        "shuffled": _task(_CHOICE, ["multiple_choice"], ["choice"], shuffle_choices=True),
        "own_words": _task(_PLACE, [own], ["choice"]),
        "columns": _task(_COLUMNS, ["multiple_choice"], ["choice"]),
        "epochs": _task(_TEXT, ["generate"], ["includes", "f1"], epochs=3, epoch_reducer="mean"),
        "at_least": _task(_CHOICE, ["multiple_choice"], ["choice"], epochs=3, epoch_reducer="at_least_2"),
        "at_k": _task(_TEXT, ["generate"], ["includes"], epochs=3, epoch_reducer="pass_at_2"),
        "mode": _task(_TEXT, ["generate"], ["f1"], epochs=3, epoch_reducer="mode"),
    }


def write(folder: Path) -> None:
    """Write the tasks, each in a folder of its own with the rows."""
    lines = "".join(json.dumps(row) + "\n" for row in made_up.asked())
    for name, task in _tasks().items():
        (folder / name).mkdir()
        (folder / name / "eval.yaml").write_text(yaml.safe_dump({"tasks": [task]}, sort_keys=False), encoding="utf-8")
        (folder / name / "test.jsonl").write_text(lines, encoding="utf-8")


def cases() -> Iterator[Case]:
    """Yield the cases of this dialect."""
    everything = tuple(f"{name}/eval.yaml" for name in _tasks())
    judge = ("GRADE: C", "GRADE: I", "GRADE: P", "I cannot say.")
    yield Case("plain", everything, judge=judge)
    yield Case("limit-1", everything, {"limit": 1}, judge=judge)
    yield Case("limit-half", everything, {"limit": 0.5}, judge=judge)
    yield Case("lost", everything, engine={"lost": list(LOST)}, judge=judge)
    yield Case("seed-7", everything, {"seed": 7, "limit": 6}, judge=judge)
    yield Case("system", everything, {"system_prompt": "Be brief.", "limit": 4}, judge=judge)
    yield Case("decoding", everything, {"decoding": {"max_tokens": 5, "temperature": 0.7}, "limit": 4}, judge=judge)
    yield Case("repeats", ("includes/eval.yaml", "choice/eval.yaml"), {"repeats": 3})
    yield Case("reduced", ("includes/eval.yaml", "several/eval.yaml"), {"repeats": 3, "reduce": ("mean", "pass@2")})
    yield Case("grouped", everything, {"group_by": ("topic",)}, judge=judge)
    yield Case("clusters", ("includes/eval.yaml", "several/eval.yaml"), {"clusters": "group_id"})
    yield Case("predict-only", everything, {"predict_only": True, "limit": 4})
