"""Every benchmark starts and measures something, at toy size: one that has rotted measures nothing when it is wanted."""

from __future__ import annotations

import gc
import importlib
import json
import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
MEASURED = {
    "aisbench_prompts": ({"PROMPTS": 60, "COMPARED": 10, "INDEX": 40, "QUERIES": 20}, {}),
    "batch_schedules": ({}, {"count": 2}),
    "expressions": ({"ROWS": 50}, {}),
    "http_clients": ({}, {"count": 60, "rounds": 1}),
    "http_load": ({}, {"few": 50, "many": 100}),
    "http_rate": ({}, {"count": 60, "limit": 2, "rounds": 1, "each": 5}),
    "import_time": ({"ROUNDS": 1}, {}),
    "lm_eval_requests": ({"POOL": 20}, {"documents": 20}),
    "log_rates": ({"COUNT": 600}, {}),
    "server_tokens": ({}, {"subjects": 2, "each": 5}),
    "recipes": ({"INSTANCES": 50, "MANY": 50}, {}),
    "whole_runs": ({}, {"count": 20, "dialects": ["yaml"]}),
}
"""What ``make bench`` measures: constants of the module, and arguments of ``measure``."""
PRINTED = {
    "gates": ({}, ["--gates", "20", "--total", "1319"]),
    "judge_correction": ({"ANSWERS": 200, "TRUTHS": (0.58,)}, ["--runs", "20", "--rates", "0.8"]),
    "judge_cases": ({"ANSWERS": 200, "LABELS": 40, "UNSURE": ((0.3, 0.01),)}, ["--runs", "10"]),
    "label_errors": ({"QUESTIONS": 40}, ["--runs", "1", "--models", "2", "6"]),
    "log_large": ({}, ["--count", "600", "--writers", "2"]),
    "paired_differences": ({}, ["--pairs", "8", "--runs", "500"]),
    "precision": (
        {"EXAMS": (50.0,), "PRECISIONS": (0.1,), "SHARES": (0.5,), "GRADED": {}},
        ["--runs", "1", "--only", "uniform"],
    ),
    "rank_sets": ({"QUESTIONS": (20,)}, ["--runs", "3", "--models", "2", "4"]),
    "scoring_coverage": ({"MANY": 1_000}, ["2"]),
    "scoring_speed": ({}, ["--one", "f1 micro + macro + accuracy, 1,000"]),
    "sweep_size": ({"RUNS": 1, "STATISTICS": 60.0}, ["2", "20"]),
    "viewer": ({"REPORTED": 50, "LISTED_RUNS": 3, "LISTED_EXAMS": 2}, ["--samples", "600"]),
    "walk": ({}, []),
    "contamination": ({"SHAPE": (3, 20)}, ["--runs", "20"]),
    "wording_estimates": (
        {
            "SIZES": ((6, 30, 0.5, 0),),
            "OVER": ((6, 30, 0.5, 2, True),),
            "COMPARED": ((6, 30, 0.5, 2),),
            "MODELS": {"any": lambda stream, count: stream.normal(0, 0.2, count)},
        },
        ["--runs", "1"],
    ),
    "wording_components": ({"QUESTIONS": (30,)}, ["--runs", "3", "--equal", "3"]),
}
"""Programs: constants, and what is typed."""
WITH_MODELS = ("gpu", "hf_rates", "model_server", "real_verdicts", "same_models", "smollm2_models")


