"""``proctor log``: looks after the response log."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import SETTINGS, ProctorCommand
from proctor.cli.error_reporting import FAILURES, TROUBLE, say, show, wants_colour
from proctor.cli.log_option import LOG, LogPlace
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from proctor.running.log import ResponseLog
    from proctor.running.maintenance import LoggedResponse

_SECONDS_PER_DAY = 86_400  # the log counts in seconds, --older-than in days
_MOST_NAMED = 10  # faults, and damaged entries: a screen; whoever has more salvages the log
_ORDINARY = ("", "stop")  # how nearly every answer ends, which is not worth a line
_WIDEST_TEXT = 300  # characters of an answer in a listing: three or four lines of a terminal

_where = click.option(
    "--log", "--use-cache", "path", type=LOG, help="The log: a file, or postgresql://…  [default: yours]"
)
_whose = click.option("--engine", "-e", help="Label of an engine, or the beginning of its identity (proctor log ls).")


@click.group("log", context_settings=SETTINGS, no_args_is_help=True)
def command() -> None:
    """Look after the response log: every answer a model ever gave."""


@command.command("ls", cls=ProctorCommand)
@_where
@click.option("--json", "as_json", is_flag=True, help="One JSON object per engine.")
def _ls(path: Path | str | None, as_json: bool) -> None:
    """List the engines that have answered, and how often."""
    from proctor.running.maintenance import engines

    with _open(path, read_only=True) as log:
        found = engines(log)
        where, size = log.path, log.stats().size_bytes
    if as_json:
        _print_json_lines([asdict(each) for each in found])
        return
    say(f"{where}, {size / 1e6:,.1f} MB")
    for each in found:
        since = datetime.fromtimestamp(each.created, UTC).date()
        failed = f", {each.failures:,} failures" if each.failures else ""
        show(f"{each.identity[:8]}  {each.label:<30}  {each.responses:>10,} answers{failed}, since {since}")


@command.command("show", cls=ProctorCommand)
@_where
@_whose
@click.option("--request", default="", metavar="KEY", help="Only requests whose key begins so.")
@click.option("--failures", is_flag=True, help="Show what failed instead of what was answered.")
@click.option("--set-aside", is_flag=True, help="Show earlier answers that were asked anew (run --refresh).")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", default=10, show_default=True, help="Most entries to show."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per entry.")
def _show(path: Path | str | None, as_json: bool, limit: int, **which: Any) -> None:
    """Show what is in the log."""
    from proctor.errors import UsageError
    from proctor.running.maintenance import entries

    if which["failures"] and which["set_aside"]:
        raise UsageError(
            "--failures and --set-aside are both given", why="they are shown one by one", hint="leave one out"
        )
    table: Any = "failures" if which["failures"] else "superseded" if which["set_aside"] else "responses"

    with _open(path, read_only=True) as log:
        found = islice(entries(log, which["engine"], which["request"].lower(), table=table), limit)
        if as_json:
            _print_json_lines([each.to_dict() for each in found])
            return
        for each in found:
            _print_entry(each)


@command.command("export", cls=ProctorCommand)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@_where
@_whose
def _export(target: Path, path: Path | str | None, engine: str | None) -> None:
    """Write the log to TARGET, a .parquet or .jsonl file."""
    from proctor.running.log_export import export

    with _open(path, read_only=True) as log:
        say(f"{export(log, target, engine):,} entries written to {target}")


@command.command("gc", cls=ProctorCommand)
@_where
@_whose
@click.option("--older-than", type=click.FloatRange(0), metavar="DAYS", help="Only what was written before.")
@click.option("--failures", is_flag=True, help="Only failures; answers are kept.")
@click.option("--all", "everything", is_flag=True, help="Every entry; needed where nothing else is chosen.")
@click.option("--dry-run", is_flag=True, help="Count what would go, remove nothing.")
def _gc(path: Path | str | None, dry_run: bool, everything: bool, **which: Any) -> None:
    """Remove entries and give their space back. What is removed has to be asked again."""
    from proctor.errors import UsageError
    from proctor.running.maintenance import collect, compact

    age = which["older_than"]
    if not (which["engine"] or which["failures"] or age is not None or everything):
        raise UsageError(
            "nothing says what to remove", hint="add --engine NAME, --older-than DAYS, --failures or --all"
        )
    with _open(path, read_only=False) as log:
        seconds = (age or 0) * _SECONDS_PER_DAY
        removed = collect(
            log, which["engine"], older_than_seconds=seconds, only_failures=which["failures"], dry_run=dry_run
        )
        if dry_run:
            say(f"{removed:,} entries would be removed")
            return
        say(f"{removed:,} entries removed, {compact(log) / 1e6:,.1f} MB freed")


@command.command("verify", cls=ProctorCommand)
@_where
@click.option("--drop", "drop_damaged", is_flag=True, help="Remove damaged entries: they are asked again.")
@click.option("--salvage", metavar="FILE", type=click.Path(path_type=Path), help="Copy what is sound to a new log.")
def _verify(path: Path | str | None, drop_damaged: bool, salvage: Path | None) -> int:
    """Check the log's structure, and every entry against its digest."""
    from proctor.running import maintenance

    with _open(path, read_only=not drop_damaged) as log:
        found = maintenance.verify(log)
        damaged = len(found.damaged) + len(found.damaged_failures) + len(found.damaged_aside)
        say(f"{found.entries:,} answers read, {damaged:,} damaged, {len(found.faults):,} faults of the file")
        for line in (*found.faults[:_MOST_NAMED], *found.names[:_MOST_NAMED]):
            say(f"  {printable(line)}")
        if len(found.names) > _MOST_NAMED:
            say(f"  and {len(found.names) - _MOST_NAMED:,} more damaged entries")
        if found.unsealed:
            say(f"{found.unsealed:,} answers of an earlier version have no digest: they can be read, no more is known")
        if salvage is not None:
            say(f"{maintenance.salvage(log, salvage):,} answers saved to {salvage}")
        elif damaged and drop_damaged:
            maintenance.drop(log, found)
            say(f"{damaged:,} damaged entries removed")
        elif found.faults:
            say("  hint: proctor log verify --salvage NEW.db copies what can be read")
        elif damaged:
            say("  hint: proctor log verify --drop removes the damaged entries, so that they are asked again")
        if found.forged:
            say(f"{found.forged:,} of the damaged say that your key filed them, and do not have its digest: forged")
    return TROUBLE if found.forged else 0 if found.is_sound else FAILURES


