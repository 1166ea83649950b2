"""The tables of keys: every entry has one meaning, and inherits what it is like."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from proctor.dialects.aisbench.key_tables import Keys, home_of, names_of, switched_off, value_problems, value_rules

TABLE = json.loads(files("proctor.dialects.aisbench").joinpath("keys.json").read_bytes())


@pytest.mark.parametrize("part", TABLE["parts"])
def test_every_part_can_be_read_and_no_key_has_two_meanings(part):
    keys = Keys.of(part)
    assert not keys.used & keys.idle.keys()
    assert not keys.used & keys.refused.keys()
    assert not any("{key}" in why for why in (*keys.idle.values(), *keys.refused.values()))


def test_parts_inherit():
    assert Keys.of("server").hint == Keys.of("model").hint
    assert Keys.of("server").idle["path"].startswith("it is the folder of the tokenizer")
    assert "path" not in Keys.of("server").used
    assert "path" in Keys.of("hf").used
    assert Keys.of("gen").idle["seed"] == "upstream reads it nowhere; --decoding seed=… sets it"


@pytest.mark.parametrize("part", TABLE["values"])
def test_rules_of_values_can_be_checked(part):
    for key, (_, least, most, what) in value_rules(part).items():
        (problem, *_) = value_problems({key: object()}, part, "$", None)
        assert (problem.what, problem.path) == (f"'{key}' is {what}", f"$.{key}")
        assert least is None or most is None or least < most
        assert not list(value_problems({key: None}, part, "$", None))


def test_words_are_checked_where_values_are_texts():
    (problem,) = value_problems({"ramp_up_strategy": "liner"}, "traffic_cfg", "$", None)
    assert "did you mean 'linear'" in problem.hint
    (problem,) = value_problems({"ramp_up_strategy": []}, "traffic_cfg", "$", None)
    assert problem.what == "'ramp_up_strategy' is 'linear' or 'exponential'"


def test_a_key_in_the_wrong_place_is_sent_home():
    assert home_of("test_range", "$.infer_cfg") == "test_range is a key of reader_cfg"
    assert not home_of("test_range", "$.reader_cfg")
    assert not home_of("path", "$.infer_cfg")
    assert "host_ip" in names_of("the model")
    assert set(switched_off("server")) == {"n", "best_of"}
