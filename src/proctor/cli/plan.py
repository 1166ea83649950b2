"""``proctor plan``: what a run would take, and what its scores could show. Nobody is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import WalledCommand, open_wall_for
from proctor.cli.error_reporting import say, show
from proctor.cli.exam_options import exam_options, read_options, share, take_trust
from proctor.cli.log_option import LOG
from proctor.cli.model_options import exams_argument, model_options, named_too, prices_option
from proctor.cli.run_folders import labels_option, read_run
from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.errors import UsageError
from proctor.runs.stored_run import is_run

if TYPE_CHECKING:
    from rich.table import Table

    from proctor.running.planning import Estimate, ExamPlan, JudgePlan, RunPlan


@click.command("plan", cls=WalledCommand, asks=True)
@exams_argument
@model_options
@click.option("--log", type=LOG, help="The response log.")
@prices_option
@click.option("--difference", type=share, metavar="X", help="A difference to be shown: how many questions it needs.")
@click.option(
    "--precision",
    type=share,
    metavar="X",
    help="Half an interval's width: how many questions run --precision asks.",
)
@click.option(
    "--discordant",
    type=share,
    default=0.1,
    show_default=True,
    metavar="X",
    help="Share of the answers in which two models differ that are to be told apart.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@labels_option
@exam_options
def command(**options: Any) -> None:
    """Say what a run would take (requests, tokens, price, time) and which differences its scores could show.

    Of run folders it says how many more labels of their answers halve the interval of a corrected score.

    \b
    proctor plan samples --model smollm2
    proctor plan samples --model openai --model-args model=gpt-4o --difference 0.02
    proctor plan runs/a --labels labels.csv
    """  # noqa: D301 - click reads the control character
    from contextlib import closing

    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.permissions import admit
    from proctor.running.budget import price_table
    from proctor.running.planning import plan_run
    from proctor.running.precision import check_precision

    options = named_too(options)
    labels = options.pop("labels")
    if labels or (options["tasks"] and all(is_run(Path(task)) for task in options["tasks"])):
        _plan_labels(options, labels)
        return
    own = ("log", "prices", "difference", "precision", "discordant", "as_json")
    mine = {name: options.pop(name) for name in own}
    for name in ("difference", "discordant"):
        if mine[name] is not None and not 0 < mine[name] < 1:
            raise UsageError(f"--{name} is a share between 0 and 1, not {mine[name]:g}", hint="0.02 are two points")
    if mine["precision"] is not None:
        check_precision(mine["precision"])
    take_trust(options)
    options = read_options(options)
    spec = spec_of_options({**options, "log_samples": None})
    prices = price_table(mine["prices"]) if mine["prices"] else None
    with closing(make_engine(spec.model, spec.model_args, origin_of_model(options))) as engine:
        open_wall_for(engine)
        exams = exams_of_spec(spec)
        admit(exams, engine)
        plan = plan_run(exams, engine, log=mine["log"], prices=prices, discordant=mine["discordant"])
    if mine["as_json"]:
        print_json(_as_data(plan, mine["difference"], mine["precision"]), indent=2)
        return
    console().print(_table(plan))
    for line in [*_notes(plan, mine["difference"]), *_precision_notes(plan, mine["precision"])]:
        say(line)


def _plan_labels(options: dict[str, Any], labels: Sequence[Path]) -> None:
    """Say how many more labels halve the intervals of runs.

    Raises:
        UsageError: Options are given that are of asking, or there are no labels.
    """
    from proctor.cli.json_output import print_json
    from proctor.jsonable import jsonable
    from proctor.runs.answer_labels import read_labels
    from proctor.runs.corrected_scores import corrections_of, label_plan
    from proctor.runs.kept_labels import kept_labels

    context = click.get_current_context()
    asking = [each for each in context.command.params if each.expose_value and each.name not in _OF_LABELS]
    if idle := [each.opts[0] for each in asking if context.get_parameter_source(each.name or "") == _TYPED]:
        raise UsageError(f"{idle[0]} has no effect of labels", why="nobody is asked", hint="leave it out")
    runs = [read_run(Path(task)) for task in options["tasks"]]
    given = read_labels(labels) if labels else kept_labels(*(run.path for run in runs))
    if not runs or given is None:
        what = "no labels are kept beside these runs" if runs else "labels are of the answers of a run"
        raise UsageError(what, hint="proctor judge label RUN draws answers; proctor plan RUN --labels FILE")
    found = corrections_of(runs, given)
    if options["as_json"]:
        print_json(jsonable(asdict(found)), indent=2)
    else:
        show("\n".join(label_plan(found)))


_OF_LABELS = ("named", "tasks", "labels", "as_json", "no_wall")
_TYPED = click.core.ParameterSource.COMMANDLINE


def _as_data(plan: RunPlan, difference: float | None, precision: float | None) -> dict[str, Any]:
    return {
        "model": plan.label,
        "discordant": plan.discordant,
        "exams": [
            {
                "exam": each.exam,
                "instances": each.instances,
                "questions": each.questions,
                "requests": each.requests,
                "from_log": each.from_log,
                "tokens_in": _bounds(each.tokens_in),
                **_cached(plan, each),
                "tokens_out": {**_bounds(each.tokens_out), "most": each.most_out, "from": each.out_from},
                "usd": None if (usd := plan.usd(each)) is None else _bounds(usd),
                "seconds": plan.seconds(each),
                "judges": {name: judge._asdict() for name, judge in each.judges.items()},
                "detectable": each.detectable if math.isfinite(each.detectable) else None,
                **({} if difference is None else {"needed": _needed(plan, each, difference)}),
                **({} if precision is None else {"questions_for_precision": _for_precision(each, precision)}),
            }
            for each in plan.exams
        ],
    }


def _cached(plan: RunPlan, each: ExamPlan) -> dict[str, Any]:
    found = {"cache_write_tokens": each.cache_written, "cached_tokens": each.cache_read}
    return {**found, "usd_saved_by_cache": plan.usd_saved(each)} if each.cache_read else {}


def _bounds(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _needed(plan: RunPlan, each: ExamPlan, difference: float) -> dict[str, Any]:
    """Return how many questions show a difference, and how often these would have to be asked where they are too few.

    Repeats take away the noise of answers alone. Were all of the difference in answers noise, K of them would do.
    """
    from proctor.statistics.paired_shares import needed_pairs

    questions = needed_pairs(difference, plan.discordant)
    return {"questions": questions, "repeats_at_least": max(1, math.ceil(questions / each.questions))}


_SCORES = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Scores for which a plan says how many questions a precision takes: one half takes the most."""


