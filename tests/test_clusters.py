"""The files of examples/clusters run, with a server that answers at once in the place of the GPUs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tests_warm
import yaml
from tests_postgres import PASSWORD

from proctor.testing.server import FaultServer

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "clusters"
COUNT = 9
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the files are for the shells of clusters")


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with a command ``proctor`` that begins where imports have ended."""
    folder = tmp_path_factory.mktemp("warm")
    with tests_warm.started(folder):
        yield folder


@pytest.fixture
def bash(tmp_path, warm):
    """Run a text in a shell that finds this proctor; returns what it said."""
    (tmp_path / "exam.jsonl").write_text(
        "".join(json.dumps({"question": f"{number}?", "answer": "yes"}) + "\n" for number in range(COUNT))
    )

    def run(text: str, **variables: str) -> str:
        path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ["PATH"]])
        variables = {
            **os.environ,
            "PATH": path,
            "EXAM": "exam.jsonl",
            "XDG_DATA_HOME": str(tmp_path / "data"),
            **variables,
        }
        done = subprocess.run(
            ["bash", "-eu", "-c", text],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def score(folder: Path) -> tuple[float, int]:
    found = json.loads((folder / "results.json").read_text())["results"]["exam"]
    return found["score"], found["n"]


def test_an_array_job_and_its_merge(bash, tmp_path):
    with FaultServer(answer=lambda *_: "yes") as server:
        for task in ("1", "2", "3"):
            slurm = {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "3"}
            bash((FOLDER / "shards.sbatch").read_text(), SERVER=server.url, **slurm)
        assert server.statistics()["requests"] == COUNT
        bash((FOLDER / "merge.sbatch").read_text(), SERVER=server.url)
        assert server.statistics()["requests"] == COUNT
    assert score(tmp_path / "results") == (1.0, COUNT)


def test_an_indexed_job(bash, tmp_path):
    job = yaml.safe_load((FOLDER / "indexed-job.yaml").read_text())["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert container["command"] == ["bash", "-c"]
    with FaultServer(answer=lambda *_: "yes") as server:
        for index in range(job["completions"]):
            bash(container["args"][0], JOB_COMPLETION_INDEX=str(index), SERVER=server.url, LOGS=".")
        assert server.statistics()["requests"] == COUNT
    assert len(list(tmp_path.glob("[0-9].db"))) == job["completions"]


def test_an_array_job_with_one_log_in_a_database(bash, tmp_path, postgres):
    place = postgres.address()
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.1) as server:
        for task in ("1", "2"):
            text = (FOLDER / "postgres.sbatch").read_text()
            bash(text, SERVER=server.url, PROCTOR_LOG=place, SLURM_ARRAY_TASK_ID=task)
        assert server.statistics()["requests"] == COUNT
    assert [score(tmp_path / f"results-{task}") for task in (1, 2)] == [(1.0, COUNT)] * 2


def test_a_job_with_one_log_in_a_database_of_its_own(bash, tmp_path, postgres):
    service, database, job = yaml.safe_load_all((FOLDER / "postgres-job.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    given = {each["name"]: each.get("value") for each in container["env"]}
    (own,) = database["spec"]["template"]["spec"]["containers"]
    made = {each["name"]: each.get("value") for each in own["env"]}
    expected = f"postgresql://{made['POSTGRES_USER']}@{service['metadata']['name']}/{made['POSTGRES_DB']}"
    assert given["PROCTOR_LOG"] == expected
    with FaultServer(answer=lambda *_: "yes") as server:
        for number in range(2):
            more = {"PROCTOR_LOG": postgres.of("postgres", password=False), "PGPASSWORD": PASSWORD}
            bash(container["args"][0], SERVER=server.url, RESULTS=f"r{number}", **more)
        assert server.statistics()["requests"] == COUNT
    assert score(tmp_path / "r1") == (1.0, COUNT)


SERVE = """
import sys, threading
from proctor.testing.server import FaultServer
with FaultServer(port=int(sys.argv[sys.argv.index("--port") + 1]), answer=lambda *_: "yes"):
    threading.Event().wait()
"""


def test_replicas_on_one_node(bash, tmp_path):
    (tmp_path / "serve.py").write_text(SERVE)
    with FaultServer() as free:  # two ports that nobody has, as a rule
        port = free.url.rpartition(":")[2].removesuffix("/v1")
    said = bash(
        (FOLDER / "replicas.sbatch").read_text(), REPLICAS="2", MODEL="m", SERVE=f"{sys.executable} serve.py", PORT=port
    )
    assert score(tmp_path / "results") == (1.0, COUNT), said
