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
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from proctor.scoring.code_eval import code_eval
from proctor.scoring.metrics.hugging_face import hub_metric

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

    def compute(self, *, predictions: Sequence[Any] = (), references: Sequence[Any] = (), **arguments: Any) -> Any:
        """Return its scores; of ``code_eval`` also how each program ended."""
        if self.name == "code_eval":
            return code_eval(predictions, references, **arguments)
        return hub_metric(self.name)(predictions=list(predictions), references=list(references), **arguments)


def load(path: str, *_: Any, **__: Any) -> HubMetric:
    """Return a metric of the hub.

    Raises:
        ScoringError: It is not computed here.
    """
    return HubMetric(path)


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


@contextmanager
def evaluate_stood_in() -> Iterator[None]:
    """Let ``import evaluate`` inside the block mean this."""
    module = _Evaluate(_NAME)
    module.__spec__ = ModuleSpec(_NAME, None)
    with _replaced(module):
        yield
