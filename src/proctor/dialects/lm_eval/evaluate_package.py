"""What code of tasks gets that imports the package ``evaluate``: the hub's metrics as they are computed here.

``evaluate.load`` would download a script and run it with the user's rights, programs of models included. Here it names
a metric of :mod:`proctor.scoring.metrics.hugging_face`; ``code_eval`` runs programs in a prison. Everything else that
the package has comes from the package, where it is installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from proctor.errors import ScoringError
from proctor.scoring.metrics.hub_scripts import NEEDED
from proctor.scoring.metrics.hugging_face import hub_metric
from proctor.scoring.programs.code_eval import code_eval

_NAME = "evaluate"


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


def load(path: str, config_name: str | None = None, module_type: str | None = None, **where: Any) -> HubMetric:
    """Return a metric of the hub.

    Args:
        path: Its name.
        config_name: A variant of it.
        module_type: What kind of script it would be; nothing depends on it.
        where: Where scripts would be kept; none is.

    Raises:
        ScoringError: It is not computed here.
    """
    del module_type, where
    found = HubMetric(path)
    if config_name is not None:
        raise ScoringError(f"the variant '{config_name}' of the hub metric '{path}' is not computed here")
    return found


class _Evaluate(ModuleType):
    """The package, as far as it is needed."""

    load = staticmethod(load)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _replaced(None):
            return getattr(importlib.import_module(_NAME), name)


@contextmanager
def _replaced(module: ModuleType | None) -> Iterator[None]:
    before = sys.modules.pop(_NAME, None)
    if module is not None:
        sys.modules[_NAME] = module
    try:
        yield
    finally:
        sys.modules.pop(_NAME, None)
        if before is not None:
            sys.modules[_NAME] = before


@lru_cache(maxsize=1)
def evaluate_module() -> ModuleType:
    """Return the module that stands for the package."""
    module = _Evaluate(_NAME)
    module.__spec__ = ModuleSpec(_NAME, None)
    return module


@contextmanager
def evaluate_stood_in() -> Iterator[None]:
    """Let ``import evaluate`` inside the block mean this."""
    with _replaced(evaluate_module()):
        yield
