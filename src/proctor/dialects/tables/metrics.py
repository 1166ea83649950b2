"""The scoring of a table: what ``--metric`` names, what columns ``__expected`` assert, else equality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from proctor.artifacts import Artifact
from proctor.dialects.tables.columns import Columns
from proctor.dialects.tables.reader import Rows, columns_of
from proctor.errors import Diagnostic, Location, UsageError, did_you_mean
from proctor.recipes.metric_words import asks_judge, is_assertion_word, is_code, judge_of, named_metrics

_EXPECTED: Final = re.compile(r"__expected\d*")
"""Columns of assertions in promptfoo's tables."""
_SAID: Final = ("__description", "__threshold", "__metric")
"""Other columns of promptfoo's tables: what a row is about, and which share of its assertions has to hold."""

DEFAULT: Final = "exact"


_NAMED: Final = re.compile(r"\{([^{}:]+)\}")
"""A column in braces, single or double."""
FOLLOWED: Final = "IFEvaluator"
FOLLOWED_BY: Final = ("instruction_id_list", "kwargs")
"""The metric of instructions that a program can check, and the columns that it reads (IFEval's)."""
LABELS: Final = frozenset({"accuracy", "f1_macro", "f1_micro", "f1_weighted"})
"""Metrics of classes, which compare to the letter."""


@dataclass(frozen=True)
class TableMetrics:
    """What a table's answers are scored by.

    Attributes:
        path: The file, for messages.
        names: As the user names metrics.
        rows: The rows, for the columns of assertions.
        judge: Who judges, where anybody does.
    """

    path: str
    names: tuple[str, ...]
    rows: Rows
    judge: str | None = None

    @property
    def is_equality(self) -> bool:
        """Whether answers are compared as tables have it by default."""
        return not self.names and not self.expected

    @property
    def needs_answer(self) -> bool:
        """Whether a metric compares with right answers."""
        if self.names:
            return any(_needs_answer(name) for name in self.names)
        return not self.expected

    @cached_property
    def expected(self) -> tuple[str, ...]:
        """The columns of assertions.

        Raises:
            UsageError: The table has a column of promptfoo's that is not obeyed.
        """
        names = dict.fromkeys(name for row in self.rows[:1] for name in row)
        found = tuple(name for name in names if _EXPECTED.fullmatch(name))
        if found and (unknown := [each for each in names if each.startswith("__") and each not in (*found, *_SAID)]):
            raise UsageError(f"{self.path} has a column '{unknown[0]}', which is not obeyed", hint="leave it out")
        return found

    def entries(self, columns: Columns) -> list[dict[str, Any]]:
        """Return the metrics as entries of a task's metric list; an empty one is the default of tables.

        Args:
            columns: What is asked: judges are shown it.

        Raises:
            ProctorError: There is no such metric, or one has no judge.
        """
        if self.is_equality:
            return []
        asked = columns.prompt
        if asked is None:
            asked = "\n\n".join(f"{{{each}}}" for each in columns.asked)
        made = named_metrics([each for each in self.names if each != DEFAULT], asked, self.judge, _in_code)
        if not self.names and self.expected:
            from proctor.scoring.assertion_metrics import RowAssertions

            judge = judge_of(self.judge) if self.asks else None
            made = [RowAssertions(columns=list(self.expected), question=asked, judge=judge)]
        found: list[dict[str, Any]] = [{"metric": each} for each in made]
        for place, name in enumerate(self.names):
            if name == DEFAULT:
                found.insert(place, {})
        return found

    def problems(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
        """Yield what is wrong with assertions of rows, with metrics that ask somebody, with columns in braces."""
        known = columns_of(self.rows)
        for name in (name for each in self.names if not is_code(each) for name in _NAMED.findall(each)):
            if name not in known and (near := did_you_mean(name, known)):
                what = f"--metric names '{name}', and the table has no such column"
                yield Diagnostic(what, Location(self.path), hint=near)
        for entry in entries:
            if (check := getattr(entry.get("metric"), "check_rows", None)) is not None:
                yield from check(self.rows)

    @property
    def asks(self) -> bool:
        """Whether a judge is asked."""
        if self.is_equality:
            return False
        if self.names:
            return asks_judge(self.names)
        from proctor.scoring.assertions import JUDGED

        cells = [str(row.get(name) or "") for row in self.rows for name in self.expected]
        return any(word in cell for cell in cells for word in (*JUDGED, "grade"))


def _in_code(name: str) -> Artifact:
    from proctor.dialects.own_metrics import metric_in  # which most tables do not need

    return metric_in(name)


def _needs_answer(name: str) -> bool:
    from proctor.scoring.assertions import parse_assertion

    if is_code(name) or name == FOLLOWED:
        return False
    return not is_assertion_word(name) or parse_assertion(name).needs_answer
