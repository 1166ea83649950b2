"""Views of scores: global, by group, by subset, by instance."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from proctor.errors import UnknownColumnError, did_you_mean
from proctor.results.tables import pipe_table
from proctor.results.unitxt_print import pretty_text
from proctor.scoring.flat_scores import COUNT, FAILED, HIGH, LOW, MAIN_BOUNDS, main_of, read_flat

if TYPE_CHECKING:
    from pandas import DataFrame

COUNTS = (COUNT, FAILED)
COLUMNS = ("score", "score_name", *MAIN_BOUNDS, COUNT)
SHOWN_INSTANCES = 5  # as many as Unitxt's summary shows (the head of a pandas table)
DIGITS = ".2g"
"""How scores are printed."""


class GlobalScores(dict[str, Any]):
    """Global scores by name.

    Attributes:
        first_failure: Why the first instance without a score has none; empty where all have one.
    """

    first_failure: str = ""

    @property
    def score(self) -> float:
        """The main score."""
        found: float = self["score"]
        return found

    @property
    def score_name(self) -> str:
        """The name of the main score."""
        found: str = self["score_name"]
        return found

    def rows(self) -> list[tuple[str, Any, Any, Any]]:
        """Return name, score, lower and upper bound (``None`` without interval) of every number."""
        listed = [*read_flat(self), replace(main_of(self), name="score")]
        bounds = {score.name: (score.low, score.high) for score in listed}
        return [
            (name, value, *bounds.get(name, (None, None)))
            for name, value in self.items()
            if isinstance(value, (int, float)) and not name.endswith((LOW, HIGH))
        ]

    def to_df(self) -> DataFrame:
        """Return a data frame indexed by ``score_name`` with columns ``score``, ``ci_low`` and ``ci_high``."""
        from pandas import DataFrame

        return DataFrame(self.rows(), columns=["score_name", "score", "ci_low", "ci_high"]).set_index("score_name")

    @property
    def summary(self) -> str:
        """A table of the scores, the main score, how many instances were scored and how many failed."""
        rows = [(row[0], *map(_rounded, row[1:])) for row in sorted(self.rows()) if row[0] not in COUNTS]
        table = pipe_table(["score_name", "score", "ci_low", "ci_high"], rows)
        failed = self.get("num_of_failures", 0)
        counted = f"{self['num_of_instances']}" + (f" ({failed} failed)" if failed else "")
        lines = [table, f"Main Score: {self['score_name']}", f"Num Instances: {counted}"]
        if self.first_failure:
            lines.append(f"First failure: {self.first_failure.splitlines()[0]}")
        lines += [f"Failed: {name}: {reason}" for name, reason in self.get("metric_failures", {}).items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return pretty_text(self, float_format=DIGITS)


class GroupsScores(dict[Any, dict[Any, dict[str, Any]]]):
    """Global scores by grouping (a field, or a tuple of fields) and value."""

    @property
    def summary(self) -> str:
        """A table for each grouping."""
        parts = []
        for grouping, groups in self.items():
            names = grouping if isinstance(grouping, tuple) else (grouping,)
            rows = []
            for key, scores in groups.items():
                values = key if isinstance(key, tuple) else (key,)
                row: dict[str, Any] = dict(zip(names, map(str, values), strict=False))
                rows.append({**row, **{column: scores.get(column, "") for column in COLUMNS}})
            parts += [f"# Group By: {', '.join(names)}", _table_of(rows, [*names, *COLUMNS]), ""]
        return "\n".join(parts)

    def __repr__(self) -> str:
        return pretty_text(self, float_format=DIGITS)


class SubsetsScores(dict[str, Any]):
    """Scores of a benchmark's subsets, nested."""

    @property
    def summary(self) -> str:
        """A table with a row for each subset, and for each group of it."""
        rows = list(_subset_rows(self, ()))
        groupings = dict.fromkeys(name for row in rows for name in row if name not in ("subset", *COLUMNS))
        return _table_of(rows, ["subset", *groupings, *COLUMNS])

    def __repr__(self) -> str:
        return pretty_text(self, float_format=DIGITS)


