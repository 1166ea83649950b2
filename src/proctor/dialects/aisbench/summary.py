"""Summaries of OpenCompass and AISBench: groups of datasets, and the table of all scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.index import SUMMARIZER, config_entries, find_config
from proctor.dialects.aisbench.judged_names import judged_names, with_own_names
from proctor.dialects.aisbench.prompt_version import mode_of, prompt_version, table_version
from proctor.dialects.aisbench.reader import datasets_of, read_config, summarizer_of
from proctor.dialects.aisbench.values import abbr_of, short_name
from proctor.errors import DataError, ScoringError, UnknownArtifactError, did_you_mean
from proctor.results.tables import simple_table
from proctor.safe_python import compile_expression
from proctor.scoring.evaluators.evaluation import METRIC_ORDER
from proctor.scoring.evaluators.runs import meant_by, tabled
from proctor.scoring.flat import UNIT, read_flat
from proctor.scoring.grade import Grade
from proctor.scoring.score import Unit

__all__ = [
    "SummaryGroup",
    "SummaryTable",
    "mode_of",
    "prompt_version",
    "summarize",
    "summarize_models",
    "summary_groups",
]

HIDDEN = ("bp", "sys_len", "ref_len", "type")
"""Metrics that tables leave out."""

Scores = Mapping[str, float]
_WIDE = 128  # columns of the lines between blocks: upstream's text file to the letter


@dataclass(slots=True)
class SummaryTable:
    """A table of scores: a row for each dataset and metric, a column for each model.

    Attributes:
        rows: Cells as text, the header first.
        raw: Results of each model, by dataset: numbers, or an ``error``.
        notes: What the reader should know about the table.
    """

    rows: list[list[str]]
    raw: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def renamed(self, names: Mapping[str, str]) -> SummaryTable:
        """Return the table with datasets called otherwise.

        Args:
            names: What datasets are called, by the name they have.
        """
        header, *rest = self.rows
        rows = [header, *([names.get(row[0], row[0]), *row[1:]] for row in rest)]
        raw = {
            model: {names.get(name, name): each for name, each in found.items()} for model, found in self.raw.items()
        }
        return SummaryTable(rows, raw, self.notes)

    def to_text(self, time: str | None = None, raw: str | None = None, *, with_markdown: bool = True) -> str:
        """Return the table for people; with a time, the whole text file that upstream writes.

        Args:
            time: What the file's first line says.
            raw: The file's last part; :meth:`raw_text` where it is not said.
            with_markdown: Whether the file has the table as Markdown, too.
        """
        table = simple_table(self.rows)
        if time is None:
            return table
        lines = "\n".join(",".join(row) for row in self.rows)
        divider = f"{'-' * _WIDE} THIS IS A DIVIDER {'-' * _WIDE}\n\n"
        blocks: tuple[tuple[str, str, str], ...] = (
            ("tabulate format", f"{table}\n", "\n" + divider),
            ("csv format", f"{lines}\n", "\n"),
            ("markdown format", f"{self.to_markdown()}\n", divider),
            ("raw format", f"{self.raw_text() if raw is None else raw}\n", ""),
        )
        if not with_markdown:
            blocks = (blocks[0], (*blocks[1][:2], "\n" + divider), blocks[3])
        made = [f"{name}\n{'^' * _WIDE}\n{text}{'$' * _WIDE}\n{after}" for name, text, after in blocks]
        return f"{time}\n" + "".join(made)

    def to_csv(self) -> str:
        """Return the table as CSV; commas in cells become spaces, as upstream."""
        return "".join(",".join(cell.replace(",", " ") for cell in row) + "\n" for row in self.rows)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        header, *rows = self.rows
        middle = "|" + " | ".join("-----" for _ in header) + "|\n"
        return f"| {' | '.join(header)} |\n{middle}" + "".join(f"| {' | '.join(row)} |\n" for row in rows)

    def raw_text(self) -> str:
        """Return results as upstream's text file shows them, model by model."""
        names = list(dict.fromkeys(name for results in self.raw.values() for name in results))
        lines = []
        for model, results in self.raw.items():
            lines += ["-------------------------------", f"Model: {model}"]
            lines += [f"{name}: {results.get(name, '{}')}" for name in names]
        return "\n".join(lines)


