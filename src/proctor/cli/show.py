"""``proctor show``: the requests that would be sent, coloured by where each part comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.completion import complete_tasks
from proctor.cli.error_reporting import say
from proctor.cli.exam_notes import say_doubts, say_effects, say_what_has_no_effect
from proctor.cli.exam_options import exam_options, find_exams, split_names
from proctor.errors import UsageError
from proctor.wall import standing

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam, Question


@click.command("show", cls=WalledCommand)
@click.argument("tasks", nargs=-1, metavar="EXAM...", shell_complete=complete_tasks)
@click.option(
    "--docs", "-n", default=1, show_default=True, type=click.IntRange(min=1), metavar="N", help="Instances to show."
)
@click.option(
    "--skip", default=0, show_default=True, type=click.IntRange(min=0), metavar="N", help="Instances to skip first."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per request, exactly as it would be sent.")
@click.option("--steps", is_flag=True, help="How rows become prompts: each step, with counts and one row.")
@click.option("--fingerprint", is_flag=True, help="What the exam is made of, in digests; reads all of its rows.")
@exam_options
def command(
    tasks: tuple[str, ...], docs: int, skip: int, as_json: bool, steps: bool, fingerprint: bool, **options: Any
) -> None:
    """Show the requests that would be sent, part by part.

    EXAM is anything that `proctor run` takes: the name of an exam, a recipe (card=…,template=…), a file.
    """
    if as_json + steps + fingerprint > 1 and not (as_json and fingerprint):
        raise UsageError("--steps cannot be combined with --json or --fingerprint", hint="each shows something else")
    names = [name for text in tasks for name in split_names(text)]
    exams = find_exams(names, options)
    say_what_has_no_effect(exams)
    say_effects(exams)
    if not as_json and (wall := standing()) is not None:
        say(f"behind the wall: {wall}")
    _say_what_a_run_refuses(names, exams)
    say_doubts(exams)
    if fingerprint:
        _print_fingerprints(exams, as_json=as_json)
        return
    if steps:
        from proctor.cli.steps import print_steps

        print_steps(exams)
        return
    if as_json:
        from proctor.cli.json_output import print_json
        from proctor.prompts.preview import request_record

        for exam in exams:
            for question in _questions(exam, docs, skip):
                for request in question.requests:
                    print_json(request_record(exam.name, question, request))
        return

    print_requests(exams, sys.stdout, docs, skip)


def _say_what_a_run_refuses(names: Iterable[str], exams: Iterable[Exam]) -> None:
    """Say what keeps exams from being run or scored, and models of their files from being asked."""
    from proctor.cli.error_reporting import say

    found = [problem for exam in exams for problem in exam.problems()]
    if configs := {Path(file) for name in names if (file := name.partition("::")[0]).endswith(".py")}:
        from proctor.dialects.aisbench.validate import problems_of_models

        found += [problem for path in configs if path.is_file() for problem in problems_of_models(path)]
    for text in dict.fromkeys(map(str, found)):
        say(f"note: proctor run refuses this: {text}")


def _print_fingerprints(exams: Iterable[Exam], *, as_json: bool) -> None:
    """Print the layers of each exam, all but the engine's: nobody is asked."""
    from proctor.cli.error_reporting import show
    from proctor.cli.json_output import print_json
    from proctor.recipes.fingerprint import FingerprintMaker

    for exam in exams:
        maker = FingerprintMaker()
        for question in exam.questions():
            maker.add(question)
        layers = {name: digest for name, digest in maker.made(exam.definition).to_dict().items() if digest}
        if as_json:
            print_json({"task": exam.name, **layers})
            continue
        show("\n".join((exam.name, *(f"  {name:<10} {digest}" for name, digest in layers.items()))))


def _questions(exam: Exam, docs: int, skip: int) -> Iterator[Question]:
    """Yield the questions to show; say which of them cannot be asked, and where there are fewer than were wanted."""
    from proctor.cli.error_reporting import say
    from proctor.prompts.preview import first_questions

    found = 0
    for question in first_questions(exam, docs, skip):
        found += 1
        if question.failure is not None:
            say(f"{exam.name} · instance {question.number} cannot be asked about: {question.failure.message}")
        yield question
    if not found:
        say(f"{exam.name} has no instance after the first {skip}")
    elif found < docs:
        say(f"{exam.name} has {skip + found:,} instances, and no more")


def print_requests(exams: Iterable[Exam], stream: TextIO, docs: int = 1, skip: int = 0) -> None:
    """Print the requests of the first instances of exams, part by part."""
    from proctor.cli.error_reporting import say
    from proctor.cli.prompts import RequestPrinter

    printer = RequestPrinter(stream)
    for exam in exams:
        questions = list(_questions(exam, docs, skip))
        if exam.seed is not None:
            say(f"{exam.name} draws with seed {exam.seed}{'' if exam.options.seed is not None else ', its own'}")
        if questions:
            printer.legend(request for question in questions for request in question.requests)
        for question in questions:
            for request in question.requests:
                printer.print(exam.name, question, request)
