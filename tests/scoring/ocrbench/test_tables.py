"""Tables, charts and pages are compared as trees."""

from __future__ import annotations

import pytest

from proctor.scoring.evaluators.ocrbench.reading import outline, page_similarity
from proctor.scoring.evaluators.ocrbench.tables import (
    chart_similarity,
    html_table_similarity,
    markdown_table_similarity,
)

pytest.importorskip("lxml")
_TABLE = "<table><tr><td>lamp</td><td>4</td></tr></table>"


@pytest.mark.parametrize(
    "said, score",
    [
        (f"Here it is:\n{_TABLE}", 1.0),
        ("<table><tr><td>lamp</td><td>5</td></tr>", 1 - 1 / 3),
        ("<table><tr><td>lamp</td></tr></table>", 1 - 1 / 3),
        ("<table><tr><td colspan='2'>lamp</td><td>4</td></tr></table>", 1 - 1 / 3),
        ("<table><tr><td colspan='two'>lamp</td></tr></table>", 0.0),
        ("lamp 4", 0.0),
    ],
)
def test_tables_differ_by_cells_and_words(said: str, score: float) -> None:
    assert html_table_similarity(said, _TABLE) == pytest.approx(score)


def test_two_empty_tables_cannot_be_compared() -> None:
    assert html_table_similarity("<table></table>", "<table></table>") == 0


def test_the_second_line_of_markdown_is_not_read() -> None:
    assert markdown_table_similarity("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n| x | y |\n| 1 | 2 |") == 1


def test_charts_are_dictionaries_in_the_longest_block() -> None:
    said = "```python\nx = {}\n```\nso\n```python\nchart = {'Q1': '3', 'Q2': '4'}  # read\n```"
    assert chart_similarity(said, {"Q1": "3", "Q2": "4"}) == 1
    assert chart_similarity("Q1 is 3", {"Q1": "3"}) == 0
    with pytest.raises(ValueError, match="not a dictionary"):
        chart_similarity(said, ["Q1"])  # type: ignore[arg-type]


def test_pages_are_alike_by_their_outlines() -> None:
    page = "# One\nsome words\n\n# Two\nmore"
    assert page_similarity(page, page.replace("words", "others")) > page_similarity("one line", page)
    assert [child.label for child in outline(page).children] == ["TITLE", " One", " Two"]
    assert [child.label for child in outline("first\n# first\nsecond").children[0].children] == ["first"]
