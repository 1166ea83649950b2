"""Catalog artifacts by value, and warnings of old ones."""

from __future__ import annotations

import warnings

import pytest

from proctor.artifacts.deprecations import log_deprecation, warn_deprecated, warn_of_deprecations
from proctor.artifacts.fetch import fetch_artifact
from proctor.artifacts.held import by_value, held_parts, resolved
from proctor.scoring.metrics.accuracy import Accuracy


def test_a_named_part_is_held_with_what_is_in_it():
    metric = fetch_artifact("metrics.accuracy")
    found = held_parts([metric, {"a": [metric]}, "metrics.f1_micro", 3])
    assert set(found) == {"metrics.accuracy"}
    assert found["metrics.accuracy"]["__type__"] == "accuracy_fast"
    assert held_parts([Accuracy()]) == {}


def test_a_name_is_followed_where_something_is_to_be_had():
    assert resolved("metrics.accuracy").artifact_id == "metrics.accuracy"
    assert isinstance(resolved({"__type__": "accuracy"}), Accuracy)
    metric = Accuracy()
    assert (resolved("metrics.nowhere"), resolved(3), resolved(metric)) == ("metrics.nowhere", 3, metric)
    assert resolved("metrics.accuracy", metric).artifact_id == "metrics.accuracy"


def test_by_value_names_of_parts_are_gone():
    held = by_value(Accuracy(n_resamples=7))
    assert held == {"__type__": "accuracy", "n_resamples": 7}
    assert by_value([1, "a"]) == [1, "a"]


@pytest.fixture
def switched():
    yield warn_of_deprecations
    warn_of_deprecations(False)


def test_python_warns_of_old_names_where_it_is_to(switched, heard):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_deprecated("old")
        log_deprecation("older")
    assert heard.messages == ["older"]
    switched(True)
    with pytest.warns(DeprecationWarning, match="old name"):
        warn_deprecated("old name")
    with pytest.warns(DeprecationWarning, match="old artifact"):
        log_deprecation("old artifact")
