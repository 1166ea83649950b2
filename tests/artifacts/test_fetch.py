"""Building artifacts of data that a file or a program brings."""

import time

import pytest
from tests_pace import in_time

import proctor
from proctor.artifacts import Artifact, fetch_artifact
from proctor.errors import ProctorError


@pytest.mark.parametrize("metric", [{}, {"main_score": "x"}, {"__type__": "metric"}])
def test_what_several_kinds_have_in_common_is_none_of_them(metric):
    with pytest.raises(ProctorError, match=r"needs a '__type__'|have in common"):
        fetch_artifact({"__type__": "metric_pipeline", "main_score": "f1", "metric": metric})


@pytest.mark.parametrize("entry", [{"__type__": "criteria_optoin"}, "templates.classification.multi_class.defalt"])
def test_thousands_of_unknown_names_are_told_quickly_and_the_first_with_a_hint(entry):
    many = {"__type__": "criteria_with_options", "name": "x", "description": "y", "options": [entry] * 1000}
    began = time.process_time()
    with pytest.raises(ProctorError) as caught:
        fetch_artifact(many)
    assert in_time(time.process_time() - began, 2)
    hints = [each.hint.startswith("did you mean") for each in caught.value.diagnostics]
    assert hints[0]
    assert len(hints) > 1
    assert not hints[-1]


def test_what_save_wrote_is_loaded_again_by_any_class_that_it_is_of(tmp_path):
    path = tmp_path / "steps.without_ending"
    made = proctor.data.Set(fields={"a": {"b": 1}})
    made.save(path)
    assert Artifact.load(path) == made
    assert proctor.data.Set.load(str(path), "operators.mine").get_pretty_print_name() == "operators.mine"
    assert Artifact.load(path, overwrite_args={"fields": {"c": 2}}).fields == {"c": 2}
    assert Artifact.load(path).get_pretty_print_name() == "Set"
    with pytest.raises(ProctorError, match="'set', which is not a Rename"):
        proctor.data.Rename.load(path)
    with pytest.raises(ProctorError):
        Artifact.load(tmp_path / "none.json")


def test_a_link_in_a_file_is_followed(tmp_path):
    path = tmp_path / "link.json"
    path.write_text('{"__type__": "artifact_link", "to": "processors.lower_case"}')
    assert Artifact.load(path).get_pretty_print_name() == "processors.lower_case"
    assert fetch_artifact(path) == fetch_artifact("processors.lower_case")


def test_yaml_has_the_fields_in_alphabetical_order():
    assert proctor.data.Set(fields={"b": 1, "a": [2]}).to_yaml() == "__type__: set\nfields:\n  a:\n  - 2\n  b: 1\n"


def test_an_artifact_is_its_name_where_it_has_one():
    assert fetch_artifact("metrics.accuracy").serialize() == "metrics.accuracy"
    made = proctor.data.Set(fields={"a": 2})
    assert made.serialize() == made.to_json()
    assert made.get_repr_dict()["fields"] == {"a": 2}


@pytest.mark.parametrize(
    "source, told",
    [
        (3, "an artifact is wanted, and this is int: 3"),
        ('{"weight": 3}', "an artifact needs a '__type__'"),
        ('{"__type__": "nothing_of_the_kind"}', "no class is registered under the type 'nothing_of_the_kind'"),
        ('{"__type__": ', r"the text is not valid JSON"),
        ({"__type__": "metric"}, "'metric' is what several kinds of artifacts have in common"),
    ],
)
def test_what_is_no_artifact_is_told_by_what_it_lacks(source, told):
    with pytest.raises(ProctorError, match=told):
        fetch_artifact(source)


def test_an_artifact_and_a_mapping_take_other_values():
    made = fetch_artifact({"__type__": "set", "fields": {"a": 1}})
    assert fetch_artifact(made) is made
    assert fetch_artifact(made, overwrites={"fields": {"b": 2}}).fields == {"b": 2}
    assert made.fields == {"a": 1}
    assert fetch_artifact({"__type__": "set", "fields": {}}, overwrites={"fields": {"b": 2}}).fields == {"b": 2}
    assert fetch_artifact('{"__type__": "set", "fields": {}}', overwrites={"fields": {"b": 2}}).fields == {"b": 2}
