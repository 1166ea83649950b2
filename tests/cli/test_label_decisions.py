"""``compare``, ``gate`` and ``plan`` by scores that labels correct: one method behind sentence, interval, p and exit code."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from proctor.recipes.fingerprint import instance_digest

COUNT = 400
RATES = {"a": (0.95, 0.4), "b": (0.6, 1.0)}
"""Sensitivity and specificity of the judge on the answers of each run: it likes the style of ``a``."""
RIGHT = {"a": 0.5, "b": 0.75}


def _truth(run: str, number: int) -> bool:
    return random.Random(f"{run} {number}").random() < RIGHT[run]


def _verdict(run: str, number: int) -> float:
    right, stream = _truth(run, number), random.Random(f"judge {run} {number}")
    return float(stream.random() < RATES[run][0]) if right else float(stream.random() >= RATES[run][1])


def _write(run: str, *, failed: int = 0, **entry) -> None:
    lines = []
    for number in range(COUNT):
        fields = {"question": f"Question {number}?"}
        line = {"exam": "quiz", "doc_id": number, "instance": instance_digest(fields), "input": fields}
        line |= {"output": f"{run} says {number}", "scores": {"judge": _verdict(run, number)}}
        lines.append(line if number >= failed else {**line, "scores": {}, "failure": {"kind": "engine"}})
    scores = [each["scores"]["judge"] for each in lines if each["scores"]]
    entry = {"score_name": "judge", "unit": "share", "n": COUNT, "score": sum(scores) / len(scores), **entry}
    Path(run).mkdir()
    Path(run, "results.json").write_text(json.dumps({"results": {"quiz": entry}, "run": {}}))
    Path(run, "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def _label(invoke, run: str, count: int = 150) -> str:
    code, _, err = invoke("judge", "label", run, "-o", f"{run}.csv", "--count", str(count))
    assert code == 0, err
    with Path(f"{run}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = str(int(_truth(*row["answer"].split(" says "))))
    with Path(f"{run}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return f"{run}.csv"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def labels(invoke) -> list[str]:
    for run in RIGHT:
        _write(run)
    return [word for run in RIGHT for word in ("--labels", _label(invoke, run))]


def test_labels_turn_a_decision_and_everything_is_of_one_method(labels, invoke):
    code, out, _ = invoke("compare", "a", "b", "--json", "--fail-if-worse")
    (plain,) = json.loads(out)
    assert (code, plain["decision"]) == (1, "worse")
    code, out, _ = invoke("compare", "a", "b", "--json", "--fail-if-worse", *labels)
    (row,) = json.loads(out)
    assert (code, row["decision"], row["verdict"], row["sentence"]) == (0, "better", "passed", "b is better")
    assert row["test"] == "prediction-powered"
    assert 0 < row["low"] < row["difference"] < row["high"]
    assert row["p"] < 0.05
    assert (row["better"], row["worse"]) == (0, 0)
    truth = sum(_truth("b", n) - _truth("a", n) for n in range(COUNT)) / COUNT
    assert row["low"] < truth < row["high"]
    code, out, _ = invoke("report", "a", "b", "--json", *labels)
    [(_, _, told)] = json.loads(out)["differences"]
    assert told == pytest.approx([row["difference"], row["low"], row["high"]])
    assert [each["corrected"][0] for each in json.loads(out)["scores"]] == pytest.approx([row["first"], row["second"]])
    code, out, _ = invoke("compare", "a", "b", *labels)
    assert code == 0
    assert "corrected by labels: 150 of a and 150 of b" in " ".join(out.split())
    assert " worse, " not in out


def test_answers_without_a_score_leave_it_open_what_they_would_score(labels, invoke):
    Path("b/samples.jsonl").unlink()
    Path("b/results.json").unlink()
    Path("b").rmdir()
    _write("b", failed=100)
    Path("b.csv").unlink()
    _label(invoke, "b")
    code, out, _ = invoke("compare", "a", "b", "--json", "--fail-if-worse", *labels)
    (row,) = json.loads(out)
    assert (row["decision"], row["unanswered"]) == ("undecided", 100)
    assert code == 0  # whatever they would have scored, b is not worse
    assert "it depends on them" in row["sentence"]
    assert row["high"] - row["low"] > 0.5


@pytest.mark.parametrize(
    "count,entry,message",
    [
        (100, {"score": 0.123}, "labels correct means of instances"),
        (None, {}, "none of its answers has a label, and 10 are the fewest"),
    ],
)
def test_labels_that_cannot_correct_are_refused(invoke, count, entry, message):
    _write("a")
    _write("b", **entry)
    labels = [word for run in ("ab" if count else "a") for word in ("--labels", _label(invoke, run))]
    code, out, _ = invoke("compare", "a", "b", "--json", *labels)
    (row,) = json.loads(out)
    assert code == 1
    assert message in row["refused"]
    assert row["difference"] is None


def test_a_plan_says_how_many_labels_halve_the_interval(labels, invoke):
    code, out, _ = invoke("plan", "a", *labels[:2])
    assert code == 0
    assert "by 150 labels; no labels halve it: labels of all answers leave " in out
    Path("a.csv").unlink()
    few = _label(invoke, "a", 30)
    code, out, _ = invoke("plan", "a", "--labels", few, "--json")
    (score,) = json.loads(out)["scores"]
    more, (_, low, high) = score["labels_to_halve"], score["corrected"]
    assert 60 < more < 250
    assert score["least_width"] < 0.5
    Path("a.csv").unlink()
    many = _label(invoke, "a", 30 + more)
    _, out, _ = invoke("plan", "a", "--labels", many, "--json")
    _, less, most = json.loads(out)["scores"][0]["corrected"]
    assert (most - less) / (high - low) == pytest.approx(0.5, abs=0.1)


def test_a_plan_of_labels_refuses_what_has_no_effect(labels, invoke):
    code, _, err = invoke("plan", "a", "--difference", "0.1", *labels)
    assert code == 2
    assert "--difference has no effect" in err
    code, _, err = invoke("plan", *labels)
    assert code == 2
    code, _, err = invoke("plan", "a")
    assert code == 2
    assert "no labels are kept" in err


RUN = ("samples.arithmetic", "--model", "scripted", "--model-args", "answer=12", "--log", "log.db")


@pytest.fixture
def asked(invoke) -> str:
    """A run whose answers are all called wrong, and labels that call nine of ten right."""
    code, _, err = invoke("run", *RUN, "--log-samples", "--output", "base")
    assert code == 0, err
    invoke("judge", "label", "base", "--count", "60", "-o", "l.csv")
    rows = list(csv.DictReader(Path("l.csv").read_text().splitlines()))
    lines = [
        f"{row['answer_id']},{int(place % 10 > 0)},{row['stands_for']},{row['draw']}" for place, row in enumerate(rows)
    ]
    Path("l.csv").write_text("\n".join(["answer_id,label,stands_for,draw", *lines]))
    return "l.csv"


def test_a_gate_decides_by_corrected_scores(asked, invoke):
    assert invoke("gate", *RUN, "--at-least", "0.7")[0] == 1
    code, out, _ = invoke("gate", *RUN, "--at-least", "0.7", "--labels", asked)
    assert code == 0, out
    assert "82 of 82 questions were asked" in out
    assert "on all questions" not in out
    assert "corrected by 60 labels" in out
    code, out, _ = invoke("gate", *RUN, "--at-least", "0.88", "--labels", asked, "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["requests"]["asked"]) == (4, "undecided", 0)
    (exam,) = found["exams"]
    assert exam["low"] < 0.88 < exam["high"]
    assert exam["is_corrected"]
    code, out, _ = invoke("gate", *RUN, "--baseline", "base", "--labels", asked, "--margin", "0.2")
    assert code == 0, out
    assert "The difference of accuracy is +0.00 points" in out.replace("the difference", "The difference")


@pytest.mark.parametrize(
    "more,message",
    [
        (("--baseline", "base", "--instance-scores"), "--instance-scores would have no effect"),
        (("--save-baseline", "x.json"), "--labels would have no effect"),
        (("--baseline", "scores.json"), "labels are of answers, and scores.json has scores alone"),
        (("--at-least", "0.5", "--budget-tokens", "1", "--log", "other.db"), "the budget ended"),
        (("--baseline", "base", "--limit", "40"), "is of another"),
    ],
)
def test_what_a_gate_cannot_do_with_labels(asked, invoke, more, message):
    Path("scores.json").write_text("{}")
    code, _, err = invoke("gate", *RUN, "--labels", asked, *more)
    assert code in (1, 2), err
    assert message in err


def test_labels_that_are_kept_are_used_by_every_run_with_these_answers(labels, invoke):
    for run in RIGHT:
        code, _, err = invoke("judge", "label", run, "--from", f"{run}.csv", "--who", "Ann")
        assert (code, "150 labels of Ann are kept" in err) == (0, True)
    _, out, _ = invoke("compare", "a", "b", "--json", *labels)
    (named,) = json.loads(out)
    code, out, _ = invoke("compare", "a", "b", "--json")
    (kept,) = json.loads(out)
    assert {name: kept[name] for name in ("low", "high", "p", "first")} == {
        name: named[name] for name in ("low", "high", "p", "first")
    }
    assert f"as kept in {Path('a/labels.jsonl').resolve()}" in kept["notes"][-1]
    Path("later").mkdir()  # the same answers, judged anew
    Path("later/results.json").write_bytes(Path("b/results.json").read_bytes())
    Path("later/samples.jsonl").write_bytes(Path("b/samples.jsonl").read_bytes())
    code, out, _ = invoke("compare", "a", "later", "--json")
    assert json.loads(out)[0]["low"] == named["low"]
    code, out, err = invoke("report", "later", "-o", "r.md")
    assert "labels of these answers are kept: it has corrected scores" in err
    assert "Scores corrected by labels" in Path("r.md").read_text()
    code, out, err = invoke("report", "later", "-o", "r.csv")
    assert "corrected scores are in reports as html and md" in err
    code, out, _ = invoke("plan", "later")
    assert code == 0
    assert "by 150 labels" in out
    Path("r.html").unlink(missing_ok=True)
    invoke("report", "a", "later", "-o", "r.html")
    assert "prediction-powered" in Path("r.html").read_text()


def test_kept_labels_of_one_run_alone_leave_a_comparison_as_judged_and_say_so(labels, invoke):
    invoke("judge", "label", "a", "--from", "a.csv", "--who", "Ann")
    _, out, _ = invoke("compare", "a", "b", "--json")
    (row,) = json.loads(out)
    assert row["test"] == "mcnemar"
    assert "as judged, although labels are kept in" in row["notes"][-1]
    assert "the other run has no labels" in row["notes"][-1]


def test_the_last_label_of_each_person_counts(labels, invoke):
    for value in ("1", "0", ""):
        Path("own.csv").write_text("answer_id,label\n" + "".join(f"{key},{value}\n" for key in _keys("a")[:20]))
        invoke("judge", "label", "a", "--from", "own.csv", "--who", "Ann")
        _, out, _ = invoke("report", "a", "--labels", "a/labels.jsonl", "--json")
        assert json.loads(out)["scores"][0]["corrected"][0] == (1.0 if value == "1" else 0.0)
    with Path("a/labels.jsonl").open("a") as file:
        file.write('{"answer": 3}\n[1]\nnothing\n{"answer": "x", "label": "1e400"}\n' + "[" * 100_000 + "\n")
    code, out, _ = invoke("plan", "a")
    assert (code, "by 20 labels" in out) == (0, True)


def _keys(run: str) -> list[str]:
    from proctor.runs.answer_labels import answers_of
    from proctor.runs.stored_run import load_run

    return answers_of(load_run(Path(run)), "quiz").keys


@pytest.mark.parametrize(
    "more,message",
    [
        (("--from", "b.csv", "--who", "Ann"), "b.csv has labels of another run"),
        (("--from", "a.csv"), "--from and --who go together"),
        (("--who", "Ann"), "--from and --who go together"),
        (("--from", "a.csv", "--who", "Ann", "--count", "20"), "--count has no effect with --from"),
        (("--from", "a.csv", "--who", "x" * 101), "a labeller's name of 1 to 100 characters"),
        (("--from", "a.csv", "--who", " "), "a labeller's name of 1 to 100 characters"),
    ],
)
def test_labels_that_cannot_be_kept_are_refused(labels, invoke, more, message):
    code, _, err = invoke("judge", "label", "a", *more)
    assert code == 2
    assert message in err
    assert not Path("a/labels.jsonl").exists()


def test_labels_of_other_runs_beside_say_nothing_here(labels, invoke):
    for who, value in (("Ann", "1"), ("Bob", "0")):  # of the answers of b, on which they agree nowhere
        Path("own.csv").write_text("answer_id,label\n" + "".join(f"{key},{value}\n" for key in _keys("b")[:20]))
        assert invoke("judge", "label", "b", "--from", "own.csv", "--who", who)[0] == 0
    invoke("judge", "label", "a", "--from", "a.csv", "--who", "Ann")
    code, out, _ = invoke("plan", "a")
    assert (code, "by 150 labels" in out) == (0, True)
    code, _, err = invoke("plan", "b")
    assert code == 2
    assert "the labellers agree on none of 20 answers" in err
    code, _, err = invoke("report", "b", "-o", "b.md")
    assert "the labels that are kept are not used: the labellers agree on none" in err
    assert "corrected" not in Path("b.md").read_text()
    code, out, _ = invoke("judge", "report", "a", "--json")
    assert "10 answers with labels of two people tell how far people agree" in json.loads(out)["missing"]


def test_labels_of_answers_that_the_other_run_failed_to_give_do_not_count(invoke):
    _write("a")
    _write("b", failed=COUNT - 15)
    keys, failed = _keys("a"), COUNT - 15
    rows = [
        f"{key},{int(_truth('a', number))}" for number, key in enumerate(keys) if number < failed or number > COUNT - 6
    ]
    Path("a.csv").write_text("answer_id,label\n" + "\n".join(rows))
    Path("b.csv").write_text("answer_id,label\n" + "\n".join(f"{key},1" for key in _keys("b")))
    _, out, _ = invoke("compare", "a", "b", "--json", "--labels", "a.csv", "--labels", "b.csv")
    (row,) = json.loads(out)
    assert "labels do not correct a: 5 of its answers have a label" in row["refused"]


def test_the_viewer_compares_by_the_labels_that_are_kept(labels, invoke):
    from starlette.testclient import TestClient

    from proctor.web.app import create_app

    for run in RIGHT:
        invoke("judge", "label", run, "--from", f"{run}.csv", "--who", "Ann")
    app = create_app([Path()])
    client = TestClient(app, base_url="http://127.0.0.1:7700")
    client.headers["authorization"] = f"Bearer {app.state.access.token}"
    ids = {run.path.name: run_id for run_id, run in app.state.library.runs()}
    page = client.get(f"/compare?run={ids['a']}&run={ids['b']}").text
    _, out, _ = invoke("compare", "a", "b", "--json")
    assert f"{json.loads(out)[0]['difference']:+.4f}" in page
    assert "b is better" in page
    assert "corrected by labels" in page
