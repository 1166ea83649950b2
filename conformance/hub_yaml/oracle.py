"""Runs tasks and scorers with inspect; reads cases (JSON) from a file, writes answers. Runs in inspect's environment."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["INSPECT_DISPLAY"] = "none"
sys.path.insert(0, str(Path(__file__).parent))

import yaml
from inspect_ai import eval as run
from inspect_ai._eval.loader import scorer_from_spec
from inspect_ai._eval.task import hf
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Target, value_to_float
from inspect_ai.scorer._scorer import ScorerSpec
from inspect_ai.solver._task_state import TaskState
from made_up_answers import JUDGED, SAID, Model


def content_of(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [each.text if each.type == "text" else {"image": each.image} for each in content]


def mock(said: tuple[str, ...]) -> tuple[Any, Model]:
    model = Model(said)

    def outputs(messages: Any, *_: Any) -> ModelOutput:
        said = [[each.role, content_of(each.content)] for each in messages]
        output = ModelOutput.from_content("mock", model.answer(said))
        output.usage = ModelUsage()  # counting tokens would download a tokenizer
        return output

    return get_model("mockllm/model", custom_outputs=outputs, memoize=False), model


def task_answers(case: dict[str, Any]) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp())
    (folder / "eval.yaml").write_text(yaml.safe_dump({"tasks": [case["task"]]}))

    def dataset(sample_fields: Any, **_: Any) -> Any:
        return MemoryDataset([sample_fields(row) for row in case["rows"]])

    hf.hf_dataset = dataset
    import huggingface_hub

    huggingface_hub.hf_hub_download = lambda **_: str(folder / "eval.yaml")
    if case["task"].get("shuffle_choices"):
        plain = MemoryDataset.shuffle_choices
        MemoryDataset.shuffle_choices = lambda self, seed=None: plain(self, 42)
    try:
        (task,) = hf.task_create_from_hf("hf/org/data")
    except Exception as error:  # noqa: BLE001 - whether it refuses is compared
        return {"error": str(error)}
    finally:
        if case["task"].get("shuffle_choices"):
            MemoryDataset.shuffle_choices = plain
    asked, model = mock(SAID)
    grader, judge = mock(JUDGED)
    (log,) = run(
        task,
        model=asked,
        model_roles={"grader": grader},
        max_samples=1,
        fail_on_error=False,
        log_dir=tempfile.mkdtemp(),
        log_format="json",
    )
    found: dict[str, Any] = {"prompts": sorted(model.calls), "judged": sorted(judge.calls)}
    to_float = value_to_float()
    if log.results is None:
        return {"error": log.status}
    for number, score in enumerate(log.results.scores):
        for name, metric in score.metrics.items():
            found[f"{number}.{name}"] = float(metric.value)
    for number, each in enumerate(log.reductions or []):
        values = {
            int(sample.sample_id): to_float(sample.value) for sample in each.samples if sample.value == sample.value
        }
        found[f"{number}.samples"] = [values[key] for key in sorted(values)]
    return found


def state_of(text: str) -> TaskState:
    state = TaskState(model="mock", sample_id=1, epoch=1, input="q", messages=[])
    state.output = ModelOutput.from_content("mock", text)
    return state


def score_answers(case: dict[str, Any]) -> dict[str, Any]:
    try:
        scorer = scorer_from_spec(ScorerSpec(scorer=case["scorer"]), task_path=None, **case["args"])
    except Exception as error:  # noqa: BLE001
        return {"error": str(error)}

    async def verdicts() -> list[Any]:
        found: list[Any] = []
        for text in case["texts"]:
            try:
                score = await scorer(state_of(text), Target(case["targets"]))
                found.append(score.value)
            except ValueError:
                found.append("!")
            except Exception:  # noqa: BLE001 - inspect's own trouble
                found.append("crash")
        return found

    return {f"{number:02d}": verdict for number, verdict in enumerate(asyncio.run(verdicts()))}


def main() -> None:
    logging.disable(logging.CRITICAL)
    cases = json.loads(Path(sys.argv[1]).read_text())
    answers = [score_answers(each) if each["kind"] == "score" else task_answers(each) for each in cases]
    Path(sys.argv[2]).write_text(json.dumps(answers))


main()
