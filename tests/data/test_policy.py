from __future__ import annotations

import json

import pytest

from proctor.artifacts import add_to_catalog, fetch_artifact
from proctor.data.instance_operators import Set
from proctor.data.policy import check_policies, check_policy, classes_of, policy_of
from proctor.errors import PolicyError, SettingsError


def test_without_a_policy_everything_may_be_seen():
    check_policy(None, {"data_classification_policy": ["pii"]}, "x")


def test_one_of_the_classes_has_to_be_allowed():
    check_policy(["public", "pii"], {"data_classification_policy": ["pii", "other"]}, "x")
    with pytest.raises(PolicyError, match="the data is pii; 'x' is allowed public"):
        check_policy(["public"], {"data_classification_policy": ["pii"]}, "x")


def test_data_without_classes_passes_with_a_warning(heard):
    check_policy(["public", "pii"], {}, "x")
    assert "'x' may only see public, pii data, and the data does not say what it is" in heard.text


@pytest.mark.parametrize(
    "row, classes",
    [
        ({"data_classification_policy": ["pii"], "metadata": {"data_classification_policy": ["public"]}}, ["pii"]),
        ({"metadata": {"data_classification_policy": ["public"]}}, ["public"]),
        ({"metadata": {}}, []),
        ({"metadata": "of another kind"}, []),
        ({}, []),
    ],
)
def test_the_classes_of_a_row_stand_in_it_or_among_its_metadata(row, classes):
    assert classes_of(row) == classes


def test_the_environment_overrides_the_policy_of_a_named_artifact(monkeypatch, tmp_path):
    add_to_catalog(Set(fields={"a": 1}, data_classification_policy=["public"]), "operators.mine", verbose=False)
    operator = fetch_artifact("operators.mine")
    assert policy_of(operator) == ["public"]
    for variable in ("PROCTOR_DATA_CLASSIFICATION_POLICY", "UNITXT_DATA_CLASSIFICATION_POLICY"):
        monkeypatch.setenv(variable, json.dumps({"operators.mine": ["pii"]}))
        assert policy_of(operator) == ["pii"]
        assert operator.process_instance({"data_classification_policy": ["pii"]})["a"] == 1
        monkeypatch.delenv(variable)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": "public"}', '{"a": [1]}'])
def test_a_policy_in_the_environment_that_cannot_be_read_is_an_error(monkeypatch, text):
    monkeypatch.setenv("PROCTOR_DATA_CLASSIFICATION_POLICY", text)
    with pytest.raises(SettingsError, match="PROCTOR_DATA_CLASSIFICATION_POLICY"):
        policy_of(Set(fields={}))


def test_rows_that_do_not_say_what_they_are_warn_once(monkeypatch):
    told = []
    monkeypatch.setattr(
        "proctor.data.policy.get_logger", lambda: type("", (), {"warning": lambda *args: told.append(args)})
    )
    known = {"data_classification_policy": ["public"]}
    check_policies(["public"], [{}, known, {}, {}], "x")
    assert len(told) == 1
    with pytest.raises(PolicyError):
        check_policies(["public"], [{}, known, {"data_classification_policy": ["pii"]}], "x")
