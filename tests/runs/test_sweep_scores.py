"""Scores of the wordings of a sweep, and the difference of two sweeps."""

import json

import pytest

from proctor.running.sweeps import Cell, Design
from proctor.runs.sweep import CellScore, SweepScores, difference_of, sweep_scores
from proctor.scoring.scores import Score

KEYS = [(number, 0) for number in range(8)]


def sweep(*means, **score):
    """A sweep whose wordings ``a``, ``b`` … score every question as said."""
    cells = []
    for name, mean in zip("abc", means, strict=False):
        values = {key: mean + (number % 2) / 10 for number, key in enumerate(KEYS)}
        made = Score("m", mean + 0.05, **score)
        cells.append(CellScore(name, name, {"template": name}, made, 0, values, asked=("rows", name, "")))
    return SweepScores(tuple(cells), {key: (number, "") for number, key in enumerate(KEYS)})


@pytest.mark.parametrize(
    "score, better",
    [
        ({"higher_is_better": True}, 1),
        ({"higher_is_better": False}, -1),
        ({"higher_is_better": None}, 0),
        ({"unit": "share", "higher_is_better": None}, 1),
        ({"unit": "share", "higher_is_better": False}, -1),
    ],
)
def test_whether_a_difference_is_better_is_what_the_metric_says(score, better):
    found = difference_of(sweep(0.2, 0.3, **score), sweep(0.4, 0.6, **score))
    assert found["better"] == better
    assert found["mean"] == pytest.approx(0.25)
    assert (found["wordings"], found["questions"], found["higher_under"], found["unpaired"]) == (2, 8, 2, 0)


def test_a_question_that_was_asked_several_times_counts_once_by_its_mean(tmp_path):
    entry = {"score": 50.0, "score_name": "acc", "unit": "percent", "higher_is_better": True, "n": 4}
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "results.json").write_text(json.dumps({"results": {"quiz": entry}, "run": {}}))
    lines = [
        {
            "exam": "quiz",
            "doc_id": number,
            "instance": f"{question:016x}",
            "prompt": f"{question}?",
            "scores": {"acc": acc},
        }
        for number, (question, acc) in enumerate([(1, 1.0), (1, 0.0), (2, 1.0), (2, 1.0)])
    ]
    (tmp_path / "cell" / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = sweep_scores(tmp_path, Design("quiz", "m", (Cell({}, "cell"),)), lambda *_: None)
    (cell,) = found.cells
    assert dict(cell.values) == {(1, 0): 50.0, (2, 0): 100.0}
    assert found.questions == {(1, 0): (0, "1?"), (2, 0): (2, "2?")}