def summarize(
    results: Mapping[str, Mapping[str, Any]],
    modes: Mapping[str, str],
    versions: Mapping[str, str],
    summarizer: Mapping[str, Any] | None,
    model: str = "model",
) -> SummaryTable:
    """Return the table of one model's scores.

    Args:
        results: Scores of each dataset, by metric; ``error`` in place of scores that there are not.
        modes: How each dataset was asked.
        versions: The prompt version of each dataset, in the config's order.
        summarizer: Of the config: ``dataset_abbrs`` and ``summary_groups``.
        model: Name of the model.

    Raises:
        ScoringError: A group cannot mean anything.
    """
    return summarize_models({model: results}, modes, versions, summarizer)


def summarize_models(
    results: Mapping[str, Mapping[str, Mapping[str, Any]]],
    modes: Mapping[str, str],
    versions: Mapping[str, str],
    summarizer: Mapping[str, Any] | None,
) -> SummaryTable:
    """Return the table of several models' scores; as :func:`summarize`, with the results of each model by its name.

    Raises:
        ScoringError: A group cannot mean anything.
    """
    board = SummaryBoard.of(results, modes)
    config = summarizer or {}
    for group in summary_groups(config):
        for model in results:
            board.add(group.config, model)
    rows = board.table(config.get("dataset_abbrs"), versions)
    return SummaryTable(rows, board.raw, [*_notes(config), *_without_score(config, board)])


def summary_of(
    path: Path, results: Mapping[str, Mapping[str, Mapping[str, Any]]], summarizer: Mapping[str, Any] | None = None
) -> SummaryTable | None:
    """Return the summarizer's table of a config; one row for each dataset where it has no summarizer.

    Args:
        path: The config.
        results: Results by model, as ``results.json`` has them.
        summarizer: One that stands in for the config's own.
    """
    values = read_config(path)
    return summary_of_datasets(datasets_of(values), results, summarizer or summarizer_of(values))


def summary_of_datasets(
    listed: Sequence[Mapping[str, Any]],
    results: Mapping[str, Mapping[str, Mapping[str, Any]]],
    summarizer: Mapping[str, Any] | None,
) -> SummaryTable | None:
    """Return a summarizer's table of datasets; ``None`` where there are none, or no results.

    Args:
        listed: The datasets' configs.
        results: Results by model, as ``results.json`` has them.
        summarizer: ``dataset_abbrs`` and ``summary_groups``, where there is one.
    """
    datasets = {abbr_of(each): each for each in listed}
    if not results or not datasets:
        return None
    modes = {name: mode_of(each) for name, each in datasets.items()}
    versions = {name: table_version(each) for name, each in datasets.items()}
    table = summarize_models(results, modes, versions, with_own_names(summarizer, listed))
    return table.renamed(judged_names(listed))


