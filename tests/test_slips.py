"""Names that are nearly other names."""

from __future__ import annotations

import pytest

from proctor.slips import is_slip, slips


@pytest.mark.parametrize(
    "name, other, expected",
    [
        ("anwser", "answer", True),
        ("Answer", "answer", True),
        ("answr", "answer", True),
        ("ansswer", "answer", True),
        ("answet", "answer", True),
        ("answers", "answer", False),
        ("answer", "answers", False),
        ("part_1", "part_2", False),
        ("part_1", "part_12", False),
        ("answer", "answer", False),
        ("question", "answer", False),
        ("wansre", "answer", False),
    ],
)
def test_one_slip_of_the_pen(name, other, expected):
    assert is_slip(name, other) is expected
    assert is_slip(other, name) is expected


def test_all_that_a_name_may_be_misspelt_for():
    assert slips("cat", ["car", "cta", "cats", "cat", "dog"]) == ["car", "cta"]
