"""From what a user types to exams: catalog names, recipe strings, files, and the names of other dialects.

Each dialect answers for the names it knows, in the order of :mod:`proctor.dialects.registry`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from proctor.artifacts.catalogs import missing_catalogs
from proctor.dialects.registry import found_by
from proctor.errors import Diagnostic, ProctorError, UnknownArtifactError, UsageError, did_you_mean
from proctor.plugins import exam_folders
from proctor.recipes.exam import Exam
from proctor.recipes.one_name import file_exam
from proctor.recipes.options import ExamOptions


def resolve_tasks(names: Sequence[str], options: ExamOptions | None = None) -> list[Exam]:
    """Return the exams that names mean, in order, each once.

    Args:
        names: Names, globs, recipe strings, files or folders.
        options: What the caller changes about every exam.

    Raises:
        ProctorError: Every name that means nothing, all at once, with the closest names there are.
    """
    chosen = options or ExamOptions()
    if brought := tuple(map(str, exam_folders())):
        chosen = replace(chosen, include_paths=(*chosen.include_paths, *brought))
    exams: dict[str, Exam] = {}
    problems: list[ProctorError] = []
    for name in names:
        try:
            for exam in resolve_task(name, chosen):
                file_exam(exams, exam, exam.groups, name)
        except ProctorError as error:
            problems.append(_with_catalog(error, chosen.include_paths))
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise UsageError([diagnostic for problem in problems for diagnostic in problem.diagnostics])
    if not exams and names:
        raise UsageError(f"nothing is to be asked: {', '.join(names)} hold{'s' * (len(names) == 1)} no exam")
    if not exams:
        raise UsageError(
            "no exam is named", hint="--tasks samples runs the exams that come along; proctor ls lists all"
        )
    _check_options(exams, chosen)
    return list(exams.values())


def _with_catalog(error: ProctorError, folders: Sequence[str]) -> ProctorError:
    """Say of names that a folder of ``--include-path`` has as artifacts how the folder becomes a catalog."""
    hints = [_catalog_hint(each, folders) for each in error.diagnostics]
    if not any(hints):
        return error
    return type(error)([
        replace(each, hint=hint or each.hint) for each, hint in zip(error.diagnostics, hints, strict=True)
    ])  # fmt: skip


def _catalog_hint(problem: Diagnostic, folders: Sequence[str]) -> str:
    named = _QUOTED.search(problem.what) if problem.what.startswith("no catalog has") else None
    if named is None:
        return ""
    for folder in folders:
        if Path(folder, *named[1].split(".")).with_suffix(".json").is_file():
            return f"{folder} is a catalog, and --include-path is for task files: PROCTOR_CATALOGS={folder} takes it in"
    return ""


_QUOTED = re.compile(r"'([\w.]+)'")


def _check_options(exams: Mapping[str, Exam], options: ExamOptions) -> None:
    """Refuse what an exam cannot honour, and positions of exams that there are not: everything at once."""
    problems = list(_unknown_samples(exams, options))
    for exam in exams.values():
        problems += exam.refused()
    if problems:
        raise UsageError(problems)


def _unknown_samples(exams: Mapping[str, Exam], options: ExamOptions) -> Iterator[Diagnostic]:
    known = {each for name in exams for each in (name, name.partition("@")[0])}
    for name in options.samples or ():
        if name not in known:
            hint = did_you_mean(name, known) or f"the exams are {', '.join(exams)}"[:_LONGEST_LIST]
            yield Diagnostic(f"--samples names '{name}', which is not one of the exams", hint=hint)


_LONGEST_LIST = 200
"""Characters of names in a hint: three lines of a terminal."""


def resolve_task(name: str, options: ExamOptions) -> list[Exam]:
    """Return the exams that one name means.

    Raises:
        UnknownArtifactError: No dialect knows the name.
    """
    found = found_by(name, options)
    if found is None:
        raise _unknown(name, options)
    if not options.metric:
        return found[1]
    from proctor.dialects.own_metrics import metric_in
    from proctor.recipes.metric_words import scored_by

    return [scored_by(each, options, metric_in) for each in found[1]]


def _unknown(name: str, options: ExamOptions) -> UnknownArtifactError:
    """Return the error about a name that nobody knows, with the closest names of all dialects."""
    from proctor.dialects.missing_files import fault_of_path

    if (fault := fault_of_path(name)) is not None:
        return fault
    from proctor.dialects.known_names import where_to_get
    from proctor.dialects.listing import everything
    from proctor.recipes.metric_words import metric_names
    from proctor.scoring.metric_table import is_metric, whole_name
    from proctor.scoring.named_table import LM_EVAL

    known = everything(kinds=("exam", "benchmark", "group", "tag", "suite"), include_paths=options.include_paths)
    if (part := _without_part(name, {entry.name for entry in known})) is not None:
        return part
    here, elsewhere = did_you_mean(name, [entry.name for entry in known]), where_to_get(name)
    hint = elsewhere if " is an exam of " in elsewhere or not here else here
    if _OF_HUB.fullmatch(name):
        hint = f"a dataset of the hub is hf/{name}" + (f"; {hint}" if hint else "")
    if is_metric(whole_name(name), LM_EVAL):
        hint = f"'{name}' is a metric: --metric {name}"
    elif not hint and (near := did_you_mean(name, metric_names())):
        hint = f"{near} It is a metric: --metric NAME"
    missing = ", ".join(catalog.title for catalog in missing_catalogs())
    why = f"PROCTOR_CATALOGS names {missing}, and there is no such folder" if missing else ""
    return UnknownArtifactError(
        f"there is no exam '{name}'", why=why, hint=hint or "proctor ls lists the exams there are"
    )


_OF_HUB = re.compile(r"[A-Za-z][\w-]*/[\w-][\w.-]*(/[\w.-]+){0,2}")
"""Names as the hub has datasets; files are told of before."""
_PARTS = {
    "@": ("template", "task files of lm-eval name templates so; --template NAME chooses one of a recipe"),
    "::": ("member", "groups of task files name members so"),
}


def _without_part(name: str, known: Container[str]) -> UnknownArtifactError | None:
    """Return the error about a part (``exam@template``, ``group::member``) of an exam that has none of that name."""
    for mark, (what, hint) in _PARTS.items():
        whole, _, part = name.partition(mark)
        if part and whole in known:
            return UnknownArtifactError(f"'{whole}' has no {what} '{part}'", hint=hint)
    return None
