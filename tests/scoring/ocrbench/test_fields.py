"""Fields count where they are said and right."""

from __future__ import annotations

import pytest

from proctor.scoring.evaluators.ocrbench.fields import field_score, placed_answer_score, said_fields


@pytest.mark.parametrize(
    "said",
    ['{"name": "Quay", "total": 4}', "```python\n{'name': 'Quay', 'total': 4}\n```", "name: Quay\ntotal: 4"],
)
def test_fields_are_read_from_json_python_and_lines(said: str) -> None:
    assert said_fields(said) == {"name": "Quay", "total": "4"}


@pytest.mark.parametrize("said", ["", "[1]", "[1, {'a': 2}]", "{1: 2}", "'a: b'", "null"])
def test_what_is_not_a_dictionary_has_no_fields(said: str) -> None:
    assert said_fields(said) == {}


def test_fields_count_by_all_that_were_said_or_asked() -> None:
    assert field_score('{"name": "QUAY ", "more": "x"}', '{"name": "quay", "total": "4"}') == pytest.approx(1 / 3)


def test_the_best_of_several_values_counts() -> None:
    wanted = '{"name": ["quay", "harbour"], "total": ["4", "four"]}'
    assert field_score('{"name": "Harbour", "total": "four"}', wanted) == 1
    assert field_score('{"total": "4"}', {"total": ["4"], "tax": [None, "1"]}) == 1


def test_answers_that_cannot_be_compared() -> None:
    assert field_score('{"a": "1"}', "no fields") == 0
    with pytest.raises(ValueError, match="not a dictionary"):
        field_score('{"a": "1"}', "[1]")
    with pytest.raises(ValueError, match="not a text"):
        field_score('{"a": "1"}', '{"a": 1}')


def test_words_and_place_count_half_each() -> None:
    said = '{"answer": "exit", "bbox": [0, 0, 10, 5]}'
    assert placed_answer_score(said, ["EXIT"], [0, 0, 10, 10]) == 0.75
    assert placed_answer_score('{"answer": "exit", "bbox": "1e999"}', ["EXIT"], [0, 0, 10, 10]) == 0.5
    assert placed_answer_score('{"bbox": [1e999, 0, 1, 1]}', ["EXIT"], [0, 0, 10, 10]) == 0
