"""An instance's score as it is read from a line of ``samples.jsonl``."""

from __future__ import annotations

import pytest

from proctor.results.instance_scores import main_score, whole_of


@pytest.mark.parametrize(
    "scores, name, expected",
    [
        ({"f1": 0.5, "acc": 1.0}, "acc", 1.0),
        ({"f1": 0.5, "score": 0.25}, "acc", 0.25),
        ({"f1": 0.5, "accuracy": 1.0}, "accuracy (3 runs average)", 1.0),
        ({"note": "good", "f1": 0.5, "acc": 1.0}, "bleu", 0.5),
        ({"right": True}, None, 1.0),
        ({"f1": 0.5, "acc": None}, "acc", None),
        ({"f1": 10**400}, "f1", None),
        ({}, "acc", None),
        (None, "acc", None),
    ],
)
def test_the_main_score_is_the_named_one_or_the_first_number(scores, name, expected):
    assert main_score({"scores": scores}, name) == expected


@pytest.mark.parametrize(
    "values, entry, whole",
    [
        ([0.0, 1.0], {"score": 0.5}, 1.0),
        ([0.0, 100.0], {"unit": "percent", "score": 50.0}, 100.0),
        ([0.0, 1.0], {"unit": "percent", "score": 50.0}, 1.0),
        ([0.0, 1.0], {"unit": "percent", "score": 0.5}, 100.0),  # very bad answers, in percent
        ([0.0, 1.0], {"unit": "percent", "score": 70.0}, 1.0),  # not their mean
        ([0.0, 1.5], {"unit": "percent", "score": 70.0}, 100.0),
        ([0.0, 0.0], {"unit": "percent", "score": 0.0}, 1.0),
        ([], {"unit": "percent", "score": 50.0}, 1.0),
    ],
)
def test_the_full_score_of_an_instance_is_told_by_their_mean(values, entry, whole):
    assert whole_of(values, entry) == whole
