"""``proctor run CONFIG.py``: the models of a config sit its datasets, and its summarizer sums up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.commands import open_wall_for
from proctor.cli.conclusion import conclude
from proctor.cli.error_reporting import FAILURES, is_quiet, say
from proctor.cli.exam_options import split_names, take_trust
from proctor.cli.execution import Execution, rehearse, run_spec, terminated_like_ctrl_c
from proctor.cli.habits import Habits
from proctor.cli.model_lists import Listed, is_list, listed, say_side_by_side
from proctor.cli.run_options import changed_spec, of_model, origin_of_model, spec_of_options
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.reader import models_of, read_config
from proctor.dialects.aisbench.resolve import configs_of
from proctor.dialects.aisbench.run_sections import idle_sections
from proctor.dialects.aisbench.summary import named_summarizer, summary_of, summary_of_datasets
from proctor.dialects.aisbench.validate import problems_of_models
from proctor.engines.engine_registry import make_engine
from proctor.errors import Diagnostic, OutputError, ProctorError, UsageError, ValidationError
from proctor.results.summary_table import SummaryTable

if TYPE_CHECKING:
    from proctor.engines.model_args import Origin
    from proctor.running.run import RunResult
    from proctor.running.spec import RunSpec


def run_config(path: Path, options: dict[str, Any], execution: Execution, habits: Habits, **printed: bool) -> int:
    """Run a config and return the exit code.

    Args:
        path: The config.
        options: The command line. ``--model`` replaces the config's models; ``--tasks`` are patterns over its datasets.
        execution: How to run.
        habits: What the command line says in words of AISBench or OpenCompass.
        printed: How to print results, see :func:`proctor.cli.conclusion.conclude`.

    Raises:
        UsageError: The config names no model, and neither does the command line.
        ProctorError: The config cannot be read or run.
    """
    take_trust({"trust_code": execution.trust_code})
    origin = origin_of_model(options, path)
    jobs = {name: (spec, origin) for name, spec in _specs(path, options, habits.models).items()}
    say_idle_sections(path)
    results, code = _run_all(jobs, execution, habits, **printed)
    if results:
        summarizer = _summarizer(habits, options)
        _write_summary(summary_of(path, _numbers(results), summarizer), results, execution.output)
    return code


def say_idle_sections(path: Path) -> None:
    """Say what a config says of the run and has no effect here.

    Raises:
        ProctorError: It cannot be read.
    """
    for idle, why in idle_sections(read_config(path)).items():
        say(f"note: the config says what has no effect here: {idle}: {why}")


def say_idle_of_models(path: Path) -> None:
    """Say which keys of a config's models have no effect here, and through what they are asked instead.

    Raises:
        ProctorError: It cannot be read, or has a model with problems.
    """
    for note in dict.fromkeys(note for model in models_of(read_config(path)) for note in model_config(model).notes):
        say(f"note: {note}")


def run_models(
    spec: Path | None, options: dict[str, Any], execution: Execution, habits: Habits, **printed: bool
) -> int:
    """Let several models sit exams, each in a run of its own, and sum them up; return the exit code.

    Args:
        spec: Must be nothing: a run file has one model.
        options: The command line.
        execution: How to run.
        habits: ``--models`` and ``--summarizer`` of the command line.
        printed: How to print results, see :func:`proctor.cli.conclusion.conclude`.

    Raises:
        UsageError: A run file is named beside several models.
        ProctorError: A model or an exam cannot be built.
    """
    if spec is not None:
        raise UsageError(f"{spec} has a model of its own", hint="leave --models and --summarizer out")
    take_trust({"trust_code": execution.trust_code})
    summarizer = _summarizer(habits, options)
    results, code = _run_all(_jobs(habits.models or [options["model"]], options), execution, habits, **printed)
    if results and not (printed["as_json"] or is_quiet()):
        say_side_by_side(results)
    if results and summarizer is not None:
        names = [name for text in options["tasks"] for name in split_names(text)]
        listed = [each.values for name in names for each in configs_of(name, options["include_paths"])]
        _write_summary(summary_of_datasets(listed, _numbers(results), summarizer), results, execution.output)
    return code


def _jobs(models: Sequence[str], options: dict[str, Any]) -> dict[str, tuple[RunSpec, Origin]]:
    """Return the run of each model by its name.

    Raises:
        UsageError: Two models have the same name.
    """
    found: list[tuple[str, tuple[RunSpec, Origin]]] = []
    for model in models:
        if is_list(model):
            found += [(each.name, _of_list(each, model, options)) for each in listed(model)]
        else:
            for name in _models_of(model, options["include_paths"]):
                own = {**options, "model": name}
                found.append((name.rpartition("::")[2], (spec_of_options(own), origin_of_model(own))))
    bare = [name.partition("[")[0] for name, _ in found]  # brackets make poor names of folders
    found = [(short if bare.count(short) == 1 else each[0], each[1]) for short, each in zip(bare, found, strict=True)]
    names = [name for name, _ in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"two models are called '{twice}'", hint="give each a name of its own in a models.yaml")
    return dict(found)


def _of_list(model: Listed, source: str, options: dict[str, Any]) -> tuple[RunSpec, Origin]:
    """Return the run of a model of a list, with its arguments there but for those that are typed, and its origin."""
    from proctor.effects import author_of_file
    from proctor.engines.model_args import Origin

    spec = spec_of_options({**options, "model": model.model})
    origin = Origin(author_of_file(source.partition("::")[0]), frozenset(spec.model_args), is_config=True)
    return replace(spec, model_args={**model.arguments, **spec.model_args}), origin


def _models_of(name: str, include_paths: Sequence[str]) -> list[str]:
    """Return a model as it is, or all models of a config, each with the text that means it alone."""
    from proctor.dialects.aisbench.models import find_models
    from proctor.engines.engine_names import ENGINES

    if not name or name in ENGINES or "=" in name:
        return [name]
    return [each for each, _ in find_models(name, include_paths) or ()] or [name]


def _summarizer(habits: Habits, options: dict[str, Any]) -> Mapping[str, Any] | None:
    name = habits["--summarizer"]
    return named_summarizer(name, options["include_paths"]) if name else None


def _numbers(results: Mapping[str, RunResult]) -> dict[str, Any]:
    """Return the results of each model, the scores of an exam in the order in which its evaluator names them."""
    from proctor.running.entries import in_its_order

    return {
        name: {exam: in_its_order(entry, result.grades.get(exam)) for exam, entry in result.results.items()}
        for name, result in results.items()
    }


def _run_all(
    jobs: Mapping[str, tuple[RunSpec, Origin]], execution: Execution, habits: Habits, **printed: bool
) -> tuple[dict[str, RunResult], int]:
    """Run each model; return results by model (none of a rehearsal) and the exit code."""
    open_wall_for(*(make_engine(spec.model, spec.model_args, origin) for spec, origin in jobs.values()))
    _check_all(jobs)
    results: dict[str, RunResult] = {}
    code = 0
    with terminated_like_ctrl_c():
        for name, (spec, origin) in jobs.items():
            if len(jobs) > 1:
                say(f"model {name}")
            output = execution.output
            if output is not None and len(jobs) > 1:
                output = output / name.replace("/", "-")
            here = replace(execution, output=output)
            if habits["--dry-run"]:
                unusable = rehearse(spec, here, origin)
                code = max(code, FAILURES if unusable and not printed["allow_failures"] else 0)
                continue
            results[name] = run_spec(spec, here, origin)
            wants = "predict_only" not in spec.overrides
            found = conclude(results[name], thresholds=execution.fail_under, wants_scores=wants, **printed)
            code = max(code, found)
    return results, code


def _check_all(jobs: Mapping[str, tuple[RunSpec, Origin]]) -> None:
    """See to it that the exams of every model can be built, before the first model is asked.

    Raises:
        UsageError: Some cannot; everything that is wrong with all of them at once.
    """
    from proctor.dialects.run_file import exams_of_spec

    problems: dict[Diagnostic, None] = {}
    for spec, _ in list(jobs.values())[1:]:  # the first one's own run says what is wrong with it
        try:
            exams_of_spec(spec)
        except ProctorError as error:
            problems.update(dict.fromkeys(error.diagnostics))
    if problems:
        raise UsageError(list(problems))


def _specs(path: Path, options: dict[str, Any], named: Sequence[str] = ()) -> dict[str, RunSpec]:
    from proctor.dialects.aisbench.models import find_models, model_config

    patterns = [name for text in options["tasks"] for name in text.split(",")]
    tasks = tuple(f"{path}::{pattern}" for pattern in patterns) or (str(path),)
    if named or options["model"]:
        chosen = [each for name in named or [options["model"]] for each in _models_of(name, options["include_paths"])]
        return {
            each.rpartition("::")[2]: spec_of_options({**options, "model": each, "tasks": tasks}) for each in chosen
        }
    if problems := problems_of_models(path):
        raise ValidationError(problems)
    models = find_models(str(path)) or []
    if not models:
        raise UsageError(
            f"the config {path} names no model", hint="add --model smollm2, or another that proctor doctor lists"
        )
    rest = {**options, "model": None, "tasks": ()}
    return {
        name.partition("::")[2]: changed_spec(of_model(name, model_config(values), tasks), rest)
        for name, values in models
    }


def _write_summary(table: SummaryTable | None, results: Mapping[str, RunResult], output: Path | None) -> None:
    """Write a summarizer's table as text, CSV and Markdown."""
    from proctor.safe_files import write_text

    folder = output or next(iter(results.values())).output
    for note in table.notes if table is not None else ():
        say(f"note: {note}")
    if table is None or folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in (("txt", table.to_text()), ("csv", table.to_csv()), ("md", table.to_markdown())):
            write_text(folder / f"summary.{ending}", text)
    except OSError as error:
        raise OutputError.unwritable(f"the summary in {folder}", error, "another --output") from None
    say(f"summary: {folder / 'summary.txt'}")
