"""Tables for papers: tasks down, models across."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest

from proctor.results.pivot import PivotRun, latex, pivot_csv, pivot_latex, pivot_markdown, pivot_of, scores_latex
from proctor.results.summary import score_rows

LAYERS = {"data": "d", "rows": "r", "prompts": "p", "decoding": "c", "extraction": "e", "metrics": "m", "engine": "n"}


def entry(value: float, unit: str = "share", name: str = "acc", **layers: str) -> dict[str, Any]:
    low, high = value * 0.9, value * 1.1
    scores = {name: value, "score": value, "score_name": name, "score_ci_low": low, "score_ci_high": high}
    beside = {f"{name}_stderr": 0.01, "correct_count": 12, "num_samples": 50, "lone_stderr": 0.5}
    return {**scores, **beside, "unit": unit, "n": 50, "failures": 0, "fingerprint": {**LAYERS, **layers}}


RUNS = [
    PivotRun("a", "small_model", {"qa": entry(0.5), "bleu": entry(12.5, "raw", "bleu"), "only": entry(0.25)}),
    PivotRun("b", "large_model", {"qa": entry(75.0, "percent"), "bleu": entry(20.0, "raw", "bleu", rows="other")}),
]


def test_tasks_stand_beside_models_in_one_unit() -> None:
    pivot = pivot_of(RUNS)
    assert pivot.columns == ("small_model", "large_model")
    assert [(line.task, line.unit) for line in pivot.lines] == [("qa", "share"), ("bleu", "raw"), ("only", "share")]
    values = [[None if cell is None else cell.value for cell in line.cells] for line in pivot.lines]
    assert values == [[0.5, 0.75], [12.5, 20.0], [0.25, None]]


def test_what_was_measured_otherwise_is_marked() -> None:
    pivot = pivot_of(RUNS)
    assert [[bool(cell and cell.is_unlike) for cell in line.cells] for line in pivot.lines] == [
        [False, False],
        [False, True],
        [False, False],
    ]
    assert "20.00 [18.00, 22.00]*" in pivot_markdown(pivot)
    assert "measured on other instances" in pivot_markdown(pivot)
    assert "measured on other instances" not in pivot_markdown(pivot_of(RUNS[:1]))


def test_two_runs_of_a_model_are_told_apart() -> None:
    assert pivot_of([RUNS[0], RUNS[0]]).columns == ("small_model (a)", "small_model (a)")


def test_latex_shows_names_as_they_are() -> None:
    assert latex(r"a_b & 5% of #1 {x} \cmd ~^$") == (
        r"a\_b \& 5\% of \#1 \{x\} \textbackslash{}cmd \textasciitilde{}\textasciicircum{}\$"
    )
    text = pivot_latex(pivot_of(RUNS))
    assert r"Task & Metric & small\_model & large\_model \\" in text
    assert r"qa & acc (of 1) & 0.5000 {\scriptsize [0.4500, 0.5500]} & 0.7500 {\scriptsize [0.6750, 0.8250]} \\" in text
    assert r"20.00$^{*}$" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_names_cannot_break_a_line_of_markdown_or_start_a_formula() -> None:
    run = PivotRun("a", "=m|1\n<b>", {"t|1": entry(0.5, "raw")})
    assert pivot_markdown(pivot_of([run])) == (
        "| task | metric | =m\\|1 &lt;b> |\n|---|---|---:|\n| t\\|1 | acc | 0.5000 [0.4500, 0.5500] |\n"
    )
    assert pivot_csv(pivot_of([run])).startswith('task,metric,unit,"\'=m|1\n<b>"')


def test_bounds_are_shown_where_both_are_known() -> None:
    known = {"score": 0.0, "score_name": "acc", "acc": 0.0, "score_ci_low": 0.0, "score_ci_high": 0.1, "n": 2}
    half = {name: value for name, value in known.items() if name != "score_ci_low"}
    below = {**known, "acc": -0.5, "score": -0.5, "score_ci_low": -1.0}
    pivot = pivot_of([PivotRun("a", "m", {"whole": known, "half": half, "below": below, "none": {"n": 2}})])
    markdown = [line.split("|")[3].strip() for line in pivot_markdown(pivot).splitlines()[2:]]
    assert markdown == ["0.0000 [0.0000, 0.1000]", "0.0000", "-0.5000 [-1.0000, 0.1000]", "-"]
    cells = [line.split(" & ")[2] for line in pivot_latex(pivot).splitlines() if line.count(" & ") == 2][1:]
    small = r"{\scriptsize [0.0000, 0.1000]}"
    assert cells == [rf"0.0000 {small} \\", r"0.0000 \\", r"$-0.5000$ {\scriptsize [$-1.0000$, 0.1000]} \\", r"-- \\"]


def test_where_some_scores_of_a_line_are_raw_none_is_converted() -> None:
    (line,) = pivot_of(
        [PivotRun("a", "m", {"t": entry(50.0, "percent")}), PivotRun("b", "n", {"t": entry(3.0, "raw")})]
    ).lines
    assert (line.unit, [cell and cell.value for cell in line.cells]) == ("raw", [50.0, 3.0])


def test_csv_has_numbers_and_says_what_is_marked() -> None:
    rows = list(csv.DictReader(StringIO(pivot_csv(pivot_of(RUNS)))))
    assert (rows[1]["task"], rows[1]["large_model"], rows[1]["measured otherwise"]) == ("bleu", "20.0", "large_model")
    assert rows[2]["large_model"] == ""


def test_counts_and_standard_errors_are_no_scores() -> None:
    names = [row.metric for row in score_rows(RUNS[0].results, every_score=True)]
    assert names == ["acc", "bleu", "acc"]
    text = scores_latex([("a", "small_model", score_rows(RUNS[0].results, every_score=True))])
    assert "stderr" not in text
    assert "count" not in text


@pytest.mark.parametrize("name", ["discount", "account_recall", "n_gram_overlap", "total_variation"])
def test_scores_whose_names_are_like_counts_stay(name: str) -> None:
    found = {"t": {"acc": 0.5, name: 0.25, "score": 0.5, "score_name": "acc", "unit": "share", "n": 4, "failures": 0}}
    assert [row.metric for row in score_rows(found, every_score=True)] == ["acc", name]
