"""Gates whose questions belong together: whole clusters are drawn, and the verdict is about all questions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from proctor.cli.__main__ import main
from proctor.running.gate_units import Units

TEXTS, EACH = 40, 5


def units(sizes):
    return Units(tuple(range(sum(sizes))), tuple(sizes), "text")


def test_the_bets_on_clusters_are_decided_by_the_mean_of_all_questions():
    stream = np.random.default_rng(1)
    for _ in range(100):
        sizes = stream.integers(1, 6, 12).tolist()
        scores = stream.integers(0, 2, sum(sizes)).astype(float).tolist()
        threshold, cut = float(stream.random()), units(sizes)
        test = cut.test(threshold, None, 0.2)
        begin = 0
        for end in cut.ends(len(scores)):
            cut.settled(test, scores[begin:end], threshold)
            begin = end
        assert test.verdict(1e-12) == ("passed" if np.mean(scores) >= threshold - 1e-9 else "failed")


def test_false_verdicts_stay_rare_where_questions_of_a_text_are_answered_alike():
    stream, wrong, runs = np.random.default_rng(2), 0, 300
    alike = np.repeat(stream.random(60) < 0.5, 8)
    threshold = float(alike.mean()) + 1 / len(alike)  # below by a question
    for _ in range(runs):
        cut = units([8] * 60)
        test = cut.test(threshold, None, 0.2)
        for text in stream.permutation(60)[:45]:
            cut.settled(test, alike[8 * text : 8 * text + 8].astype(float).tolist(), threshold)
        wrong += test.verdict(0.05) == "passed"
    assert wrong / runs <= 0.05


def test_the_interval_of_clusters_holds_the_mean():
    stream = np.random.default_rng(3)
    sizes = [1, 2, 3, 4] * 30
    scores = stream.random(sum(sizes)).tolist()
    cut = units(sizes)
    low, high = cut.interval(scores[: cut.ends(200)[-1]], 0.95)
    assert 0 <= low < np.mean(scores) < high <= 1
    assert cut.interval(scores, 0.95) == pytest.approx((np.mean(scores), np.mean(scores)), abs=1e-6)


def test_rounds_are_whole_units():
    cut = units([3, 3, 3])
    assert cut.after(0, 1) == 3
    assert cut.after(0, 4) == 6
    assert cut.after(6, 100) == 3
    assert cut.ends(7) == [3, 6]


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"q": f"{t} {n}", "a": "yes" if t % 4 else "no", "text": t} for t in range(TEXTS) for n in range(EACH)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
        "generation_kwargs: {until: [x], max_gen_toks: 4}\nmetric_list: [{metric: exact_match}]\n"
    )
    return "t.yaml"


def test_a_gate_draws_whole_clusters_and_says_so(task, capsys):
    given = ["--model", "scripted", "--model-args", "answer=yes", "--tasks", task, "--log", "l.db"]
    assert main(["gate", *given, "--at-least", "0.4", "--clusters", "text", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["exams"]
    assert (found["clusters"], found["units"]) == ("text", TEXTS)
    assert found["asked"] % EACH == 0
    assert EACH < found["asked"] < TEXTS * EACH
    main(["gate", *given, "--at-least", "0.4", "--json"])
    (alone,) = json.loads(capsys.readouterr().out)["exams"]
    assert alone["asked"] < found["asked"]  # as many questions one by one say more
    assert main(["gate", *given, "--at-least", "0.4", "--clusters", "txet"]) == 2
    assert "txet" in capsys.readouterr().err
