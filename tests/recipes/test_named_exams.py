"""Exams that strangers have, by name: their data is read as it lies on the hub."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest
from PIL import Image

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

TALK = [{"role": "user", "content": "My {head} hurts"}, {"role": "assistant", "content": "Since?"}]
FILES = {
    "healthbench": "2025-05-07-06-14-12_oss_eval.jsonl",
    "healthbench_hard": "hard_2025-05-08-21-00-10.jsonl",
    "healthbench_consensus": "consensus_2025-05-09-20-00-46.jsonl",
}


@pytest.mark.parametrize("name", FILES)
def test_healthbench_asks_conversations_and_is_judged_by_rubrics(name: str, tmp_path: Path) -> None:
    place = tmp_path / "openai" / "healthbench"
    place.mkdir(parents=True)
    rubrics = [
        {"criterion": "asks", "points": 5, "tags": ["axis:x"]},
        {"criterion": "is rude", "points": -3, "tags": []},
    ]
    row = {
        "prompt": [*TALK, {"role": "user", "content": "Today"}],
        "prompt_id": "1",
        "rubrics": rubrics,
        "example_tags": [],
    }
    (place / FILES[name]).write_text(json.dumps({**row, "canary": "c", "ideal_completions_data": None}) + "\n")
    asked = []
    with settings.context(hub_dir=str(tmp_path), offline=True):
        options = ExamOptions(metric=("healthbench",), judge=json.dumps({"__type__": "scripted_engine", "answer": YES}))
        exams = resolve_tasks([f"exams.{name}"], options)
        done = run_exams(
            exams, ScriptedEngine(function=lambda prompt: asked.append(prompt) or "Rest"), log=tmp_path / "l.db"
        )
    assert asked[0].messages == tuple(row["prompt"])
    assert done.results[f"exams.{name}"]["healthbench"] == pytest.approx(2 / 5)


YES = '{"pass": true, "score": 1.0}'


def test_geometry3k_shows_the_picture_and_compares_formulas(tmp_path: Path) -> None:
    place = tmp_path / "hiyouga" / "geometry3k"
    place.mkdir(parents=True)
    columns = {"images": datasets.Sequence(datasets.Image()), "problem": datasets.Value("string")}
    rows = [{"images": [Image.new("RGB", (4, 3))], "problem": "<image>Find x.", "answer": "\\frac{1}{2}"}]
    kept = datasets.Features({**columns, "answer": datasets.Value("string")})
    datasets.Dataset.from_list(rows, features=kept).to_parquet(str(place / "test-00000-of-00001.parquet"))
    asked = []
    with settings.context(hub_dir=str(tmp_path), offline=True):
        engine = ScriptedEngine(function=lambda prompt: asked.append(prompt) or "So \\boxed{0.5}")
        done = run_exams(resolve_tasks(["exams.geometry3k"]), engine, log=tmp_path / "l.db")
    (message,) = asked[0].messages
    assert [part["type"] for part in message["content"]] == ["image_url", "text"]
    assert "<image>" not in asked[0].text
    assert done.results["exams.geometry3k"]["accuracy"] == 1.0
