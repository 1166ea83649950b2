"""From the command line of ``proctor run`` to the specification of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.commands import close_files
from proctor.cli.error_reporting import say
from proctor.cli.exam_options import split_names
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.dialects.aisbench.models import ModelConfig
    from proctor.engines.model_args import Origin
    from proctor.running.spec import RunSpec


def model_args(options: dict[str, Any]) -> dict[str, Any]:
    """Return the model's arguments, those with options of their own among them."""
    from proctor.engines.model_args import parse_model_args

    names = ("batch_size", "device", "max_concurrency", "truncate", "thinking", "thinking_tokens")
    short = [f"{name}={options[name]}" for name in names if options.get(name) not in (None, "")]
    given: dict[str, Any] = {}
    for text in (*options["model_args"], *short):
        given |= parse_model_args(text)
    return given


def spec_of_options(options: dict[str, Any]) -> RunSpec:
    """Return the run that the command line asks for; a model may be a config's.

    Raises:
        UsageError: No model or no task is named.
    """
    from proctor.running.spec import RunSpec

    if not options["model"]:
        gone = [name for name in options["tasks"] if "/" in name and not Path(name).exists()]
        why = f"a run folder names one, and there is no folder {gone[0]}" if gone else ""
        near = close_files(gone[0]) if gone else ""
        hint = near or "add --model smollm2, or another that proctor doctor lists"
        raise UsageError("no model is named", why=why, hint=hint)
    tasks = tuple(name for text in options["tasks"] for name in split_names(text))
    if not tasks:
        raise UsageError("no task is named", hint="add --tasks samples, or others that proctor ls lists")
    given, rest = _model_of_config(options), {**options, "model": None, "tasks": ()}
    if given is None:
        return changed_spec(RunSpec(model=options["model"], tasks=tasks), rest)
    name, config = given
    return changed_spec(of_model(name, config, tasks), rest)


def origin_of_model(options: dict[str, Any], file: Path | None = None) -> Origin:
    """Return the origin of a run's model: the user, or the file that names it but for what the user typed.

    Args:
        options: The command line.
        file: The run file, or the config, where there is one.
    """
    from proctor.effects import author_of_file
    from proctor.engines.model_args import Origin

    typed = frozenset(model_args(options))
    if not options["model"]:
        return Origin(
            author_of_file(file) if file else None, typed, is_config=file is not None and file.suffix == ".py"
        )
    if (found := _model_of_config(options)) is None:
        return Origin()
    return Origin(author_of_file(found[0].partition("::")[0]), typed, is_config=True)


def _model_of_config(options: dict[str, Any]) -> tuple[str, ModelConfig] | None:
    from proctor.engines.engine_names import ENGINES

    model, folders = options["model"], options.get("include_paths") or ()
    if model in ENGINES or "=" in model or model.startswith("engines."):
        return None
    from proctor.dialects.dialect import loaded
    from proctor.dialects.registry import dialects

    found = next(filter(None, (loaded(each.models)(model, folders) for each in dialects() if each.models)), None)
    if not found:
        return None
    from proctor.dialects.aisbench.models import model_config

    if len(found) > 1:
        raise UsageError(
            f"'{model}' has {len(found)} models", hint=f"choose one: {', '.join(name for name, _ in found)}"
        )
    name, values = found[0]
    return name, model_config(values)


def of_model(name: str, model: ModelConfig, tasks: tuple[str, ...]) -> RunSpec:
    """Return the run of a model of a config, called ``FILE.py::ABBR``."""
    from proctor.running.spec import RunSpec

    for note in model.notes:
        say(f"note: {note}")
    return RunSpec(model.engine, tasks, dict(model.args), overrides={"model_config": name})


def changed_spec(spec: RunSpec, options: dict[str, Any]) -> RunSpec:
    """Return a spec with what the command line says in place of what it said."""
    from proctor.running.spec import overrides_of_runs

    changes: dict[str, Any] = {}
    if options["model"]:
        changes["model"] = options["model"]
    if tasks := tuple(name for text in options["tasks"] for name in split_names(text)):
        changes["tasks"] = tasks
    if args := model_args(options):
        changes["model_args"] = args if "model" in changes else {**spec.model_args, **args}
    overrides = {name: options[name] for name in overrides_of_runs() if options.get(name) not in (None, ())}
    limit = options["limit"]
    if isinstance(limit, float):
        overrides["limit"] = limit
    elif limit is not None:
        changes["limit"] = limit
    if overrides:
        changes["overrides"] = {**spec.overrides, **overrides}
    changes |= {
        name: options[name]
        for name in ("seed", "num_demos", "precision", "draw", "log_samples")
        if options.get(name) is not None
    }
    if options.get("others"):
        changes["others"] = [str(path) for path in options["others"]]
    if tags := tuple(options.get("tags") or ()):
        spec = replace(spec, tags=tags)
    if changes:
        changes |= {"exams": {}, "engine": ""}  # filled in anew: they belong to the spec before the change
    return replace(spec, **changes)
