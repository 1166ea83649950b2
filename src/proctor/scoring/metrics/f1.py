"""F1 from counts: intervals resample a table of counts, never lists of labels."""

# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.scoring.columns import SparseColumn
from proctor.scoring.map_reduce import MapReduceMetric
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats, Indices

SMALL_TABLE = 100_000
"""Size of the table of cells and labels up to which sums by label are one matrix product."""
BLOCK_COUNTS = 4_000_000
"""Most counts held at once: 32 MB."""
Counts = NDArray[np.int64]
Average = Literal["f1", "macro", "micro", "per_class"]


class LabelPair(NamedTuple):
    """The predicted and the right label of an instance."""

    predicted: Hashable
    gold: Hashable


class F1Fast(MapReduceMetric[Any, LabelPair]):
    """F1 of single-label classification; the classes are those among the references.

    Attributes:
        averages: Scores to compute: ``f1`` and ``f1_macro`` (mean over classes), ``f1_micro``, and ``f1_<class>``.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1"
    averages: list[Average] = ["f1", "micro", "macro", "per_class"]
    ignore_punc: bool = True
    ignore_case: bool = True

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> LabelPair:
        """Return the labels of an instance."""
        return LabelPair(_label(prediction), _label(references[0]))

    def reduce(self, intermediates: list[LabelPair]) -> dict[str, Any]:
        """Return the scores of a sample."""
        table = CountTable(intermediates)
        names = self._names(table.labels)
        return dict(zip(names, (float(value) for value in self._scores(table, names).observed()), strict=True))

    def resampler(self, intermediates: Sequence[LabelPair], names: Sequence[str]) -> F1Resampler:
        """Return F1 scores from resampled counts."""
        return self._scores(CountTable(intermediates), names)

    def _instance_columns(self, intermediates: list[LabelPair]) -> dict[str, Sequence[Any]]:
        right = [float(pair.predicted == pair.gold) for pair in intermediates]
        columns: dict[str, Sequence[Any]] = {}
        for average in self.averages:
            if average != "per_class":
                columns[self.score_prefix + _AVERAGED[average]] = right
                continue
            by_label: dict[Hashable, dict[int, float]] = {}
            for position, pair in enumerate(intermediates):
                by_label.setdefault(pair.gold, {})[position] = right[position]
            for label, values in by_label.items():
                columns[f"{self.score_prefix}f1_{label}"] = SparseColumn(values, len(right))
        return self._with_main(columns, len(right))

    def _names(self, labels: Sequence[Hashable]) -> list[str]:
        names = [_AVERAGED[average] for average in ("f1", "micro", "macro") if average in self.averages]
        return names + ([f"f1_{label}" for label in labels] if "per_class" in self.averages else [])

    def _scores(self, table: CountTable, names: Sequence[str]) -> F1Resampler:
        return F1Resampler(table, names)


_AVERAGED = {"f1": "f1", "micro": "f1_micro", "macro": "f1_macro"}


def _label(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


class CountTable:
    """Instances counted by (predicted, gold) label.

    Attributes:
        labels: Labels among the references, in order of first appearance among predictions and references.
        cell: Index of each instance's (predicted, gold) pair.
        predicted: For each cell the index of the predicted label in ``labels``; -1 where no reference has it.
        gold: For each cell the index of the right label.
    """

    def __init__(self, pairs: Sequence[LabelPair]) -> None:
        order: dict[Hashable, None] = {}
        for pair in pairs:
            order.setdefault(pair.gold)
            order.setdefault(pair.predicted)
        gold = {pair.gold for pair in pairs}
        self.labels = [label for label in order if label in gold]
        index = {label: position for position, label in enumerate(self.labels)}
        cells: dict[LabelPair, int] = {}
        self.cell = np.fromiter((cells.setdefault(pair, len(cells)) for pair in pairs), np.int64, len(pairs))
        self.predicted = np.array([index.get(pair.predicted, -1) for pair in cells], dtype=np.int64)
        self.gold = np.array([index[pair.gold] for pair in cells], dtype=np.int64)

    def __len__(self) -> int:
        return int(self.cell.size)

    def margins(self, counts: Counts) -> tuple[Floats, Floats, Floats]:
        """Return hits, predicted and gold counts by label, each of shape (samples, labels), of counts by cell."""
        known = self.predicted >= 0
        right = self.predicted == self.gold
        return (
            self._by_label(counts[:, right], self.gold[right]),
            self._by_label(counts[:, known], self.predicted[known]),
            self._by_label(counts, self.gold),
        )

    def _by_label(self, counts: Counts, labels: Counts) -> Floats:
        width = len(self.labels)
        if labels.size * width <= SMALL_TABLE:
            return counts.astype(np.float64) @ np.eye(width)[labels]
        return np.stack([np.bincount(labels, weights=row, minlength=width) for row in counts])


class F1Resampler:
    """F1 scores of a table of counts; see :class:`~proctor.statistics.resampling.Resampler`."""

    def __init__(self, table: CountTable, names: Sequence[str]) -> None:
        self._table = table
        self._names = list(names)
        self._cells = len(table.gold)
        self._counts = np.bincount(table.cell, minlength=self._cells)
        self._place = {f"f1_{label}": position for position, label in enumerate(table.labels)}

    @property
    def size(self) -> int:
        """Number of instances."""
        return len(self._table)

    def observed(self) -> Floats:
        """Return the scores of the data."""
        return self._of_counts(self._counts[np.newaxis, :])[:, 0]

    def resampled(self, rows: Indices) -> Floats:
        """Return the scores of each resample."""
        step = max(1, BLOCK_COUNTS // max(self._cells, 1))
        parts = [self._of_counts(self._count(rows[start : start + step])) for start in range(0, len(rows), step)]
        return np.concatenate(parts, axis=1)

    def _count(self, rows: Indices) -> Counts:
        offsets = np.arange(len(rows))[:, np.newaxis] * self._cells
        flat = (self._table.cell[rows] + offsets).ravel()
        return np.bincount(flat, minlength=len(rows) * self._cells).reshape(len(rows), self._cells)

    def leave_one_out(self) -> Floats:
        """Return the scores without each instance: one computation for each cell."""
        step = max(1, BLOCK_COUNTS // max(self._cells, 1))
        parts = []
        for start in range(0, self._cells, step):
            cells = np.arange(start, min(start + step, self._cells))
            counts = np.repeat(self._counts[np.newaxis, :], len(cells), axis=0)
            counts[np.arange(len(cells)), cells] -= 1
            parts.append(self._of_counts(counts))
        return np.concatenate(parts, axis=1)[:, self._table.cell]

    def _of_counts(self, counts: Counts) -> Floats:
        hits, predicted, gold = self._table.margins(counts)
        present = gold > 0
        f1 = np.divide(2.0 * hits, predicted + gold, out=np.zeros(hits.shape), where=present)
        classes = np.maximum(present.sum(axis=1), 1)
        scores = {
            "macro": f1.sum(axis=1) / classes,
            "micro": 2.0 * hits.sum(axis=1) / ((predicted * present).sum(axis=1) + gold.sum(axis=1)),
        }
        found = []
        for name in self._names:
            if name in ("f1", "f1_macro", "f1_micro"):
                found.append(scores["micro" if name == "f1_micro" else "macro"])
            else:
                place = self._place[name]
                found.append(np.where(present[:, place], f1[:, place], np.nan))
        return np.array(found, dtype=np.float64)
