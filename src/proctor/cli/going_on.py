"""The command that goes on with a run: its folder, and every option of the call that the folder does not hold."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from proctor.cli.asking_anew import ONCE
from proctor.cli.commands import TYPED, long_name
from proctor.recipes.options import DECLARED
from proctor.secrets import HIDDEN, is_secret, redacted

_HELD = frozenset(
    {"spec", "model", "tasks", "model_args", "batch_size", "device", "max_concurrency", "truncate", "thinking",
     "thinking_tokens", "precision", "log_samples", "output", "tags", "gen_kwargs", "criteria", *DECLARED}
)  # fmt: skip
"""Options of ``proctor run`` that ``run.yaml`` holds. Permissions are the user's, and are in no file."""


def command_again(folder: Path, *, without: str = "") -> str:
    """Return the command that goes on with the run of a folder, as a shell takes it.

    It has the options of the running command that are not in ``run.yaml`` (``--log``, ``--budget-tokens``,
    ``--trust-code`` …). A call that runs several models is repeated whole. Secrets are hidden.

    Args:
        folder: The run folder.
        without: An option that is left out.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.info_name != "run":
        return f"proctor run {shlex.quote(str(folder / 'run.yaml'))}"
    typed: list[str] = context.meta.get(TYPED, [])
    typed = [word for word in typed if word != without]
    if _runs_several(typed):
        return _hidden(["proctor", "run", *(word for word in typed if word.lstrip("-").replace("-", "_") not in ONCE)])
    return _hidden(["proctor", "run", str(folder / "run.yaml"), *_beside(context, typed)])


def _hidden(words: Sequence[str]) -> str:
    return redacted(shlex.join(words)).replace(f"'{HIDDEN}'", HIDDEN)


def _runs_several(typed: Sequence[str]) -> bool:
    """Whether the words name a config, whose models each have a folder of their own."""
    return any(word == "--models" or word.startswith("--models=") for word in typed) or any(
        word.endswith(".py") and not word.startswith("-") and (place == 0 or not typed[place - 1].startswith("-"))
        for place, word in enumerate(typed)
    )


def _beside(context: click.Context, typed: Sequence[str]) -> Iterator[str]:
    """Yield the options that the run's folder does not hold, as they were typed."""
    from proctor.cli.habits import all_in_our_words

    given, _, order = context.command.make_parser(context).parse_args(all_in_our_words(typed))
    for parameter in dict.fromkeys(order):
        name = parameter.name or ""
        if name == "model_args":
            yield from _typed_secrets(given[name])
        elif name not in _HELD | ONCE and isinstance(parameter, click.Option):
            yield from _words(parameter, given[name])
    yield from _places(context.params)


def _places(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what lets a run file read the files that the user named, where they lie elsewhere than he is."""
    named = [each for name in ("named", "tasks", "prompts", "include_paths") for each in given.get(name) or ()]
    from proctor.running.run_files import can_be_repeated

    here = Path.cwd()
    for each in dict.fromkeys(named):
        path = Path(each.partition("[")[0].partition("::")[0])
        if path.exists() and not path.resolve().is_relative_to(here) and not can_be_repeated(path):
            yield from ("--allow", f"read:{path}")


def _words(option: click.Option, value: Any) -> Iterator[str]:
    long = long_name(option.opts)
    if option.is_flag:
        yield long if value or not option.secondary_opts else long_name(option.secondary_opts)
        return
    for each in value if isinstance(value, (list, tuple)) else [value]:
        yield from (long, str(each))


def _typed_secrets(texts: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of the model that are secrets, and so in no file, without their values."""
    from proctor.engines.model_args import parse_model_args

    names = [name for text in texts for name in parse_model_args(text) if is_secret(name)]
    for name in dict.fromkeys(names):
        yield from ("--model-args", f"{name}={HIDDEN}")
