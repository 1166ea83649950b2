"""Runs from Python as from the command line: exams, models and options by the same names.

``run("cities.csv", "openai/gpt-4.1", metric="includes")``; a table may be rows in memory, and a model a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.run_file import options_of
from proctor.dialects.tables.reader import class_names, with_class_names
from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine, words_for
from proctor.errors import UsageError, did_you_mean
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.running.run import RunResult, run_exams
from proctor.running.spec import RunSpec

IN_MEMORY = "rows"
"""The name of an exam whose rows are in memory."""


def run(
    exams: Any,
    model: str | Engine | Callable[..., Any],
    *,
    model_args: Mapping[str, Any] | None = None,
    limit: float | None = None,
    output: str | Path | None = None,
    log: str | Path | None = None,
    tags: Sequence[str] = (),
    **options: Any,
) -> RunResult:
    """Let a model sit exams, and return the scores.

    Args:
        exams: What ``proctor run`` takes (``samples``, ``cities.csv``, ``task.yaml``, ``hf/openai/gsm8k/main``), an
            exam, a list of these, or a table in memory: rows as mappings, or a data frame.
        model: What ``--model`` takes, an engine, or a function of ``prompt`` or ``messages`` that answers; a function
            is asked anew each time, unless ``model_args={"version": …}`` tells its answers apart from others.
        model_args: What ``--model-args`` says.
        limit: Most instances of each exam, or a share of them below 1.
        output: Run folder; nothing is written without it but the response log.
        log: Response log; by default the one in the cache folder.
        tags: Words by which people find the run again.
        **options: Options of ``proctor run`` about exams, by name: ``num_demos=5``, ``metric=["includes"]``,
            ``prompt="Capital of {country}?"``.

    Raises:
        UsageError: An option has a name that there is not, or an exam does not honour it.
        ProctorError: An exam or the engine cannot be made, or the run fails; what was answered is kept.
    """
    engine = _engine(model, dict(model_args or {}))
    if unknown := sorted(set(options) - _OPTIONS):
        known = sorted({*_OPTIONS, "model_args", "limit", "output", "log", "tags"})
        raise UsageError(f"there is no option '{unknown[0]}'", hint=did_you_mean(unknown[0], known))
    name, arguments = (model, dict(model_args or {})) if isinstance(model, str) else words_for(engine)
    given = {key: _several(key, value) for key, value in options.items() if value is not None}
    _check_types(given | ({} if limit is None else {"limit": limit}))
    own = {key: given.pop(key) for key in ("seed", "num_demos") if key in given}
    count = limit if isinstance(limit, int) else None
    given |= {} if limit == count else {"limit": limit}
    marks = (tags,) if isinstance(tags, str) else tuple(tags)
    spec = RunSpec(name, (), arguments, count, **own, overrides=given, tags=marks)
    found, names = _exams(exams, options_of(spec), [*given, *own])
    return run_exams(found, engine, limit=count, output=output, log=log, spec=replace(spec, tasks=names))


def _several(name: str, value: Any) -> Any:
    """Return the value of an option as a file of a run has it; one of an option that takes several as one of them."""
    listed = [value] if name in _LISTS and isinstance(value, str | Path) else value
    return [str(each) if isinstance(each, Path) else each for each in listed] if isinstance(listed, list) else listed


def _check_types(given: Mapping[str, Any]) -> None:
    kinds = get_type_hints(ExamOptions)
    for name, value in given.items():
        try:
            msgspec.convert(value, kinds[name])
        except msgspec.ValidationError as error:
            raise UsageError(f"the option '{name}' cannot be {value!r:.80}", why=str(error)) from None


_OPTIONS = frozenset(each.name for each in fields(ExamOptions)) - {"limit", "model_arguments"}
_LISTS = frozenset(each.name for each in fields(ExamOptions) if each.default == ())


def _engine(model: str | Engine | Callable[..., Any], arguments: dict[str, Any]) -> Engine:
    if isinstance(model, Engine) and arguments:
        raise UsageError("an engine has its arguments already", hint="leave model_args out")
    if isinstance(model, str | Engine):
        return make_engine(model, arguments)
    if not callable(model):
        raise UsageError(f"a model is a name, an engine or a function, and this is {type(model).__name__}")
    from proctor.guests.own_model import FunctionModel

    return FunctionModel(given=model, **arguments)


def _exams(exams: Any, options: ExamOptions, said: Sequence[str]) -> tuple[list[Exam], tuple[str, ...]]:
    """Return exams, and the names of tasks that mean them."""
    listed: list[Any] = [exams] if isinstance(exams, str | Path | Exam) else _listed(exams)
    if not listed and not isinstance(exams, Sequence | Mapping):
        raise UsageError(f"this {type(exams).__name__} has no rows")
    if listed and all(isinstance(each, Mapping) for each in listed):
        from proctor.dialects.tables.resolve import Table, table_exams

        rows = [{str(name): _cell(value) for name, value in row.items()} for row in listed]
        found = table_exams(Table(IN_MEMORY, IN_MEMORY, rows), options)
        return found, tuple(each.name for each in found)
    if odd := [each for each in listed if not isinstance(each, str | Path | Exam)]:
        raise UsageError(
            f"this is {type(odd[0]).__name__}, not an exam", why="exams are names, files, rows and data frames"
        )
    names = tuple(str(each) for each in listed if not isinstance(each, Exam))
    made = [each for each in listed if isinstance(each, Exam)]
    if made and said:
        raise UsageError(f"the exam '{made[0].name}' has its options already", hint=f"leave {said[0]} out, or name it")
    named = resolve_tasks(names, options) if names else []
    return [*named, *made], (*names, *(each.name for each in made))


def _listed(exams: Any) -> list[Any]:
    """Return a list of exams, or the rows of a table in memory (a list, a dataset, a frame of pandas or polars)."""
    if hasattr(exams, "to_dicts"):
        return list(exams.to_dicts())
    if hasattr(exams, "iloc") and hasattr(exams, "columns"):
        return list(exams.to_dict("records"))
    if isinstance(exams, Mapping) and exams and all(hasattr(each, "column_names") for each in exams.values()):
        hint = f"name it: data[{next(iter(exams))!r}]"
        raise UsageError(f"this has {len(exams)} splits, and one is an exam", hint=hint)
    if not isinstance(exams, Iterable) or isinstance(exams, Mapping):
        return [exams]
    if not hasattr(exams, "column_names"):
        return list(exams)
    return with_class_names(list(exams), class_names(exams))


def _cell(value: Any) -> Any:
    """Return a cell as tables have it: arrays as lists, missing values as nothing."""
    found = value.tolist() if hasattr(value, "tolist") else value
    is_missing = (isinstance(found, float) and found != found) or type(found).__name__ in _MISSING  # noqa: PLR0124 - NaN
    return None if is_missing else found


_MISSING = frozenset({"NAType", "NaTType"})
"""What pandas calls missing values that are not NaN."""
