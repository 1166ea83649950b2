"""Meta templates from files: JSON, YAML, or a config that holds one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from proctor.dialects.aisbench.models import meta_template_of
from proctor.dialects.aisbench.reader import models_of, read_config
from proctor.dialects.aisbench.values import as_data
from proctor.errors import Location, UsageError, reason_of
from proctor.foreign_text import read_source_text
from proctor.foreign_yaml import parse_yaml


def read_meta_template(path: str) -> dict[str, Any]:
    """Return the fields of a meta template.

    Args:
        path: JSON or YAML with the fields (``round``, ``begin`` …), or a config: of a model, or with a variable
            whose name ends in ``meta_template``.

    Raises:
        UsageError: The file cannot be read, or holds no meta template, or several.
        ProctorError: The config cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"there is no file '{path}'", path="--meta-template")
    found = _of_config(file) if file.suffix == ".py" else _of_data(file)
    if not isinstance(found, Mapping) or "round" not in found:
        raise UsageError(
            f"{path} holds no meta template",
            hint='it has at least {"round": [{"role": "HUMAN", …}, {"role": "BOT", "generate": true, …}]}',
        )
    plain: dict[str, Any] = as_data(found)
    return plain


def _of_data(file: Path) -> Any:
    try:
        return parse_yaml(read_source_text(file))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Location(str(file), mark.line + 1, mark.column + 1) if mark else Location(str(file))
        raise UsageError("the meta template is neither JSON nor YAML", location=place, why=str(error.problem)) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be read", why=reason_of(error)) from None


def _of_config(file: Path) -> Any:
    values = read_config(file)
    named = [value for name, value in values.items() if name.endswith("meta_template")]
    found = [meta_template_of({"meta_template": value}) for value in named]
    found += [meta_template_of(model) for model in models_of(values)]
    different = [each for place, each in enumerate(found) if each is not None and each not in found[:place]]
    if len(different) > 1:
        raise UsageError(f"{file} holds {len(different)} meta templates", hint="keep one, or write it to a JSON file")
    return different[0] if different else None
