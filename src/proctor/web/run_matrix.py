"""The matrix of models by exams: the newest score of each pair, with what changed since the run before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.summary import ScoreRow
from proctor.scoring.flat_scores import DIRECTION
from proctor.scoring.scores import Unit
from proctor.web.charts import scale_of, small_bar
from proctor.web.run_lines import RunLine, ago

MOST_COLUMNS: Final = 8
"""Exams that a screen of 1,440 pixels shows beside each other; the rest is a click away."""

_IN_WORDS: Final = {
    "data": "order of questions",
    "rows": "questions",
    "prompts": "prompts",
    "decoding": "decoding",
    "extraction": "extraction",
    "metrics": "metric",
    "engine": "model settings",
}
"""What people call the layers of an exam."""
_OTHER_MEASURE: Final = frozenset({"rows", "metrics"})
"""Layers with which two numbers measure different things: their difference is not a change."""


@dataclass(frozen=True, slots=True)
class Column:
    """An exam under one metric in one unit: only equal units stand in one column.

    Attributes:
        exam, metric, unit: What its scores are.
        is_suite: Whether they are of several exams together.
        scale: The axis of its bars.
    """

    exam: str
    metric: str
    unit: Unit
    is_suite: bool
    scale: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Change:
    """The change from the run before, of the same model and exam.

    Attributes:
        since: Name of that run.
        when: How long ago it was.
        difference: Of the scores; ``None`` where they do not measure the same. Whether it is more than chance only the
            paired comparison says, so it is drawn without an arrow.
        link: That comparison.
        layers: What else changed, in words.
    """

    since: str
    when: str
    difference: float | None
    layers: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The newest score of a model in an exam.

    Attributes:
        line: The run.
        row: The score.
        chart: It as a small bar with its interval.
        link: Its instances, or its run where there are none.
        change: Since the run before; ``None`` where there is none.
        runs: How many runs have this score.
        is_unlike: Whether it was measured on other questions than the first model's.
    """

    line: RunLine
    row: ScoreRow
    chart: Markup
    link: str
    change: Change | None
    runs: int
    is_unlike: bool = False


@dataclass(slots=True)
class Matrix:
    """Models down, exams across.

    Attributes:
        columns: The exams that are shown.
        lines: Each model with its cells; ``None`` where it did not sit the exam.
        left_out: Exams that are not shown.
        sorted_by: Number of the column by which models are sorted, or ``None``: those with the newest runs first.
    """

    columns: list[Column] = field(default_factory=list)
    lines: list[tuple[str, list[Cell | None]]] = field(default_factory=list)
    left_out: int = 0
    sorted_by: int | None = None

    @property
    def has_unlike(self) -> bool:
        """Whether some score is marked."""
        return any(cell is not None and cell.is_unlike for _, cells in self.lines for cell in cells)


Key = tuple[str, str, Unit]
_Found = tuple[RunLine, ScoreRow]


def matrix_of(lines: Sequence[RunLine], *, everything: bool = False, by: int | None = None) -> Matrix:
    """Return the matrix of runs that ended.

    Args:
        lines: The runs.
        everything: Whether to show all exams.
        by: Number of the column by which models are sorted, the best first.
    """
    ended = sorted((line for line in lines if line.run.state == "done"), key=lambda line: line.started, reverse=True)
    found: dict[str, dict[Key, list[_Found]]] = {}
    for line in ended:
        model = line.run.model
        for row in line.rows:
            if row.is_graded:
                scores = found.setdefault(model, {})
                scores.setdefault((row.task, row.metric, row.unit), []).append((line, row))
    columns = _columns(found, ended)
    shown = columns if everything else columns[:MOST_COLUMNS]
    made = [(model, [_cell(scores, column) for column in shown]) for model, scores in found.items()]
    by = by if by is not None and 0 <= by < len(shown) else None
    if by is not None:
        made.sort(key=lambda entry: _rank(entry[1][by]))
    return Matrix(shown, _marked(made), len(columns) - len(shown), by)


