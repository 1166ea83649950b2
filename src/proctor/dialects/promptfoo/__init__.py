"""Configs of promptfoo: ``promptfooconfig.yaml``, as far as they are data."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.dialects.dialect import Dialect, config_file, is_config_file

FILE = "promptfooconfig.yaml"
_ENDINGS = (".yaml", ".yml", ".json")
_KEYS = (rb"prompts", rb"providers|targets|tests|defaultTest|scenarios")
"""What such a file has at its top, each of the two."""


def file_of(name: str) -> Path | None:
    """Return the config that a name is the path of (``FOLDER``, ``FILE.yaml``, either with ``::PROMPT``)."""
    return config_file(name, FILE, _ENDINGS, _has_prompts)


def is_config(file: Path) -> bool:
    """Whether a file has prompts, and models or tests for them."""
    return is_config_file(file, _ENDINGS, _has_prompts)


def _has_prompts(text: bytes) -> bool:
    key = rb'"(?:%s)"\s*:' if text.lstrip().startswith(b"{") else rb"(?m)^(?:%s)\s*:"
    return all(re.search(key % names, text) for names in _KEYS)


DIALECT = Dialect(
    "promptfoo",
    recognises=lambda name: file_of(name) is not None,
    claims=lambda name: name.partition("::")[0].endswith((".json", ".")) and file_of(name) is not None,
    resolve="proctor.dialects.promptfoo.resolve:resolve_name",
    validate="proctor.dialects.promptfoo.validate:validate",
    lists_models="proctor.dialects.promptfoo.providers:models_in",
)
