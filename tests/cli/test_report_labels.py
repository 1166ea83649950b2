"""``proctor judge label`` and ``proctor report --labels``: people label answers, and scores are corrected by that."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from proctor.recipes.fingerprint import instance_digest

COUNT = 300
ENTRY = {"score_name": "judge", "unit": "share", "fingerprint": {"metrics": "same"}}


def _write(folder: str, scores: list[float], answer: str, *, model: str = "m", judge: str = "j", **entry) -> None:
    lines = []
    for number, score in enumerate(scores):
        fields = {"question": f"Is number {number} right?", "gold": "yes"}
        line = {"exam": "quiz", "doc_id": number, "instance": instance_digest(fields), "input": fields}
        line |= {"prompt": fields["question"], "output": f"{answer} {number}", "references": ["yes"]}
        lines.append({**line, "scores": {"judge": score}})
    results = {"quiz": {**ENTRY, "score": sum(scores) / len(scores), "n": len(scores), **entry}}
    document = {"results": results, "run": {"engine": {"label": model}, "judges": {judge: {}}}, "schema_version": 1}
    Path(folder).mkdir()
    Path(folder, "results.json").write_text(json.dumps(document))
    Path(folder, "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def _verdicts(truths: list[bool], seed: int) -> list[float]:
    """Return what a judge says that takes 85% of the right answers for right, and 40% of the wrong ones."""
    stream = random.Random(seed)
    return [float(stream.random() < (0.85 if truth else 0.4)) for truth in truths]


TRUTHS = {
    run: [random.Random(f"{run} {n}").random() < share for n in range(COUNT)]
    for run, share in (("a", 0.58), ("b", 0.8))
}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, (run, truths) in enumerate(TRUTHS.items()):
        _write(run, _verdicts(truths, seed), f"answer of {run}:")


def _fill(
    path: str, target: str, label=lambda row: int(TRUTHS[row["answer"][10]][int(row["answer"].split()[-1])]), most=10**6
):
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:most]:
        row["label"] = label(row)
    with Path(target).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def _label(invoke, run="a", *options):
    code, _, err = invoke("judge", "label", run, "-o", f"{run}.csv", *options)
    assert code == 0, err
    return _fill(f"{run}.csv", f"{run}-done.csv")


def _report(invoke, *arguments):
    code, out, err = invoke("report", *arguments, "--json")
    assert code in (0, 1), err
    return json.loads(out)


def test_the_corrected_score_holds_the_truth(runs, invoke):
    _, _, err = invoke("judge", "label", "a", "-o", "alike.csv")
    assert "quiz: answers are drawn with equal chances, which saves no labels: scores do not tell where" in err
    rows = _label(invoke)
    assert len({row["answer_id"] for row in rows}) == 100
    assert "m" not in rows[0].values()
    assert {row["stands_for"] for row in rows} == {"3"}
    found = _report(invoke, "a", "--labels", "a-done.csv")
    [score] = found["scores"]
    assert score["method"] == "prediction-powered"
    value, low, high = score["corrected"]
    truth = sum(TRUTHS["a"]) / COUNT
    assert low < truth < high
    assert abs(value - truth) < abs(score["plain"][0] - truth)
    kappa = next(each for each in found["judges"]["measures"] if each["what"] == "Cohen's kappa")
    assert kappa["count"] == 100
    assert 0 < kappa["low"] < kappa["value"]
    code, out, _ = invoke("report", "a", "--labels", "a-done.csv")
    assert code == 0
    assert "prediction-powered; the judge weighs" in out
    assert f"{value:.4f} [{low:.4f}, {high:.4f}]" in out


def test_files_have_it_beside_the_scores(runs, invoke):
    _label(invoke)
    for name in ("r.md", "r.html"):
        code, _, err = invoke("report", "a", "--labels", "a-done.csv", "-o", name)
        assert code == 1, err  # for the run has no run.yaml here
        text = Path(name).read_text()
        assert "Scores corrected by labels" in text
        assert "prediction-powered" in text
        assert "Gwet" in text
    code, _, err = invoke("report", "a", "--labels", "a-done.csv", "-o", "r.csv")
    assert code == 2
    assert "--labels is not for csv" in err


def test_runs_are_compared_by_corrected_scores(runs, invoke):
    _label(invoke)
    _label(invoke, "b")
    found = _report(invoke, "a", "b", "--labels", "a-done.csv", "--labels", "b-done.csv")
    [(exam, who, (value, low, high))] = found["differences"]
    assert (exam, who) == ("quiz", "b less a")
    assert value == pytest.approx(found["scores"][1]["corrected"][0] - found["scores"][0]["corrected"][0])
    assert 0 < low < (sum(TRUTHS["b"]) - sum(TRUTHS["a"])) / COUNT < high


def test_labels_of_another_run_tell_how_often_the_judge_errs(runs, invoke):
    _label(invoke, "a", "--count", "200")
    first, second = _report(invoke, "a", "b", "--labels", "a-done.csv")["scores"]
    assert (first["method"], second["method"]) == ("prediction-powered", "Rogan-Gladen")
    assert second["corrected"][1] < sum(TRUTHS["b"]) / COUNT < second["corrected"][2]
    assert any("errs as often here" in note for note in second["notes"])


def test_labels_of_another_judge_say_nothing(runs, invoke):
    _label(invoke)
    _write("c", _verdicts(TRUTHS["b"], 7), "answer of c:", fingerprint={"metrics": "other"})
    _, second = _report(invoke, "a", "c", "--labels", "a-done.csv")["scores"]
    assert second["corrected"] is None
    assert "none of its answers has a label" in second["notes"][0]


def test_an_unsure_judge_has_more_of_its_answers_labelled(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    _write("a", [0.5 if number % 3 == 0 else float(truth) for number, truth in enumerate(TRUTHS["a"])], "answer of a:")
    _, _, err = invoke("judge", "label", "a", "-o", "other.csv")
    assert "drawn more often, which saves 23% of labels at equal width if 0.8 means 80% right" in err
    _, _, err = invoke("judge", "label", "a", "-o", "few.csv", "--count", "50")
    assert "saves no labels: labels are few" in err
    rows = _label(invoke)
    unsure = [row for row in rows if int(row["answer"].split()[-1]) % 3 == 0]
    assert len(unsure) == 60
    assert {row["stands_for"] for row in unsure} == {"1.66666666667"}
    [score] = _report(invoke, "a", "--labels", "a-done.csv")["scores"]
    assert score["corrected"][1] < sum(TRUTHS["a"]) / COUNT < score["corrected"][2]
    assert score["corrected"][2] - score["corrected"][1] < 0.15


def test_draws_are_the_same_again_and_others_with_another_seed(runs, invoke):
    _label(invoke)
    first = Path("a.csv").read_text()
    Path("a.csv").unlink()
    _label(invoke)
    assert Path("a.csv").read_text() == first
    Path("a.csv").unlink()
    _label(invoke, "a", "--seed", "3")
    assert Path("a.csv").read_text() != first


def test_labels_are_not_written_over(runs, invoke):
    _label(invoke)
    code, _, err = invoke("judge", "label", "a", "-o", "a.csv")
    assert code == 2
    assert "is there already" in err


def test_several_labellers_are_compared(runs, invoke):
    _label(invoke)
    _fill("a-done.csv", "second.csv", lambda row: 0 if row["answer"].endswith("7") else row["label"])
    found = _report(invoke, "a", "--labels", "a-done.csv", "--labels", "second.csv")
    alpha = next(each for each in found["judges"]["measures"] if each["of"] == "2 labellers")
    assert alpha["count"] == 100
    assert 0.6 < alpha["value"] < 1
    code, out, _ = invoke("report", "a", "--labels", "a-done.csv", "--labels", "second.csv")
    assert code == 0
    assert "labellers" in out


def test_labellers_who_disagree_entirely_are_refused(runs, invoke):
    _label(invoke)
    _fill("a-done.csv", "second.csv", lambda row: 1 - int(row["label"]))
    code, _, err = invoke("report", "a", "--labels", "a-done.csv", "--labels", "second.csv")
    assert code == 2
    assert "the labellers agree on none of 100 answers" in err


def test_labellers_who_agree_by_chance_are_named(runs, invoke):
    _label(invoke)
    _fill("a-done.csv", "second.csv", lambda row: int(row["answer"][-1]) % 2)
    assert any(
        "by chance alone" in note
        for note in _report(invoke, "a", "--labels", "a-done.csv", "--labels", "second.csv")["notes"]
    )


def test_few_labels_say_how_wide_the_interval_would_be(runs, invoke):
    _label(invoke)
    _fill("a.csv", "few.csv", most=7)
    [score] = _report(invoke, "a", "--labels", "few.csv")["scores"]
    assert score["corrected"] is None
    assert "7 of its answers have a label, and 10 are the fewest: so few leave an interval 0." in score["notes"][0]
    assert invoke("report", "a", "--labels", "few.csv")[0] == 1


def test_labels_of_another_version_are_not_counted(runs, invoke):
    _label(invoke)
    _write("new", _verdicts(TRUTHS["a"], 0), "new answer:")
    code, _, err = invoke("report", "new", "--labels", "a-done.csv")
    assert code == 2
    assert "100 of 100 labels are not of answers of these runs (100 of other answers to the same questions" in err
    _label(invoke, "b")
    found = _report(invoke, "b", "--labels", "a-done.csv", "--labels", "b-done.csv")
    assert any("100 of 200 labels are not of answers of these runs" in note for note in found["notes"])


def test_answers_that_two_runs_share_count_where_they_were_drawn(runs, invoke):
    """Where two models say the same, they are right more often than elsewhere: such labels are no sample of the other."""
    _label(invoke)
    scores = _verdicts(TRUTHS["a"], 0)
    _write("half", scores[:200], "answer of a:")
    code, _, err = invoke("report", "half", "--labels", "a-done.csv")
    assert code == 2
    assert "100 of 100 labels" in err


def test_own_tables_count_as_drawn_at_random(runs, invoke):
    rows = _label(invoke)
    lines = ["answer_id;label", *(f"{row['answer_id']};{'yes' if row['label'] else 'No'}" for row in rows)]
    Path("own.csv").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    found = _report(invoke, "a", "--labels", "own.csv")
    assert found["scores"][0]["corrected"] == pytest.approx(
        _report(invoke, "a", "--labels", "a-done.csv")["scores"][0]["corrected"]
    )
    assert any("drawn at random" in note for note in found["notes"])


def test_a_judge_that_judges_itself_is_named(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    _write("a", _verdicts(TRUTHS["a"], 0), "answer of a:", model="j")
    _label(invoke)
    [score] = _report(invoke, "a", "--labels", "a-done.csv")["scores"]
    assert any("j judged itself" in note for note in score["notes"])


def test_a_judge_no_better_than_chance_corrects_no_other_run(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    _write("a", [float(not truth) for truth in TRUTHS["a"]], "answer of a:")
    _write("b", _verdicts(TRUTHS["b"], 0), "answer of b:")
    _label(invoke)
    _, second = _report(invoke, "a", "b", "--labels", "a-done.csv")["scores"]
    assert second["corrected"] is None
    assert "leaves the scale" in second["notes"][0]


def test_percentages_stay_percentages(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    scores = [100 * each for each in _verdicts(TRUTHS["a"], 0)]
    _write("a", scores, "answer of a:", unit="percent")
    _label(invoke)
    [score] = _report(invoke, "a", "--labels", "a-done.csv")["scores"]
    assert score["corrected"][1] < 100 * sum(TRUTHS["a"]) / COUNT < score["corrected"][2]


def test_scores_without_ends_are_refused(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    _write("a", [float(number) for number in range(COUNT)], "answer of a:", unit="raw")
    code, _, err = invoke("judge", "label", "a")
    assert code == 2
    assert "judge has values up to 299" in err
    Path("x.csv").write_text("answer_id,label\nx,1\n")
    code, _, err = invoke("report", "a", "--labels", "x.csv")
    assert code == 2
    assert "judge has values up to 299" in err


def test_a_score_that_is_no_mean_is_not_corrected(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    _write("a", _verdicts(TRUTHS["a"], 0), "answer of a:", score=0.123)
    _label(invoke)
    [score] = _report(invoke, "a", "--labels", "a-done.csv")["scores"]
    assert "is not the mean" in score["notes"][0]


@pytest.mark.parametrize(
    "table,message",
    [
        ("a,b\n1,2\n", "has no column answer_id"),
        ("answer_id,label\nx,maybe\n", "'maybe' is not a label"),
        ("answer_id,label\nx,5\n", "'5' is not a label"),
        ("answer_id,label\nx,nan\n", "'nan' is not a label"),
        ("answer_id,label\nx,1\nx,0\n", "x has two labels"),
        ("answer_id,label,stands_for\nx,1,0\n", "stands_for is not as it was drawn"),
        ("answer_id,label\nx,\n", "no line has a label"),
        ("answer_id,label\nx,1\n", "1 of 1 labels are not of answers of these runs"),
        ("", "has no column answer_id"),
    ],
)
def test_bad_tables_are_refused(runs, invoke, table, message):
    Path("bad.csv").write_text(table)
    code, _, err = invoke("report", "a", "--labels", "bad.csv")
    assert code in (2, 3)
    assert message in err
    assert "why: " in err
    assert "hint: " in err
    assert "Traceback" not in err


def test_a_table_in_another_encoding_is_refused(runs, invoke):
    Path("bad.csv").write_bytes("answer_id,label\nx,schön\n".encode("latin-1"))
    _, _, err = invoke("report", "a", "--labels", "bad.csv")
    assert "save it as 'CSV UTF-8'" in err


def test_a_run_without_samples_and_an_exam_that_is_not_there(runs, invoke):
    code, _, err = invoke("judge", "label", "a", "--exam", "other")
    assert code == 2
    assert "has no exam other" in err
    Path("b", "samples.jsonl").unlink()
    code, _, err = invoke("judge", "label", "b")
    assert code == 2
    assert "--log-samples" in err
