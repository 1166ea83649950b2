"""``proctor compare``: is the difference between two runs more than chance?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.completion import complete_runs
from proctor.cli.error_reporting import DONE, FAILURES, UNDECIDED, say
from proctor.cli.run_folders import labels_option, over_option, read_run
from proctor.errors import UsageError
from proctor.running.sweeps import is_sweep

if TYPE_CHECKING:
    from proctor.exchange.run_comparison import RunComparison
    from proctor.runs.exam_comparison import ExamComparison


@click.command("compare", cls=WalledCommand)
@click.argument("baseline", metavar="BASELINE", shell_complete=complete_runs)
@click.argument("others", nargs=-1, metavar="RUN...", shell_complete=complete_runs)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option(
    "--clusters",
    metavar="FIELD",
    help="Instances with the same value of a field belong together: errors, intervals and p are of these clusters.  "
    "[default: what the exam says]",
)
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Say a gate's verdict and exit with its code: 1 where a RUN is worse by more than chance (95%), 4 where "
    "that is undecided.",
)
@labels_option
@over_option
def command(
    *,
    baseline: str,
    others: tuple[str, ...],
    over: str | None,
    as_json: bool,
    fail_if_worse: bool,
    clusters: str | None,
    labels: tuple[Path, ...],
) -> int:
    """Compare runs with a baseline, instance by instance.

    BASELINE and RUN are run folders, or logs of lm-eval, inspect, Unitxt, OpenCompass and AISBench as proctor why reads
    them; FOLDER::EXAM is one exam of a run, to compare two prompts on the same questions.

    Differences are RUN minus BASELINE. Instances are paired by what they hold, whatever their order, prompt or engine.
    p and the interval are of one test: McNemar's exact one where answers are right or wrong, a paired t-test where
    scores are means, a paired bootstrap where a score is of the whole exam (F1, BLEU); with labels of the answers, of
    prediction-powered inference, and so are the scores. Both hold for all comparisons
    together (95%), and whatever an instance without a score would have scored. The exit code is 1 where an exam could
    not be compared. Of sweeps (proctor sweep), distributions over wordings are compared.
    """
    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.exchange.run_comparison import compared
    from proctor.runs.stored_run import is_run, load_run, runs_in

    if not others:
        path = Path(baseline)
        exams = list(load_run(path).results) if is_run(path) and not is_sweep(path) else []
        hint = runs_in(path) if path.is_dir() and not is_run(path) else "proctor compare BASELINE RUN: name two runs"
        if len(exams) > 1:
            hint += f"; or two exams of one: {baseline}::{exams[0]} {baseline}::{exams[1]}"
        raise UsageError(f"{baseline} alone is compared with nothing", hint=hint)
    if over or is_sweep(Path(baseline)):
        from proctor.cli.sweep import compare_sweeps

        if labels:
            raise UsageError("--labels is for runs, and these are sweeps", hint="leave it out")
        return compare_sweeps((baseline, *others), clusters, fail_if_worse=fail_if_worse, as_json=as_json)
    found = compared((baseline, *others), clusters, labels, read_run)
    if as_json:
        records = [{"run": run, "baseline": base, **row.record(run)} for base, run, rows in found for row in rows]
        print_json(records, indent=2)
    else:
        target = console()
        for line in _lines(found):
            target.print(line, markup=False, highlight=False, soft_wrap=True)
    if fail_if_worse:
        return _verdict(found)
    return DONE if all(row.is_compared for _, _, rows in found for row in rows) else FAILURES


def _verdict(found: Sequence[RunComparison]) -> int:
    """Say which runs are worse, or may be, in the words of ``proctor gate``; return the exit code."""
    verdicts = [(run, row) for _, run, rows in found for row in rows]
    for run, row in verdicts:
        if row.verdict == "failed":
            say(f"FAILED: {run} is worse on {row.task}")
        elif row.verdict == "undecided":
            say(f"UNDECIDED: {row.task}: {_why_undecided(row)}")
        else:
            few = ", but no difference would show: the instances are too few" if row.shows_nothing else ""
            say(f"PASSED: {run} is not worse on {row.task} by more than chance{few}")
    said = {row.verdict for _, row in verdicts}
    return FAILURES if "failed" in said else UNDECIDED if "undecided" in said else DONE


def _why_undecided(row: ExamComparison) -> str:
    if row.decision in ("higher", "lower") or (row.signs == (0, 0) and row.p_corrected is not None):
        return f"no run says whether more {row.metric or 'of its score'} is better"
    return row.why_undecided()


# -- what people read -----------------------------------------------------------------------------------------

_WIDTH = 60
"""Columns: as wide as a terminal beside an editor; longer names of folders and exams are folded."""


def _lines(found: Sequence[RunComparison]) -> Iterator[str]:
    from proctor.terminal_text import printable

    letters = {name: letter for letter, name in zip(_LETTERS, dict.fromkeys(run for _, run, _ in found), strict=False)}
    baseline = found[0][0]
    yield from _folded(f"A = {printable(baseline)}")
    for name, letter in letters.items():
        yield from _folded(f"{letter} = {printable(name)}")
    for _, run, rows in found:
        for row in rows:
            yield ""
            yield from _block(row, letters.get(run, run))
    yield from _ranking(found, letters)
    many = sum(len(rows) for _, _, rows in found)
    if many > 1:
        yield ""
        yield from _folded(f"p and intervals hold for all {many} comparisons together (Bonferroni).")


_LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZ"


def _block(row: ExamComparison, letter: str) -> Iterator[str]:
    from proctor.terminal_text import printable

    names = [printable(row.task)]
    if row.task_second not in ("", row.task):
        names = [f"A {printable(row.task)}", f"{letter} {printable(row.task_second)}"]
    for name in names:
        yield from _folded(name)
    yield from _folded(
        f"{printable(row.metric) or 'score'}{_unit(row)} on {row.n} common instance{'' if row.n == 1 else 's'}", "  "
    )
    if row.refused:
        yield from _folded(f"not compared: {printable(row.refused)}", "  ")
    elif row.difference is None:
        yield from _folded(f"not compared: {row.too_few}", "  ")
    else:
        yield from _numbers(row, letter)
    if row.alone_first or row.alone_second:
        yield from _folded(f"only in A: {row.alone_first}, only in {letter}: {row.alone_second}", "  ")
    if row.unanswered:
        yield from _folded(
            f"not scored by both: {row.unanswered}; p and interval leave it open what they would score", "  "
        )
    for note in row.notes:
        yield from _folded(printable(note), "  ")


def _ranking(found: Sequence[RunComparison], letters: dict[str, str]) -> Iterator[str]:
    """Yield the places that the runs may hold, exam by exam."""
    from proctor.terminal_text import printable

    placed = [(letters.get(run, run), row) for _, run, rows in found for row in rows if row.places is not None]
    for task in dict.fromkeys(row.task for _, row in placed):
        own = [(letter, row.places) for letter, row in placed if row.task == task]
        first = next(row.baseline_places for _, row in placed if row.task == task)
        yield ""
        yield from _folded(f"{printable(task)}: places that each may hold (95%, all together)")
        for letter, places in sorted([("A", first), *own], key=lambda each: (each[1], each[0])):
            best, worst = places or (0, 0)
            yield f"  {letter} {best if best == worst else f'{best} to {worst}':>12}"


_OF_WHOLES = ("bootstrap", "prediction-powered")
"""Tests of which no single instance says whether it is better or worse."""
_TESTS = {"mcnemar": "McNemar, exact", "t": "paired t", "equal": "all equal, exact", "sign": "sign test"}


def _numbers(row: ExamComparison, letter: str) -> Iterator[str]:
    from proctor.results.comparison import p_text
    from proctor.results.summary import shown

    yield from _folded(row.sentence(letter), "  ")
    yield f"  A {shown(row.first):>12}"
    yield f"  {letter} {shown(row.second):>12}"
    yield f"  {letter} - A {_signed(row.difference):>8}   {_interval(row)}"
    test = _TESTS.get(row.test, f"paired {row.test}")
    yield f"  p {p_text(row.p_corrected if row.p_corrected is not None else row.p):>12}   {test}"
    if row.test not in _OF_WHOLES:
        yield f"  {row.better} better, {row.worse} worse, {row.n - row.better - row.worse} equal"
    if row.shows_nothing:
        yield "  no difference would show: the instances are too few (power 80%)"
    elif row.detectable is not None:
        yield f"  differences from {shown(row.detectable)} on would show (power 80%)"


def _interval(row: ExamComparison) -> str:
    if row.low is None or row.high is None:
        return "no interval: all differences are equal"
    return f"95% {_signed(row.low)} to {_signed(row.high)}"


def _unit(row: ExamComparison) -> str:
    from proctor.results.summary import UNITS

    unit = UNITS.get(row.unit, "")
    return f" ({unit})" if unit else ""


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"


def _folded(text: str, indent: str = "") -> Iterator[str]:
    from textwrap import wrap

    yield from wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False) or [
        indent
    ]
