"""Habits of AISBench's and OpenCompass' command lines, in the words of ``proctor run``.

An option that means the same becomes ours before the arguments are parsed; what ours has no option for is collected
in :class:`Habits`; what means nothing here is said, and what cannot be done is refused. Nothing is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from proctor.cli import lm_eval_words
from proctor.cli.commands import TYPED, WalledCommand, one_metric_each
from proctor.cli.error_reporting import say
from proctor.dialects.foreign_flags import Flag
from proctor.dialects.registry import flag_of
from proctor.errors import UsageError, did_you_mean
from proctor.slips import slips

_KEY = "proctor.habits"
flag = partial(flag_of, "aisbench")
"""From an option of AISBench's or OpenCompass' command line to what it is here."""
MODES = ("all", "infer", "eval", "judge", "viz")
"""Modes that are here."""
_FILES = (".py", ".yaml", ".yml")
_MODE_WORDS = frozenset({*MODES, "perf", "perf_viz", "infer_judge"})
_IDLE_OF_TOKENIZERS = frozenset({"padding_side", "truncation_side", "truncation", "padding", "use_fast"})
"""Keywords of tokenizers that change no prompt here: lines of a batch are laid out by the engine."""


@dataclass(slots=True)
class Habits:
    """Words of AISBench's or OpenCompass' command lines that no option of ours takes.

    Attributes:
        values: By their options' names: a text, a list of texts, or ``True`` where nothing follows.
        notes: What has no effect here, and why.
    """

    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def mode(self) -> str:
        """The mode: ``all``, ``infer``, ``eval``, ``judge`` or ``viz``.

        Raises:
            UsageError: The mode is not here.
        """
        return mode_of(str(self.values.get("--mode", "all")))

    @property
    def models(self) -> list[str]:
        """The values of ``--models``."""
        return list(self.values.get("--models", ()))

    def __getitem__(self, name: str) -> Any:
        """Return what follows an option; ``None`` where it is not given."""
        return self.values.get(name)


def refusal(found: Flag) -> UsageError:
    """Return the error that says why an option is refused, and what does it here."""
    hint = f"here it is {found.ours}" if found.ours else "leave it out"
    return UsageError(
        f"{found.name} is an option of AISBench or OpenCompass that is not here", why=found.note, hint=hint
    )


def mode_of(text: str) -> str:
    """Return a mode that is here.

    Raises:
        UsageError: It is not, and why.
    """
    if text in MODES:
        return text
    if text in ("perf", "perf_viz"):
        raise UsageError(
            f"--mode {text} is not here",
            why=getattr(flag("--pressure"), "note", ""),
            hint=f"to load a server: {LOAD_GENERATORS}",
        )
    if text == "infer_judge":
        raise UsageError(
            "--mode infer_judge is not here",
            why="judges are asked while answers are graded, and their words are kept in the response log",
            hint="leave --mode out: a second run asks neither model nor judge again",
        )
    raise UsageError(f"there is no mode '{text}'", hint=did_you_mean(text, MODES) or f"there are {', '.join(MODES)}")


LOAD_GENERATORS = "vllm bench serve, guidellm, genai-perf (NVIDIA) or ais_bench itself"
"""Programs that put a server under load."""

_OWN = frozenset(
    {
        "--summarizer", "--mode", "--reuse", "--search", "--dry-run", "--hf-path", "--hf-type", "--model-kwargs",
        "--generation-kwargs", "--tokenizer-kwargs", "--stop-words", "--tokenizer-path", "--peft-path", "--max-seq-len",
        "--max-out-len", "--custom-dataset-path", "--custom-dataset-meta-path", "--custom-dataset-data-type",
        "--custom-dataset-infer-method",
    }
)  # fmt: skip
"""Options that no option of ours takes; they are kept as they are."""


class HabitsCommand(WalledCommand):
    """A command that understands the options of AISBench, OpenCompass and lm-eval beside its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put arguments in our words, and parse them; what is not an option here is kept in the context."""
        ctx.meta[TYPED] = list(args)
        words = None
        try:
            words = lm_eval_words.in_our_words(args)
            ours, habits = in_our_words(words.arguments)
            habits.notes += words.notes
        except UsageError:
            if not ctx.resilient_parsing:
                raise
            ours, habits = args, Habits()  # a shell completes a call that is not whole yet
        ctx.meta[_KEY], ctx.meta[lm_eval_words.KEY] = habits, words
        return super().parse_args(ctx, ours)


def current_habits() -> Habits:
    """Return the foreign words of the running command; those without effect here are said now."""
    found: Habits = click.get_current_context().meta.get(_KEY) or Habits()
    for note in found.notes:
        say(f"note: {note}")
    return found


def all_in_our_words(arguments: Sequence[str]) -> list[str]:
    """Return arguments as the parser takes them, whosever words they are in.

    >>> all_in_our_words(["-t", "gsm8k", "mmlu", "--trust_remote_code"])
    ['--tasks', 'gsm8k', '--tasks', 'mmlu', '--trust-code']

    Raises:
        UsageError: An option is not here, or lacks its value.
    """
    return in_our_words(lm_eval_words.in_our_words(arguments).arguments)[0]


def in_our_words(arguments: Sequence[str]) -> tuple[list[str], Habits]:
    """Return arguments with foreign options as ours, and what ours has no option for.

    >>> in_our_words(["--datasets", "gsm8k_gen", "mmlu_gen", "--num-prompts", "5"])[0]
    ['--tasks', 'gsm8k_gen', '--tasks', 'mmlu_gen', '--limit', '5']

    Raises:
        UsageError: An option is not here, or lacks its value.
    """
    ours: list[str] = []
    habits = Habits()
    left = one_metric_each(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*ours, word, *left], habits
        name, equals, value = word.partition("=")
        if found := _foreign(name, left):
            given = [value] if equals else _values(found, left)
            ours += _taken(found, given, habits)
        else:
            ours.append(word)
    return ours, habits


def _foreign(name: str, following: Sequence[str]) -> Flag | None:
    """Return the foreign option of a name; ``-m infer`` and ``-a vllm`` are foreign by what follows."""
    following_word = following[0] if following else ""
    if name == "-m" and (following_word in _MODE_WORDS or slips(following_word, MODES)):
        return flag("--mode")
    if name == "-a" and following_word in lm_eval_words.ACCELERATORS:
        return flag("--accelerator")
    return (_OF_MANY.get(name) or flag(name)) if name.startswith("-") else None


_OF_MANY = {"--prompts": Flag("--prompts", ours="--prompts", takes="many")}
"""Options of ours that several words may follow."""


def _values(found: Flag, left: list[str]) -> list[str]:
    """Take what follows an option out of the words that are left."""
    most = {"nothing": 0, "one": 1, "perhaps": 1, "many": len(left)}[found.takes]
    taken: list[str] = []
    while left and len(taken) < most and not left[0].startswith("--") and not _is_short(left[0]):
        if found.takes == "perhaps" and left[0].endswith(_FILES):
            break
        if taken and found.name in ("--prompts", "--models") and left[0].lower().endswith(_TABLES):
            break  # no prompt and no model: the exam
        taken.append(left.pop(0))
    if not taken and found.takes in ("one", "many"):
        raise UsageError(f"option '{found.name}' requires an argument", hint="proctor run --help shows what there is")
    return taken


_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx", ".parquet")


def _is_short(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and not word[1].isdigit()


def _taken(found: Flag, given: list[str], habits: Habits) -> Iterator[str] | list[str]:
    if found.does == "refused":
        raise refusal(found)
    if found.does == "nothing":
        here = f"; here: {found.ours}" if found.ours else ""
        habits.notes.append(f"{found.name} has no effect here: {found.note}{here}")
        return []
    if found.name == "--models":
        habits.values["--models"] = given
        return []
    if found.name in _OWN:
        habits.values[found.name] = given if found.takes == "many" else given[0] if given else True
        return []
    if found.note:
        habits.notes.append(f"{found.name}: {found.note}")
    return [word for value in given for word in (found.ours, value)] if given else [found.ours]


# -- models of the hub, and files of one's own -----------------------------------------------------------------------


def hub_model(habits: Habits, options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the model that ``--hf-path`` and its companions describe.

    Raises:
        UsageError: A companion stands alone, or says what cannot be done here.
    """
    companions = [name for name in _OF_HUB_MODELS if habits[name] is not None]
    if habits["--hf-path"] is None:
        if companions:
            raise UsageError(f"{companions[0]} belongs to --hf-path", hint="--model-args has an engine's arguments")
        return options
    if options["model"] or habits.models:
        raise UsageError("--hf-path names a model, and so does --model", hint="leave one of them out")
    kind = habits["--hf-type"] or "chat"  # OpenCompass' default
    if kind not in ("base", "chat"):
        raise UsageError(f"--hf-type is '{kind}'", hint="base or chat")
    args = {"model": habits["--hf-path"], **dict(_hub_arguments(habits))}
    found = {**options, "model": "hf", "model_args": (json.dumps(args), *options["model_args"])}
    if kind == "chat" and found.get("apply_chat_template") is None:
        found["apply_chat_template"] = True
    if words := habits["--stop-words"]:
        found["decoding"] = {"stop": words, **(found.get("decoding") or {})}
    return found


