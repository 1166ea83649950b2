"""Runs in experiment trackers: MLflow, Weights & Biases, trackio.

Each gets the same (:func:`~proctor.exchange.trackers.record.recorded`): scores with their intervals, standard errors
and counts as metrics; model, options, units and fingerprints as parameters; the run's files, and a table of its
instances. Where a tracker keeps it is the tracker's own business: its environment variables and settings count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from proctor.errors import MissingExtraError
from proctor.exchange.trackers.record import Record

__all__ = ["TRACKERS", "Destination", "Tracker", "require", "sent"]


@dataclass(frozen=True, slots=True)
class Destination:
    """Under which names a run is kept.

    Attributes:
        project: MLflow's experiment, the project of the others (``ENTITY/PROJECT`` for Weights & Biases); ``None`` for
            the one that the tracker's environment names, else ``proctor``.
        run_name: What the run is called; ``None`` for model and folder.
    """

    project: str | None = None
    run_name: str | None = None


Send = Callable[[Record, Destination], str]
"""Keeps a record, and says where."""


@dataclass(frozen=True, slots=True)
class Tracker:
    """A tracker.

    Attributes:
        title: What people call it.
        package: What has to be installed; the extra has the same name.
        place: Where its :data:`Send` is.
    """

    title: str
    package: str
    place: str


TRACKERS: Final = {
    "mlflow": Tracker("MLflow", "mlflow", "proctor.exchange.trackers.mlflow_client"),
    "wandb": Tracker("Weights & Biases", "wandb", "proctor.exchange.trackers.wandb_client"),
    "trackio": Tracker("trackio", "trackio", "proctor.exchange.trackers.trackio_client"),
}


def require(name: str) -> None:
    """Check that a tracker's package is there; it is not imported.

    Raises:
        MissingExtraError: It is not.
    """
    tracker = TRACKERS[name]
    if find_spec(tracker.package) is None:
        raise MissingExtraError.of(tracker.package, name, f"exporting to {tracker.title}")


def sent(name: str, record: Record, destination: Destination) -> str:
    """Keep a record in a tracker, and return where it is.

    Raises:
        MissingExtraError: The tracker's package is not installed.
        OutputError: The tracker does not take it.
    """
    require(name)
    send: Send = import_module(TRACKERS[name].place).send
    return send(record, destination)
