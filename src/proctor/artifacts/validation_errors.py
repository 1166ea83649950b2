"""Turns pydantic's errors about fields into ours: path, reason, hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError as PydanticValidationError

from proctor.artifacts.union_errors import nearest
from proctor.errors import Diagnostic, ProctorError, ValidationError, did_you_mean

_LONGEST_VALUE = 80  # characters of a wrong value in a message: one line of a terminal


def validation_error(kind: type[BaseModel], error: PydanticValidationError) -> ProctorError:
    """Return the error of an artifact that cannot be built, or not be changed so.

    Args:
        kind: Its class.
        error: What pydantic says.
    """
    found = error.errors()
    if len(found) == 1 and not found[0]["loc"] and found[0]["type"] == "value_error":
        inner = found[0].get("ctx", {}).get("error")
        if isinstance(inner, ProctorError):  # of prepare or verify: pydantic takes every ValueError for its own
            return inner
    errors = nearest(dict(each) for each in found)
    return ValidationError([diagnostic for each in errors for diagnostic in _diagnosed(kind, each)])


def _diagnosed(kind: type[BaseModel], error: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield what one error of pydantic's means; an error of an artifact within has several."""
    path = "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    inner = error.get("ctx", {}).get("error")
    if isinstance(inner, ProctorError):
        for each in inner.diagnostics:
            yield Diagnostic(each.what, each.location, path + each.path.removeprefix("$"), each.why, each.hint)
    elif error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        hint = did_you_mean(name, kind.model_fields) or f"its fields are {', '.join(kind.model_fields)}"
        yield Diagnostic(f"{kind.__name__} has no field '{name}'", path=path, hint=hint)
    elif error["type"] == "missing":
        yield Diagnostic(f"{kind.__name__} needs the field '{error['loc'][-1]}'", path=path)
    else:
        shown = repr(error["input"])
        shown = shown if len(shown) <= _LONGEST_VALUE else f"{shown[: _LONGEST_VALUE - 3]}..."
        yield Diagnostic(f"{kind.__name__}: {error['msg']}", path=path, why=f"the value is {shown}")
