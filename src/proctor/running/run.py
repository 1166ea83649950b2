"""A whole run: ask what is missing, grade every exam from the log, write the run folder."""

from __future__ import annotations

import json
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from proctor.engines.engine import Engine
from proctor.engines.engine_registry import words_for
from proctor.errors import FolderHeldError, LogError, OutputError, ProctorError, RunInterruptedError, ScoringError
from proctor.ir import Failure, Usage
from proctor.ir.question import AnsweredBlocks
from proctor.jsonable import jsonable
from proctor.logs import get_logger
from proctor.recipes.exam import Exam, limited, suited
from proctor.recipes.fingerprint import FINGERPRINT
from proctor.recipes.held_code import code_of
from proctor.recipes.metric_code import installed_version
from proctor.results.summary import (
    ScoreRow,
    ending_notes,
    failure_notes,
    first_failures,
    interval,
    rows_of_groups,
    score_rows,
    shown,
)
from proctor.running.accounts import Distinct, Sent, Tally, cost_of
from proctor.running.anew import Renewal
from proctor.running.budget import price_table
from proctor.running.checks import check_exams
from proctor.running.entries import SCORE_ORDER, entry_of, group_entries, order_of
from proctor.running.execute import ask
from proctor.running.folder import RunFolder, SampleWriter
from proctor.running.judging import Judging
from proctor.running.listening import listening
from proctor.running.log import ResponseLog
from proctor.running.machine import platform_name
from proctor.running.plan import Filed, answered_blocks, blocks_of
from proctor.running.question_spool import QuestionSpool
from proctor.running.sampled import Sampled
from proctor.running.session import Session, Terms, session_with
from proctor.running.spec import RunSpec
from proctor.scoring.grades import Grade
from proctor.scoring.judges.judged import JUDGED, tell
from proctor.wall import standing

_VERSIONED = ("proctor", "numpy", "transformers", "torch", "datasets")
"""Packages whose versions can change scores: random numbers, models, rows."""


def circumstances(session: Session, usage: Mapping[str, Usage], sent: Sent, began: float) -> dict[str, Any]:
    """Return the circumstances of a run: time, machine, versions, and the usage of each exam's answers.

    Args:
        session: Who asked.
        usage: The tokens of each exam's requests.
        sent: Those of all requests.
        began: When the run began, in Unix seconds.
    """
    progress = session.progress
    return {
        "started": datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - began, 3),
        "engine": {"label": session.engine.label, "identity": session.engine.identity},
        "log": str(session.log.path),
        "requests": {
            "asked": progress.asked,
            "answered": progress.answered,
            "failed": progress.failed,
            "from_log": progress.cached,
            **({"damaged": damaged} if (damaged := session.log.damaged) else {}),
            **({"writers": others} if (others := session.log.writers.others()) else {}),
        },
        "usage": {name: each.as_data() for name, each in usage.items()},
        **_cost(session, sent),
        "wall": str(standing() or "none"),
        "machine": {"platform": platform_name(), "python": platform.python_version()},
        "versions": {name: found for name in _VERSIONED if (found := version_of(name)) is not None},
    }


def _cost(session: Session, sent: Sent) -> dict[str, Any]:
    """Return what all answers cost at list prices, whenever they were given."""
    table, price = session.prices or price_table(), session.price
    if price is None:
        why = f"no price is known for '{session.engine.price_name}'; name a table of your own with --prices"
        return {"cost": {"usd": None, "why": why, "prices_of": table.date}} if session.engine.is_billed else {}
    return {"cost": cost_of(price, table, sent, Sent.in_run(session.progress))}


