import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data.format_strings import compile_format, fields_of, pieces_of
from proctor.errors import TemplateError


@given(st.text("ab{} \n", max_size=10), st.text(max_size=5))
def test_a_compiled_string_gives_what_python_gives(literal, value):
    text = literal.replace("{", "{{").replace("}", "}}") + "{x}"
    assert compile_format(text, "T", "f")({"x": value}) == text.format(x=value)


def test_fields_and_pieces():
    assert fields_of("a {x} b {y[0]} {x}") == ("x", "y")
    assert pieces_of("a {x}") == (("a ", "x"),)


@pytest.mark.parametrize(
    "text",
    ["{x.__class__}", "{x[0].__init__.__globals__}", "{x._private}", "{x:{x.__class__}}", "{0.__class__.__mro__}"],
)
def test_private_attributes_are_out_of_reach(text):
    with pytest.raises(TemplateError):
        compile_format(text, "T", "f")({"x": "v"})


def test_widths_end_whether_they_are_written_or_come_from_fields():
    assert compile_format("[{x:>{n}}]", "T", "f")({"x": "v", "n": 3}) == "[  v]"
    with pytest.raises(TemplateError, match="pad to what a reader can see"):
        compile_format("{x:>9999999999}", "T", "f")
    with pytest.raises(TemplateError, match="the format string"):
        compile_format("{x:>{n}}", "T", "f")({"x": "v", "n": 9_999_999_999})


def test_what_cannot_be_filled_is_named_with_its_place():
    for text, values in (("{x[3]}", {"x": []}), ("{x:d}", {"x": "v"}), ("{x.real}", {"x": "v"})):
        with pytest.raises(TemplateError, match=r"T\.f cannot be filled"):
            compile_format(text, "T", "f")(values)


@pytest.mark.parametrize("text", ["{x", "x}", "{x!z}"])
def test_broken_braces_are_named(text):
    with pytest.raises(TemplateError):
        compile_format(text, "T", "f")({"x": 1})


def test_a_missing_field_comes_with_those_there_are():
    with pytest.raises(TemplateError, match=r"did you mean 'question'") as caught:
        compile_format("{qestion}", "MyTemplate", "input_format")({"question": 1})
    assert "MyTemplate.input_format" in str(caught.value)


NAMED = st.sampled_from(["{a}", "{b}", "{a!r}", "{b:>4}", "{{", "}}", "%", "%s", "x", "\n"])
FILLED = st.text(max_size=5) | st.integers() | st.lists(st.integers(), max_size=2)


@given(st.lists(NAMED, max_size=6), FILLED, FILLED)
def test_texts_are_filled_in_as_format_fills_them_in(pieces, a, b):
    text = "".join(pieces)
    try:
        wanted = text.format_map({"a": a, "b": b})
    except (ValueError, TypeError):  # `{b:>4}` of a list
        return
    assert compile_format(text, "Template", "input_format")({"a": a, "b": b}) == wanted
