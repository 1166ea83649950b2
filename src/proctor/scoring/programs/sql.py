"""SQL that models write: finding it in an answer, comparing queries by their text, and comparing what they return.

Definitions are those of Unitxt's text2sql metrics (Apache 2.0); ``execution_accuracy_bird`` is BIRD's (Li et al. 2023).
Parsers are optional: ``sqlglot`` and ``sqlparse`` (``proctor[sql]``).
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.data.databases import Database, query_seconds
from proctor.errors import ScoringError, needed

if TYPE_CHECKING:
    import pandas as pd

_FENCED = re.compile(r"```sql\s+(.*?)```", re.IGNORECASE | re.DOTALL)
_STATEMENT = r"(?:^|\n|:\s*)((?:SELECT|INSERT|UPDATE|DELETE|WITH)\s+.*"
_ENDED = re.compile(_STATEMENT + r"?;)", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(_STATEMENT + ")", re.IGNORECASE | re.DOTALL)

DIALECTS = frozenset(
    {
        "Athena", "BigQuery", "ClickHouse", "Databricks", "Doris", "Drill", "Druid", "DuckDB", "Hive", "Materialize",
        "MySQL", "Oracle", "Postgres", "Presto", "PRQL", "Redshift", "RisingWave", "Snowflake", "Spark", "Spark2",
        "SQLite", "StarRocks", "Tableau", "Teradata", "Trino", "TSQL",
    }
)  # fmt: skip
"""The names by which a database's type is a dialect of sqlglot."""


def sql_in(text: str) -> str:
    """Return the first query of an answer: in a ``sql`` block, else up to a semicolon, else to the end; or nothing."""
    for pattern in (_FENCED, _ENDED, _OPEN):
        if match := pattern.search(text):
            return match.group(1).strip()
    return ""


def _sqlglot() -> Any:
    with needed("sqlglot", "sql", "comparing queries"):
        import sqlglot
        import sqlglot.optimizer
    return sqlglot


def _sqlparse() -> Any:
    with needed("sqlparse", "sql", "comparing queries"):
        import sqlparse
    return sqlparse


# -- queries by their text ------------------------------------------------------------------------------------


def parses_in_sqlglot(query: str, dialect: str = "sqlite") -> bool:
    """Whether sqlglot can parse a query."""
    sqlglot = _sqlglot()
    try:
        return bool(query.strip()) and sqlglot.parse(query, read=dialect) is not None
    except (sqlglot.errors.SqlglotError, RecursionError):  # nested deeper than Python goes
        return False


def parses_in_sqlparse(query: str) -> bool:
    """Whether sqlparse finds no error among the tokens of a query."""
    sqlparse = _sqlparse()
    if not query.strip() or (statements := _statements(query)) is None:
        return False
    tokens = (token for statement in statements for token in statement.tokens)
    return all(token.ttype != sqlparse.tokens.Error for token in tokens)


def is_equal_text(one: str, other: str) -> bool:
    """Whether two queries are equal but for case, white space and a semicolon."""
    return _plain(one) == _plain(other)


def _plain(query: str) -> str:
    return re.sub(r"\s+", " ", query.strip().rstrip(";")).upper()


def is_equal_optimized(one: str, other: str) -> bool:
    """Whether sqlglot's optimizer makes the same tree of two queries."""
    sqlglot = _sqlglot()
    try:
        trees = [
            sqlglot.optimizer.optimize(sqlglot.parse_one(query.lower()).sql(pretty=True)) for query in (one, other)
        ]
        return all(type(step).__name__ == "Keep" for step in sqlglot.diff(*trees))
    except Exception:  # noqa: BLE001 - the optimizer gives up in many ways; what cannot be compared is not equal
        return False


def is_equal_parsed(one: str, other: str, dialect: str = "") -> bool:
    """Whether two SELECTs have the same columns, in any order and under any name, and the same clauses, by sqlglot."""
    sqlglot = _sqlglot()
    try:
        trees = [sqlglot.parse_one(query, read=dialect) for query in (one, other)]
    except (sqlglot.errors.SqlglotError, RecursionError):
        return False
    if not all(isinstance(tree, sqlglot.exp.Select) for tree in trees):
        return False
    columns, clauses = zip(*((_columns(tree), _clauses(tree)) for tree in trees), strict=True)
    return bool(columns[0] == columns[1] and clauses[0] == clauses[1])


def _columns(select: Any) -> frozenset[str]:
    copies = [item.copy() for item in select.expressions]
    for copy in copies:
        copy.set("alias", None)
    return frozenset(copy.sql(normalize=True) for copy in copies)


_CLAUSES = ("from", "where", "group", "having", "order")


def _clauses(select: Any) -> list[str]:
    found = (select.args.get(name) or select.args.get(f"{name}_") for name in _CLAUSES)  # "from_" since sqlglot 28
    return [clause.sql(normalize=True) if clause else "" for clause in found]


_KEYWORDS = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")


def is_equal_by_tokens(one: str, other: str) -> bool:
    """Whether two SELECTs have the same columns in any order and the same clauses, by sqlparse's tokens."""
    parts = [_parts(query) for query in (one, other)]
    return parts[0] is not None and parts[0] == parts[1]


def _parts(query: str) -> tuple[frozenset[str], list[str]] | None:
    found = select_parts(query)
    if found is None:
        return None
    return found["columns"], [found[name].replace(" ", "").upper() for name in _CLAUSES]


def select_parts(query: str) -> dict[str, Any] | None:
    """Return the ``columns`` of a SELECT and what each clause says; ``None`` where a text is not one SELECT."""
    statements = _statements(query)
    if statements is None or len(statements) != 1 or not any(_is_select(token) for token in statements[0].tokens):
        return None
    tokens = statements[0].tokens
    return {"columns": frozenset(token_columns(tokens)), **{name: clause_of(tokens, name.upper()) for name in _CLAUSES}}


