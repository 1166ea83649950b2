"""The example programs of the Unitxt document run as they stand, with a scripted engine in place of their models.

Those that need data or packages which are not here are left to ``conformance/unitxt/seed_programs.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DRIVER = ROOT / "tests" / "run_programs.py"
PROGRAMS = (
    "custom_type",
    "evaluate_classification_dataset_with_given_predictions",
    "evaluate_different_formats",
    "evaluate_different_templates_num_demos",
    "evaluate_ensemble_judge",
    "evaluate_existing_dataset_by_llm_as_judge_direct",
    "evaluate_existing_dataset_by_llm_as_judge_from_template",
    "evaluate_existing_dataset_no_install",
    "evaluate_existing_dataset_with_install",
    "evaluate_external_rag_results_with_binary_llm_as_judge",
    "evaluate_grounded_ensemble_judge",
    "evaluate_idk_judge",
    "evaluate_llm_as_judge_direct_criteria_from_dataset",
    "evaluate_llm_as_judge_direct_predefined_criteria",
    "evaluate_llm_as_judge_direct_user_criteria_no_catalog",
    "evaluate_llm_as_judge_pairwise_criteria_from_dataset",
    "evaluate_llm_as_judge_pairwise_predefined_criteria",
    "evaluate_llm_as_judge_pairwise_user_criteria_no_catalog",
    "evaluate_qa_dataset_with_given_predictions",
    "evaluate_rag_using_binary_llm_as_judge",
    "evaluate_same_datasets_and_models_with_multiple_providers",
    "evaluate_using_metrics_ensemble",
    "ner_evaluation",
    "qa_evaluation",
    "standalone_evaluation_llm_as_judge",
    "standalone_qa_evaluation",
)


def conformance():
    """The module that takes programs out of a document."""
    path = ROOT / "conformance" / "unitxt" / "seed_programs.py"
    spec = spec_from_file_location("seed_programs", path)
    module = module_from_spec(spec)
    sys.modules["seed_programs"] = module
    spec.loader.exec_module(module)
    return module


def the_document():
    folder = Path(os.environ.get("PROCTOR_TEST_SEEDS") or ROOT.parent / "shared" / "seeds")
    found = sorted(folder.glob("002_*.txt"))
    if not found:
        pytest.skip(f"no document at {folder}; set PROCTOR_TEST_SEEDS to the folder that has it")
    return found[0].read_text()


@pytest.fixture(scope="module")
def outputs(hub_dir, tmp_path_factory):
    """What each program printed, with its exit status."""
    module = conformance()
    sources = dict(module.programs(the_document()))
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        (folder / f"{name}.py").write_text(sources[name])
    engines = folder / "catalog" / "engines"
    engines.mkdir(parents=True)
    (engines / "stand_in.json").write_text(json.dumps(module.ENGINE))
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "PROCTOR_HUB_DIR": str(hub_dir),
        "PROCTOR_CATALOGS": str(folder / "catalog"),
        "PROCTOR_ENGINE_MAP": module.ENGINE_MAP,
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    subprocess.run(
        [sys.executable, str(DRIVER), "--compat", str(folder), *(str(folder / f"{name}.py") for name in PROGRAMS)],
        cwd=folder, env=environment, timeout=400, check=True,
    )  # fmt: skip
    return {name: (folder / f"{name}.txt").read_text().rpartition("\n") for name in PROGRAMS}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, outputs):
    printed, _, status = outputs[name]
    assert status == "0", printed[-3000:]


def test_a_document_has_its_programs():
    assert len(dict(conformance().programs(the_document()))) == 47
