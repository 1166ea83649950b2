"""The options that choose exams, shared by the commands that take some."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.completion import one_of
from proctor.cli.include_paths import include_path_option
from proctor.errors import UsageError
from proctor.recipes.honours import OF_TABLES
from proctor.recipes.option import Option
from proctor.recipes.options import DECLARED

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic for type checkers only: older releases of click cannot be subscripted


def split_names(text: str) -> list[str]:
    """Cut a list of tasks at its commas; commas inside brackets belong to a task, and so do those of a recipe.

    >>> split_names("wnli,my[a=1,b=[x,y]]")
    ['wnli', 'my[a=1,b=[x,y]]']
    >>> split_names("card=cards.wnli,template=t,samples")
    ['card=cards.wnli,template=t', 'samples']
    """
    names: list[str] = []
    for piece in _split_at_depth_zero(text):
        head = piece.partition("[")[0]
        if "=" in head and names and "=" in names[-1].partition("[")[0] and not head.strip().startswith("card="):
            names[-1] += f",{piece}"
        elif piece.strip():
            names.append(piece.strip())
    return names


def _split_at_depth_zero(text: str) -> list[str]:
    pieces, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        quoted ^= character == '"'
        depth += 0 if quoted else (character in "[{") - (character in "]}")
        if character == "," and depth <= 0 and not quoted:
            pieces.append(text[start:position])
            start = position + 1
    return [*pieces, text[start:]]


def parse_pairs(text: str, option: str) -> dict[str, Any]:
    """Return ``key=value,key=value`` or a JSON object, as ``--model-args`` reads it.

    Raises:
        UsageError: The text does not parse; the option is named.
    """
    from proctor.engines.model_args import parse_model_args

    try:
        return parse_model_args(text, option)
    except UsageError as error:
        raise error.located(path=option) from None


def share(value: object) -> float:
    """Return a share of one, written ``0.9`` or ``90%``."""
    text = str(value)
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise click.BadParameter(f"'{text}' is not a share (0.9, 90%)") from None


class Limit(_ParamType):
    """A number of instances (``100``) or a share of them (``0.1``, ``10%``)."""

    name = "N"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """Return a whole number for a count, a fraction below 1 for a share."""
        text = str(value)
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            self.fail(f"'{text}' is neither a number of instances nor a share of them (100, 0.1, 10%)", param, ctx)
        if 0 < number < 1:
            return number
        if text.endswith("%") and number == 1:
            self.fail("100% is everything: leave the limit out", param, ctx)
        if not 1 <= number < math.inf or number != int(number) or text.endswith("%"):
            self.fail(f"'{text}' is neither a number of instances (100) nor a share below one (0.1, 10%)", param, ctx)
        return int(number)


def _read_seed(context: click.Context, _parameter: click.Parameter, text: str | None) -> int | None:
    """Take one seed, or lm-eval's four: the first two are those of ``--code-seeds``, the last one draws the demos."""
    if text is None:
        return None
    from proctor.cli.error_reporting import say
    from proctor.recipes.option_values import parse_seeds

    given = parse_seeds(text)
    if given.code is not None:
        context.meta[_CODE_SEEDS] = given.code
    if given.torch is not None:
        say("note: nothing is drawn from torch's seed: sampled answers derive from their requests")
    return given.seed


_CODE_SEEDS = "proctor.code_seeds"


def _read_code_seeds(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """Take two seeds, or what four seeds said; options that are given are read before those that are not."""
    said: tuple[int, int] | None = context.meta.get(_CODE_SEEDS)
    if text is None:
        return said
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(part.isdigit() and int(part) < 2**32 for part in parts):  # noqa: PLR2004 - a pair
        raise click.BadParameter(f"'{text}' is not two seeds: 0,1234", context, parameter)
    if said is not None:
        raise click.BadParameter("--seed names them, too", context, parameter)
    return int(parts[0]), int(parts[1])


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _read_grant(text: str) -> str:
    from proctor import effects

    effects.grant(text)
    return effects.parse_grant(text)


def _prisons() -> Iterable[str]:
    from proctor.prison import CHOICES

    return CHOICES


class Sandbox(_ParamType):
    """A prison for programs of models, by name; an image of docker may stand behind a colon."""

    name = "KIND"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from proctor.errors import did_you_mean
        from proctor.prison import CHOICES, is_choice

        if not is_choice(str(value)):
            hint = did_you_mean(str(value), CHOICES)
            self.fail(f"'{value}' is not one of {', '.join(CHOICES)}{f'; {hint}' if hint else ''}", param, ctx)
        return str(value)


def _choose_sandbox(_context: click.Context, _parameter: click.Parameter, name: str | None) -> None:
    if name is not None:
        from proctor.settings import settings

        settings.sandbox = name


sandbox_option = click.option(
    "--sandbox",
    type=Sandbox(),
    shell_complete=one_of(_prisons),
    callback=_choose_sandbox,
    expose_value=False,
    help="Where programs that a model wrote run: auto, bubblewrap, namespaces, landlock, docker[:IMAGE], none. none is "
    "no prison and needs --trust-code as well.  [default: auto, the strongest that works here]",
)
"""``--sandbox`` of every command that grades."""

trust_option = click.option("--trust-code", is_flag=True, default=None, help="Run the Python that exams bring along.")


def take_trust(given: dict[str, Any]) -> None:
    """Take ``--trust-code`` out of a command's options, and do what it says."""
    if given.pop("trust_code", None):
        from proctor.settings import settings

        settings.trust_code = True


allow_option = click.option(
    "--allow",
    multiple=True,
    metavar="KIND:WHAT",
    callback=lambda _context, _parameter, texts: tuple(map(_read_grant, texts)),
    help="Let exams do more than be exams: net:HOST, read:PATH, write:FOLDER, env:NAME@HOST; may be repeated, and "
    "is remembered for the same exam.",
)


def _of_field(name: str, option: Option) -> Callable[..., Any]:
    """Return what adds a declared option to a command."""
    if option.takes == "folders":
        return include_path_option()
    said: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "default": None}
    if option.takes == "switch":
        said["is_flag"] = True
    elif option.takes == "count":
        said["type"] = click.IntRange(min=option.least)
    elif option.takes == "limit":
        said["type"] = Limit()
    elif option.takes == "several":
        said["multiple"] = True
    elif isinstance(option.takes, tuple):
        said["type"] = click.Choice(option.takes)
    if (reader := _reader_of(name, option)) is not None:
        said["callback"] = reader
    return click.option(*option.flags, name, **said)


