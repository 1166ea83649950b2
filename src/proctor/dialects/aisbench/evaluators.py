"""``eval_cfg``: from raw predictions through the post-processors to scores, in upstream's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.values import UPSTREAM, as_data, dotted_name, short_name
from proctor.errors import Location, ProctorError, ScoringError, did_you_mean
from proctor.lazy import Deferred
from proctor.scoring.metric_table import MetricEntry, metric_of, metric_table
from proctor.scoring.metric_table import is_metric as names_metric
from proctor.scoring.named_table import OPENCOMPASS
from proctor.scoring.scores import Score, Unit
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.dialects.aisbench import trusted_evaluators
    from proctor.scoring import named_metric as registered_metric
    from proctor.scoring.evaluators import cases as evaluated
    from proctor.scoring.evaluators import metrics, subjective_readers
    from proctor.scoring.evaluators.cases import Cases, Verdict
    from proctor.scoring.metric import Metric
else:
    trusted_evaluators = Deferred("proctor.dialects.aisbench.trusted_evaluators")
    evaluated = Deferred("proctor.scoring.evaluators.cases")
    metrics = Deferred("proctor.scoring.evaluators.metrics")
    subjective_readers = Deferred("proctor.scoring.evaluators.subjective_readers")
    registered_metric = Deferred("proctor.scoring.named_metric")

RECORDED_ONLY: Mapping[str, str] = {
    "MMCustomEvaluator": "it says 1 whatever was answered",
    "MTBenchEvaluator": "it compares turns of conversations with names of sounds",
}
"""Evaluators of AISBench that measure nothing, with the reason: answers are recorded, and nothing is scored."""

ABSENT: Mapping[str, str] = {
    "DS1000": "its tests are pickled; the metric 'ds1000' grades the edition of xlangai/DS-1000, whose tests are text",
    "Toxic": "it sends predictions to Google's Perspective service",
    "HumanevalX": "it sends programs to a service that runs them",
    "DS1000Service": "it sends programs to a service that runs them",
    "CIBench": "it runs what models wrote in notebooks",
    "OmniDocBench": "it compares pages by rendering their formulas with LaTeX",
    "BFCLMultiTurn": "it runs simulated programs of its package (files, orders, posts) between the calls; "
    "the categories of one turn run here, and 'bfcl generate' of the package bfcl-eval asks these",
    "LMMJudge": "it judges pictures that models made",
    "PMMEvalMIFEval": "its instructions are checked by the program of its authors",
    "GaoKaoMATH": "it asks a model at an address of its own; GenericLLMEvaluator asks the judge of a config",
    "OmniMath": "it loads a model that judges; GenericLLMEvaluator asks the judge of a config",
    "HealthBench": "it asks a judge about each rubric; so does --metric rubrics --judge MODEL",
    "TruthfulQA": "it asks models that OpenAI has withdrawn, or loads BLEURT",
    "MultiplE": "it sends programs to a service that runs them",
    "HumanevalMulti": "it sends programs to a service that runs them",
    "LCBPro": "it sends programs to a service that runs them",
    "InternSandbox": "the package internbootcamp grades its answers",
    "PerspectiveGap": "the package perspective-gap, which no index has, grades its answers",
    "TheoremQAEvaluatorV3": "it runs what models wrote as Python; the older configs of TheoremQA compare texts",
    "MATHAgent": "it reads the steps of an agent",
    "Gsm8kAgent": "it reads the steps of an agent",
    "MP20": "it relaxes crystals with a neural network",
    "RNA": "it runs RNAfold and cmscan",
    "UPG": "it folds proteins with a neural network",
}

_RECORD = "--predict-only records the answers without scores"

Row = Mapping[str, Any]


# -- evaluators by name -------------------------------------------------------------------------------------------


def evaluator_names() -> list[str]:
    """Return the names of all evaluators that are known."""
    return sorted({name.rpartition(".")[2] for name in metric_table().of(OPENCOMPASS)})


def is_known(config: Mapping[str, Any]) -> bool:
    """Return whether an ``evaluator`` config names a metric that works without upstream's class."""
    return entry_of(config) is not None or is_metric(config) or is_recorded_only(config)


