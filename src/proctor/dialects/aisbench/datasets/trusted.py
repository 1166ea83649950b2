"""Dataset classes that run: only when the user trusts code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.errors import DataError, Location, ProctorError


def imported(name: str, place: Location | None = None) -> Any:
    """Return the object of a name: of a module beside the file that names it, of the clone around it, or installed.

    Args:
        place: Where it stands.

    Raises:
        ImportError: There is no such module, no such name in it, or it fails when it is run.
    """
    from proctor.guests.clones import enter_clone, place_in_clone
    from proctor.guests.code import object_named

    file = Path(place.file) if place is not None and place.file else None
    try:
        if file is not None:
            enter_clone(file)
        for package in ("opencompass", "ais_bench") if "." not in name else ():
            if (found := place_in_clone(package, name)) is not None:
                return object_named(".".join(found))
        if "." not in name and (registered := _registered(name)) is not None:
            return registered
        return object_named(name, None if file is None else file.parent)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others may even exit; the reason is reported
        if isinstance(error, ImportError) and str(error):
            raise
        raise ImportError(f"it fails when it is imported: {type(error).__name__}: {error}", name=name) from error


def _registered(name: str) -> Any:
    """Return the evaluator that a module of a clone registers under a name as it is run; ``None`` where none does."""
    from proctor.guests.clones import class_before
    from proctor.guests.code import object_named
    from proctor.guests.opencompass.registries import REGISTRIES

    if (beside := class_before(name)) is not None:
        object_named(beside)
    return REGISTRIES["ICL_EVALUATORS"].module_dict.get(name)


def class_splits(kind: object, arguments: Mapping[str, Any], place: Location | None = None) -> Splits:
    """Return the splits that a dataset class's own ``load`` gives.

    Raises:
        DataError: ``load`` fails, or gives something else than rows.
    """
    load = getattr(kind, "load", None)
    if not callable(load):
        raise DataError(f"the dataset type {kind!r} has no method 'load'", location=place)
    try:
        made = load(**arguments)
    except Exception as error:  # whatever foreign code raises becomes one message
        raise DataError(
            f"{getattr(kind, '__name__', kind)}.load failed", location=place, why=f"{type(error).__name__}: {error}"
        ) from error
    if isinstance(made, Mapping):
        return {str(name): _reader(rows, place) for name, rows in made.items()}
    return {WHOLE: _reader(made, place)}


def _reader(rows: Any, place: Location | None) -> Callable[[], Sequence[Row]]:
    def read() -> Sequence[Row]:
        try:
            listed = [dict(row) for row in rows]
        except ProctorError:
            raise
        except (TypeError, ValueError) as error:
            raise DataError("a dataset class gave something else than rows", location=place, why=str(error)) from None
        return listed

    return read
