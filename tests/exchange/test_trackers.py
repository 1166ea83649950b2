"""Runs in MLflow, Weights & Biases and trackio: what they are told, that they take it, and what they are never told.

Where a package is installed, its local store is written and read back. Where none is, a stand-in binds every call to
the signature of the real thing (``data/tracker_signatures.json``, recorded by ``tracker_signatures.py``).
"""

import inspect
import json
import os
import sqlite3
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest

from proctor.cli.__main__ import main
from proctor.exchange.trackers import Destination, sent
from proctor.exchange.trackers import record as record_module
from proctor.exchange.trackers.record import recorded
from proctor.results.summary import score_rows
from proctor.runs.stored_run import load_run

ARGS = 'answer=positive,log_likelihoods={"A":-1.0,"B":-2.0,"C":-3.0,"D":-4.0}'
EXAMS = ("samples.sentiment", "samples.science")
REAL = json.loads((Path(__file__).parent / "data" / "tracker_signatures.json").read_text())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    words = ["run", "--tasks", ",".join(EXAMS), "--model", "scripted", "--model-args", ARGS]
    assert main([*words, "--limit", "6", "--output", str(folder), "--log", str(folder.parent / "log.db")]) == 0
    return folder


# -- what they are told ----------------------------------------------------------------------------------------------


def expected(run):
    """Return every number of a run, straight from its results."""
    results = load_run(run).results
    found = {}
    for exam, entry in results.items():
        rows = list(score_rows({exam: entry}, every_score=True))
        for row in rows:
            for end, value in (("", row.value), ("/ci_low", row.low), ("/ci_high", row.high)):
                if value is not None:
                    found[f"{exam}/{row.metric}{end}"] = value
        found |= {f"{exam}/n": 6.0, f"{exam}/scored": 6.0, f"{exam}/failed": 0.0}
    return found


def test_every_number_with_its_interval_and_counts(run):
    with recorded(load_run(run)) as record:
        assert {name: value for name, value in record.metrics.items() if "stderr" not in name} == expected(run)
        assert record.parameters["unit/samples.sentiment/f1_macro"] == "share"
        assert record.parameters["main/samples.sentiment"] == "f1_macro"
        entry = load_run(run).results["samples.science"]["fingerprint"]
        for layer, digest in entry.items():
            assert record.parameters[f"fingerprint/samples.science/{layer}"] == digest
        assert [path.name for path in record.files] == ["results.json", "run.yaml", "samples.jsonl"]
        assert [path.read_bytes() for path in record.files] == [(run / path.name).read_bytes() for path in record.files]
        assert len(record.rows) == 12
        assert {row["exam"] for row in record.rows} == set(EXAMS)
        assert all(len(row["instance"]) == 16 and row["prompt"] and row["score"] in (0.0, 1.0) for row in record.rows)
    assert not any(path.exists() for path in record.files)


def test_failures_and_scores_without_a_value_are_counted_and_said(run, tmp_path):
    folder = copy_of(run, tmp_path)
    document = json.loads((folder / "results.json").read_text())
    entry = document["results"]["samples.science"]
    entry |= {"accuracy": float("nan"), "score": float("nan"), "failures": 2, "num_of_instances": 4}
    entry["failure_kinds"] = {"timeout": 2}
    (folder / "results.json").write_text(json.dumps(document))
    with recorded(load_run(folder)) as record:
        assert record.metrics["samples.science/failed/timeout"] == 2.0
        assert "samples.science/accuracy" not in record.metrics
        assert any("samples.science: accuracy has no finite value" in each for each in record.left_out)


def copy_of(run, target, change=lambda text: text):
    folder = target / "copy"
    folder.mkdir()
    for file in ("results.json", "run.yaml", "samples.jsonl"):
        (folder / file).write_text(change((run / file).read_text()))
    return folder


def test_names_that_trackers_do_not_take_are_changed_and_never_two_for_one(run, tmp_path):
    folder = copy_of(
        run, tmp_path, lambda text: text.replace("samples.sentiment", "a[b=1]").replace("samples.science", "a(b~1)")
    )
    with recorded(load_run(folder)) as record:
        assert {"a_b_1_/n", "a_b_1__2/n"} <= set(record.metrics)
        assert any("'a[b=1]', which is 'a_b_1_' there" in each for each in record.left_out)
        assert any("'a(b~1)', which is 'a_b_1__2' there" in each for each in record.left_out)


