"""``proctor.compare``: what the command says, as values."""

import json

import pytest

import proctor
from proctor.cli.__main__ import main
from proctor.errors import UsageError

ROWS = [{"question": f"{number}?", "answer": "yes"} for number in range(30)]


def made(folder, count):
    return proctor.run(
        ROWS,
        lambda prompt: "yes" if int(prompt[:-1]) < count else "no",
        metric="exact_match",
        output=folder,
        log="log.db",
    )


def test_runs_are_compared_as_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = made("a", 10), made("b", 25)
    (found,) = proctor.compare(first, second)
    assert (found.baseline, found.run) == ("a", "b")
    (exam,) = found.exams
    assert (exam.difference, exam.decision) == (0.5, "better")
    capsys.readouterr()
    assert main(["compare", "a", "b", "--json"]) == 0
    assert capsys.readouterr().out == json.dumps([{"run": "b", "baseline": "a", **exam.record("b")}], indent=2) + "\n"
    three = proctor.compare("a", tmp_path / "b", "b::rows")
    assert [each.exams[0].comparisons for each in three] == [2, 2]


def test_what_cannot_be_compared_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = proctor.run(ROWS[:1], lambda prompt: "yes", metric="exact_match", log="log.db")
    with pytest.raises(UsageError, match="lie in no folder"):
        proctor.compare("a", result)
    with pytest.raises(UsageError, match="one run alone"):
        proctor.compare("a")
    with pytest.raises(UsageError, match="a is not a run folder"):
        proctor.compare("a", "b")
