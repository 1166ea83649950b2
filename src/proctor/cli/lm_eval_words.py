"""Habits of lm-eval's command line, in the words of ``proctor run``.

``--tasks a b``, ``--model_args a=1 b=2``, ``--apply_chat_template NAME``, ``--fewshot_as_multiturn false``,
``--config FILE`` and the letters that lm-eval has for its options become ours before the arguments are parsed. What has
no effect here is said, what cannot be done is refused; nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click

from proctor.dialects.foreign_flags import Flag
from proctor.dialects.registry import flag_of
from proctor.errors import UsageError

flag = partial(flag_of, "lm_eval")
"""From a flag of lm-eval's command line to what it is here."""

_LETTERS = frozenset({"-M", "-E", "-C", "-b", "-c", "-x", "-v"})
"""Letters that only lm-eval has; the others are ours, too, or AISBench's."""

_SWITCHES = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(slots=True)
class Words:
    """Arguments in our words.

    Attributes:
        arguments: What is parsed.
        notes: What has no effect here, and why.
        config: The file of ``--config``.
        of_config: The options that it says.
    """

    arguments: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    config: Path | None = None
    of_config: frozenset[str] = frozenset()


def in_our_words(arguments: Sequence[str]) -> Words:
    """Return arguments with lm-eval's habits as ours.

    >>> in_our_words(["--tasks", "a", "b", "--fewshot_as_multiturn", "false"]).arguments
    ['--tasks', 'a', '--tasks', 'b', '--no-demos-as-turns']

    Raises:
        UsageError: An option cannot be honoured, or lacks its value.
    """
    words = Words()
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            words.arguments += [word, *left]
            break
        found = _found(word, left, arguments)
        if found is None:
            words.arguments.append(word)
            continue
        name, equals, value = word.partition("=")
        given = [value] if equals else _values(found, left, name)
        if found.name == "--config":
            words.config = Path(given[0])
        else:
            words.arguments += _ours(found, given, words.notes)
    if words.config is not None:
        _add_config(words, words.config)
    if not _says(words.arguments, "--model") and _names_hf(words.arguments):
        words.arguments = ["--model", "hf", *words.arguments]  # lm-eval's default
    return words


def _found(word: str, left: Sequence[str], all_words: Sequence[str]) -> Flag | None:
    """Return lm-eval's flag of a word, where it means something else than the option of ours."""
    name = word.partition("=")[0]
    if name == "-w" and (not left or left[0].startswith("-")):
        return flag("--write_out")
    if name == "-s" and (_names_hf(all_words) or any(_says(all_words, each) for each in ("--model", "-m", "-M"))):
        return flag("--log_samples")
    if name in _LETTERS:
        return flag(name)
    if name == "-a" and left and left[0] in ACCELERATORS:
        return None
    return flag(name) if name.startswith("--") else flag(_ALSO_OURS.get(name, ""))


ACCELERATORS = frozenset({"vllm", "lmdeploy"})
"""What follows ``-a`` on OpenCompass' command line."""
_ALSO_OURS = {"-t": "--tasks", "-a": "--model_args", "-o": "--output_path"}
"""Letters that are ours, too, before values that lm-eval reads in a way of its own."""


def _values(found: Flag, left: list[str], name: str) -> list[str]:
    """Take what follows an option out of the words that are left."""
    taken: list[str] = []
    if found.takes == "nothing":
        return taken
    if found.takes == "one":
        if not left or _is_option(left[0]):
            raise UsageError(f"option '{name}' requires an argument", hint="proctor run --help shows what there is")
        return [left.pop(0)]
    while left and _belongs(found, left[0], is_first=not taken):
        taken.append(left.pop(0))
        if found.takes == "perhaps":
            break
    if not taken and found.takes != "perhaps":
        raise UsageError(f"option '{name}' requires an argument", hint="proctor run --help shows what there is")
    return taken


def _is_option(word: str) -> bool:
    return word.startswith("--") and word[2:3].isalpha() and " " not in word


def _belongs(found: Flag, word: str, *, is_first: bool) -> bool:
    """Whether a word is a value of an option, and not the next option or the run file."""
    if word.startswith("-") and word != "-":
        return False
    if found.takes == "pairs":
        return is_first or "=" in word or word.lstrip().startswith("{")
    return not is_run_file(word) if found.takes == "perhaps" or not is_first else True


