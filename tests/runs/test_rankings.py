"""The places that runs may hold: simultaneous, on shared questions, and never against the comparison's own sentence."""

from __future__ import annotations

import json

import numpy as np

from proctor.runs.compare_runs import compare_with, corrected, evidence_of
from proctor.runs.rankings import with_places
from proctor.runs.sample_index import SampleIndex


def compare_exams(*exams, **more):
    return evidence_of(*exams, **more).together_with(1)


def index_of(folder, name, scores, unit="share"):
    path = folder / f"{name}.jsonl"
    lines = [{"exam": "e", "doc_id": n, "scores": {"score": each}, "input": {"text": n // 4, "n": n}}
             for n, each in enumerate(scores)]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    index = SampleIndex(path, index=folder / f"{name}.db")
    index.units = {"e": unit}
    index.build()
    return index


def placed(folder, columns):
    first, *others = (index_of(folder, f"r{place}", column) for place, column in enumerate(columns))
    rows = [found for (found,) in compare_with(first, others)]
    return rows, [rows[0].baseline_places, *(row.places for row in rows)]


def test_models_that_differ_have_places_apart_and_equal_ones_share_them(tmp_path):
    low, middle, high = [1.0] * 40 + [0.0] * 60, [1.0] * 70 + [0.0] * 30, [1.0] * 99 + [0.0]
    _, places = placed(tmp_path, [middle, low, high, high[::-1]])
    assert places == [(3, 3), (4, 4), (1, 2), (1, 2)]


def test_two_runs_need_no_places(tmp_path):
    rows, _ = placed(tmp_path, [[1.0] * 9, [0.0] * 9])
    assert rows[0].places is None


def test_places_decide_nothing_that_the_comparison_leaves_open(tmp_path):
    stream = np.random.default_rng(2)
    for case in range(12):
        chance = stream.uniform(0.3, 0.9, 4)
        columns = [(stream.random(30) < each).astype(float).tolist() for each in chance]
        folder = tmp_path / str(case)
        folder.mkdir()
        rows, places = placed(folder, columns)
        for row, (best, worst) in zip(rows, places[1:], strict=True):
            first_best, first_worst = places[0]
            if worst < first_best:
                assert row.decision == "better"
            if best > first_worst:
                assert row.decision == "worse"


def test_what_is_missing_leaves_places_open(tmp_path):
    right = [1.0] * 60
    wrong: list[float | None] = [0.0] * 60
    _, places = placed(tmp_path, [right, wrong, wrong])
    assert places == [(1, 1), (2, 3), (2, 3)]
    folder = tmp_path / "missing"
    folder.mkdir()
    _, places = placed(folder, [right, wrong, [0.0] * 4 + [None] * 56])
    assert places == [(1, 2), (2, 3), (1, 3)]
    folder = tmp_path / "none"
    folder.mkdir()
    _, places = placed(folder, [right, [*wrong[:30], *[None] * 30], [*[None] * 30, *wrong[:30]]])
    assert places[0][0] == 1


def test_questions_of_one_text_count_as_one(tmp_path):
    columns = [[1.0] * 24, [0.0] * 16 + [1.0] * 8, [0.0] * 16 + [1.0] * 8]  # the same in all of a text, of six
    first, *others = (index_of(tmp_path, f"r{place}", column) for place, column in enumerate(columns))
    plain = [[compare_exams(first, "e", other, "e")] for other in others]
    clustered = [[compare_exams(first, "e", other, "e", clusters="text")] for other in others]
    alone, together = ([row.places for (row,) in with_places(corrected(each))] for each in (plain, clustered))
    assert (alone, together) == ([(2, 3), (2, 3)], [(1, 3), (1, 3)])
