"""``proctor why``: at which layer two runs part, and what each layer explains of the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.completion import complete_files
from proctor.cli.run_folders import warn_of_damage
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from proctor.exchange.observed import ObservedExam
    from proctor.exchange.why import Explanation, Part


@click.command("why", cls=WalledCommand)
@click.argument("first", metavar="A", shell_complete=complete_files)
@click.argument("second", metavar="B", shell_complete=complete_files)
@click.option(
    "--show",
    "shown",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Instances of a layer.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(first: str, second: str, shown: int, as_json: bool) -> int:
    """Say why the scores of A and B differ.

    A and B are run folders, or files that others wrote: lm-eval's samples_*.jsonl (or their folder), predictions of
    OpenCompass and AISBench, results of Unitxt, logs of inspect (.eval, .json), records of Every Eval Ever.
    PLACE::EXAM is one exam of several.

    Instances pass layers: rows, prompt, decoding, engine, answer, failure, extraction, metric, weights. The first one
    in which a pair differs explains its difference in score; together they explain the whole. The exit code is 0 in any
    case.
    """
    from proctor.exchange.readers import observed
    from proctor.exchange.why import explain

    warn_of_damage(first, second)
    pairs = _pairs(first, observed(first), second, observed(second))
    found = [explain(one, two, shown) for one, two in pairs]
    if as_json:
        from proctor.cli.json_output import print_json

        print_json([_record(each) for each in found], indent=2)
    else:
        for each in found:
            for line in _lines(each):
                click.echo(printable(line))
    return 0


def _pairs(
    first: str, ones: list[ObservedExam], second: str, twos: list[ObservedExam]
) -> list[tuple[ObservedExam, ObservedExam]]:
    """Return which exams are compared: the only ones, else those of one name.

    Raises:
        UsageError: No two have one name.
    """
    from proctor.errors import UsageError
    from proctor.exchange.readers import single

    if len(ones) == 1 and len(twos) == 1:
        return [(ones[0], twos[0])]
    named = {each.name: each for each in twos}
    found = [(each, named[each.name]) for each in ones if each.name in named]
    if found:
        return found
    if 1 in (len(ones), len(twos)):
        return [(single(ones, first), single(twos, second))]
    mine, theirs = (", ".join(each.name for each in side) for side in (ones, twos))
    why = f"{first} has {mine}; {second} has {theirs}"
    raise UsageError("the two have no exam of one name", why=why, hint="PLACE::EXAM names one")


# -- words --------------------------------------------------------------------------------------------------------


def _lines(found: Explanation) -> Iterator[str]:
    from proctor.exchange.why import LAYERS

    one, two = found.first, found.second
    yield f"{one.name} ({one.system}) and {two.name} ({two.system})"
    yield f"  {_scores(found)}"
    yield f"  {found.pairs} instances in both, {found.alone[0]} only in the first, {found.alone[1]} only in the second"
    for note in found.notes:
        yield f"  note: {note}"
    if found.layer is None:
        yield "  no instance differs" if found.notes else "  nothing differs"
        return
    yield f"  they part first in the {LAYERS[found.layer]}"
    yield ""
    yield "  layer        instances   explains"
    for part in found.parts.values():
        yield f"  {part.layer:<12} {part.count:>9}   {_signed(part.explained, found)}"
    for part in found.parts.values():
        yield from _examples(part)


def _scores(found: Explanation) -> str:
    names = found.metrics[0] if found.metrics[0] == found.metrics[1] else " and ".join(found.metrics)
    if found.difference is None:
        return f"{names or 'scores'}: one of the files has no scores of instances"
    one, two = found.means
    text = f"{names}: {one:.4f} and {two:.4f}, difference {found.difference:+.4f}"
    for exam, mean in ((found.first, one), (found.second, two)):
        if exam.score is not None and mean is not None and abs(exam.score - mean) > 1e-3:  # noqa: PLR2004 - rounding
            text += f" (means of instances; {exam.system} reports {exam.score:.4f})"
    return text


def _signed(value: float, found: Explanation) -> str:
    return "-" if found.difference is None else f"{value:+.4f}"


def _examples(part: Part) -> Iterator[str]:
    from proctor.exchange.marked import marked

    for each in part.examples:
        numbers = " / ".join("-" if number is None else str(number) for number in (each.first, each.second))
        scores = " / ".join("-" if score is None else f"{score:g}" for score in (each.score_before, each.score_after))
        before, after = marked(each.before, each.after)
        yield ""
        yield f"  {part.layer}, instance {numbers}, scores {scores}"
        yield f"    A {before}"
        yield f"    B {after}"


def _record(found: Explanation) -> dict[str, Any]:
    return {
        "first": {"exam": found.first.name, "system": found.first.system, "score": found.first.score},
        "second": {"exam": found.second.name, "system": found.second.system, "score": found.second.score},
        "metrics": found.metrics,
        "means": found.means,
        "difference": found.difference,
        "layer": found.layer,
        "layers": [asdict(part) for part in found.parts.values()],
        "pairs": found.pairs,
        "alone": found.alone,
        "notes": found.notes,
    }
