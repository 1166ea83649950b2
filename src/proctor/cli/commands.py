"""Commands by name, imported on first use, and the habits that all of them share.

Options may be written with dashes or underscores (``--model-args``, ``--model_args``), and a mistyped command or
option is answered with the closest ones.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.error_reporting import BROKEN_PIPE, abandon_output, quietly, say
from proctor.cli.help_sections import grouped
from proctor.cli.json_output import json_alone
from proctor.errors import UsageError, closest, did_you_mean
from proctor.running.log_place import LogAddress
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.wall import Needs

SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "token_normalize_func": lambda token: token.replace("_", "-"),
    "max_content_width": 110,
}


_WIDEST_OPTION = 30
"""Columns for the names of options, as click has it: longer ones have a line of their own."""

TYPED = "proctor.typed"
"""Under which key a context has the words of a command's call, as they were typed."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and one line of help, and imports one when it runs.

    Args:
        table: Heading → name → (module, line of help). The module has a click command ``command``.
    """

    def __init__(self, *args: Any, table: Mapping[str, Mapping[str, tuple[str, str]]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headings = table
        self.table = {name: entry for entries in table.values() for name, entry in entries.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order in which the help lists them."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import and return a command."""
        if cmd_name not in self.table:
            return None
        command: click.Command = import_module(self.table[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones come close."""
        name = args[0].replace("_", "-")
        if name not in self.table and not name.startswith("-") and not ctx.resilient_parsing:
            raise UsageError(f"there is no command '{args[0]}'", hint=self._instead_of(name, args[1:]))
        return super().resolve_command(ctx, args)

    def _instead_of(self, name: str, following: Sequence[str]) -> str:
        """Return the hint for a name that is not a command's; what other programs have as commands are options here."""
        if name == "help":
            command = [each for each in following if each in self.table]
            return f"it is an option: {' '.join(['proctor', *command, '--help'])}"
        if name == "version":
            return "it is an option: proctor --version"
        return did_you_mean(name, self.table) or f"the commands are {', '.join(self.table)}"

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that goes away (``| head``) ends it quietly."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            abandon_output()
            ctx.exit(BROKEN_PIPE)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the table of commands without importing any."""
        widest = max(map(len, self.table))
        for heading, entries in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in entries.items()])


class ProctorCommand(click.Command):
    """A command with the habits of this program."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {**SETTINGS, **(kwargs.get("context_settings") or {})}
        super().__init__(*args, **kwargs)
        note = "Show where an unexpected error came from."
        self.params.append(click.Option(["--traceback"], is_flag=True, expose_value=False, help=note))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, under headings where they are many."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = {id(each): record for each in options if (record := each.get_help_record(ctx)) is not None}
        width = min(_WIDEST_OPTION, max(len(names) for names, _ in records.values()))
        for heading, group in grouped(options):
            with formatter.section(heading):
                shown = [records[id(each)] for each in group if id(each) in records]
                formatter.write_dl([(names.ljust(width), text) for names, text in shown])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; what is wrong with them is said of this command."""
        ctx.meta.setdefault(TYPED, list(args))
        args = one_metric_each(args)
        typed = list(args)
        try:
            left = super().parse_args(ctx, args)
            if not ctx.resilient_parsing:
                self._say_what_is_replaced(ctx, typed)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        return left

    def _say_what_is_replaced(self, ctx: click.Context, args: list[str]) -> None:
        """Say which options that take one value are given more than once: all but the last are without effect."""
        _, _, order = self.make_parser(ctx).parse_args(args)
        for parameter, count in Counter(order).items():
            if count > 1 and isinstance(parameter, click.Option) and not _may_be_repeated(parameter):
                say(f"note: {long_name(parameter.opts)} is given more than once; the last one counts")


def one_metric_each(arguments: Sequence[str]) -> list[str]:
    """Return arguments with ``--metric`` before each of the metrics that follow one.

    >>> one_metric_each(["--metric", "includes", "exact", "q.csv"])
    ['--metric', 'includes', '--metric', 'exact', 'q.csv']
    """
    if "--metric" not in arguments:
        return list(arguments)
    from proctor.artifacts.query import IN_CODE
    from proctor.scoring.assertions import is_assertion
    from proctor.scoring.metric_table import is_metric, whole_name
    from proctor.scoring.named_table import LM_EVAL

    def follows(word: str) -> bool:
        return is_assertion(word) or IN_CODE.fullmatch(word) is not None or is_metric(whole_name(word), LM_EVAL)

    found = list(arguments)
    for place in reversed(range(len(found) - 1)):
        later = place + 2
        while found[place] == "--metric" and later < len(found) and follows(found[later]):
            if Path(found[later]).exists():
                break
            found.insert(later, "--metric")
            later += 2
    return found


RUNS = "runs"
"""Folder under the current one in which run folders appear unless ``--output`` names one."""

Places = tuple[Sequence[Path], Sequence[Path]]
"""Folders in which a call writes, and single files."""
Writes = Callable[[Mapping[str, Any]], Places]
IsOpen = Callable[[Mapping[str, Any]], bool]


def no_places(given: Mapping[str, Any]) -> Places:  # noqa: ARG001 - as others have it
    """Return that nothing is written."""
    return (), ()


def open_wall_for(*engines: Engine, judge: str | None = None) -> None:
    """Raise what is left of the wall, where there is one, now that it is known who is asked; the user's judges, too.

    Args:
        *engines: Who is asked.
        judge: The judge of a run file; one that is typed (``--judge``) is known.
    """
    if "proctor.wall.raising" not in sys.modules:
        return
    from proctor.engines.engine_registry import make_engine
    from proctor.wall import open_for, standing

    if standing() is not None:
        context = click.get_current_context(silent=True)
        judges = {judge, settings.judge, context.params.get("judge") if context else None}
        open_for([*engines, *(make_engine(each) for each in sorted(filter(None, judges)))])


def never(given: Mapping[str, Any]) -> bool:  # noqa: ARG001 - as above
    """Return that there always is a wall."""
    return False


class WalledCommand(ProctorCommand):
    """A command that reads what strangers wrote: as a program of its own it does so behind the wall.

    Args:
        writes: Returns the folders and files that a call writes, by its parameters.
        asks: Whether it asks models; :func:`proctor.wall.open_for` is to be called once it is known which.
        is_open: Whether there is no wall for a call, by its parameters, or it is raised later.
    """

    def __init__(
        self, *args: Any, writes: Writes = no_places, asks: bool = False, is_open: IsOpen = never, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._writes, self._asks, self._is_open = writes, asks, is_open
        help_text = "Let libraries open, start and ask what they like, if something that you need lies behind the wall."
        self.params.append(click.Option(["--no-wall"], is_flag=True, help=help_text))

    def invoke(self, ctx: click.Context) -> Any:
        """Raise the wall between the arguments and the first byte of a file."""
        without = ctx.params.pop("no_wall")
        if ctx.find_root().obj is PROGRAM and not without and not self._is_open(ctx.params):
            from proctor.wall import raise_wall

            raise_wall(ctx.meta[TYPED], self._needs(ctx.params))
        with json_alone() if self._asks and ctx.params.get("as_json") else nullcontext():
            return super().invoke(ctx)

    def _needs(self, given: Mapping[str, Any]) -> Needs:
        from proctor.wall import Needs

        folders, files = self._writes(given)
        logs: list[Any] = [each for each in given.values() if isinstance(each, LogAddress)]
        if "log" in given:
            from proctor.running.log_file import default_log

            logs.append(log := given["log"] or default_log())
            folders = [*folders, *([log.parent] if isinstance(log, Path) else [])]
        databases = tuple({each.target for each in logs if isinstance(each, LogAddress)})
        trusts = bool(given.get("trust_code") or settings.trust_code)
        return Needs(tuple(folders), tuple(files), self._asks, trusts, databases)


PROGRAM = object()
"""The object of the outermost context where this process is the program, and ends with the command."""


def long_name(names: Sequence[str]) -> str:
    """Return the first name of an option in words: our own stands before those that people bring along."""
    return next((name for name in names if name.startswith("--")), names[0])


def _may_be_repeated(option: click.Option) -> bool:
    return option.multiple or option.count or (option.is_flag and not option.secondary_opts)


def _be_quiet(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.with_resource(quietly())
        context.with_resource(settings.context(default_verbosity="warning"))


quiet_option = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Nothing but scores, warnings and errors: no progress, no notes.",
)
"""``--quiet`` of every command that takes a while."""


def translated(error: click.UsageError) -> UsageError:
    """Return an error of click's own as one of ours, with the closest names as a hint."""
    where = error.ctx.command_path if error.ctx else "proctor"
    more = f"{where} --help shows what there is"
    if isinstance(error, click.NoSuchOption):
        known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts] if error.ctx else []
        option = error.option_name
        hint = _note_of_others(option) or _instead_of_option(option, known) or _close_options(option, known)
        return UsageError(f"'{where}' has no option '{error.option_name}'", hint=hint or more)
    message = _NOT_A_NUMBER.sub(lambda found: _NUMBERS[found[1]], error.format_message())
    message = _OUT_OF_RANGE.sub(lambda found: f"is not {_bounds(*found.groups())}", message)
    message = _NO_FOLDER.sub(r"\1 is a file, and a folder is wanted", message)
    if found := _MISSING.search(message):
        more = close_files(found[1]) or more
    usage = ""
    if isinstance(error, click.MissingParameter) and error.ctx:
        usage = " ".join(error.ctx.get_usage().split()).replace("Usage:", "it is called as", 1)
    return UsageError(message[:1].lower() + message[1:].rstrip("."), why=usage, hint=more)


_MISSING = re.compile(r"'([^']+)' does not exist")
_NO_FOLDER = re.compile(r"Directory ('[^']+') is a file\.?")
_NOT_A_NUMBER = re.compile(r"is not a valid (integer|float)(?: range)?\b")
_NUMBERS = {"integer": "is not a whole number", "float": "is not a number"}
_OUT_OF_RANGE = re.compile(r"is not in the range (?:(\S+?)<=?)?x(?:(>=?)(\S+?))?(?:<=?(\S+?))?\.?$")


def _bounds(least: str | None, sign: str | None, more_than: str | None, most: str | None) -> str:
    """Return in words what click writes as ``x>=1`` or ``0<=x<=9``."""
    if least and most:
        return f"between {least} and {most}"
    if most:
        return f"{most} or less"
    return f"more than {more_than}" if sign == ">" else f"{more_than} or more"


def close_files(name: str | Path) -> str:
    """Return the hint for a path that is not there: what its folder has under a name like it."""
    path = Path(name)
    try:
        there = [each.name for each in path.parent.iterdir()]
    except OSError:
        return ""
    found = " or ".join(f"'{path.parent / each}'" for each in closest(path.name, there))
    return f"did you mean {found}?" if found else ""


def _instead_of_option(option: str, known: Sequence[str]) -> str:
    """Return the hint for what another option takes, or does."""
    from proctor.ir import Decoding

    name = option.lstrip("-").replace("-", "_")
    if name == "at_least" and "--fail-under" in known:
        return "--fail-under TASK=0.7 is the least score of a run; --at-least is an option of proctor gate"
    if name == "prompts" and "--templates" in known:
        return "files of prompts are --templates FILE of a sweep"
    if name == "output" and "--prediction-column" in known:
        return "proctor run EXAM --model replay --model-args path=FILE --output FOLDER makes a run folder of answers"
    if name in Decoding.__struct_fields__ and "--decoding" in known:
        return f"how the model answers is --decoding {name}=VALUE"
    is_model_s = name in ("base_url", "max_retries", "timeout", "requests_per_minute", "tokens_per_minute")
    return f"it is an argument of a model: --model-args {name}=VALUE" if is_model_s else ""


def _close_options(option: str, known: Iterable[str]) -> str:
    """Return the hint for a mistyped option. The dashes that all of them begin with would make any two look alike."""
    found = closest(option.lstrip("-"), [name.lstrip("-") for name in known if name.startswith("--")])
    names = " or ".join(f"'--{name}'" for name in found)
    return f"did you mean {names}?" if found else ""


def _note_of_others(option: str) -> str:
    """Return what an option of another system is here, or why it is not needed; empty where none has it."""
    from proctor.dialects.registry import flag_of_another

    found = flag_of_another(option)
    if found is None or not found.ours:
        return "" if found is None else found.note
    same = found.ours == option.replace("_", "-")
    return "it is an option of proctor run" if same else f"here it is {found.ours}, of proctor run"