def named_summarizer(name: str, include_paths: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the summarizer that ``--summarizer`` names: a config's, or ``CONFIG/VARIABLE`` in it.

    Raises:
        UnknownArtifactError: There is no such config, or it has no summarizer.
    """
    file, _, variable = (
        name.partition("/") if find_config(name, include_paths, (SUMMARIZER,)) is None else (name, "", "")
    )
    path = (
        Path(file) if file.endswith(".py") and Path(file).is_file() else find_config(file, include_paths, (SUMMARIZER,))
    )
    if path is None:
        known = [each.name for each in config_entries(include_paths).values() if each.kind == SUMMARIZER]
        hint = did_you_mean(file, known) or "proctor ls --from opencompass --kind summarizer lists them"
        raise UnknownArtifactError(f"there is no summarizer '{file}'", hint=hint)
    values = read_config(path)
    found = values.get(variable) if variable else summarizer_of(values)
    if not isinstance(found, Mapping):
        raise UnknownArtifactError(f"the config {path} has no summarizer{f' {variable!r}' if variable else ''}")
    return found


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A named group of datasets with scores of its own, made of theirs.

    Attributes:
        name: Under which tables show it.
        members: Its datasets by ``abbr``, those of groups inside it included.
        config: How its scores are made.
        before: Groups that stand before it, of which it may consist.
    """

    name: str
    members: tuple[str, ...]
    config: Mapping[str, Any]
    before: tuple[SummaryGroup, ...] = ()

    def score(self, grades: Mapping[str, Grade]) -> dict[str, Any]:
        """Return the group's scores from those of its datasets; empty where one of them is missing.

        Args:
            grades: The grade of each dataset, by ``abbr``.

        Raises:
            ScoringError: The group cannot mean anything.
        """
        board = SummaryBoard.of({"": _values_of([name for name in self.members if name in grades], grades)}, {})
        for group in (*self.before, self):
            board.add(group.config, "")
        found = board.scores[""].get(self.name)
        if not found:
            return {}
        main = _default_metric(self.config)
        return {**found, "score": found[main], "score_name": main, **self._unit(main, grades)}

    def _unit(self, main: str, grades: Mapping[str, Grade]) -> dict[str, Unit]:
        """Return the unit of means of scores in percent, or of shares; sums and transformed scores have none."""
        mains = [grade.main for name in self.members if (grade := grades.get(name)) is not None]
        units: set[Unit] = {each.unit for each in mains if each is not None}
        if main not in _MEANS or self.config.get("transforms") or not units <= {"share", "percent"}:
            return {}
        return {UNIT: "percent" if "percent" in units else "share"} if units else {}


_MEANS = frozenset({"naive_average", "weighted_average", "harmonic_mean"})


def _values_of(members: Sequence[str], grades: Mapping[str, Grade]) -> dict[str, Mapping[str, Any]]:
    """Return the scores of datasets by name; shares of 1 as percent where other members are in percent."""
    mains = {grade.main.unit for name in members if (grade := grades[name]).main is not None}
    factor = 100.0 if {"share", "percent"} <= mains else None
    return {name: _values(grades[name], factor) for name in members}


def _values(grade: Grade, factor: float | None) -> Mapping[str, Any]:
    values = {score.name: score.value for score in grade.table}
    if factor is not None:
        shares = (score for score in grade.table if score.unit == "share" and score.number is not None)
        values |= {score.name: factor * score.number for score in shares}  # type: ignore[operator]
    if "repeats" in grade.scores and grade.main is not None:
        values = {**values, "repeats": grade.scores["repeats"], "score_name": grade.main.name}
    return values or grade.scores


def summary_groups(summarizer: Mapping[str, Any] | None) -> list[SummaryGroup]:
    """Return the groups of a summarizer, in order.

    Raises:
        ScoringError: A group has no name or no datasets.
    """
    groups: list[SummaryGroup] = []
    for config in (summarizer or {}).get("summary_groups") or []:
        if not isinstance(config, Mapping) or "name" not in config or not config.get("subsets"):
            raise ScoringError(
                "a group of the summarizer has no name or no subsets", location=getattr(config, "location", None)
            )
        inside = {group.name: group.members for group in groups}
        datasets = [_subset(each)[0] for each in config["subsets"]]
        members = dict.fromkeys(member for each in datasets for member in inside.get(each, (each,)))
        groups.append(SummaryGroup(str(config["name"]), tuple(members), config, tuple(groups)))
    return groups


def _notes(config: Mapping[str, Any]) -> list[str]:
    name = short_name(config.get("type") or "DefaultSummarizer")
    if name == "DefaultSummarizer":
        return []
    return [f"the summarizer '{name}' is not known; this is the default one's table"]


def _without_score(config: Mapping[str, Any], board: SummaryBoard) -> list[str]:
    """Return the groups that lack a score which some of their datasets have not, for a model."""
    names = [group.name for group in summary_groups(config)]
    found = [(name, model) for model, raw in board.raw.items() for name in names if "error" in raw.get(name, {})]
    return [f"the group '{name}' has no score of '{model}': {board.raw[model][name]['error']}" for name, model in found]


@dataclass(slots=True)
class SummaryBoard:
    """Scores so far: of datasets, then of groups.

    Attributes:
        scores: By model, dataset and metric.
        raw: What the raw part of the text file shows.
        metrics: Of each dataset, the most telling first.
        modes: Of each dataset.
        with_default: Whether a group has a score of its own name beside several metrics that its datasets share.
    """

    scores: dict[str, dict[str, dict[str, float]]]
    raw: dict[str, dict[str, Any]]
    metrics: dict[str, list[str]]
    modes: dict[str, str]
    with_default: bool = True

    @classmethod
    def of(cls, results: Mapping[str, Mapping[str, Mapping[str, Any]]], modes: Mapping[str, str]) -> SummaryBoard:
        board = cls({}, {}, {}, dict(modes))
        for model, datasets in results.items():
            board.scores[model], board.raw[model] = {}, {}
            for name, found in datasets.items():
                board.raw[model][name] = {key: value for key, value in found.items() if key != "details"}
                numbers = {} if "error" in found else _numbers(found)
                if numbers:
                    board.scores[model][name] = numbers
                    ordered = list(numbers) if _is_repeated(found) else sorted(numbers, key=_rank)
                    board._list(name, ordered)
        return board

    def _list(self, name: str, metrics: Sequence[str]) -> None:
        known = self.metrics.setdefault(name, [])
        known += [metric for metric in metrics if metric not in known]

    def add(self, group: Mapping[str, Any], model: str) -> None:
        """Add a group's scores; nothing where the model has none of its datasets."""
        name, subsets = str(group["name"]), [_subset(each) for each in group["subsets"]]
        missing = [
            written for written, each in zip(group["subsets"], subsets, strict=True) if not self._has(model, each)
        ]
        if len(missing) == len(subsets):
            return
        if missing:
            self.raw[model][name] = {"error": f"missing metrics: {missing}"}
            return
        default = _default_metric(group)
        parts = self._parts(model, subsets, default, name)
        if not self.with_default and "metric" not in group and len(parts) > 2:  # noqa: PLR2004 - two shared, and its own
            del parts[default]
        elif not self.with_default:
            parts = {default: parts[default]}
        result = {metric: _combined(group, default, _transformed(group, each)) for metric, each in parts.items()}
        self.scores[model].setdefault(name, {}).update(result)
        self.raw[model].setdefault(name, {}).update(result)
        self._list(name, list(result))
        kinds = {self.modes.get(dataset, "unknown") for dataset, _ in subsets}
        self.modes[name] = kinds.pop() if len(kinds) == 1 else "mixed"

    def _has(self, model: str, subset: tuple[str, str | None]) -> bool:
        dataset, metric = subset
        found = self.scores[model].get(dataset)
        return found is not None and (metric is None or metric in found)

    def _parts(
        self, model: str, subsets: Sequence[tuple[str, str | None]], default: str, group: str
    ) -> dict[str, dict[str, float]]:
        """Return the scores that each metric of a group is made of, named ``dataset@metric``."""
        scores = self.scores[model]
        chosen = {metric is None for _, metric in subsets}
        if chosen == {True, False}:
            raise ScoringError(
                f"the group '{group}' names some datasets with a metric and some without", hint="name a metric for all"
            )
        if chosen == {False}:
            return {default: {f"{dataset}@{metric}": scores[dataset][str(metric)] for dataset, metric in subsets}}
        names = [dataset for dataset, _ in subsets]
        common = [metric for metric in self.metrics[names[0]] if all(metric in scores[each] for each in names)]
        parts = {metric: {f"{each}@{metric}": scores[each][metric] for each in names} for metric in common}
        first = {each: self.metrics[each][0] for each in names}
        parts.pop(default, None)
        return {**parts, default: {f"{each}@{first[each]}": scores[each][first[each]] for each in names}}

    def table(self, wanted: Sequence[Any] | None, versions: Mapping[str, str]) -> list[list[str]]:
        models = list(self.scores)
        rows = [["dataset", "version", "metric", "mode", *models]]
        for dataset, metric in self._lines(wanted, versions):
            known = self.metrics.get(dataset, [])
            shown = known[0] if metric is None and known else metric
            if shown not in known:
                rows.append([dataset, "-", "-", "-", *("-" for _ in models)])
                continue
            cells = [self.scores[model].get(dataset, {}).get(str(shown)) for model in models]
            numbers = ["-" if value is None else f"{value:.02f}" for value in cells]
            rows.append([dataset, versions.get(dataset, "-"), str(shown), self.modes.get(dataset, "-"), *numbers])
        return rows

    def _lines(self, wanted: Sequence[Any] | None, versions: Mapping[str, str]) -> list[tuple[str, str | None]]:
        if wanted is not None:
            return [_subset(each) for each in wanted]
        lines: dict[tuple[str, str | None], None] = {}
        for dataset in versions:
            lines |= dict.fromkeys((dataset, metric) for metric in self.metrics.get(dataset, [None]))
        for dataset, metrics in self.metrics.items():
            lines |= dict.fromkeys((dataset, metric) for metric in metrics)
        return list(lines)


def _numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the evaluator's own scores, without what Proctor's results have beside them."""
    own = {score.name for score in read_flat(found)} - set(HIDDEN)
    if found.get("score_name", "score") == "score":  # the evaluator itself calls one so
        own.add("score")
    numbers = {metric: value for metric, value in found.items() if metric in own and isinstance(value, int | float)}
    if _is_repeated(found):
        numbers = _of_repeats(numbers, str(found["score_name"]))
    return {metric: numbers[metric] for metric in tabled(numbers)}


def _is_repeated(found: Mapping[str, Any]) -> bool:
    """Whether ``--repeats`` made the main score; a config's own ``n`` leaves it the last run's, as upstream."""
    return "repeats" in found or meant_by(str(found.get("score_name") or "")) is not None


def _of_repeats(numbers: Mapping[str, float], main: str) -> dict[str, float]:
    """Return scores of which none is of the last run alone, but the mean of all: the main one first."""
    means = {base: value for name, value in numbers.items() if (base := meant_by(name)) is not None and base in numbers}
    made = {name: means.get(name, value) for name, value in numbers.items() if meant_by(name) not in means}
    first = main if main in made else meant_by(main)
    return {first: made[first], **made} if first in made else made


def _rank(metric: str) -> int:
    return METRIC_ORDER.index(metric) if metric in METRIC_ORDER else len(METRIC_ORDER)


def _subset(written: Any) -> tuple[str, str | None]:
    return (str(written[0]), str(written[1])) if isinstance(written, list | tuple) else (str(written), None)


def _default_metric(group: Mapping[str, Any]) -> str:
    if "metric" in group:
        return str(group["metric"])
    if group.get("std"):
        return "standard_deviation"
    if group.get("sum"):
        return "sum"
    if group.get("weights"):
        return "weighted_average"
    return "harmonic_mean" if group.get("harmonic_mean") else "naive_average"


def _transformed(group: Mapping[str, Any], parts: Mapping[str, float]) -> dict[str, float]:
    transforms: Mapping[str, str] = group.get("transforms") or {}
    made = dict(parts)
    for name, value in parts.items():
        if (text := transforms.get(name.split("@")[0])) is not None:
            made[name] = compile_expression(text, ("math",))({"x": value})
    return made


def _combined(group: Mapping[str, Any], default: str, parts: Mapping[str, float]) -> float:
    """Return the score of a group from those of its datasets."""
    values = list(parts.values())
    if default == "standard_deviation":
        mean = sum(values) / len(values)
        return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    if default == "harmonic_mean":
        positive = all(value > 0 for value in values)
        return len(values) / sum(1 / (value if positive else max(value, 1)) for value in values)
    if not group.get("weights"):
        return sum(values) if default == "sum" else sum(values) / len(values)
    total, weight = _weighted(group, parts)
    return total if default == "sum" else total / weight


def _weighted(group: Mapping[str, Any], parts: Mapping[str, float]) -> tuple[float, float]:
    weights: Mapping[str, float] = group["weights"]
    by_dataset = {name.split("@")[0]: value for name, value in parts.items()}
    find: Callable[[str], float | None] = parts.get if all(name in parts for name in weights) else by_dataset.get
    total = 0.0
    for name, weight in weights.items():
        if weight == 0:
            continue
        value = find(name)
        if value is None:
            raise DataError(
                f"the group '{group['name']}' has a weight for '{name}', which is not one of its datasets",
                why=f"its datasets are {', '.join(by_dataset)}",
            )
        total += value * weight
    return total, sum(weights.values())
