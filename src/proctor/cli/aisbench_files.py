"""``--output-format aisbench``: ``predictions/`` and ``results/`` as AISBench writes them."""

from __future__ import annotations

from pathlib import Path

from proctor.errors import OutputError
from proctor.exchange.aisbench_files import write_predictions, write_results
from proctor.ir import Failure
from proctor.running.entries import in_its_order
from proctor.running.exporting import ExportedRun
from proctor.running.log import ResponseLog
from proctor.running.plan import Filed, answered
from proctor.secrets import without_secrets

_MISSING = Failure("missing", "the response log holds no answer")


def write_aisbench(run: ExportedRun) -> list[Path]:
    """Write the files into the run folder and return their paths; answers are read from the response log.

    Raises:
        OutputError: They cannot be written.
    """
    engine, folder = run.engine, run.result.output or Path()
    model = _model_name(run)
    paths: list[Path] = []
    with ResponseLog(run.log) as open_log:
        number = open_log.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        filed = Filed(open_log, number, with_failures=True)
        try:
            for exam in run.exams:
                paths += write_predictions(folder, model, exam, answered(exam.questions(), filed, _MISSING))
                if (entry := run.result.results.get(exam.name)) and "error" not in entry:
                    ordered = in_its_order(entry, run.result.grades.get(exam.name))
                    paths.append(write_results(folder, model, exam.name, ordered))
        except OSError as error:
            raise OutputError.unwritable(f"the files of AISBench in {folder}", error) from None
    return paths


def _model_name(run: ExportedRun) -> str:
    """Return the name of the model's folder: its config's, else what tables call the engine."""
    config = str(run.spec.overrides.get("model_config") or "").rpartition("::")[2]
    return (config or run.engine.label).replace("/", "_")
