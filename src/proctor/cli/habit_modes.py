"""Modes of AISBench's and OpenCompass' command lines: ``--search``, ``--mode eval|judge|viz``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.error_reporting import FAILURES, say, warn
from proctor.cli.exam_options import find_exams
from proctor.cli.habits import Habits
from proctor.errors import UnknownArtifactError, UsageError
from proctor.recipes.options import LOOKED_UP, OPTIONS

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam
    from proctor.runs.work_dir import WorkDir

WORK_DIR = Path("outputs/default")
"""Where AISBench and OpenCompass work unless ``--work-dir`` says otherwise."""


def search(models: Sequence[str], tasks: Sequence[str], summarizer: str | None, include_paths: Sequence[str]) -> int:
    """Print the file behind each name; return the exit code.

    Raises:
        UsageError: No name is given.
        UnknownArtifactError: A name is not a config's.
    """
    import click

    from proctor.dialects.aisbench.index import EXAMS, MODEL, SUMMARIZER, find_config

    wanted = [("--models", name, (MODEL,)) for name in models] + [("--datasets", name, EXAMS) for name in tasks]
    wanted += [("--summarizer", summarizer, (SUMMARIZER,))] if summarizer else []
    if not wanted:
        raise UsageError("--search looks for nothing", hint="add --models, --datasets or --summarizer")
    missing = []
    for option, name, kinds in wanted:
        path = find_config(name, include_paths, kinds)
        if path is None:
            missing.append(name)
        else:
            click.echo(f"{option}\t{name}\t{path.resolve()}")
    if missing:
        hint = "proctor get ais-bench (or opencompass) fetches their configs; proctor ls --from aisbench lists them"
        raise UnknownArtifactError(f"there is no config {', '.join(missing)}", hint=hint)
    return 0


def look_back(
    habits: Habits, names: Sequence[str], options: dict[str, Any], output: Path | None, **printed: bool
) -> int:
    """Grade or show what an earlier run of AISBench, OpenCompass or Proctor left in a work folder; ask no model.

    Judges are asked what the response log does not have.

    Args:
        habits: The command line; its mode is ``eval``, ``judge`` or ``viz``.
        names: The exams.
        options: The options of exams.
        output: The work folder.
        printed: How to print results.
    """
    from proctor.runs.work_dir import PREDICTIONS, RESULTS, WorkDir

    folder = output or WORK_DIR
    if _is_own_run(folder) and (habits.mode == "viz" or not (folder / PREDICTIONS).is_dir()):
        return _own_run(folder, habits.mode, **printed)
    if habits.mode == "viz" and (runs := _runs_of_models(folder)):
        return _show_table(runs, names, habits["--summarizer"], options)
    time = habits["--reuse"]
    work = WorkDir.find(folder, time if isinstance(time, str) else None)
    say(f"work folder: {work.path}")
    if habits.mode == "viz":
        results: Mapping[str, Any] = {model: work.results(model) for model in work.models(RESULTS)}
        return _show_table(results, names, habits["--summarizer"], options)
    given = {name: value for name, value in options.items() if name in _OF_EXAMS}
    configs = _configs(habits, names, options)

    def exams_for(model: str) -> list[Exam]:
        said = {"model_config": configs[model]} if model in configs else {}
        return find_exams(list(names), {**given, **said})

    return _graded(work, exams_for, habits, names, options, **printed)


def _configs(habits: Habits, names: Sequence[str], options: Mapping[str, Any]) -> dict[str, str]:
    """Return what means the configs of models, by the names of their folders: repeats and post-processors are theirs.

    Raises:
        ProctorError: A config cannot be read.
    """
    from proctor.dialects.aisbench.models import find_models, says_how_to_score

    texts = [*habits.models, options.get("model") or "", *(name.partition("::")[0] for name in names)]
    found: dict[str, str] = {}
    for text in filter(None, dict.fromkeys(texts)):
        for each, values in find_models(text, options.get("include_paths") or ()) or ():
            if says_how_to_score(values):
                found.setdefault(each.partition("::")[2], each)
    return found


_OF_EXAMS = frozenset({*OPTIONS, *LOOKED_UP, "trust_code"})


def _is_own_run(folder: Path) -> bool:
    from proctor.runs.stored_run import is_run

    return is_run(folder)


def _runs_of_models(folder: Path) -> dict[str, Any]:
    """Return the scores of the run folders in a folder, by model; nothing where there are none, or AISBench's files."""
    from proctor.runs.stored_run import load_run
    from proctor.runs.work_dir import RESULTS

    inner = sorted(each for each in folder.iterdir() if _is_own_run(each)) if folder.is_dir() else []
    return {each.name: load_run(each).results for each in inner if not (each / RESULTS).is_dir()}


