"""``proctor run CONFIG.py``: the models of a config sit its datasets, and its summarizer sums up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.error_reporting import say
from proctor.cli.execution import Execution, conclude, run_spec, terminated_like_ctrl_c
from proctor.cli.run_options import changed_spec, of_model, origin_of_model, spec_of_options
from proctor.errors import OutputError, UsageError

if TYPE_CHECKING:
    from proctor.running.run import RunResult
    from proctor.running.spec import RunSpec


def run_config(path: Path, options: dict[str, Any], execution: Execution, **printed: bool) -> int:
    """Run a config and return the exit code.

    Args:
        path: The config.
        options: The command line. ``--model`` replaces the config's models; ``--tasks`` are patterns over its datasets.
        execution: How to run.
        printed: How to print results, see :func:`proctor.cli.execution.conclude`.

    Raises:
        UsageError: The config names no model, and neither does the command line.
        ProctorError: The config cannot be read or run.
    """
    if execution.trust_code:
        from proctor.settings import settings

        settings.trust_code = True
    specs, origin = _specs(path, options), origin_of_model(options, path)
    results: dict[str, RunResult] = {}
    code = 0
    with terminated_like_ctrl_c():
        for name, spec in specs.items():
            if len(specs) > 1:
                say(f"model {name}")
            output = execution.output
            if output is not None and len(specs) > 1:
                output = output / name
            results[name] = run_spec(spec, replace(execution, output=output), origin)
            code = max(code, conclude(results[name], thresholds=execution.fail_under, **printed))
    _sum_up(path, results, execution.output)
    return code


def _specs(path: Path, options: dict[str, Any]) -> dict[str, RunSpec]:
    from proctor.dialects.aisbench.models import find_models, model_config

    patterns = [name for text in options["tasks"] for name in text.split(",")]
    tasks = tuple(f"{path}::{pattern}" for pattern in patterns) or (str(path),)
    if options["model"]:
        return {options["model"]: spec_of_options({**options, "tasks": tasks})}
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


def _sum_up(path: Path, results: dict[str, RunResult], output: Path | None) -> None:
    """Print the summarizer's table and write it as text, CSV and Markdown."""
    from proctor.dialects.aisbench.summary import summary_of
    from proctor.safe_files import write_text

    table = summary_of(path, {name: result.results for name, result in results.items()})
    if table is None:
        return
    folder = output or next(iter(results.values())).output
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in (("txt", table.to_text()), ("csv", table.to_csv()), ("md", table.to_markdown())):
            write_text(folder / f"summary.{ending}", text)
    except OSError as error:
        raise OutputError(f"the summary cannot be written to {folder}", why=str(error)) from None
    say(f"summary: {folder / 'summary.txt'}")
