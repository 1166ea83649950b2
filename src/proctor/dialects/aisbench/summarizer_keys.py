"""Checks a summarizer from the file alone: keys, groups, misspelt datasets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.key_tables import Keys, word_problems
from proctor.dialects.aisbench.signatures import Signature, known_names, signature_of
from proctor.dialects.aisbench.values import LONGEST_SHOWN, it_is, location_of, short_name
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.lazy import Deferred
from proctor.slips import slips

if TYPE_CHECKING:
    from proctor.scoring.evaluators import evaluation
else:
    evaluation = Deferred("proctor.scoring.evaluators.evaluation")

_SWITCHES = ("std", "sum", "harmonic_mean")
_SHORTEST = 4  # letters of a name that can be told from a misspelt other one
_PAIR = 2  # a dataset and a metric


def summarizer_problems(summarizer: Mapping[str, Any], datasets: Collection[str]) -> Iterator[Diagnostic]:
    """Yield what is wrong with a summarizer.

    Args:
        datasets: What the file's datasets are called. Summarizers name others, too, and show no scores of them; a name
            is wrong where it is nearly that of a dataset or group which does not stand beside it.
    """
    yield from _key_problems(summarizer)
    where, listed = location_of(summarizer), summarizer.get("dataset_abbrs")
    yield from word_problems(summarizer, "summarizer", "$.summarizer", where)
    groups = summarizer.get("summary_groups")
    if groups is not None and not isinstance(groups, list | tuple):
        yield Diagnostic("summary_groups is a list", where, "$.summarizer.summary_groups", it_is(groups))
        groups = ()
    yield from _names_problems(listed, "dataset_abbrs", "$.summarizer.dataset_abbrs", where)
    found = [each for each in groups or () if isinstance(each, Mapping)]
    for place, group in enumerate(groups or ()):
        path = f"$.summarizer.summary_groups[{place}]"
        if isinstance(group, Mapping):
            yield from _group_problems(group, path, datasets)
        else:
            yield Diagnostic("a group of the summarizer is not a dictionary", where, path, it_is(group))
    named = [
        *((each, where, "$.summarizer.dataset_abbrs") for each in _entries(listed)),
        *(
            (each, location_of(group), f"$.summarizer.summary_groups[{place}].subsets")
            for place, group in enumerate(found)
            for each in _entries(group.get("subsets"))
        ),
    ]
    yield from _slips(named, datasets, [str(group.get("name")) for group in found])


def _key_problems(summarizer: Mapping[str, Any]) -> Iterator[Diagnostic]:
    kind = summarizer.get("type")
    taken = signature_of("summarizers", kind) if "type" in summarizer else None
    if taken is None and kind is not None:
        known = known_names("opencompass", "summarizers") | known_names("aisbench", "summarizers")
        if short_name(kind) not in known and (hint := did_you_mean(short_name(kind), known)):
            place = location_of(summarizer)
            yield Diagnostic(f"there is no summarizer '{short_name(kind)}'", place, "$.summarizer.type", hint=hint)
    if taken is None or taken.is_open:
        yield from Keys.of("summarizer").problems(summarizer, "the summarizer", "$.summarizer")
        return
    outside = ("type", "attr", "dataset_abbrs", "summary_groups")
    whole = Signature((*taken.needed, *outside), taken.defaults)
    every = Keys(Keys.of("summarizer").used | whole.names)
    yield from every.of_class(summarizer, short_name(kind), "$.summarizer", whole)


def _names_problems(listed: Any, what: str, path: str, where: Location | None) -> Iterator[Diagnostic]:
    """Yield a list of names that is none, and entries that are neither a name nor a name and a metric."""
    if listed is None:
        return
    if not isinstance(listed, list | tuple):
        yield Diagnostic(f"'{what}' is a list of names", where, path, it_is(listed), "['gsm8k', …]")
        return
    for place, each in enumerate(listed):
        parts = each if isinstance(each, list | tuple) else [each, ""]
        if len(parts) != _PAIR or not all(isinstance(part, str) for part in parts):
            hint = "'gsm8k', or ['gsm8k', 'accuracy']"
            yield Diagnostic(f"an entry of '{what}' is not a dataset", where, f"{path}[{place}]", it_is(each), hint)


def _entries(listed: Any) -> Iterator[tuple[str, str]]:
    """Yield names of a list, each with its metric or an empty text."""
    for each in listed if isinstance(listed, list | tuple) else ():
        parts = each if isinstance(each, list | tuple) else [each, ""]
        if len(parts) == _PAIR and all(isinstance(part, str) for part in parts):
            yield parts[0], parts[1]


def _group_problems(group: Mapping[str, Any], path: str, datasets: Collection[str]) -> Iterator[Diagnostic]:
    where = location_of(group)
    yield from Keys.of("summary group").problems(group, "a group of the summarizer", path)
    for key in ("name", "subsets"):
        if not group.get(key):
            yield Diagnostic(f"a group of the summarizer has no {key}", where, path, hint=f"{key}=…")
    if group.get("name") and not isinstance(group["name"], str):
        yield Diagnostic("the name of a group is a text", where, f"{path}.name", it_is(group["name"]))
    for key in _SWITCHES:
        if not isinstance(group.get(key, False), bool):
            yield Diagnostic(f"'{key}' of a group is True or False", where, f"{path}.{key}", it_is(group[key]))
    if group.get("subsets"):
        yield from _names_problems(group["subsets"], "subsets", f"{path}.subsets", where)
    yield from _kind_problems(group, path, where)
    whole = [name for name, metric in _entries(group.get("subsets")) if not metric]
    if group.get("name") in whole and datasets and group["name"] not in datasets:
        yield Diagnostic(f"the group '{group['name']}' is one of its own subsets", where, f"{path}.subsets")
    yield from _weight_problems(group, list(_entries(group.get("subsets"))), path)


def _kind_problems(group: Mapping[str, Any], path: str, where: Location | None) -> Iterator[Diagnostic]:
    """Yield what says in two ways how a group's score is made."""
    if len({bool(metric) for _, metric in _entries(group.get("subsets"))}) > 1:
        what = f"the group '{group.get('name')}' names some datasets with a metric and some without"
        yield Diagnostic(what, where, f"{path}.subsets", hint="name a metric for all, or for none")
    made = [key for key in _SWITCHES if group.get(key) is True]
    if len(made) > 1 or (made and made != ["sum"] and ("metric" in group or group.get("weights"))):
        listed = ", ".join([*made, *(key for key in ("metric", "weights") if group.get(key))])
        what, why = f"the group '{group.get('name')}' says in two ways what it is", f"it has {listed}"
        yield Diagnostic(what, where, path, why, "a group is one of std, sum and harmonic_mean")