def _own_run(folder: Path, mode: str, *, every_score: bool, as_json: bool, allow_failures: bool) -> int:
    """Print the scores of a run folder."""
    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.cli.tables import score_table
    from proctor.results.summary import failure_notes, rows_of_groups, score_rows
    from proctor.running.entries import SCORE_ORDER, in_order
    from proctor.runs.stored_run import load_run

    if mode != "viz":
        raise UsageError(
            f"{folder} is a run folder of Proctor",
            hint=f"proctor run {shlex.quote(str(folder))} grades it again, and asks what is missing",
        )
    run = load_run(folder)
    orders = run.run.get(SCORE_ORDER) or {}
    results = {name: in_order(entry, orders.get(name, [])) for name, entry in run.results.items()}
    rows = list(score_rows(results, every_score=every_score))
    if as_json:
        print_json(results, indent=2)
    else:
        target = console()
        target.print(score_table(rows, rows_of_groups(results), width=target.width))
    notes = failure_notes(rows)
    for note in notes:
        warn(f"warning: {note}")
    return FAILURES if notes and not allow_failures else 0


def _graded(
    work: WorkDir,
    exams_for: Callable[[str], Sequence[Exam]],
    habits: Habits,
    names: Sequence[str],
    options: dict[str, Any],
    *,
    every_score: bool,
    as_json: bool,
    allow_failures: bool,
) -> int:
    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.cli.tables import score_table
    from proctor.results.summary import failure_notes, score_rows

    results = {model: _results(work, model, exams_for(model)) for model in _models(work, habits, options)}
    code = 0
    for model, entries in results.items():
        rows = list(score_rows(entries, every_score=every_score))
        say(f"model {model}")
        if not as_json:
            target = console()
            target.print(score_table(rows, width=target.width))
        for note in (notes := failure_notes(rows)):
            warn(f"warning: {note}")
        code = FAILURES if notes and not allow_failures else code
    if as_json:
        print_json(results, indent=2)
    else:
        _show_table(results, names, habits["--summarizer"], options)
    return code


def _models(work: WorkDir, habits: Habits, options: Mapping[str, Any]) -> list[str]:
    """Return the models to grade: those that the command line names, by the names that their folders have.

    Raises:
        UnknownArtifactError: One has no predictions.
    """
    from proctor.dialects.aisbench.models import find_models

    there = work.models()
    named = [*habits.models, *([options["model"]] if options.get("model") else [])]
    if not named:
        if not there:
            raise UnknownArtifactError(f"{work.path} has no predictions", hint="--mode infer makes them")
        return there
    wanted = []
    for name in named:
        found = find_models(name, options.get("include_paths") or ()) if name not in there else None
        wanted += [each.partition("::")[2] for each, _ in found] if found else [name]
    if missing := [name for name in wanted if name not in there]:
        raise UnknownArtifactError(
            f"{work.path} has no predictions of '{missing[0]}'", hint=f"there are {', '.join(there) or 'none'}"
        )
    return wanted


def _results(work: WorkDir, model: str, exams: Sequence[Exam]) -> dict[str, dict[str, Any]]:
    from proctor.exchange.aisbench_files import grade_predictions
    from proctor.running.entries import entry_of, group_entries, in_its_order
    from proctor.running.judging import judges_through

    results: dict[str, dict[str, Any]] = {}
    grades = {}
    with judges_through(None):
        for exam in exams:
            predictions = work.predictions(model, exam.name)
            if predictions is None:
                warn(f"warning: {work.path} has no predictions of '{model}' for '{exam.name}'")
                continue
            grades[exam.name], asked = grade_predictions(exam, predictions)
            results[exam.name] = entry_of(grades[exam.name], asked)
    if not results:
        raise UnknownArtifactError(f"{work.path} has no predictions of '{model}' for these exams")
    groups = group_entries([exam for exam in exams if exam.name in results], grades, results)
    ordered = {name: dict(in_its_order(entry, grades[name])) for name, entry in results.items()}
    _write_results(work, model, ordered)
    return ordered | groups


def _write_results(work: WorkDir, model: str, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Put scores where those of an earlier evaluation are, as upstream does, for ``--mode viz`` and other programs."""
    from proctor.exchange.aisbench_files import write_results

    try:
        paths = [
            write_results(work.of(model), model, name, entry) for name, entry in entries.items() if "error" not in entry
        ]
    except OSError as error:
        warn(f"warning: the scores were not written into {work.path}: {error.strerror}")
        return
    for path in paths:
        say(f"wrote {path}")


def _show_table(
    results: Mapping[str, Any], names: Sequence[str], summarizer: str | None, options: Mapping[str, Any]
) -> int:
    import click

    from proctor.terminal_text import printable

    table = summary_table(results, names, summarizer, options.get("include_paths") or ())
    if table is None:
        raise UnknownArtifactError("there is nothing to sum up", hint="name the datasets with --datasets or a config")
    for note in table.notes:
        say(f"note: {note}")
    click.echo(printable(table.to_text()))
    return 0


def summary_table(
    results: Mapping[str, Any], names: Sequence[str], summarizer: str | None, include_paths: Sequence[str]
) -> Any:
    """Return the table of a summarizer over the configs that names mean; ``None`` where they are not configs."""
    from proctor.dialects.aisbench.resolve import configs_of
    from proctor.dialects.aisbench.summary import named_summarizer, summary_of_datasets

    chosen = named_summarizer(summarizer, include_paths) if summarizer else None
    listed = [each.values for name in names for each in configs_of(name, include_paths)]
    return summary_of_datasets(listed, results, chosen)
