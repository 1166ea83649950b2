import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.results.unitxt_print import pretty_text


def test_values_are_laid_out_by_level():
    value = {"score": 0.666, "names": ["a", ("b", 1)], "none": None}
    assert pretty_text(value, float_format=".2g") == (
        "score (float):\n    0.67\n"
        "names (list):\n    [0] (str):\n        a\n    [1] (tuple):\n        (0) (str):\n            b\n"
        "        (1) (int):\n            1\n"
        "none (NoneType):\n    None\n"
    )


def test_lines_that_are_too_long_go_on():
    assert pretty_text({"a": "x" * 12 + "  "}, width=12) == f"a (str):\n    {'x' * 8}\n    {'x' * 4}\n"


def test_keys_choose_and_order():
    assert pretty_text({"a": 1, "b": 2, "c": 3}, keys=["c", "a"]) == "c (int):\n    3\na (int):\n    1\n"
    with pytest.raises(UsageError, match="there is no key 'd' to show"):
        pretty_text({"a": 1}, keys=["d"])


def test_data_frames_are_tables():
    pandas = pytest.importorskip("pandas")
    shown = pretty_text({"frame": pandas.DataFrame({"a": [0.123456]})}, float_format=".2g", width=70)
    assert shown == "frame (DataFrame):\n         a\n    0 0.12\n"


@given(st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"])), st.integers(1, 30))
def test_nothing_is_lost(text, width):
    assert "".join(pretty_text(text, width=width).split("\n")) == text
