"""The command lines of AISBench and OpenCompass in terms of ours: what each option means here, or why it means nothing.

A value that has its own meaning (``--mode perf``) is answered in :func:`mode_of`.
"""

from __future__ import annotations

import json
from importlib.resources import files

from proctor.dialects.foreign_flags import Flag
from proctor.errors import UsageError, did_you_mean

LOAD_GENERATORS = "vllm bench serve, guidellm, genai-perf (NVIDIA) or ais_bench itself"
"""Programs that put a server under load."""


def _read() -> tuple[Flag, ...]:
    table = json.loads(files(__package__).joinpath("flags.json").read_bytes())
    notes: dict[str, str] = table["notes"]
    return tuple(Flag(**{**each, "note": notes.get(each.get("note"), each.get("note", ""))}) for each in table["flags"])


FLAGS = _read()
"""Every option of ``ais_bench`` and ``opencompass`` but for those that have their name here, too."""

_BY_NAME = {each.name: each for each in FLAGS} | {each.short: each for each in FLAGS if each.short}


def flag(name: str) -> Flag | None:
    """Return the option of a name, spelled with dashes or underscores."""
    return _BY_NAME.get(name if len(name) == 2 else name.replace("_", "-"))  # noqa: PLR2004 - a dash and a letter


def refusal(found: Flag) -> UsageError:
    """Return the error that says why an option is refused, and what does it here."""
    hint = f"here it is {found.ours}" if found.ours else "leave it out"
    return UsageError(
        f"{found.name} is an option of AISBench or OpenCompass that is not here", why=found.note, hint=hint
    )


MODES = ("all", "infer", "eval", "judge", "viz")
"""Modes that are here."""


def mode_of(text: str) -> str:
    """Return a mode that is here.

    Raises:
        UsageError: It is not, and why.
    """
    if text in MODES:
        return text
    if text in ("perf", "perf_viz"):
        raise UsageError(
            f"--mode {text} is not here", why=_BY_NAME["--pressure"].note, hint=f"to load a server: {LOAD_GENERATORS}"
        )
    if text == "infer_judge":
        raise UsageError(
            "--mode infer_judge is not here",
            why="judges are asked while answers are graded, and their words are kept in the response log",
            hint="leave --mode out: a second run asks neither model nor judge again",
        )
    raise UsageError(f"there is no mode '{text}'", hint=did_you_mean(text, MODES) or f"there are {', '.join(MODES)}")
