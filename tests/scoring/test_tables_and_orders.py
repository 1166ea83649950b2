"""Evaluators of tables, grids and numbers, of options in several orders, and of several runs."""

import math

import pytest

from proctor.errors import DataError, MissingFieldError, ScoringError
from proctor.scoring.evaluators import options, runs, tables
from proctor.scoring.evaluators.cases import Cases

TABLE = "| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |"


@pytest.mark.parametrize(
    "said, gold, score",
    [
        (TABLE, TABLE, 100.0),
        (TABLE.replace("y", "z"), TABLE, 50.0),
        ("none", TABLE, 0.0),
        ("red, blue", "blue, red", 100.0),
        ("red", "blue, red", 200 / 3),
        ("5.0", "5", 100.0),
        ("6", "5", 0.0),
        ("the red car", "red car", 100.0),
        ("red bus", "red car", 50.0),
    ],
)
def test_s3eval_compares_cells_lists_numbers_or_words(said, gold, score):
    assert tables.s3eval(Cases([said], [gold])).scores["score"] == pytest.approx(score)


@pytest.mark.parametrize(
    "said, right",
    [
        ("so [[1, 2], [3, 4]]!", True),
        ("[[1, 2], [3, 5]]", False),
        ("[[1, 'a'], [3, 4]]", False),
        ("[[1, 2], 3]]", False),
        ("[[1, 2", False),
        ("none", False),
    ],
)
def test_a_grid_is_right_in_every_cell(said, right):
    found = tables.arc_prize(Cases([said], [[[1, 2], [3, 4]]]))
    assert (found.scores, found.instances) == ({"accuracy": float(right)}, {"accuracy": [float(right)]})
    assert tables.arc_prize(Cases(["nothing"], [[[0]]])).scores == {"accuracy": 1.0}


@pytest.mark.parametrize(
    "said, gold, choices, unit, right",
    [
        ("(B)", "no", ["yes", "no"], None, True),
        ("The answer is B", "no", ["yes", "no"], None, True),
        ("b. no", "no", ["yes", "no"], None, True),
        ("surely no", "no", ["yes it is", "no"], None, True),
        ("C", "yes", ["yes", "no"], None, True),  # beyond the options: one is drawn, always the same
        ("The answer is $1,250.", "1250", None, None, True),
        (r"The answer is \frac{1}{2}", "0.5", None, None, True),
        ("2+3=5", "5", None, None, True),
        ("it is \u22125", "-5", None, None, True),
        ("at 5:30 P.M.", "5:30 P.M.", None, None, True),
        ("The answer is 12 km", "12", None, "km", True),
        ("there are 3 or 4", "3", None, None, True),
        ("12", "13", None, None, False),
        ("nobody", "Nobody", None, None, True),
    ],
)
def test_tabmwp_reads_options_and_numbers(said, gold, choices, unit, right):
    row = {"answer": gold, "choices": choices, "unit": unit}
    assert tables.tabmwp(Cases([said], [row])).scores == {"accuracy": 100.0 * right}


def test_distances_are_of_marked_numbers():
    assert tables.smol_error(
        Cases(["<NUMBER> 2 </NUMBER> <NUMBER>9</NUMBER>", "?"], [r"\boxed{5}", "<NUMBER>1</NUMBER>"])
    )
    found = tables.smol_error(Cases(["<NUMBER> 2 </NUMBER> <NUMBER>9</NUMBER>"], [r"\boxed{5}"]))
    assert [*found.scores.values()] == [3.0]
    assert [*tables.mol_error(Cases([r"\boxed{2} \boxed{9}", "none"], ["5", "-1.5"])).scores.values()] == [2.75]
    with pytest.raises(ScoringError, match="a reference has no number"):
        tables.smol_error(Cases(["5"], ["5"]))


@pytest.mark.parametrize(
    "said, error, valid",
    [
        ("[9.0] then [1.0, 2.0]", 0.0, 100.0),
        ("[1.0, 4.0]", math.sqrt(2), 100.0),
        ("[1.0]", math.sqrt(2), 0.0),
        ("[1, 2]", math.sqrt(2.5), 0.0),
        ("none", math.sqrt(2.5), 0.0),
    ],
)
def test_openswi_measures_lists_and_counts_the_valid_ones(said, error, valid):
    scores = tables.openswi(Cases([said], [[1.0, 2.0]])).scores
    assert scores.pop("valid") == valid
    assert [*scores.values()] == [pytest.approx(error)]


ROWS = [{"qid": qid, "circular_pattern": order} for qid in (1, 2) for order in ("ABC", "BCA", "CAB")]


