"""A whole run: ask what is missing, grade every exam from the log, write the run folder."""

from __future__ import annotations

import platform
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proctor.engines.engine import Engine
from proctor.errors import LogError, OutputError, ProctorError, RunInterruptedError, ScoringError
from proctor.ir import Failure, Usage
from proctor.ir.question import AnsweredBlocks
from proctor.jsonable import jsonable
from proctor.logs import get_logger
from proctor.recipes.exam import Exam, ScoredGroup, limited, suited
from proctor.recipes.fingerprint import FINGERPRINT
from proctor.running.accounts import Tally, cost_of
from proctor.running.budget import PriceTable, price_table
from proctor.running.checks import check_exams
from proctor.running.execute import Budget, Session, ask
from proctor.running.folder import RunFolder, SampleWriter
from proctor.running.judging import Judging, judges_through
from proctor.running.listening import listening
from proctor.running.log import ResponseLog
from proctor.running.machine import platform_name
from proctor.running.plan import Filed, answered_blocks, blocks_of
from proctor.running.progress import Observer, SilentObserver
from proctor.running.question_spool import QuestionSpool
from proctor.running.sampled import Sampled
from proctor.running.spec import RunSpec
from proctor.scoring.flat import COPIES, DIRECTION, WITHOUT, units_of
from proctor.scoring.grade import Grade
from proctor.secrets import without_secrets

# Packages whose versions can change scores: random numbers, models, rows.
_VERSIONED = ("proctor", "numpy", "transformers", "torch", "datasets")


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run gives.

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


def run_exams(
    exams: Sequence[Exam],
    engine: Engine,
    *,
    limit: int | None = None,
    log: ResponseLog | str | Path | None = None,
    output: str | Path | None = None,
    observer: Observer | None = None,
    log_samples: bool = True,
    spec: RunSpec | None = None,
    retry_failed: bool = True,
    budget: Budget | None = None,
    prices: PriceTable | None = None,
    samples: Mapping[str, Sampled] | None = None,
) -> RunResult:
    """Let an engine sit exams.

    Answers come from the response log where it has them; what is missing is asked, and durable before it counts. So
    a run that was killed is completed by running it again, and nothing that was answered is asked twice. That goes for
    judges, too; what they were asked is counted under ``run["judges"]``.

    Args:
        exams: Compiled recipes with different names.
        engine: Who answers.
        limit: Most instances per exam.
        log: The response log or its file; by default the one in the cache folder.
        output: Run folder for ``run.yaml``, ``results.json`` and ``samples.jsonl``; nothing is written without it.
        observer: Is told how the run goes on.
        log_samples: Whether to write ``samples.jsonl``.
        spec: What ``run.yaml`` says; made from engine and exams where it is not given.
        retry_failed: Ask again what failed in an earlier run. If not, recorded failures stand.
        budget: Stops asking when it is used up; what was not asked is then a failure in the results.
        prices: What models cost, where it is not the table that comes with Proctor.
        samples: How the exams' questions were drawn, by their names, where they are samples of larger exams.

    Raises:
        RunInterruptedError: The user stopped the run; it says how to go on.
        UsageError, LogError, OutputError, EngineError, DataError: With what was answered so far kept in the log.
    """
    engine = engine.answering()
    exams = suited([limited(exam, limit) for exam in exams], engine)
    check_exams(exams, engine)
    _announce_variants(exams, engine)
    observer = observer or SilentObserver()
    spec = _complete_spec(spec, exams, engine, limit, log_samples=log_samples)
    with ExitStack() as stack:
        open_log = _open_log(log, engine, stack)
        folder = RunFolder(output) if output is not None else None
        if folder is not None:
            stack.enter_context(folder.held())
            folder.open(spec)
            folder.check_rows(exams)
        number = open_log.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        spool = stack.enter_context(QuestionSpool())
        session = Session(
            engine, open_log, number, observer, retry_failed, budget, prices, spool, samples=samples or {}
        )
        stack.enter_context(_interruptible(session, folder))
        observer.started([exam.name for exam in exams], engine.label)
        stack.callback(observer.finished)
        began = time.time()
        ask(exams, session)
        own = log if engine.answers_in_order else open_log  # what judges say is kept in any case
        through = judges_through(own, retry_failed=retry_failed, budget=budget, prices=prices, watch=observer.judging)
        judging = stack.enter_context(through)
        return _conclude(exams, session, folder, judging, log_samples=log_samples, began=began)


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


