"""``unitxt.text2sql_utils``: what a query does, as the objects that its programs look at."""

from __future__ import annotations

from dataclasses import dataclass, fields
from threading import Thread
from typing import TYPE_CHECKING, Any

from proctor.scoring.metrics.sql import SQLExecutionAccuracy
from proctor.scoring.programs import sql as queries

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class SQLExecutionResult:
    """Whether a query returns what it should; see :class:`proctor.scoring.metrics.sql.SQLExecutionAccuracy`."""

    execution_accuracy: int
    non_empty_execution_accuracy: int
    subset_non_empty_execution_accuracy: int
    execution_accuracy_bird: int
    non_empty_gold_df: int
    gold_sql_runtime: float
    predicted_sql_runtime: float
    pred_to_gold_runtime_ratio: float
    gold_error: int
    predicted_error: int
    gold_df_json: str
    predicted_df_json: str
    error_message: str


@dataclass
class SQLNonExecutionMetricResult:
    """Whether a query reads as it should; see :class:`proctor.scoring.metrics.sql.SQLNonExecutionAccuracy`."""

    sqlglot_validity: int
    sqlparse_validity: int
    sqlglot_equivalence: int
    sqlglot_optimized_equivalence: int
    sqlparse_equivalence: int
    sql_exact_match: int
    sql_syntactic_equivalence: int


class _Connected:
    """A database of a program's own, by the method that metrics call."""

    def __init__(self, connector: Any, seconds: float) -> None:
        self._connector, self._seconds = connector, seconds

    def execute(self, query: str) -> tuple[Any, str | None]:
        """Return the rows of a query, or why there are none: its error, or that it took too long."""
        found: list[tuple[Any, str | None]] = []

        def ask() -> None:
            try:
                found.append(self._connector.execute_query(query))
            except Exception as error:  # noqa: BLE001 - whatever somebody's database raises is why there are no rows
                found.append((None, f"Error: {error}"))

        asking = Thread(target=ask, daemon=True)
        asking.start()
        asking.join(self._seconds)
        return found[0] if found else (None, f"Timeout: the query took more than {self._seconds} seconds")


def run_query(sql: str, connector: Any, sql_timeout: float) -> tuple[pd.DataFrame | None, float, str]:
    """Return the table of a query, the seconds it took, and why there is no table.

    Args:
        sql: The query.
        connector: Has ``execute_query(query)``, which returns rows (or a dict with ``results``) and an error.
        sql_timeout: Seconds that it may take.
    """
    found = queries.run_query(sql, _database(connector, sql_timeout), sql_timeout)
    return found.table, found.seconds, found.error


def _database(connector: Any, seconds: float) -> Any:
    return connector if hasattr(type(connector), "execute") else _Connected(connector, seconds)


def get_sql_execution_results(
    predicted_sql: str, gold_sql: str, connector: Any, sql_timeout: float
) -> SQLExecutionResult:
    """Return whether a query returns what the right one returns."""
    metric = SQLExecutionAccuracy(sql_timeout=sql_timeout)
    scores = metric.compared(predicted_sql, gold_sql, _database(connector, sql_timeout))
    return SQLExecutionResult(**{each.name: scores[each.name] for each in fields(SQLExecutionResult)})


def strip_alias(col: str) -> str:
    """Return a column without the name that ``AS`` gives it."""
    return queries.without_alias(col)


def extract_select_columns(statement: Any) -> frozenset[str]:
    """Return the columns of a statement that sqlparse parsed, without their aliases."""
    return frozenset(queries.token_columns(statement.tokens))


def collect_clause(statement: Any, clause_keyword: str) -> str:
    """Return what a statement that sqlparse parsed says in one clause (``FROM``, ``WHERE`` …)."""
    return queries.clause_of(statement.tokens, clause_keyword)


def extract_select_info(sql: str) -> dict[str, Any] | None:
    """Return the columns and clauses of a SELECT; ``None`` where a text is not one SELECT."""
    return queries.select_parts(sql)
