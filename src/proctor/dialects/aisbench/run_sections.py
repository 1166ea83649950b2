"""Sections of a config about the run: ``infer``, ``eval``, ``work_dir``, models and their datasets.

A run here is one process that needs no partitioners, runners and tasks: they are named as without effect. What would
change who is asked what is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.judged_names import judged_names
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.reader import datasets_of
from proctor.dialects.aisbench.values import ConfigDict, abbr_of, location_of, short_name
from proctor.errors import Diagnostic, closest, did_you_mean
from proctor.lazy import Deferred
from proctor.scoring.distances import levenshtein

if TYPE_CHECKING:
    from proctor.results import dataset_groups
else:
    dataset_groups = Deferred("proctor.results.dataset_groups")

SECTIONS = ("infer", "eval")
"""Stages of upstream's runs, each with what splits it into tasks and what runs them."""
_PARTS = {
    "partitioner": "a run is one process, and tasks are not split",
    "runner": "a run is one process; --max-concurrency says how many requests are open at once",
    "given_pred": "",
}
_SPLITTING = Keys.of("partitioner").idle.keys()
"""Arguments of partitioners that say how work is cut into tasks: no answer and no score depends on them."""
_OF_THE_FILE = ("models", "judge_models", "datasets")
"""Arguments of partitioners that are honoured where they are the lists at the top of the file."""
_COMBINATIONS = "model_dataset_combinations"
_WORK_DIR = "--output says where results go"
_OPTIONS = Keys.of("command line").idle
"""Options of ``ais_bench`` and ``opencompass`` that stand in a config as if it were read there."""
_NAMED = 3  # datasets that a note names
_SLIPS = 2  # letters in which a mistyped name differs, as for other names at the top of a file


def section_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what a config says of the run that is misspelt, or would change who is asked what.

    Args:
        values: Its top-level names.
    """
    if values.get(_COMBINATIONS) is not None:
        yield Diagnostic(
            f"'{_COMBINATIONS}' cannot be honoured",
            None,
            f"$.{_COMBINATIONS}",
            "every model of a run is asked every dataset of it",
            "write a config for each combination, or choose with --tasks and --models",
        )
    yield from _misspelt(values)
    for name in SECTIONS:
        section = values.get(name)
        if isinstance(section, Mapping):
            yield from _problems_of(section, name, values)
        elif section is not None:
            yield Diagnostic(f"'{name}' is not a dictionary", None, f"$.{name}", hint=f"{name} = dict(runner=dict(…))")


def idle_sections(values: Mapping[str, Any]) -> dict[str, str]:
    """Return what a config says of the run and has no effect here, by path, each with the reason."""
    found: dict[str, str] = {}
    for name in SECTIONS:
        section = values.get(name)
        for part, own in section.items() if isinstance(section, Mapping) else ():
            if part in _PARTS and isinstance(own, Mapping):
                keys = [path for path in _paths(own) if path.partition(".")[0] not in _OF_THE_FILE]
                found[f"{name}.{part}({', '.join(keys)})"] = _PARTS[part]
    if values.get("work_dir") is not None:
        found["work_dir"] = _WORK_DIR
    found |= {name: why for name, why in _OPTIONS.items() if values.get(name) is not None}
    summarizer = values.get("summarizer")
    if isinstance(summarizer, Mapping):
        told = {key: each for key, each in summarizer.items() if (key, each) != ("attr", "accuracy")}
        found |= {
            f"summarizer.{key}": Keys.of("summarizer").idle[key] for key in told if key in Keys.of("summarizer").idle
        }
        found |= _incomplete(summarizer, values)
        found |= _covered(summarizer)
    if values.get("judge_models") and not _asks_judges(values):
        found["judge_models"] = "no dataset has an LMEvaluator without a judge of its own"
    return found


def _unweighed(group: dataset_groups.SummaryGroup) -> list[str]:
    """Return the datasets of a group with weights that have none, and count nothing."""
    weights = group.config.get("weights")
    if not isinstance(weights, Mapping):
        return []
    named = {str(each).partition("@")[0] for each in weights}
    listed = [each[0] if isinstance(each, list | tuple) else each for each in group.config["subsets"]]
    return [str(each) for each in listed if str(each) not in named]


def _incomplete(summarizer: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the groups of a summarizer that lack a score: some of their datasets, not all, are elsewhere."""
    listed = datasets_of(values)
    judged = judged_names(listed)
    known = {judged.get(name, name) for name in map(abbr_of, listed)}
    found: dict[str, str] = {}
    for group in dataset_groups.summary_groups(summarizer):
        if (missing := [each for each in group.members if each not in known]) and len(missing) < len(group.members):
            names = ", ".join(f"'{each}'" for each in missing[:_NAMED]) + (" …" if len(missing) > _NAMED else "")
            found[f"summarizer.summary_groups('{group.name}')"] = f"it has no score without {names}"
        elif unweighed := _unweighed(group):
            names = ", ".join(f"'{each}'" for each in unweighed[:_NAMED])
            found[f"summarizer.summary_groups('{group.name}').subsets"] = f"{names} has no weight, and counts nothing"
    return found