@command.command("merge", cls=ProctorCommand)
@click.argument("sources", nargs=-1, required=True, type=LogPlace(exists=True, dir_okay=False, path_type=Path))
@_where
def _merge(sources: tuple[Path | str, ...], path: Path | str | None) -> int:
    """Copy the answers of other logs into yours, as processes that shared nothing filed them (run --shard).

    An answer that is there already stays; one that differs is counted, and the exit code is then 1. The marks of
    their writers stay with the answers: those of other users count once you trust them (proctor log trust).
    """
    from proctor.errors import UsageError
    from proctor.running.maintenance import merge

    differing = 0
    with _open(path, read_only=False) as log:
        for each in sources:
            if os.path.realpath(each) == os.path.realpath(log.path):
                raise UsageError(f"{each} is the log that the others are merged into", hint="leave it out")
            with _open(each, read_only=True) as source:
                found = merge(log, source)
            differing += found.differing
            differs = f", {found.differing:,} there with other words" if found.differing else ""
            say(f"{each}: {found.new:,} answers are new, {found.known:,} were there{differs}")
    return FAILURES if differing else 0


@command.command("trust", cls=ProctorCommand)
@click.argument("log", type=LogPlace(exists=True, dir_okay=False, path_type=Path))
def _trust(log: Path | str) -> None:
    """Use what the writers of LOG filed, in your own log, too, from now on.

    Each answer carries the id of its writer's key. Answers of others are used from a log that --log names, and else
    only where you trust their writer.
    """
    from proctor.running.maintenance import verify
    from proctor.running.writers import id_of, trust
    from proctor.state import secret

    with _open(log, read_only=True) as opened:
        found = verify(opened)
    others = [each for each in found.writers if each not in ("", id_of(secret()).hex())]
    trust(others, opened.name)
    say(f"trusted from now on: {', '.join(others)}" if others else f"{log} has no answers of other writers")


def _beginning(text: str) -> str:
    return text if len(text) <= _WIDEST_TEXT else f"{text[: _WIDEST_TEXT - 1]}…"


def _open(path: Path | str | None, *, read_only: bool) -> ResponseLog:
    from proctor.running.log import ResponseLog

    return ResponseLog(path, read_only=read_only, trusts_all=True)


def _print_json_lines(rows: list[dict[str, Any]]) -> None:
    from proctor.cli.json_output import print_json
    from proctor.jsonable import jsonable

    for row in rows:
        print_json(jsonable(row))


def _print_entry(each: LoggedResponse) -> None:
    response, colour = each.response, wants_colour(sys.stdout)
    at = datetime.fromtimestamp(each.at, UTC).isoformat(sep=" ", timespec="seconds")
    head = printable(f"{each.request}.{each.repeat}  {each.engine}  {at[:19]}")
    click.echo(click.style(head, dim=True), color=colour)
    if response.failure is not None:
        show(f"  {response.failure.kind}: {response.failure.message}")
    for thought in filter(None, response.thoughts):
        click.echo(click.style(f"  thinking: {printable(_beginning(thought))}", dim=True), color=colour)
    for text in response.texts:
        show(f"  {_beginning(text)}")
    if ends := [reason for reason in response.finish_reasons if reason not in _ORDINARY]:
        click.echo(click.style(f"  ended by: {printable(', '.join(ends))}", dim=True), color=colour)
    if response.scores:
        click.echo("  " + "  ".join(f"{scored.log_likelihood:.4f}" for scored in response.scores))