def _for_precision(each: ExamPlan, precision: float) -> dict[str, int]:
    """Return about how many questions a precision takes, by the score that comes out."""
    from proctor.running.planning import questions_to_precision

    return {f"{score:g}": questions_to_precision(precision, each.questions, score) for score in _SCORES}


def _precision_notes(plan: RunPlan, precision: float | None) -> list[str]:
    said = []
    for each in plan.exams if precision is not None else ():
        needed = _for_precision(each, precision or 0.0)
        counts = ", ".join(f"{count:,} at a score of {score}" for score, count in needed.items())
        what = f"{each.exam}: --precision {precision:g} ({100 * (precision or 0.0):g} points)"
        said.append(f"{what} asks about {counts} of {each.questions:,} questions")
    return said


def _table(plan: RunPlan) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from proctor.terminal_text import printable

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task", overflow="fold")
    for name in ("instances", "requests", "in the log", "tokens in", "tokens out", "US$", "time", "shows"):
        table.add_column(name, justify="right")
    for each in plan.exams:
        usd, seconds = plan.usd(each), plan.seconds(each)
        cells = [f"{each.instances:,}", f"{each.requests:,}", f"{each.from_log:,}"]
        cells += [_shown(each.tokens_in), "?" if each.out_from == "nothing" else _shown(each.tokens_out)]
        cells += ["?" if usd is None else _shown(usd, ".4f"), "?" if seconds is None else f"{seconds:,.0f} s"]
        cells.append(f"{100 * each.detectable:.1f} points" if math.isfinite(each.detectable) else "nothing")
        table.add_row(*map(Text, [printable(each.exam), *cells]))
    return table


def _shown(estimate: Estimate, form: str = ",.0f") -> str:
    said = f"{estimate.value:{form}}"
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return said
    return f"{said} ({estimate.low:{form}} to {estimate.high:{form}})"


_FROM = {
    "model": "from this model's answers in the log",
    "exam": "from other models' answers in the log",
    "limit": "half of what max_tokens allows, for nobody has answered yet",
    "done": "none: the log has every answer",
    "nothing": "unknown: no request has a limit, and the log has no answer",
}


def _asked(judge: JudgePlan) -> str:
    if judge.requests is None:
        return "how much shows only with answers"
    usd = "" if judge.usd is None else f", US$ {judge.usd:,.4f}"
    requests = "1 request that reads" if judge.requests == 1 else f"{judge.requests:,} requests that read"
    return f"about {requests} at least {judge.tokens_in:,.0f} tokens{usd}"


def _notes(plan: RunPlan, difference: float | None) -> list[str]:
    said = [f"{each.exam}: tokens out are {_FROM[each.out_from]}" for each in plan.exams]
    for each in plan.exams:
        if each.judges:
            asked = "; ".join(f"{name}, {_asked(judge)}" for name, judge in each.judges.items())
            said.append(f"{each.exam}: judges are asked on top, if the log has no verdicts of theirs: {asked}")
        if each.cache_read:
            usd = plan.usd_saved(each)
            less = "" if usd is None else f", which makes the exam about ${usd:,.4f} cheaper"
            line = f"{each.exam}: about {each.cache_read:,.0f} tokens are read from the provider's cache{less}"
            said.append(f"{line} (prompt_cache=off leaves it alone)")
    said.append(
        "'shows' is the smallest difference between two models that a comparison finds four times out of five, where "
        f"they differ in {plan.discordant:.0%} of their answers (--discordant)"
    )
    for each in plan.exams if difference is not None else ():
        needed = _needed(plan, each, difference or 0.0)
        line = (
            f"{each.exam}: a difference of {100 * (difference or 0.0):g} points needs {needed['questions']:,} questions"
        )
        if needed["questions"] > each.questions:
            line += (
                f" and there are {each.questions:,}: --repeats {needed['repeats_at_least']} or more helps as far as "
            )
            line += "answers to one question differ"
        said.append(line)
    return said
