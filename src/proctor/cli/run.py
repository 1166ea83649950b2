"""``proctor run``: a model sits exams."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.error_reporting import FAILURES, say
from proctor.cli.exam_options import exam_options, read_options, say_what_has_no_effect, split_names
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.dialects.aisbench.models import ModelConfig
    from proctor.engines.engine import Engine
    from proctor.recipes.exam import Exam
    from proctor.running.execute import Budget
    from proctor.running.run import RunResult
    from proctor.running.spec import RunSpec

RUNS = "runs"
"""Folder under the current one in which run folders appear unless ``--output`` names one."""

_DIGEST_DIGITS = 8
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is carried out; nothing here changes what the results are."""

    output: Path | None
    log: Path | None
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


@click.command("run", cls=ProctorCommand)
@click.argument("spec", required=False, metavar="[RUN.yaml|CONFIG.py]", type=click.Path(exists=True, path_type=Path))
@click.option("--model", "-m", metavar="MODEL", help="Who is asked: smollm2, hf, openai … (proctor doctor lists them).")
@click.option("--tasks", "-t", multiple=True, metavar="NAME,…", help="Exams, suites, recipes, files (see proctor ls).")
@click.option("--model-args", "-a", multiple=True, metavar="K=V,…", help="model=m,base_url=http://127.0.0.1:8000/v1 …")
@click.option("--batch-size", metavar="N", help="Short for --model-args batch_size=N.")
@click.option("--device", metavar="NAME", help="Short for --model-args device=NAME.")
@click.option("--max-concurrency", metavar="N", help="Short for --model-args max_concurrency=N.")
@click.option("--truncate", metavar="demos|left|none", help="Prompts that are too long: --model-args truncate=….")
@click.option(
    "--output", "--output-path", "-o", "output", type=click.Path(file_okay=False, path_type=Path), help="Run folder."
)
@click.option("--log", "--use-cache", "log", type=click.Path(dir_okay=False, path_type=Path), help="The response log.")
@click.option("--log-samples/--no-log-samples", default=None, help="Write samples.jsonl.  [default: yes]")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@click.option("--budget-tokens", type=click.IntRange(min=1), metavar="N", help="Stop before more tokens are used.")
@click.option(
    "--budget-usd", type=click.FloatRange(min=0, min_open=True), metavar="X", help="Stop before it costs more."
)
@click.option(
    "--prices", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A price table of your own."
)
@click.option("--executor", default="local", metavar="local|ray", help="Where the model runs.  [default: local]")
@click.option("--workers", type=click.IntRange(min=1), help="Ray workers.  [default: one for each node]")
@click.option("--ray-address", metavar="ADDRESS", help="A Ray cluster.  [default: start one here]")
@click.option(
    "--output-format", metavar="NAME", default="proctor", help="lm-eval: its files too; or an exporter of a package."
)
@click.option("--write-out", is_flag=True, help="Print the first document's requests before asking (proctor show).")
@click.option("--allow-failures", is_flag=True, help="Exit with 0 although instances failed.")
@click.option("--every-score", is_flag=True, help="Print every score, not only the main one of each exam.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of a table.")
@exam_options
def command(spec: Path | None, **options: Any) -> int:
    """Let a model sit exams, and print its scores.

    RUN.yaml (or a run folder) repeats a run, or goes on with one that was stopped. CONFIG.py is a config of
    OpenCompass or AISBench: its models sit its datasets.

    \b
    proctor run --model smollm2 --tasks samples
    proctor run --model openai --model-args model=m,base_url=http://127.0.0.1:8000/v1 --tasks samples.science
    """  # noqa: D301 - click reads the control character
    from proctor.running.spec import RunSpec

    mine = {name: options.pop(name) for name in ("allow_failures", "every_score", "as_json")}
    execution = Execution(**{entry.name: options.pop(entry.name) for entry in fields(Execution)})
    options = read_options(options)
    output = execution.output
    if spec is not None and spec.suffix == ".py":
        from proctor.cli.run_config import run_config

        return run_config(spec, options, execution, **mine)
    if spec is None:
        wanted = spec_of_options(options)
    else:
        saved = RunSpec.load(spec)
        wanted = changed_spec(saved, options)
        folder = spec if spec.is_dir() else spec.parent
        if output is None and (folder / "run.yaml").exists() and not wanted.differences(saved):
            output = folder
    with terminated_like_ctrl_c():
        result = run_spec(wanted, replace(execution, output=output))
    return conclude(result, **mine)


def _model_args(options: dict[str, Any]) -> dict[str, Any]:
    from proctor.engines.engine_registry import parse_model_args

    names = ("batch_size", "device", "max_concurrency", "truncate")
    short = [f"{name}={options[name]}" for name in names if options[name]]
    given: dict[str, Any] = {}
    for text in (*options["model_args"], *short):
        given |= parse_model_args(text)
    return given


def spec_of_options(options: dict[str, Any]) -> RunSpec:
    """Return what the command line asks for; a model may be a config's.

    Raises:
        UsageError: No model or no task is named.
    """
    from proctor.running.spec import RunSpec

    if not options["model"]:
        raise UsageError("no model is named", hint="add --model smollm2, or another that proctor doctor lists")
    tasks = tuple(name for text in options["tasks"] for name in split_names(text))
    if not tasks:
        raise UsageError("no task is named", hint="add --tasks samples, or others that proctor ls lists")
    given, rest = _model_of_config(options["model"]), {**options, "model": None, "tasks": ()}
    if given is None:
        return changed_spec(RunSpec(model=options["model"], tasks=tasks), rest)
    name, config = given
    return changed_spec(of_model(name, config, tasks), rest)