def is_recorded_only(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator measures nothing, so that answers are only recorded."""
    whole = dotted_name(config.get("type"))
    return whole.rpartition(".")[2] in RECORDED_ONLY and whole.partition(".")[0] in ("ais_bench", whole)


def entry_of(config: Mapping[str, Any]) -> MetricEntry | None:
    """Return the evaluator that a config names; classes are known where they come from upstream's packages."""
    whole = dotted_name(config.get("type"))
    if "." in whole and whole.partition(".")[0] not in UPSTREAM:
        return None
    found = metric_table().find(_known_name(whole), OPENCOMPASS, {OPENCOMPASS})
    return found if found is not None and found.reads == "columns" else None


def is_metric(config: Mapping[str, Any]) -> bool:
    """Return whether a config names a metric of another system: by its name in a catalog or in the table."""
    kind = config.get("type")
    return isinstance(kind, str) and names_metric(kind, OPENCOMPASS)


def _known_name(whole: str) -> str:
    """Return the name in the table: with the folder of datasets before it where several classes have one name."""
    name = whole.rpartition(".")[2]
    _, folder, rest = whole.rpartition(".datasets.")
    first = rest.partition(".")[0]
    known = metric_table().of(OPENCOMPASS) if folder else {}
    return next((each for each in (f"{first}.{name}", f"datasets.{name}") if each in known), name)


def evaluator(config: Mapping[str, Any]) -> Callable[[Cases], Verdict]:
    """Return the evaluator that an ``evaluator`` config stands for, with its arguments.

    Raises:
        ScoringError: None is known by this name; the error says why, where that is on purpose.
    """
    place = getattr(config, "location", None)
    if not config.get("type"):
        raise ScoringError(
            "the eval_cfg names no evaluator",
            location=place,
            hint="evaluator=dict(type=AccEvaluator); --predict-only records answers without one",
        )
    arguments = arguments_of(config)
    if is_recorded_only(config):
        return lambda cases: evaluated.Verdict({})
    if (entry := entry_of(config)) is not None:
        return _called(entry, arguments, place)
    if is_metric(config):
        return _metric(str(config["type"]), arguments, place)
    whole = dotted_name(config.get("type"))
    if not settings.trust_code:
        raise _unknown(whole, place)
    try:
        kind = config["type"] if inspect.isclass(config["type"]) else trusted_evaluators.evaluator_class(whole, place)
    except ImportError as error:
        raise _unknown(whole, place, str(error)) from None
    return trusted_evaluators.class_evaluator(kind, arguments, place)


def _called(entry: MetricEntry, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    def judge(cases: Cases) -> Verdict:
        try:
            return registered_metric.call_evaluator(entry, {**entry.arguments, **arguments}, cases)
        except ScoringError as error:
            raise error.located(place) from error.__cause__

    return judge


def _metric(name: str, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    try:
        return metrics.metric_evaluator(metric_of(name, OPENCOMPASS, as_data(arguments)))
    except ProctorError as error:
        raise error.located(place) from None


def metric_in(config: Mapping[str, Any]) -> Metric | None:
    """Return the metric of a catalog that an evaluator names; ``None`` where it names none.

    Raises:
        ProctorError: It cannot be made.
    """
    if "type" not in config or entry_of(config) is not None or not is_metric(config):
        return None
    return metric_of(str(config["type"]), OPENCOMPASS, as_data(arguments_of(config)))


def _unknown(whole: str, place: Location | None, reason: str = "") -> ScoringError:
    name = _known_name(whole) if whole.partition(".")[0] != "metrics" else whole
    why = next((text for start, text in ABSENT.items() if name.startswith(start)), "")
    return ScoringError(
        f"the evaluator '{name}' cannot be computed here",
        location=place,
        why=why or reason or "its class would have to run; that needs --trust-code",
        hint=_RECORD if why else "" if reason else did_you_mean(name, [*evaluator_names(), *metric_table().names()]),
    )


def reads_rows(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator may look at the whole rows; they are kept for it then."""
    entry = entry_of(config)
    return entry is None or entry.reads_rows


def is_class(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator is a class of upstream's or of the config's own, which runs where code is trusted."""
    return entry_of(config) is None and not is_metric(config) and not is_recorded_only(config)


def unit_of(config: Mapping[str, Any], score: str) -> tuple[Unit, bool | None]:
    """Return in which unit an evaluator's score is, and whether more is better."""
    if score.endswith("_count"):
        return "raw", None
    if (entry := entry_of(config)) is not None:
        own: Mapping[str, Unit] = entry.units
        reader = short_name((config.get("dict_postprocessor") or {}).get("type", ""))
        return (reader and subjective_readers.SUBJECTIVE_UNITS.get(reader)) or own.get(
            score, entry.unit
        ), entry.higher_is_better
    if is_metric(config):
        metric = metric_of(str(config["type"]), OPENCOMPASS, as_data(arguments_of(config)))
        return metric.unit or "raw", metric.higher_is_better
    return "percent", None


def declared_main(config: Mapping[str, Any]) -> Score | None:
    """Return an evaluator's main score without its value; ``None`` where its unit is known only when it has scored."""
    known = entry_of(config)
    if is_recorded_only(config) or (known is None and not is_metric(config)) or (known is not None and known.units):
        return None
    unit, better = unit_of(config, "")
    return Score(short_name(str(config["type"])), None, unit=unit, higher_is_better=better)


def arguments_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an ``evaluator`` config says beside its type and its post-processor."""
    return {key: value for key, value in config.items() if key not in ("type", "pred_postprocessor")}
