import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.fields import find_choices, find_literal, find_plain, find_target, find_text
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import Location, TemplateError
from proctor.settings import settings

DOC = {"q": "Q", "a": "1", "n": 3, "c": ["x", "y"], "d": {"t": ["x", "y"]}}


@pytest.mark.parametrize(
    "spec, positions, expected",
    [
        ("q", False, "Q"),
        ("a", True, "1"),
        ("{{a}}", True, 1),
        ("{{a}}", False, "1"),
        ("{{n}}", True, 3),
        ("a text", False, "a text"),
        ("7", True, 7),
        (5, True, 5),
        (lambda doc: doc["q"] * 2, False, "QQ"),
    ],
)
def test_texts(spec, positions, expected):
    assert find_text(spec, DOC, "doc_to_text", positions=positions)(DOC) == expected


@pytest.mark.parametrize(
    "spec, positions, expected",
    [
        ("c", False, ["x", "y"]),
        ("{{c}}", False, ["x", "y"]),
        ("[{{q}}]", False, "[Q]"),
        ("['{{q}}', 1]", False, ["Q", 1]),
        ("{{n}}", True, 3),
        ("{{n}}", False, "3"),
        (["a", "b"], False, ["a", "b"]),
        (0, True, 0),
        ("[", False, "["),
    ],
)
def test_targets(spec, positions, expected):
    assert find_target(spec, DOC, "doc_to_target", positions=positions)(DOC) == expected


@pytest.mark.parametrize(
    "spec, expected",
    [
        (["A", "B"], ["A", "B"]),
        ({"x": "A", "y": "B"}, ["A", "B"]),
        ("c", ["x", "y"]),
        ("{{d.t}}", ["x", "y"]),
        ("['a', '{{q}}']", ["a", "Q"]),
        (lambda doc: ["z"], ["z"]),
    ],
)
def test_choices(spec, expected):
    assert find_choices(spec, DOC, "doc_to_choice")(DOC) == expected


VALUES = st.lists(st.text() | st.integers() | st.none() | st.lists(st.text(), max_size=2), max_size=4)


@given(VALUES)
def test_the_short_way_gives_what_writing_and_reading_gives(values):
    found = find_choices("{{c}}", [], "doc_to_choice")({"c": values})
    assert found == ast.literal_eval(str(values))
    assert type(found) is list


def test_media_and_queries():
    assert find_literal(["q", "n"], DOC, "doc_to_image")(DOC) == ["Q", 3]
    assert find_literal("{{c}}", [], "doc_to_image")(DOC) == ["x", "y"]


def test_descriptions_and_prefixes():
    assert find_plain("", "description") is None
    assert find_plain("q", "description")(DOC) == "Q"
    assert find_plain("About {{q}}", "description")(DOC) == "About Q"
    assert find_plain("plain", "description")(DOC) == "plain"


@pytest.mark.parametrize("find, spec", [(find_choices, 3), (find_choices, None), (find_choices, "{{q}}")])
def test_what_gives_no_list(find, spec):
    with pytest.raises(TemplateError):
        find(spec, DOC, "doc_to_choice")({**DOC, "q": "not a list"})


def test_a_constant_that_function_names_is_as_if_the_file_had_it(tmp_path):
    (tmp_path / "own.py").write_text("TEXT = 'say {{q}}'\nLABELS = ['A', 'B']\nPLACE = 1\n")

    def named(name):
        return FunctionReference(f"own.{name}", Location(str(tmp_path / "t.yaml"), 1, 1))

    with settings.context(trust_code=True):
        assert find_text(named("TEXT"), DOC, "doc_to_text", positions=False)(DOC) == "say Q"
        assert find_plain(named("TEXT"), "description")(DOC) == "say Q"
        assert find_choices(named("LABELS"), DOC, "doc_to_choice")(DOC) == ["A", "B"]
        assert find_target(named("PLACE"), DOC, "doc_to_target", positions=True)(DOC) == 1
        media = find_literal(named("LABELS"), {"A", "B"}, "doc_to_image")
        assert media({"A": "x.png", "B": "y.png"}) == ["x.png", "y.png"]
