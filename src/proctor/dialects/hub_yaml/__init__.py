"""Exams of the Hugging Face hub: ``eval.yaml`` in a dataset's folder, as inspect reads them."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.dialects.dialect import Conversion, Dialect, config_file, is_config_file

FILE = "eval.yaml"
PREFIX = "hf/"


_ENDINGS = (".yaml", ".yml")


def file_of(name: str) -> Path | None:
    """Return the file that a name of this dialect is the path of (``FOLDER/``, ``FILE.yaml::TASK``)."""
    return config_file(name, FILE, _ENDINGS, _is_eval)


def is_eval_file(file: Path) -> bool:
    """Whether a file says how fields make samples."""
    return is_config_file(file, _ENDINGS, _is_eval)


def _is_eval(text: bytes) -> bool:
    return re.search(rb"(?m)^tasks\s*:", text) is not None and b"field_spec" in text


DIALECT = Dialect(
    "hub_yaml",
    recognises=lambda name: name.startswith(PREFIX) or file_of(name) is not None,
    resolve="proctor.dialects.hub_yaml.resolve:resolve_name",
    list="proctor.dialects.hub_yaml.index:list_tasks",
    validate="proctor.dialects.hub_yaml.validate:validate",
    convert=Conversion(
        FILE,
        read="proctor.dialects.hub_yaml.convert:graded",
        write="proctor.dialects.hub_yaml.convert:to_eval_yaml",
        again="proctor.dialects.hub_yaml.convert:as_it_was",
    ),
)
