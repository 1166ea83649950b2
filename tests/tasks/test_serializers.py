from __future__ import annotations

import json
from typing import Any, List, NewType, Union  # noqa: UP035 - as files of Unitxt spell types

import pytest

from proctor.artifacts import fetch_artifact
from proctor.errors import FieldTypeError, ProctorError, ValidationError
from proctor.tasks import serializers as s
from proctor.tasks.table_serializers import SerializeTable, SerializeTableAsMarkdown
from proctor.tasks.types import Dialog, register_type

TABLE = {"header": ["a", "b"], "rows": [[1, "x, y"], [None, 2.5]]}
TURN = {"role": "user", "content": "hi"}
CALL = {"name": "f", "arguments": {"x": 1}}
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    "value, text",
    [
        ("text", "text"),
        (3, "3"),
        (2.5, "2.5"),
        (None, "None"),
        (True, "True"),
        (["a", 1], "a, 1"),
        ([], ""),
        ((1, 2), "(1, 2)"),
        ({"k": 1}, "{'k': 1}"),
        (TABLE, 'a,b\n1,"x, y"\n,2.5'),
        ([TURN, {"role": "assistant", "content": "yes"}], "user: hi\nassistant: yes"),
        ({"id": "1", "dialog": [TURN]}, "user: hi"),
        (CALL, json.dumps(CALL)),
    ],
)
def test_values_become_text(value, text):
    assert s.default_serializer().serialize(value, {}) == text


def test_documents_have_a_heading():
    many = s.MultiTypeSerializer()
    assert many.serialize({"title": "T", "body": "B"}, {}) == "# T\n\nB"
    assert many.serialize([{"title": "T", "body": "B"}] * 2, {}) == "# T\n\nB\n\n# T\n\nB"
    assert many.serialize(["a", 1], {}) == "['a', 1]"


def test_calls_of_tools_follow_their_turn():
    turn = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": CALL}]}
    assert s.DialogSerializer().serialize([turn], {}) == f"assistant: None\n{json.dumps(turn['tool_calls'])}"


def test_tools_are_kept_for_the_format():
    instance: dict[str, Any] = {}
    text = s.default_serializer().serialize([TOOL], instance)
    assert json.loads(text) == [{"type": "function", "function": TOOL}] == instance["__tools__"]


def test_images_leave_the_text_and_the_values_stay():
    image, other = {"image": "pixels", "format": "png"}, {"image": "more", "format": "jpeg"}
    fields = {"i": image, "v": [image, other]}
    instance = {"input_fields": dict(fields), "media": {}}
    serializer = s.default_serializer()
    assert serializer.serialize(fields["i"], instance) == '<unitxt-img src="media/images/0">'
    assert (
        serializer.serialize(fields["v"], instance)
        == '<unitxt-img src="media/images/1"><unitxt-img src="media/images/2">'
    )
    assert [each["image"] for each in instance["media"]["images"]] == ["pixels", "pixels", "more"]
    assert instance["input_fields"]["i"]["image"].startswith("media/images/")
    assert image == {"image": "pixels", "format": "png"}
    assert fields == {"i": image, "v": [image, other]}


@pytest.mark.parametrize(
    "serializer, value, text",
    [
        (s.NumberSerializer(), 3, "3"),
        (s.NumberSerializer(), 2.567, "2.6"),
        (s.NumberQuantizingSerializer(quantum=1), 2.6, "3"),
        (s.NumberQuantizingSerializer(quantum=0.5), 2.6, "2.5"),
        (s.DictAsJsonSerializer(), {"a": 1}, '{"a": 1}'),
        (s.DefaultSerializer(), [1], "[1]"),
        (s.DefaultListSerializer(), [1, 2], "1, 2"),
        (s.DefaultListSerializer(), 3, "3"),
    ],
)
def test_other_serializers(serializer, value, text):
    assert serializer.serialize(value, {}) == text


def test_the_first_serializer_of_a_type_wins():
    lists_first = s.MultiTypeSerializer(serializers=[s.ListSerializer(), s.DialogSerializer()])
    assert lists_first.serialize([TURN], {}).startswith("{'role'")
    dialogs_first = lists_first.preceded_by([s.DialogSerializer()])
    assert dialogs_first.serialize([TURN], {}) == "user: hi"
    lists_first.add_serializers([s.DialogSerializer()])
    assert lists_first.serialize([TURN], {}) == "user: hi"


def test_serializers_of_ones_own():
    class Shouting(s.SingleTypeSerializer):
        serialized_type = Dialog

        def serialize(self, value: Dialog, instance: dict[str, Any]) -> str:
            return " ".join(turn["content"].upper() for turn in value)

    assert s.default_serializer().preceded_by([Shouting()]).serialize([TURN], {}) == "HI"
    assert Shouting(field="d", to_field="t").process_instance({"d": [TURN]})["t"] == "HI"
    with pytest.raises(FieldTypeError, match="expected Dialog"):
        Shouting(field="d").process_instance({"d": "text"})


def test_text_can_have_a_serializer_too():
    Name = NewType("Name", str)
    register_type(Name)

    class Greeting(s.SingleTypeSerializer):
        serialized_type = Name

        def serialize(self, value, instance):
            return f"Dear {value}"

    assert s.MultiTypeSerializer(serializers=[Greeting()]).serialize("Ann", {}) == "Dear Ann"


def test_databases_are_described():
    config = {"db_id": "x", "db_type": "in_memory", "dbms": None, "data": {"t": {"columns": ["a"], "rows": []}}}
    assert s.default_serializer().serialize(config, {}) == "CREATE TABLE `t` (`a` TEXT);"


