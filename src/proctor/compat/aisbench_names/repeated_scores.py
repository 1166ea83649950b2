"""What AISBench's evaluators do around a score: rows that were asked several times, and the sums over them."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.scoring.repeats import at_least_one_as_product

_RIGHT = ("correct", "is_correct", "cascade_correct")
"""Where details say whether a prediction is right; the first that is there counts."""


class RepeatedScores:
    """The part of an evaluator that sees repeats: of every row ``n`` answers, which stand behind each other.

    Attributes:
        pred_postprocessor: The config of a post-processor of the evaluator's own.
    """

    _dataset_replica_idx = 0
    pred_postprocessor: Mapping[str, Any] | None = None

    @property
    def dataset_replica_idx(self) -> int:
        """Which repeat is scored just now."""
        return self._dataset_replica_idx

    @property
    def logger(self) -> AISLogger:
        """Where messages go."""
        return AISLogger()

    def pred_postprocess(self, predictions: Sequence[Any]) -> Any:
        """Return predictions after the evaluator's own post-processor."""
        if self.pred_postprocessor is None:
            return predictions
        from proctor.compat.aisbench_names.registries import TEXT_POSTPROCESSORS

        arguments = dict(self.pred_postprocessor)
        function = TEXT_POSTPROCESSORS.get(arguments.pop("type"))
        return [function(each, **arguments) for each in predictions]

    def evaluate(self, k: int | Sequence[int], n: int, original_dataset: Any, **score_kwargs: Any) -> dict[str, Any]:
        """Return the scores of predictions, repeat by repeat, and what is summed up over repeats.

        Args:
            k: How many answers ``pass@k`` draws: one number, or several.
            n: How many answers every row has.
            original_dataset: The rows, each ``n`` times, with ``subdivision`` and ``idx``.
            score_kwargs: What :meth:`score` takes: ``predictions``, ``references``, columns.

        Returns:
            Scores by name: of several repeats their mean (``… (n runs average)``), of rows that are right or wrong
            ``avg@n``, ``pass@k`` and ``cons@k`` in percent, with ``details`` by row.

        Raises:
            PredictionInvalidException: There are not as many predictions as references.
        """
        predictions, references = score_kwargs.get("predictions"), score_kwargs.get("references")
        if predictions is not None and references is not None and len(predictions) != len(references):
            what = f"there are {len(predictions)} predictions for {len(references)} references"
            raise failure("PredictionInvalidException", "ICLE_CODES", "UNKNOWN_ERROR", what)
        size = len(original_dataset) // n
        details: list[Any] = []
        results: list[dict[str, Any]] = []
        for repeat in range(n):
            self._dataset_replica_idx = repeat
            chosen = {key: _of_repeat(value, repeat, size, n) for key, value in score_kwargs.items()}
            chosen["predictions"] = self.pred_postprocess(chosen["predictions"])
            found = dict(self.score(**chosen))
            shown = found.pop("details", None)
            details += list(shown.values()) if isinstance(shown, Mapping) else shown or ()
            results.append(found)
        if not details:
            if n > 1:
                self.logger.warning("of %d repeats the scores of the last are returned, as ais_bench does", n)
            return results[-1]
        scores = _means(results, n)
        rows = [self._row(name, row, k, n) for name, row in self.group(n, details, original_dataset).items()]
        if n > 1 and max(_listed(k)) > 1 and any(f"avg@{n}" in row for row in rows):
            scores |= self.reduce(rows, _listed(k), n)
        return {**scores, "details": [_flat(row) for row in rows]}

    def score(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Score predictions: override it."""
        del arguments, named
        what = f"{type(self).__name__} needs a method 'score'"
        raise failure("AISBenchImplementationError", "ICLE_CODES", "UNKNOWN_ERROR", what)

    def group(self, n: int, details: Sequence[Any], test_set: Iterable[Any]) -> dict[str, list[dict[str, Any]]]:
        """Return rows with the details of their answers, by ``<subdivision>_<position>``.

        Each row has its own answers; ``ais_bench`` 3.1 files those of different rows under one.

        Args:
            n: How many answers every row has.
            details: Of each answer, repeat by repeat.
            test_set: The rows, each ``n`` times.

        Raises:
            PredictionInvalidException: A row has another number of answers.
        """
        size = max(len(details) // n, 1)
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for place, row in zip(range(len(details)), test_set, strict=False):
            detail = details[(place % n) * size + place // n] if n > 1 else details[place]
            found[f"{row['subdivision']}_{row['idx']}"].append({**row, "detail": detail})
        for name, answers in found.items():
            if len(answers) != n:
                what = f"the row {name} has {len(answers)} answers, and every row is to have {n}"
                raise failure("PredictionInvalidException", "ICLE_CODES", "REPLICATION_LENGTH_MISMATCH", what)
        return dict(found)

    def _row(self, name: str, answers: Sequence[Mapping[str, Any]], k: int | Sequence[int], n: int) -> dict[str, Any]:
        shown = [each["detail"] for each in answers]
        row: dict[str, Any] = {"predictions": shown, "example_abbr": name}
        verdicts = [next((each[key] for key in _RIGHT if key in each), None) for each in shown]
        drawn = _listed(k)
        if n > 1 and max(drawn) > 1 and any(each is not None for each in verdicts):
            right = sum(int(each) for each in verdicts if each is not None)
            row[f"avg@{n}"] = right / len(answers)
            for each in drawn:
                row[f"pass@{each}"] = at_least_one_as_product(len(answers), right, each)
                row[f"cons@{each}"] = 1.0 if right > each / 2 else 0.0
        return row

    def reduce(self, details: Sequence[Mapping[str, Any]], k_list: Sequence[int], n_val: int) -> dict[str, Any]:
        """Return sums over rows, in percent: of all, and of each part of the dataset where there are several.

        Args:
            details: The rows, with ``avg@n``, ``pass@k`` and ``cons@k``; means of other numbers are added.
            k_list: How many answers are drawn.
            n_val: How many there are.
        """
        import numpy as np

        names = [f"avg@{n_val}", *(f"{kind}@{k}" for k in k_list for kind in ("pass", "cons"))]
        parts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for row in details:
            if "example_abbr" in row:
                parts[row["example_abbr"].split("_")[0]].append(row)
        found: dict[str, Any] = {name: 100 * np.mean([row[name] for row in details]) for name in names}
        for part, rows in sorted(parts.items()) if len(parts) > 1 else ():
            found |= {f"{part}/{name}": 100 * np.mean([row.get(name, 0.0) for row in rows]) for name in names}
        known = {"example_abbr", "predictions", *names, *(f"{part}/{name}" for part in parts for name in names)}
        for field in sorted({key for row in details for key in row} - known):
            found[field] = _summed([row[field] for row in details if field in row])
            for part, rows in parts.items():
                if values := [row[field] for row in rows if field in row]:
                    found[f"{part}/{field}"] = _summed(values)
        return found

    @staticmethod
    def is_num_equal(predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, str] | None:
        """Return an error, as a score, where there are not as many predictions as references."""
        if len(predictions) == len(references):
            return None
        return {"error": f"there are {len(predictions)} predictions for {len(references)} references"}


def _listed(k: int | Sequence[int]) -> list[int]:
    return [k] if isinstance(k, int) else list(k)


def _of_repeat(values: Any, repeat: int, size: int, n: int) -> Any:
    """Return the values of one repeat; what is no column stays."""
    places = [row * n + repeat for row in range(size)]
    if hasattr(values, "select") and hasattr(values, "column_names"):
        return values.select(places)
    return (
        [values[place] for place in places]
        if isinstance(values, Sequence) or hasattr(values, "__getitem__")
        else values
    )


def _means(results: Sequence[Mapping[str, Any]], n: int) -> dict[str, Any]:
    """Return the scores of repeats: means of numbers, under a name that says so; lists of everything else."""
    import numpy as np

    found: dict[str, Any] = {}
    for name in dict.fromkeys(key for each in results for key in each):
        values = [each[name] for each in results if name in each]
        if not isinstance(values[0], int | float):
            found[name] = values
        elif n > 1:
            found[f"{'accuracy' if name == 'pass@1' else name} ({n} runs average)"] = np.mean(values)
        else:
            found[name] = np.mean(values)
    return found


def _summed(values: Sequence[Any]) -> Any:
    """Return the mean of numbers in percent; of anything else the values."""
    import numpy as np

    try:
        return 100 * np.mean(values)
    except (TypeError, ValueError):
        return copy.copy(values)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose answers are columns: of each key of a detail a list."""
    columns: dict[str, list[Any]] = defaultdict(list)
    for detail in row["predictions"]:
        for key, value in detail.items():
            columns[key].append(value)
    return {**{key: value for key, value in row.items() if key != "predictions"}, **columns}
