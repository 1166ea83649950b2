"""Metrics of SQL: whether a query returns what it should, or reads as it should."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from typing import Any, ClassVar

from proctor.data.databases import connect
from proctor.errors import MissingFieldError
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.programs import sql
from proctor.scoring.scores import Unit

_EXECUTED = (
    "execution_accuracy", "non_empty_execution_accuracy", "subset_non_empty_execution_accuracy",
    "execution_accuracy_bird", "non_empty_gold_df", "gold_sql_runtime", "predicted_sql_runtime",
    "pred_to_gold_runtime_ratio", "gold_error", "predicted_error",
)  # fmt: skip
_WITH_INTERVALS = (*_EXECUTED[:4], "gold_sql_runtime", "predicted_sql_runtime")
_READ = (
    "sqlglot_validity", "sqlparse_validity", "sqlglot_equivalence", "sqlglot_optimized_equivalence",
    "sqlparse_equivalence", "sql_exact_match", "sql_syntactic_equivalence",
)  # fmt: skip


class SQLExecutionAccuracy(InstanceMetric):
    """Whether a query returns what the right one (the first reference) returns from the database ``db`` of the task.

    Queries are run on a database that is opened for reading only, one that reads as the right one is not run.

    Attributes:
        sql_timeout: Seconds that a query may take.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "non_empty_execution_accuracy"
    reduction_map: dict[str, Any] = {"mean": list(_EXECUTED)}
    ci_scores: list[str] | None = list(_WITH_INTERVALS)
    sql_timeout: float = 60.0

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of a query."""
        return _named(self.main_score, self.executed(sql.sql_in(prediction), references[0], _database(task_data)))

    def executed(self, query: str, gold: str, config: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of a query on the database that a task describes."""
        return self.compared(query, gold, connect(config))

    def compared(self, query: str, gold: str, database: Any) -> dict[str, Any]:
        """Return the scores of a query on a database that is connected."""
        right = sql.run_query(gold, database, self.sql_timeout)
        scores: dict[str, Any] = dict.fromkeys(_EXECUTED, 0)
        scores |= {"gold_sql_runtime": right.seconds, "gold_df_json": "", "predicted_df_json": "", "error_message": ""}
        if right.table is None:
            return scores | {"gold_error": 1, "error_message": right.error}
        scores |= {"non_empty_gold_df": int(not right.table.empty), "gold_df_json": right.table.to_json()}
        if query.strip().lower() == gold.strip().lower() or sql.is_equal_optimized(gold, query):
            agreement = sql.Agreement(1, scores["non_empty_gold_df"], scores["non_empty_gold_df"], 1)
            return scores | _agreed(agreement) | {"predicted_df_json": scores["gold_df_json"]}
        given = sql.run_query(query, database, self.sql_timeout)
        scores["predicted_sql_runtime"] = given.seconds
        scores["pred_to_gold_runtime_ratio"] = given.seconds / right.seconds if right.seconds > 0 else 0
        if given.table is None:
            return scores | {"predicted_error": int(bool(given.error)), "error_message": given.error}
        agreement = sql.agreement(right.table, given.table, gold)
        return scores | _agreed(agreement) | {"predicted_df_json": given.table.to_json()}


def _named(main: str, scores: dict[str, Any]) -> dict[str, Any]:
    """Return scores that say which of them is the main one: programs compute those of one query and read that."""
    return {**scores, "score": scores[main], "score_name": main}


def _agreed(agreement: sql.Agreement) -> dict[str, int]:
    return dict(zip(_EXECUTED, agreement, strict=False))


def _database(task_data: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(task_data.get("db"), dict):
        raise MissingFieldError("the task data has no database", hint="its field 'db' is of the type SQLDatabase")
    found: dict[str, Any] = task_data["db"]
    return found


class SQLExecutionLogicAccuracy(SQLExecutionAccuracy):
    """:class:`SQLExecutionAccuracy` of a query with the columns of the right one: whether it finds the right rows."""

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of a query."""
        query, gold, config = sql.sql_in(prediction), references[0], _database(task_data)
        dialect = config.get("db_type") if config.get("db_type") in sql.DIALECTS else None
        return _named(
            self.main_score,
            self.executed(sql.with_columns_of(gold, query, dialect) if gold and query else "", gold, config),
        )


class SQLNonExecutionAccuracy(InstanceMetric):
    """Whether a query reads as the right one (the first reference): by its text and by two parsers; none is run."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "sqlglot_equivalence"
    reduction_map: dict[str, Any] = {"mean": list(_READ)}
    ci_scores: list[str] | None = list(_READ)

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of a query."""
        gold, query = references[0], sql.sql_in(prediction)
        in_sqlglot, in_sqlparse = sql.parses_in_sqlglot(query), sql.parses_in_sqlparse(query)
        equal = (
            in_sqlglot and sql.is_equal_parsed(query, gold),
            in_sqlglot and sql.is_equal_optimized(query, gold),
            in_sqlparse and sql.is_equal_by_tokens(query, gold),
            sql.is_equal_text(query, gold),
        )
        return _named(
            self.main_score, dict(zip(_READ, map(int, (in_sqlglot, in_sqlparse, *equal, any(equal))), strict=True))
        )
