"""Weights & Biases: a run of a project; ``WANDB_MODE=offline`` keeps it in ``WANDB_DIR`` for ``wandb sync``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from proctor.errors import OutputError
from proctor.exchange.trackers.record import COLUMNS, Record
from proctor.secrets import redacted

if TYPE_CHECKING:
    from proctor.exchange.trackers import Destination


def send(record: Record, destination: Destination) -> str:
    """Keep a record as a run of a project, and return where it is.

    Nothing is collected beside it: no code, no output of the terminal, no description of the machine.

    Raises:
        OutputError: The service does not take it.
    """
    import wandb

    with _begun(record, destination) as run:
        values: dict[str, object] = dict(record.metrics)
        artifact = wandb.Artifact(re.sub(r"[^\w.-]+", "-", f"proctor-{run.id}"), type="evaluation")
        for file in record.files:
            artifact.add_file(str(file))
        if record.rows:
            rows = [[row[name] for name in COLUMNS] for row in record.rows]
            values["instances"] = wandb.Table(columns=list(COLUMNS), data=rows)
        run.log(values)
        run.log_artifact(artifact)
        place = f"{run.dir} (not sent: wandb sync does)" if run.offline else str(run.url)
    return f"Weights & Biases: {place}"


def _begun(record: Record, destination: Destination) -> Any:
    """Return a run that has begun."""
    import wandb

    entity, slash, project = (destination.project or os.environ.get("WANDB_PROJECT") or "proctor").rpartition("/")
    settings = wandb.Settings(
        console="off",
        disable_code=True,
        disable_git=True,
        save_code=False,
        silent=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )
    try:
        return wandb.init(
            entity=entity if slash else None,
            project=project,
            name=destination.run_name or record.name,
            config=dict(record.parameters),
            job_type="evaluation",
            settings=settings,
        )
    except (wandb.Error, OSError) as error:
        raise OutputError(
            "Weights & Biases does not take the run",
            why=redacted(str(error)),
            hint="log in with WANDB_API_KEY, or set WANDB_MODE=offline and sync later",
        ) from None