def _reader_of(name: str, option: Option) -> Callable[..., Any] | None:
    """Return the callback that reads what is typed; ``None`` where the text is the value."""
    if name in _READ_TOGETHER:
        return _READ_TOGETHER[name]
    if option.takes == "names":
        return lambda _context, _parameter, text: _names(text)
    if option.takes == "pairs":
        return lambda _context, _parameter, text: parse_pairs(text, option.flags[0]) if text else None
    if not option.reads:
        return None
    module, _, function = option.reads.partition(":")
    return lambda _context, _parameter, text: getattr(import_module(module), function)(text) if text else None


def _read_criteria(context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    if texts:
        from proctor.recipes.metric_words import judged_by_criteria

        context.meta[_CRITERIA] = tuple(name for text in texts for name in judged_by_criteria(text))


def _read_metrics(context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Take metrics, and what ``--criteria``, which is read before, makes of its texts."""
    return (*(names or ()), *context.meta.get(_CRITERIA, ()))


_CRITERIA = "proctor.criteria"
_READ_TOGETHER: dict[str, Callable[..., Any]] = {
    "seed": _read_seed,
    "code_seeds": _read_code_seeds,
    "metric": _read_metrics,
}
"""Options of which one may say the other: lm-eval's four seeds are in one, and criteria are metrics."""

criteria_option = click.option(
    "--criteria",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_read_criteria,
    metavar="WORDS|FILE",
    help="What --judge decides of each answer, as --metric judge:WORDS: correctness (is it right, given the right "
    "answer), any sentence, or a YAML file with a list of them; repeatable.",
)

_OPTIONS = [
    *(_of_field(name, option) for name, option in DECLARED.items() if option.flags),
    click.option(
        "--gen-kwargs", metavar="K=V,…", help="--decoding in lm-eval's names: until, max_gen_toks, do_sample …"
    ),
    trust_option,
    criteria_option,
    sandbox_option,
    allow_option,
]


def exam_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose what an exam asks."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


TABLE_OPTIONS = (*OF_TABLES, "judge")
"""Fields of the options that say what a table's columns are and how its answers are scored."""


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of tables to a command that takes no others of exams."""
    for name in reversed(TABLE_OPTIONS):
        command = _of_field(name, DECLARED[name])(command)
    return criteria_option(command)


_DECODING_NAMES = {"until": "stop", "max_gen_toks": "max_tokens", "max_new_tokens": "max_tokens"}


def read_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with values read: ``gen_kwargs`` joins ``decoding``, under Proctor's names.

    Raises:
        UsageError: A value cannot be read.
    """
    found = dict(options)
    generation = found.pop("gen_kwargs", None)
    if isinstance(generation, str):
        generation = parse_pairs(generation, "--gen-kwargs")
    if generation:
        named = {_DECODING_NAMES.get(name, name): value for name, value in generation.items()}
        if isinstance(named.get("stop"), str):
            named["stop"] = [named["stop"]]
        found["decoding"] = {**named, **(found.get("decoding") or {})}
    return found


def find_exams(names: list[str], options: dict[str, Any]) -> list[Exam]:
    """Return the exams that names stand for; options that are ``None`` keep the exam's own value.

    Raises:
        UsageError: No name is given.
        ProctorError: A name is unknown, or an exam cannot be built.
    """
    from proctor.dialects.resolve import resolve_tasks
    from proctor.recipes.options import ExamOptions
    from proctor.recipes.permissions import admit

    if not names:
        raise UsageError("no task is named", hint="proctor ls lists exams; try samples")
    given = {name: value for name, value in read_options(options).items() if value not in (None, ())}
    take_trust(given)
    given.pop("allow", None)
    exams = list(resolve_tasks(names, ExamOptions(**given)))
    admit(exams)
    return exams