_OF_HUB_MODELS = (
    "--hf-type", "--tokenizer-path", "--peft-path", "--max-seq-len", "--max-out-len", "--model-kwargs",
    "--generation-kwargs", "--tokenizer-kwargs", "--stop-words",
)  # fmt: skip
_ENGINE_ARGUMENTS = {"--tokenizer-path": "tokenizer", "--peft-path": "peft"}
_ENGINE_COUNTS = {"--max-seq-len": "max_length", "--max-out-len": "max_new_tokens"}
_OWN_KEYWORDS = ("device_map", "attn_implementation", "load_in_8bit", "load_in_4bit")


def _hub_arguments(habits: Habits) -> Iterator[tuple[str, Any]]:
    yield from ((ours, habits[name]) for name, ours in _ENGINE_ARGUMENTS.items() if habits[name] is not None)
    yield from ((ours, _count(name, habits[name])) for name, ours in _ENGINE_COUNTS.items() if habits[name] is not None)
    model, tokenizer = _pairs(habits, "--model-kwargs"), _pairs(habits, "--tokenizer-kwargs")
    for each in (model, tokenizer):
        if each.pop("trust_remote_code", None):
            say("note: trust_remote_code has no effect here: --trust-code lets code of a model run")
    if odd := [key for key in tokenizer if key not in _IDLE_OF_TOKENIZERS]:
        raise UsageError(f"--tokenizer-kwargs {odd[0]} is not here", why="the tokenizer's own files say what it does")
    if dtype := model.pop("torch_dtype", None):
        yield "dtype", str(dtype).removeprefix("torch.")
    yield from ((key, model.pop(key)) for key in _OWN_KEYWORDS if key in model)
    named = {"model_kwargs": model, "generation_kwargs": _pairs(habits, "--generation-kwargs")}
    yield from ((key, value) for key, value in named.items() if value)