def version_of(package: str) -> str | None:
    """Return the version of a package; ``None`` where it is not loaded, and so changed no score."""
    return installed_version(package) if package in sys.modules else None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        results: By exam: every score, ``n``, ``failures`` (a count), ``failure_kinds``, ``metric_failures``, and how
            answers ended (``answers``, ``truncated``, ``empty``, ``thinking``). Equal for equal runs.
        run: Time, machine, versions, engine, tokens: what may differ between equal runs.
        grades: By exam: everything scoring knows, instance by instance.
        output: The run folder, where one was asked for.
        stopped: Why the budget ended the run before everything was asked; ``None`` where it did not.
    """

    results: dict[str, dict[str, Any]]
    run: dict[str, Any]
    grades: dict[str, Grade]
    output: Path | None = None
    stopped: str | None = None

    @property
    def rows(self) -> list[ScoreRow]:
        """Every score of every exam with its interval, ``n`` and what failed; main scores first of their exam.

        The main scores of groups (``group_by``) come last, under the exam's name and the group's: ``t, topic=sums``.
        """
        return [*score_rows(self.results, every_score=True), *self._groups()]

    def _groups(self) -> list[ScoreRow]:
        found = rows_of_groups(self.results)
        return [
            replace(row, task=f"{task}, {label}", is_main=False) for task, rows in found.items() for label, row in rows
        ]

    def __str__(self) -> str:
        """Return the main scores with their intervals, a line each, and what is to be said of them."""
        rows = list(score_rows(self.results))
        lines = [
            f"{row.task}: {row.metric} {shown(row.value)} ({interval(row)}), n = {row.scored}"
            for row in (*rows, *self._groups())
        ]
        reasons = [f"  {kind}: {message}" for kind, message in first_failures(self.grades.values()).items()]
        return "\n".join([*lines, *failure_notes(rows), *reasons, *ending_notes(rows)])


def run_exams(
    exams: Sequence[Exam],
    engine: Engine,
    *,
    limit: int | None = None,
    output: str | Path | None = None,
    log_samples: bool = True,
    spec: RunSpec | None = None,
    samples: Mapping[str, Sampled] | None = None,
    anew: Renewal | None = None,
    **terms: Unpack[Terms],
) -> RunResult:
    """Let an engine sit exams.

    Answers come from the response log where it has them; what is missing is asked, and durable before it counts. So
    a run that was killed is completed by running it again, and nothing that was answered is asked twice. That goes for
    judges, too; what they were asked is counted under ``run["judges"]``.

    Args:
        exams: Compiled recipes with different names.
        engine: Who answers.
        limit: Most instances per exam.
        output: Run folder for ``run.yaml``, ``results.json`` and ``samples.jsonl``; nothing is written without it.
        log_samples: Whether to write ``samples.jsonl``.
        spec: What ``run.yaml`` says; made from engine and exams where it is not given.
        samples: How the exams' questions were drawn, by their names, where they are samples of larger exams.
        anew: What is asked although the log has answers, which are set aside in it.
        **terms: The response log, who watches, what may be spent: :class:`~proctor.running.session.Terms`.

    Raises:
        RunInterruptedError: The user stopped the run; it says how to go on.
        UsageError, LogError, OutputError, EngineError, DataError: With what was answered so far kept in the log.
    """
    engine = engine.answering()
    exams = suited([limited(exam, limit) for exam in exams], engine)
    check_exams(exams, engine)
    _announce_variants(exams, engine)
    _announce_words(exams)
    spec = complete_spec(spec, exams, engine, limit, log_samples=log_samples)
    judges_log = terms.get("log")
    with ExitStack() as stack:
        if engine.answers_in_order:  # answers belong to places and could not be found again; what judges say could
            terms["log"] = Path(stack.enter_context(TemporaryDirectory(prefix="proctor-"))) / "responses.db"
        session = stack.enter_context(session_with(engine, **terms))
        folder = RunFolder(output, engine) if output is not None else None
        begins = folder is None or _begun(folder, session, spec, exams, stack)
        session.spool, session.samples = stack.enter_context(QuestionSpool()), samples or {}
        stack.enter_context(_interruptible(session, folder))
        session.observer.started([exam.name for exam in exams], engine.label)
        stack.callback(session.observer.finished)
        session.reckon_long_prompts()
        began = time.time()
        through = judges_log if engine.answers_in_order else session.log
        if anew is not None:
            anew.before_asking(exams, session)
        ask(exams, session)
        if anew is not None:
            judges = through if isinstance(through, ResponseLog) else stack.enter_context(ResponseLog(through))
            anew.before_judging(exams, session, judges)
        while folder is not None and not begins:
            time.sleep(_TURN_SECONDS)
            begins = _begun(folder, session, spec, exams, stack)
        judging = stack.enter_context(session.judges(through, session.observer.judging))
        return _conclude(exams, session, folder, judging, log_samples=log_samples, began=began)


def _begun(folder: RunFolder, session: Session, spec: RunSpec, exams: Sequence[Exam], stack: ExitStack) -> bool:
    """Begin to write a folder; return whether that is possible now."""
    try:
        stack.enter_context(folder.held(session.log.name))
    except FolderHeldError as held:
        if held.log != session.log.name or not session.engine.takes_time:
            raise
        folder.check(spec, exams)
        if session.progress.done == 0:
            text = "this run is going on already (%s): its questions are divided with that process"
            get_logger().warning(text, held.diagnostics[0].why)
        return False
    folder.open(spec)
    folder.check_rows(exams)
    return True


_TURN_SECONDS = 0.5
"""Between two looks whether the process that writes has ended."""


def _announce_variants(exams: Sequence[Exam], engine: Engine) -> None:
    named: dict[str, list[str]] = {}
    for exam in exams:
        if exam.variant:
            named.setdefault(exam.variant, []).append(exam.name)
    for variant, names in named.items():
        shown = ", ".join(names[:_NAMES_SHOWN]) + (
            f" and {len(names) - _NAMES_SHOWN} more" * (len(names) > _NAMES_SHOWN)
        )
        get_logger().warning("%s: %s, for '%s'", shown, variant, engine.label)


def _announce_words(exams: Sequence[Exam]) -> None:
    """Say which judges are asked in other words than their names promise."""
    for exam in exams:
        for asked in exam.judged:
            tell(asked)


_NAMES_SHOWN = 5  # a suite may have hundreds of exams with the same variant: one warning of a line or two


def complete_spec(
    spec: RunSpec | None, exams: Sequence[Exam], engine: Engine, limit: int | None, *, log_samples: bool
) -> RunSpec:
    """Return the content of ``run.yaml``: a spec with its engine and its exams by value.

    Args:
        spec: The run as it was asked for; ``None`` where a program names engine and exams alone.
        exams: Its exams, suited to the engine.
        engine: Who answers.
        limit: Most instances per exam.
        log_samples: Whether ``samples.jsonl`` is written.
    """
    if spec is None:
        model, body = words_for(engine)
        spec = RunSpec(model, tuple(exam.name for exam in exams), body, limit, log_samples=log_samples)
    described = {exam.name: jsonable(exam.specification()) for exam in exams}
    return replace(spec, engine=engine.identity, exams=described, version=version_of("proctor") or "")


@contextmanager
def _interruptible(session: Session, folder: RunFolder | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        kept = session.progress.answered - session.progress.failed
        again = (
            f"proctor run {shlex.quote(str(folder.path / 'run.yaml'))}" if folder is not None else "the same command"
        )
        raise RunInterruptedError(
            "the run was stopped",
            why=f"{kept} answers of this run are kept in {session.log.path}",
            hint=f"to go on, run {again}; only what is missing will be asked",
        ) from None


def _conclude(
    exams: Sequence[Exam],
    session: Session,
    folder: RunFolder | None,
    judging: Judging,
    *,
    log_samples: bool,
    began: float,
) -> RunResult:
    """Grade every exam from the log (judges ask what it does not have) and write what there is to write."""
    grading = _Grading(session)
    with ExitStack() as stack:
        samples = stack.enter_context(folder.samples()) if folder is not None and log_samples else None
        for exam in exams:
            session.observer.grading(exam.name)
            grading.add(exam, samples)
        if folder is not None:  # before anything of an earlier run is replaced
            folder.take(grading.fingerprints)
            folder.keep_answers(session.progress)
    grades, results = grading.grades, grading.results
    results.update(group_entries(exams, grades, results))
    run = circumstances(session, grading.usage, grading.sent, began)
    if judged := judging.summary():
        run["judges"] = judged
    stopped = session.stopped or judging.stopped
    if stopped is not None:
        run["stopped"] = stopped
    if grading.models:
        run["answered_by"] = grading.models
    if grading.ways:
        run["ways_of_asking"] = grading.ways
    if grading.latency:
        run["latency"] = grading.latency
    if orders := {name: order for name, grade in grades.items() if (order := order_of(grade))}:
        run[SCORE_ORDER] = orders
    if folder is not None:
        folder.write_results(results, run)
    return RunResult(results, run, grades, folder.path if folder is not None else None, stopped)


def _with_code(engine: Engine) -> str:
    """Return what an engine is in fingerprints: its identity, and the digests of code that is not ours."""
    code = code_of([engine])
    return f"{engine.identity} {json.dumps(code, sort_keys=True)}" if code else engine.identity


class _Grading:
    """Grades one exam after the other; one that cannot be graded is filed as failed and leaves the others alone."""

    def __init__(self, session: Session) -> None:
        self.grades: dict[str, Grade] = {}
        self.results: dict[str, dict[str, Any]] = {}
        self.usage: dict[str, Usage] = {}
        self.sent = Sent()
        self._distinct = Distinct()
        self.fingerprints: dict[str, dict[str, str]] = {}
        self.latency: dict[str, dict[str, Any]] = {}
        self.models: dict[str, dict[str, int]] = {}
        self.ways: dict[str, dict[str, int]] = {}
        self._session = session
        self._engine = _with_code(session.engine)
        self._filed = Filed(session.log, session.number, with_failures=True)
        self._missing = (
            Failure("budget", session.stopped)
            if session.stopped
            else Failure("missing", "the response log holds no answer")
        )

    def add(self, exam: Exam, samples: SampleWriter | None) -> None:
        """Grade an exam and file its results."""
        place = exam.name if self._session.engine.answers_in_order else ""
        spool = self._session.spool
        asked = (None if spool is None else spool.blocks(exam)) or blocks_of(exam.questions(), place)
        filed = self._filed.heard_by(listening(self._session.engine, exam))
        tally = Tally(anywhere=self._distinct, above=self._session.progress.above)
        tally.items = answered_blocks(tally.noted(asked), filed, self._missing)
        try:
            grade = _grade(exam, tally, samples)
            if (sample := self._session.samples.get(exam.name)) is not None:
                grade = sample.corrected(grade)
        except _ENDS_THE_RUN:
            raise
        except Exception as error:  # noqa: BLE001 - the reason becomes this exam's result; the others' are kept
            self.results[exam.name] = _failed_entry(exam, error)
        else:
            self.grades[exam.name] = grade
            served = sorted(tally.models.keys() - {self._session.engine.label})
            fingerprint = tally.maker.made(
                exam.definition, " ".join([self._engine, *([str(served)] if served else [])])
            )
            self.fingerprints[exam.name] = fingerprint.to_dict()
            self.results[exam.name] = {
                **entry_of(grade, tally.count, tally.endings.as_data()),
                FINGERPRINT: fingerprint.to_dict(),
            }
            if exam.judged:
                self.results[exam.name] |= {JUDGED: exam.judged, **exam.criteria}
            if sample is not None:
                self.results[exam.name] = sample.entry(self.results[exam.name])
            self._session.observer.graded(exam.name, grade)
        if exam.variant:
            self.results[exam.name]["variant"] = exam.variant
        self._note(exam, tally)

    def _note(self, exam: Exam, tally: Tally) -> None:
        """Keep what is said of how an exam was asked."""
        if found := tally.latency.summary(getattr(self._session.engine, "max_concurrency", None)):
            self.latency[exam.name] = found
        if tally.ways:
            self.ways[exam.name] = dict(sorted(tally.ways.items()))
        if tally.models:
            self.models[exam.name] = dict(sorted(tally.models.items()))
        self.usage[exam.name] = tally.usage
        self.sent = self.sent.with_those_of(tally.sent)


_ENDS_THE_RUN = (LogError, OutputError, RunInterruptedError)
"""What concerns every exam of a run: a log that cannot be read, a folder that cannot be written."""


def _failed_entry(exam: Exam, error: Exception) -> dict[str, Any]:
    """Return the results of an exam that could not be graded."""
    known = error if isinstance(error, ProctorError) else ScoringError(f"{type(error).__name__}: {error}")
    get_logger().error("%s cannot be graded: %s", exam.name, known)
    get_logger().debug("%s", exam.name, exc_info=error)
    return {"error": str(known.within(exam.name))}


def _grade(exam: Exam, tally: Tally, samples: SampleWriter | None) -> Grade:
    if samples is None:
        return exam.grade(AnsweredBlocks(tally.blocks()))
    grade = exam.grade(AnsweredBlocks(samples.record(exam.name, tally.blocks())))
    samples.finish(grade)
    return grade