_NAMES_SHOWN = 5  # a suite may have hundreds of exams with the same variant: one warning of a line or two


def _open_log(log: ResponseLog | str | Path | None, engine: Engine, stack: ExitStack) -> ResponseLog:
    """Return the log; one that is thrown away where answers belong to places and could not be found again."""
    if engine.answers_in_order:
        log = Path(stack.enter_context(TemporaryDirectory(prefix="proctor-"))) / "responses.db"
    return log if isinstance(log, ResponseLog) else stack.enter_context(ResponseLog(log))


def _complete_spec(
    spec: RunSpec | None, exams: Sequence[Exam], engine: Engine, limit: int | None, *, log_samples: bool
) -> RunSpec:
    if spec is None:
        body = engine.to_dict()
        model = str(body.pop("__type__"))
        spec = RunSpec(model, tuple(exam.name for exam in exams), body, limit, log_samples=log_samples)
    described = {exam.name: jsonable(exam.specification()) for exam in exams}
    return replace(spec, engine=engine.identity, exams=described, version=_version("proctor") or "")


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
    grades, results = grading.grades, grading.results
    results.update(group_entries(exams, grades, results))
    run = _circumstances(session, grading.usage, began)
    if judged := judging.summary():
        run["judges"] = judged
    stopped = session.stopped or judging.stopped
    if stopped is not None:
        run["stopped"] = stopped
    if grading.latency:
        run["latency"] = grading.latency
    if orders := {name: order for name, grade in grades.items() if (order := _order_of(grade))}:
        run[SCORE_ORDER] = orders
    if folder is not None:
        folder.write_results(results, run)
    return RunResult(results, run, grades, folder.path if folder is not None else None, stopped)


class _Grading:
    """Grades one exam after the other; one that cannot be graded is filed as failed and leaves the others alone."""

    def __init__(self, session: Session) -> None:
        self.grades: dict[str, Grade] = {}
        self.results: dict[str, dict[str, Any]] = {}
        self.usage: dict[str, Usage] = {}
        self.fingerprints: dict[str, dict[str, str]] = {}
        self.latency: dict[str, dict[str, Any]] = {}
        self._session = session
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
        tally = Tally(answered_blocks(asked, filed, self._missing))
        engine = self._session.engine.identity
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
            fingerprint = tally.maker.made(exam.definition, engine)
            self.fingerprints[exam.name] = fingerprint.to_dict()
            self.results[exam.name] = {
                **entry_of(grade, tally.count, tally.endings.as_data()),
                FINGERPRINT: fingerprint.to_dict(),
            }
            if sample is not None:
                self.results[exam.name] = sample.entry(self.results[exam.name])
            self._session.observer.graded(exam.name, grade)
        if exam.variant:
            self.results[exam.name]["variant"] = exam.variant
        if found := tally.latency.summary(getattr(self._session.engine, "max_concurrency", None)):
            self.latency[exam.name] = found
        self.usage[exam.name] = tally.usage


_ENDS_THE_RUN = (LogError, OutputError, RunInterruptedError)
"""What concerns every exam of a run: a log that cannot be read, a folder that cannot be written."""


def _failed_entry(exam: Exam, error: Exception) -> dict[str, Any]:
    """Return the results of an exam that could not be graded."""
    known = error if isinstance(error, ProctorError) else ScoringError(f"{type(error).__name__}: {error}")
    get_logger().error("%s cannot be graded: %s", exam.name, known)
    get_logger().debug("%s", exam.name, exc_info=error)
    return {"error": str(known.within(exam.name))}


