"""Reading ``eval.yaml``: tasks with their problems, each at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from proctor.dialects.hub_yaml.config import SCORERS, SOLVERS, FieldSpec, HubTask, Step
from proctor.errors import DataError, Diagnostic, Location, ValidationError, did_you_mean, reason_of
from proctor.foreign_text import NotAFileError, read_source
from proctor.foreign_yaml import parse_with_nodes, yaml_fault
from proctor.scoring.metric_table import is_metric

FRAMEWORK = "inspect-ai"
_KEYS = (
    *("id", "config", "split", "field_spec", "shuffle_choices", "epochs", "epoch_reducer", "clusters", "solvers"),
    "scorers",
)
_OF_FILE = ("name", "description", "evaluation_framework", "tasks")
_REDUCERS = re.compile(r"(?:pass_at_|at_least_)[1-9]\d*|max|mode|median|mean")
_UNREAD_FIELDS = {
    "id": "samples are numbered",
    "description": "nobody is told it",
    "checkpoint": "nothing runs long enough for one",
}
"""Fields of samples that change nothing about what is asked or scored, here as in inspect."""
_UNUSABLE_FIELDS = ("sandbox", "files", "setup")

Path_ = tuple[str | int, ...]


def read_tasks(file: Path, dataset: str, revision: str | None = None) -> list[HubTask]:
    """Return the tasks of an ``eval.yaml``.

    Args:
        file: The file.
        dataset: Hub id or folder of its dataset.
        revision: Of the dataset.

    Raises:
        ValidationError: With every problem of the file.
        DataError: It cannot be read at all.
    """
    return _File(file, dataset, revision).tasks()


class _File:
    """One file while it is read."""

    def __init__(self, file: Path, dataset: str, revision: str | None) -> None:
        self._file, self._dataset, self._revision = file, dataset, revision
        self._problems: list[Diagnostic] = []
        try:
            self._root, self._values = parse_with_nodes(read_source(file))
        except yaml.MarkedYAMLError as error:
            place, why, hint = yaml_fault(error, str(file))
            raise DataError("the file is not valid YAML", location=place, why=why, hint=hint) from None
        except (OSError, NotAFileError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise DataError("the file cannot be read", location=Location(str(file)), why=reason_of(error)) from None

    # -- problems -----------------------------------------------------------------------------------------------

    def _place(self, path: Path_) -> Location:
        """Return where a value stands, as near as the file has it."""
        node: Any = self._root
        for key in path:
            found = None
            if isinstance(node, yaml.MappingNode):
                found = next((value for name, value in node.value if name.value == str(key)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                found = node.value[key]
            if found is None:
                break
            node = found
        mark = getattr(node, "start_mark", None)
        return Location(str(self._file), mark.line + 1, mark.column + 1) if mark else Location(str(self._file))

    def _say(self, path: Path_, what: str, why: str = "", hint: str = "") -> None:
        where = "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        self._problems.append(Diagnostic(what, self._place(path), where, why, hint))

    def _unknown(self, path: Path_, given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
        for key in given:
            if key not in known:
                hint = did_you_mean(str(key), known) or f"there are {', '.join(known)}"
                self._say((*path, str(key)), f"{what} has no key '{key}'", hint=hint)

    # -- parts --------------------------------------------------------------------------------------------------

    def tasks(self) -> list[HubTask]:
        values = self._values
        if not isinstance(values, Mapping) or not isinstance(values.get("tasks"), list) or not values["tasks"]:
            self._say(("tasks",), "the file has no tasks", hint="tasks: is a list with at least one task")
            raise ValidationError(self._problems)
        self._unknown((), values, _OF_FILE, "the file")
        framework = values.get("evaluation_framework")
        if framework not in (None, FRAMEWORK):
            hint = f"only files for {FRAMEWORK} say how to ask and to score"
            self._say(("evaluation_framework",), f"the file is written for '{framework}'", hint=hint)
            raise ValidationError(self._problems)
        found = [self._task(number, each) for number, each in enumerate(values["tasks"])]
        ids = [each.id for each in found if each is not None]
        for number, each in enumerate(found):
            if each is not None and (ids.count(each.id) > 1 or (not each.id and len(found) > 1)):
                what = "two tasks have one id" if each.id else "a task has no id"
                self._say(("tasks", number), what, hint="with several tasks, each needs an id of its own")
        if self._problems:
            raise ValidationError(self._problems)
        return [each for each in found if each is not None]

    def _task(self, number: int, values: object) -> HubTask | None:
        path: Path_ = ("tasks", number)
        if not isinstance(values, Mapping):
            self._say(path, "a task is a mapping")
            return None
        self._unknown(path, values, _KEYS, "a task")
        epochs = values.get("epochs", 1)
        if isinstance(epochs, bool) or not isinstance(epochs, int) or epochs < 1:
            self._say((*path, "epochs"), f"epochs is {epochs!r}", why="it is a whole number, 1 or more")
            epochs = 1
        reducer = values.get("epoch_reducer") or "mean"
        if not isinstance(reducer, str) or not _REDUCERS.fullmatch(reducer):
            hint = "there are mean, median, mode, max, pass_at_K, at_least_K"
            self._say((*path, "epoch_reducer"), f"there is no reducer {reducer!r}", hint=hint)
            reducer = "mean"
        self._check_reach(path, reducer, epochs)
        return HubTask(
            self._dataset,
            self._text(path, values, "id", ""),
            self._fields((*path, "field_spec"), values.get("field_spec")),
            self._steps((*path, "solvers"), values.get("solvers"), SOLVERS),
            self._steps((*path, "scorers"), values.get("scorers"), SCORERS),
            self._text(path, values, "config", "default"),
            self._text(path, values, "split", "test"),
            self._revision,
            self._switch(path, values, "shuffle_choices"),
            epochs,
            reducer,
            self._text(path, values, "clusters", "") or None,
            self._place(path),
        )

    def _check_reach(self, path: Path_, reducer: str, epochs: int) -> None:
        count = reducer.rpartition("_")[2]
        if count.isdigit() and int(count) > epochs:
            why = f"each sample is asked {epochs} time{'s' * (epochs > 1)}"
            self._say((*path, "epoch_reducer"), f"{reducer} needs {count} answers", why=why, hint=f"epochs: {count}")

    def _text(self, path: Path_, values: Mapping[str, Any], key: str, default: str) -> str:
        value = values.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self._say((*path, key), f"{key} is {value!r}", why="it is a text", hint=f"{key}: '{value}'")
            return default
        return value

    def _switch(self, path: Path_, values: Mapping[str, Any], key: str) -> bool:
        value = values.get(key)
        if not isinstance(value, bool | None):  # 1 is no switch
            self._say((*path, key), f"{key} is {value!r}", why="it is true or false")
        return value is True

    def _fields(self, path: Path_, values: object) -> FieldSpec:
        if not isinstance(values, Mapping):
            self._say(path, "a task needs a field_spec", hint="field_spec: {input: question, target: answer}")
            return FieldSpec()
        own = ("input", "target", "choices", "metadata", "input_image")
        self._unknown(path, values, (*own, *_UNREAD_FIELDS, *_UNUSABLE_FIELDS), "field_spec")
        for key in _UNUSABLE_FIELDS:
            if values.get(key) is not None:
                why = "no solver of these files uses it, and inspect drops it without a word"
                self._say((*path, key), f"field_spec.{key} has no effect", why=why, hint="take it out")
        return FieldSpec(
            self._text(path, values, "input", "input"),
            self._text(path, values, "target", "target"),
            self._choices(path, values.get("choices")),
            self._names((*path, "metadata"), values.get("metadata")),
            self._text(path, values, "input_image", "") or None,
        )

    def _choices(self, path: Path_, value: object) -> str | tuple[str, ...] | None:
        if value is None or isinstance(value, str):
            return value
        return self._names((*path, "choices"), value) or None

    def _names(self, path: Path_, value: object) -> tuple[str, ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self._say(path, f"{path[-1]} is {value!r}", why="it is a list of names of columns")
            return ()
        return tuple(value)

    def _steps(self, path: Path_, values: object, known: Sequence[str]) -> tuple[Step, ...]:
        if not isinstance(values, list) or not values:
            self._say(path, f"a task needs {path[-1]}", hint=f"there are {', '.join(known)}")
            return ()
        return tuple(self._read_steps(path, values, known))

    def _read_steps(self, path: Path_, values: Sequence[Any], known: Sequence[str]) -> Iterator[Step]:
        kind = str(path[-1]).removesuffix("s")
        for number, each in enumerate(values):
            here = (*path, number)
            if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
                self._say(here, f"a {kind} has a name", hint=f"- name: {known[0]}")
                continue
            self._unknown(here, each, ("name", "args"), f"a {kind}")
            args = each.get("args") or {}
            if each["name"] not in known and not (known is SCORERS and is_metric(each["name"])):
                hint = did_you_mean(each["name"], known) or f"there are {', '.join(known)}"
                self._say((*here, "name"), f"there is no {kind} '{each['name']}'", hint=hint)
            elif not isinstance(args, Mapping) or not all(isinstance(key, str) for key in args):
                self._say((*here, "args"), f"args of '{each['name']}' is not a mapping of names to values")
            else:
                yield Step(each["name"], dict(args), self._place(here))
