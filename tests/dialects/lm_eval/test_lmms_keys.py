"""Tasks of lmms-eval: what is sent is what its chat models are sent; what is not obeyed is refused by name."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image

from proctor import logs
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.ir import Prompt
from proctor.running.run import run_exams
from proctor.settings import settings

PICTURE = Image.new("RGBA", (4, 3), (10, 200, 30, 128))
TASK = """task: seen
dataset_path: org/seen
dataset_kwargs: {token: True, cache_dir: seen}
test_split: test
output_type: generate_until
doc_to_visual: !function utils.visual
doc_to_text: !function utils.text
doc_to_target: answer
generation_kwargs: {max_new_tokens: 16, until: [";"]}
process_results: !function utils.results
metric_list:
  - {metric: right, aggregation: !function utils.total, higher_is_better: true}
lmms_eval_specific_kwargs:
  default: {post_prompt: " One word."}
  qwen_vl: {post_prompt: " Answer:"}
model_specific_generation_kwargs:
  default: {max_new_tokens: 32}
"""
UTILS = """
from lmms_eval.tasks.shared import helper
import lmms_eval.tasks.shared.words as words
from lmms_eval.api.text import same

def visual(doc):
    return [doc["image"].convert("RGB")]

def text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"] + lmms_eval_specific_kwargs["post_prompt"]

def messages(doc, lmms_eval_specific_kwargs=None):
    parts = [{"type": "text", "text": "Look:"}, {"type": "image", "url": visual(doc)[0]}]
    return [{"role": "user", "content": [*parts, {"type": "text", "text": text(doc, lmms_eval_specific_kwargs)}]}]

def results(doc, results):
    return {"right": {"score": same(results[0], words.plain(doc["answer"])), "helped": helper.ok}}

def total(results, args):
    assert args is None
    return sum(each["score"] for each in results) / len(results)
"""


def png(picture: Image.Image) -> str:
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return the folder of a task in the form of lmms-eval's package, with data in a mapped folder of the hub."""
    package = tmp_path / "lmms_eval"
    files = {
        "tasks/shared/helper.py": "ok = True",
        "tasks/shared/words.py": "def plain(text):\n    return text.strip().lower()",
        "api/__init__.py": "",
        "api/text.py": "from lmms_eval.api import rules\ndef same(a, b):\n    return rules.equal(a, b)",
        "api/rules.py": "import lmms_eval.api.text\ndef equal(a, b):\n    return float(a == b)",
        "tasks/seen/utils.py": UTILS,
        "tasks/seen/seen.yaml": TASK,
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    place = tmp_path / "hub" / "org" / "seen"
    place.mkdir(parents=True)
    rows = [{"question": f"Which <image> colour{end}", "answer": " Green ", "image": PICTURE} for end in "?!"]
    datasets.Dataset.from_list(rows).to_parquet(str(place / "test-00000-of-00001.parquet"))
    return package / "tasks" / "seen"


def run(tree: Path, output: Path) -> tuple[list[Prompt], dict[str, Any]]:
    asked: list[Prompt] = []

    def answer(prompt: Prompt) -> str:
        asked.append(prompt)
        return " green\n"

    with settings.context(trust_code=True, hub_dir=str(tree.parent.parent.parent / "hub"), offline=True):
        exams = resolve_tasks([str(tree / "seen.yaml")])
        done = run_exams(exams, ScriptedEngine(function=answer), log=output / "log.db", output=output / "run")
    return asked, done.results["seen"]


def test_pictures_stand_before_the_text_and_functions_get_the_texts_of_the_task(tree: Path, tmp_path: Path) -> None:
    asked, results = run(tree, tmp_path)
    picture = {"type": "image_url", "image_url": {"url": png(PICTURE.convert("RGB"))}}
    text = {"type": "text", "text": "Which <image> colour? One word."}
    assert asked[0].messages == ({"role": "user", "content": [picture, text]},)
    assert results["right"] == 1.0
    line = json.loads((tmp_path / "run" / "samples.jsonl").read_text().splitlines()[0])
    assert (line["decoding"]["max_tokens"], line["decoding"]["stop"]) == (32, [";"])


def test_messages_of_a_task_are_sent_as_they_are(tree: Path, tmp_path: Path) -> None:
    (tree / "seen.yaml").write_text(f"{TASK}doc_to_messages: !function utils.messages\n")
    asked, _ = run(tree, tmp_path)
    (message,) = asked[0].messages
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "text"]


def test_a_column_may_be_the_picture(tree: Path, tmp_path: Path) -> None:
    (tree / "seen.yaml").write_text(TASK.replace("!function utils.visual", "image"))
    asked, _ = run(tree, tmp_path)
    assert asked[0].messages[0]["content"][0]["image_url"]["url"] == png(PICTURE)


@pytest.mark.parametrize(
    "added, said",
    [
        ("full_docs: true", "'full_docs' of lmms-eval is not obeyed"),
        ("reasoning_tags: [think]", "'reasoning_tags' of lmms-eval is not obeyed"),
        ("num_fewshot: 1", "show no demos"),
        ("output_type: generate_until_multi_round", "there is no output_type"),
    ],
)
def test_what_is_not_obeyed_is_refused_before_anybody_is_asked(
    added: str, said: str, tree: Path, tmp_path: Path
) -> None:
    text = TASK.replace("output_type: generate_until\n", "") if added.startswith("output_type") else TASK
    (tree / "seen.yaml").write_text(f"{text}{added}\n")
    with pytest.raises(ProctorError, match=said):
        run(tree, tmp_path)


@pytest.mark.parametrize("key", ["cluster_key", "score_key", "dataset_kwargs token, cache_dir"])
def test_what_has_no_effect_is_said(
    key: str, tree: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "seen.yaml").write_text(f"{TASK}cluster_key: video\nscore_key: score\n")
    monkeypatch.setattr(logs.get_logger(), "propagate", True)
    logs.say_once.cache_clear()
    run(tree, tmp_path)
    assert any(note.startswith(key) for note in caplog.messages)


def test_without_trust_nothing_runs(tree: Path, tmp_path: Path) -> None:
    with settings.context(hub_dir=str(tree.parent.parent.parent / "hub")), pytest.raises(ProctorError, match="code"):
        run_exams(resolve_tasks([str(tree / "seen.yaml")]), ScriptedEngine(answer="x"), log=tmp_path / "log.db")


@pytest.mark.parametrize("answer, share", [("colour", 1.0), ("color", 5 / 6), ("x", 0.0)])
def test_anls_is_that_of_the_nearest_right_answer(answer: str, share: float, tree: Path, tmp_path: Path) -> None:
    text = TASK.partition("process_results")[0].replace("answer\n", '["colour", "zzzz"]\n')
    (tree / "seen.yaml").write_text(
        f"{text}metric_list:\n  - metric: anls\nlmms_eval_specific_kwargs: {{post_prompt: x}}\n"
    )
    with settings.context(trust_code=True, hub_dir=str(tree.parent.parent.parent / "hub")):
        engine = ScriptedEngine(answer=f" {answer} ")
        done = run_exams(resolve_tasks([str(tree / "seen.yaml")]), engine, log=tmp_path / "log.db")
    assert done.results["seen"]["anls"] == pytest.approx(share)
