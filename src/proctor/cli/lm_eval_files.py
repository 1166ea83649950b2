"""``--output-format lm-eval``: the files that leaderboards and notebooks made for lm-eval read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from proctor.dialects.lm_eval.results_file import ModelDescription
from proctor.dialects.lm_eval.writer import text_by, write_files
from proctor.ir import Failure
from proctor.recipes.exam import Answered, Exam
from proctor.running.exporting import ExportedRun
from proctor.running.listening import listening
from proctor.running.log import ResponseLog
from proctor.running.plan import Filed, answered
from proctor.secrets import without_secrets

_MISSING = Failure("missing", "the response log holds no answer")


def write_lm_eval(run: ExportedRun) -> list[Path]:
    """Write the files into the run folder and return their paths; answers are read from the response log."""
    result, engine, spec = run.result, run.engine, run.spec
    with ResponseLog(run.log) as open_log:
        number = open_log.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        filed = Filed(open_log, number, with_failures=True)

        def answers(exam: Exam) -> Iterable[Answered]:
            return answered(exam.questions(), filed.heard_by(listening(engine, exam)), _MISSING)

        started = str(result.run.get("started") or "")
        model = ModelDescription(
            spec.model,
            engine.label,
            without_secrets(spec.model_args),
            info=run.facts,
            log=None if run.log is None else str(run.log),
            seconds=float(result.run.get("seconds") or 0.0),
            started=datetime.fromisoformat(started).timestamp() if started else 0.0,
        )
        folder = result.output or Path()
        return write_files(
            folder, run.exams, result.grades, model, answers if spec.log_samples else None, text_by(engine)
        )
