from __future__ import annotations

import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.dialog_operators import (
    IobExtractor,
    SerializeDialog,
    SerializeOpenAiFormatDialog,
    ToDialog,
    paired_turns,
)
from proctor.errors import DataError

LAYOUT = {"__type__": "system_format", "demo_format": "U: {source}\nS: {target}\n"}
TURNS = [{"user": "a", "system": "b"}, {"user": "c", "system": "d"}]


def serialized(operator, row, field="t"):
    return operator.process_instance(row)[field]


def test_pairs_become_a_dialog():
    made = ToDialog(field="a").process_instance({"a": [("q", "r")]})["a"]
    assert made == [{"role": "user", "content": "q"}, {"role": "agent", "content": "r"}]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, "a\nS: b\nU: c\nS: d"),
        ({"slice_first_and_last_turns_format": False}, "U: a\nS: b\nU: c\nS: d\n"),
        ({"context_field": "ctx", "context_separator": " | "}, "about | a\nS: b\nU: c\nS: d"),
        ({"last_response_to_field": "answer"}, "a\nS: b\nU: c"),
    ],
)
def test_dialogs_take_the_layout_of_demos(options, expected):
    operator = SerializeDialog(field="d", to_field="t", format=LAYOUT, **options)
    made = operator.process_instance({"d": TURNS, "ctx": "about"})
    assert made["t"] == expected
    assert made.get("answer") == ("d" if "last_response_to_field" in options else None)


def test_the_layout_may_come_from_the_recipe():
    operator = SerializeDialog(field="d", to_field="t")
    row = {"d": TURNS[:1], "recipe_metadata": {"format": fetch_artifact(LAYOUT)}}
    assert serialized(operator, row) == "a\nS: b"
    assert (
        serialized(operator, {"d": TURNS[:1], "recipe_metadata": {"format": {"demo_format": "{source}={target}"}}})
        == "a=b"
    )
    assert serialized(operator, {"d": TURNS[:1]}) == "a\\Nb"


def test_turns_of_chat_servers_are_paired():
    dialog = [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "you"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "bye"},
    ]
    assert paired_turns(dialog) == [{"user": "hi you", "system": "yes"}, {"user": "bye", "system": ""}]
    operator = SerializeOpenAiFormatDialog(field="d", to_field="t", format=LAYOUT, is_last_turn_user_only=True)
    assert serialized(operator, {"d": dialog}) == "hi you\nS: yes\nU: bye\nS: "
    assert dialog[0]["content"] == "hi"


@pytest.mark.parametrize(
    "dialog, words",
    [
        ([], "list of turns"),
        ("hi", "list of turns"),
        ([{"role": "user"}], "needs 'role' and 'content'"),
        ([{"role": "user", "content": 1}], "needs 'role' and 'content'"),
        ([{"role": "system", "content": "x"}], "not a role"),
        ([{"role": "assistant", "content": "x"}], "does not begin"),
    ],
)
def test_what_is_no_dialog_is_an_error(dialog, words):
    with pytest.raises(DataError, match=words):
        paired_turns(dialog)


def test_spans_are_found_in_text():
    operator = IobExtractor(
        labels=["Person", "Organization"], begin_labels=["B-P", "B-O"], inside_labels=["I-P", "I-O"], outside_label="O"
    )
    row = {
        "labels": ["I-P", "B-P", "I-P", "O", "B-O"],
        "tokens": ["Mr", "John", "Doe", "of", "OpenAI"],
        "text": "Mr John  Doe of OpenAI.",
    }
    assert operator.process_instance(row)["spans"] == [
        {"start": 3, "label": "Person", "end": 12, "text": "John  Doe"},
        {"start": 16, "label": "Organization", "end": 22, "text": "OpenAI"},
    ]
    with pytest.raises(DataError, match="'Jim' is not in the text"):
        operator.process_instance({**row, "tokens": ["Jim"]})
