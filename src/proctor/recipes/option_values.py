"""Values of options as they are typed: seeds and positions of instances."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import UsageError
from proctor.foreign_text import parse_json

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
