"""``proctor report --items``: what users see of their questions."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

QUESTIONS = [f"What is the {place}th word of the book?" for place in range(12)]
MODELS = ("AAAAAAAAAAAA", "AAAAAAAAAAAB", "AAAAAAAAABBB", "AAAAAACCBBBB", "AABBBBBBBBBB", "BBBBBBBBBBBB")
"""Answers of six models; the gold is A but for question 4, where another answer is called right."""


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place, answers in enumerate(MODELS):
        lines = []
        for number, answer in enumerate(answers):
            gold, question = "B" if number == 4 else "A", QUESTIONS[number]
            row = {"exam": "book", "doc_id": number, "input": {"question": question, "gold": gold}, "prompt": question}
            score = float(answer == gold)
            lines.append({**row, "references": [gold], "processed_prediction": answer, "scores": {"acc": score}})
        folder = Path("runs", f"m{place}")
        folder.mkdir(parents=True)
        entry = {
            "score": sum(each["scores"]["acc"] for each in lines) / 12,
            "score_name": "acc",
            "unit": "share",
            "n": 12,
        }
        about = {"results": {"book": entry}, "run": {"engine": {"label": f"model-{place}"}}}
        (folder / "results.json").write_text(json.dumps(about))
        (folder / "run.yaml").write_text(f"model: m{place}\ntasks: [book]\n")
        (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


@pytest.mark.usefixtures("runs")
def test_a_folder_of_runs_says_which_gold_is_in_doubt(invoke):
    code, out, err = invoke("report", "--items", "runs")
    assert (code, err) == (0, "")
    assert out.startswith("book: 12 questions, 6 models (acc): 0 answered by every model, 0 by none\n")
    title, question, first, second = out.splitlines()[2:6]
    assert title == "  Golds in doubt: the better models agree on another answer"
    assert question == f"    4: {QUESTIONS[4]}"
    assert "gold B; right 2 of 6; difficulty 0.67 (0." in first
    assert "4 models: model-0, model-1, model-2, …" in f"{first} {second}"


@pytest.mark.usefixtures("runs")
def test_what_is_printed_as_json_has_every_question(invoke):
    found = json.loads(invoke("report", "--items", "runs", "--json")[1])
    assert found[0]["doubtful"] == [4]
    assert len(found[0]["items"]) == 12


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("name", ["items.md", "items.html", "items.csv"])
def test_files_have_the_gold_in_doubt(invoke, name):
    code, _, err = invoke("report", "--items", "runs", "-o", name)
    assert (code, err.strip()) == (0, f"report: {name}")
    text = Path(name).read_text()
    assert QUESTIONS[4] in text
    if name.endswith(".csv"):
        rows = list(csv.DictReader(StringIO(text)))
        assert [row["instance"] for row in rows if row["in_doubt"] == "True"] == ["4"]
    else:
        assert "Golds in doubt" in text


@pytest.mark.usefixtures("runs")
def test_markup_in_questions_stays_words(invoke):
    for path in Path("runs").glob("*/samples.jsonl"):
        path.write_text(path.read_text().replace("What is", "<script>|What is"))
    for name in ("items.md", "items.html"):
        invoke("report", "--items", "runs", "-o", name)
        assert "<script>" not in Path(name).read_text()


@pytest.mark.usefixtures("runs")
def test_samples_says_how_many_of_a_kind_are_shown(invoke):
    out = invoke("report", "--items", "runs/m5", "--samples", "2")[1]
    assert "and 9 more" in out


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    "options, problem",
    [
        (["--items", "--pivot"], "--items stands alone"),
        (["--items", "-o", "x.tex"], "--items is not for latex"),
        (["--items", "--json", "-o", "x.md"], "--json prints, and a file was asked for"),
        (["--json"], "--json is for --items"),
    ],
)
def test_what_would_have_no_effect_is_refused(invoke, options, problem):
    code, _, err = invoke("report", "runs/m0", *options)
    assert code == 2
    assert problem in err


def test_a_run_without_samples_is_refused_with_what_writes_them(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bare").mkdir()
    Path("bare/results.json").write_text(json.dumps({"results": {"x": {"score": 1.0, "n": 3}}}))
    code, _, err = invoke("report", "--items", "bare")
    assert code == 2
    assert "no run has samples of questions" in err
    assert "--log-samples" in err