def _model_of_config(model: str) -> tuple[str, ModelConfig] | None:
    from proctor.engines.engine_registry import ENGINES

    if model in ENGINES or "=" in model or model.startswith("engines."):
        return None
    from proctor.dialects.aisbench.models import find_models, model_config

    found = find_models(model)
    if not found:
        return None
    if len(found) > 1:
        raise UsageError(
            f"'{model}' has {len(found)} models", hint=f"choose one: {', '.join(name for name, _ in found)}"
        )
    name, values = found[0]
    return name, model_config(values)


def of_model(name: str, model: ModelConfig, tasks: tuple[str, ...]) -> RunSpec:
    """Return the run of a model of a config, called ``FILE.py::ABBR``."""
    from proctor.running.spec import RunSpec

    for note in model.notes:
        say(f"note: {note}")
    return RunSpec(model.engine, tasks, dict(model.args), overrides={"model_config": name})


def changed_spec(spec: RunSpec, options: dict[str, Any]) -> RunSpec:
    """Return a spec with what the command line says in place of what it said."""
    changes: dict[str, Any] = {}
    if options["model"]:
        changes["model"] = options["model"]
    if tasks := tuple(name for text in options["tasks"] for name in split_names(text)):
        changes["tasks"] = tasks
    if args := _model_args(options):
        changes["model_args"] = args if "model" in changes else {**spec.model_args, **args}
    overrides = {name: options[name] for name in _OVERRIDES if options.get(name) not in (None, ())}
    limit = options["limit"]
    if isinstance(limit, float):
        overrides["limit"] = limit
    elif limit is not None:
        changes["limit"] = limit
    if overrides:
        changes["overrides"] = {**spec.overrides, **overrides}
    changes |= {name: options[name] for name in ("seed", "num_demos", "log_samples") if options[name] is not None}
    if changes:
        changes |= {"exams": {}, "engine": ""}  # filled in anew: they belong to the spec before the change
    return replace(spec, **changes)


_OVERRIDES = (
    "template",
    "system_prompt",
    "apply_chat_template",
    "meta_template",
    "model_config",
    "demos_as_turns",
    "decoding",
    "include_paths",
    "samples",
    "metadata",
    "predict_only",
    "chat_override",
    "group_by",
    "repeats",
)


def run_spec(spec: RunSpec, execution: Execution) -> RunResult:
    """Let a model sit exams as a spec says."""
    from proctor.cli.exporters import exporter
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.exam import suited
    from proctor.running.budget import price_table
    from proctor.running.executors import distribute
    from proctor.running.exporting import ExportedRun
    from proctor.running.progress import observer_for
    from proctor.running.progress_file import ProgressFileObserver
    from proctor.running.run import run_exams
    from proctor.settings import settings

    if execution.trust_code:
        settings.trust_code = True
    engine = make_engine(spec.model, spec.model_args)
    exams = suited(exams_of_spec(spec), engine)
    say_what_has_no_effect(exams)
    folder = execution.output or default_output(spec, exams, engine)
    if execution.write_out:
        from proctor.cli.console import console
        from proctor.cli.show import print_requests

        print_requests(exams, console(stderr=True))
    export = exporter(execution.output_format, exams)
    placed = distribute(engine, execution.executor, workers=execution.workers, address=execution.ray_address)
    with closing(placed):
        result = run_exams(
            exams,
            placed,
            log=execution.log,
            output=folder,
            observer=ProgressFileObserver(observer_for(), folder),
            log_samples=spec.log_samples,
            spec=spec,
            retry_failed=execution.retry_failed,
            budget=_budget(engine, execution),
            prices=price_table(execution.prices) if execution.prices else None,
        )
    for path in export(ExportedRun(result, exams, engine, execution.log, spec)):
        say(f"wrote {path}")
    return result


def _budget(engine: Engine, execution: Execution) -> Budget | None:
    from proctor.running.budget import make_allowance

    return make_allowance(
        engine.price_name, tokens=execution.budget_tokens, usd=execution.budget_usd, prices=execution.prices
    )


def default_output(spec: RunSpec, exams: list[Exam], engine: Engine) -> Path:
    """Return the folder of a run that names none: equal runs have equal folders, so the same command goes on."""
    from proctor.ir import content_key
    from proctor.jsonable import jsonable

    described = {exam.name: jsonable(exam.specification()) for exam in exams}
    content = replace(spec, exams=described, model_args={}, log_samples=True, version="").to_dict()
    name = re.sub(r"[^\w.-]+", "-", f"{engine.label}-{'-'.join(spec.tasks)}").strip("-.")[:_LONGEST_NAME]
    return Path(RUNS) / f"{name}-{content_key('run', engine.identity, content)[:_DIGEST_DIGITS]}"


def conclude(result: RunResult, *, allow_failures: bool, every_score: bool, as_json: bool) -> int:
    """Print the results of a run; return the exit code."""
    from proctor.cli.console import console, print_json
    from proctor.cli.tables import score_table
    from proctor.results.summary import failure_notes, first_failures, score_rows

    rows = list(score_rows(result.results, every_score=every_score))
    if as_json:
        print_json(result.results, indent=2)
    else:
        console().print(score_table(rows))
    say(f"run folder: {result.output}")
    notes = failure_notes(rows)
    for note in notes:
        say(f"warning: {note}")
    for kind, message in first_failures(result.grades.values()).items():
        say(f"  {kind}: {message}")
    if notes:
        say(f"samples.jsonl has the reasons; to ask again what failed: proctor run {result.output}")
    broken = [name for name, entry in result.results.items() if "error" in entry]
    for name in broken:
        say(f"warning: {name} could not be graded: {result.results[name]['error']}")
    if broken:
        say(f"its answers are kept; to grade again: proctor run {result.output}")
    return FAILURES if broken or (notes and not allow_failures) else 0


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
