"""Run folders of strangers: whatever lies in them, reading them gives a run or one message, soon."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests_pace import in_time

from proctor.cli.__main__ import main
from proctor.engines.replay import ReplayEngine
from proctor.errors import ProctorError, UsageError
from proctor.ir import Generate, Prompt
from proctor.running.spec import RunSpec
from proctor.runs.compare_runs import compare_runs
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import LONGEST_LINE
from proctor.runs.sample_query import SampleQuery
from proctor.runs.stored_run import load_run

SPEC = b"model: tiny\ntasks: [a]\nexams: {a: {}}\n"
RESULTS = {"results": {"a": {"score": 0.5, "score_name": "acc", "n": 1}}, "run": {"engine": {"label": "Tiny"}}}
SAMPLE = {"exam": "a", "doc_id": 0, "input": {"q": "x"}, "prompt": "p", "output": "o", "scores": {"score": 1.0}}
DEEP = 200_000
CPU_SECONDS = 2.0  # one is what is promised; machines that test are slower than those that work


def folder(path: Path, **files: Any) -> Path:
    contents = {"run.yaml": SPEC, "results.json": RESULTS, "samples.jsonl": SAMPLE}
    contents |= {name.replace("_", "."): value for name, value in files.items()}
    path.mkdir()
    for name, content in contents.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode() + b"\n")
    return path


def read(path: Path) -> str:
    """Read all of a run folder as commands do; return what is wrong with it."""
    began = time.process_time()
    run = load_run(path)
    if run.samples is not None:
        index = SampleIndex.of_run(run.samples, run.results)
        assert index.build()
        page = index.page(SampleQuery(order="score"))
        assert page.total == len(page.samples)
        index.page(SampleQuery(text="x"))
        index.exams()
        compare_runs(index, index)
    assert in_time(time.process_time() - began, CPU_SECONDS)
    return run.problem


BROKEN_JSON = {
    "deep lists": b"[" * DEEP,
    "deep and closed": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep inside": b'{"results": {"a": ' + b"[" * DEEP + b"]" * DEEP + b"}}",
    "digits": b"9" * 100_000,
    "digits inside": b'{"results": {"a": {"n": ' + b"9" * 100_000 + b"}}}",
    "no UTF-8": b"\xff\xfe\x00{",
    "no UTF-8 inside": b'{"results": {"\xff": {"score": 1}}}',
    "nothing": b"",
    "zeros": bytes(10_000),
    "a list": b"[1, 2]",
    "a word": b'"results"',
    "null": b"null",
    "not a number": b"NaN",
    "half": b'{"results": {"a": {"score": 0.',
    "infinite": b'{"results": {"a": {"score": 1e999, "n": -1}}, "run": {"seconds": Infinity}}',
    "lone surrogates": b'{"results": {"\\ud800": {"score": "\\udfff"}}, "run": {"engine": {"label": "\\ud800"}}}',
}


@pytest.mark.parametrize("what", BROKEN_JSON)
def test_results_of_any_content(tmp_path, what):
    read(folder(tmp_path / "run", results_json=BROKEN_JSON[what]))


ODD: list[Any] = [None, True, -1, 1e308, 10**30, "text", "\ud800", [], [[]], {}, {"a": {"b": []}}, "x" * 10_000]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
@pytest.mark.parametrize("name", ["results", "run", "a", "score", "score_name", "n", "groups", "engine", "unit"])
def test_results_of_any_type(tmp_path, name, odd):
    entry: dict[str, Any] = {"score": 0.5, "score_name": "acc", "n": 1, name: odd}
    document: dict[str, Any] = {"results": {"a": entry}, "run": {"engine": {"label": "Tiny"}, name: odd}}
    if name in ("results", "run"):
        document[name] = odd
    if name == "a":
        document["results"] = {"a": odd}
    read(folder(tmp_path / "run", results_json=document))


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
@pytest.mark.parametrize("name", [*SAMPLE, "failure", "scoring_failure", "prediction", "references", "continuations"])
def test_samples_of_any_type(tmp_path, name, odd):
    grouped = {"results": {"a": {"score": 1, "groups": [{"by": {"q": "x"}, "score": 1.0}]}}}
    lines = [{**SAMPLE, name: odd}, {**SAMPLE, "scores": {"score": odd}}, {**SAMPLE, "input": {"q": odd}}]
    text = b"\n".join(json.dumps(line).encode() for line in lines)
    path = folder(tmp_path / "run", results_json=grouped, samples_jsonl=text)
    read(path)
    assert load_run(path).samples is not None


@pytest.mark.parametrize("what", BROKEN_JSON)
def test_samples_of_any_content(tmp_path, what):
    text = json.dumps(SAMPLE).encode() + b"\n" + BROKEN_JSON[what] + b"\n" + json.dumps(SAMPLE).encode() + b"\n"
    path = folder(tmp_path / "run", samples_jsonl=text)
    read(path)
    index = SampleIndex(path / "samples.jsonl")
    index.build()
    page = index.page(SampleQuery())
    assert (page.total, page.samples[0].record, page.samples[-1].record) == (3, SAMPLE, SAMPLE)


def test_a_line_without_end_is_a_broken_line(tmp_path):
    path = folder(tmp_path / "run")
    with (path / "samples.jsonl").open("r+b") as file:
        file.truncate(LONGEST_LINE + 10_000)  # a hole: no disk is filled
    index = SampleIndex(path / "samples.jsonl")
    index.build()
    assert index.page(SampleQuery(failed=True)).total >= 1


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
RUN_FILES = {
    "laughs": LAUGHS.encode(),
    "laughs in a field": b"model: m\ntasks: [a]\noverrides:\n"
    + "".join(f"  {x}\n" for x in LAUGHS.splitlines()).encode(),
    "a circle": b"model: m\ntasks: [a]\noverrides: &x {again: *x}\n",
    "a circle of lists": b"&x [*x]",
    "deep": b"[" * 50_000,
    "deep in a field": b"model: m\ntasks: [a]\nmodel_args: " + b"{a: " * 300 + b"1" + b"}" * 300,
    "deep by lines": b"".join(b" " * n + b"a:\n" for n in range(3000)),
    "python": b"!!python/object/apply:os.system [id]",
    "a number": b"model: m\ntasks: [a]\nlimit: !!int x\n",
    "a long number": b"model: m\ntasks: [a]\nlimit: " + b"9" * 100_000,
    "a date": b"model: m\ntasks: [a]\nlimit: 9999-99-99\n",
    "not UTF-8": b"model: \xff\xfe\n",
    "a list": b"[1]",
    "nothing": b"",
    "controls": b"model: \x00\x1b[2J\ntasks: [a]",
    "keys": b"? [1, 2]\n: 3\n",
    "keys that are lists": b"model: m\ntasks: [a]\nmodel_args: {? [1]: 2}\n",
    "merges": b"model: m\ntasks: [a]\nmodel_args: {<<: 3}\n",
    "documents": b"model: m\ntasks: [a]\n---\nmodel: n\n",
    "binary": b"model: m\ntasks: [a]\nlimit: !!binary x\n",
    "tasks of any type": b"model: m\ntasks: [[a], {b: c}, 3]\n",
    "model of any type": b"model: {a: b}\ntasks: [a]\n",
    "huge": b"model: m\ntasks: [a]\n#" + b"x" * (17 << 20),
    "many words": b"model: m\ntasks: [" + b"a," * 100_000 + b"]",
}


@pytest.mark.parametrize("what", RUN_FILES)
def test_run_files_of_any_content(tmp_path, what):
    path = folder(tmp_path / "run", run_yaml=RUN_FILES[what])
    read(path)
    began = time.process_time()
    try:
        RunSpec.load(path).differences(RunSpec("m", ("a",)))
    except UsageError as error:
        assert error.diagnostics
        assert len(str(error)) < 5_000
    else:
        assert what in ("many words", "documents")
    assert in_time(time.process_time() - began, CPU_SECONDS)


@pytest.mark.parametrize("name", ["run.yaml", "results.json", "samples.jsonl", ".progress.json"])
@pytest.mark.parametrize("kind", ["link", "link above", "pipe", "folder", "device"])
def test_files_elsewhere_are_not_read(tmp_path, name, kind):
    secret = "a secret that lies elsewhere"
    (tmp_path / "secret").write_text(f"{secret}: [")
    path = folder(tmp_path / "run")
    (path / name).unlink(missing_ok=True)
    match kind:
        case "link":
            (path / name).symlink_to(tmp_path / "secret")
        case "link above":
            (path / name).symlink_to("../secret")
        case "pipe":
            os.mkfifo(path / name)
        case "folder":
            (path / name).mkdir()
        case "device":
            (path / name).symlink_to("/dev/zero")
    problem = read(path)
    assert secret not in problem
    run = load_run(path)
    assert run.samples is None or name != "samples.jsonl"
    if name != ".progress.json" and kind in ("link", "link above"):
        assert "leads out of its folder" in problem or name == "run.yaml"
        assert run.state == "damaged"


@pytest.mark.parametrize("what", [*BROKEN_JSON, "link"])
def test_recorded_answers_of_strangers(tmp_path, what):
    path = folder(tmp_path / "run", samples_jsonl=BROKEN_JSON.get(what, b"{}"))
    if what == "link":
        (tmp_path / "secret").write_text('{"prompt": "p", "output": "secret"}')
        (path / "samples.jsonl").unlink()
        (path / "samples.jsonl").symlink_to("../secret")
    engine = ReplayEngine(path=str(path))
    try:
        ((_, response),) = engine.generate([Generate(Prompt("p"))])
    except ProctorError as error:
        assert len(error.diagnostics) == 1
    else:
        assert "secret" not in str(response)


def test_a_file_shipped_in_the_folder_is_not_taken_for_the_index(tmp_path):
    path = folder(tmp_path / "run")
    index = SampleIndex(path / "samples.jsonl")
    index.build()
    assert not index.index.is_relative_to(path)
    for name in (index.index.name, "indexes", "index.db"):
        (path / name).write_bytes(index.index.read_bytes())
    (path / "samples.jsonl").write_bytes(json.dumps({**SAMPLE, "exam": "b"}).encode() + b"\n" * 3)
    again = SampleIndex(path / "samples.jsonl")
    again.build()
    assert (again.exams()[0], again.index != index.index) == ("b", True)


@pytest.mark.parametrize("command", [["compare"], ["report", "-o", "out.md"], ["report", "-o", "out.html"]])
@pytest.mark.parametrize("what", BROKEN_JSON)
def test_commands_end_with_a_message(tmp_path, monkeypatch, capsys, command, what):
    monkeypatch.chdir(tmp_path)
    path = str(folder(tmp_path / "run", results_json=BROKEN_JSON[what], samples_jsonl=BROKEN_JSON[what]))
    folders = [path, path] if command[0] == "compare" else [path]
    with pytest.raises(SystemExit) as ended:
        sys.exit(main([command[0], *folders, *command[1:]]))
    said = capsys.readouterr()
    assert ended.value.code in (None, 0, 1, 2, 3), said.err