def group_entries(
    exams: Sequence[Exam], grades: Mapping[str, Grade], results: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the scores of the groups that exams were chosen with, filed like an exam's.

    ``n`` is what was asked in the exams that the main score is made of; those that it is not made of, because they
    have no such score or could not be graded, are ``without``.
    """
    groups: dict[str, ScoredGroup] = {}
    for exam in exams:
        groups.update((group.name, group) for group in exam.groups if group.name not in grades)
    entries = {}
    for name, group in groups.items():
        scores = group.score(grades)
        if scores:
            members = [exam.name for exam in exams if any(each.name == name for each in exam.groups)]
            lacking = scores.pop(WITHOUT, ())
            having = [member for member in members if member in grades and member not in lacking]
            failed = sum(results[member].get("failures", 0) for member in having)
            asked = sum(results[member].get("n", 0) for member in having)
            entry = {**scores, "n": asked, "failures": failed, "members": members}
            if without := [member for member in members if member not in having]:
                entry[WITHOUT] = without
            entries[name] = _sorted(entry)
    return entries


def _grade(exam: Exam, tally: Tally, samples: SampleWriter | None) -> Grade:
    if samples is None:
        return exam.grade(AnsweredBlocks(tally.blocks()))
    grade = exam.grade(AnsweredBlocks(samples.record(exam.name, tally.blocks())))
    samples.finish(grade)
    return grade


def entry_of(grade: Grade, asked: int, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the results of an exam as ``results.json`` has them.

    Args:
        grade: Its scores.
        asked: How many instances it has; copies of questions are counted as one.
        more: How answers ended, where that is known.
    """
    failures = grade.failures
    if grade.questions is not None:
        asked, failures = len(grade.questions.places), grade.questions.failures
    kinds = Counter(failure.kind for failure in failures.values())
    counts = {"n": asked, "failures": len(failures), **(more or {})}
    entry = {**grade.scores, **counts, **units_of(grade.table, grade.main)}
    if grade.copies > 1:
        entry[COPIES] = grade.copies
    if grade.main is not None and grade.main.higher_is_better is not None:
        entry[DIRECTION] = grade.main.higher_is_better
    if kinds:
        entry["failure_kinds"] = dict(sorted(kinds.items()))
    if grade.metric_failures:
        entry["metric_failures"] = {name: failure.message for name, failure in grade.metric_failures.items()}
    return _sorted(entry)


SCORE_ORDER = "score_order"
"""Where ``results.json`` says in which order evaluators name their scores, where that is not its own."""


def _order_of(grade: Grade) -> list[str]:
    """Return the names of scores in the order of the evaluator; empty where that is the order of ``results.json``."""
    names = [score.name for score in grade.table]
    return names if names != sorted(names) else []


def in_its_order(entry: Mapping[str, Any], grade: Grade | None) -> Mapping[str, Any]:
    """Return the results of an exam, its scores first, in the order in which its evaluator names them."""
    return in_order(entry, [score.name for score in grade.table] if grade is not None else [])


def in_order(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the results of an exam with the named scores first."""
    return {**{name: entry[name] for name in names if name in entry}, **entry}


def _sorted(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): jsonable(entry[name]) for name in sorted(entry)}


def _circumstances(session: Session, usage: Mapping[str, Usage], began: float) -> dict[str, Any]:
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
        },
        "usage": {name: each.as_data() for name, each in usage.items()},
        **_cost(session, sum(usage.values(), Usage())),
        "machine": {"platform": platform_name(), "python": platform.python_version()},
        "versions": {name: found for name in _VERSIONED if (found := _version(name)) is not None},
    }


def _cost(session: Session, usage: Usage) -> dict[str, Any]:
    """Return what all answers cost at list prices, whenever they were given.

    Where no price is known, that is said of engines that probably cost something, and nothing of others.
    """
    table = session.prices or price_table()
    price = table.price_of(session.engine.price_name)
    if price is None:
        why = f"no price is known for '{session.engine.price_name}'; name a table of your own with --prices"
        return {"cost": {"usd": None, "why": why, "prices_of": table.date}} if session.engine.is_billed else {}
    return {"cost": cost_of(price, table, usage, session.progress.usage)}


def _version(package: str) -> str | None:
    if package not in sys.modules:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return None
