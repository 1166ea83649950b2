"""``proctor convert``: a task in another form."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.problems import say


@click.command("convert", cls=ProctorCommand)
@click.argument("task", metavar="TASK")
@click.option("--template", help="The template to use: cloze, mcq, generate, or any other name.")
@click.option(
    "--to",
    default="proctor",
    show_default=True,
    help="proctor keeps `template:`; lm-eval writes it out in Jinja; unitxt makes a card.",
)
@click.option("--include-path", "include_paths", multiple=True, help="One more folder with task files.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
def command(task: str, template: str | None, to: str, include_paths: tuple[str, ...], output: Path | None) -> None:
    """Write an lm-eval task with another template, or for another system.

    What the other form cannot express is named on standard error.
    """
    from proctor.dialects.lm_eval.convert import convert

    made = convert(task, template=template, to=to, include_paths=include_paths)
    if output is None:
        click.echo(made.text.rstrip("\n"))
    else:
        output.write_text(made.text, encoding="utf-8")
        say(f"written to {output}")
    for reason in made.lost:
        say(f"not in the other form: {reason}")
