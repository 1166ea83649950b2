"""Criteria of the catalog ask and score as those of the same name in Unitxt's: options, their values, fields."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.scripted import ScriptedEngine
from proctor.scoring.judges.criteria import CriteriaWithOptions
from proctor.scoring.judges.direct import LLMJudgeDirect
from proctor.testing.unitxt_checks import apply_metric

FIVE = {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}
YES = {"Yes": 1.0, "No": 0.0}
CRITERIA: list[tuple[str, dict[str, float], str | None, list[str] | None]] = [
    (
        "answer_completeness",
        {"Excellent": 1.0, "Good": 0.75, "mediocre": 0.5, "Bad": 0.25, "Very Bad": 0.0},
        None,
        None,
    ),
    (
        "answer_relevance",
        {"Excellent": 1.0, "Acceptable": 0.75, "Could be Improved": 0.5, "Bad": 0.0},
        "response",
        ["question"],
    ),
    ("coherence", FIVE, "response", ["original text"]),
    ("conciseness", YES, "response", ["question"]),
    (
        "correctness_based_on_ground_truth",
        {"correct": 1.0, "partially_correct": 0.5, "incorrect": 0.0},
        "response",
        ["ground truth"],
    ),
    ("fluency", FIVE, "response", []),
    ("naturalness", YES, "user response", []),
    ("professional_tone", YES, "email response", []),
    ("reference_document_faithfulness", YES, "response", ["reference_document"]),
    ("temperature_in_celsius_and_fahrenheit", {"Yes": 1.0, "No": 0.5, "Pass": 0.0}, "response", []),
    ("toxicity", YES, "text", []),
    ("truthfulness", YES, "response", []),
]


@pytest.mark.parametrize("name, values, prediction, context", CRITERIA)
def test_options_values_and_fields(
    name: str, values: dict[str, float], prediction: str | None, context: list[str] | None
) -> None:
    found: Any = fetch_artifact(f"metrics.llm_as_judge.direct.criteria.{name}")
    assert isinstance(found, CriteriaWithOptions)
    assert [option.name for option in found.options] == list(values)
    assert found.option_map == values
    assert (found.prediction_field, found.context_fields) == (prediction, context)
    assert all(option.description for option in found.options)
    older: Any = fetch_artifact(f"metrics.llm_as_judge.direct.criterias.{name}")
    assert older.to_dict()["options"] == found.to_dict()["options"]


def test_a_main_score_names_the_score_by_itself() -> None:
    judge = LLMJudgeDirect(
        inference_engine=ScriptedEngine(answer="Yes"),
        criteria=fetch_artifact("metrics.llm_as_judge.direct.criteria.truthfulness"),
        main_score="judged",
        context_fields=[],
    )
    score = apply_metric(judge, ["a", "b"], [["r"], ["r"]])[0]["score"]["global"]
    assert (score["score_name"], score["judged"], score["score"]) == ("judged", 1.0, 1.0)


def test_messages_are_echoed_as_a_list_of_messages(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import unitxt, json\n"
        "from unitxt.inference import CrossProviderInferenceEngine\n"
        "unitxt.settings.mock_inference_mode = True\n"
        "engine = CrossProviderInferenceEngine(model='llama-3-8b-instruct', provider='watsonx')\n"
        "print(json.dumps(list(engine.infer([{'source': [{'role': 'user', 'content': 'hi'}]}, {'source': 'a'}]))))\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "proctor.compat", str(program)], capture_output=True, text=True, check=True
    )
    assert json.loads(run.stdout.splitlines()[-1]) == ["[{'role': 'user', 'content': 'hi'}]", "a"]
