"""``proctor run``: a model sits exams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.asking_anew import refresh_option, retry_verdicts_option
from proctor.cli.commands import RUNS, Places, quiet_option
from proctor.cli.completion import complete_tasks, one_of
from proctor.cli.conclusion import conclude
from proctor.cli.error_reporting import FAILURES, is_quiet, say
from proctor.cli.exam_options import exam_options, read_options, share, split_names, take_trust
from proctor.cli.execution import Execution, rehearse, run_shard, run_spec, terminated_like_ctrl_c
from proctor.cli.habits import CUSTOM_DATASET, Habits, HabitsCommand, current_habits, custom_task, hub_model
from proctor.cli.log_option import LOG
from proctor.cli.model_options import budget_options, model_options
from proctor.cli.named_exams import exams_or_run
from proctor.cli.run_options import changed_spec, model_args, origin_of_model, spec_of_options
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.engines.model_args import Origin


def _executors() -> Sequence[str]:
    from proctor.running.executors import EXECUTORS

    return EXECUTORS


def _formats() -> Sequence[str]:
    from proctor.cli.exporters import OWN

    return OWN


def _written(given: Mapping[str, Any]) -> Places:
    """Return the run folder: the one that is named, that of the run which is repeated, or all of them."""
    repeated = [place if place.is_dir() else place.parent for place in map(Path, given["named"]) if place.exists()]
    goes_on = [each for each in repeated if (each / "run.yaml").exists()]
    return [given["output"] or Path(RUNS), *goes_on], ()


@click.command("run", cls=HabitsCommand, writes=_written, asks=True, is_open=lambda given: given["executor"] == "ray")
@click.argument("named", nargs=-1, metavar="[EXAM...|RUN.yaml|CONFIG.py]", shell_complete=complete_tasks)
@model_options
@click.option(
    "--output", "--output-path", "-o", "output", type=click.Path(file_okay=False, path_type=Path), help="Run folder."
)
@click.option("--log", "--use-cache", "log", type=LOG, help="The response log.")
@click.option("--log-samples/--no-log-samples", default=None, help="Write samples.jsonl.  [default: yes]")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@retry_verdicts_option
@refresh_option
@budget_options
@click.option(
    "--precision",
    type=share,
    metavar="X",
    help="Draw questions until the 95% interval of the main score is this near on either side: 0.02 is two points.",
)
@click.option(
    "--draw",
    type=click.Choice(["auto", "uniform", "adaptive"]),
    help="How --precision chooses questions: uniformly, or by what other models' answers say they tell (three "
    "models or more).  [default: auto, adaptive where the log or --others has them]",
)
@click.option(
    "--others",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="RUN|FILE",
    help="Runs of other models on the same questions, for --draw adaptive; repeatable.  [default: those of the log]",
)
@click.option(
    "--tag", "tags", multiple=True, metavar="WORD", help="Find the run by it in proctor view; may be repeated."
)
@click.option(
    "--executor",
    default="local",
    metavar="local|ray|batch",
    shell_complete=one_of(_executors),
    help="Where the model runs.  [default: local]",
)
@click.option(
    "--batch",
    is_flag=True,
    help="Ask the provider in batches: half the price, answers within a day (--executor batch).",
)
@click.option(
    "--shard",
    metavar="3/16",
    help="Ask every 16th question from the third on, for logs that are merged (proctor log merge); auto and auto/16 "
    "take the number from SLURM or Kubernetes.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Ray workers.  [default: one for each node]")
@click.option(
    "--gpus-per-worker",
    type=click.FloatRange(min=0),
    metavar="N",
    help="GPUs of each Ray worker.  [default: 1 where the model is in the workers and the cluster has some]",
)
@click.option("--ray-address", metavar="ADDRESS", help="A Ray cluster.  [default: start one here]")
@click.option(
    "--output-format",
    metavar="NAME",
    default="proctor",
    shell_complete=one_of(_formats),
    help="lm-eval: its files too; or an exporter of a package.",
)
@click.option("--write-out", is_flag=True, help="Print the first instance's requests before asking (proctor show).")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="TASK=0.7",
    help="Exit with 1 where a main score is lower, with 4 where answers without a score leave that open.",
)
@click.option("--allow-failures", is_flag=True, help="Exit with 0 although instances failed.")
@click.option("--every-score", is_flag=True, help="Print every score, not only the main one of each exam.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of a table.")
@quiet_option
@exam_options
def command(named: tuple[str, ...], **options: Any) -> int:
    """Let a model sit exams, and print its scores.

    EXAM is the name of an exam or suite, a recipe (card=…,template=…), or a file. RUN.yaml (or a run folder) repeats
    a run, or goes on with one that was stopped. CONFIG.py is a config of OpenCompass or AISBench: its models sit its
    datasets.

    \b
    proctor run samples --model smollm2
    proctor run --model openai --model-args model=m,base_url=http://127.0.0.1:8000/v1 --tasks samples.science
    \b
    Options of AISBench and OpenCompass (--models, --datasets, --mode, --hf-path …) mean what they mean there, and
    those of lm-eval too (--tasks a b, --config FILE, --model_args a=1 b=2 …).
    """  # noqa: D301 - click reads the control character
    from proctor.cli.thresholds import parsed

    habits = current_habits()
    _check_places(options)
    spec, exams = exams_or_run(named)
    options["tasks"] = (*exams, *options["tasks"])
    mine = {name: options.pop(name) for name in ("allow_failures", "every_score", "as_json")}
    options["fail_under"] = parsed(options["fail_under"])
    if options.pop("batch"):
        options["executor"] = "batch"
    execution = Execution(
        **{entry.name: options.pop(entry.name) for entry in fields(Execution) if entry.name in options}
    )
    options = read_options(options)
    options = _in_habit(habits, options)
    if habits["--search"] or habits.mode in ("eval", "judge", "viz"):
        _refuse_what_asks(habits)
        _check_is_whole(execution)
        take_trust({"trust_code": execution.trust_code})
        return _without_asking(spec, habits, options, execution.output, mine)
    if habits.mode == "infer":
        options["predict_only"] = True
        execution = replace(execution, files_predictions=True)
    if spec is not None and spec.suffix == ".py":
        from proctor.cli.run_config import run_config

        _check_is_whole(execution)
        return run_config(spec, options, execution, habits, **mine)
    if spec is None and not (options["model"] or habits.models):
        from proctor.cli.model_lists import models_beside

        habits.values["--models"] = models_beside(options["tasks"])
    if habits.models or habits["--summarizer"]:
        from proctor.cli.run_config import run_models

        _check_is_whole(execution)
        return run_models(spec, options, execution, habits, **mine)
    return _run_one(spec, options, execution, habits, mine)


def _run_one(
    spec: Path | None, options: dict[str, Any], execution: Execution, habits: Habits, printed: dict[str, bool]
) -> int:
    from proctor.running.spec import RunSpec

    if spec is None:
        wanted, origin = spec_of_options(options), origin_of_typed(options)
    else:
        wanted, origin = changed_spec(RunSpec.load(spec), options), origin_of_model(options, spec)
        folder = spec if spec.is_dir() else spec.parent
        if execution.output is None and (folder / "run.yaml").exists():
            execution = replace(execution, goes_on_in=folder)
        _check_log(folder, execution)
    with terminated_like_ctrl_c():
        if habits["--dry-run"]:
            return FAILURES if rehearse(wanted, execution, origin) and not printed["allow_failures"] else 0
        if execution.shard is not None:
            return run_shard(wanted, execution, origin, **printed)
        result = run_spec(wanted, execution, origin)
    printed["every_score"] |= len(wanted.overrides.get("metric") or ()) > 1  # who names several wants to see them
    code = conclude(
        result, thresholds=execution.fail_under, wants_scores="predict_only" not in wanted.overrides, **printed
    )
    if not (printed["as_json"] or is_quiet()) and (options.get("prompt") or options.get("prompts")):
        from proctor.cli.model_lists import say_side_by_side

        say_side_by_side({wanted.model: result})
    return code


def _check_log(folder: Path, execution: Execution) -> None:
    """Refuse to go on with a run in another log than its own where none is named: everything would be asked again.

    Raises:
        UsageError: Its answers are in another log that is there.
    """
    from proctor.runs.stored_run import load_run
    from proctor.settings import settings

    if execution.log is not None or settings.log:
        return
    from proctor.running.log_file import default_log_path

    log, usual = str(load_run(folder, with_spec=False).run.get("log") or ""), default_log_path()
    if "://" in log or (log and Path(log).is_file() and Path(log).resolve() != usual.resolve()):
        raise UsageError(
            f"the answers of this run are in {log}, and no log is named",
            why="in another log everything would be asked again",
            hint=f"--log {quote(log)} goes on there; --log {quote(str(usual))} asks again",
        )


def _check_is_whole(execution: Execution) -> None:
    """Refuse a shard where more than one model is asked, or none.

    Raises:
        UsageError: There is one.
    """
    if execution.shard is not None:
        raise UsageError(
            "--shard is for one model", why="configs, lists of models and --mode have runs of their own",
            hint="name the model with --model, and one shard for each",
        )  # fmt: skip


def _check_places(options: Mapping[str, Any]) -> None:
    """See to it that the file of ``--config`` writes below the working folder or its own, or where it may.

    Raises:
        NotAllowedError: It names another place, and the user did not allow that.
    """
    from proctor.cli.lm_eval_words import config_of
    from proctor.effects import Effect, author_of_file, require, writing_results
    from proctor.running.log_place import LogAddress

    words = config_of(click.get_current_context())
    if words.config is None:
        return
    author = author_of_file(words.config)
    named = {"--output": options["output"], "--log": options["log"]}
    said = [(option, place) for option, place in named.items() if option in words.of_config and place is not None]
    files = [(option, place) for option, place in said if not isinstance(place, LogAddress)]
    asked = [Effect("net", place.target, option) for option, place in said if isinstance(place, LogAddress)]
    written = [effect for option, place in files for effect in writing_results(place, author, option)]
    require([*asked, *written], author)


def origin_of_typed(options: dict[str, Any]) -> Origin:
    """Return the origin of the model: the user, or the file of ``--config`` where it names model or arguments."""
    from proctor.cli.lm_eval_words import config_of
    from proctor.effects import author_of_file
    from proctor.engines.model_args import Origin

    words, origin = config_of(click.get_current_context()), origin_of_model(options)
    said = words.of_config & {"--model", "--model-args"}
    if words.config is None or not said or origin.author is not None:
        return origin
    typed = frozenset(model_args(options)) if "--model-args" not in said else frozenset()
    return Origin(author_of_file(words.config), typed)


def _in_habit(habits: Habits, options: dict[str, Any]) -> dict[str, Any]:
    """Return options with what the command line says in words of AISBench or OpenCompass."""
    options = hub_model(habits, options)
    if habits["--reuse"] and habits.mode in ("all", "infer"):
        say("note: --reuse has no effect here: the same command goes on, and asks only what the response log lacks")
    if any(habits[f"--custom-dataset-{each}"] is not None for each in CUSTOM_DATASET):
        project = _project_of(habits, options)
        say(f"note: the prompt is that of {project}; [project=…] behind the file's name in --tasks chooses another")
        options["tasks"] = (*options["tasks"], custom_task(habits, project))
    return options


def _project_of(habits: Habits, options: dict[str, Any]) -> str:
    """Return whose prompt a user of ``--custom-dataset-path`` means: that of the package his model's config is from."""
    from proctor.dialects.aisbench.index import MODEL, config_entries

    names = {name.partition("::")[0] for name in (*habits.models, options["model"] or "")}
    found = [each.source for each in config_entries().values() if each.kind == MODEL and each.name in names]
    return "aisbench" if "aisbench" in found and "opencompass" not in found else "opencompass"