def test_the_table_is_bounded_and_says_so(run, monkeypatch):
    monkeypatch.setattr(record_module, "MOST_ROWS", 5)
    with recorded(load_run(run)) as record:
        assert len(record.rows) == 5
        assert any("7 instances of the table: samples.jsonl has all 12" in each for each in record.left_out)


def test_secrets_are_kept_out(run, tmp_path, monkeypatch):
    secret = "sk-of-the-environment-98765"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    folder = copy_of(
        run, tmp_path, lambda text: text.replace("The waiter", secret).replace("scripted", f"scripted {secret}")
    )
    assert any(secret in path.read_text() for path in folder.iterdir())
    with recorded(load_run(folder)) as record:
        assert secret not in repr(record)
        assert not any(secret in path.read_text() for path in record.files)


# -- stand-ins that bind calls to the real signatures -----------------------------------------------------------------


class Stand:
    """A package whose calls are bound to recorded signatures."""

    def __init__(self, package, answers=None):
        self.calls = []
        self._signatures = REAL[package]["signatures"]
        self._answers = answers or {}

    def bound(self, path, method=False):
        kinds = inspect.Parameter
        listed = [
            inspect.Parameter(name, getattr(kinds, kind), default=None if has_default else kinds.empty)
            for name, kind, has_default in self._signatures[path]
        ]
        signature = inspect.Signature(listed[1:] if method and listed and listed[0].name == "self" else listed)

        def call(*args, **kwargs):
            arguments = signature.bind(*args, **kwargs).arguments
            self.calls.append((path, dict(arguments)))
            return self._answers.get(path, types.SimpleNamespace(**arguments))

        return call

    def of(self, path):
        return [arguments for each, arguments in self.calls if each == path]


def install(monkeypatch, name, **attributes):
    module = types.ModuleType(name)
    module.__spec__ = types.SimpleNamespace(name=name)
    for key, value in attributes.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("proctor.exchange.trackers.find_spec", lambda package: object())


class Refused(Exception):
    pass


@pytest.fixture
def mlflow(monkeypatch):
    run = types.SimpleNamespace(info=types.SimpleNamespace(run_id="r1"))
    stand = Stand(
        "mlflow",
        {
            "MlflowClient.get_experiment_by_name": None,
            "MlflowClient.create_experiment": "7",
            "MlflowClient.create_run": run,
        },
    )
    stand._answers["MlflowClient.get_experiment_by_name"] = None
    names = [path.partition(".")[2] for path in REAL["mlflow"]["signatures"] if path.startswith("MlflowClient.")]
    client = types.SimpleNamespace(**{name: stand.bound(f"MlflowClient.{name}", method=True) for name in names})
    install(monkeypatch, "mlflow", MlflowClient=lambda: client)
    install(monkeypatch, "mlflow.exceptions", MlflowException=Refused)
    install(monkeypatch, "mlflow.entities", Metric=stand.bound("entities.Metric"), Param=stand.bound("entities.Param"))
    stand.client = client
    return stand


def test_mlflow_is_called_as_it_wants(run, mlflow):
    with recorded(load_run(run)) as record:
        place = sent("mlflow", record, Destination("quiz", "mine"))
    assert place == "MLflow experiment quiz, run r1"
    (made,) = mlflow.of("MlflowClient.create_run")
    assert (made["experiment_id"], made["run_name"], made["start_time"]) == ("7", "mine", record.started)
    batches = mlflow.of("MlflowClient.log_batch")
    assert {each.key: each.value for batch in batches for each in batch.get("metrics", ())} == dict(record.metrics)
    params = {each.key: each.value for batch in batches for each in batch.get("params", ())}
    assert params == {name: str(value) for name, value in record.parameters.items()}
    assert all(len(batch.get("params", ())) <= 100 for batch in batches)
    (table,) = mlflow.of("MlflowClient.log_table")
    assert {len(column) for column in table["data"].values()} == {12}
    assert len(mlflow.of("MlflowClient.log_artifact")) == 3
    assert mlflow.of("MlflowClient.set_terminated")[-1]["status"] == "FINISHED"


