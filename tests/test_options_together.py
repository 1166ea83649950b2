"""Options together: the same rows and the same answers come to the same numbers, whoever wrote the exam.

:mod:`tests.test_options_matrix` has each option by itself. Here several act on each other (repeats, failures, cut-off
answers, groups, clusters, selections), and what every dialect makes of them is compared with all others, and with
what counting by hand gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure, Prompt, Response
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

SIZE = 40
ROWS = [
    {"text": f"item {n}", "answer": ("yes", "no")[n % 2], "topic": "abc"[n % 3], "book": f"b{n // 4}"}
    for n in range(SIZE)
]


def _recipe(folder: Path) -> Path:
    task = {
        "__type__": "task", "input_fields": {"text": "str"}, "prediction_type": "str", "metrics": ["metrics.accuracy"],
        "reference_fields": {"answer": "str", "topic": "str", "book": "str"},
    }  # fmt: skip
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": ROWS}},
        "task": task,
    }
    template = {"__type__": "input_output_template", "input_format": "{text}?", "output_format": "{answer}"}
    place = folder / "exam.json"
    place.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template": template}))
    return place


def _task(folder: Path) -> Path:
    task = {
        "task": "exam", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(_lines(folder))}},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{text}}?", "doc_to_target": "{{answer}}",
        "metric_list": [{"metric": "exact_match"}],
    }  # fmt: skip
    place = folder / "exam.yaml"
    place.write_text(json.dumps(task))  # JSON is YAML
    return place


CONFIG = """
datasets = [dict(
    abbr='exam', type='JsonlDataset', path='rows.jsonl',
    reader_cfg=dict(input_columns=['text', 'topic', 'book'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{text}?')])),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def _config(folder: Path) -> Path:
    _lines(folder)
    place = folder / "exam.py"
    place.write_text(CONFIG)
    return place


def _hub(folder: Path) -> Path:
    _lines(folder, "test.jsonl")
    fields = {"input": "text", "target": "answer", "metadata": ["topic", "book"]}
    task = {"field_spec": fields, "solvers": [{"name": "generate"}], "scorers": [{"name": "match"}]}
    place = folder / "exam.yaml"
    place.write_text(yaml.safe_dump({"tasks": [task]}))
    return place


def _table(folder: Path) -> Path:
    place = folder / "exam.ndjson"
    place.write_text("".join(f"{json.dumps({'question': row['text'] + '?', **row})}\n" for row in ROWS))
    return place


def _lines(folder: Path, name: str = "rows.jsonl") -> Path:
    place = folder / name
    place.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return place


DIALECTS: Mapping[str, Callable[[Path], Path]] = {
    "unitxt": _recipe,
    "lm_eval": _task,
    "aisbench": _config,
    "hub_yaml": _hub,
    "table": _table,
}


@dataclass
class Model:
    """Answers by a plan: of each question and each time it is asked, whether it fails, is cut off, or is right."""

    fails: bool
    asked: dict[int, int] = field(default_factory=dict)

    def plan(self, number: int, time: int) -> tuple[str, bool]:
        """Return what becomes of an answer, and whether it is right."""
        draw = Random(f"{number}-{time}")
        chance, right = draw.random(), draw.random() < 0.2 + number % 7 / 10
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
        answer = ROWS[number]["answer"]
        return Response(texts=(answer if right else {"yes": "no", "no": "yes"}[answer],), finish_reasons=(reason,))


@dataclass(frozen=True)
class Case:
    """Options, and whether some answers fail or are cut off."""

    options: Mapping[str, Any]
    fails: bool = False


CASES = {
    "repeats with failures": Case({"repeats": 3}, fails=True),
    "best of some rows, cut off": Case(
        {"limit": 13, "repeats": 2, "reduce": ("best",), "truncated": "fail"}, fails=True
    ),
    "vote, raw answers": Case({"limit": 0.33, "repeats": 4, "reduce": ("majority",), "answers": "raw"}, fails=True),
    "chosen rows, two reducers": Case(
        {"samples": {"exam": [1, 2, 3, 7, 9, 10, 15, 23, 37]}, "repeats": 4, "reduce": ("g-pass@2", "best"), "seed": 5},
        fails=True,
    ),
    "groups of repeats": Case({"limit": 0.5, "repeats": 2, "group_by": ("book",)}, fails=True),
    "groups of what is reduced": Case(
        {"limit": 13, "repeats": 4, "reduce": ("pass^2",), "group_by": ("topic", ("topic", "book"))}
    ),
    "clusters of what is reduced": Case({"repeats": 3, "reduce": ("best",), "clusters": "book"}),
    "clusters of repeats": Case({"repeats": 2, "clusters": "book", "truncated": "fail"}, fails=True),
    "clusters, groups, cut off": Case({"clusters": "book", "group_by": ("topic",), "truncated": "fail"}, fails=True),
    "nothing is scored": Case({"predict_only": True, "repeats": 2, "group_by": ("topic",)}, fails=True),
}


def taken(case: Case, name: str, folder: Path) -> tuple[Model, dict[str, Any]]:
    """Return the results of a dialect, shares instead of percent."""
    (exam,) = resolve_tasks([str(DIALECTS[name](folder))], ExamOptions(**case.options))
    model = Model(case.fails)
    (found,) = run_exams([exam], ScriptedEngine(function=model), log=folder / "log.db").results.values()
    scale = {"percent": 100.0}.get(found.get("unit"), 1.0)
    return model, {
        "n": found["n"],
        "failures": found["failures"],
        "scored": found["num_of_instances"],
        **{each: _share(found.get(each), scale) for each in ("score", "score_ci_low", "score_ci_high")},
        "clusters": found.get("clusters", {}).get("count"),
        "groups": [
            (each["by"], each["n"], _share(each["score"], scale), each["num_of_instances"])
            for each in found.get("groups", ())
        ],
    }


def _share(value: Any, scale: float) -> Any:
    return value if value is None else pytest.approx(value / scale, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_numbers_are_those_of_every_dialect(case, tmp_path, monkeypatch):
    found = {}
    for name in DIALECTS:
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        found[name] = taken(case, name, folder)[1]
    first = found["lm_eval"]
    for name, each in found.items():
        own = ("score_ci_low", "score_ci_high") if "repeats" not in case.options or name == "hub_yaml" else ()
        assert {**each, **{bound: first[bound] for bound in own}} == first, (
            f"{name}; a dialect's own bounds are left out"
        )


@pytest.mark.parametrize("name", DIALECTS)
def test_repeats_are_counted_by_question(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = Case({"repeats": 3, "reduce": ("mean",), "group_by": ("topic",)}, fails=True)
    model, found = taken(case, name, tmp_path)
    plans = [[model.plan(number, time) for time in range(3)] for number in range(SIZE)]
    whole = {number: plan for number, plan in enumerate(plans) if all(reason != "failed" for reason, _ in plan)}

    def mean(numbers: list[int]) -> Any:
        return pytest.approx(sum(sum(right for _, right in whole[n]) / 3 for n in numbers) / len(numbers))

    assert model.asked == dict.fromkeys(range(SIZE), 3)
    assert (found["n"], found["failures"], found["scored"]) == (SIZE, SIZE - len(whole), len(whole))
    assert 0 < len(whole) < SIZE
    assert found["score"] == mean(list(whole))
    for by, count, score, scored in found["groups"]:
        numbers = [number for number in whole if ROWS[number]["topic"] == by["topic"]]
        assert (count, scored) == (sum(row["topic"] == by["topic"] for row in ROWS), len(numbers))
        assert score == mean(numbers)
