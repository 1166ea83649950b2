"""MLflow: a run of an experiment, wherever ``MLFLOW_TRACKING_URI`` points (a folder, SQLite, a server)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from proctor.errors import OutputError
from proctor.exchange.trackers.record import COLUMNS, Record
from proctor.secrets import redacted

if TYPE_CHECKING:
    from proctor.exchange.trackers import Destination

_AT_ONCE: Final = 100
"""Parameters of one request: MLflow's limit. Metrics may be a thousand."""

_T = TypeVar("_T")


def send(record: Record, destination: Destination) -> str:
    """Keep a record as a run of an experiment, and return where it is.

    Raises:
        OutputError: The server or the store does not take it; what was begun is marked as failed.
    """
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    project = destination.project or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "proctor"
    try:
        client = MlflowClient()
        experiment = client.get_experiment_by_name(project)
        number = client.create_experiment(project) if experiment is None else experiment.experiment_id
        run = client.create_run(number, start_time=record.started, run_name=destination.run_name or record.name)
    except (MlflowException, OSError) as error:
        raise _refused(error) from None
    run_id = run.info.run_id
    try:
        _fill(client, run_id, record)
    except (MlflowException, OSError) as error:
        client.set_terminated(run_id, status="FAILED")
        raise _refused(error) from None
    client.set_terminated(run_id, status="FINISHED", end_time=record.ended)
    return f"MLflow experiment {project}, run {run_id}"


def _fill(client: Any, run_id: str, record: Record) -> None:
    from mlflow.entities import Metric, Param

    stamp = record.ended or record.started or int(time.time() * 1_000)
    for chunk in _chunks(iter(record.parameters.items())):
        client.log_batch(run_id, params=[Param(name, str(value)) for name, value in chunk])
    for numbers in _chunks(iter(record.metrics.items())):
        client.log_batch(run_id, metrics=[Metric(name, value, stamp, 0) for name, value in numbers])
    if record.rows:
        table = {name: [row[name] for row in record.rows] for name in COLUMNS}
        client.log_table(run_id, data=table, artifact_file="instances.json")
    for file in record.files:
        client.log_artifact(run_id, str(file))


def _chunks(values: Iterator[_T]) -> Iterator[list[_T]]:
    while chunk := list(islice(values, _AT_ONCE)):
        yield chunk


def _refused(error: Exception) -> OutputError:
    return OutputError(
        "MLflow does not take the run",
        why=redacted(str(error)),
        hint="MLFLOW_TRACKING_URI says where it is kept: a folder, sqlite:///FILE, or a server",
    )
