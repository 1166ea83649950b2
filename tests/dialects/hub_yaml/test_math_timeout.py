"""``timeout`` of the scorer ``math`` bounds nothing here, and that is said; a senseless one is refused."""

import json

import pytest
import yaml

from proctor.cli.__main__ import main


@pytest.fixture
def hub(tmp_path, monkeypatch):
    pytest.importorskip("latex2sympy2_extended")
    place = tmp_path / "hub" / "org" / "sums"
    place.mkdir(parents=True)
    (place / "test.jsonl").write_text(json.dumps({"q": "1/4 + 1/4?", "a": "1/2"}) + "\n")
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)

    def write(**args):
        scorer = {"name": "math", "args": args} if args else {"name": "math"}
        task = {"id": "sums", "split": "test", "field_spec": {"input": "q", "target": "a"}}
        task |= {"solvers": [{"name": "generate"}], "scorers": [scorer]}
        (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [task]}))

    return write


RUN = ["run", "--tasks", "hf/org/sums", "--model", "scripted", "--model-args", "answer=0.5", "--log", "l.db", "-o"]


def test_a_timeout_is_said_to_have_no_effect(hub, capsys):
    hub()
    assert main([*RUN, "plain"]) == 0
    assert "without effect" not in capsys.readouterr().err
    hub(timeout=5)
    assert main([*RUN, "timed"]) == 0
    said = capsys.readouterr().err
    assert "without effect here: scorers[0].args.timeout (formulas are bounded by their size" in said


def test_a_timeout_that_makes_no_sense_is_refused(hub, capsys):
    hub(timeout=-1)
    assert main([*RUN, "out"]) != 0
    assert "math has -1 seconds" in capsys.readouterr().err
