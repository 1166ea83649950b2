"""Values of options as they are typed: seeds and positions of instances."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import UsageError
from proctor.foreign_text import parse_json
from proctor.ir import several_answers, unfit_decoding

if TYPE_CHECKING:
    from proctor.recipes.options import ExamOptions

_SEEDS = (0, 1234, 1234, None)
"""lm-eval's defaults of python, numpy, torch and fewshot; of the last one the exam's own, which is lm-eval's."""


@dataclass(frozen=True)
class GivenSeeds:
    """What ``--seed`` says.

    Attributes:
        seed: Of what exams draw; ``None`` is the exam's own.
        code: Python's and numpy's, for code of tasks; ``None`` where one seed is for everything.
        torch: torch's, from which nothing is drawn here; ``None`` where it is not said apart.
    """

    seed: int | None
    code: tuple[int, int] | None = None
    torch: int | None = None


def parse_seeds(text: str) -> GivenSeeds:
    """Return what one seed for everything says, or three or four separated by commas.

    A seed ``none`` is the default: lm-eval does not seed then, and no two runs are alike.

    Raises:
        UsageError: It is neither.
    """
    parts = [part.strip().lower() for part in text.split(",")]
    if len(parts) not in {1, len(_SEEDS) - 1, len(_SEEDS)} or not all(_is_seed(part) for part in parts):
        raise UsageError(f"'{text}' is not a seed", hint="one number, or four: python,numpy,torch,fewshot")
    if len(parts) == 1:
        return GivenSeeds(None if parts[0] == "none" else int(parts[0]))
    given = [None if part == "none" else int(part) for part in parts]
    python, numpy, _, fewshot = (
        own if each is None else each for each, own in zip([*given, None][: len(_SEEDS)], _SEEDS, strict=True)
    )
    return GivenSeeds(fewshot, (python or 0, numpy or 0), given[2])


def _is_seed(part: str) -> bool:
    return part == "none" or (part.isdigit() and int(part) < 2**32)  # what numpy takes


def parse_samples(text: str) -> dict[str, list[int]]:
    """Return positions of documents by task, from JSON or from a file with JSON.

    Raises:
        UsageError: It is not such JSON.
    """
    source = text if text.lstrip().startswith(("{", "[")) else _of_file(Path(text))
    try:
        found = parse_json(source)
    except json.JSONDecodeError as error:
        raise UsageError("--samples is not JSON", why=str(error), hint='{"mmlu_anatomy": [0, 3, 6]}') from None
    if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
        raise UsageError("--samples is not a mapping of tasks to positions", hint='{"mmlu_anatomy": [0, 3, 6]}')
    return found


def _of_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        hint = 'a file, or JSON itself: {"mmlu_anatomy": [0, 3, 6]}'
        raise UsageError(f"--samples is the file '{path}', which cannot be read", why=why, hint=hint) from None


def parse_groupings(texts: Sequence[str]) -> tuple[str | tuple[str, ...], ...]:
    """Return fields to group by: each text is one, or several with commas between them."""
    groupings = [tuple(name.strip() for name in text.split(",") if name.strip()) for text in texts]
    return tuple(names[0] if len(names) == 1 else names for names in groupings if names)


def check_values(options: ExamOptions, words: Mapping[str, Sequence[str]]) -> None:
    """Check what has but a few values.

    Args:
        options: The options.
        words: What options may be that take only some words.

    Raises:
        UsageError: A value is none of them, the limit is below 0, or ``decoding`` has a value that cannot be meant.
    """
    for name, known in words.items():
        if (value := getattr(options, name)) is not None and value not in known:
            raise UsageError(f"{name} is {value!r}", hint=f"it is {' or '.join(known)}")
    if options.limit is not None and not 0 <= options.limit < math.inf:
        raise UsageError(f"limit is {options.limit}", hint="it is a number of instances, or a share of them below 1")
    if options.num_demos is not None and options.num_demos < 0:
        raise UsageError(f"the number of demos is {options.num_demos}", hint="0 shows none")
    for name, places in (options.samples or {}).items():
        odd = [each for each in places if isinstance(each, bool) or not hasattr(each, "__index__")]
        if odd:
            raise UsageError(f"--samples names {odd[0]!r} of '{name}'", hint='positions are numbers: {"NAME": [0, 3]}')
    if (several := several_answers(options.decoding)) is not None:
        name, count = several
        raise UsageError(
            f"--decoding {name}={count} asks for {count} answers to one request",
            why="an exam grades one answer to each request: the others would be paid for and thrown away",
            hint=f"--repeats {count} asks {count} times, and grades every answer",
        )
    if (unfit := unfit_decoding(options.decoding)) is not None:
        name, value, wanted = unfit
        raise UsageError(f"--decoding {name}={value!r}: {name} is {wanted}")