@pytest.fixture
def benchmark(monkeypatch, tmp_path):
    """A benchmark's module by its name, as ``benchmarks/run.py`` imports it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gc, "collect", lambda *_: 0)  # of a process that tests have filled, it takes a second
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (FOLDER / f"{name}.py").is_file():
            del sys.modules[name]


def test_each_is_tried():
    known = {path.stem for path in FOLDER.glob("*.py")} - {"run"}
    assert known == {*MEASURED, *PRINTED, *WITH_MODELS}


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_measures(name, benchmark, monkeypatch):
    constants, arguments = MEASURED[name]
    module = benchmark(name)
    for constant, value in constants.items():
        monkeypatch.setattr(module, constant, value)
    found = module.measure(**arguments)
    assert found
    for value in found.values():
        number = value["value"] if isinstance(value, dict) else value
        assert isinstance(number, str) or math.isfinite(number)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_prints(name, benchmark, monkeypatch, tmp_path, capfd):
    constants, typed = PRINTED[name]
    module = benchmark(name)
    for constant, value in constants.items():
        monkeypatch.setattr(module, constant, value)
    more = ["--folder", str(tmp_path / name)] if name == "viewer" else []
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *typed, *more])
    module.main()
    assert any(character.isdigit() for character in capfd.readouterr().out)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """A folder with a tiny model that reads long prompts."""
    pytest.importorskip("transformers")
    spec = spec_from_file_location("tiny_models", Path(__file__).parent / "engines" / "tiny_models.py")
    models = module_from_spec(spec)
    spec.loader.exec_module(models)
    folder = models.build_model(tmp_path_factory.mktemp("tiny"), "llama")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4096}))
    return folder


@pytest.mark.slow
def test_rates_of_a_model_are_measured(benchmark, monkeypatch, tiny):
    module = benchmark("hf_rates")
    monkeypatch.setattr(module, "converted_folder", lambda: tiny)
    found = module.measure(module.parser().parse_args(["--documents", "1"]))
    assert all(line["value"] > 0 for line in found.values())


@pytest.mark.slow
def test_a_gpu_is_measured_unattended(benchmark, monkeypatch, tmp_path, tiny):
    module = benchmark("gpu")
    typed = ["--model", str(tiny), "--sizes", "given,tiny", "--documents", "3", "--truths", "2", "--device", "cpu"]
    monkeypatch.setattr(module, "NEW_TOKENS", 2)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["gpu.py", *typed, "--out", str(tmp_path / "gpu.jsonl")])
    module.main()
    lines = [json.loads(line) for line in (tmp_path / "gpu.jsonl").read_text().splitlines()]
    stages = {(line["size"], line["stage"]) for line in lines}
    assert stages == {(size, stage) for size in ("given", "tiny") for stage in module.STAGES}
    assert max(line.get("difference", 0) for line in lines) < 1e-3
    assert all(line["decisions"] == 0 for line in lines if line["stage"] == "score")
    assert all(line["equal"] for line in lines if line["stage"] == "again")


@pytest.mark.slow
def test_a_gpu_that_has_no_time_left_is_said_to_be_skipped(benchmark, monkeypatch, tmp_path, tiny):
    module = benchmark("gpu")
    typed = ["--model", str(tiny), "--minutes", "0", "--sizes", "135m", "--out", str(tmp_path / "gpu.jsonl")]
    monkeypatch.setattr(sys, "argv", ["gpu.py", *typed])
    module.main()
    assert json.loads((tmp_path / "gpu.jsonl").read_text())["stage"] == "skipped"


@pytest.mark.slow
def test_forms_of_a_model_are_asked_and_gated(benchmark, monkeypatch, tmp_path, hub_dir, capfd, tiny):
    asking = benchmark("smollm2_models")
    monkeypatch.setattr("proctor.engines.hf.smollm2.converted_folder", lambda: tiny)
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(hub_dir))
    monkeypatch.setattr(asking, "forms", lambda: [asking.Form("float32"), asking.Form("rounded")])
    monkeypatch.setattr(sys, "argv", ["x", "--hub", str(hub_dir), "--work", str(tmp_path), "--limit", "3"])
    asking.main()
    gating = benchmark("real_verdicts")
    monkeypatch.setattr(gating, "GATED", (asking.Form("rounded"),))
    gating.gates(tmp_path, 1)
    names, table = gating.table_of(tmp_path)
    assert table.shape == (len(names), 3)
    assert "1 of 1" in capfd.readouterr().out


@pytest.mark.slow
def test_endpoints_are_compared(benchmark, monkeypatch, tmp_path, hub_dir, tiny):
    module = benchmark("same_models")
    monkeypatch.setattr(module, "converted_folder", lambda: tiny)
    given = SimpleNamespace(hub=hub_dir, work=tmp_path, prompts=2, texts=1)
    with module.settings.context(allow=f"read:{hub_dir}"):
        runs = {each.name: module.asked(each, given) for each in module.ITSELF[:2]}
    one, two = runs.values()
    assert {each.exam for each in module.same_runs(one, two)} == {"arc_choices", "arc_texts"}