def _subset_rows(node: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if "score" in node and "score_name" in node:
        own = {"subset": ".".join(path) or "ALL", **{column: node.get(column, "") for column in COLUMNS}}
        if groups := node.get("groups"):
            for grouping, members in groups.items():
                for key, scores in members.items():
                    found = {column: scores.get(column, own[column]) for column in COLUMNS}
                    yield {"subset": own["subset"], **found, grouping: str(key)}
        else:
            yield own
    for key, child in node.items():
        if isinstance(child, dict) and key != "groups":
            yield from _subset_rows(child, (*path, key))


class InstanceScores(list[dict[str, Any]]):
    """Instances with their scores; each is flat: task data, fields, then scores."""

    def __init__(self, instances: Sequence[Mapping[str, Any]]) -> None:
        self.original_instances = instances
        super().__init__(
            {
                **instance["task_data"],
                **{name: value for name, value in instance.items() if name not in ("score", "task_data")},
                **instance["score"]["instance"],
            }
            for instance in instances
        )

    def to_df(self, flatten: bool = True, columns: Sequence[str] | None = None) -> DataFrame:
        """Return a data frame of the instances.

        Args:
            flatten: Whether each score and each field of the task is a column, rather than ``score`` and ``task_data``.
            columns: Columns to keep.

        Raises:
            UnknownColumnError: No instance has such a column.
        """
        from pandas import DataFrame

        frame = DataFrame(list(self) if flatten else list(self.original_instances))
        _check_columns(columns or (), [str(each) for each in frame])
        return frame if columns is None else frame[list(columns)]

    def to_markdown(
        self, flatten: bool = True, columns: Sequence[str] | None = None, max_col_width: int = 30, index: bool = True
    ) -> str:
        """Return a table of the instances; cells are wrapped at ``max_col_width`` characters.

        Raises:
            UnknownColumnError: No instance has such a column.
        """
        rows: Sequence[Mapping[str, Any]] = self if flatten else self.original_instances
        known = list(dict.fromkeys(name for row in rows for name in row))
        _check_columns(columns or (), known)
        names = known if columns is None else list(columns)
        cells = [[_wrapped(row.get(name, math.nan), max_col_width) for name in names] for row in rows]
        return pipe_table(names, cells, index=index)

    @property
    def summary(self) -> str:
        """A table of the first instances: source, prediction, references, score."""
        fields = ("source", "prediction", "processed_prediction", "references", "processed_references")
        rows = []
        for instance in self.original_instances[:SHOWN_INSTANCES]:
            scores = instance["score"]["instance"]
            every = "\n".join(f"{name}: {value}" for name, value in scores.items() if isinstance(value, float))
            row = [*(instance.get(field) for field in fields), scores.get("score"), scores.get("score_name"), every]
            rows.append([_wrapped(cell, 30) for cell in row])
        return pipe_table([*fields, "score", "score_name", "all_scores"], rows, index=True)

    def __repr__(self) -> str:
        return pretty_text(self, float_format=DIGITS)


def _check_columns(wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
            raise UnknownColumnError(f"no instance has a column '{name}'", hint=hint)


def _rounded(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return float(np.round(value, 2))


def _wrapped(value: Any, width: int) -> str:
    return "\n".join(textwrap.fill(line, width=width) for line in str(value).splitlines())


def _table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    if not rows:
        return "_No matching rows_"
    filled = [[_blank(row.get(column, "")) for column in columns] for row in rows]
    kept = [i for i in range(len(columns)) if any(cells[i] != "" for cells in filled)]
    return pipe_table([columns[i] for i in kept], [[cells[i] for i in kept] for cells in filled])


def _blank(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
