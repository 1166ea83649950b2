"""Names of the package ``evaluate``: metrics of the hub as they are computed here, and recipes as a metric.

The package would download a script and run it with the user's rights, programs of models included. Here its name means
a metric of :mod:`proctor.scoring.metrics.hugging_face`; ``code_eval`` runs programs in a prison. A metric that is not
computed here comes from the installed package, where the user trusts code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from proctor.errors import ScoringError, UsageError
from proctor.guests.hugging_face import METRIC_FILE
from proctor.guests.rooms import GuestModule, GuestRoom
from proctor.scoring.metrics.hugging_face import NEEDED, hub_metric
from proctor.scoring.programs.code_eval import code_eval


class RecipeMetric:
    """Evaluation of a recipe, as ``evaluate.load("unitxt/metric")`` returns it."""

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        flatten: bool = False,
        split_name: str = "all",
        calc_confidence_intervals: bool = True,
    ) -> Any:
        """Return the evaluation of predictions for a dataset.

        Args:
            predictions: One for each row.
            references: The rows.
            flatten: Refused: rows keep their ``score`` as a tree.
            split_name: Without effect: it names a stream that the evaluation goes through.
            calc_confidence_intervals: Whether scores have intervals.

        Raises:
            UsageError: ``flatten`` is asked for.
        """
        from proctor.running.evaluate import evaluate

        del split_name
        if flatten:
            raise UsageError("flatten=True is not honoured", hint="look into row['score'], which is a tree")
        return evaluate(predictions, references, calc_confidence_intervals=calc_confidence_intervals)


class HubMetric:
    """A metric of the hub, with the method that code of tasks calls.

    Args:
        name: As the hub has it.

    Raises:
        ScoringError: It is not computed here.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        hub_metric(name)
        if (needs := NEEDED.get(name)) is not None:
            needs()
        self._predictions: list[Any] = []
        self._references: list[Any] = []

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Keep an answer for :meth:`compute`."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        """Keep answers for :meth:`compute`."""
        self._predictions += predictions
        self._references += references

    def compute(
        self, *, predictions: Sequence[Any] | None = None, references: Sequence[Any] | None = None, **arguments: Any
    ) -> Any:
        """Return its scores, of what was added where nothing is given; of ``code_eval`` also how each program ended."""
        if predictions is None and references is None:
            predictions, references, self._predictions, self._references = self._predictions, self._references, [], []
        given, wanted = list(predictions or ()), list(references or ())
        if self.name == "code_eval":
            return code_eval(given, wanted, **arguments)
        return hub_metric(self.name)(predictions=given, references=wanted, **arguments)


def load(path: str, config_name: str | None = None, module_type: str | None = None, **where: Any) -> Any:
    """Return a metric of the hub, or ``unitxt/metric``.

    Args:
        path: Its name.
        config_name: A variant of it.
        module_type: Kind of script; nothing depends on it.
        where: Where scripts would be kept; none is.

    Raises:
        ScoringError: It is not computed here, and there is no installed package that may run.
    """
    if path == METRIC_FILE:
        return RecipeMetric()
    try:
        return _computed(path, config_name)
    except ScoringError:
        if (package := _installed()) is None:
            raise
        return package.load(path, config_name, module_type, **where)


def _computed(path: str, config_name: str | None) -> HubMetric:
    found = HubMetric(path)
    if config_name is not None:
        raise ScoringError(f"the variant '{config_name}' of the hub metric '{path}' is not computed here")
    return found


def _installed() -> Any:
    """Return the package itself; ``None`` where it is not installed, or code is not trusted."""
    module = sys.modules.get("evaluate")
    room = module.room if isinstance(module, GuestModule) else GuestRoom()
    return room.installed("evaluate")
