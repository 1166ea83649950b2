"""Checks the top level of a config file: misspelt lists, entries that are not dictionaries, groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.dialects.aisbench.datasets.custom import custom_dataset, words_of
from proctor.dialects.aisbench.datasets.reader import range_problems
from proctor.dialects.aisbench.judged_names import judged_names
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.reader import datasets_of
from proctor.dialects.aisbench.run_sections import section_problems
from proctor.dialects.aisbench.signatures import project_named
from proctor.dialects.aisbench.summarizer_keys import summarizer_problems
from proctor.dialects.aisbench.values import LONGEST_SHOWN, ConfigDict, abbr_of, it_is, location_of, short_name
from proctor.errors import Diagnostic, ProctorError, closest, did_you_mean
from proctor.scoring.distances import levenshtein

_SLIPS = 2
"""Letters in which a mistyped name differs: two that changed places are two. Shipped configs have lists of their own
whose names (``data_list``) differ in more."""
_TOP = ("datasets", "models", "summarizer")


def file_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with a config outside its datasets and models.

    Args:
        values: Its top-level names.
    """
    yield from _name_problems(values)
    yield from section_problems(values)
    yield from _list_problems(values)
    for dataset in _datasets(values):
        if is_custom(dataset):
            yield from custom_problems(dataset, project_of_file(values))
    summarizer = values.get("summarizer")
    if isinstance(summarizer, Mapping):
        yield from summarizer_problems(summarizer, _dataset_names(values))
    elif summarizer is not None:
        yield Diagnostic("the summarizer is not a dictionary", None, "$.summarizer", it_is(summarizer))


def _list_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield lists of datasets and models that are none, and entries that are neither and would be left out."""
    for name in ("datasets", "models"):
        listed = values.get(name)
        if listed is not None and not isinstance(listed, list | tuple):
            yield Diagnostic(f"'{name}' is not a list", location_of(listed), f"$.{name}", it_is(listed))
        elif listed is not None and not listed and name == "datasets":  # models are often given on the command line
            yield Diagnostic("'datasets' is empty", None, "$.datasets", hint="datasets = [dict(…), …]")
    for name, listed in values.items():
        is_read = name in ("datasets", "models") or (name.endswith("_datasets") and "datasets" not in values)
        for place, each in enumerate(listed if is_read and isinstance(listed, list | tuple) else ()):
            path, what = f"$.{name}[{place}]", f"an entry of '{name}' is not a dictionary"
            if isinstance(each, list | tuple) and any(isinstance(one, Mapping) for one in each):
                inner = next(one for one in each if isinstance(one, Mapping))
                yield Diagnostic(what, location_of(inner), path, "it is a list", f"{name} = [*first, *second]")
            elif not isinstance(each, Mapping) and name in ("datasets", "models"):
                yield Diagnostic(what, None, path, it_is(each))


def _datasets(values: Mapping[str, Any]) -> list[ConfigDict]:
    """Return the datasets of a file; what is wrong with its lists is said by itself."""
    try:
        return datasets_of(values)
    except ProctorError:
        return []


def _dataset_names(values: Mapping[str, Any]) -> list[str]:
    """Return what a summarizer may call the datasets of a file."""
    listed = _datasets(values)
    judged = judged_names(listed)
    return [judged.get(name, name) for name in map(abbr_of, listed)]


def _name_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield names that are nearly those which upstream reads, where what they hold would have been read."""
    for name, value in values.items():
        if name in _TOP or name.endswith("_datasets"):
            continue
        near = (each for each in closest(name, _TOP) if levenshtein(each, name) <= _SLIPS)
        wanted = next((each for each in near if each not in values), None)
        parts = value if isinstance(value, list | tuple) else [value]
        if wanted is None or isinstance(value, list | tuple) is (wanted == "summarizer"):
            continue
        if parts and all(isinstance(each, ConfigDict) for each in parts):
            yield Diagnostic(
                f"nothing reads '{name}'", location_of(parts[0]), f"$.{name}", hint=f"did you mean '{wanted}'?"
            )


def is_custom(dataset: Mapping[str, Any]) -> bool:
    """Whether a dataset of a config is a user's own file: a path without a type."""
    return "type" not in dataset and "path" in dataset and "infer_cfg" not in dataset


def custom_problems(dataset: Mapping[str, Any], project: str) -> Iterator[Diagnostic]:
    """Yield keys of a custom dataset that nothing reads, and values that there are not.

    Args:
        dataset: As it was written.
        project: Whose kinds of files are meant.
    """
    where = location_of(dataset)
    if isinstance(dataset.get("evaluator"), Mapping):
        why = "it is one of OpenCompass' chatml_datasets, whose rows are whole conversations with prompts of their own"
        yield Diagnostic("the dataset cannot be asked here", where, "$.evaluator", why, "a dataset with infer_cfg")
        return
    yield from Keys.of("custom dataset").problems(dataset, "a custom dataset", "$")
    for key, known in words_of(project).items():
        if (given := dataset.get(key)) is not None and given not in known:
            hint = did_you_mean(str(given), known) or ", ".join(known)
            yield Diagnostic(f"there is no {key} {given!r}"[:LONGEST_SHOWN], where, f"$.{key}", hint=hint)
    yield from range_problems(dataset, where, "$")


def filled(dataset: ConfigDict, values: Mapping[str, Any]) -> ConfigDict:
    """Return a dataset of a config; of a user's own file, with everything that the file says.

    Args:
        dataset: As it was written.
        values: The config, which says whose default prompts are meant: those of the package that its models are of.

    Raises:
        DataError: The file is not one that can be read so.
    """
    if not is_custom(dataset):
        return _with_judge(dataset, values.get("judge_models"))
    made = custom_dataset(dataset, project_of_file(values))
    return ConfigDict(made, location=location_of(dataset))


def _with_judge(dataset: ConfigDict, judges: Any) -> ConfigDict:
    """Return a dataset whose ``LMEvaluator`` has the config's judge where it names none itself."""
    evaluation = dataset.get("eval_cfg")
    judge = evaluation.get("evaluator") if isinstance(evaluation, Mapping) else None
    if not isinstance(evaluation, Mapping) or not isinstance(judge, Mapping) or judge.get("judge_cfg"):
        return dataset
    if short_name(judge.get("type", "")) != "LMEvaluator":
        return dataset
    if not isinstance(judges, list) or len(judges) != 1:  # of several, nobody knows which is meant
        return dataset
    told = ConfigDict({**judge, "judge_cfg": judges[0]}, location=location_of(judge))
    changed = ConfigDict({**evaluation, "evaluator": told}, location=location_of(evaluation))
    return ConfigDict({**dataset, "eval_cfg": changed}, location=location_of(dataset))


def project_of_file(values: Mapping[str, Any]) -> str:
    """Return whose config a file is: AISBench's where one of its classes is, OpenCompass' otherwise."""
    parts = [each for name in _TOP for each in _listed(values.get(name)) if isinstance(each, Mapping)]
    return "aisbench" if any(project_named(each.get("type")) == "aisbench" for each in parts) else "opencompass"


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
