"""Executes a run, from its specification to results on the screen, for every command that runs something."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.commands import RUNS, open_wall_for
from proctor.cli.error_reporting import DONE, FAILURES, is_quiet, say
from proctor.cli.exam_notes import say_doubts, say_what_has_no_effect
from proctor.errors import ChangedDataError, EngineError

if TYPE_CHECKING:
    from proctor.cli.thresholds import Threshold
    from proctor.engines.engine import Engine
    from proctor.engines.model_args import Origin
    from proctor.recipes.exam import Exam
    from proctor.running.precision import Drawn
    from proctor.running.progress import Observer
    from proctor.running.run import RunResult
    from proctor.running.sampled import Sampled
    from proctor.running.session import Budget, Terms
    from proctor.running.spec import RunSpec
    from proctor.running.sweep_parts import GridPart

_DIGEST_DIGITS = 8  # tells a thousand runs of one name apart; a folder that holds another run is refused anyway
_LONGEST_NAME = 60  # characters to recognise a run by; file systems end at 255, and task lists may be long


@dataclass(frozen=True, slots=True)
class Execution:
    """Options of carrying out a run; none of them changes the results.

    Attributes:
        output: The run folder, where one is named.
        goes_on_in: The folder of the run that is repeated: it is the run folder where the spec leads to its results.
        files_predictions: Whether ``--mode eval`` is to find the answers to configs later.
        shard: The part that is asked, where it is not everything.
        gpus_per_worker: GPUs of each worker of Ray's.
        budget: One budget for several runs (:func:`budget_of`); by default each run has one of its own.
        retry_verdicts: Whether judges are asked again whose verdicts could not be read.
        refresh: Whether everything is asked anew.
        says_doubts: Whether what cannot have been meant by the first questions is said here, and was not before.
    """

    output: Path | None
    log: Path | str | None
    retry_failed: bool
    trust_code: bool | None
    budget_tokens: int | None
    budget_usd: float | None
    prices: Path | None
    executor: str
    workers: int | None
    ray_address: str | None
    output_format: str
    write_out: bool
    fail_under: tuple[Threshold, ...] = ()
    goes_on_in: Path | None = None
    files_predictions: bool = False
    shard: str | None = None
    gpus_per_worker: float | None = None
    budget: Budget | None = None
    retry_verdicts: bool = False
    refresh: bool = False
    says_doubts: bool = True


def run_spec(
    spec: RunSpec, execution: Execution, origin: Origin | None = None, part: GridPart | None = None
) -> RunResult:
    """Let a model sit exams as a spec says.

    Args:
        spec: The run.
        execution: How to carry it out.
        origin: Who says what the model is; by default the user.
        part: The questions that are asked, where it is not all.
    """
    from proctor.cli.asking_anew import check_anew
    from proctor.cli.exporters import exporter
    from proctor.running.executors import distribute
    from proctor.running.exporting import ExportedRun

    _check_draws(spec)
    check_anew(
        {
            "refresh": execution.refresh, "retry_verdicts": execution.retry_verdicts,
            "retry_failed": execution.retry_failed, "precision": spec.precision,
        }
    )  # fmt: skip
    draws = spec.precision is not None
    engine, exams = prepared(spec, origin, trust_code=execution.trust_code, draws_questions=draws)
    if execution.fail_under:
        from proctor.cli.thresholds import check_names, check_scored, check_units

        check_scored(exams)
        groups = [group.name for exam in exams for group in exam.groups]
        check_names(execution.fail_under, [*(exam.name for exam in exams), *groups])
        check_units(execution.fail_under, exams)
    folder = _folder_of(spec, execution, exams, engine)
    if execution.write_out:
        from proctor.cli.show import print_requests

        print_requests(exams, sys.stderr)
    export = exporter(execution.output_format, exams, predictions=execution.files_predictions)
    if execution.says_doubts:
        say_doubts(exams)
    placed = distribute(
        engine, execution.executor, workers=execution.workers, address=execution.ray_address,
        gpus=execution.gpus_per_worker, log=execution.log,
    )  # fmt: skip
    with closing(placed):
        result, exams = _asked(spec, execution, exams, placed, folder, part)
        for path in export(ExportedRun(result, exams, engine, execution.log, spec, placed.facts())):
            say(f"wrote {path}")
    return result


def run_shard(
    spec: RunSpec,
    execution: Execution,
    origin: Origin | None = None,
    *,
    allow_failures: bool,
    every_score: bool,
    as_json: bool,
) -> int:
    """Let a model answer a part of the exams of a spec, and say what comes next; return the exit code.

    Raises:
        UsageError: It is told what to do with results, or to ask elsewhere.
    """
    from proctor.errors import UsageError
    from proctor.running.shards import Shard, ask_shard

    idle = {
        "--precision": spec.precision, "--draw": spec.draw, "--others": spec.others, "--tag": spec.tags,
        "--fail-under": execution.fail_under, "--output": execution.output, "--write-out": execution.write_out,
        "--output-format": execution.output_format != "proctor", "--executor": execution.executor != "local",
        "--workers": execution.workers, "--ray-address": execution.ray_address,
        "--gpus-per-worker": execution.gpus_per_worker, "--retry-verdicts": execution.retry_verdicts,
        "--refresh": execution.refresh, "--every-score": every_score, "--json": as_json,
    }  # fmt: skip
    if given := [name for name, value in idle.items() if value]:
        raise UsageError(
            f"{', '.join(given)} would have no effect",
            why="a shard files answers from this process, and grades nothing",
            hint="leave it out; the run without --shard, on the merged log, takes it",
        )
    shard = Shard.parsed(execution.shard or "")
    engine, exams = prepared(spec, origin, trust_code=execution.trust_code, draws_questions=False)
    with closing(engine):
        terms: Terms = {**_terms(execution, engine), "observer": _observer()}
        found = ask_shard(exams, engine, shard, **terms)
    answers = found.answered - found.failed
    say(f"shard {shard}: {answers:,} answers, {found.cached:,} from the log, {found.failed:,} failures")
    say("when all shards have ended: proctor log merge LOG..., then the same command without --shard")
    return FAILURES if found.failed and not allow_failures else DONE


def _observer() -> Observer:
    from proctor.running.progress import SilentObserver, observer_for

    return SilentObserver() if is_quiet() else observer_for()


def _terms(execution: Execution, engine: Engine) -> Terms:
    from proctor.running.budget import price_table

    return {
        "log": execution.log,
        "retry_failed": execution.retry_failed,
        "budget": execution.budget or budget_of(engine, execution),
        "prices": price_table(execution.prices) if execution.prices else None,
    }


def _asked(
    spec: RunSpec, execution: Execution, exams: list[Exam], engine: Engine, folder: Path, part: GridPart | None
) -> tuple[RunResult, list[Exam]]:
    """Ask an engine, and write into a folder; into the next one where the folder's run had other rows.

    Returns:
        The results, and the exams as they were asked: samples of them where a precision, or a part, is wanted.

    Raises:
        ProctorError: As :func:`run_exams`; :class:`ChangedDataError` where the user chose the folder.
    """
    from proctor.cli.asking_anew import anew_of
    from proctor.running.anew import Renewal
    from proctor.running.progress_file import ProgressFileObserver
    from proctor.running.run import run_exams

    shown, terms = _observer(), _terms(execution, engine)
    samples: Mapping[str, Sampled] | None = None
    stopped = None
    if part is not None:
        samples, exams = part.of(exams)
    elif spec.precision is not None:
        with _saying_how_to_go_on(folder):
            drawn = _drawn(exams, engine, spec, terms)
        samples, stopped = drawn.samples, drawn.stopped
        exams = [each.part for each in drawn.samples.values()]
    what = anew_of(refresh=execution.refresh, retry_verdicts=execution.retry_verdicts)
    run = partial(
        run_exams, exams, engine, log_samples=spec.log_samples, spec=spec, samples=samples,
        anew=Renewal(what) if what else None, **terms,
    )  # fmt: skip
    while True:
        try:
            with _saying_how_to_go_on(folder):
                result = run(output=folder, observer=ProgressFileObserver(shown, folder))
            return replace(result, stopped=stopped or result.stopped), exams
        except ChangedDataError as error:
            folder = _another_folder(folder, execution, error)


def _another_folder(folder: Path, execution: Execution, error: ChangedDataError) -> Path:
    """Return the folder that takes a run whose rows are not those of the run in a folder.

    Raises:
        ChangedDataError: The user named the folder.
    """
    if folder in (execution.output, execution.goes_on_in):
        raise error
    say(f"note: {folder} keeps its results: {error.diagnostics[0].why}")
    return _next_to(folder)


def _next_to(folder: Path) -> Path:
    """Return the folder for a run of the same command on other rows: ``name-2``, then ``name-3``.

    >>> _next_to(Path("runs/smollm2-capitals-5cd0b9a9"))
    PosixPath('runs/smollm2-capitals-5cd0b9a9-2')
    """
    plain, _, number = folder.name.rpartition("-")
    if len(number) < _DIGEST_DIGITS and number.isdigit():
        return folder.with_name(f"{plain}-{int(number) + 1}")
    return folder.with_name(f"{folder.name}-2")


def _check_draws(spec: RunSpec) -> None:
    """Refuse what says how to draw questions where none are drawn, or contradicts itself; before data is read."""
    from proctor.errors import UsageError

    if spec.precision is None:
        given = [name for name, value in (("--draw", spec.draw), ("--others", spec.others)) if value]
        if given:
            why = "without --precision every question is asked"
            names = " and ".join(given) + (" say" if len(given) > 1 else " says")
            raise UsageError(f"{names} how questions are drawn", why=why, hint="add --precision 0.02")
        return
    from proctor.running.precision import check_how, check_precision  # with what draws: most runs draw nothing

    check_precision(spec.precision)
    check_how(spec.draw or "auto", has_others=bool(spec.others))


def _drawn(exams: Sequence[Exam], engine: Engine, spec: RunSpec, terms: Terms) -> Drawn:
    """Ask as many questions as a precision takes."""
    from proctor.running.baselines import load_baseline
    from proctor.running.precision import draw

    others = [load_baseline(Path(path)) for path in spec.others]
    how: Any = spec.draw or "auto"
    return draw(exams, engine, spec.precision or 0.0, seed=spec.seed, how=how, others=others, **terms)


def prepared(
    spec: RunSpec, origin: Origin | None, *, trust_code: bool | None, draws_questions: bool
) -> tuple[Engine, list[Exam]]:
    """Return the engine and the exams as it can sit them; what has no effect on them is said.

    Args:
        spec: What names both.
        origin: Who says what the model is; by default the user.
        trust_code: Whether the user trusts the code that exams bring along.
        draws_questions: Whether only some of the questions may be asked.

    Raises:
        ProctorError: There is no such model or exam, or the engine may not see its data.
    """
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_names import REGISTERED
    from proctor.recipes.exam import suited
    from proctor.recipes.permissions import admit
    from proctor.settings import settings

    if trust_code:
        settings.trust_code = True
    engine = _made_engine(spec, origin)
    open_wall_for(engine, judge=spec.overrides.get("judge"))
    found = exams_of_spec(spec)
    admit(found, engine)
    exams = suited(found, engine)
    if spec.model in REGISTERED:
        from proctor.compat.lm_eval_names.evaluation import keep_arguments

        keep_arguments(engine, exams)
    say_what_has_no_effect(exams, questions_are_drawn=draws_questions)
    return engine, exams


def _made_engine(spec: RunSpec, origin: Origin | None) -> Engine:
    """Return the engine; where its name is not known, code of the exams may register it."""
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_names import REGISTERED
    from proctor.engines.engine_registry import make_engine
    from proctor.errors import ProctorError, UsageError

    try:
        return make_engine(spec.model, spec.model_args, origin)
    except UsageError:
        with suppress(ProctorError):
            for exam in exams_of_spec(spec):
                list(exam.grader.check())
        if spec.model not in REGISTERED:
            raise
    return make_engine(spec.model, spec.model_args, origin)


def rehearse(spec: RunSpec, execution: Execution, origin: Origin | None = None) -> int:
    """Do everything of a run but asking: build, check and count its requests, and say where it would write.

    Returns:
        How many rows cannot be asked about.

    Raises:
        ProctorError: As a run would.
    """
    import click

    from proctor.running.checks import check_exams

    draws = spec.precision is not None
    engine, exams = prepared(spec, origin, trust_code=execution.trust_code, draws_questions=draws)
    check_exams(exams, engine)
    unusable = 0
    for exam in exams:
        rows = requests = failed = 0
        for question in exam.questions():
            rows, requests = rows + 1, requests + len(question.requests)
            failed += question.failure is not None
        odd = f", of which {failed} cannot be asked about" if failed else ""
        click.echo(f"{exam.name}: {rows} instances{odd}, {requests} requests to {engine.label}")
        unusable += failed
    say(f"nothing was asked; the run folder {_where(spec, execution, exams, engine)}")
    return unusable


def _where(spec: RunSpec, execution: Execution, exams: list[Exam], engine: Engine) -> str:
    """Return where a run would write; a server that has to name its model first is not asked."""
    from proctor.running.folder import RunFolder
    from proctor.running.run import complete_spec

    try:
        folder = _folder_of(spec, execution, exams, engine)
    except EngineError as error:
        return f"is called after the model, which is not known: {error.diagnostics[0].what}"
    whole = complete_spec(spec, exams, engine.answering(), None, log_samples=spec.log_samples)
    while True:
        try:
            RunFolder(folder, engine).check(whole, exams)
        except ChangedDataError as error:
            folder = _another_folder(folder, execution, error)
        else:
            return f"would be {folder}"


def _folder_of(spec: RunSpec, execution: Execution, exams: list[Exam], engine: Engine) -> Path:
    """Return the run folder: the named one, that of the run which is gone on with, or one of this run's own."""
    if execution.output is not None:
        return execution.output
    if execution.goes_on_in is not None and _is_same_run(spec, execution.goes_on_in, engine):
        return execution.goes_on_in
    return default_output(spec, exams, engine)


