from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.results.tables import pipe_table, simple_table


def test_numbers_align_at_the_decimal_point_and_text_at_the_left():
    table = pipe_table(["name", "score"], [["accuracy", 0.5], ["f1", 0.0], ["recall", 0.123456789]])
    assert table == (
        "| name     |    score |\n"
        "|:---------|---------:|\n"
        "| accuracy | 0.5      |\n"
        "| f1       | 0        |\n"
        "| recall   | 0.123457 |"
    )


def test_a_column_with_a_blank_is_text():
    assert "| 0.25 |" in pipe_table(["a"], [[0.25], [""]])


def test_cells_may_have_several_lines():
    assert pipe_table(["a", "b"], [["x\ny", 1]], index=True) == (
        "|    | a   |   b |\n|---:|:----|----:|\n|  0 | x   |   1 |\n|    | y   |     |"
    )


cells = st.one_of(
    st.none(),
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=8),
    st.sampled_from(["", "1", "2.5", "nan", "x y", " a "]),
)


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=6)),
    st.booleans(),
)
def test_markdown_tables_equal_tabulates(rows, index):
    tabulate = pytest.importorskip("tabulate")
    if not tabulate.__version__.startswith("0.9."):
        pytest.skip("the seed's tables come from tabulate 0.9; later ones read blanks differently")
    headers = [f"h{i}" for i in range(len(rows[0]))]
    expected = tabulate.tabulate(rows, headers=headers, tablefmt="pipe", showindex=index)
    assert pipe_table(headers, rows, index=index) == expected


CELL = st.sampled_from(["-", "1.50", "100.00", "7", "-3", "abc", "a b", "", "1e5", "nan", "0.1", "Infinity", "1_000"])


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_simple_tables_equal_tabulates(body):
    tabulate = pytest.importorskip("tabulate")
    if not tabulate.__version__.startswith("0.9."):
        pytest.skip("upstream's tables come from tabulate 0.9; later ones read blanks differently")
    listed = [[f"h{i}" for i in range(len(body[0]))], *body]
    wanted = tabulate.tabulate(listed, headers="firstrow", floatfmt=".2f")
    assert simple_table(listed) == wanted


@pytest.mark.parametrize(
    "values, rule, cells",
    [
        ([np.int64(3), 10], "|----:|", ["|   3 |", "|  10 |"]),
        ([np.float64(0.5), np.int32(2)], "|----:|", ["| 0.5 |", "| 2   |"]),
        ([True, False], "|:------|", ["| True  |", "| False |"]),
        ([np.bool_(True)], "|:-----|", ["| True |"]),
        ([{"int": 1}], "|:-----------|", ["| {'int': 1} |"]),
        (["1", "22"], "|----:|", ["|   1 |", "|  22 |"]),
        (["inf", "1e400"], "|:------|", ["| inf   |", "| 1e400 |"]),
        ([None, 2], "|----:|", ["|     |", "|   2 |"]),
    ],
)
def test_numbers_of_every_library_are_numbers(values, rule, cells):
    assert pipe_table(["v"], [[value] for value in values]).splitlines()[1:] == [rule, *cells]


def test_a_table_for_terminals_has_two_decimals_where_a_column_has_fractions():
    assert simple_table([["name", "a", "b"], ["x", "1.5", "10"], ["long name", "22", "7"]]) == (
        "name           a    b\n"
        "---------  -----  ---\n"
        "x           1.50   10\n"
        "long name  22.00    7"
    )  # fmt: skip
