"""Short answers about pictures are found, or are similar enough."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.scoring.evaluators.ocrbench.matching import (
    chinese_formula_said,
    chinese_said_or_similar,
    formula_said,
    letters_alone,
    said_or_similar,
    written_choice_said,
)


@pytest.mark.parametrize(
    "said, answers, score",
    [
        ("The sign reads Harbour\nStreet.", ["harbour street"], 1.0),
        ("The sign reads Quay", ["Harbour", "quay"], 1.0),
        ("There are 12 lamps", [12], 1.0),
        ("four lamps", [12], 0.0),
        ("mind the gap at doors", ["mind the gap at door!"], 1 - 1 / 21),
        ("keep left", ["mind the gap at door!"], 0.0),
        ("so: mind the gap at doors, and on and on and on", ["mind the gap at doors"], 0.0),
    ],
)
def test_short_answers_are_said_and_long_ones_similar(said: str, answers: list[Any], score: float) -> None:
    assert said_or_similar(said, answers) == pytest.approx(score, abs=1e-12)


def test_one_text_counts_where_short_and_then_also_similar() -> None:
    assert said_or_similar("harbur", "Harbour") == pytest.approx(6 / 7)
    assert said_or_similar("harbur", ["Harbour"]) == 0
    assert said_or_similar("mind the gap at doors", "mind the gap at doors") == 0


def test_capitals_count_where_asked() -> None:
    assert said_or_similar("EXIT", ["exit"]) == 1
    assert said_or_similar("EXIT", ["exit"], case=True) == 0


def test_chinese_answers_are_long_by_their_commas() -> None:
    assert chinese_said_or_similar("答案是 北 京", ["北京"]) == 1
    assert chinese_said_or_similar("甲,乙,丙,戊", ["甲,乙,丙,丁"]) == pytest.approx(6 / 7)
    assert chinese_said_or_similar("甲,乙,戊", ["甲,乙,丙"]) == 0
    with pytest.raises(ValueError, match="not a list"):
        chinese_said_or_similar("北京", "北京")


def test_choices_are_the_letters_alone_or_written_with_one_sign() -> None:
    assert letters_alone("(B).", ["B"]) == 1
    assert letters_alone("It is B", ["B"]) == 0
    assert written_choice_said("写的是 A、C", ["AC"]) == 1
    assert written_choice_said("写的是 A-C", ["AC"]) == 0
    with pytest.raises(ValueError, match="one answer"):
        letters_alone("B", ["A", "B"])
    with pytest.raises(ValueError, match="one text as answer"):
        written_choice_said("B", [1])


def test_formulas_are_compared_without_spaces() -> None:
    assert formula_said("It is $x ^ 2 + 1$", ["x^2 +1"]) == 1
    assert chinese_formula_said("长 3 cm", [r"3\text{cm}"]) == 1
    assert formula_said("3 cm", [r"3\text{cm}"]) == 0


def test_an_answer_that_is_neither_text_nor_number_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a text nor a number"):
        said_or_similar("x", [{"a": 1}])