def _weight_problems(group: Mapping[str, Any], subsets: list[tuple[str, str]], path: str) -> Iterator[Diagnostic]:
    weights, where, place = group.get("weights"), location_of(group), f"{path}.weights"
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        yield Diagnostic("'weights' is a dictionary by datasets", where, place, it_is(weights), "dict(gsm8k=2, …)")
        return
    known = [*(name for name, _ in subsets), *(f"{name}@{metric}" for name, metric in subsets)]
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            yield Diagnostic(f"the weight of '{name}' is a number, 0 or more", where, f"{place}.{name}", it_is(value))
        elif value and subsets and name not in known:
            hint = did_you_mean(str(name), known) or f"they are {', '.join(known[: len(subsets)])}"
            what = f"there is a weight for '{name}', which is none of the group's datasets"
            yield Diagnostic(what[:LONGEST_SHOWN], where, f"{place}.{name}", hint=hint[:LONGEST_SHOWN])


def _slips(
    named: Iterable[tuple[tuple[str, str], Location | None, str]], datasets: Collection[str], groups: Collection[str]
) -> Iterator[Diagnostic]:
    """Yield names that are nearly those of datasets which nothing else names, and metrics that are nearly known."""
    listed = list(named)
    beside: dict[str, set[str]] = {}
    for (name, _), _, path in listed:
        beside.setdefault(path, set()).add(name)
    for (name, metric), where, path in listed:
        near = slips(name, (each for each in (*datasets, *groups) if each not in beside[path]))
        if near and name not in (*datasets, *groups) and len(name) >= _SHORTEST:
            hint = did_you_mean(name, near)
            yield Diagnostic(f"the summarizer names '{name}', and there is no such dataset", where, path, hint=hint)
        if (
            metric
            and metric.lower() not in evaluation.METRIC_ORDER
            and (close := slips(metric, evaluation.METRIC_ORDER))
        ):
            hint = did_you_mean(metric, close)
            yield Diagnostic(f"the summarizer names the metric '{metric}' of '{name}'", where, path, hint=hint)
