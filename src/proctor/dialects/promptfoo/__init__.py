"""Configs of promptfoo: ``promptfooconfig.yaml``, as far as they are data."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.dialects.dialect import Dialect
from proctor.foreign_text import read_source

FILE = "promptfooconfig.yaml"
_ENDINGS = (".yaml", ".yml", ".json")
_KEYS = (rb"prompts", rb"providers|targets|tests|defaultTest|scenarios")
"""What such a file has at its top, each of the two."""


def file_of(name: str) -> Path | None:
    """Return the config that a name is the path of (``FOLDER/``, ``FILE.yaml``, either with ``::PROMPT``)."""
    place = name.partition("::")[0]
    if not (place.endswith(_ENDINGS) or "/" in place):
        return None
    file = Path(place) / FILE if Path(place).is_dir() else Path(place)
    return file if is_config(file) else None


def is_config(file: Path) -> bool:
    """Whether a file has prompts, and models or tests for them, and is not the ``run.yaml`` that holds such an exam."""
    if file.suffix not in _ENDINGS or not file.is_file():
        return False
    try:
        text = read_source(file)
    except OSError:
        return False
    key = rb'(?m)^(?:\{?\s*"(?:%s)"\s*:|(?:%s)\s*:)'
    if not all(re.search(key % (names, names), text) for names in _KEYS):
        return False
    from proctor.running.run_files import is_run_file

    return not is_run_file(file)


DIALECT = Dialect(
    "promptfoo",
    recognises=lambda name: file_of(name) is not None,
    resolve="proctor.dialects.promptfoo.resolve:resolve_name",
    validate="proctor.dialects.promptfoo.validate:validate",
    lists_models="proctor.dialects.promptfoo.providers:models_in",
)