def _statements(query: str) -> Sequence[Any] | None:
    """Return the statements of a query; ``None`` where it is longer or nested deeper than sqlparse reads."""
    sqlparse = _sqlparse()
    try:
        found: Sequence[Any] = sqlparse.parse(query)
    except (sqlparse.exceptions.SQLParseError, RecursionError):
        return None
    return found


def _is_select(token: Any) -> bool:
    return token.ttype is _sqlparse().tokens.DML and token.value.upper() == "SELECT"


def token_columns(tokens: Sequence[Any]) -> Iterator[str]:
    """Yield the columns of a SELECT's tokens, without their aliases."""
    sqlparse = _sqlparse()
    seen = False
    for token in tokens:
        if _is_select(token):
            seen = True
        elif seen and token.ttype is sqlparse.tokens.Keyword and token.value.upper() in _KEYWORDS:
            return
        elif seen and isinstance(token, sqlparse.sql.IdentifierList):
            yield from (without_alias(each.value) for each in token.get_identifiers())
        elif seen and token.value.strip():
            yield without_alias(token.value)


def without_alias(column: str) -> str:
    """Return a column without the name that it is given."""
    column = column.strip()
    if (place := column.upper().find(" AS ")) >= 0:
        return column[:place].strip()
    words = column.split()
    return " ".join(words[:-1]) if len(words) > 1 else column


def clause_of(tokens: Sequence[Any], keyword: str) -> str:
    """Return what tokens say after a keyword, up to the next clause."""
    is_keyword = _sqlparse().tokens.Keyword
    found: list[str] | None = None
    for token in tokens:
        name = token.value.upper()
        if token.ttype is is_keyword and name.startswith(keyword):
            found = found or []
            continue
        if found is not None and token.ttype is is_keyword and name in _KEYWORDS:
            break
        if found is not None:
            found.append(token.value)
    return " ".join(found or ()).strip()


def with_columns_of(columns: str, query: str, dialect: str | None) -> str:
    """Return a query with the columns of another one: what is right but for what it shows becomes right.

    Raises:
        ScoringError: One of them is not a SELECT.
    """
    sqlglot = _sqlglot()
    dialect = dialect or "postgres"
    try:
        source, target = (sqlglot.parse_one(text, read=dialect) for text in (columns, query))
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise ScoringError("a query cannot be parsed", why=str(error)[:200]) from error
    if not all(isinstance(each, sqlglot.exp.Select) for each in (source, target)):
        raise ScoringError("both queries have to be SELECT statements")
    target.set("expressions", source.expressions)
    return str(target.sql(dialect=dialect))


# -- queries by what they return ------------------------------------------------------------------------------


class Returned(NamedTuple):
    """What a query returned: a table, or an error; and the seconds it took."""

    table: pd.DataFrame | None
    seconds: float
    error: str


def run_query(query: str, database: Database, seconds: float) -> Returned:
    """Return what a query returns from a database within so many seconds."""
    import pandas as pd

    if not query.strip():
        return Returned(None, 0.0, "No SQL query found in the prediction.")
    began = time.perf_counter()
    with query_seconds(seconds):
        rows, error = database.execute(query)
    took = time.perf_counter() - began
    if error:
        return Returned(None, took, error)
    if isinstance(rows, dict) and "results" in rows:
        rows = rows["results"]
    return Returned(pd.DataFrame(rows), took, "")


class Agreement(NamedTuple):
    """How two results agree: as they are, where neither is empty, as a part of the other, and as BIRD counts."""

    match: int
    non_empty: int
    subset: int
    bird: int


def agreement(gold: pd.DataFrame, given: pd.DataFrame, query: str) -> Agreement:
    """Return how the result of a query agrees with the right one; names of columns do not count.

    The order of rows counts where the right query says ``ORDER BY``. Without it, columns are sorted each by itself, as
    Unitxt does: results that are equal column by column count as equal.
    """
    ordered = "ORDER BY" in query.upper()
    match = same_cells(gold, given, ordered=ordered)
    filled = not gold.empty and not given.empty
    subset = is_part(gold, given, ordered=ordered)
    bird = set(map(tuple, gold.to_numpy().astype(str))) == set(map(tuple, given.to_numpy().astype(str)))
    return Agreement(int(match), int(match and filled), int(subset), int(bird))


def same_cells(one: pd.DataFrame, other: pd.DataFrame, *, ordered: bool) -> bool:
    """Whether two tables have the same cells; the order of columns does not count, that of rows where ``ordered``."""
    if one.shape != other.shape:
        return False
    rows = [[sorted(row) for row in each.to_numpy().astype(str).tolist()] for each in (one, other)]
    if ordered:
        return rows[0] == rows[1]
    return bool(
        [sorted(column) for column in zip(*rows[0], strict=True)]
        == [sorted(column) for column in zip(*rows[1], strict=True)]
    )


def is_part(one: pd.DataFrame, other: pd.DataFrame, *, ordered: bool) -> bool:
    """Whether each row of the narrower of two filled tables is a part of that of the other."""
    if one.empty or other.empty or len(one) != len(other):
        return False
    small, large = sorted((one, other), key=lambda table: table.shape[1])
    counts = [_counts(table, ordered=ordered) for table in (small, large)]
    return all(own <= of for own, of in zip(*counts, strict=True))


def _counts(table: pd.DataFrame, *, ordered: bool) -> list[Counter[str]]:
    if ordered:
        return [Counter(map(str, row)) for row in table.to_numpy()]
    columns = [sorted(map(str, table.iloc[:, place])) for place in range(table.shape[1])]
    return [Counter(row) for row in zip(*columns, strict=True)]
