"""trackio: a run of a project, in SQLite below ``TRACKIO_DIR``, or where ``TRACKIO_SERVER_URL`` or a Space is named."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from proctor.errors import OutputError
from proctor.exchange.trackers.record import COLUMNS, Record
from proctor.secrets import redacted

if TYPE_CHECKING:
    from proctor.exchange.trackers import Destination


def send(record: Record, destination: Destination) -> str:
    """Keep a record as a run of a project, and return where it is.

    Raises:
        OutputError: It is not taken.
    """
    import trackio

    project = destination.project or "proctor"
    try:
        with redirect_stdout(StringIO()):  # it greets, and its output is not ours
            run = trackio.init(
                project=project,
                name=destination.run_name or record.name,
                config=dict(record.parameters),
                embed=False,
                auto_log_cpu=False,
                auto_log_gpu=False,
            )
            try:
                values: dict[str, object] = dict(record.metrics)
                if record.rows:
                    rows = [[row[name] for name in COLUMNS] for row in record.rows]
                    values["instances"] = trackio.Table(columns=list(COLUMNS), data=rows)
                trackio.log(values)
                artifact = trackio.Artifact(f"proctor-{run.id}", type="evaluation")
                for file in record.files:
                    artifact.add_file(str(file))
                trackio.log_artifact(artifact)
            finally:
                trackio.finish()
    except (OSError, ValueError, RuntimeError) as error:
        raise OutputError("trackio does not take the run", why=redacted(str(error))) from None
    return f"trackio project {project}, run {run.name}"
