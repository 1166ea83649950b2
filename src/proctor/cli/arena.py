"""``proctor arena``: strengths of models from verdicts on pairs of answers."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import show


@click.command("arena", cls=WalledCommand)
@click.argument("places", nargs=-1, required=True, metavar="FILE|RUN...", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--people", metavar="JUDGE", help="Whose verdicts, on pairs drawn at random, correct those of the others."
)
@click.option("--json", "as_json", is_flag=True, help="Print the strengths as JSON.")
def command(places: tuple[Path, ...], people: str | None, as_json: bool) -> None:
    """Rank models by battles of two: Bradley and Terry's strengths, with ties, and judges weighed by what they tell.

    FILE is a table with model_a, model_b and winner (model_a, model_b, tie, or a name), and perhaps judge and question;
    RUN is a run whose judge compared answers in pairs. 400 points are odds of ten to one. Battles about one question
    depend on each other; places are those that each model may hold (95%, all together). With --people NAME, they are
    those that people's verdicts on all pairs would give: NAME is in the column judge of a table with theirs.
    """
    from dataclasses import asdict

    from proctor.cli.json_output import print_json
    from proctor.cli.report_labels import markdown_tables
    from proctor.runs.answer_labels import LABELS
    from proctor.runs.arena import arena_of, arena_tables, battles_of

    found = arena_of([battle for place in places for battle in battles_of(place)], people)
    told = "not used are its labels, which are of answers and not of pairs; --people takes verdicts on pairs"
    found.notes.extend(f"{place}: {told}" for place in places if (place / LABELS).is_file())
    if as_json:
        print_json(asdict(found), indent=2)
    else:
        show("\n".join([*markdown_tables(arena_tables(found)), "", *(f"- {each}" for each in found.notes)]))
