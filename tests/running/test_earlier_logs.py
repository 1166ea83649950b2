"""A log and run folders that a Proctor of November 2026 wrote, whose engines were known by their address.

``earlier/`` has the log as a dump of its tables and the folders as they are; the server was at port 18123.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proctor.cli.__main__ import main
from proctor.testing.server import FaultServer

RUNS = {
    "chat": ("openai", "model=m", ("q.jsonl",)),
    "named": ("vllm-server", "model=m,temperature=0", ("q.jsonl",)),
    "likelihoods": ("openai", "model=m,endpoint=completions", ("--tasks", "capitals", "--include-path", ".")),
}


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    """What an earlier version left, in a folder of its own; nothing that a server says now was its answer."""
    folder = tmp_path / "earlier"
    shutil.copytree(Path(__file__).parent / "earlier", folder)
    with closing(sqlite3.connect(folder / "log.db")) as connection:
        connection.executescript((folder / "log.sql").read_text())
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    with FaultServer(answer=lambda *_: "something else") as server:
        yield server


def run(server: FaultServer, name: str, output: str, log: str = "log.db") -> int:
    model, args, exam = RUNS[name]
    given = ["-m", model, "-a", f"{args},base_url={server.url}", "--log", log, "-o", output]
    return main(["run", *exam, *given])


def scores_of(folder: str) -> dict[str, tuple[float, int]]:
    found = json.loads((Path(folder) / "results.json").read_text())["results"]
    return {name: (each["score"], each["n"]) for name, each in found.items() if isinstance(each, dict) and "n" in each}


@pytest.mark.parametrize("name", RUNS)
def test_answers_of_a_log_from_before_are_found_wherever_the_model_is(earlier, name):
    assert run(earlier, name, "fresh") == 0
    assert earlier.statistics()["requests"] == 0
    assert scores_of("fresh") == scores_of(name) != {}
    samples = [
        [json.loads(line) for line in (Path(each) / "samples.jsonl").read_text().splitlines()]
        for each in ("fresh", name)
    ]
    assert [each["prediction"] for each in samples[0]] == [each["prediction"] for each in samples[1]]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_folder_from_before_goes_on_at_another_port(earlier, name):
    before = scores_of(name)
    (Path(name) / "results.json").unlink()  # as if it had been killed
    assert run(earlier, name, name) == 0
    assert earlier.statistics()["requests"] == 0
    assert scores_of(name) == before


def test_a_log_from_before_is_merged_into_a_database(earlier, postgres):
    place = postgres.address()
    assert main(["log", "merge", "log.db", "--log", place]) == 0
    assert run(earlier, "named", "fresh", place) == 0
    assert earlier.statistics()["requests"] == 0


def test_another_model_does_not_get_its_answers(earlier):
    given = ["-m", "openai", "-a", f"model=other,base_url={earlier.url}", "--log", "log.db", "-o", "other"]
    assert main(["run", "q.jsonl", *given]) == 0
    assert earlier.statistics()["requests"] == 6
