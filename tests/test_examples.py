"""Every example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SAYS = {
    "against_a_baseline": "weighted win rate 1.00",
    "benchmark": "words.sentiment",
    "criteria_in_the_data": "[1.0, 0.0]",
    "demos": "CloseTextSampler",
    "entities": "f1_micro         0.75",
    "given_predictions": "Main Score: f1_macro",
    "hugging_face_names": "accuracy: 1.0",
    "judge_by_criteria": "both_scales: 0.50",
    "judge_by_template": "Main Score: rating",
    "judge_pairs": "long   wins 1.00, rank 1",
    "judge_the_judge": "99 cases, 1 without a verdict",
    "judges_together": "Thanks for asking!   topic 0.3",
    "layouts": "formats.llama3_instruct",
    "many_wordings": "# Group By: template",
    "metrics_together": "ensemble_score       0.625",
    "own_task": "Main Score: accuracy",
    "own_type": "- waiter: At once.",
    "pictures": "Main Score: anls",
    "rag_answers": "faithfullness_precision_token_overlap |    1",
    "rag_end_to_end": "context_correctness_mrr       |    0.5",
    "rag_judge": "loose_logprobs: 1.00",
    "rag_table": "[1.0, 0.5]",
    "robustness": "blanks around",
    "run_and_resume": "20 scored, 0 asked",
    "sweep_of_wordings": "6 wordings score",
    "several_in_one_prompt": "on 4 prompts",
    "several_models": "would be found four times out of five",
    "tables_as_pictures": "SerializeTableAsImage - 1 picture(s)",
    "wordings_and_demos": "# Group By: num_demos",
}
NEEDS = {"tables_as_pictures": "matplotlib", "pictures": "PIL"}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each example printed, with its exit status."""
    folder = tmp_path_factory.mktemp("examples")
    driver = [sys.executable, "-W", "error::UserWarning:proctor", str(ROOT / "tests" / "run_programs.py")]
    subprocess.run([*driver, str(folder), *map(str, EXAMPLES)], cwd=folder, timeout=400, check=True)
    return {program.stem: (folder / f"{program.stem}.txt").read_text().rpartition("\n") for program in EXAMPLES}


@pytest.mark.slow
@pytest.mark.parametrize("name", [program.stem for program in EXAMPLES])
def test_example(name, outputs):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"it needs the package {NEEDS[name]}")
    printed, _, status = outputs[name]
    assert status == "0", printed[-3000:]
    assert SAYS[name] in printed


def test_every_example_is_listed_and_says_something():
    names = {program.stem for program in EXAMPLES}
    assert names == set(SAYS)
    readme = (ROOT / "examples" / "README.md").read_text()
    assert [name for name in names if f"({name}.py)" not in readme] == []
