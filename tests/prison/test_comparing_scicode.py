"""What SciCode's tests find beside a program; its libraries are stand-ins, the real ones are in ``test_scicode.py``."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from proctor.prison.inside import scicode


class Matrix:
    """A sparse matrix that says how it was made."""

    def __init__(self, *made, **named):
        self.made, self.named = made, named

    def toarray(self):
        return np.array(self.made[0])


class Symbol:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


KINDS = {f"{kind}_matrix": type(kind, (Matrix,), {}) for kind in ("csr", "csc", "bsr", "coo")}


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    """Libraries that take a second to import."""
    sparse = SimpleNamespace(**KINDS)
    for name, module in {
        "scipy": SimpleNamespace(sparse=sparse), "scipy.sparse": sparse, "sympy": SimpleNamespace(Symbol=Symbol),
    }.items():  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)


def matrix(kind, *rows):
    return KINDS[f"{kind}_matrix"](rows)


def test_tests_import_the_module_under_its_authors_names(monkeypatch):
    names = {"scicode", "scicode.compare", "scicode.compare.cmp", "opencompass", "opencompass.datasets"}
    for name in (*names, "opencompass.datasets.scicode"):
        monkeypatch.setitem(sys.modules, name, None)
    assert scicode.ready([1, {"t": [2, "a"]}]) == [1, (2, "a")]
    assert {sys.modules[name] for name in (*names, "opencompass.datasets.scicode")} == {scicode}


def test_targets_that_are_arrays_of_objects_and_sparse_matrices_are_made_anew():
    array = scicode.ready({"objects": [[2, 1], ["a", None]]})
    assert (array.dtype, array.tolist()) == (np.dtype(object), [["a"], [None]])
    given = {
        "data": [1],
        "indices": [0],
        "indptr": [0, 1],
        "row": [0],
        "col": [2],
        "shape": [3, 4],
        "blocksize": [1, 2],
    }

    def made(*parts):
        found = scicode.ready({"sparse": {"d": [[part, given[part]] for part in (*parts, "data", "shape")]}})
        assert found.named["shape"] == (3, 4)
        return type(found).__name__, found.made[0], found.named.get("blocksize")

    assert made("row", "col") == ("coo", ([1], ([0], [2])), None)
    assert made("row", "indices", "indptr") == made("col", "indices", "indptr") == ("csr", ([1], [0], [0, 1]), None)
    assert made("indices", "indptr", "blocksize") == ("bsr", ([1], [0], [0, 1]), (1, 2))
    with pytest.raises(ValueError, match="not a value"):
        scicode.ready({"unknown": 1})


@pytest.mark.parametrize(
    "one, other, close",
    [
        ((1.0, [2.0]), (1.0 + 1e-9, [2.0]), True), ((1.0,), (1.0001,), False), ((1.0,), (1.0, 2.0), False), ((1.0, 2.0), (1.0, 3.0), False),
        (({"a": 1.0},), ({"a": 1.0},), True), (({"a": 1.0},), ({"a": 2.0},), False), ((True,), (True,), True), ((True,), (1.5,), False),
        ((1.0 + 1e-9,), (True,), True), (([1.0, 2.0],), ([1.0, 2.0, 3.0],), False), ((False,), (0.0,), True), ((False,), (1e-9,), False),
        ((matrix("csr", 1, 2),), (matrix("coo", 1, 2 + 1e-9),), True), ((matrix("csc", 1, 2),), (matrix("csc", 1, 3),), False),
    ],
)  # fmt: skip
def test_sequences_are_close_item_by_item(one, other, close):
    assert scicode.cmp_tuple_or_list(one, other) is close


@pytest.mark.parametrize(
    "one, other, close",
    [
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0 + 1e-9}, True), ({"a": 1.0}, {"a": 1.1}, False), ({"a": 1.0}, {"a": 1.0, "b": 1}, False),
        ({"a": 1.0, "b": 1}, {"a": 1.0}, False), ({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}, False), ({"a": "x"}, {"a": "x"}, True),
        ({"a": "x"}, {"a": "y"}, False), ({Symbol("a"): 1.0}, {"a": 1.0}, True), ({1: Symbol("x")}, {1: "x"}, True), ({}, {}, True),
        ({Symbol("a"): Symbol("x")}, {"a": "x"}, False), ({"a": [1.0]}, {"a": [1.0, 2.0, 3.0]}, False),
        *(({"m": matrix(kind, 1, 2)}, {"m": matrix("coo", 1, 2 + 1e-9)}, True) for kind in ("csr", "csc", "bsr", "coo")),
        ({"m": matrix("bsr", 1, 2)}, {"m": matrix("bsr", 1, 2.1)}, False),
    ],
)  # fmt: skip
def test_mappings_are_close_by_their_keys_and_values(one, other, close):
    assert scicode.are_dicts_close(one, other) is close


def test_how_close_values_of_mappings_are_can_be_said():
    assert scicode.are_dicts_close({"a": 0.0}, {"a": 0.5}, atol=0.6)
    assert scicode.are_dicts_close({"a": 90.0}, {"a": 100.0}, rtol=0.2)
    assert scicode.are_dicts_close({"m": matrix("csr", 0.0)}, {"m": matrix("csr", 0.5)}, atol=0.6)
    assert scicode.are_dicts_close({"m": matrix("csr", 90.0)}, {"m": matrix("csr", 100.0)}, rtol=0.2)


def test_sparse_matrices_are_close_by_their_numbers():
    assert scicode.are_csc_matrix_close(matrix("csc", 1, 2), matrix("csr", 1, 2 + 1e-9)) is True
    assert scicode.are_csc_matrix_close(matrix("csc", 1, 2), matrix("csr", 1, 3)) is False


def test_symbols_count_by_their_names():
    key = Symbol("k")
    value = Symbol("v")
    found = scicode.process_symbol_in_dict({key: value, "a": value, 2: 3})
    assert found == {"k": value, "a": "v", 2: 3}
    assert [type(each) for each in found] == [str, str, int]
