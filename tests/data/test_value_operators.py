from __future__ import annotations

import copy

import pytest

from proctor.data import collection_operators as collections
from proctor.data import json_operators as jsons
from proctor.data import text_operators as texts
from proctor.data.streams import MultiStream
from proctor.errors import DataError, FieldTypeError, MissingExtraError, ValidationError


@pytest.mark.parametrize(
    "operator, value, expected",
    [
        (texts.Split(field="a", by=","), "x,y", ["x", "y"]),
        (texts.RegexSplit(field="a", by="[,;] *"), "x, y;z", ["x", "y", "z"]),
        (texts.RegexReplace(field="a", pattern="(x)+", replacement=r"<\1>"), "xxy", "<x>y"),
        (texts.RegexReplace(field="a", pattern="x", replacement="y"), 3, 3),
        (texts.Join(field="a", by="-"), ["x", "y"], "x-y"),
        (texts.Strip(field="a"), " x\n", "x"),
        (texts.Replace(field="a", old="x", new="y"), "xx", "yy"),
        (texts.MapReplace(field="a", mapping={"a": "b", "b": "c"}), "ab", "cc"),
        (collections.Dictify(field="a", with_keys=["x", "y"]), (1, 2), {"x": 1, "y": 2}),
        (collections.DictToTuplesList(field="a"), {"x": 1}, [("x", 1)]),
        (collections.Flatten(field="a"), [1, [2, [3, (4,)]]], [1, 2, 3, 4]),
        (collections.Wrap(field="a", inside="list"), 1, [1]),
        (collections.Wrap(field="a", inside="tuple"), 1, (1,)),
        (collections.Wrap(field="a", inside="set"), 1, {1}),
        (collections.Chunk(field="a", size=2), [1, 2, 3], [[1, 2], [3]]),
        (collections.Slice(field="a", start=1, step=2), "abcd", "bd"),
        (collections.Get(field="a", item=-1), [1, 2], 2),
        (collections.Get(field="a", item="k"), {"k": 2}, 2),
        (collections.GetLength(field="a"), [1, 2], 2),
        (collections.Filter(field="a", values=[1, "k"]), [1, 2], [2]),
        (collections.Filter(field="a", values=[1, "k"]), {"k": 1, "j": 2}, {"j": 2}),
        (jsons.LoadJson(field="a"), '{"x": "a\nb"}', {"x": "a\nb"}),
        (jsons.LoadJson(field="a", allow_failure=True, failure_value=[]), "{", []),
        (jsons.DumpJson(field="a"), {"x": [1]}, '{"x": [1]}'),
        (jsons.JsonStrToDict(field="a"), '{"x": 1, "y": null}', {"x": "1"}),
        (jsons.JsonStrToDict(field="a"), "[1]", {}),
        (jsons.JsonStrToDict(field="a"), "{", {}),
        (jsons.PythonCallProcessor(field="a"), "f(1, x='a')", {"name": "f", "arguments": {"x": "a", "_args": [1]}}),
        (jsons.ToolCallPostProcessor(field="a"), 'so: {"name": "f", "arguments": {}}!', {"name": "f", "arguments": {}}),
        (jsons.ToolCallPostProcessor(field="a"), '[{"name": "f", "arguments": {}}]', {"name": "f", "arguments": {}}),
        (jsons.ToolCallPostProcessor(field="a", failure_value="no"), "[]", "no"),
        (jsons.ToolCallPostProcessor(field="a", allow_failure=True, failure_value="no"), "nothing", "no"),
        (
            jsons.MultipleToolCallPostProcessor(field="a"),
            '{"name": "f", "arguments": {}}',
            [{"name": "f", "arguments": {}}],
        ),
        (jsons.MultipleToolCallPostProcessor(field="a", allow_failure=True), "x", None),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_values_are_changed(operator, value, expected):
    assert operator.process_instance({"a": value}) == {"a": expected}
    assert operator.process_value(value) == expected


@pytest.mark.parametrize(
    "operator, value, error",
    [
        (jsons.LoadJson(field="a"), "{", DataError),
        (jsons.PythonCallProcessor(field="a"), "f(x)", DataError),
        (jsons.PythonCallProcessor(field="a"), "os.system('x')", DataError),
        (jsons.PythonCallProcessor(field="a"), "1 +", DataError),
        (collections.Filter(field="a", values=[]), 3, FieldTypeError),
        (collections.Get(field="a", item=5), [1], DataError),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_values_that_do_not_fit_are_an_error(operator, value, error):
    with pytest.raises(error):
        operator.process_instance({"a": value})


def test_invalid_patterns_and_containers_are_refused_when_built():
    for build in (
        lambda: texts.RegexSplit(field="a", by="("),
        lambda: texts.RegexReplace(field="a", pattern="(", replacement=""),
    ):
        with pytest.raises(ValidationError, match="not a regular expression"):
            build()
    with pytest.raises(ValidationError):
        collections.Wrap(field="a", inside="dict")


def test_members_are_moved_out_and_the_source_stays():
    source = {"a": [1, 2], "d": {"k": 1, "j": 2}}
    made = collections.Pop(field="a", item=-1, to_field="b").process_instance(source)
    assert made == {"a": [1], "d": {"k": 1, "j": 2}, "b": 2}
    assert collections.Pop(field="d", item="k", to_field="b").process_instance(source)["d"] == {"j": 2}
    assert source == {"a": [1, 2], "d": {"k": 1, "j": 2}}


def test_lists_are_zipped():
    row = {"a": [1, 2], "b": "x"}
    assert collections.Zip(fields=["a", "b"], to_field="z").process_instance(row)["z"] == [(1, "x")]
    made = collections.ZipLongest(fields=["a", "b"], to_field="z", fill_value=0).process_instance(row)
    assert made["z"] == [(1, "x"), (2, 0)]


def test_lists_become_rows():
    rows = MultiStream.from_iterables({"t": [{"a": [1, 2], "b": 3}, {"a": [], "b": 4}]})
    assert list(collections.Explode(field="a", to_field="x")(rows)["t"]) == [
        {"a": [1, 2], "b": 3, "x": 1},
        {"a": [1, 2], "b": 3, "x": 2},
    ]
    made = list(collections.DuplicateBySubLists(field="a", to_field="x")(rows)["t"])
    assert [row["x"] for row in made] == [[1], [1, 2]]
    shorter = collections.ExplodeSubLists(field="a", end=-1, use_deep_copy=True)(rows)["t"]
    assert [row["a"] for row in shorter] == [[1]]


@pytest.mark.parametrize(
    "name, schema",
    [
        ("float", {"type": "number"}),
        ("HashMap", {"type": "object"}),
        ("string", {"type": "string"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("Tuple[str, int]", {"type": "array", "items": {"type": "string"}}),
        ("Union[str, int]", {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ("Callable[x]", {"type": "object"}),
        ("int, optional, default=3", {"anyOf": [{"type": "integer", "default": "3"}, {"type": "null"}]}),
        ("int, default 3", {"type": "integer", "default": "3"}),
        ("int, default=a=b c", {"type": "integer", "default": "a=b c"}),
        ("int, Optional", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("Point", {"type": "Point"}),
    ],
)
def test_types_of_programming_languages_become_schemas(name, schema):
    assert jsons.schema_of_type(name) == schema


def test_schemas_are_fixed_however_deep():
    row = {"t": [{"type": "dict", "properties": {"x": {"type": "int"}, "type": {"type": "str"}}}]}
    fixed = jsons.FixJsonSchemaOfParameterTypes(main_field="t").process_instance(row)
    assert fixed == {"t": [{"properties": {"x": {"type": "integer"}, "type": {"type": "string"}}, "type": "object"}]}
    assert jsons.FixJsonSchemaOfParameterTypes(main_field="t").process_instance(
        {"t": ["x", {"type": "int", "n": 3}]}
    ) == {"t": ["x", {"type": "integer", "n": 3}]}
    assert row["t"][0]["type"] == "dict"
    with pytest.raises(DataError, match="more than two remarks"):
        jsons.schema_of_type("int, a, b, c")


def test_text_is_cut_into_tokens():
    class Words:
        def tokenize(self, text):
            return text.split()

        def encode(self, text):
            return text.split()

        def decode(self, tokens):
            return " ".join(tokens)

    for operator, expected in (
        (texts.TokensSplit(field="a", model="m"), ["x", "y", "z"]),
        (texts.TokensSlice(field="a", model="m", start=1), "y z"),
    ):
        object.__setattr__(operator, "_loaded", Words())
        assert operator.process_value("x y z") == expected


def test_a_missing_tokenizer_library_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="transformers"):
        texts.TokensSplit(field="a", model="m").process_value("x")


@pytest.mark.parametrize(
    "fields, row, expected",
    [
        ({"field": "a", "to_field": "x"}, {"a": [1, 2]}, {"a": [1], "x": 2}),
        ({"field_to_field": [["a", "x"], ["a", "y"]]}, {"a": [1, 2]}, {"a": [], "x": 2, "y": 1}),
        ({"field": "b", "to_field": "x", "not_exist_do_nothing": True}, {"a": [1]}, {"a": [1]}),
        ({"field": "b", "to_field": "x", "not_exist_ok": True, "get_default": [7]}, {"a": [1]}, {"a": [1], "x": 7}),
        ({"field": "a", "to_field": "x", "process_every_value": True}, {"a": [[1], [2]]}, {"a": [[], []], "x": [1, 2]}),
    ],
)
def test_pop_takes_members_out_of_its_own_copy(fields, row, expected):
    before = copy.deepcopy(row)
    streams = collections.Pop(item=-1, **fields)(MultiStream({"test": [row]}))
    assert list(streams["test"]) == [expected]
    assert row == before
