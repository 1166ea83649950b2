"""Values of configs as data: what is imported by its name, everything else as JSON has it."""

import pytest

from proctor.dialects.aisbench.classes.functions import text_postprocessor
from proctor.dialects.aisbench.values import Reference, as_data, texts_in


@pytest.mark.parametrize(
    "value, data",
    [
        (Reference("opencompass.datasets.X"), "opencompass.datasets.X"),
        ({1: Reference("a.B"), "x": (1, [None, True])}, {"1": "a.B", "x": [1, [None, True]]}),
        ({"b", "a"}, ["a", "b"]),
        (2.5, 2.5),
        ("x", "x"),
    ],
)
def test_values_as_data(value, data):
    assert as_data(value) == data


def test_texts_at_any_depth():
    assert list(texts_in({"a": ["x", ("y", 1)], "b": {"c": "z"}})) == ["x", "y", "z"]
    assert list(texts_in(3)) == []


def test_a_post_processor_as_a_function_takes_what_it_takes():
    first = text_postprocessor("first_option_postprocess", "opencompass")
    assert first("The answer is B", "ABCD") == first("The answer is B", options="ABCD") == "B"
    assert first.__name__ == "first_option_postprocess"
    with pytest.raises(
        TypeError, match="first_option_postprocess takes a text and . arguments at most, and 9 are given"
    ):
        first("x", *range(9))
    assert text_postprocessor("none_such", "opencompass") is None
