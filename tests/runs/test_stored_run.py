import json
import os
import time
from dataclasses import replace

from proctor.ir import Response, Usage
from proctor.running.progress import Progress, SilentObserver
from proctor.running.progress_file import PROGRESS, STALE_SECONDS, ProgressFileObserver
from proctor.running.spec import RunSpec
from proctor.runs.stored_run import find_runs, is_run, load_run
from proctor.settings import settings

SPEC = "model: tiny\ntasks: [b, a]\nexams: {b: {}, a: {}}\n"


def test_a_finished_run(tmp_path):
    (tmp_path / "run.yaml").write_text(SPEC)
    entries = {"a": {"score": 0.5}, "b": {"score": 1.0}}
    (tmp_path / "results.json").write_text(json.dumps({"results": entries, "run": {"engine": {"label": "Tiny 1B"}}}))
    run = load_run(tmp_path)
    assert (run.state, run.problem, run.model, run.exams) == ("done", "", "Tiny 1B", ["b", "a"])
    assert list(run.results) == ["b", "a"]
    assert run.samples is None


def test_a_run_that_was_stopped(tmp_path):
    (tmp_path / "run.yaml").write_text(SPEC)
    run = load_run(tmp_path)
    assert (run.state, run.model, run.exams, run.results) == ("stopped", "tiny", ["b", "a"], {})


def test_a_folder_that_is_no_run_is_damaged_not_an_error(tmp_path):
    assert not is_run(tmp_path)
    assert load_run(tmp_path).state == "damaged"


def test_results_without_a_run_file_are_still_shown(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps({"results": {"a": {"score": 0.5}, "odd": 3}, "run": []}))
    run = load_run(tmp_path)
    assert run.state == "damaged"
    assert "run.yaml" in run.problem
    assert run.results == {"a": {"score": 0.5}}


def test_runs_are_found_in_folders_but_not_through_links(tmp_path):
    for name in ("runs/one", "runs/group/two", "elsewhere/three", "runs/.hidden"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.yaml").write_text(SPEC)
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert {path.name for path in find_runs(tmp_path / "runs")} == {"one", "two"}
    assert list(find_runs(tmp_path / "runs" / "one")) == [tmp_path / "runs" / "one"]
    assert list(find_runs(tmp_path / "nothing")) == []


def test_progress_can_be_watched_and_disappears(tmp_path):
    (tmp_path / "run.yaml").write_text(SPEC)
    observer = ProgressFileObserver(SilentObserver(), tmp_path)
    progress = Progress(total=10, started=time.monotonic())
    progress.count(Response(texts=("x",), usage=Usage(3, 1)))
    observer.started(["a"], "tiny")
    observer.asking(progress)
    run = load_run(tmp_path)
    assert run.state == "running"
    assert (run.progress["total"], run.progress["done"], run.progress["prompt_tokens"]) == (10, 1, 3)
    observer.grading("a")
    observer.finished()
    assert load_run(tmp_path).state == "stopped"
    assert [path.name for path in tmp_path.iterdir()] == ["run.yaml"]


def test_progress_of_a_run_that_died_is_old(tmp_path):
    (tmp_path / "run.yaml").write_text(SPEC)
    (tmp_path / PROGRESS).write_text('{"done": 1}')
    old = time.time() - STALE_SECONDS - 1
    os.utime(tmp_path / PROGRESS, (old, old))
    assert load_run(tmp_path).state == "stopped"


def test_a_folder_that_cannot_be_written_does_not_stop_the_run(tmp_path):
    observer = ProgressFileObserver(SilentObserver(), tmp_path / "nothing")
    observer.asking(Progress())
    observer.finished()


def test_what_a_long_run_file_says_is_kept_and_read_anew_where_it_changes(tmp_path, monkeypatch):
    exams = {f"e{number}": {"k": "v" * 99} for number in range(200)}
    spec = RunSpec("m", ("a", "b"), limit=3, tags=("x",), log_samples=False, exams=exams)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.yaml").write_text(spec.to_yaml())
    with settings.context(cache_dir=str(tmp_path / "cache")):
        assert load_run(folder).spec == spec
        with monkeypatch.context() as patch:
            patch.setattr(RunSpec, "load", classmethod(lambda *_: 1 / 0))
            assert load_run(folder).spec == spec
        (folder / "run.yaml").write_text(replace(spec, limit=4).to_yaml())
        assert load_run(folder).spec == replace(spec, limit=4)
        for kept in (tmp_path / "cache" / "specs").iterdir():
            kept.write_text("{")
        assert load_run(folder).spec == replace(spec, limit=4)
