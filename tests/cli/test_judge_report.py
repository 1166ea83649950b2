"""``proctor judge report``: what labels, reversed orders, other wordings and other versions say of a judge."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from proctor.recipes.fingerprint import instance_digest
from proctor.runs.answer_labels import answers_of
from proctor.runs.stored_run import load_run

COUNT = 400
JUDGED = [{"judge": "judge", "models": ["gpt"]}]


def _write(run, scores, *, model="m", words=lambda number: "word " * (number % 7), judged=JUDGED, **entry):
    """Write a run; ``scores`` gives those of an instance by its number."""
    lines = []
    for number in range(COUNT):
        fields = {"question": f"Question {number}?"}
        line = {"exam": "quiz", "doc_id": number, "instance": instance_digest(fields), "input": fields, "prompt": "p"}
        lines.append({**line, "output": f"{words(number)}answer {number}", "scores": scores(number)})
    mean = sum(each["scores"]["judge"] for each in lines) / COUNT
    entry = {"score_name": "judge", "unit": "share", "n": COUNT, "score": mean, "judged": judged, **entry}
    Path(run).mkdir()
    run_facts = {"engine": {"label": model}, "judges": {"gpt": {}}}
    Path(run, "results.json").write_text(json.dumps({"results": {"quiz": entry}, "run": run_facts}))
    Path(run, "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def _label(run, truth, who="Ann", share=0.5):
    answers = answers_of(load_run(Path(run)), "quiz")
    stream = random.Random(f"labels {run}")
    rows = [(key, int(truth(number))) for number, key in enumerate(answers.keys) if stream.random() < share]
    Path(f"{run}-{who}.csv").write_text("answer_id,label\n" + "".join(f"{key},{value}\n" for key, value in rows))
    return ["--labels", f"{run}-{who}.csv"]


def _report(invoke, *arguments):
    code, out, err = invoke("judge", "report", *arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    return {(each["of"], each["what"]): each for each in found["measures"]}, found


def _right(number, share=0.6, name=""):
    return random.Random(f"right {name}{number}").random() < share


def _says(number, right, wrong=0.2, name=""):
    return float(random.Random(f"says {name}{number}").random() < (right if _right(number, name="") else wrong))


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_labels_say_how_often_it_is_right(invoke):
    _write("a", lambda number: {"judge": _says(number, 0.9)})
    found, whole = _report(invoke, "a", *_label("a", _right))
    hits = found["quiz, a", "accuracy"]
    assert hits["low"] < 0.6 * 0.9 + 0.4 * 0.8 < hits["high"]
    for what in ("Cohen's kappa", "Gwet's AC1", "Krippendorff's alpha, nominal", "Krippendorff's alpha, interval"):
        each = found["quiz, a", what]
        assert 0 < each["low"] < each["value"] < each["high"] < 1
        assert each["count"] == hits["count"]
    length = found["quiz, a", "more often right where longer, of equally right answers"]
    assert length["low"] < 0 < length["high"]
    assert any("position" in each for each in whole["missing"])
    assert any("self-preference" in each for each in whole["missing"])
    assert any("labels of two people" in each for each in whole["missing"])
    code, out, _ = invoke("judge", "report", "a")
    assert code == 0
    assert "10 labels tell how good the judge is, and 0 have a verdict" in out


def test_a_judge_that_likes_long_answers_is_found_out_although_long_answers_are_better(invoke):
    def words(number):
        return "word " * (5 if _right(number) == (number % 4 > 0) else 1)

    _write("fair", lambda number: {"judge": _says(number, 0.8)}, words=words)
    _write("fond", lambda number: {"judge": float(_says(number, 0.6) or len(words(number)) > 20)}, words=words)
    what = "more often right where longer, of equally right answers"
    for run, low, high in (("fair", -0.15, 0.15), ("fond", 0.3, 1.0)):
        each = _report(invoke, run, *_label(run, _right))[0][f"quiz, {run}", what]
        assert low < each["value"] < high
        assert (each["low"] > 0) == (run == "fond")


def test_a_judge_that_prefers_itself_is_found_out(invoke):
    _write("own", lambda number: {"judge": _says(number, 0.95, 0.7)}, model="gpt")
    _write("other", lambda number: {"judge": _says(number, 0.8, 0.2)}, words=lambda number: "other ")
    found, _ = _report(invoke, "own", "other", *_label("own", _right), *_label("other", _right))
    each = found["quiz, own against other", "own answers overrated, more"]
    truth = 0.6 * 0.15 + 0.4 * 0.5
    assert 0 < each["low"] < truth < each["high"]


def test_the_order_of_answers_changes_verdicts(invoke):
    def scores(number):
        first = "x" if number % 4 else "y"  # of 100 contests in four orders, one flips to the second
        found = {"judge": 1.0}
        for name, other in (("x", "y"), ("y", "x")):
            found |= {f"{name}_response_name": name, f"{name}_compared_to": [other], f"{name}_selections": [first]}
            second = {"x": "y", "y": "x"}[first] if number % 2 == 0 else first
            found |= {f"{name}_positional_bias_selection": [second], f"{name}_winrate": float(first == name)}
        return found

    _write("a", scores)
    found, _ = _report(invoke, "a")
    assert found["quiz, a", "verdicts that the order changed"]["count"] == COUNT
    assert found["quiz, a", "verdicts that the order changed"]["value"] == 0.5
    assert found["quiz, a", "of these, the first shown won"]["value"] == 0.5
    assert found["quiz, a", "of these, the first shown won"]["count"] == COUNT / 2


def test_two_wordings_of_a_criterion_are_compared(invoke):
    _write(
        "a",
        lambda number: {
            "judge": _says(number, 0.9),
            "judge_2": 1.0 - float(number % 10 == 0) if _says(number, 0.9) else 0.0,
        },
    )
    found, whole = _report(invoke, "a")
    each = found["quiz, a: judge_2 against judge", "verdicts that differ"]
    assert 0 < each["low"] < each["value"] < each["high"] < 0.15
    assert found["quiz, a: judge_2 against judge", "mean score, more"]["high"] < 0
    assert len(whole["flipped"]) == round(each["value"] * COUNT)


def test_another_version_of_a_judge_drifts_and_the_same_one_asked_twice_is_told_apart(invoke):
    _write("old", lambda number: {"judge": _says(number, 0.9)})
    _write("new", lambda number: {"judge": _says(number, 1.0, 0.6)}, judged=[{"judge": "judge", "models": ["gpt-2"]}])
    _write("again", lambda number: {"judge": _says(number, 0.9)})
    found, whole = _report(invoke, "old", "new", "again")
    each = found["quiz, new against old (gpt-2 after gpt)", "mean score, more"]
    assert each["low"] > 0
    assert found["quiz, again against old (one judge twice)", "verdicts that differ"]["value"] == 0
    assert ["quiz, new against old (gpt-2 after gpt)", "Question 3?"][0] in {of for of, _ in whole["flipped"]}
    code, out, _ = invoke("judge", "report", "old", "new")
    assert code == 0
    assert "Decided differently" in out
    assert " more." in out


def test_other_answers_are_no_drift(invoke):
    _write("a", lambda number: {"judge": 1.0})
    _write("b", lambda number: {"judge": 0.0}, words=lambda number: "other ")
    _, whole = _report(invoke, "a", "b")
    assert any("drift: b has 0 answers of a" in each for each in whole["missing"])


def test_labellers_are_compared_with_each_other(invoke):
    _write("a", lambda number: {"judge": _says(number, 0.9)})
    second = _label("a", lambda number: _right(number) != (number % 10 == 0), who="Bob")
    found, _ = _report(invoke, "a", *_label("a", _right), *second)
    each = found["2 labellers", "Krippendorff's alpha, nominal"]
    assert 0.6 < each["low"] < each["value"] < each["high"] < 1


def test_a_run_without_samples_is_refused(invoke):
    _write("a", lambda number: {"judge": 1.0})
    Path("a/samples.jsonl").unlink()
    code, _, err = invoke("judge", "report", "a")
    assert code == 2
    assert "--log-samples" in err
