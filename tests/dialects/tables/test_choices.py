"""Which choice an answer of a table names: by hand, and over tables that are drawn."""

from __future__ import annotations

import random

import pytest

from proctor.dialects.tables.choices import LETTERS, answer_key, choices_of, shown
from proctor.errors import DataError, UsageError

WORDS = ("A", "B", "AB", "O", "1", "2", "3", "0", "red", "Blue", "x; y", "a|b", "12", "-5", "1.5", "C++")


def places(rows: list[dict[str, object]], *columns: str) -> list[int | str]:
    key = answer_key("t.csv", rows, "right", columns or ("choices",))
    found: list[int | str] = []
    for row in rows:
        try:
            found.append(key.place(row))
        except DataError as error:
            found.append(error.diagnostics[0].what)
    return found


def rows_of(*pairs: tuple[object, object]) -> list[dict[str, object]]:
    return [{"choices": choices, "right": right} for choices, right in pairs]


def test_letters_are_letters_where_a_choice_is_called_so_too() -> None:
    assert places(rows_of(("A|B|AB|O", "D"), ("O|A|B|AB", "A"), ("x|y|z", "C"))) == [3, 0, 2]


def test_numbers_are_places_where_a_choice_is_that_number_too() -> None:
    rows = rows_of((["3", "2", "1", "4"], 0), (["1", "2", "3", "4"], 1), (["0", "7", "3", "1"], 3))
    assert places(rows) == [0, 1, 3]
    assert places(rows_of(("3|2|1|4", "1"), ("1|2|3|4", "2"), ("0|7|3|1", "4"))) == [0, 1, 3]
    assert places(rows_of(("3|2|1|4", "1.0"), ("1|2|3|4", "2.0"), ("0|7|3|1", "4.0"))) == [0, 1, 3]


def test_numbers_are_texts_where_they_are_no_places() -> None:
    assert places(rows_of(("10|2|12", "12"), ("3|4|7", "7"), ("1|2|3", "2"))) == [2, 2, 1]
    assert places(rows_of(([10, 2, 12], 12), ([3, 4, 7], 7), ([1, 2, 3], 2))) == [2, 2, 1]


@pytest.mark.parametrize("choices, right", [("O|A|B", "A"), ("2|3|1", "1"), (["2", "3", "1"], "1")])
def test_what_could_be_two_choices_in_every_row_is_refused(choices: object, right: object) -> None:
    with pytest.raises(UsageError, match="could be the|from 0 or from 1") as raised:
        places(rows_of((choices, right)))
    assert "(A)" in raised.value.diagnostics[0].hint


def test_rows_of_a_mixed_table_fail_where_two_ways_read_them_differently() -> None:
    found = places(rows_of(("red|blue", "blue"), ("red|blue", "A"), ("B|A|red", "A"), ("B|A|red", "(A)")))
    assert found == [1, 0, "the answer 'A' names two choices of this row", 0]


def test_labels_of_a_table_count_before_all_else() -> None:
    arc = {"text": ["x", "y", "z"], "label": ["1", "2", "3"]}
    turned = {"text": ["A", "B", "C"], "label": ["C", "B", "A"]}
    assert places(rows_of((arc, "2"), (turned, "A"))) == [1, 2]
    assert places(rows_of(({"A": "x", "B": "y", "C": None}, "B"))) == [1]
    assert places([{"opa": "x", "opb": "y", "right": "opb"}], "opa", "opb") == [1]


@pytest.mark.parametrize(
    "cell, texts",
    [
        ("a|b|c", ["a", "b", "c"]),
        ("a|b|", ["a", "b"]),
        ("AT&amp;T;IBM; HP", ["AT&amp;T", "IBM", "HP"]),
        ('["a", null]', None),
        ('["a", true]', ["a", "True"]),
        ("['a', \"b's\"]", ["a", "b's"]),
        ("[a]|[b]", ["[a]", "[b]"]),
        ('{"A": "x", "B": "y"}', ["x", "y"]),
        ("a||c|d", None),
        ("|a|b", None),
        ("a", None),
        ([b"a", b"b"], ["a", "b"]),
        (["a", 2.0, 3], ["a", "2", "3"]),
        ([["a"], ["b"]], None),
    ],
)
def test_choices_of_a_cell_keep_their_places(cell: object, texts: list[str] | None) -> None:
    row = {"choices": cell}
    if texts is None:
        with pytest.raises(DataError):
            choices_of(row, ("choices",))
    else:
        assert list(choices_of(row, ("choices",)).texts) == texts


def test_an_empty_choice_in_the_middle_fails_its_row_and_one_at_the_end_is_none() -> None:
    assert choices_of({"A": "x", "B": "y", "C": ""}, ("A", "B", "C")).texts == ("x", "y")
    with pytest.raises(DataError, match="no choices in this row"):
        choices_of({"A": "x", "B": "", "C": "z"}, ("A", "B", "C"))


def test_a_text_that_two_choices_have_fails_its_row() -> None:
    found = places(rows_of(("x|x|y", "x"), ("p|q|r", "r")))
    assert found == ["two choices of this row are 'x'", 2]


@pytest.mark.parametrize("answer", ["②", "²", "-1", "E", "", None, True, 7, "blau"])
def test_what_is_none_of_the_choices_fails_its_row(answer: object) -> None:
    found = places(rows_of(("x|y|z", "B"), ("x|y|z", answer)))
    assert found[0] == 1
    assert isinstance(found[1], str)


def test_bytes_are_text_or_fail() -> None:
    assert shown("Grüße".encode()) == "Grüße"
    with pytest.raises(DataError, match="not text"):
        shown(b"\xff\xfe")


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("written", ["letter", "text", "number from 0", "number from 1"])
def test_a_table_that_says_all_answers_one_way_is_read_that_way_or_refused(seed: int, written: str) -> None:
    """Never another choice in silence, whatever the choices are called."""
    draw = random.Random(seed)
    rows, wanted = [], []
    for _ in range(draw.choice([1, 2, 3, 8, 30])):
        texts = draw.sample(WORDS, draw.randint(2, 5))
        place = draw.randrange(len(texts))
        answer = {
            "letter": LETTERS[place],
            "text": texts[place],
            "number from 0": str(place),
            "number from 1": str(place + 1),
        }[written]
        rows.append({"choices": texts, "right": answer})
        wanted.append(place)
    try:
        found = places(rows)
    except UsageError:
        return
    assert all(isinstance(each, str) or each == place for each, place in zip(found, wanted, strict=True))