def is_run_file(word: str) -> bool:
    """Whether a word is what ``proctor run`` takes by itself: a run folder or file, or a config in Python."""
    path = Path(word)
    if path.suffix == ".py" or (path.is_dir() and (path / "run.yaml").is_file()):
        return path.exists()
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    if path.name == "run.yaml":
        return True
    from proctor.foreign_text import read_head

    lines = read_head(path, _LOOKED_AT).splitlines()
    return any(line.startswith((b"model:", b"model_args:")) for line in lines)


_LOOKED_AT = 4096  # bytes: run.yaml begins with its model


def _ours(found: Flag, given: list[str], notes: list[str]) -> list[str]:
    if found.does == "refused":
        raise UsageError(f"{found.name} is an option of lm-eval that is not here", why=found.note)
    if found.does == "nothing":
        notes.append(f"{found.name} has no effect here: {found.note}")
        return []
    if found.name == "--output_path":
        return _output(given[0], notes)
    if (own := _READERS.get(found.name)) is not None:
        return own(given)
    return [word for value in given for word in (found.ours, value)] if given else [found.ours]


def _together(option: str, given: list[str]) -> list[str]:
    if len(given) > 1 and any(each.lstrip().startswith("{") for each in given):
        raise UsageError(f"{option} has JSON and more beside it", hint="write it all as JSON, or all as key=value")
    return [option, ",".join(given)]


def _demos_as_turns(given: list[str]) -> list[str]:
    text = given[0].lower() if given else "true"
    if text not in _SWITCHES:
        raise UsageError(f"--fewshot_as_multiturn is '{given[0]}'", hint="true or false")
    return ["--demos-as-turns" if _SWITCHES[text] else "--no-demos-as-turns"]


def _chat_template(given: list[str]) -> list[str]:
    """Return the switch, and the template's name as an argument of the engine, whose tokenizer has it."""
    if not given or (is_on := _SWITCHES.get(given[0].lower())) is True:
        return ["--apply-chat-template"]
    if is_on is False:
        return ["--no-apply-chat-template"]
    return ["--apply-chat-template", "--model-args", f'chat_template="{given[0]}"']


def _output(given: str, notes: list[str]) -> list[str]:
    """Return the run folder; lm-eval takes a name that ends in ``.json`` for the beginning of a file's."""
    place = Path(given)
    if place.suffix != ".json":
        return ["--output", given]
    folder = place.with_suffix("")
    notes.append(f"a run is a folder: {folder} for {place}; --output-format lm-eval writes lm-eval's files into it")
    return ["--output", str(folder)]


_LEVELS = ("debug", "info", "warning", "error", "critical")


def _verbosity(given: list[str]) -> list[str]:
    from proctor.settings import settings

    if given[0].lower() not in _LEVELS:
        raise UsageError(f"--verbosity is '{given[0]}'", hint=f"one of {', '.join(_LEVELS)}")
    settings.default_verbosity = given[0].lower()
    return []


_READERS: Mapping[str, Callable[[list[str]], list[str]]] = {
    "--apply_chat_template": _chat_template,
    "--fewshot_as_multiturn": _demos_as_turns,
    "--gen_kwargs": partial(_together, "--gen-kwargs"),
    "--include_path": lambda given: ["--include-path", given[0]],
    "--metadata": partial(_together, "--metadata"),
    "--verbosity": _verbosity,
}
"""How the values are read that are more than values of an option of ours."""


def _names_hf(arguments: Sequence[str]) -> bool:
    """Whether arguments of a model are those of lm-eval's default."""
    return any("pretrained=" in word for word in arguments)


def _says(arguments: Sequence[str], option: str) -> bool:
    return any(word.partition("=")[0].replace("_", "-") == option for word in arguments)


def _add_config(words: Words, path: Path) -> None:
    """Put what a file of ``--config`` says before the arguments, but for what these say themselves."""
    from proctor.cli.lm_eval_config import arguments_of_config

    typed = words.arguments
    for found, said in arguments_of_config(path):
        option = found.ours or found.name
        if _says(typed, option) or (option == "--model" and _says(typed, "-m")):
            continue
        words.of_config |= {option}
        words.arguments = [*_ours(found, list(said), words.notes), *words.arguments]


def config_of(context: click.Context) -> Words:
    """Return the running command's options in lm-eval's words."""
    return context.meta.get(KEY) or Words()


KEY = "proctor.lm_eval_words"
"""Under which a command's context keeps them."""
