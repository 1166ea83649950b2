"""What a config file says at its top: lists by nearly the right name, entries that are not dictionaries, groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.dialects.aisbench.config_keys import LONGEST_SHOWN, Keys
from proctor.dialects.aisbench.datasets.custom import custom_dataset
from proctor.dialects.aisbench.signatures import Signature, project_named, signature_of
from proctor.dialects.aisbench.values import ConfigDict, location_of, short_name
from proctor.errors import Diagnostic, closest, did_you_mean

_TOP = ("datasets", "models", "summarizer")
_GROUP = ("name", "subsets", "weights", "metric", "std", "sum", "harmonic_mean", "transforms")
_OF_TABLES = "it changes how upstream's table is written, and no score"
_SUMMARIZER = Keys(
    frozenset({"type", "dataset_abbrs", "summary_groups"}),
    {
        **dict.fromkeys(("prompt_db", "attr", "function", "dump_config", "calculator", "stats_list"), _OF_TABLES),
        "work_dir": "--output says where results go",
    },
)
_CUSTOM = frozenset(
    [
        "path",
        "meta_path",
        "data_type",
        "infer_method",
        "abbr",
        "template",
        "human_prompt",
        "bot_prompt",
        "evaluator",
        "evaluator_kwargs",
        "test_range",
        "input_columns",
        "output_column",
        "options",
        "clusters",
    ]
)
"""Keys of a dataset that is a user's own file: a path and no type."""


def file_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with a config outside its datasets and models.

    Args:
        values: Its top-level names.
    """
    yield from _name_problems(values)
    for name in ("datasets", "models"):
        listed = values.get(name)
        if listed is not None and not isinstance(listed, list | tuple):
            yield Diagnostic(f"'{name}' is not a list", location_of(listed), f"$.{name}", f"it is {_shown(listed)}")
        for place, each in enumerate(listed if isinstance(listed, list | tuple) else ()):
            if not isinstance(each, Mapping | list | tuple):
                yield Diagnostic(f"an entry of '{name}' is not a dictionary", None, f"$.{name}[{place}]", _shown(each))
    summarizer = values.get("summarizer")
    if isinstance(summarizer, Mapping):
        yield from _summarizer_problems(summarizer)
    elif summarizer is not None:
        yield Diagnostic("the summarizer is not a dictionary", None, "$.summarizer", f"it is {_shown(summarizer)}")


def _name_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield names that are nearly those which upstream reads, where what they hold would have been read."""
    for name, value in values.items():
        if name in _TOP or name.endswith("_datasets"):
            continue
        near = (each for each in closest(name, _TOP) if abs(len(each) - len(name)) <= 1)
        wanted = next((each for each in near if each not in values), None)
        parts = value if isinstance(value, list | tuple) else [value]
        if wanted is None or isinstance(value, list | tuple) is (wanted == "summarizer"):
            continue
        if parts and all(isinstance(each, ConfigDict) for each in parts):
            yield Diagnostic(
                f"nothing reads '{name}'", location_of(parts[0]), f"$.{name}", hint=f"did you mean '{wanted}'?"
            )


def _summarizer_problems(summarizer: Mapping[str, Any]) -> Iterator[Diagnostic]:
    taken = signature_of("summarizers", summarizer.get("type")) if "type" in summarizer else None
    if taken is None or taken.is_open:
        yield from _SUMMARIZER.problems(summarizer, "the summarizer", "$.summarizer")
    else:
        outside = ("type", "attr", "dataset_abbrs", "summary_groups")
        whole = Signature((*taken.needed, *outside), taken.defaults)
        every = Keys(_SUMMARIZER.used | whole.names)
        yield from every.of_class(summarizer, short_name(summarizer["type"]), "$.summarizer", whole)
    groups = summarizer.get("summary_groups")
    for place, group in enumerate(groups if isinstance(groups, list | tuple) else ()):
        path = f"$.summarizer.summary_groups[{place}]"
        if not isinstance(group, Mapping):
            yield Diagnostic(
                "a group of the summarizer is not a dictionary", location_of(summarizer), path, _shown(group)
            )
            continue
        for key in group:
            if key not in _GROUP:
                hint = did_you_mean(str(key), _GROUP) or f"it has {', '.join(_GROUP)}"
                yield Diagnostic(
                    f"a group of the summarizer knows no '{key}'", location_of(group), f"{path}.{key}", hint=hint
                )
        for key in ("name", "subsets"):
            if not group.get(key):
                yield Diagnostic(f"a group of the summarizer has no {key}", location_of(group), path, hint=f"{key}=…")


def is_custom(dataset: Mapping[str, Any]) -> bool:
    """Whether a dataset of a config is a user's own file: a path without a type."""
    return "type" not in dataset and "path" in dataset and "infer_cfg" not in dataset


def custom_problems(dataset: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield keys of a custom dataset that nothing reads."""
    yield from Keys(_CUSTOM).problems(dataset, "a custom dataset", "$")


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


def _shown(value: Any) -> str:
    return repr(value)[:LONGEST_SHOWN]
