"""The program ``proctor``: finds the command, runs it, and turns every error into a message and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from proctor import effects, secrets
from proctor.cli.commands import PROGRAM, SETTINGS, LazyGroup, translated
from proctor.cli.error_reporting import (
    BROKEN_PIPE,
    INTERNAL,
    INTERRUPTED,
    TROUBLE,
    abandon_output,
    exit_code_of,
    report,
    report_unexpected,
    warn,
)
from proctor.errors import ProctorError, extras_named
from proctor.garbage import collect_seldom
from proctor.settings import idle_variables
from proctor.terminal_text import printable

COMMANDS = {
    "Give exams": {
        "run": ("proctor.cli.run", "Let a model sit exams, and print its scores."),
        "evaluate": ("proctor.cli.evaluate", "Score predictions that are there already."),
        "sweep": ("proctor.cli.sweep", "Ask an exam in many wordings, and say how much of its score they are."),
        "plan": ("proctor.cli.plan", "Say what a run would take, and what its scores could show."),
        "gate": ("proctor.cli.gate", "Pass or fail a model with as few questions as that takes."),
    },
    "Look at exams": {
        "ls": ("proctor.cli.ls", "List exams and artifacts."),
        "show": ("proctor.cli.show", "Show the requests that would be sent, part by part."),
        "validate": ("proctor.cli.validate", "Report every problem of task and artifact files."),
        "convert": ("proctor.cli.convert", "Write an exam for another system, or with another template."),
        "get": ("proctor.cli.get", "Fetch the exams of lm-eval, OpenCompass, AISBench or Unitxt."),
    },
    "Look at results": {
        "view": ("proctor.cli.view", "Open the explorer and the run viewer in the browser."),
        "compare": ("proctor.cli.compare", "Compare runs, instance by instance."),
        "arena": ("proctor.cli.arena", "Rank models by verdicts on pairs of answers."),
        "why": ("proctor.cli.why", "Say why two scores differ."),
        "contamination": ("proctor.cli.contamination", "Say whether a model knows an exam in its published order."),
        "same": ("proctor.cli.same", "Say whether two endpoints are the same model."),
        "report": ("proctor.cli.report", "Write scores as HTML, Markdown, CSV, Parquet or LaTeX."),
        "judge": ("proctor.cli.judge", "Let people label answers, to correct what a judge says."),
        "export": ("proctor.cli.export", "Write a run for other programs: inspect, lm-eval, MLflow …"),
        "import": ("proctor.cli.import_run", "Read a record of Every Eval Ever as a run folder."),
    },
    "Look after this machine": {
        "doctor": ("proctor.cli.doctor", "Say what works here, and how to install the rest."),
        "log": ("proctor.cli.log", "Look after the response log: list, show, export, thin out, check."),
        "completion": ("proctor.cli.completion", "Print what completes models and exams in bash, zsh or fish."),
    },
}


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"proctor {version('proctor')}")
    except PackageNotFoundError:
        click.echo("proctor (not installed: running from its source)")
    context.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings=SETTINGS,
    epilog="Try: proctor run samples --model smollm2",
    no_args_is_help=True,
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Say which version this is.",
)
def proctor() -> None:
    """Proctor gives language models exams."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (see :mod:`proctor.cli.error_reporting`)."""
    collect_seldom()
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    secrets.keep_environment()
    with effects.session(), _warnings_for_terminals():
        code = _run(given, is_program=arguments is None)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_output()
        return BROKEN_PIPE
    return code


@contextmanager
def _warnings_for_terminals() -> Iterator[None]:
    """Show warnings, whose words may come from a row, without obeying what is in them."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda *given, **named: printable(before(*given, **named))
    try:
        yield
    finally:
        warnings.formatwarning = before


def _run(arguments: list[str], *, is_program: bool) -> int:
    if "_PROCTOR_COMPLETE" in os.environ:
        from proctor.cli import completion_shells  # noqa: F401 - click finds its classes
    else:
        for each in idle_variables():
            warn(f"note: {each}")
    try:
        with extras_named():
            obj = PROGRAM if is_program else None
            result = proctor.main(_with_command(arguments), prog_name="proctor", standalone_mode=False, obj=obj)
        return result if isinstance(result, int) else 0
    except ProctorError as error:
        report(error)
        _say_what_the_wall_holds(str(error))
        return exit_code_of(error)
    except click.UsageError as error:
        return _usage(error)
    except (click.Abort, KeyboardInterrupt):
        warn("interrupted")
        return INTERRUPTED
    except OSError as error:
        report(ProctorError(f"the system refused: {error.strerror or error}", why=_file_of(error)))
        _trace_if_asked(arguments)
        return TROUBLE
    except Exception as error:  # noqa: BLE001 - the last line of defence: a message, and the traceback on demand
        report_unexpected(error, "--traceback" in arguments)
        return INTERNAL


def _say_what_the_wall_holds(text: str) -> None:
    """Say what the kernel means by a permission that it denies: a library's own error names no option."""
    if "proctor.wall" in sys.modules and os.strerror(errno.EACCES) in text and "--allow" not in text:
        from proctor.wall import standing

        if standing() is not None:
            warn("note: what is denied may lie behind the wall: --allow read:PATH lets it be read, --no-wall all")


def _with_command(arguments: list[str]) -> list[str]:
    """Return arguments that begin with a command; options alone are those of ``run``, as in lm-eval and AISBench."""
    is_bare = bool(arguments) and arguments[0].startswith("-") and arguments[0] not in _OPTIONS_OF_ALL
    return ["run", *arguments] if is_bare else arguments


_OPTIONS_OF_ALL = frozenset({"-h", "--help", "--version"})


def _usage(error: click.UsageError) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        warn(error.format_message())
        return 2
    ours = translated(error)
    report(ours)
    return exit_code_of(ours)


def _file_of(error: OSError) -> str:
    return f"the file is {error.filename}" if error.filename else ""


def _trace_if_asked(arguments: list[str]) -> None:
    if "--traceback" in arguments:
        import traceback

        warn(traceback.format_exc())


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us (``>&-``): a file must not take its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - until the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a character that the terminal cannot show is shown as an escape
            reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
