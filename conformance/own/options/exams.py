"""The same made-up rows as an exam of every dialect, and a model whose answers are known beforehand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml

from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure, Prompt, Response

Row = Mapping[str, Any]
NAME = "exam"


def made_up_rows(size: int) -> list[Row]:
    """Return rows whose right answers alternate, with two fields to group by."""
    return [
        {"text": f"item {n}", "answer": ("yes", "no")[n % 2], "topic": "abc"[n % 3], "book": f"b{n // 4}"}
        for n in range(size)
    ]


def write_recipe(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a recipe of Unitxt."""
    task = {
        "__type__": "task", "input_fields": {"text": "str"}, "prediction_type": "str", "metrics": ["metrics.accuracy"],
        "reference_fields": {"answer": "str", "topic": "str", "book": "str"},
    }  # fmt: skip
    loader = {"__type__": "load_from_dictionary", "data": {"test": list(rows)}}
    template = {"__type__": "input_output_template", "input_format": "{text}?", "output_format": "{answer}"}
    card = {"__type__": "task_card", "loader": loader, "task": task}
    place = folder / f"{NAME}.json"
    place.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template": template}))
    return place


def write_task(folder: Path, rows: Sequence[Row], name: str = NAME, **more: Any) -> Path:
    """Write a task of lm-eval; ``more`` are other keys of it."""
    data = _lines(folder, rows, f"{name}_rows.jsonl")
    task = {
        "task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test", "output_type": "generate_until", "metric_list": [{"metric": "exact_match"}],
        "doc_to_text": "{{text}}?", "doc_to_target": "{{answer}}", **more,
    }  # fmt: skip
    place = folder / f"{name}.yaml"
    place.write_text(json.dumps(task))  # JSON is YAML
    return place


_CONFIG = """
NAME_datasets = [dict(
    abbr='NAME', type='JsonlDataset', path='NAME_rows.jsonl',
    reader_cfg=dict(input_columns=['text', 'topic', 'book'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{text}?')])),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def write_config(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a config of AISBench."""
    return write_configs(folder, {NAME: rows})


def write_configs(folder: Path, parts: Mapping[str, Sequence[Row]], more: str = "") -> Path:
    """Write a config of several datasets, with more lines behind them."""
    text = ""
    for name, rows in parts.items():
        _lines(folder, rows, f"{name}_rows.jsonl")
        text += _CONFIG.replace("NAME", name)
    place = folder / f"{NAME}.py"
    place.write_text(f"{text}datasets = [{', '.join(f'*{name}_datasets' for name in parts)}]\n{more}")
    return place


def write_eval_yaml(folder: Path, rows: Sequence[Row]) -> Path:
    """Write an exam as datasets of the Hugging Face hub have it."""
    _lines(folder, rows, "test.jsonl")
    fields = {"input": "text", "target": "answer", "metadata": ["topic", "book"]}
    task = {"field_spec": fields, "solvers": [{"name": "generate"}], "scorers": [{"name": "match"}]}
    place = folder / f"{NAME}.yaml"
    place.write_text(yaml.safe_dump({"tasks": [task]}))
    return place


def write_table(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a table of questions."""
    return _lines(folder, [{"question": f"{row['text']}?", **row} for row in rows], f"{NAME}.ndjson")


def write_choices(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a table of questions with choices; a model that only writes is asked for one of them."""
    listed = [{"question": f"{row['text']}?", "choices": ["yes", "no"], **row} for row in rows]
    return _lines(folder, listed, f"{NAME}.jsonl")


def write_choice_task(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a task of lm-eval that compares choices."""
    choices: dict[str, Any] = {
        "output_type": "multiple_choice",
        "doc_to_choice": ["yes", "no"],
        "metric_list": [{"metric": "acc"}],
    }
    return write_task(folder, rows, **choices)


def write_custom(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a custom dataset of OpenCompass, which says itself how it is asked."""
    place = _lines(folder, rows, f"{NAME}.jsonl")
    said = {"data_type": "qa", "human_prompt": "{text}?", "bot_prompt": "{answer}", "output_column": "answer"}
    Path(f"{place}.meta.json").write_text(json.dumps(said))
    return place


def _lines(folder: Path, rows: Sequence[Row], name: str) -> Path:
    place = folder / name
    place.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return place


DIALECTS: Mapping[str, Callable[[Path, Sequence[Row]], Path]] = {
    "unitxt": write_recipe,
    "lm_eval": write_task,
    "aisbench": write_config,
    "hub_yaml": write_eval_yaml,
    "table": write_table,
    "table of choices": write_choices,
    "lm_eval's choices": write_choice_task,
    "custom dataset": write_custom,
}

CHOOSING = ("table of choices", "lm_eval's choices")
"""Those that compare choices where a model gives likelihoods, and are asked as text where it does not."""


class NamedEngine(ScriptedEngine):
    """A scripted engine that is known by its name, whatever it has answered so far."""

    def identity_values(self) -> dict[str, Any]:
        """Return the name."""
        return {"model": self.model}


@dataclass
class Model:
    """Answers by a plan: of each question and each time it is asked, whether it fails, is cut off, or is right.

    Attributes:
        rows: The questions.
        fails: Whether some answers fail, and others are cut off.
        name: Models of other names have other plans.
        skill: The share of right answers; ``None`` lets questions differ.
        asked: How often each question has been asked.
    """

    rows: Sequence[Row]
    fails: bool = False
    name: str = ""
    skill: float | None = None
    asked: dict[int, int] = field(default_factory=dict)

    def plan(self, number: int, time: int) -> tuple[str, bool]:
        """Return what becomes of an answer, and whether it is right."""
        draw = Random(f"{self.name}{number}-{time}")
        chance, luck = draw.random(), draw.random()
        right = luck < (0.2 + number % 7 / 10 if self.skill is None else self.skill)
        if not self.fails:
            return "stop", right
        return ("failed" if chance < 0.06 else "length" if chance < 0.15 else "stop"), right

    def __call__(self, prompt: Prompt) -> Response:
        """Return the next answer to a question."""
        number = int(re.findall(r"item (\d+)", prompt.text)[-1])
        time = self.asked.get(number, 0)
        self.asked[number] = time + 1
        reason, right = self.plan(number, time)
        if reason == "failed":
            return Response(failure=Failure("model", "it does not answer", retryable=False))
        return Response(texts=(self.words(number, right),), finish_reasons=(reason,))

    def words(self, number: int, right: bool) -> str:
        """Return a right or a wrong answer to a question."""
        answer = str(self.rows[number]["answer"])
        return answer if right else {"yes": "no", "no": "yes"}[answer]

    def engine(self) -> NamedEngine:
        """Return an engine that answers so."""
        return NamedEngine(function=self, model=self.name or "model")
