"""Metrics of single rows as functions of an instance: what each reads of it, and what it makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from proctor.errors import ProctorError, ScoringError
from proctor.ir import Response
from proctor.scoring.choice import OUTSIDE, ChoiceAnswer
from proctor.scoring.metric_table import MetricEntry, metric_entry
from proctor.scoring.named_table import LM_EVAL
from proctor.scoring.repeats import score_of_repeats
from proctor.scoring.single_answers import nothing, pair

CHOICE_FIELDS = ("choices", "options")
"""Fields in which tasks keep the texts of the choices."""


class Instance(NamedTuple):
    """One instance, as a metric sees it."""

    prediction: Any
    references: Sequence[Any]
    fields: Mapping[str, Any]
    responses: Sequence[Response]


RowFunction = Callable[[Instance], Mapping[str, Any]]
"""From an instance to its values by score name."""


def row_function(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    """Return the function of an entry of the table with its arguments.

    Raises:
        ScoringError: It reads columns, not rows.
    """
    if entry.reads not in _READERS:
        why = "it scores all instances together" if entry.reads == "columns" else "a task's process_results makes it"
        raise ScoringError(f"'{entry.name}' cannot be made of single answers", why=why)
    return _READERS[entry.reads](entry, {**entry.arguments, **arguments})


def _text(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    function = entry.load()

    def score(instance: Instance) -> Mapping[str, Any]:
        values = [
            as_mapping(entry.name, called(function, gold, instance.prediction, arguments))
            for gold in instance.references
        ]
        return values[0] if len(values) == 1 else {entry.name: float(any(each.get(entry.name) for each in values))}

    return score


def _pairs(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    refuse_arguments(entry, arguments)
    function = entry.load()

    def score(instance: Instance) -> Mapping[str, Any]:
        golds = instance.references
        return {entry.name: function([golds[0] if len(golds) == 1 else list(golds), instance.prediction])}

    return score


def _choices(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    refuse_arguments(entry, arguments)
    function = entry.load()

    def score(instance: Instance) -> Mapping[str, Any]:
        if not instance.responses and entry.name == "acc":  # the chosen text says as much as the likelihoods
            return {entry.name: float(instance.prediction in instance.references)}
        return {entry.name: function(choice_answer(instance, entry.name))}

    return score


def choice_answer(instance: Instance, name: str) -> ChoiceAnswer:
    """Return the likelihoods of an instance's choices.

    Raises:
        ScoringError: There are none, or the instance does not say which texts they belong to.
    """
    scored = [each for response in instance.responses for each in response.scores]
    choices = next((instance.fields[field] for field in CHOICE_FIELDS if field in instance.fields), None)
    if not scored or not choices or len(scored) < len(choices):
        raise ScoringError(
            f"'{name}' compares log-likelihoods of choices, and there are none",
            hint="ask for choices (request=choose), with the choices' texts in the field 'choices'; "
            "metrics.accuracy and exact_match compare answers",
        )
    texts = [str(each) for each in choices]
    golds = [texts.index(str(each)) if str(each) in texts else OUTSIDE for each in instance.references]
    count = len(texts)
    return ChoiceAnswer(
        [each.log_likelihood for each in scored[:count]],
        [each.is_greedy for each in scored[:count]],
        texts,
        golds[0] if len(golds) == 1 else golds,
        [each.log_likelihood for each in scored[count:]],
    )


def _likelihood(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    refuse_arguments(entry, arguments)
    function = entry.load()

    def score(instance: Instance) -> Mapping[str, Any]:
        scored = [each for response in instance.responses for each in response.scores]
        if not scored or not instance.references:
            raise ScoringError(
                f"'{entry.name}' needs the log-likelihood of a text, and there is none",
                hint="it works in tasks with output_type: loglikelihood_rolling",
            )
        return {entry.name: function(scored[0].log_likelihood, str(instance.references[0]))}

    return score


def _repeats(entry: MetricEntry, arguments: Mapping[str, Any]) -> RowFunction:
    rest = dict(arguments)
    sizes, of = rest.pop("k", None), str(rest.pop("of", "exact_match"))
    inner = metric_entry(of, LM_EVAL)
    if inner is None or inner.reads != "text":
        raise ScoringError(f"'{entry.name}' repeats a metric of single answers, and '{of}' is not one")
    is_right = row_function(inner, rest)
    family = entry.name.partition("@")[0]

    def score(instance: Instance) -> Mapping[str, Any]:
        answers = instance.prediction if isinstance(instance.prediction, list) else [instance.prediction]
        right = [any(is_right(instance._replace(prediction=each)).values()) for each in answers]
        wanted = sizes if isinstance(sizes, list) else [sizes or len(answers)]
        return {f"{family}@{k}": score_of_repeats(family, right, answers, k) for k in wanted}

    return score


_READERS: Mapping[str, Callable[[MetricEntry, Mapping[str, Any]], RowFunction]] = {
    "text": _text,
    "pairs": _pairs,
    "choices": _choices,
    "likelihood": _likelihood,
    "repeats": _repeats,
}


def refuse_arguments(entry: MetricEntry, arguments: Mapping[str, Any]) -> None:
    """Raise where a metric that takes no arguments is given some.

    Raises:
        ScoringError: There are arguments.
    """
    if arguments:
        raise ScoringError(f"'{entry.name}' takes no arguments", why=f"it is given {', '.join(arguments)}")


def called(function: Callable[..., Any], gold: object, prediction: object, arguments: Mapping[str, Any]) -> Any:
    """Call a metric by either of the two ways that metrics are written: with keywords, or with one pair."""
    if function in _OF_PAIRS:
        return function([gold, prediction])
    try:
        return function(references=[gold], predictions=[prediction], **arguments)
    except (TypeError, ProctorError) as error:
        cause = error.__cause__ if isinstance(error, ProctorError) else error
        if not isinstance(cause, TypeError):
            raise
        return function([gold, prediction])


_OF_PAIRS = frozenset({pair, nothing})  # metrics that are known to take a pair


def as_mapping(name: str, value: object) -> Mapping[str, Any]:
    """Return what a metric made as values by name."""
    return value if isinstance(value, Mapping) else {name: value}
