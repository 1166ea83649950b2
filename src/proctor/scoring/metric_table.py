"""The table of metrics: what can be named wherever a metric is named, whoever wrote the exam.

==========================  ===============================================================================
``metrics.rouge``           an artifact of a catalog (with ``[key=value]``, as everywhere)
``exact_match``, ``bleu``   a metric of lm-eval; ``lm_eval:exact_match`` where several systems have the name
``AccEvaluator``            an evaluator of OpenCompass or AISBench; ``opencompass:AccEvaluator``
``inspect:match``           a scorer of inspect; always with ``inspect:``
==========================  ===============================================================================

:func:`metric_of` makes a :class:`~proctor.scoring.metric.Metric` of any of these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from proctor.artifacts import Artifact, fetch_artifact
from proctor.errors import Diagnostic, ProctorError, ScoringError, did_you_mean
from proctor.scoring.named_table import (
    LM_EVAL,
    NOTHING,
    PROGRAM,
    UNITXT,
    Entry,
    Own,
    Table,
    entries_of,
    is_in_catalog,
    is_word,
    named,
)
from proctor.scoring.packages import lacking
from proctor.scoring.scores import Unit

if TYPE_CHECKING:
    from proctor.scoring.aggregations import Aggregate
    from proctor.scoring.metric import Metric

Reads = Literal["columns", "text", "pairs", "choices", "likelihood", "repeats", "own"]
"""What a metric's function is given: all columns; or of one row gold and prediction (``text``: as keywords, to be
scored at once; ``pairs``: kept for an aggregation), the likelihoods of its choices, that of its text, its repeats.
Values of ``own`` come from a task's ``process_results``; the table knows how they are aggregated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEntry(Entry):
    """A metric by name.

    Attributes:
        reads: What its function is given.
        aggregation: What makes one number of the rows' values, where it reads single rows.
        unit: In which unit its scores are.
        units: Of scores that are in another one, by name.
        higher_is_better: Whether more is better.
        several_references: Whether it takes a list of acceptable answers; others take exactly one.
        reads_rows: Whether it may look at whole rows, which are kept for it then.
        row_packages: The function from a reference to what its row needs besides ``packages``, where rows differ.
        of_text: Whether a YAML task whose model writes may name it.
        of_labels: The function that compares labels, where ``hf_evaluate: true`` means another one.
    """

    reads: Reads = "columns"
    aggregation: str | Aggregate = "mean"
    unit: Unit = "percent"
    units: Mapping[str, Unit] = field(default_factory=dict)
    higher_is_better: bool = True
    several_references: bool = False
    reads_rows: bool = True
    row_packages: str = ""
    of_text: bool = False
    of_labels: str = ""

    def load_of_labels(self) -> Callable[..., Any]:
        """Return the function that compares labels."""
        found: Callable[..., Any] = replace(self, target=self.of_labels or self.target).load()
        return found

    def check_rows(self, references: Callable[[], Iterable[Any]]) -> Iterator[Diagnostic]:
        """Yield what rows need and this machine lacks; nothing is read where all rows need the same.

        Args:
            references: The right answers of the rows that are asked about.
        """
        if not self.row_packages:
            return
        module, _, name = self.row_packages.partition(":")
        needed_by = getattr(import_module(module), name)
        yield from lacking(self.name, (each for reference in references() for each in needed_by(reference)))


@cache
def metric_table() -> Table[MetricEntry]:
    """Return the table of this process; plugins add theirs with ``register``."""
    return Table("metric", entries_of("metrics", MetricEntry), catalog_prefix="metrics.")


def register_metric(
    name: str,
    function: Callable[..., Any],
    *,
    aggregation: str | Aggregate = "mean",
    higher_is_better: bool | None = None,
) -> None:
    """Let every dialect name a function of a reference and a prediction, as code of lm-eval's kind writes it.

    Args:
        name: The name; one that a system already has means that system's, unless ``program:`` stands before it.
        function: Takes ``references`` and ``predictions``, lists of one, or a pair.
        aggregation: What makes one number of the instances' values.
        higher_is_better: Whether more is better; taken for true where nobody says.
    """
    better = higher_is_better is not False
    metric_table().register(
        MetricEntry(
            name=name,
            system=PROGRAM,
            target=function,
            reads="text",
            aggregation=aggregation,
            unit="raw",
            higher_is_better=better,
        )
    )


def text_metrics(*, of_labels: bool = False) -> dict[str, Callable[..., Any]]:
    """Return lm-eval's metrics of a written answer by name: from gold and answer to a value, or to what is aggregated.

    Args:
        of_labels: Those of the ``evaluate`` hub instead (``hf_evaluate: true``), which compare labels.
    """
    found = metric_table().of(LM_EVAL).values()
    if of_labels:
        return {each.name: each.load_of_labels() for each in found if each.of_labels or each.reads == "text"}
    from proctor.scoring.single_answers import pair

    return {
        each.name: pair if each.reads in ("choices", "likelihood", "own") else each.load()
        for each in found
        if each.of_text
    }


