"""Exams of the Hugging Face hub: ``eval.yaml`` in a dataset's folder, as inspect reads them."""

from __future__ import annotations

import re
from pathlib import Path

from proctor.dialects.dialect import Conversion, Dialect
from proctor.foreign_text import read_source

FILE = "eval.yaml"
PREFIX = "hf/"


def file_of(name: str) -> Path | None:
    """Return the file that a name of this dialect is the path of (``FOLDER/``, ``FILE.yaml::TASK``)."""
    place = name.partition("::")[0]
    if "=" in place or not (place.endswith((".yaml", ".yml")) or "/" in place):
        return None
    file = Path(place) / FILE if Path(place).is_dir() and "/" in place else Path(place)
    return file if is_eval_file(file) else None


def is_eval_file(file: Path) -> bool:
    """Whether a file says how fields make samples, and is not the ``run.yaml`` that holds such an exam."""
    if not file.is_file() or file.suffix not in (".yaml", ".yml"):
        return False
    try:
        text = read_source(file)
    except OSError:
        return False
    if re.search(rb"(?m)^tasks\s*:", text) is None or b"field_spec" not in text:
        return False
    from proctor.running.run_files import is_run_file

    return not is_run_file(file)


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
