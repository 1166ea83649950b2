"""Words of exams that come along: prompts, questions and examples as their authors word them (``prompts.json``)."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def _texts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath("prompts.json").read_bytes())
    return found


def prompt_texts(exam: str) -> Any:
    """Return the words of an exam: a text, or texts by what they are for."""
    return _texts()[exam]