def test_mlflow_that_refuses_is_an_error_and_the_run_there_failed(run, mlflow, capsys):
    def refuse(*args, **kwargs):
        raise Refused("no room for https://me:pass-word-123@server")

    mlflow.client.log_batch = refuse
    assert main(["export", str(run), "--to", "mlflow"]) not in (0, None)
    said = capsys.readouterr().err
    assert "MLflow does not take the run" in said
    assert "pass-word-123" not in said
    assert mlflow.of("MlflowClient.set_terminated")[-1]["status"] == "FAILED"


class FakeRun:
    """A run of Weights & Biases."""

    id, dir, url, offline = "w1", "/somewhere/files", None, True

    def __init__(self, stand):
        self.log = stand.bound("Run.log", method=True)
        self.log_artifact = stand.bound("Run.log_artifact", method=True)
        self.ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True


def artifact_of(stand):
    def make(*args, **kwargs):
        made = stand.bound("Artifact")(*args, **kwargs)
        made.add_file = stand.bound("Artifact.add_file", method=True)
        return made

    return make


def test_wandb_is_called_as_it_wants_and_collects_nothing_else(run, monkeypatch):
    stand = Stand("wandb")
    stand._answers["init"] = fake = FakeRun(stand)
    names = {name: stand.bound(name) for name in ("init", "Settings", "Table")}
    install(monkeypatch, "wandb", **names, Artifact=artifact_of(stand), Error=Refused)
    with recorded(load_run(run)) as record:
        place = sent("wandb", record, Destination("me/quiz"))
    assert place == "Weights & Biases: /somewhere/files (not sent: wandb sync does)"
    (begun,) = stand.of("init")
    assert (begun["entity"], begun["project"], begun["config"]) == ("me", "quiz", dict(record.parameters))
    (settings,) = stand.of("Settings")
    assert (settings["disable_git"], settings["disable_code"], settings["console"]) == (True, True, "off")
    (logged,) = stand.of("Run.log")
    assert {name: value for name, value in logged["data"].items() if name != "instances"} == dict(record.metrics)
    assert len(logged["data"]["instances"].data) == 12
    assert len(stand.of("Artifact.add_file")) == 3
    assert fake.ended


def test_trackio_is_called_as_it_wants(run, monkeypatch):
    stand = Stand("trackio")
    stand._answers["init"] = types.SimpleNamespace(id="t1", name="scripted run")
    names = {name: stand.bound(name) for name in ("init", "log", "Table", "log_artifact", "finish")}
    install(monkeypatch, "trackio", **names, Artifact=artifact_of(stand))
    with recorded(load_run(run)) as record:
        place = sent("trackio", record, Destination())
    assert place == "trackio project proctor, run scripted run"
    (logged,) = stand.of("log")
    assert {name: value for name, value in logged["metrics"].items() if name != "instances"} == dict(record.metrics)
    assert [path for path, _ in stand.calls][-1] == "finish"
    assert len(stand.of("Artifact.add_file")) == 3


# -- on the command line ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mlflow", "wandb", "trackio"])
def test_a_package_that_is_missing_is_named_with_its_extra(name, run, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("proctor.exchange.trackers.find_spec", lambda package: None)
    assert main(["export", str(run), "--to", name]) != 0
    assert f"pip install 'proctor[{name}]'" in capsys.readouterr().err
    words = ["run", "--tasks", "samples.sentiment", "--model", "scripted", "--model-args", "answer=x"]
    folder = tmp_path / "out"
    assert main([*words, "--limit", "2", "--output", str(folder), "--output-format", name]) != 0
    assert f"pip install 'proctor[{name}]'" in capsys.readouterr().err
    assert not (folder / "results.json").exists()  # nobody was asked


def test_a_run_can_be_kept_when_it_ends(mlflow, tmp_path, capsys):
    words = ["run", "--tasks", "samples.sentiment", "--model", "scripted", "--model-args", "answer=x", "--limit", "2"]
    end = ["--output", str(tmp_path / "out"), "--log", str(tmp_path / "log.db"), "--output-format", "mlflow"]
    assert main([*words, *end]) == 0
    assert "kept in MLflow experiment proctor, run r1" in capsys.readouterr().err
    assert mlflow.of("MlflowClient.log_batch")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--to", "mlflow", "-o", "somewhere"], "has no effect on mlflow"),
        (["--to", "eee", "--project", "x"], "has no effect on eee"),
        (["--to", "wandb", "--model-id", "a/b"], "has no effect on wandb"),
    ],
)
def test_options_of_others_are_refused(words, said, run, capsys):
    assert main(["export", str(run), *words]) == 2
    assert said in capsys.readouterr().err


