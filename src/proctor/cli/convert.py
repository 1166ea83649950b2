"""``proctor convert``: a task in another form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.error_reporting import say
from proctor.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from proctor.dialects.aisbench.convert import ConvertedConfig
    from proctor.recipes.exam import Exam
    from proctor.recipes.options import ExamOptions


@click.command("convert", cls=ProctorCommand)
@click.argument("task", metavar="TASK")
@click.option("--template", help="The template to use: cloze, mcq, generate, or any other name.")
@click.option(
    "--to",
    default="proctor",
    show_default=True,
    help="proctor keeps `template:`; lm-eval writes it out; unitxt makes a card or recipe; opencompass a config.",
)
@click.option("--include-path", "include_paths", multiple=True, help="One more folder with task files.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file to write (a folder for several).")
@click.option("--trust-code", is_flag=True, default=None, help="Run the Python that exams bring along.")
def command(
    task: str,
    template: str | None,
    to: str,
    include_paths: tuple[str, ...],
    output: Path | None,
    trust_code: bool | None,
) -> None:
    """Write a task with another template, or for another system.

    TASK is an lm-eval task or an OpenCompass config; with --to opencompass any exam. Rows that the other form cannot
    load itself are written beside the file. What it cannot express is named on standard error.
    """
    if trust_code:
        from proctor.settings import settings

        settings.trust_code = True
    made = _converted(task, template, to, include_paths)
    if len(made) > 1 and (output is None or output.suffix):
        raise UsageError(f"'{task}' means {len(made)} exams", hint="name a folder: --output DIR")
    for each in made:
        _write(each, output, ENDINGS.get(to, ".yaml"), is_folder=len(made) > 1)


ENDINGS = {"unitxt": ".json", "opencompass": ".py"}


FORMS = ("proctor", "lm-eval", "unitxt", "opencompass")
"""What ``--to`` takes."""


def _converted(task: str, template: str | None, to: str, include_paths: tuple[str, ...]) -> list[ConvertedConfig]:
    from proctor.dialects.aisbench.convert import ConvertedConfig, convert_dataset, convert_to_config
    from proctor.dialects.aisbench.resolve import resolve_name
    from proctor.dialects.lm_eval.convert import convert
    from proctor.dialects.resolve import resolve_task
    from proctor.recipes.options import ExamOptions

    if to not in FORMS:
        raise UsageError(f"there is no form '{to}'", why=f"there are {', '.join(FORMS)}", hint=did_you_mean(to, FORMS))
    options = ExamOptions(include_paths=include_paths, template=template if to == "opencompass" else None)
    if to == "opencompass":
        found = [convert_to_config(exam) for exam in resolve_task(task, options)]
    elif (exams := _datasets(task, options, resolve_name)) is not None:
        if template is not None:
            raise UsageError("datasets of configs have one template each", hint="leave --template out")
        found = [convert_dataset(exam, to) for exam in exams]
    else:
        done = convert(task, template=template, to=to, include_paths=include_paths)
        return [ConvertedConfig(task, done.text, lost=done.lost)]
    return found


def _datasets(task: str, options: ExamOptions, resolve: Callable[..., list[Exam] | None]) -> list[Any] | None:
    """Return the datasets of a config; ``None`` where an lm-eval task has the name, or nothing has."""
    from proctor.dialects.lm_eval.resolve import resolve_name as lm_eval_name

    if not task.endswith(".py") and "/" not in task and lm_eval_name(task, options) is not None:
        return None
    return resolve(task, options)


def _write(made: ConvertedConfig, output: Path | None, ending: str, *, is_folder: bool) -> None:
    if output is None:
        click.echo(made.text.rstrip("\n"))
        if made.rows_file:
            say(f"not written: {made.rows_file}, the rows it reads; name a file with --output")
    else:
        is_folder = is_folder or output.is_dir()
        file = output / f"{made.name}{ending}" if is_folder else output
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made.placed(file.parent) if made.rows_file else made.text, encoding="utf-8")
        say(f"written to {file}")
        if made.rows_file:
            (file.parent / made.rows_file).write_text(made.rows_text(), encoding="utf-8")
            say(f"written to {file.parent / made.rows_file}")
    for reason in made.lost:
        say(f"not in the other form: {reason}")
