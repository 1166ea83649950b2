"""Predictions of AISBench with several answers to a row: which detail and which mark belongs to which answer."""

import json

import pytest

from proctor.exchange.readers import observed
from proctor.exchange.readers.opencompass import read

SCORES = {"accuracy (3 runs average)": 50.0, "avg@3": 50.0, "pass@3": 100.0, "cons@3": 50.0}


def line(number, said, prompt=None):
    return {"data_abbr": "d", "id": number, "success": True, "uuid": f"{number}{said}", "origin_prompt": prompt or f"q{number}", "prediction": said, "gold": f"g{number}"}  # fmt: skip


def filed(tmp_path, lines, results=None):
    home = tmp_path / "predictions" / "m"
    home.mkdir(parents=True)
    (home / "d.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    if results is not None:
        other = tmp_path / "results" / "m"
        other.mkdir(parents=True)
        (other / "d.json").write_text(json.dumps(results))
    (exam,) = observed(str(home / "d.jsonl"))
    return exam


ARRIVED = [line(1, "d"), line(0, "a"), line(10, "g"), line(1, "e"), line(0, "b"), line(10, "h")]


def test_answers_to_a_row_stand_together_in_the_order_of_rows(tmp_path):
    found = filed(tmp_path, ARRIVED).instances
    assert [each.answer for each in found] == [("a",), ("b",), ("d",), ("e",), ("g",), ("h",)]
    assert [each.prompt for each in found] == ["q0", "q0", "q1", "q1", "q10", "q10"]
    assert [each.number for each in found] == list(range(6))


def test_details_of_several_runs_are_put_back_to_their_answers(tmp_path):
    """AISBench 3.1 files run after run as if the answers to one row stood together."""
    lines = [line(row, f"{row}{run}") for row in range(2) for run in range(3)]
    runs = [[{"pred": f"{row}{run}", "answer": f"g{row}", "correct": row == 0} for row in range(2)] for run in range(3)]
    flat = [each for run in runs for each in run]
    details = [
        {"example_abbr": f"d_{row}", **{key: [each[key] for each in flat[row * 3 : row * 3 + 3]] for key in flat[0]}}
        for row in range(2)
    ]
    found = filed(tmp_path, lines, {**SCORES, "details": details})
    assert [each.extracted for each in found.instances] == [f"{row}{run}" for row in range(2) for run in range(3)]
    assert [next(iter(each.scores.values())) for each in found.instances] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert (found.score, found.mean(found.metric)) == (0.5, 0.5)


def test_details_of_what_failed_are_not_taken_for_those_of_the_next_row(tmp_path):
    details = {str(n): {"predictions": f"p{n}", "references": f"r{n}", "correct": n == 2} for n in range(3)}
    found = filed(tmp_path, [line(2, "c"), line(0, "a")], {"accuracy": 33.33, "details": {"type": "GEN", **details}})
    assert [(each.extracted, each.scores) for each in found.instances] == [
        ("p0", {"accuracy": 0.0}),
        ("p2", {"accuracy": 1.0}),
    ]


def test_the_accuracy_of_the_last_run_marks_the_answers(tmp_path):
    texts = {"0": ("g0", "g0"), "1": ("x", "g0"), "2": ("g1", "g1"), "3": ("x", "g1")}
    details = {n: {"predictions": said, "references": gold} for n, (said, gold) in texts.items()}
    lines = [line(row, f"{row}{run}") for row in range(2) for run in range(2)]
    found = filed(tmp_path, lines, {"accuracy": 0.0, "details": {"type": "GEN", **details}})
    assert [each.scores["accuracy"] for each in found.instances] == [1.0, 0.0, 1.0, 0.0]


def test_a_detail_of_one_run_may_be_a_list_of_one(tmp_path):
    details = [{"example_abbr": f"d_{n}", "pred": [f"p{n}"], "correct": [n == 0]} for n in range(2)]
    found = filed(tmp_path, [line(1, "b"), line(0, "a")], {"accuracy": 50.0, "details": details})
    assert [(each.extracted, each.scores["accuracy"]) for each in found.instances] == [("p0", 1.0), ("p1", 0.0)]


def test_turns_of_a_conversation_are_not_repeats(tmp_path):
    turns = [line(row, f"{row}{turn}", prompt=f"q{row}" + "…" * turn) for row in range(2) for turn in range(2)]
    details = {str(n): {"predictions": f"p{n}", "references": "x"} for n in range(4)}
    found = filed(tmp_path, turns, {"accuracy": 25.0, "details": {"type": "GEN", **details}})
    assert [each.extracted for each in found.instances] == ["p0", "p1", "p2", "p3"]


@pytest.mark.parametrize("content", [[], {}, [{"id": 0}], [{"doc_id": 0, "id": 0, "prediction": "x"}]])
def test_what_is_no_file_of_predictions_is_left_to_others(tmp_path, content):
    assert read(tmp_path / "x.json", content) is None
