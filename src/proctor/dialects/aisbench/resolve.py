"""From what a user types to exams: the door of this dialect.

``FILE.py`` and the names of installed configs mean all their datasets; ``NAME::ABBR`` (a glob, too) means some of them.
``opencompass/NAME`` and ``aisbench/NAME`` say which package is meant. ``rows.csv[data_type=qa,project=aisbench]`` is a
custom dataset; so is ``rows.csv`` where a ``rows.csv.meta.json`` lies beside it, else it is a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench import OWN_FILE
from proctor.dialects.aisbench.config import DatasetConfig, checked, dataset_config
from proctor.dialects.aisbench.datasets.custom import custom_dataset
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.file_keys import file_problems, filled, is_custom
from proctor.dialects.aisbench.index import DATASET, EXAMS, config_entries, find_config
from proctor.dialects.aisbench.judged_names import with_own_names
from proctor.dialects.aisbench.options import DatasetOptions, dataset_options
from proctor.dialects.aisbench.reader import datasets_of, read_config, summarizer_of
from proctor.dialects.aisbench.values import abbr_of, location_of
from proctor.errors import (
    Diagnostic,
    Location,
    MissingFieldError,
    ProctorError,
    UnknownArtifactError,
    UsageError,
    ValidationError,
    did_you_mean,
)
from proctor.lazy import Deferred
from proctor.logs import get_logger
from proctor.recipes.exam import Exam, add_groups
from proctor.recipes.honours import OF_TABLES
from proctor.recipes.options import ExamOptions

if TYPE_CHECKING:
    from proctor.results import dataset_groups
else:
    dataset_groups = Deferred("proctor.results.dataset_groups")

SOURCES = ("opencompass", "aisbench")
_GLOB = frozenset("*?[")
_OWN_PARTS = ("meta_path", "data_type", "infer_method", "abbr", "human_prompt", "bot_prompt", "test_range")
"""What a name may say about a file of rows, beside ``project``."""


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams that one name means, ``None`` where this dialect does not know it.

    Raises:
        ProctorError: It is known, and cannot be built.
    """
    if (file := OWN_FILE.fullmatch(name)) is not None and Path(file[1]).is_file():
        return [_exam_of_file(file[1], options, file[2])]
    base, _, wanted = name.partition("::")
    if "=" in base or not base:
        return None
    if base.endswith((".jsonl", ".csv")) and Path(base).is_file():
        return [_exam_of_file(base, options)]
    paths = _paths(base, options.include_paths)
    if paths is None:
        return None
    exams: dict[str, Exam] = {}
    for path in paths:
        for exam in exams_of_config(path, wanted, options):
            exams.setdefault(exam.name, exam)
    return list(exams.values())


def _own_dataset(path: str, listed: str, project: str) -> dict[str, Any]:
    """Return the dataset config of ``rows.jsonl[data_type=qa,project=aisbench]``.

    Args:
        path: The file.
        listed: What stands in brackets.
        project: Whose prompt is meant where nothing says it.

    Raises:
        UsageError: A part is unknown.
    """
    parts = {part.partition("=")[0]: part.partition("=")[2] for part in listed.split(",") if part}
    project = parts.pop("project", project)
    if unknown := [name for name in parts if name not in _OWN_PARTS]:
        known = [*OF_TABLES, *_OWN_PARTS]
        raise UsageError(
            f"a file of rows has no '{unknown[0]}'", hint=did_you_mean(unknown[0], known) or ", ".join(known)
        )
    if project not in SOURCES:
        raise UsageError(f"there is no project '{project}'", hint="opencompass or aisbench: whose prompt is meant")
    return custom_dataset({"path": path, **parts}, project)


def _exam_of_file(path: str, options: ExamOptions, listed: str = "") -> Exam:
    """Return the exam that a user's table of questions is; ``listed`` is what stands in brackets behind its name.

    Raises:
        DataError: It lacks the columns that are asked, or those that answers are compared with.
    """
    changed = dataset_options(options)
    config = dataset_config(_own_dataset(path, listed, "aisbench" if changed.own_limit else "opencompass"))
    if config.reader.get("output_column") is None and not options.predict_only:
        raise MissingFieldError([_without_answers(path, config.reader)])
    return dataset_exam(config, options, changed)


def _without_answers(path: str, reader: Mapping[str, Any]) -> Diagnostic:
    columns = ", ".join(f"'{name}'" for name in reader["input_columns"])
    return Diagnostic(
        f"the file '{path}' has no column 'answer' to compare answers with",
        location=Location(path),
        why=f"its columns are {columns}",
        hint="rename the column with the answers; to record what the model says and score nothing: --predict-only",
    )


def _paths(base: str, include_paths: Sequence[str]) -> list[Path] | None:
    if base.endswith(".py"):
        if Path(base).is_file():
            return [Path(base)]
        if "/" in base or find_config(base, include_paths, EXAMS) is None:
            folder = Path(base).parent
            near = [str(each) for each in folder.glob("*.py")] if folder.is_dir() else []
            hint = did_you_mean(base, near) or "proctor ls --from opencompass lists the configs of an installed package"
            raise UnknownArtifactError(f"there is no file '{base}'", hint=hint)
    stem = base.removesuffix(".py")
    source, _, rest = stem.partition("/")
    if source in SOURCES and rest:
        found = [
            entry.path
            for entry in config_entries(include_paths).values()
            if entry.source == source and entry.kind in EXAMS and rest in (entry.address, entry.name)
        ]
        return found or None
    if _GLOB & set(stem):
        entries = config_entries(include_paths).values()
        return [entry.path for entry in entries if entry.kind == DATASET and fnmatchcase(entry.name, stem)] or None
    path = find_config(stem, include_paths, EXAMS)
    return None if path is None else [path]


