"""Reports a finished run: its scores, the caveats to read them with, and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from proctor.cli.error_reporting import FAILURES, say, show, warn

if TYPE_CHECKING:
    from proctor.cli.thresholds import Threshold
    from proctor.results.summary import ScoreRow
    from proctor.running.run import RunResult

_FINAL = frozenset({"thinking", "truncated", "content_filter"})
_OF_GRADING = frozenset({"scoring", "metric", "criteria", "missing_field", "no_reference"})
_INSTEAD = (
    (_FINAL, "asking the same again would end the same"),  # they are answers of a kind, and in the log
    (frozenset({"row"}), "nobody can be asked about these rows before they, or the exam, are mended"),
    (frozenset({"budget"}), "the same command with a larger budget asks what is left"),
    (_FINAL | _OF_GRADING, "nobody is asked again: all answers are in the log"),
)
"""What is said of failures of some kinds in place of a command that would ask nobody."""


def conclude(
    result: RunResult,
    *,
    allow_failures: bool,
    every_score: bool,
    as_json: bool,
    thresholds: Sequence[Threshold] = (),
    wants_scores: bool = True,
) -> int:
    """Print the results of a run; return the exit code."""
    from proctor.results.summary import failure_notes, noise_notes, sample_notes, score_rows

    rows = list(score_rows(result.results, every_score=every_score))
    if result.stopped is not None:
        warn(f"stopped: {result.stopped}; not everything was asked, and the scores are of what was")
        warn("  hint: the same command with a larger budget goes on; a smaller max_tokens makes one request cost less")
    _print_scores(result, rows, as_json=as_json)
    for note in [*sample_notes(result.results), *noise_notes(result.results)]:
        say(note)
    ungraded = (
        [
            each.task
            for each in rows
            if not each.is_graded and not each.metric_failures and not 0 < each.asked <= each.failures
        ]
        if wants_scores
        else []
    )
    for name in (each for each in ungraded if "error" not in result.results.get(each, {})):  # that is said below
        say(f"note: nothing scores the answers to {name}: it has no metric of its own; --metric NAME is one")
    if result.output is not None:
        say(f"run folder: {result.output}")
    if cost := _cost(result.run):
        say(f"cost of this run at list prices: {cost}")
    if damaged := result.run.get("requests", {}).get("damaged"):
        warn(f"warning: {damaged} damaged entries of the response log count as absent, and were asked again")
        warn(f"  hint: proctor log verify --log {quote(result.run['log'])} says more")
    if others := result.run.get("requests", {}).get("writers"):
        say(f"note: answers of other writers were used from the response log, by their keys: {', '.join(others)}")
    has_failed = _say_failures(result, failure_notes(rows))
    is_broken = _say_broken(result)
    too_low = _too_low(result, thresholds)
    return FAILURES if result.stopped or is_broken or (has_failed and not allow_failures) else too_low


def _cost(run: Mapping[str, Any]) -> str:
    """Return what a run's requests cost, by who was asked; nothing where that is nothing, or no price is known."""
    from proctor.running.budget import dollars

    asked = [(run["engine"]["label"], run["cost"])] if "cost" in run else []
    asked += [(label, counts) for label, counts in run.get("judges", {}).items() if counts["asked"]]
    if not any(each.get("usd_of_this_run") for _, each in asked):
        return ""
    said = []
    for label, each in asked:
        usd = each.get("usd_of_this_run")
        bound = next(
            (f"{word} " for word in ("at most", "at least", "about") if each.get(f"usd_is_{word.replace(' ', '_')}")),
            "",
        )
        said.append(f"{label} {'of unknown price' if usd is None else bound + dollars(usd)}")
    return ", ".join(said)


def _print_scores(result: RunResult, rows: Sequence[ScoreRow], *, as_json: bool) -> None:
    """Print the scores as a table or as JSON, and what has to be known to read them."""
    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.cli.tables import score_table
    from proctor.results.summary import cluster_notes, ending_notes, group_notes, rows_of_groups
    from proctor.scoring.judges.judged import JUDGED, notes_of

    notes = [*ending_notes(rows), *group_notes(result.results), *cluster_notes(result.results)]
    notes += [note for entry in result.results.values() for note in notes_of(entry.get(JUDGED))]
    told = "judgements without a verdict, which count as the evaluator says (--retry-verdicts asks again)"
    notes += [f"{name}: {told}: {len(grade.unread):,}" for name, grade in result.grades.items() if grade.unread]
    if as_json:
        print_json(result.results, indent=2)
        for note in notes:
            warn(f"note: {note}")
        return
    target = console()
    target.print(score_table(rows, rows_of_groups(result.results), width=target.width))
    for note in notes:
        show(note)


def _say_failures(result: RunResult, notes: Sequence[str]) -> bool:
    """Say which instances failed and why; return whether one did."""
    from proctor.results.summary import first_failures
    from proctor.scoring.judges.verdicts import UNREAD

    for note in notes:
        warn(f"warning: {note}")
    firsts = first_failures(result.grades.values())
    for kind, message in firsts.items():
        warn(f"  {kind}: {message}")
    if notes:
        instead = next((said for kinds, said in _INSTEAD if firsts and kinds.issuperset(firsts)), "")
        more = " --retry-verdicts" if UNREAD.intersection(firsts) else ""
        again = f"{_again(result, without='--keep-failed')}{' with' if more and result.output is None else ''}{more}"
        told = f"to ask again, judges too: {again}" if more else f"to ask again what failed: {again}"
        warn(instead or told if result.output is None else f"samples.jsonl has the reasons; {instead or told}")
    return bool(notes)


def _say_broken(result: RunResult) -> bool:
    """Say which exams could not be graded; return whether one could not."""
    broken = [name for name, entry in result.results.items() if "error" in entry]
    for name in broken:
        warn(f"warning: {name} could not be graded: {result.results[name]['error']}")
    if broken:
        warn(f"its answers are kept; to grade again: {_again(result)}")
    return bool(broken)


def _again(result: RunResult, *, without: str = "") -> str:
    from proctor.cli.going_on import command_again

    return "the same command" if result.output is None else command_again(result.output, without=without)


def _too_low(result: RunResult, thresholds: Sequence[Threshold]) -> int:
    if not thresholds:
        return 0
    from proctor.cli.thresholds import verdict

    return verdict(thresholds, result.results)