def test_questions_in_several_orders_are_counted_by_how_often_they_are_right():
    found = options.circular(Cases(["x", "x", "x", "x", "y", "x"], ["x"] * 6, ROWS))
    assert found.scores["acc_origin"] == 100.0
    assert found.scores["acc_circular"] == pytest.approx(500 / 6)
    assert [found.scores[f"{name}_circular"] for name in ("more_1", "more_2", "perf")] == [100.0, 100.0, 50.0]
    assert found.instances["accuracy"] == [100.0, 100.0, 100.0, 100.0, 0.0, 100.0]
    every = options.circular(Cases(["x"] * 6, ["x"] * 6, ROWS), "all_possible").scores
    assert (every["more_4_all_possible"], every["more_3_all_possible"]) == (0.0, 100.0)


def test_orders_are_shifts_or_all():
    assert options.orders("AB", "circular") == options.orders("AB", "all_possible") == [("A", "B"), ("B", "A")]
    assert len(options.orders("ABC", "circular")) == 3
    assert len(options.orders("ABC", "all_possible")) == 6
    with pytest.raises(DataError, match="there are no circular_patterns 'none'"):
        options.orders("AB", "none")
    with pytest.raises(MissingFieldError, match="circular_pattern"):
        options.circular(Cases(["x"], ["x"], [{"qid": 1}]))


@pytest.mark.parametrize(
    "said, option",
    [("B", "B"), ("The answer is B.", "B"), ("I think of cats", "A"), ("dogz", "B"), ("cat and dog: dogs", "B")],
)
def test_an_answer_is_the_option_that_it_is_most_like(said, option):
    assert options.likest_option(said, {"A": "cat", "B": "dogs"}, ["A", "B"]) == option
    assert options.likest_option(said, {}, ["X", "Y"]) == ""


@pytest.mark.parametrize("names", [["a"], ["AB"], [""], [1]])
def test_options_are_single_capital_letters(names):
    with pytest.raises(ScoringError, match="not single upper-case letters"):
        options.require_letters(names)


def test_g_pass_at_k_is_its_definition():
    """Of all ways to draw k of n runs, those with enough right ones."""
    for n, c, k in ((5, 3, 2), (4, 4, 4), (6, 1, 3), (3, 0, 2)):
        for threshold in (0.0, 0.25, 0.5, 0.75, 1.0):
            least = max(math.ceil(k * threshold), 1)
            ways = sum(math.comb(c, i) * math.comb(n - c, k - i) for i in range(least, k + 1) if k - i <= n - c)
            assert runs.g_pass_at_k(n, c, k, threshold) == pytest.approx(ways / math.comb(n, k))
    assert runs.mg_pass_at_k(4, 4, 4) == pytest.approx(1.0)
    assert runs.g_pass_at_k(2, 2, 3, 0.5) == 0.0


def test_scores_over_runs_are_those_of_each_project():
    marks = {"easy_0": [True, True, False, True], "hard_0": [False, False, True, False]}
    aisbench = runs.over_runs("aisbench", marks, 2, 4)
    assert aisbench["avg@4"] == 50.0
    assert (aisbench["pass@2"], aisbench["cons@2"]) == (pytest.approx(75.0), 50.0)
    assert (aisbench["easy/avg@4"], aisbench["hard/avg@4"]) == (75.0, 25.0)
    opencompass = runs.over_runs("opencompass", marks, [2, 4], 4)
    assert opencompass["G-Pass@2_1.0"] == pytest.approx(25.0)
    assert opencompass["hard/G-Pass@4_0.25"] == 100.0
    assert "mG-Pass@4" in opencompass
    assert not any("/" in name for name in runs.over_runs("aisbench", {"all_0": [True, False]}, 2, 2))
    assert runs.over_runs("aisbench", marks, 1, 4) == runs.over_runs("aisbench", {}, 2, 4) == {}


def test_runs_lie_in_blocks_or_row_by_row():
    assert runs.replica_positions(6, 2, in_blocks=True) == [[0, 1, 2], [3, 4, 5]]
    assert runs.replica_positions(6, 2, in_blocks=False) == [[0, 2, 4], [1, 3, 5]]


def test_means_over_runs_are_named_as_upstream_names_them():
    said = [{"pass@1": 50.0, "is": True, "f1": 1}, {"pass@1": 100.0, "is": False, "f1": 2}]
    assert runs.averaged(said, "aisbench") == {
        "accuracy (2 runs average)": 75.0, "is": [True, False], "f1 (2 runs average)": 1.5,
    }  # fmt: skip
    assert "pass@1 (2 runs average)" in runs.averaged(said, "opencompass")
    assert runs.meant_by("f1 (2 runs average)") == "f1"
    assert runs.meant_by("f1") is None
