from __future__ import annotations

import math
import uuid

import pytest

from proctor.data import found_files
from proctor.data.field_operators import (
    AddConstant,
    AddID,
    ApplyOperatorsField,
    BytesToString,
    Cast,
    CastFields,
    Copy,
    Fillna,
    GetItemByIndex,
    Intersect,
    IntersectCorrespondingFields,
    JoinStr,
    MapValues,
    Move,
    Perturb,
    ReadFile,
    RecursiveCopy,
    RemoveValues,
    Rename,
    ShuffleFieldValues,
)
from proctor.data.streams import MultiStream
from proctor.errors import DataError, DatasetNotFoundError, MissingExtraError, MissingFieldError, ValidationError


@pytest.mark.parametrize(
    "operator, row, expected",
    [
        (Copy(field="a/0", to_field="b"), {"a": [1, 2]}, {"a": [1, 2], "b": 1}),
        (Rename(field="a/b", to_field="a/c"), {"a": {"b": 1}}, {"a": {"c": 1}}),
        (Rename(field_to_field={"a/b": "c"}), {"a": {"b": 1}}, {"c": 1}),
        (Rename(field="x", to_field="y", not_exist_do_nothing=True), {"a": 1}, {"a": 1}),
        (Rename(field_to_field={"x": "y", "a": "b"}, not_exist_do_nothing=True), {"a": 1}, {"b": 1}),
        (Rename(field="a", to_field="a/b"), {"a": 1}, {"a": {"b": 1}}),
        (Move(field="a/b", to_field="c"), {"a": {"b": 1}}, {"a": {}, "c": 1}),
        (BytesToString(field="a"), {"a": b"x"}, {"a": "b'x'"}),
        (AddConstant(field="a", add="x"), {"a": "y"}, {"a": "xy"}),
        (MapValues(field="a", mapping={"1": [2]}), {"a": 1}, {"a": [2]}),
        (JoinStr(field="a", separator="-"), {"a": [1, "b"]}, {"a": "1-b"}),
        (GetItemByIndex(field="a", items_list=["x", "y"]), {"a": 1}, {"a": "y"}),
        (Cast(field="a", to="float"), {"a": "2"}, {"a": 2.0}),
        (Cast(field="a", to="int", failure_default=None), {"a": "x"}, {"a": None}),
        (CastFields(fields={"a/b": "int"}), {"a": {"b": "3"}}, {"a": {"b": 3}}),
        (
            CastFields(fields={"a": "int"}, failure_defaults={"a": 0}, process_every_value=True),
            {"a": ["x", "2", None]},
            {"a": [0, 2, 0]},
        ),
        (Fillna(field="a", value=0), {"a": math.nan}, {"a": 0}),
        (Fillna(field="a", value=0), {"a": "text"}, {"a": "text"}),
        (Intersect(field="a", allowed_values=[1, 2]), {"a": [3, 2, 1]}, {"a": [2, 1]}),
        (RemoveValues(field="a", unallowed_values=[1]), {"a": [1, 2]}, {"a": [2]}),
        (
            IntersectCorrespondingFields(field="l", allowed_values=["b"], corresponding_fields_to_intersect=["p"]),
            {"l": ["a", "b"], "p": [0, 1], "o": 1},
            {"l": ["b"], "p": [1], "o": 1},
        ),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_values_are_changed(operator, row, expected):
    assert operator.process_instance(row) == expected


@pytest.mark.parametrize(
    "operator, row, words",
    [
        (MapValues(field="a", mapping={"yes": 1}), {"a": "yess"}, "did you mean 'yes'"),
        (Cast(field="a", to="int"), {"a": "x"}, "failure_default"),
        (CastFields(fields={"a": "int"}), {"a": None}, "'a' cannot be cast to int"),
        (CastFields(fields={"a": "int"}, process_every_value=True), {"a": 1}, "not a list"),
        (Intersect(field="a", allowed_values=[1]), {"a": 1}, "not a list"),
        (
            IntersectCorrespondingFields(field="l", allowed_values=[1], corresponding_fields_to_intersect=["p"]),
            {"l": [1], "p": []},
            "different lengths",
        ),
        (Rename(field="x", to_field="y"), {"a": 1}, "has no field 'x'"),
        (Move(field="x", to_field="y"), {"a": 1}, "has no field 'x'"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_values_that_do_not_fit_are_an_error(operator, row, words):
    with pytest.raises(DataError, match=words):
        operator.process_instance(row)


def test_lists_are_shuffled_alike_and_the_list_given_stays():
    given = {"a": list(range(20))}
    first = ShuffleFieldValues(field="a").process_instance(given)["a"]
    assert first == ShuffleFieldValues(field="a").process_instance(given)["a"] != given["a"] == list(range(20))
    assert sorted(first) == given["a"]


def test_copies_can_go_deep():
    row = {"a": [[1]]}
    made = RecursiveCopy(field="a", to_field="b").process_instance(row)
    assert made["b"] == made["a"]
    assert made["b"][0] is not made["a"][0]


def test_some_values_are_spoilt_and_always_alike():
    rows = [{"a": value} for value in [1, 2.5, "word", "x", None] * 40]
    operator = Perturb(field="a", to_field="p", percentage_to_perturb=50, select_from=[1])
    first, second = (list(operator(MultiStream.from_iterables({"t": rows}))["t"]) for _ in range(2))
    assert first == second
    changed = sum(row["a"] != row["p"] for row in first)
    assert 30 < changed < 100
    assert all(len(row["p"]) == 3 for row in first if row["a"] == "word" and row["p"] != "word")
    with pytest.raises(ValidationError):
        Perturb(field="a", percentage_to_perturb=101)


def test_single_rows_are_spoiled_one_after_the_other_and_not_all_alike():
    def spoiled():
        operator = Perturb(field="a", percentage_to_perturb=100)
        rows = [operator.process({"a": value}) for value in [*["abcdefgh"] * 8, 10, 2.0, "x", None]]
        return [row["a"] for row in rows]

    *texts, whole, share, short, nothing = spoiled()
    assert spoiled() == [*texts, whole, share, short, nothing]
    assert len(set(texts)) > 1
    assert {len(text) for text in texts} == {7}
    assert all(text[0] == "a" for text in texts)
    assert whole in (9, 11)
    assert 1.0 <= share < 3.0
    assert (short, nothing) == ("x", None)


def test_ids_are_unique_and_the_same_in_every_run():
    rows = MultiStream.from_iterables({"t": [{"a": 1}, {"a": 1}, {"a": 2}]})
    first, second = ([row["id"] for row in AddID()(rows)["t"]] for _ in range(2))
    assert first == second
    assert len(set(first)) == 3
    named = [uuid.uuid5(uuid.NAMESPACE_OID, text).hex for text in ("{'a': 1}", "{'a': 1}#2", "{'a': 2}")]
    assert first == named


def test_files_are_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("hé", encoding="utf-8")
    assert ReadFile(field="a").process_instance({"a": str(path)}) == {"a": "hé"}
    with pytest.raises(DatasetNotFoundError):
        ReadFile(field="a").process_instance({"a": str(tmp_path / "b.txt")})


def test_bytes_that_are_no_text_are_an_error_in_a_file_of_ones_own_and_marks_in_a_page(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"h\xff")
    with pytest.raises(UnicodeDecodeError):
        ReadFile(field="a").process_value(str(path))
    assert ReadFile(field="a", encoding="latin-1").process_value(str(path)) == "hÿ"
    monkeypatch.setattr(found_files, "file_named", lambda *_: path)
    assert ReadFile(field="a").process_value("https://x.example/a") == "h\ufffd"


def test_rows_can_name_their_operators():
    operator = ApplyOperatorsField(operators_field="ops", default_operators=["processors.to_string"])
    row = {"ops": ["processors.to_string", "processors.first_character"], "prediction": 111, "references": [222]}
    assert operator.process_instance(row) == {**row, "prediction": "1", "references": ["2"]}
    assert operator.process_instance({"prediction": 1, "references": []})["prediction"] == "1"
    with pytest.raises(DataError, match="No operators found in field"):
        ApplyOperatorsField(operators_field="ops").process_instance({})


def test_a_missing_package_is_named(monkeypatch):
    import sys

    from proctor.data.field_operators import WikipediaFetcher

    monkeypatch.setitem(sys.modules, "wikipediaapi", None)
    with pytest.raises(MissingExtraError, match="Wikipedia-API"):
        WikipediaFetcher(field="a").process_instance({"a": "x/Y"})


def test_order_of_pairs_is_kept():
    row = {"a": 1, "b": 2}
    assert Copy(field_to_field=[["a", "b"], ["b", "c"]]).process_instance(row) == {"a": 1, "b": 1, "c": 1}
    with pytest.raises(MissingFieldError):
        Copy(field="z").process_instance(row)