def _is_same_run(spec: RunSpec, folder: Path, engine: Engine) -> bool:
    """Whether a spec leads to the results of the run in a folder: what changes no answer (concurrency) may differ.

    What exams are is not asked here: the folder refuses a run whose task files were changed.
    """
    from proctor.running.spec import RunSpec

    saved = RunSpec.load(folder)
    now = engine.answering()
    identity = saved.engine if not saved.engine or saved.is_earlier_run_of(now) else now.identity
    return not replace(spec, engine=identity, exams=saved.exams).differences(saved)


@contextmanager
def _saying_how_to_go_on(folder: Path) -> Iterator[None]:
    """Let the message of a run that is stopped hold the options that its folder does not."""
    from proctor.cli.going_on import command_again
    from proctor.errors import RunInterruptedError

    try:
        yield
    except RunInterruptedError as error:
        found = error.diagnostics[0]
        hint = f"to go on, run {command_again(folder)}; only what is missing will be asked"
        raise RunInterruptedError(found.what, why=found.why, hint=hint) from None


def budget_of(engine: Engine, execution: Execution) -> Budget | None:
    """Return what may be spent on an engine, and on judges beside it; answers of the response log cost nothing."""
    from proctor.running.budget import make_allowance

    return make_allowance(
        engine.price_name, tokens=execution.budget_tokens, usd=execution.budget_usd, prices=execution.prices
    )


def default_output(spec: RunSpec, exams: list[Exam], engine: Engine) -> Path:
    """Return the folder of a run that names none: equal runs have equal folders, so the same command goes on."""
    from proctor.ir import content_key
    from proctor.jsonable import jsonable

    described = {exam.name: jsonable(exam.specification()) for exam in exams}
    plain = replace(
        spec, engine="", fingerprints={}, version=""
    )  # as the command line has it: a copy of run.yaml is not
    content = replace(plain, exams=described, model_args={}, log_samples=True, tags=()).to_dict()
    name = re.sub(r"[^\w.-]+", "-", f"{engine.label}-{'-'.join(spec.tasks)}").strip("-.")[:_LONGEST_NAME]
    return Path(RUNS) / f"{name}-{content_key('run', engine.identity, content)[:_DIGEST_DIGITS]}"


@contextmanager
def terminated_like_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C: stop cleanly and say how to go on."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
