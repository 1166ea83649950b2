"""Checks of task files: everything that can be known without data and without running code, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.checks import TASK_KEYS, task_problems
from proctor.dialects.lm_eval.factory import resolve_template, template_choices
from proctor.dialects.lm_eval.filters import filter_problems, repeats_lacking
from proctor.dialects.lm_eval.fork_names import fork_files
from proctor.dialects.lm_eval.group_checks import group_problems, task_list_problems
from proctor.dialects.lm_eval.index import IGNORED_FOLDERS, TaskIndex, build_index, file_entries
from proctor.dialects.lm_eval.jinja import compile_text, is_template
from proctor.dialects.lm_eval.metrics import metric_problems
from proctor.dialects.lm_eval.reader import FunctionReference, TaskFile, TaskReader, repeated_keys
from proctor.dialects.lm_eval.selection import TaskFinder
from proctor.errors import Diagnostic, Location, ProctorError, TrustError, closest, did_you_mean
from proctor.running.run_files import is_run_file
from proctor.scoring.aggregations import AGGREGATIONS

_TEMPLATES = (
    *("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix", "doc_to_decontamination_query"),
)
_NEEDED = {
    "multiple_choice": ("doc_to_text", "doc_to_target", "doc_to_choice"),
    "generate_until": ("doc_to_text", "doc_to_target"),
    "loglikelihood": ("doc_to_text", "doc_to_target"),
    "loglikelihood_rolling": ("doc_to_target",),
}


def validate(path: str | Path, *, installed: bool = True) -> tuple[list[Path], list[Diagnostic]]:
    """Return the task files that a path is or has below it, and every problem of them.

    Args:
        path: File or folder.
        installed: Whether groups may name tasks of the installed ``lm_eval`` package.
    """
    place = Path(path).expanduser().resolve()
    files = _files(place) if place.is_dir() else [place] if place.suffix in _ENDINGS else []
    if not files:
        return [], []
    folder = place.parent if place.is_file() else place
    checker = _Checker(build_index([folder], installed=installed), installed=installed, root=str(folder))
    found = [problem for file in files for problem in checker.file(str(file))]
    found += [_duplicate(*each) for each in checker.index.duplicates if Path(each[2]).is_relative_to(folder)]
    return files, found


_ENDINGS = (".yaml", ".yml", "")
"""Of task files; those that others include often have none."""


def _files(folder: Path) -> list[Path]:
    found = (each for each in folder.rglob("*.yaml") if not IGNORED_FOLDERS & set(each.parts))
    return sorted(each for each in found if not is_run_file(each))


def _duplicate(name: str, first: str, second: str) -> Diagnostic:
    return Diagnostic(f"two files define '{name}'", Location(second), why=f"the other is {first}", hint="rename one")


class _Checker:
    def __init__(self, index: TaskIndex, *, installed: bool, root: str) -> None:
        self.index = index
        self._installed = installed
        self._root = root
        self._reader = TaskReader([root])

    def file(self, path: str) -> Iterator[Diagnostic]:
        try:
            read = self._reader.read(path)
        except ProctorError as error:
            yield from error.diagnostics
            return
        values = read.values
        if "class" in values:
            yield from self._functions(values, "")
        elif "group" in values:
            yield from self._group(read)
        elif "task_list" in values:
            yield from self._task_list(read)
        elif "task" in values:
            yield from self._task(values, read, "")
        else:
            yield from _nameless(read)
        yield from _repeated(read)

    def _task_list(self, read: TaskFile) -> Iterator[Diagnostic]:
        common = {key: value for key, value in read.values.items() if key != "task_list"}
        listed = read.values["task_list"]
        problems = list(task_list_problems(listed, read.location))
        yield from problems
        for number, each in enumerate(listed if not problems else ()):
            own = {"task": each} if isinstance(each, str) else each
            found = list(self._task({**common, **own}, read, f"task_list[{number}]"))
            yield from found
            if found:
                return  # what is common to the entries would be said again for each of them

    def _task(self, values: Mapping[str, Any], read: TaskFile, item: str) -> Iterator[Diagnostic]:
        def locate(path: str) -> Location:
            return read.location(path, item)

        problems = [] if "class" in values else list(task_problems(values, locate))
        yield from problems
        if problems:
            return
        if "class" in values:
            yield from self._functions(values, "")
            return
        yield from self._functions(values, "")
        yield from self._templates(values, locate)
        fork = fork_files(values.get("metric_list"), values.get("filter_list"), read.path)
        yield from self._names(
            values, locate, _registered(values) + " ".join(each for one in fork.values() for each in one)
        )
        yield from self._needs(values, read, locate)

    @staticmethod
    def _needs(values: Mapping[str, Any], read: TaskFile, locate: Any) -> Iterator[Diagnostic]:
        if values.get("recipe") is not None or values.get("use_prompt") is not None:
            return
        kind = values.get("output_type", "generate_until")
        places = _template_places(values.get("template"))
        for key in _NEEDED.get(kind, ()):
            if values.get(key) is None and key not in places:
                yield Diagnostic(f"a task of output_type {kind} needs {key}", Location(read.path), f"$.{key}")
        if values.get("test_split") is None and values.get("validation_split") is None:
            what = "the task names neither test_split nor validation_split"
            yield Diagnostic(what, Location(read.path), hint="test_split: test")
        if values.get("dataset_path") is None and values.get("custom_dataset") is None:
            yield Diagnostic("the task names no dataset_path", Location(read.path))
        if values.get("template") is not None:
            yield from _template_problems(values["template"], locate, read.path)

    @staticmethod
    def _templates(values: Mapping[str, Any], locate: Any) -> Iterator[Diagnostic]:
        fewshot = values.get("fewshot_config")
        nested = {f"fewshot_config.{key}": value for key, value in fewshot.items()} if isinstance(fewshot, dict) else {}
        for key, value in {**values, **nested}.items():
            if key.rpartition(".")[2] in _TEMPLATES and isinstance(value, str) and is_template(value):
                try:
                    compile_text(value)
                except ProctorError as error:
                    yield from error.located(locate(key), f"$.{key}").diagnostics

    @staticmethod
    def _names(values: Mapping[str, Any], locate: Any, registered: str) -> Iterator[Diagnostic]:
        computed = values.get("process_results") is not None
        for number, entry in enumerate(values.get("metric_list") or ()):
            metric, how = entry.get("metric"), entry.get("aggregation")
            if isinstance(metric, str) and not computed and metric not in registered:
                path = f"metric_list[{number}].metric"
                yield from (each.at(locate(path), f"$.{path}") for each in metric_problems(entry))
            if isinstance(how, str) and how not in AGGREGATIONS and how not in registered:
                path = f"metric_list[{number}].aggregation"
                hint = did_you_mean(how, AGGREGATIONS)
                yield Diagnostic(f"there is no aggregation '{how}'", locate(path), f"$.{path}", hint=hint)
        filters = values.get("filter_list")
        for number, entry in enumerate(filters if isinstance(filters, list) else ()):
            for step, each in enumerate(entry["filter"]):
                name = each["function"]
                if isinstance(name, str) and repr(name)[1:-1] not in registered:
                    path = f"filter_list[{number}].filter[{step}].function"
                    found = [*filter_problems(each), *repeats_lacking(each, values.get("repeats", 1))]
                    yield from (problem.at(locate(path), f"$.{path}") for problem in found)

    def _functions(self, value: Any, path: str) -> Iterator[Diagnostic]:
        if isinstance(value, FunctionReference):
            yield from _function_problems(value, path)
        elif isinstance(value, dict):
            for key, each in value.items():
                yield from self._functions(each, f"{path}.{key}" if path else str(key))
        elif isinstance(value, list):
            for number, each in enumerate(value):
                yield from self._functions(each, f"{path}[{number}]")

    def _group(self, read: TaskFile) -> Iterator[Diagnostic]:
        problems = list(group_problems(read.values, read.location))
        yield from problems
        if problems:
            return
        finder = TaskFinder([self._root], installed=False)
        finder.__dict__["index"] = self.index
        for entry in list(file_entries(read))[:1]:
            try:
                members = finder.find(entry.name)
            except TrustError:
                return
            except ProctorError as error:
                yield from error.located(Location(read.path)).diagnostics
                return
            for member in members:
                for leaf in member.leaves() if hasattr(member, "leaves") else ():
                    if leaf.source is not None and leaf.source.path == read.path:
                        found = list(self._task({**leaf.values, "task": leaf.name}, read, leaf.item))
                        yield from found
                        if found and not leaf.item:
                            return  # members share what is wrong with their template


_NAMING = ("task", "task_list", "group", "class")


def _nameless(read: TaskFile) -> Iterator[Diagnostic]:
    """Yield keys of a file that defines nothing, and looks as if it were to: others are bases of tasks."""
    for key in read.own - TASK_KEYS.keys():
        if key == "children":
            hint = "group: name, beside children"
            yield Diagnostic("the file has children, and names no group", read.location(key), "$.children", hint=hint)
        elif near := closest(key, _NAMING):
            hint = f"did you mean '{near[0]}'?"
            yield Diagnostic(f"there is no key '{key}'", read.location(key), f"$.{key}", hint=hint)


def _repeated(read: TaskFile) -> Iterator[Diagnostic]:
    for path, place in repeated_keys(Path(read.path).read_bytes(), read.path):
        what = f"the key '{path.rpartition('.')[2]}' is there twice"
        yield Diagnostic(
            what, place, f"$.{path}", "the last one counts, and the others do not", "leave one of them out"
        )


def _template_problems(template: object, locate: Any, file: str) -> Iterator[Diagnostic]:
    """Yield what is wrong with each of the templates that a task offers."""
    try:
        names = list(template_choices(template))
    except ProctorError as error:
        yield from error.located(locate("template")).diagnostics
        return
    for name in names:
        try:
            resolve_template(template, name, file)
        except TrustError:
            continue
        except ProctorError as error:
            yield from error.located(locate(f"template.{name}") or locate("template")).diagnostics


def _template_places(template: object) -> set[str]:
    """Return which of the task's fields its templates set themselves."""
    names = {"question": "doc_to_text", "answer": "doc_to_target", "choices": "doc_to_choice"}
    specs = template.values() if isinstance(template, dict) else ()
    return {names.get(key, str(key)) for spec in specs if isinstance(spec, dict) for key in spec}


def _registered(value: Any) -> str:
    """Return the text of the modules that a task names: code may register filters and metrics of its own."""
    if isinstance(value, FunctionReference):
        text = value.file.read_text(encoding="utf-8", errors="replace") if value.file.is_file() else ""
        return text if "register_" in text else ""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return "".join(_registered(each) for each in parts)


_WAYS_TO_MAKE_NAMES = ("globals()", "setattr(", "__getattr__", "import *", "exec(")


def _function_problems(reference: FunctionReference, path: str) -> Iterator[Diagnostic]:
    """Look for the function in its file's text; nothing is imported."""
    module, _, name = reference.name.rpartition(".")
    file = reference.file
    if not module:
        hint = "write !function module.function"
        yield Diagnostic(f"'{reference.name}' names no module", reference.location, f"$.{path}", hint=hint)
    elif file.is_file():
        text = file.read_text(encoding="utf-8", errors="replace")
        if name not in text and not any(way in text for way in _WAYS_TO_MAKE_NAMES):
            yield Diagnostic(f"{file} has no '{name}'", reference.location, f"$.{path}")