def metric_entry(name: str, own: Own = UNITXT) -> MetricEntry | None:
    """Return the entry that a name means; ``None`` where it is not in the table (it may be in a catalog)."""
    return metric_table().find(name, own)


def is_metric(source: str, own: Own = UNITXT) -> bool:
    """Return whether a name means a metric, of the table or of a catalog; nothing is imported."""
    return metric_entry(named(source)[0], own) is not None or is_in_catalog(source)


def whole_name(name: str) -> str:
    """Return a metric's name with ``metrics.`` before it where only catalogs have it."""
    is_plain = name.partition("[")[0].isidentifier() and not is_metric(name, LM_EVAL)
    return f"metrics.{name}" if is_plain and is_metric(f"metrics.{name}", LM_EVAL) else name


def fetch_metric(source: Any, own: Own = UNITXT, arguments: Mapping[str, Any] = NOTHING) -> Artifact:
    """Return the artifact that a name, a query, JSON or an artifact means where a metric is wanted.

    Args:
        source: As anybody writes a metric.
        own: The system whose names come first.
        arguments: Further arguments of the metric.

    Raises:
        ScoringError: No table has the name.
        ArtifactError: No catalog has the name, or it cannot be made.
    """
    if not isinstance(source, str) or (own == UNITXT and is_in_catalog(source)):
        return fetch_artifact(source, dict(arguments) or None)
    name, given = named(source)
    if (entry := metric_table().find(name, own)) is not None:
        return _registered(entry, {**given, **arguments})
    if is_word(source) and not is_in_catalog(source):
        raise metric_table().unknown(name)
    return fetch_artifact(source, dict(arguments) or None)


def _registered(entry: MetricEntry, arguments: dict[str, Any]) -> Metric:
    from proctor.scoring.named_metric import RegisteredMetric

    how = arguments.pop("aggregation", None) if entry.reads != "columns" else None
    return RegisteredMetric(metric=entry.key, arguments=arguments, aggregation=how)


def metric_of(source: object, own: Own = UNITXT, arguments: Mapping[str, Any] = NOTHING) -> Metric:
    """Return the one metric that a name, a query, JSON or an artifact means (see :func:`fetch_metric`).

    Raises:
        ScoringError: There is no such metric, or it is a list of metrics, or something else.
        ArtifactError: It cannot be made.
    """
    from proctor.scoring.metric import Metric

    found = fetch_metric(source, own, arguments)
    if isinstance(found, Metric):
        return found
    raise ScoringError(f"'{source}' is a {type(found).__name__}, not a metric")


def check_metric(source: object, own: Own = UNITXT, arguments: Mapping[str, Any] = NOTHING) -> Iterator[Diagnostic]:
    """Yield what is wrong with a metric that can be known before anybody is asked.

    There is no such metric, it takes no such argument, a package is missing, it runs code that nobody trusts.
    """
    try:
        metric = metric_of(source, own, arguments)
    except ProctorError as error:
        yield from error.diagnostics
        return
    check = getattr(metric, "check", None)
    if callable(check):
        yield from check()


def check_arguments(entry: MetricEntry, arguments: Mapping[str, Any]) -> None:
    """Check that an evaluator takes the arguments, and is given all that it needs.

    Raises:
        ScoringError: It does not, or is not.
        MissingExtraError: A value needs a package that is missing.
    """
    function = entry.load()
    everything = list(signature(function).parameters.values())[1:]
    known = [each for each in everything if each.kind is not Parameter.VAR_KEYWORD]
    names = [each.name for each in known]
    for name in arguments:
        if name not in names and len(known) == len(everything):
            why = f"it takes {', '.join(names)}" if names else "it takes none"
            raise ScoringError(f"'{entry.name}' has no argument '{name}'", why=why, hint=did_you_mean(name, names))
    given = {**entry.arguments, **arguments}
    if lacking := [each.name for each in known if each.default is Parameter.empty and each.name not in given]:
        raise ScoringError(f"'{entry.name}' needs the argument '{lacking[0]}'")
    for each in known:
        if (words := _words(each)) and each.name in given and given[each.name] not in words:
            what = f"'{entry.name}' has no {each.name} {given[each.name]!r}"
            hint = did_you_mean(str(given[each.name]), words) or f"choose one of {', '.join(words)}"
            raise ScoringError(what, hint=hint)
    if (check := getattr(function, "check", None)) is not None:  # a scorer of inspect
        check(given)


def _words(parameter: Parameter) -> list[str]:
    """Return the words of which a parameter is one (``Literal["a", "b"]``); none where it may be anything."""
    annotation = parameter.annotation
    if isinstance(annotation, str):
        named = " ".join(annotation.split())
        if not named.startswith("Literal["):
            return []
        return list(ast.literal_eval(f"({named[len('Literal[') : -1].rstrip(', ')},)"))
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []
