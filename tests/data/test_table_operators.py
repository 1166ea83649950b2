from __future__ import annotations

import copy

import pytest

from proctor.data import table_operators as tables
from proctor.errors import DataError

TABLE = {"header": ["a", "b"], "rows": [[i, f"x{i}"] for i in range(12)]}


@pytest.mark.parametrize(
    "operator, expected",
    [
        (tables.TransposeTable(field="t"), {"header": [" ", "0", "1"], "rows": [["a", 0, 1], ["b", "x0", "x1"]]}),
        (
            tables.DuplicateTableRows(field="t", row_indices=[1], times=2),
            {"header": ["a", "b"], "rows": [[0, "x0"], [1, "x1"], [1, "x1"]]},
        ),
        (
            tables.DuplicateTableColumns(field="t", column_indices=[0], times=2),
            {"header": ["a", "a", "b"], "rows": [[0, 0, "x0"], [1, 1, "x1"]]},
        ),
        (tables.MaskColumnsNames(field="t"), {"header": ["Col1", "Col2"], "rows": [[0, "x0"], [1, "x1"]]}),
        (
            tables.ConvertTableColNamesToSequential(field="t"),
            {"header": ["col_0", "col_1"], "rows": [[0, "x0"], [1, "x1"]]},
        ),
        (tables.GetNumOfTableCells(field="t"), 4),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_tables_are_changed(operator, expected):
    given = {"header": ["a", "b"], "rows": [[0, "x0"], [1, "x1"]]}
    before = copy.deepcopy(given)
    assert operator.process_instance({"t": given})["t"] == expected
    assert given == before


@pytest.mark.parametrize(
    "operator",
    [
        tables.ShuffleTableRows(field="t"),
        tables.ShuffleTableColumns(field="t"),
        tables.ShuffleColumnsNames(field="t"),
        tables.InsertEmptyTableRows(field="t", times=3),
        tables.TruncateTableRows(field="t", rows_to_keep=5),
    ],
    ids=lambda each: type(each).__name__,
)
def test_random_changes_are_the_same_for_equal_tables(operator):
    given = {**TABLE, "header": list("abcdefgh"), "rows": [list(range(i, i + 8)) for i in range(12)]}
    before = copy.deepcopy(given)
    first = operator.process_instance({"t": given})["t"]
    assert first == operator.process_instance({"t": copy.deepcopy(given)})["t"]
    assert first != before == given


def test_augmentors_leave_other_values_alone():
    assert tables.ShuffleTableRows(field="t").process_instance({"t": "text"}) == {"t": "text"}


def test_rows_that_are_kept_keep_their_order():
    rows = tables.TruncateTableRows(field="t", rows_to_keep=5).process_instance({"t": TABLE})["t"]["rows"]
    assert len(rows) == 5
    assert rows == sorted(rows)
    assert tables.TruncateTableRows(field="t", rows_to_keep=50).process_instance({"t": TABLE})["t"] == TABLE


def test_long_cells_are_cut_and_answers_with_them():
    row = {"t": {"header": ["h"], "rows": [["abcdef"], ["ab"], [123456789]]}, "o": ["abcdef", "zz"]}
    made = tables.TruncateTableCells(table="t", text_output="o", max_length=3).process_instance(row)
    assert made == {"t": {"header": ["h"], "rows": [["abc"], ["ab"], [123456789]]}, "o": ["abc", "zz"]}
    assert row["o"] == ["abcdef", "zz"]


@pytest.mark.parametrize(
    "operator, row, expected",
    [
        (
            tables.SerializeTableRowAsText(fields=["a", "b"], to_field="z", max_cell_length=2),
            {"a": "xyz", "b": 123},
            "a is xy, b is 123, ",
        ),
        (tables.SerializeTableRowAsList(fields=["a"], to_field="z"), {"a": None}, "a: None, "),
        (
            tables.SerializeTriples(field="a", to_field="z"),
            {"a": [["S", "REL", "O"], ["x", "y", "z"]]},
            "S : rel : O | x : y : z",
        ),
        (tables.SerializeKeyValPairs(field="a", to_field="z"), {"a": {"k": 1, "j": "v"}}, "k is 1, j is v"),
        (tables.ListToKeyValPairs(fields=["a", "b"], to_field="z"), {"a": ["k"], "b": [1]}, {"k": 1}),
        (
            tables.MapTableListsToStdTableJSON(field="a", to_field="z"),
            {"a": [["h"], [1]]},
            {"header": ["h"], "rows": [[1]]},
        ),
        (
            tables.ConstructTableFromRowsCols(fields=["a", "b"], to_field="z"),
            {"a": "['h']", "b": "[[1]]"},
            {"header": ["h"], "rows": [[1]]},
        ),
        (
            tables.ConstructTableFromRowsCols(fields=["a", "b", "c"], to_field="z"),
            {"a": "['h']", "b": "[[1]]", "c": "cap"},
            {"header": ["h"], "rows": [[1]], "caption": "cap"},
        ),
        (
            tables.ParseCSV(field="a", to_field="z"),
            {"a": 'x,y\n1,"a, b"\n'},
            {"header": ["x", "y"], "rows": [["1", "a, b"]]},
        ),
        (
            tables.ParseCSV(field="a", to_field="z", separator="\t", has_header=False, strip_cells=True),
            {"a": " x\ty\n"},
            {"header": ["col_0", "col_1"], "rows": [["x", "y"]]},
        ),
        (
            tables.ParseCSV(field="a", to_field="z", skip_header=True),
            {"a": "x,y\n1,2\n"},
            {"header": ["col_0", "col_1"], "rows": [["1", "2"]]},
        ),
        (
            tables.MapHTMLTableToJSON(field="a", to_field="z"),
            {
                "a": "<table><thead><tr><th>a</th><th>b &amp; c</th></tr></thead><tbody><tr><td>1</td><td>x<b>y</b></td></tr><tr><td></td><td>3</td></tr></tbody></table>"
            },
            {"header": ["a", "b & c"], "rows": [["1", "xy"], ["", "3"]]},
        ),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_tables_are_read_and_written(operator, row, expected):
    assert operator.process_instance(row)["z"] == expected


@pytest.mark.parametrize(
    "operator, row, words",
    [
        (
            tables.ConstructTableFromRowsCols(fields=["a", "b"], to_field="z"),
            {"a": "open('x')", "b": "[]"},
            "not a Python list",
        ),
        (tables.MapHTMLTableToJSON(field="a"), {"a": "<p>no</p>"}, "not a table"),
        (tables.ParseCSV(field="a", has_header=False), {"a": ""}, "no rows"),
        (tables.ConvertTableColNamesToSequential(field="a"), {"a": {"header": [], "rows": []}}, "no header"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_what_is_no_table_is_an_error(operator, row, words):
    with pytest.raises(DataError, match=words):
        operator.process_instance(row)