def _covered(summarizer: Mapping[str, Any]) -> dict[str, str]:
    """Return the groups of a summarizer whose score a later one of their name takes the place of."""
    groups = dataset_groups.summary_groups(summarizer)
    found: dict[str, str] = {}
    for place, group in enumerate(groups):
        later = [
            each for each in groups[place + 1 :] if (each.name, each.main_metric) == (group.name, group.main_metric)
        ]
        if later and any({**each.config} != {**group.config} for each in later):
            why = (
                f"a later group '{group.name}' has the {group.main_metric} that tables show; give it a name of its own"
            )
            found[f"summarizer.summary_groups[{place}]"] = why
    return found


def _asks_judges(values: Mapping[str, Any]) -> bool:
    """Whether a dataset of a config is scored by a judge."""
    for name, listed in values.items():
        if name.endswith("datasets") and isinstance(listed, list | tuple):
            scored = (each.get("eval_cfg") for each in listed if isinstance(each, Mapping))
            judges = (each.get("evaluator") for each in scored if isinstance(each, Mapping))
            if any(isinstance(each, Mapping) and short_name(each.get("type", "")) == "LMEvaluator" for each in judges):
                return True
    return False


def _paths(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        yield str(key)
        if isinstance(value, Mapping):
            yield from (f"{key}.{each}" for each in value)


def _problems_of(section: Mapping[str, Any], name: str, values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where = location_of(section)
    for key, part in section.items():
        path = f"$.{name}.{key}"
        if key not in _PARTS or not _PARTS[key]:
            hint = did_you_mean(str(key), ("partitioner", "runner")) or "it has partitioner and runner"
            yield Diagnostic(f"'{name}' knows no '{key}'", where, path, hint=hint)
        elif not isinstance(part, Mapping):
            yield Diagnostic(f"'{key}' of '{name}' is not a dictionary", where, path)
        elif key == "partitioner":
            yield from _partitioner_problems(part, path, values)
        else:
            yield from _task_problems(part, path)


def _task_problems(runner: Mapping[str, Any], path: str) -> Iterator[Diagnostic]:
    """Yield a task that asks or scores in a way of its own."""
    task = runner.get("task")
    kind = task.get("type") if isinstance(task, Mapping) else None
    name = short_name(kind) if kind is not None else ""
    if isinstance(task, Mapping) and name and not _TASKS.fullmatch(name):
        why, place = "it says otherwise who is asked what, or how answers are scored", f"{path}.task.type"
        yield Diagnostic(f"the task '{name}' cannot be honoured", location_of(task), place, why, "OpenICLInferTask")


_TASKS = re.compile("OpenICL(Api)?(Infer|Eval)(Concurrent|Watch)?Task|SubjectiveEvalTask")
"""Tasks that ask a dataset's questions, and score as its ``eval_cfg`` says."""


def _partitioner_problems(part: Mapping[str, Any], path: str, values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for key, value in part.items():
        if key in _SPLITTING or (key in _OF_THE_FILE and value in (values.get(key), [], None)):
            continue
        slip = closest(str(key), _SPLITTING | set(_OF_THE_FILE))
        hint = f"did you mean '{slip[0]}'?" if slip else "take it out"
        if key in _OF_THE_FILE:
            hint = f"{key} = […] at the top of the file is what is read"
        what = f"'{key}' of a partitioner cannot be honoured"
        yield Diagnostic(what, location_of(part), f"{path}.{key}", "it changes who is asked what", hint)


def _misspelt(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield names that are nearly those of the run's sections, where they hold what those hold."""
    for name, value in values.items():
        if name in (*SECTIONS, "work_dir"):
            continue
        is_section = isinstance(value, ConfigDict) and bool(value.keys() & {"partitioner", "runner"})
        if is_section:
            near = [each for each in closest(name, SECTIONS) if each not in values]
            missing = [each for each in SECTIONS if each not in values]
            near += [each for each in missing if name.startswith(each)]
            is_near = near and (levenshtein(name, near[0]) <= _SLIPS or name.startswith(near[0]))
            wanted = near[0] if is_near else ""
        elif isinstance(value, str) and "work_dir" not in values and levenshtein(name, "work_dir") <= _SLIPS:
            wanted = "work_dir"
        else:
            continue
        if wanted:
            yield Diagnostic(
                f"nothing reads '{name}'", location_of(value), f"$.{name}", hint=f"did you mean '{wanted}'?"
            )