def test_a_serializer_needs_a_type_and_a_method():
    class NoType(s.SingleTypeSerializer):
        pass

    with pytest.raises(ValidationError, match="serialized_type"):
        NoType()
    with pytest.raises(ValidationError, match="does not define serialize"):
        s.Serializer().serialize(1, {})
    with pytest.raises(ValidationError):
        s.MultiTypeSerializer(serializers=[s.DefaultSerializer()])


@pytest.mark.parametrize(
    "name, text",
    [
        ("markdown", "|a|b|\n|---|---|\n|1|x, y|\n|None|2.5|"),
        (
            "html",
            "<table>\n  <thead>\n    <tr><th>a</th><th>b</th></tr>\n  </thead>\n  <tbody>\n    <tr><td>1</td><td>x, y</td></tr>\n    <tr><td>None</td><td>2.5</td></tr>\n  </tbody>\n</table>",
        ),
        ("json", '{"0": {"a": 1, "b": "x, y"}, "1": {"a": null, "b": 2.5}}'),
        ("indexed_row_major", "col : a | b row 1 : 1 | x, y row 2 : None | 2.5"),
        ("concat", "a b 1 x, y None 2.5"),
        ("df", 'pd.DataFrame({\n"a": [1.0, NaN], "b": ["x, y", 2.5]},\nindex=[0, 1])'),
    ],
)
def test_tables_have_many_forms(name, text):
    assert fetch_artifact(f"serializers.table.{name}").serialize(TABLE, {}) == text


def test_tables_are_shuffled_alike_and_stay():
    table = {"header": list("abcdef"), "rows": [[i] * 6 for i in range(9)]}
    serializer = SerializeTableAsMarkdown(shuffle_rows=True, shuffle_columns=True, seed=3)
    first = serializer.serialize(table, {})
    assert first == serializer.serialize(table, {}) != SerializeTableAsMarkdown().serialize(table, {})
    assert table["header"] == list("abcdef")
    assert first != SerializeTableAsMarkdown(shuffle_rows=True, shuffle_columns=True, seed=4).serialize(table, {})


def test_an_empty_table_is_an_error():
    with pytest.raises(ProctorError, match="header and rows"):
        SerializeTableAsMarkdown().serialize({"header": [], "rows": []}, {})


def test_tables_become_pictures():
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    instance: dict[str, Any] = {}
    assert fetch_artifact("serializers.table.image").serialize(TABLE, instance) == '<unitxt-img src="media/images/0">'
    assert instance["media"]["images"][0]["image"].size[0] > 100


def test_a_serializer_of_a_program_is_asked_about_plain_texts_too():
    from proctor.templates import InputOutputTemplate

    def loud(self, value, instance):
        return s.MultiTypeSerializer.serialize(self, value, instance) + "!"

    made = type("Loud", (s.MultiTypeSerializer,), {"serialize": loud, "__module__": "a_program"})()
    assert not made.keeps_text
    assert s.MultiTypeSerializer().keeps_text
    instance = {"input_fields": {"q": "a"}, "reference_fields": {"r": "b"}}
    for serializer in (made, made.preceded_by([s.ListSerializer()])):
        template = InputOutputTemplate(input_format="{q}", output_format="{r}", serializer=serializer)
        done = template.process(instance | {}, "test")
        assert (done["source"], done["target"]) == ("a!", "b!")


@pytest.mark.parametrize("kind", [list, List, List[str], List[Any], Union[List[str], Dialog]])  # noqa: UP006, UP007
def test_a_serializer_of_ones_own_is_asked_for_lists_of_texts(kind):
    class Joined(s.SingleTypeSerializer):
        serialized_type: Any = kind

        def serialize(self, value, instance):
            return " & ".join(value)

    assert s.default_serializer().preceded_by([Joined()]).serialize(["a", "b"], {}) == "a & b"


def test_an_image_in_a_list_of_an_instance_becomes_its_place():
    image, other = {"image": "pixels", "format": "png"}, {"image": "more", "format": "jpeg"}
    instance = {"input_fields": {"v": [image, other]}, "reference_fields": {"gold": [other]}, "media": {}}
    s.default_serializer().serialize(image, instance)
    assert [each["image"] for each in instance["input_fields"]["v"]] == ["media/images/0", "more"]
    assert instance["reference_fields"]["gold"] == [other]


@pytest.mark.parametrize("missing", ["header", "rows"])
def test_a_table_without_one_of_its_parts_is_an_error(missing):
    with pytest.raises(ProctorError, match="header and rows"):
        SerializeTableAsMarkdown().serialize({**TABLE, missing: []}, {})


@pytest.mark.parametrize("what", ["shuffle_rows", "shuffle_columns"])
def test_rows_and_columns_are_shuffled_each_by_itself_by_seed_0_where_none_is_given(what):
    table = {"header": list("abcdef"), "rows": [[f"{i}{name}" for name in "abcdef"] for i in range(9)]}
    said, plain = (SerializeTableAsMarkdown(**made).serialize(table, {}) for made in ({what: True}, {}))
    assert said == SerializeTableAsMarkdown(**{what: True}, seed=0).serialize(table, {}) != plain
    assert (said.splitlines()[0] == plain.splitlines()[0]) is (what == "shuffle_rows")
    assert sorted(said) == sorted(plain)


def test_a_serializer_of_tables_says_what_it_has_to_define():
    class Mine(SerializeTable):
        pass

    with pytest.raises(ValidationError, match=r"Mine does not define serialize_table\(table_content\)"):
        Mine().serialize(TABLE, {})
