"""``unitxt.text2sql_utils``: functions on queries and their results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from proctor.data.databases import FileDatabase, MemoryDatabase, Outcome, RemoteDatabase
from proctor.scoring import sql

if TYPE_CHECKING:
    import pandas as pd

ALL_DIALECTS = sorted(sql.DIALECTS, key=str.lower)
extract_sql_from_text = sql.sql_in
is_sqlparse_parsable = sql.parses_in_sqlparse
sql_exact_match = sql.is_equal_text
sqlparse_queries_equivalent = sql.is_equal_by_tokens


def is_sqlglot_parsable(sql_text: str, db_type: str = "sqlite") -> bool:
    """Whether sqlglot can parse a query."""
    return sql.parses_in_sqlglot(sql_text, "postgres" if db_type == "db2" else db_type)


def sqlglot_optimized_equivalence(expected: str, generated: str) -> int:
    """Return 1 where sqlglot's optimizer makes the same tree of two queries, else 0."""
    return int(sql.is_equal_optimized(expected, generated))


def sqlglot_parsed_queries_equivalent(sql1: str, sql2: str, dialect: str = "") -> bool:
    """Whether two SELECTs have the same columns in any order and the same clauses."""
    return sql.is_equal_parsed(sql1, sql2, dialect)


def replace_select_clause(source_query: str, target_query: str, dialect: str = "postgres") -> str:
    """Return the target with the columns of the source."""
    return sql.with_columns_of(source_query, target_query, dialect)


def compare_dfs_ignore_colnames_ordered_rows(df1: pd.DataFrame, df2: pd.DataFrame) -> bool:
    """Whether two tables have equal rows in the same order; the order of columns does not count."""
    return sql.same_cells(df1, df2, ordered=True)


def compare_dfs_ignore_colnames_unordered_rows(df1: pd.DataFrame, df2: pd.DataFrame) -> bool:
    """Whether two tables have equal columns once each is sorted."""
    return sql.same_cells(df1, df2, ordered=False)


def compare_dfs_ignore_colnames_subset(df1: pd.DataFrame, df2: pd.DataFrame, ignore_row_order: bool = True) -> bool:
    """Whether each row of the narrower table is a part of that of the other."""
    return sql.is_part(df1, df2, ordered=not ignore_row_order)


def compare_dfs_bird_eval_logic(df1: pd.DataFrame, df2: pd.DataFrame) -> int:
    """Return 1 where two tables have the same set of rows, else 0."""
    return sql.agreement(df1, df2, "").bird


def compare_result_dfs(gold_df: pd.DataFrame, pred_df: pd.DataFrame, gold_sql: str) -> tuple[int, int, int]:
    """Return whether two tables are equal, equal and not empty, and one a part of the other."""
    return sql.agreement(gold_df, pred_df, gold_sql)[:3]


_TABLE = re.compile(r"(?:CREATE TABLE|Table:)\s+(?:IF NOT EXISTS\s+)?[`\"\[]?([^\s`\"\](]+)", re.IGNORECASE)


def _named_table(part: str) -> str:
    found = _TABLE.search(part)
    return found[1] if found else ""


class _Connector:
    """What both kinds of databases here have, by the names that programs call."""

    execute: Any
    schema: Any

    def execute_query(self, query: str) -> Outcome:
        """Return the rows of a query, or why there are none."""
        return self.execute(query)  # type: ignore[no-any-return]

    def get_table_schema(self, select_tables: list[str] | None = None) -> str:
        """Return the tables as text; with names, those tables only, as far as a text names its table."""
        text: str = self.schema()
        if select_tables is None:
            return text
        parts = re.split(r"(?:\n\n|\n(?=Table: ))", text.rstrip("\n"))
        return "\n\n".join(part for part in parts if _named_table(part) in select_tables)


class LocalSQLiteConnector(_Connector, FileDatabase):
    """A SQLite file."""


class InMemoryDatabaseConnector(_Connector, MemoryDatabase):
    """Tables in memory."""


class RemoteDatabaseConnector(_Connector, RemoteDatabase):
    """A database behind a server."""

    @property
    def api_url(self) -> str:
        """Where it is."""
        return self.url

    @property
    def database_id(self) -> str:
        """Its name there."""
        return self.id


def get_db_connector(db_type: str) -> type[Any]:
    """Return the class for a type of database.

    Raises:
        ValueError: There are no databases of this type.
    """
    known: Mapping[str, type[Any]] = {
        "local": LocalSQLiteConnector,
        "in_memory": InMemoryDatabaseConnector,
        "remote": RemoteDatabaseConnector,
    }
    if db_type not in known:
        raise ValueError(f"Unsupported database type: {db_type}")
    return known[db_type]
