"""What a run may change about an exam."""

from __future__ import annotations

from importlib import import_module

import pytest

from proctor.errors import UsageError
from proctor.ir import Decoding
from proctor.recipes.honours import (
    OF_TABLES,
    Honoured,
    Refused,
    declared,
    flag_of,
    no_effect,
    reduces,
    refusals,
    without_effect,
)
from proctor.recipes.option import KINDS, UNKNOWN, Option
from proctor.recipes.options import DECLARED, NO_TABLE, OPTIONS, ExamOptions, given_options


def test_decoding_replaces_fields_and_keeps_the_rest():
    base = Decoding(temperature=0.7, max_tokens=9, extra={"a": 1, "b": 2})
    assert ExamOptions().decode(base) is base
    found = ExamOptions(decoding={"temperature": 0.2, "min_p": 0.1, "extra": {"b": 3}}).decode(base)
    assert (found.temperature, found.max_tokens) == (0.2, 9)
    assert dict(found.extra) == {"a": 1, "b": 3, "min_p": 0.1}


@pytest.mark.parametrize("given, temperature", [(False, 0.0), (True, 0.7), (None, 0.7)])
def test_greedy_is_a_temperature_of_0(given, temperature):
    found = ExamOptions(decoding={"do_sample": given}).decode(Decoding(temperature=0.7))
    assert found.temperature == temperature
    assert "do_sample" not in found.extra


def test_samples_are_named_by_the_exam_or_by_its_task():
    options = ExamOptions(samples={"task": [3, 1], "task@own": [2], "none": []})
    assert options.places_of("task") == {1, 3}
    assert options.places_of("task@template") == {1, 3}
    assert options.places_of("task@own") == {2}
    assert options.places_of("none") == frozenset()
    assert options.places_of("other") is None
    assert ExamOptions().places_of("task") is None


def test_what_is_given_is_what_changes_something():
    assert given_options(ExamOptions()) == {}
    assert given_options(ExamOptions(num_demos=0, include_paths=("x",), apply_chat_template=True)) == {
        "num_demos": 0, "apply_chat_template": True,
    }  # fmt: skip
    assert "include_paths" not in OPTIONS
    assert {"limit", "seed", "keys"} < set(OPTIONS)


def test_an_option_is_honoured_or_refused_by_name():
    given = ExamOptions(num_demos=1, seed=2, limit=3)
    honours = {"num_demos": Refused("it has no demos", "ask less"), "seed": no_effect("nothing is drawn")}
    first, second = refusals("e", honours, given)
    assert (first.what, first.why, first.hint) == ("'e' cannot honour --num-demos", "it has no demos", "ask less")
    assert second.what == "'e' cannot honour --limit"
    assert list(refusals("e", dict.fromkeys(OPTIONS, Honoured()), given)) == []
    assert list(without_effect("e", {**honours, "limit": Honoured("cuts")}, given)) == [
        "--seed has no effect here on e: nothing is drawn"
    ]
    assert list(without_effect("e", honours, ExamOptions())) == []
    assert [flag_of(name) for name in ("include_paths", "model_config", "num_demos")] == [
        "--include-path", "--model", "--num-demos",
    ]  # fmt: skip


def test_reducers_need_repeats():
    assert isinstance(reduces(ExamOptions(repeats=2)), Honoured)
    assert isinstance(reduces(ExamOptions(repeats=1)), Honoured)
    refused = reduces(ExamOptions(reduce=("mean",)))
    assert (refused.why, refused.hint) == ("each question is answered once", "add --repeats N")


def test_columns_need_a_table():
    assert OF_TABLES == ("input_column", "answer_column", "choices_column", "prompt", "prompts", "metric", "name")
    for kind in KINDS:
        names = [name for name in OF_TABLES if name != "metric"]  # which every exam takes that a model writes for
        found = [declared(kind)[name] for name in names]
        assert (
            found == [NO_TABLE] * len(names) if kind != "tables" else all(isinstance(each, Honoured) for each in found)
        )
    (problem,) = refusals("e", declared("lm_eval"), ExamOptions(prompt="{q}"))
    assert (problem.what, problem.why) == ("'e' cannot honour --prompt", "it is not a file of rows")


def test_what_is_declared_of_an_option_is_whole():
    for name, option in DECLARED.items():
        kinds = [kind for kinds in option.where for kind in kinds.split()]
        assert set(kinds) <= set(KINDS), name
        assert len(option.help) > 10, name
        assert bool(option.flags) == bool(option.section), name
        if option.reads:
            module, _, function = option.reads.partition(":")
            assert callable(getattr(import_module(module), function)), name


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_that_a_kind_of_exams_does_not_mention_is_refused(kind):
    option = Option(help="Something new.", where={})
    assert option.at(kind) == declared(kind, ["brand_new"])["brand_new"] == UNKNOWN
    assert isinstance(UNKNOWN, Refused)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"samples": {"t": ["a"]}}, "--samples names 'a' of 't'"),
        ({"samples": {"t": [0, True]}}, "--samples names True"),
        ({"samples": {"t": [1.5]}}, r"--samples names 1\.5"),
        ({"num_demos": -1}, "number of demos is -1"),
        ({"decoding": {"top_p": "most"}}, "top_p='most'"),
    ],
)
def test_values_that_cannot_be_are_refused(given, message):
    with pytest.raises(UsageError, match=message):
        ExamOptions(**given)
