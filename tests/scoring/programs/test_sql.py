"""SQL in answers, and what queries return; the numbers are Unitxt 1.26.10's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from proctor.scoring.columns import Columns
from proctor.scoring.metrics.sql import SQLExecutionAccuracy, SQLNonExecutionAccuracy
from proctor.scoring.programs import sql

DATABASE = {
    "db_type": "in_memory",
    "db_id": "shop",
    "data": {"t": {"columns": ["id", "name"], "rows": [[1, "a"], [2, "b"], [3, "a"]]}},
}


@pytest.mark.parametrize(
    "text, query",
    [
        ("```sql\nSELECT 1\n```\nor SELECT 2;", "SELECT 1"),
        ("Just run: select a from t; thanks", "select a from t;"),
        ("SELECT a\nFROM t", "SELECT a\nFROM t"),
        ("I cannot SELECT one", ""),
    ],
)
def test_the_first_query_of_an_answer(text: str, query: str) -> None:
    assert sql.sql_in(text) == query


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """Return rows as a table."""
    return pd.DataFrame(list(rows))


@pytest.mark.parametrize(
    "gold, given, query, expected",
    [
        (table((1, "a"), (2, "b")), table(("b", 2), ("a", 1)), "SELECT x", (1, 1, 1, 0)),
        (table((1,), (2,)), table((2,), (1,)), "SELECT x ORDER BY x", (0, 0, 0, 1)),
        (table((1, None)), table((1,)), "SELECT x", (0, 0, 1, 0)),
        (table(), table(), "SELECT x", (1, 0, 0, 1)),
        (table((1,), (1,)), table((1,)), "SELECT x", (0, 0, 0, 1)),
    ],
)
def test_results_agree(gold: pd.DataFrame, given: pd.DataFrame, query: str, expected: tuple[int, ...]) -> None:
    assert tuple(sql.agreement(gold, given, query)) == expected


def test_queries_are_run_on_the_database() -> None:
    pytest.importorskip("sqlglot")
    gold = "SELECT name FROM t WHERE id < 3"
    answers = [
        "SELECT name FROM t WHERE id <= 2",
        "SELECT name FROM t",
        "SELECT nope FROM t",
        "no idea",
        "DELETE FROM t",
    ]
    columns = Columns(answers, [[gold]] * len(answers), [{"db": DATABASE}] * len(answers))
    found = SQLExecutionAccuracy().measure(columns, intervals=False)
    assert not found.failures
    assert list(found.instances["execution_accuracy"]) == [1, 0, 0, 0, 0]
    assert list(found.instances["predicted_error"]) == [0, 0, 1, 1, 0]


def test_queries_are_compared_by_their_text() -> None:
    pytest.importorskip("sqlglot")
    pytest.importorskip("sqlparse")
    gold = "SELECT a, b FROM t WHERE c = 1"
    answers = ["select b , a from t where c = 1", "SELECT a, b FROM u WHERE c = 1", gold + ";", "SELEC a"]
    columns = Columns(answers, [[gold]] * len(answers), [{}] * len(answers))
    found = SQLNonExecutionAccuracy().measure(columns, intervals=False)
    assert list(found.instances["sqlglot_equivalence"]) == [1, 0, 1, 0]
    assert list(found.instances["sql_exact_match"]) == [0, 0, 1, 0]


def test_a_query_of_a_result_needs_a_database() -> None:
    found = SQLExecutionAccuracy().measure(Columns(["SELECT 1"], [["SELECT 1"]], [{}]), intervals=False)
    assert "no database" in found.failures[0].message


@pytest.mark.parametrize(
    "query",
    ["SELECT " + "(" * 300 + "1" + ")" * 300, "SELECT " + "NOT " * 5000 + "1", "SELECT " + "f(" * 300 + ")" * 300],
)
def test_queries_nested_without_end_are_wrong_and_no_fault(query: str) -> None:
    assert not sql.parses_in_sqlglot(query)
    assert not sql.parses_in_sqlparse(query)
    assert not sql.is_equal_parsed("SELECT 1", query)
    assert not sql.is_equal_by_tokens("SELECT 1", query)
    assert not sql.is_equal_optimized("SELECT 1", query)
