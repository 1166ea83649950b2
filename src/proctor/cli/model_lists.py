"""Several models in one command: names, a list of them in a file (``models.yaml``), and what they come to side by side.

::

    small: {engine: openai, model: small, base_url: http://127.0.0.1:8000/v1}
    large: openai/gpt-4.1
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.cli.error_reporting import say
from proctor.dialects.dialect import loaded
from proctor.dialects.registry import dialects
from proctor.errors import Location, ProctorError, UsageError

if TYPE_CHECKING:
    from proctor.running.run import RunResult

_ENDINGS = (".yaml", ".yml")


class Listed(NamedTuple):
    """A model of a list: what ``--model`` takes, and its arguments."""

    name: str
    model: str
    arguments: Mapping[str, Any]


def is_list(name: str) -> bool:
    """Return whether a name is a file of models, or some of them: ``models.yaml``, ``models.yaml::small*``."""
    return name.partition("::")[0].endswith(_ENDINGS) or _lister(name) is not None


def models_beside(names: Sequence[str]) -> list[str]:
    """Return the file of the only exam that is named, where it says which models sit it."""
    return [names[0].partition("::")[0]] if len(names) == 1 and _lister(names[0]) is not None else []


def _lister(name: str) -> Callable[[str], Sequence[tuple[str, str, Mapping[str, Any]]]] | None:
    """Return what lists the models of a file of exams; ``None`` where no dialect does."""
    lists = next((each.lists_models for each in dialects() if each.lists_models and each.recognises(name)), None)
    return None if lists is None else loaded(lists)


def listed(name: str) -> list[Listed]:
    """Return the models of a file, or those whose names fit the pattern behind ``::``.

    Raises:
        UsageError: The file is not there, is not a list of models, or has none that fits.
    """
    file, _, pattern = name.partition("::")
    models = list(_read(Path(file)))
    found = [each for each in models if not pattern or fnmatchcase(each.name, pattern)]
    if not found:
        hint = f"there are {', '.join(each.name for each in models)}" if models else ""
        raise UsageError(f"{file} has no model '{pattern}'" if models else f"{file} names no model", hint=hint)
    return found


def _read(path: Path) -> Iterator[Listed]:
    import yaml

    from proctor.foreign_yaml import parse_yaml, yaml_fault

    if (lister := _lister(str(path))) is not None:
        yield from (Listed(*each) for each in lister(str(path)))
        return
    place = Location(str(path))
    try:
        content = parse_yaml(path.read_bytes())
    except OSError as error:
        hint = "name models (openai/gpt-4o), or a file that lists them: NAME: {engine: openai, model: …}"
        raise UsageError(f"there is no list of models {path}", why=error.strerror or "", hint=hint) from None
    except yaml.YAMLError as error:
        place, why, hint = yaml_fault(error, str(path))
        raise UsageError("this is not YAML", location=place, why=why, hint=hint) from None
    if not isinstance(content, dict):
        raise UsageError(
            "a list of models is a mapping from names to models", location=place, hint="small: openai/gpt-4.1"
        )
    for name, said in content.items():
        yield _one(str(name), said, place)


def _one(name: str, said: Any, place: Location) -> Listed:
    if isinstance(said, str):
        return Listed(name, said, {})
    if not isinstance(said, dict) or not isinstance(said.get("engine"), str):
        raise UsageError(
            f"the model '{name}' names no engine", location=place, hint=f"{name}: {{engine: openai, model: …}}"
        )
    return Listed(name, said["engine"], {str(key): value for key, value in said.items() if key != "engine"})


# -- side by side -----------------------------------------------------------------------------------------------------


def say_side_by_side(results: Mapping[str, RunResult]) -> None:
    """Print scores of models and exams in a table, then what is decided between them, each in a sentence.

    Args:
        results: Of each model, by its name.
    """
    from proctor.cli.console import console

    cells = {(model, exam): entry for model, result in results.items() for exam, entry in result.results.items()}
    exams = list(dict.fromkeys(exam for _, exam in cells))
    if len(results) < 2 and len(exams) < 2:  # noqa: PLR2004 - two are beside each other
        return
    target = console()
    target.print(_table(list(results), exams, cells))
    for line in _decisions(results):
        target.print(line, markup=False, highlight=False, soft_wrap=True)


def _table(models: Sequence[str], exams: Sequence[str], cells: Mapping[tuple[str, str], Mapping[str, Any]]) -> Any:
    from rich import box
    from rich.table import Table

    from proctor.results.summary import shown
    from proctor.terminal_text import printable

    table = Table(box=box.SIMPLE_HEAD)
    for name in ("", *exams):
        table.add_column(printable(name), overflow="fold", justify="left" if not name else "right")
    for model in models:
        scores = [cells.get((model, exam), {}).get("score") for exam in exams]
        table.add_row(printable(model), *("-" if each is None else shown(each) for each in scores))
    return table


def _decisions(results: Mapping[str, RunResult]) -> Iterator[str]:
    """Yield a sentence on each model and each prompt, compared with the first, and how to see more of it."""
    folders = {model: result.output for model, result in results.items() if result.output is not None}
    if len(folders) > 1:
        (first, base), *others = folders.items()
        yield from sentences([(first, str(base)), *((name, str(folder)) for name, folder in others)])
        yield f"  more of it: proctor compare {shlex.join(map(str, folders.values()))}"
    if folders:
        yield f"  answers side by side: proctor report --answers flips {shlex.join(map(str, folders.values()))}"
    for model, folder in folders.items():
        exams = [name for name, entry in results[model].results.items() if "error" not in entry]
        if len(exams) > 1 and _are_wordings(results[model]):
            yield from sentences([(name, f"{folder}::{name}") for name in exams], model if len(folders) > 1 else "")


def _are_wordings(result: RunResult) -> bool:
    """Whether the exams of a run ask the same rows in other words."""
    rows = {str(entry.get("fingerprint", {}).get("rows")) for entry in result.results.values()}
    return len(rows) == 1 and "None" not in rows


def sentences(named: Sequence[tuple[str, str]], of: str = "") -> Iterator[str]:
    """Yield what is decided between the first of some runs, or exams of runs (``RUN::EXAM``), and each other."""
    from proctor.exchange.run_comparison import compare

    (first, _), *others = named
    try:
        found = compare(*(place for _, place in named))
    except ProctorError as error:
        say(f"note: not compared: {error.diagnostics[0].what}")
        return
    for (name, _), (_, _, rows) in zip(others, found, strict=True):
        for row in rows:
            task = "" if row.task_second not in ("", row.task) else f" on {row.task}"
            yield f"{of + ': ' if of else ''}{name} beside {first}{task}: {row.sentence(name)}"
