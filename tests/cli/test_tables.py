"""Scores on terminals that are narrow."""

import io

from rich.console import Console

from proctor.cli.tables import score_table
from proctor.results.summary import score_rows

ENTRY = {
    "score": 0.5,
    "score_name": "accuracy",
    "score_ci_low": 0.4123,
    "score_ci_high": 0.5877,
    "n": 10,
    "unit": "share",
}
LONG = "card=samples.cards.sentiment,template=samples.templates.sentiment,num_demos=2"


def printed(width):
    rows = list(score_rows({"samples.science": ENTRY, LONG: ENTRY}))
    target = Console(file=io.StringIO(), width=width)
    target.print(score_table(rows, width=target.width))
    return target.file.getvalue().splitlines()


def test_80_columns_hold_names_and_all_numbers():
    lines = printed(80)
    assert max(map(len, lines)) <= 80
    assert any(line.split()[0] == "samples.science" for line in lines if line.strip())
    assert "failed" in "".join(lines)
    pieces = "".join(line[1:].split("  ")[0].strip() for line in lines)
    assert LONG in pieces, "a name is broken, and not cut"


def test_wide_terminals_have_intervals_on_one_line():
    assert any("0.4123 to 0.5877" in line for line in printed(140))