def _refuse_what_asks(habits: Habits) -> None:
    """See to it that nothing is typed which has to do with asking a model, or with writing a run.

    Raises:
        UsageError: It is.
    """
    from proctor.recipes.options import LOOKED_UP, OPTIONS

    context = click.get_current_context()
    for each in context.command.params:
        is_typed = context.get_parameter_source(each.name or "") is click.core.ParameterSource.COMMANDLINE
        if not is_typed or each.name in {*OPTIONS, *LOOKED_UP, *_LOOKING_BACK}:
            continue
        what = f"{each.opts[0]} has no effect with " + ("--search" if habits["--search"] else f"--mode {habits.mode}")
        if each.name not in _OF_ENGINES:
            raise UsageError(what, why="no model is asked, and no run is written", hint="leave it out")
        say(f"note: {what}: no model is asked")


_OF_ENGINES = frozenset(("model_args", "max_concurrency", "batch_size"))
"""What a command that is typed once more for another mode still says of the model."""
_LOOKING_BACK = frozenset(
    ("named", "model", "tasks", "output", "trust_code", "allow", "allow_failures", "every_score", "as_json", "quiet")
)
"""What concerns those who only look at what is there, beside the options of exams."""


def _without_asking(
    spec: Path | None, habits: Habits, options: dict[str, Any], output: Path | None, printed: dict[str, bool]
) -> int:
    from proctor.cli.habit_modes import look_back, search

    names = [name for text in options["tasks"] for name in split_names(text)]
    if habits["--search"]:
        models = habits.models or ([options["model"]] if options["model"] else [])
        return search(models, names, habits["--summarizer"], options["include_paths"])
    names = [f"{spec}::{name}" for name in names] or [str(spec)] if spec is not None else names
    return look_back(habits, names, options, output, **printed)
