"""How the answers to a table are scored: what ``--metric`` names, what columns ``__expected`` assert, else equality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from proctor.artifacts import Artifact
from proctor.dialects.tables.columns import Columns
from proctor.dialects.tables.reader import Rows
from proctor.errors import Diagnostic, UsageError, did_you_mean

if TYPE_CHECKING:
    from proctor.scoring.assertion_metrics import AssertionMetric

_EXPECTED: Final = re.compile(r"__expected\d*")
"""Columns of assertions in promptfoo's tables."""
_SAID: Final = ("__description", "__threshold")
"""Other columns of promptfoo's tables: what a row is about, and which share of its assertions has to hold."""

DEFAULT: Final = "exact"


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
        from proctor.scoring.assertion_metrics import AnswerAssertion, RowAssertions

        asked = columns.prompt if columns.prompt is not None else f"{{{columns.question}}}"
        engine = self._engine()

        def one(name: str) -> AssertionMetric | str:
            if name == DEFAULT or not _is_assertion(name):
                return name
            return AnswerAssertion(assertion=name, question=asked, judge=engine)

        made = [one(name) for name in self.names]
        if not made and self.expected:
            made = [RowAssertions(columns=list(self.expected), question=asked, judge=engine)]
        _number(made)
        return [{} if each == DEFAULT else {"metric": each} for each in made]

    def problems(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
        """Yield what is wrong with assertions of rows, and with the metrics that ask somebody."""
        for entry in entries:
            if (check := getattr(entry.get("metric"), "check_rows", None)) is not None:
                yield from check(self.rows)

    def _engine(self) -> Artifact | None:
        """Return the judge where one may be asked."""
        from proctor.settings import settings

        name = self.judge or settings.judge
        if not name or not self.asks:
            return None
        from proctor.engines.engine_registry import make_engine
        from proctor.engines.model_args import Origin

        return make_engine(name, None, Origin(None))

    @property
    def asks(self) -> bool:
        """Whether a judge is asked."""
        if self.is_equality:
            return False
        from proctor.scoring.assertions import JUDGED, parse_assertion

        words = [parse_assertion(name).kind for name in self.names if _is_assertion(name)]
        cells = [str(row.get(name) or "") for row in self.rows for name in self.expected if not self.names]
        judged = (*JUDGED, "grade")
        return any(word in JUDGED for word in words) or any(word in cell for cell in cells for word in judged)


def _is_assertion(name: str) -> bool:
    """Whether a name is an assertion's: its word, then nothing, brackets or a colon.

    Raises:
        ProctorError: It is neither one's nor that of a metric.
    """
    from proctor.scoring.assertions import EMBEDDED, JUDGED, KINDS, is_assertion, parse_assertion
    from proctor.scoring.metric_table import is_metric
    from proctor.scoring.named_table import LM_EVAL

    if is_metric(name, LM_EVAL) and name.partition(":")[0] not in {
        "f1",
        *KINDS,
    }:  # F1 is of words here, and of classes in lm-eval
        return False
    if not is_assertion(name):
        known = [*KINDS, *JUDGED, EMBEDDED]
        hint = did_you_mean(name, known) or f"there are {', '.join(known)}, and every metric that has a name"
        raise UsageError(f"there is no metric '{name}'", hint=hint)
    parse_assertion(name)
    return True


def _needs_answer(name: str) -> bool:
    from proctor.scoring.assertions import parse_assertion

    return not _is_assertion(name) or parse_assertion(name).needs_answer


def _number(metrics: Sequence[AssertionMetric | str]) -> None:
    """Give metrics of one word names that tell them apart: ``contains``, ``contains_2``."""
    seen: dict[str, int] = {}
    for each in metrics:
        if not isinstance(each, str):
            seen[each.main_score] = number = seen.get(each.main_score, 0) + 1
            if number > 1:
                each.main_score = f"{each.main_score}_{number}"
