"""``proctor validate``: every problem of task and artifact files, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import BAD_INPUT, report, say
from proctor.cli.include_paths import include_path_option
from proctor.errors import Diagnostic, Location, ProctorError, UsageError

_MOST_SHOWN = 200  # problems for people to read, who mend the first ones first; a broken folder may have thousands


@click.command("validate", cls=WalledCommand)
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path(exists=True, path_type=Path))
@click.option("--tasks", "-t", multiple=True, metavar="NAME,…", help="Exams by their names, instead of files.")
@include_path_option()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per problem.")
@click.option(
    "--trust-code", is_flag=True, help="Code that exams bring along may be imported, to see that a run can use it."
)
def command(
    paths: tuple[Path, ...], tasks: tuple[str, ...], include_paths: tuple[str, ...], *, as_json: bool, trust_code: bool
) -> int:
    """Read task files (YAML), configs (Python) and artifacts (JSON); report every problem with file, line and hint.

    PATH is a file or a folder, of a run, too; nobody is asked, and no data is loaded of a folder's exams. Of one file,
    it says what its exams would do besides being exams (read files, ask servers, send keys), and where their data lies
    here, what its first questions cannot mean. The exit code is 2 where there are problems.
    """
    from proctor.cli.exam_options import split_names
    from proctor.running.run_files import can_be_repeated
    from proctor.settings import settings

    if trust_code:
        settings.trust_code = True
    if not paths and not tasks:
        raise UsageError("no file is named", hint="proctor validate FILE, or --tasks NAME")
    count = 0
    problems: list[Diagnostic] = []
    names = [name for text in tasks for name in split_names(text)]
    if names:
        count, problems = _check_named(names, include_paths)
    for path in paths:
        files, found = (1, _problems_of_run(path)) if can_be_repeated(path) else _check(path)
        count += files
        problems.extend(found or _refused_by_run(path))
    if as_json:
        _print_json(problems)
    elif problems:
        report(ProctorError(problems[:_MOST_SHOWN]))
        if len(problems) > _MOST_SHOWN:
            say(f"and {len(problems) - _MOST_SHOWN} more; --json shows all")
    if not count:
        raise UsageError(
            f"there is no task file in {', '.join(map(str, paths))}", hint="they end in .yaml, .py or .json"
        )
    for path in paths:
        _say_effects(path)
    say(f"{_counted(count, 'exam' if names else 'file')}, {_counted(len(problems), 'problem')}")
    return BAD_INPUT if problems else 0


def _problems_of_run(path: Path) -> list[Diagnostic]:
    """Return what keeps a run from being repeated: in its file, in the exams that it names."""
    from proctor.dialects.run_file import exams_of_spec
    from proctor.running.spec import RunSpec

    try:
        return [problem for exam in exams_of_spec(RunSpec.load(path)) for problem in exam.problems()]
    except ProctorError as error:
        return list(error.diagnostics)


def _refused_by_run(path: Path) -> list[Diagnostic]:
    """Return what a run of a config would refuse before anybody is asked: classes of its own that are not trusted."""
    from proctor.dialects.resolve import resolve_tasks

    if path.suffix != ".py" or not path.is_file():
        return []
    try:
        return [problem for exam in resolve_tasks([str(path)]) for problem in exam.problems()]
    except ProctorError:
        return []  # a config of models alone, or rows on another machine


def _say_effects(path: Path) -> None:
    """Say what the exams of a file do; what keeps it from being read is among the problems."""
    from proctor.cli.exam_notes import say_doubts, say_effects, say_idle_keys
    from proctor.dialects.resolve import resolve_tasks

    if not path.is_file():
        return
    with suppress(ProctorError):
        exams = resolve_tasks([str(path)])
        say_idle_keys(exams)
        say_effects(exams)
        say_doubts(exam for exam in exams if all(each.kind == "read" for each in exam.effects()))
    if path.suffix == ".py":
        from proctor.cli.run_config import say_idle_of_models, say_idle_sections

        with suppress(ProctorError):
            say_idle_sections(path)
            say_idle_of_models(path)


def _check_named(names: Sequence[str], include_paths: Sequence[str]) -> tuple[int, list[Diagnostic]]:
    """Return how many exams names stand for, and what is wrong with them; what is wrong with their files, too.

    Raises:
        ProctorError: A name is unknown.
    """
    from proctor.cli.exam_notes import say_effects, say_idle_keys
    from proctor.dialects.resolve import resolve_tasks
    from proctor.recipes.options import ExamOptions

    exams = list(resolve_tasks(names, ExamOptions(include_paths=tuple(include_paths))))
    found = [
        each
        for exam in exams
        for problem in exam.problems()
        for each in ProctorError([problem]).within(exam.name).diagnostics
    ]
    say_idle_keys(exams)
    say_effects(exams)
    return len(exams), found


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _check(path: Path) -> tuple[int, list[Diagnostic]]:
    """Return how many files of exams a path is or has in it, and what is wrong with them.

    A file belongs to the first dialect that takes it, the files of a folder to all that take them.
    """
    from proctor.dialects.registry import dialects

    files: set[Path] = set()
    problems: list[Diagnostic] = []
    for dialect in dialects():
        own, found = dialect.checked(path)
        problems += [each for each in found if not each.location or Path(each.location.file).resolve() not in files]
        files |= {each.resolve() for each in own}
        if own and path.is_file():
            break
    return len(files), problems


def _print_json(problems: list[Diagnostic]) -> None:
    from proctor.cli.json_output import print_json

    for each in problems:
        place = each.location or Location("")
        where = {"file": place.file, "line": place.line, "column": place.column, "path": each.path}
        print_json({"what": each.what, **where, "why": each.why, "hint": each.hint})
