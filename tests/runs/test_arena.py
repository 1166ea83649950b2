"""Battles of a table, and what is told of an arena; its numbers are in the command's and the statistics' tests."""

import math

import pytest

from proctor.errors import UsageError
from proctor.runs.arena import Arena, Battle, Ranked, arena_tables, battles_of


def table(tmp_path, *rows):
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner,judge,question\n" + "\n".join(rows) + "\n")
    return path, battles_of(path)


@pytest.mark.parametrize(
    "winner, won",
    [
        ("model_a", 1.0),
        ("A", 1.0),
        ("x", 1.0),
        ("model_b", 0.0),
        ("b", 0.0),
        ("y", 0.0),
        ("Tie", 0.5),
        ("draw", 0.5),
        ("tie (bothbad)", 0.5),
    ],
)
def test_winners_are_said_in_words_or_by_name(tmp_path, winner, won):
    _, found = table(tmp_path, f"x, y ,{winner},j,q")
    assert list(found) == [Battle("x", "y", won, "j", "q")]


def test_a_battle_may_lack_a_winner_a_judge_and_a_question(tmp_path):
    path, found = table(tmp_path, "x,y,,,", "x,y,a,,")
    first, second = found
    assert (first.judge, first.question, second.question, math.isnan(first.won)) == ("", f"{path}:2", f"{path}:3", True)


@pytest.mark.parametrize(
    "row, why",
    [
        ("x,y,z", ":2: 'z' is not a winner"),
        (",y,a", "it lacks two models"),
        ("x,,a", "it lacks two models"),
        ("x,x,a", "it lacks two models"),
    ],
)
def test_what_is_no_battle_is_refused_with_its_line(tmp_path, row, why):
    with pytest.raises(UsageError, match=why):
        list(table(tmp_path, row)[1])


def test_strengths_and_judges_are_tables():
    strong, weak = Ranked("x", 7, 12.6, -3.4, 29.0, (1, 2)), Ranked("", 5, -12.6, -29.0, 3.4, (2, 2))
    [models] = arena_tables(Arena([strong, weak], [], []))
    assert (models.title, models.header) == (
        "Strengths in points, with 95% intervals",
        ("model", "battles", "points", "places"),
    )
    assert models.rows == (("x", "7", "13 [-3, 29]", "1-2"), ("-", "5", "-13 [-29, 3]", "2"))
    judge = Ranked("j", 9, 1.234, 0.5, 2.0)
    corrected, plain, judges = arena_tables(Arena([strong], [judge], [], [weak]))
    assert corrected.title.endswith(", corrected by people's verdicts")
    assert (plain.title.endswith(", of the judges' verdicts alone"), plain.rows[0][0]) == (True, "-")
    assert (judges.title, judges.header) == (
        "What judges tell apart: 1 on average, 0 by chance",
        ("judge", "battles", "apart"),
    )
    assert judges.rows == (("j", "9", "1.23 [0.50, 2.00]"),)
