"""Why an answer differs from the other system's on purpose: sentences by their id, for programs and for the page.

``docs/reference/differences.md`` lists them (``python -m conformance.run``); recordings name them by their id.
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("explanations.json")
EXPLANATIONS: dict[str, str] = {
    f"{system}/{name}": sentence
    for system, sentences in json.loads(FILE.read_text(encoding="utf-8")).items()
    for name, sentence in sentences.items()
}
"""By ``system/name``."""


def sentence(identifier: str) -> str:
    """Return the sentence of an explanation, ``""`` for ``""``.

    Raises:
        KeyError: There is no such explanation.
    """
    return EXPLANATIONS[identifier] if identifier else ""
