"""``proctor gate``: is a model no worse than a baseline? Decided with as few questions as that takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import Places, WalledCommand, open_wall_for, quiet_option
from proctor.cli.error_reporting import is_quiet, say, show, warn
from proctor.cli.exam_notes import say_what_has_no_effect
from proctor.cli.exam_options import exam_options, read_options, share, take_trust
from proctor.cli.execution import Execution, run_spec, terminated_like_ctrl_c
from proctor.cli.log_option import LOG, LogPlace
from proctor.cli.model_options import budget_options, exams_argument, model_options, named_too
from proctor.cli.run_folders import labels_option, read_run
from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.errors import OutputError, RunInterruptedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proctor.engines.engine import Engine
    from proctor.recipes.exam import Exam
    from proctor.running.baselines import Baseline
    from proctor.running.gate import GateResult, GateRules

_FILE = click.Path(dir_okay=False, path_type=Path)
_LEVEL = 0.95
"""What a gate is sure of unless told otherwise."""


def _written(given: Mapping[str, Any]) -> Places:
    """Return what is written: the files that are named, and those of SQLite beside a response log that is read."""
    from proctor.running.baselines import is_log

    files = [given[each] for each in ("junit", "save_baseline") if given[each] is not None]
    baseline = given["baseline"]
    return [baseline.parent] if isinstance(baseline, Path) and is_log(baseline) else [], files


@click.command("gate", cls=WalledCommand, writes=_written, asks=True)
@exams_argument
@click.option(
    "--baseline", type=LogPlace(exists=True, path_type=Path), metavar="RUN|FILE", help="What to compare with."
)
@click.option("--baseline-model", metavar="LABEL", help="Whose answers count, where the baseline is a response log.")
@click.option("--margin", type=share, metavar="X", help="How much worse it may be: 0.03 or 3% is three points.")
@click.option("--at-least", type=share, metavar="X", help="Instead of a baseline: the score to have, as a share.")
@click.option("--level", type=share, default=_LEVEL, show_default=True, help="1 less the chance of a wrong verdict.")
@click.option(
    "--changed",
    multiple=True,
    type=click.Choice(["rows", "prompts", "decoding", "extraction", "metrics"]),
    help="A layer of the exam that may differ from the baseline's: the change that you gate. May be repeated.",
)
@click.option(
    "--instance-scores", is_flag=True, help="Gate on the mean of instances where the exam's score is not that."
)
@click.option("--save-baseline", type=_FILE, metavar="FILE", help="Write the scores of --baseline, or of the model.")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write the verdicts as JUnit XML.")
@labels_option
@model_options
@click.option("--log", "--use-cache", "log", type=LOG, help="The response log.")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@budget_options
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@quiet_option
@exam_options
def command(**options: Any) -> int:
    """Pass or fail a model: no worse than a baseline by more than a margin, or at least a score.

    Questions are asked in a seeded random order until the verdict is certain. Exit code 0: passed. 1: failed.
    4: undecided, although everything was asked (or the budget ended). A gate that was killed goes on when it is started
    again. With --labels everything is asked, and the verdict is on scores that labels correct.

    \b
    proctor gate samples --model smollm2 --baseline runs/main --margin 0.03
    proctor gate samples --model smollm2 --at-least 0.7
    proctor gate samples --model smollm2 --save-baseline baseline.json
    """  # noqa: D301 - click reads the control character
    options = named_too(options)
    mine = {name: options.pop(name) for name in _MINE}
    _refuse_idle(mine, options)
    rules = _rules(mine, options.get("seed"))
    if mine["baseline"] is None and rules.at_least is None and mine["save_baseline"] is None:
        raise UsageError(
            "a gate needs a baseline", hint="--baseline RUN|FILE, --at-least 0.7, or --save-baseline FILE to make one"
        )
    if mine["save_baseline"] is not None:
        with terminated_like_ctrl_c():
            return _save(mine, read_options(options))
    with terminated_like_ctrl_c():
        gate = _gate_by_labels if mine["labels"] else _gate
        result = gate(mine, read_options(options), rules)
    return _told(result, mine)


_MINE = (
    *("baseline", "baseline_model", "margin", "at_least", "level", "changed", "instance_scores", "save_baseline"),
    *("labels", "junit", "as_json", "log", "retry_failed", "budget_tokens", "budget_usd", "prices"),
)


def _refuse_idle(mine: dict[str, Any], options: dict[str, Any]) -> None:
    """Refuse what would be accepted and have no effect.

    Raises:
        UsageError: It names every such option.
    """
    given = [_flag(name) for name, default in _OF_VERDICTS.items() if mine[name] != default]
    if mine["save_baseline"] is not None:
        idle, why = set(given), "--save-baseline decides nothing: it writes scores"
    elif mine["baseline"] is None:
        idle = {_flag(name) for name in ("changed", "baseline_model") if mine[name]}
        why = "there is no baseline: --at-least compares with a number"
    else:
        idle, why = set(), ""
    if mine["labels"] and (also := [_flag(name) for name in ("instance_scores", "baseline_model") if mine[name]]):
        idle, why = {*idle, *also}, "labels correct the scores of run folders, which are means of instances"
    if options.get("group_by"):
        idle, why = {"--group-by"}, "a gate decides on an exam as a whole"
    if idle:
        raise UsageError(f"{', '.join(sorted(idle))} would have no effect", why=why, hint="leave it out")


_OF_VERDICTS: dict[str, object] = {
    "margin": None,
    "at_least": None,
    "level": _LEVEL,
    "changed": (),
    "labels": (),
    "junit": None,
    "as_json": False,
}
"""Options that say what is decided, and how that is told, with what they are where nobody gives them."""


def _flag(name: str) -> str:
    return "--json" if name == "as_json" else f"--{name.replace('_', '-')}"


def _rules(mine: dict[str, Any], seed: int | None) -> GateRules:
    from proctor.running.gate import GateRules

    if mine["at_least"] is not None and (mine["baseline"] is not None or mine["margin"] is not None):
        raise UsageError("--at-least stands instead of a baseline", hint="give --at-least, or --baseline with --margin")
    return GateRules(
        margin=0.03 if mine["margin"] is None else mine["margin"],
        at_least=mine["at_least"],
        level=mine["level"],
        seed=seed,
        instance_scores=mine["instance_scores"],
        changed=frozenset(mine["changed"]),
    )


def _exams(options: dict[str, Any]) -> tuple[Engine, list[Exam]]:
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.exam import suited
    from proctor.recipes.permissions import admit

    take_trust(options)
    spec = spec_of_options({**options, "log_samples": None})
    engine = make_engine(spec.model, spec.model_args, origin_of_model(options))
    open_wall_for(engine)
    found = exams_of_spec(spec)
    admit(found, engine)
    exams = suited(found, engine)
    say_what_has_no_effect(exams, questions_are_drawn=True)
    return engine, exams


def _gate(mine: dict[str, Any], options: dict[str, Any], rules: GateRules) -> GateResult:
    from contextlib import closing

    from proctor.running.budget import make_allowance, price_table
    from proctor.running.gate import run_gate
    from proctor.running.progress import SilentObserver, observer_for

    engine, exams = _exams(options)
    prices = price_table(mine["prices"]) if mine["prices"] else None
    budget = make_allowance(
        engine.price_name, tokens=mine["budget_tokens"], usd=mine["budget_usd"], prices=mine["prices"]
    )
    with closing(engine):
        return run_gate(
            exams,
            engine,
            None if mine["baseline"] is None else _baseline(mine, exams),
            rules,
            log=mine["log"],
            observer=SilentObserver() if is_quiet() else observer_for(),
            budget=budget,
            prices=prices,
            retry_failed=mine["retry_failed"],
        )


def _baseline(mine: dict[str, Any], exams: Sequence[Exam]) -> Baseline:
    from proctor.running.baselines import is_log, load_baseline
    from proctor.running.gate_baselines import baseline_of_log
    from proctor.running.log_place import LogAddress
    from proctor.runs.answer_labels import LABELS

    path: Path | LogAddress = mine["baseline"]
    if isinstance(path, LogAddress) or is_log(path):
        return baseline_of_log(path, exams, mine["baseline_model"])
    if mine["baseline_model"] is not None:
        raise UsageError("--baseline-model chooses a model of a response log", hint=f"{path} is not one; leave it out")
    if (kept := path / LABELS).is_file():
        say(f"scores are as judged; --labels {kept} would ask everything, and decide by scores that labels correct")
    return load_baseline(path)


def _save(mine: dict[str, Any], options: dict[str, Any]) -> int:
    """Write the scores of a baseline that is there, or of a run that is made now; return the exit code."""
    from proctor.running.baselines import is_log, load_baseline, save_baseline

    if mine["baseline"] is not None and options["tasks"] and not is_log(mine["baseline"]):
        why = f"{mine['baseline']} has scores of its own exams, and --tasks would be dropped"
        raise UsageError("--save-baseline takes --baseline or --tasks", why=why, hint="leave out one of them")
    if mine["baseline"] is not None and not options["tasks"]:
        found = load_baseline(mine["baseline"])
    else:
        found = _measured(mine, options)
    lacking = [f"{name} ({each.failed})" for name, each in found.exams.items() if each.failed]
    if lacking:
        raise UsageError(
            "a baseline has a score for every instance", why=f"instances without one: {', '.join(lacking)}",
            hint="type the same command again: what failed is asked again; a score of all answers together has none",
        )  # fmt: skip
    if not found.exams:
        raise UsageError(f"{found.source} has no scores", hint="a run with --log-samples has them")
    save_baseline(found, mine["save_baseline"])
    count = sum(len(each.scores) for each in found.exams.values())
    say(f"wrote {mine['save_baseline']}: {count:,} scores of {', '.join(found.exams)}")
    return 0


def _measured(mine: dict[str, Any], options: dict[str, Any]) -> Baseline:
    """Let the model sit the whole exams, and return its scores."""
    from proctor.running.baselines import load_baseline

    if mine["baseline"] is not None:
        _, exams = _exams(options)
        return _baseline(mine, exams)
    with _whole_run(mine, options, "the baseline") as folder:
        return replace(load_baseline(folder), source=str(mine["save_baseline"]))


def _gate_by_labels(mine: dict[str, Any], options: dict[str, Any], rules: GateRules) -> GateResult:
    """Let the model sit the whole exams, and decide by what labels make of the scores."""
    from proctor.runs.answer_labels import read_labels
    from proctor.runs.labelled_gate import gate_by_labels
    from proctor.runs.stored_run import load_run

    path = mine["baseline"]
    if path is not None and not (isinstance(path, Path) and path.is_dir()):
        hint = "name the run folder of the baseline, which has its answers"
        raise UsageError(f"labels are of answers, and {path} has scores alone", hint=hint)
    before = None if path is None else read_run(path)
    with _whole_run(mine, options, "the gate") as folder:
        return gate_by_labels(load_run(folder), before, read_labels(mine["labels"]), rules)


@contextmanager
def _whole_run(mine: dict[str, Any], options: dict[str, Any], what: str) -> Iterator[Path]:
    """Yield a run folder, gone afterwards, in which the model has sat the whole exams.

    Raises:
        UsageError: The budget did not allow it.
    """
    trust = options.pop("trust_code", None)
    spec = replace(spec_of_options({**options, "log_samples": None}), log_samples=True)
    with TemporaryDirectory(prefix="proctor-") as folder:
        execution = Execution(
            Path(folder) / "run", mine["log"], mine["retry_failed"], trust, mine["budget_tokens"], mine["budget_usd"],
            mine["prices"], "local", None, None, "proctor", write_out=False,
        )  # fmt: skip
        try:
            result = run_spec(spec, execution, origin_of_model(options))
        except RunInterruptedError as error:  # its run folder is gone in a moment
            kept = error.diagnostics[0].why
            hint = "type the same command again; only what is missing will be asked"
            raise RunInterruptedError(f"{what} was not finished", why=kept, hint=hint) from None
        if result.stopped is not None:
            why = f"it takes all answers, and the budget ended: {result.stopped}"
            raise UsageError(f"{what} was not made", why=why, hint="the same command with a larger budget")
        yield Path(folder) / "run"


def _told(result: GateResult, mine: dict[str, Any]) -> int:
    """Print and write what a gate says; return the exit code."""
    from proctor.cli.json_output import print_json
    from proctor.running.gate_report import EXIT_CODES, as_data, junit_xml, paragraph
    from proctor.safe_files import write_for_user

    if result.stopped is not None:
        warn(f"stopped: {result.stopped}")
    if mine["as_json"]:
        print_json(as_data(result), indent=2)
    else:
        show(paragraph(result))
    if mine["junit"] is not None:
        try:
            write_for_user(mine["junit"], junit_xml(result))
        except OSError as error:
            raise OutputError.unwritable(str(mine["junit"]), error, "another file") from error
    return EXIT_CODES[result.verdict]
