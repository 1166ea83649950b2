"""``proctor same``: are two endpoints the same model?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import DONE, FAILURES, UNDECIDED
from proctor.cli.run_folders import RunFolder, warn_of_damage
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from proctor.exchange.sameness import Sameness, Span

_FOLDER = RunFolder()


@click.command("same", cls=WalledCommand)
@click.argument("first", metavar="A", type=_FOLDER)
@click.argument("second", metavar="B", type=_FOLDER)
@click.option("--baseline", type=_FOLDER, help="A asked once more: what A differs from itself by.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--fail-if-different",
    is_flag=True,
    help="Exit with 1 where an exam says that they are different, with 4 where one is undecided.",
)
def command(first: Path, second: Path, baseline: Path | None, as_json: bool, fail_if_different: bool) -> int:
    """Say whether the endpoints behind two runs are the same model.

    A and B are run folders of the same exams with the same options: a model and its quantization, two vendors, two
    versions of a server. Compared are answers to equal requests. Intervals and tests are at 99%.
    """
    from proctor.exchange.sameness import same_runs

    warn_of_damage(first, second, baseline)
    found = same_runs(first, second, baseline)
    if as_json:
        from proctor.cli.json_output import print_json

        print_json([asdict(each) for each in found], indent=2)
    else:
        for each in found:
            for line in _lines(each):
                click.echo(printable(line))
    verdicts = {each.verdict for each in found} if fail_if_different else set()
    return FAILURES if "different" in verdicts else UNDECIDED if "undecided" in verdicts else DONE


def _lines(found: Sameness) -> Iterator[str]:
    yield f"{found.exam}: {found.verdict}"
    for reason in found.reasons:
        yield f"  {reason}"
    yield f"  requests          {found.requests}" + (f" ({found.otherwise} asked otherwise)" if found.otherwise else "")
    if found.unanswered:
        yield f"  not answered      {found.unanswered} by one of them"
    if any(found.models):
        yield f"  answered by       {found.models[0] or '(not said)'}; {found.models[1] or '(not said)'}"
    if found.flips is not None:
        yield f"  flips             {found.flips[0]} to right, {found.flips[1]} to wrong (p {found.flip_p:.3g})"
    for name, value in (
        ("divergence (KL)", found.divergence),
        ("other choice", found.changed_choices),
        ("perplexity ratio", found.perplexity_ratio),
        ("equal texts", found.same_texts),
    ):
        if value is not None:
            yield f"  {name:<17} {_span(value)}"
    if found.first_difference is not None:
        yield f"  first difference  after {found.first_difference:g} words (median)"
    if found.seen:
        shown = ", ".join(f"{name.replace('_', ' ')} {value:.2g}" for name, value in found.seen.items())
        yield f"  would be seen     from {shown} (power 80%)"


def _span(span: Span) -> str:
    return f"{span.value:.4g} ({span.low:.4g} to {span.high:.4g})"