def _count(name: str, text: str) -> int:
    if not text.isdigit():
        raise UsageError(f"{name} is '{text}'", why="it is a number of tokens")
    return int(text)


def _pairs(habits: Habits, name: str) -> dict[str, Any]:
    """Return ``k=v k=v`` as a mapping; values as in Python, quotes or not."""
    from proctor.engines.model_args import parse_model_args

    found: dict[str, Any] = {}
    for text in habits[name] or ():
        found |= {key: _plain(value) for key, value in parse_model_args(text).items()}
    return found


def _plain(value: Any) -> Any:
    is_quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value


CUSTOM_DATASET = ("path", "meta-path", "data-type", "infer-method")
"""What ``--custom-dataset-…`` says of a file."""


def custom_task(habits: Habits, project: str) -> str | None:
    """Return the task that ``--custom-dataset-path`` and its companions mean; ``None`` where none is named.

    Args:
        habits: The command line.
        project: Whose prompt is meant: ``aisbench`` or ``opencompass``.

    Raises:
        UsageError: A companion stands alone.
    """
    parts = {
        key: habits[f"--custom-dataset-{key.replace('_', '-')}"] for key in ("meta_path", "data_type", "infer_method")
    }
    given = {key: value for key, value in parts.items() if value is not None}
    path = habits["--custom-dataset-path"]
    if path is None:
        if given:
            name = next(iter(given)).replace("_", "-")
            raise UsageError(f"--custom-dataset-{name} belongs to --custom-dataset-path")
        return None
    if not Path(path).is_file():
        raise UsageError(f"there is no file '{path}'", path="--custom-dataset-path")
    listed = ",".join(f"{key}={value}" for key, value in {**given, "project": project}.items())
    return f"{path}[{listed}]"