def _columns(found: Mapping[str, Mapping[Key, Sequence[_Found]]], ended: Sequence[RunLine]) -> list[Column]:
    """Return the columns: suites first, then what most models sat; members of a suite come last."""
    rows: dict[Key, list[ScoreRow]] = {}
    for scores in found.values():
        for key, history in scores.items():
            rows.setdefault(key, []).append(history[0][1])
    members = {
        str(name) for line in ended for entry in line.run.results.values() for name in entry.get("members") or ()
    }
    columns = [Column(*key, each[0].is_suite, scale_of(each)) for key, each in rows.items()]
    models = {key: len(each) for key, each in rows.items()}

    def order(column: Column) -> tuple[bool, bool, int]:
        count = models[column.exam, column.metric, column.unit]
        return (not column.is_suite, column.exam in members, -count)

    return sorted(columns, key=order)


def _cell(scores: Mapping[Key, Sequence[_Found]], column: Column) -> Cell | None:
    history = scores.get((column.exam, column.metric, column.unit))
    if not history:
        return None
    line, row = history[0]
    earlier = next((each for each in history[1:] if each[1].value is not None), None)
    change = _change(history[0], earlier) if earlier is not None else None
    return Cell(line, row, small_bar(row, column.scale), _link(line, row), change, len(history))


def _link(line: RunLine, row: ScoreRow) -> str:
    if not line.has_samples:
        return f"/runs/{line.id}"
    return f"/runs/{line.id}/samples?{urlencode({'subset' if row.is_suite else 'exam': row.task})}"


def _change(now: _Found, before: _Found) -> Change:
    (line, row), (earlier, old) = now, before
    layers = _layers(line, earlier, row.task)
    alike = not _OTHER_MEASURE & set(layers) and (
        (_knows(line, row.task) and _knows(earlier, row.task)) or row.asked == old.asked
    )
    difference = row.value - old.value if alike and row.value is not None and old.value is not None else None
    told = layers if alike or layers else ["rows"]
    said = tuple(_IN_WORDS[name] for name in told if name not in ("engine", "data") or len(told) == 1)
    link = "/compare?" + urlencode([("baseline", earlier.id), ("run", line.id)])
    return Change(earlier.name, ago(earlier.started), difference, said, link)


def _knows(line: RunLine, exam: str) -> bool:
    return _print_of(line, exam) is not None


def _print_of(line: RunLine, exam: str) -> Fingerprint | None:
    return Fingerprint.from_dict(line.run.results.get(exam, {}).get(FINGERPRINT))


def _layers(line: RunLine, earlier: RunLine, exam: str) -> list[str]:
    mine, theirs = _print_of(line, exam), _print_of(earlier, exam)
    return mine.differences(theirs) if mine is not None and theirs is not None else []


def _rank(cell: Cell | None) -> tuple[bool, float]:
    if cell is None or cell.row.value is None:
        return True, 0.0
    less_is_better = cell.line.run.results.get(cell.row.task, {}).get(DIRECTION) is False
    return False, cell.row.value if less_is_better else -cell.row.value


def _marked(lines: list[tuple[str, list[Cell | None]]]) -> list[tuple[str, list[Cell | None]]]:
    """Return the lines with a mark on scores that were measured on other questions than the first one of a column."""
    firsts: dict[int, Cell] = {}
    marked = []
    for model, cells in lines:
        made: list[Cell | None] = []
        for place, cell in enumerate(cells):
            first = firsts.setdefault(place, cell) if cell is not None else None
            is_unlike = cell is not None and first is not None and _measures_otherwise(first, cell)
            made.append(replace(cell, is_unlike=True) if cell is not None and is_unlike else cell)
        marked.append((model, made))
    return marked


def _measures_otherwise(first: Cell, other: Cell) -> bool:
    exam = first.row.task
    if _knows(first.line, exam) and _knows(other.line, exam):
        return bool(_OTHER_MEASURE & set(_layers(other.line, first.line, exam)))
    return first.row.asked != other.row.asked
