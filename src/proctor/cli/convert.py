"""``proctor convert``: a task in another form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import Places, WalledCommand
from proctor.cli.completion import complete_tasks, one_of
from proctor.cli.error_reporting import say
from proctor.cli.exam_options import table_options, take_trust, trust_option
from proctor.cli.include_paths import include_path_option
from proctor.errors import OutputError, UsageError, did_you_mean
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from proctor.dialects.conversion import ConvertedExam
    from proctor.recipes.options import ExamOptions


def _forms() -> dict[str, str]:
    """Return what ``--to`` takes, each with the ending of its files."""
    from proctor.dialects.conversion import forms

    return forms()


def _written(given: Mapping[str, Any]) -> Places:
    """Return the folder that is written in: rows lie beside the file that is named."""
    output = given["output"]
    return ([output.parent if output.suffix else output] if output is not None else [], ())


@click.command("convert", cls=WalledCommand, writes=_written)
@click.argument("task", metavar="EXAM", shell_complete=complete_tasks)
@click.option("--template", help="The template to use: cloze, mcq, generate, or any other name.")
@click.option(
    "--to",
    metavar="FORM",
    default="proctor",
    shell_complete=one_of(_forms),
    show_default=True,
    help="lm-eval, unitxt, opencompass, eval.yaml: any exam, with its prompts. Of a YAML task: proctor keeps "
    "`template:`, lm-eval writes it out, card makes a Unitxt card over the task's own dataset.",
)
@include_path_option()
@table_options
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file to write (a folder for several).")
@trust_option
def command(
    task: str,
    template: str | None,
    to: str,
    include_paths: tuple[str, ...],
    output: Path | None,
    **of_table: Any,
) -> None:
    """Write an exam for another system, or with another template.

    For another system its prompts are written out, to a file of rows beside the new one, so that the
    same is asked; metrics go along by name. What the other form cannot express is named on standard error.
    """
    from proctor.recipes.options import ExamOptions

    take_trust(of_table)
    options = ExamOptions(include_paths=include_paths, template=template, **of_table)
    made = _converted(task, to, options)
    if len(made) > 1 and (output is None or output.suffix):
        raise UsageError(f"'{task}' means {len(made)} exams", hint="name a folder: --output DIR")
    for each in made:
        _write(each, output, _forms()[to], is_folder=len(made) > 1)


def _converted(task: str, to: str, options: ExamOptions) -> list[ConvertedExam]:
    from proctor.dialects.conversion import convert_exam
    from proctor.dialects.dialect import loaded
    from proctor.dialects.registry import dialects
    from proctor.dialects.resolve import resolve_task

    known = _forms()
    if to not in known:
        raise UsageError(f"there is no form '{to}'", why=f"there are {', '.join(known)}", hint=did_you_mean(to, known))
    for each in dialects():
        if to in each.convert.forms and each.convert.rewrite:
            made = loaded(each.convert.rewrite)(task, to, options)
            if made is not None:
                return [made]
    exams = resolve_task(task, options)
    if any(to in each.convert.rewritten for each in dialects()):
        raise UsageError(
            f"'{task}' is not a YAML task, and only those are written as '{to}'",
            hint="--to lm-eval, unitxt, opencompass and eval.yaml take any exam",
        )
    return [convert_exam(exam, to) for exam in exams]


_MEANS = {
    "requests": "not in the other form",
    "scores": "not in the other form",
    "elsewhere": "for Proctor only",
}


def _write_files(made: ConvertedExam, file: Path) -> None:
    from proctor.safe_files import write_for_user

    file.parent.mkdir(parents=True, exist_ok=True)
    write_for_user(file, made.text)
    say(f"written to {file}")
    if made.rows_file:
        rows = file.parent / Path(made.rows_file).name
        write_for_user(rows, made.rows_text())
        say(f"written to {rows}")
        say(f"other programs look for the rows from where they run: {file.parent}")


def _write(made: ConvertedExam, output: Path | None, ending: str, *, is_folder: bool) -> None:
    if output is None:
        text = made.text.rstrip("\n")
        click.echo(printable(text) if sys.stdout.isatty() else text)  # a file gets it as it is
        if made.rows_file:
            say(f"not written: {made.rows_file}, the rows it reads; name a file with --output")
    else:
        is_folder = is_folder or output.is_dir()
        file = output / f"{Path(made.name).name}{ending}" if is_folder else output
        try:
            _write_files(made, file)
        except OSError as error:
            raise OutputError.unwritable(str(file), error, "another --output") from None
    for reason in made.lost:
        say(f"{_MEANS[reason.part]}: {reason}")
