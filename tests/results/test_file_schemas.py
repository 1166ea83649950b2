"""The files of run folders are what their JSON Schemas say, in every version that there was."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.cli.__main__ import main
from proctor.errors import UsageError
from proctor.results import schema_of
from proctor.running.spec import SCHEMA_VERSION, RunSpec
from proctor.runs.stored_run import load_run

jsonschema = pytest.importorskip("jsonschema")

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = sorted(int(folder.name[1:]) for folder in GOLDEN.iterdir())


def check(folder: Path, version: int) -> None:
    def valid(name: str, value: Any) -> None:
        jsonschema.Draft202012Validator(schema_of(name, version)).validate(value)  # type: ignore[arg-type]

    valid("results", json.loads((folder / "results.json").read_text()))
    valid("run", yaml.safe_load((folder / "run.yaml").read_text()))
    lines = (folder / "samples.jsonl").read_text().splitlines()
    assert lines
    for line in lines:
        valid("samples", json.loads(line))


def test_every_version_has_a_golden_run_and_the_last_is_what_is_written() -> None:
    assert list(range(1, SCHEMA_VERSION + 1)) == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_golden_runs_are_valid_and_can_still_be_read(version: int, capsys: pytest.CaptureFixture[str]) -> None:
    folder = GOLDEN / f"v{version}"
    check(folder, version)
    run = load_run(folder)
    assert (run.state, run.problem) == ("done", "")
    assert set(run.results) == {"parity_yaml", "table", "samples.science"}
    assert main(["compare", str(folder), str(folder), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["n"], row["difference"]) for row in rows] == [(2, 0.0)] * 3


@pytest.mark.parametrize("answer", ["even", "A"])
def test_what_a_run_writes_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_text('{"question": "2+2?", "answer": "4"}\n{"frage": "3+3?", "answer": "6"}\n')
    model = ("--model", "scripted", "--model-args", f"answer={answer}", "--log", "log.db")
    assert main(["run", *model, "--tasks", "t.jsonl,samples", "--limit", "2", "-o", "out", "--allow-failures"]) == 0
    check(tmp_path / "out", SCHEMA_VERSION)


def test_the_schema_of_run_files_names_every_field() -> None:
    assert set(schema_of("run")["properties"]) == {each.name for each in fields(RunSpec)}


def test_other_versions_are_refused() -> None:
    with pytest.raises(UsageError, match="no schema of 'results' in version 99"):
        schema_of("results", 99)
    newer = f"model: m\ntasks: [a]\nschema_version: {SCHEMA_VERSION + 1}\n"
    with pytest.raises(UsageError, match="this Proctor knows"):
        RunSpec.from_yaml(newer)