# -- the real packages --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default::DeprecationWarning")  # of SQLAlchemy, of how MLflow uses it
def test_mlflow_reads_back_what_it_was_told(run, tmp_path, monkeypatch):
    real = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    real.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    with recorded(load_run(run)) as record:
        sent("mlflow", record, Destination("quiz"))
    client = real.MlflowClient()
    experiment = client.get_experiment_by_name("quiz").experiment_id
    (found,) = client.search_runs([experiment])
    assert found.data.metrics == dict(record.metrics)
    assert found.data.params == {name: str(value) for name, value in record.parameters.items()}
    assert (found.info.status, found.info.start_time) == ("FINISHED", record.started)
    names = {each.path for each in client.list_artifacts(found.info.run_id)}
    assert names == {"instances.json", "results.json", "run.yaml", "samples.jsonl"}
    table = client.load_table(experiment, "instances.json", [found.info.run_id])
    assert [dict(row) for row in table.to_dict("records")] == list(record.rows)


def wandb_records(path):
    """Yield the records of an offline run: LevelDB's log format, blocks of 32 KiB."""
    from wandb.proto import wandb_internal_pb2

    data, place, parts = path.read_bytes(), 7, b""
    while place + 7 <= len(data):
        left = 32_768 - place % 32_768
        if left < 7:
            place += left
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


def test_wandb_reads_back_what_it_was_told(run, tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    with recorded(load_run(run)) as record:
        sent("wandb", record, Destination("quiz"))
    (file,) = tmp_path.rglob("*.wandb")
    history, config, files = {}, {}, set()
    for each in wandb_records(file):
        kind = each.WhichOneof("record_type")
        if kind == "history":
            history |= {
                item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in each.history.item
            }
        elif kind == "run":
            config |= {
                item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in each.run.config.update
            }
        elif kind == "artifact":
            files |= {entry.path for entry in each.artifact.manifest.contents}
    assert {name: history[name] for name in record.metrics} == dict(record.metrics)
    assert {name: config[name] for name in record.parameters} == dict(record.parameters)
    assert {"results.json", "run.yaml", "samples.jsonl"} <= files
    (table,) = tmp_path.rglob("*.table.json")
    found = json.loads(table.read_text())
    assert [dict(zip(found["columns"], row, strict=True)) for row in found["data"]] == list(record.rows)


def test_trackio_reads_back_what_it_was_told(run, tmp_path):
    pytest.importorskip("trackio")
    words = [sys.executable, "-m", "proctor", "export", str(run), "--to", "trackio", "--project", "quiz"]
    environment = {**os.environ, "TRACKIO_DIR": str(tmp_path / "kept")}  # read when it is imported
    subprocess.run(words, env=environment, cwd=tmp_path, check=True)
    with sqlite3.connect(tmp_path / "kept" / "quiz.db") as store:
        metrics, config, files = (
            json.loads(store.execute(f"select {name} from {table}").fetchone()[0])
            for name, table in (("metrics", "metrics"), ("config", "configs"), ("manifest", "artifact_versions"))
        )
    with recorded(load_run(run)) as record:
        assert {name: metrics[name] for name in record.metrics} == dict(record.metrics)
        assert {name: config[name] for name in record.parameters} == dict(record.parameters)
        assert metrics["instances"]["_value"] == list(record.rows)
        sizes = {file.name: file.stat().st_size for file in record.files}
    assert {each["path"]: each["size"] for each in files} == sizes