def exams_of_config(path: Path, wanted: str, options: ExamOptions) -> list[Exam]:
    """Return the exams of a config file; each knows the summary groups that it belongs to.

    Args:
        path: The file.
        wanted: A name or glob over its datasets; empty for all.
        options: What the run changes.

    Raises:
        ProctorError: The file cannot be read, has no such dataset, or datasets have problems: all of them at once.
    """
    values = read_config(path)
    if problems := list(file_problems(values)):
        raise ValidationError(problems)
    written = datasets_of(values)
    found = [filled(each, values) for each in written]
    chosen = [each for each in found if not wanted or fnmatchcase(abbr_of(each), wanted)]
    if not chosen:
        raise _nothing(path, wanted, found)
    _warn_of_duplicates(path, chosen)
    if unanswerable := [] if options.predict_only else list(_unanswerable(written, found, chosen)):
        raise MissingFieldError(unanswerable)
    changed = dataset_options(options)
    groups = groups_of(values)
    exams = _exams(checked(chosen), options, changed)
    return [add_groups(exam, [group for group in groups if exam.name in group.members]) for exam in exams]


def _unanswerable(
    written: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]], chosen: Sequence[Mapping[str, Any]]
) -> Iterator[Diagnostic]:
    """Yield the users' own files without a column that answers are compared with: they would all be wrong."""
    for own, made in zip(written, found, strict=True):
        is_compared = is_custom(own) and "evaluator" not in own and any(made is each for each in chosen)
        if is_compared and made["reader_cfg"].get("output_column") is None:
            yield _without_answers(str(own["path"]), made["reader_cfg"])


def _exams(configs: Sequence[DatasetConfig], options: ExamOptions, changed: DatasetOptions) -> list[Exam]:
    """Return datasets as exams.

    Raises:
        ProctorError: What the run says cannot be done with some of them: all of them at once.
    """
    exams: list[Exam] = []
    errors: list[ProctorError] = []
    for config in configs:
        try:
            exams.append(dataset_exam(config, options, changed))
        except ProctorError as error:
            errors.append(error)
    if len(errors) > 1:
        raise ValidationError(list(dict.fromkeys(each for error in errors for each in error.diagnostics)))
    if errors:
        raise errors[0]
    return exams


def _warn_of_duplicates(path: Path, chosen: Sequence[Mapping[str, Any]]) -> None:
    """Say which datasets are left out because another one has their name already, as upstream leaves them out."""
    first: dict[str, Mapping[str, Any]] = {}
    twice = {abbr_of(each): each for each in chosen if first.setdefault(abbr_of(each), each) != each}
    if twice:
        name, second = next(iter(twice.items()))
        places = [str(place) for each in (first[name], second) if (place := location_of(each)) is not None]
        get_logger().warning(
            "%s: different datasets have one abbr, and only the first is asked: %s%s; give them names of their own",
            path,
            ", ".join([f"'{each}'" for each in twice][:3]) + (f" and {len(twice) - 3} more" if len(twice) > 3 else ""),  # noqa: PLR2004
            f" ({' and '.join(places)})" if places else "",
        )


def groups_of(values: Mapping[str, Any]) -> list[dataset_groups.SummaryGroup]:
    """Return the summary groups of a config; of those with one name, whose scores share a row, the last."""
    summarizer = with_own_names(summarizer_of(values), datasets_of(values))
    return (
        []
        if summarizer is None
        else list({group.name: group for group in dataset_groups.summary_groups(summarizer)}.values())
    )


def _nothing(path: Path, wanted: str, found: Sequence[Mapping[str, Any]]) -> ProctorError:
    names = [abbr_of(each) for each in found]
    if not names:
        return UsageError(
            f"the config {path} has no datasets",
            why="neither a list `datasets` nor lists whose names end in _datasets hold any",
            hint="this may be a config of models or of a summarizer",
        )
    return UnknownArtifactError(
        f"the config {path} has no dataset '{wanted}'",
        hint=did_you_mean(wanted, names) or f"there are {', '.join(names[:20])}",
    )


def configs_of(name: str, include_paths: Sequence[str] = ()) -> list[DatasetConfig]:
    """Return the datasets of a config, checked, without opening their data.

    Raises:
        ProctorError: There is no such config, or it has problems.
    """
    base, _, wanted = name.partition("::")
    paths = _paths(base, include_paths)
    if not paths:
        raise UnknownArtifactError(f"there is no config '{base}'", hint="proctor ls --from opencompass lists them")
    read = [read_config(path) for path in paths]
    found = [filled(each, values) for values in read for each in datasets_of(values)]
    return checked([each for each in found if not wanted or fnmatchcase(abbr_of(each), wanted)])
