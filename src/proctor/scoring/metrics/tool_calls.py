"""Metrics of tool calls, and of other answers that are values by name."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from proctor.artifacts.field_types import ToolCall
from proctor.artifacts.types import is_of_type
from proctor.errors import MissingFieldError, ScoringError, needed
from proctor.scoring.columns import Columns
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.map_reduce import ReductionInstanceMetric
from proctor.scoring.metric import Metric
from proctor.scoring.reductions import AggregationReduction, MeanReduction
from proctor.scoring.scores import Unit

TOOLS = "__tools__"
"""Where an instance's task data has the tools that the model was shown."""


# -- whole calls ----------------------------------------------------------------------------------------------


class ToolCallingMetric(ReductionInstanceMetric[Any, dict[str, float]]):
    """How well a call of a tool fits the calls that are right: name, arguments, values, schema.

    Scores that compare with references are those of the reference that fits best, each by itself.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "exact_match"
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]
    prediction_type: object = ToolCall

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the scores of a call."""
        given = prediction["arguments"]
        wanted = [each["arguments"] for each in references]
        values = max((_precision(given, each, _equal(given, each)) for each in wanted), default=0.0)
        return {
            self.main_score: float(_text(prediction) in map(_text, references)),
            "tool_name_accuracy": float(str(prediction["name"]) in {str(each["name"]) for each in references}),
            "argument_name_recall": max((_shared(given, each, of=each) for each in wanted), default=0.0),
            "argument_name_precision": max((_precision(given, each, set(each)) for each in wanted), default=0.0),
            "argument_value_precision": values,
            "argument_schema_validation": fits_schema(prediction, task_data),
        }


class MultiTurnToolCallingMetric(ReductionInstanceMetric[Any, dict[str, float]]):
    """The share of the calls in an answer whose arguments fit the schema of a tool that there is."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "argument_schema_validation"
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]
    prediction_type: object = list[ToolCall]

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the share.

        Raises:
            ScoringError: The answer has no call, so that there is no share.
        """
        if not prediction:
            raise ScoringError("the answer calls no tool", why="the score is a share of its calls")
        return {self.main_score: sum(fits_schema(each, task_data) for each in prediction) / len(prediction)}


def _text(call: Any) -> str:
    return json.dumps(call, sort_keys=True)


def _shared(given: Mapping[str, Any], wanted: Mapping[str, Any], of: Mapping[str, Any]) -> float:
    return len(set(given) & set(wanted)) / len(of) if of else 1.0


def _precision(given: Mapping[str, Any], wanted: Mapping[str, Any], right: set[str]) -> float:
    if given:
        return len(set(given) & right) / len(given)
    return float(not wanted)


def _equal(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> set[str]:
    return {name for name, value in given.items() if name in wanted and _same(value, wanted[name])}


def _same(given: Any, wanted: Any) -> bool:
    try:
        return _text(given) == _text(wanted)
    except TypeError:  # it is not JSON, which no call can say
        return False


def fits_schema(call: Mapping[str, Any], task_data: Mapping[str, Any]) -> float:
    """Return 1 where the arguments of a call fit the schema of the tool of its name, else 0.

    Raises:
        MissingFieldError: The task data has no tools.
        MissingExtraError: ``jsonschema`` is not installed.
    """
    if TOOLS not in task_data:
        raise MissingFieldError(
            f"the task data has no field '{TOOLS}'", hint="a template with a serializer for List[Tool] puts them there"
        )
    named = [tool["function"] for tool in task_data[TOOLS] if tool["function"]["name"] == call["name"]]
    if not named:
        return 0.0
    return float(_validates(named[-1]["parameters"], call["arguments"]))


def _validates(schema: Any, value: Any) -> bool:
    with needed("jsonschema", "tools", "whether calls fit the schemas of tools"):
        from jsonschema import SchemaError, ValidationError, validate
    try:
        validate(value, schema)
    except ValidationError:
        return False
    except SchemaError as error:
        raise ScoringError("the parameters of a tool are not a JSON Schema", why=error.message) from error
    return True


# -- values by name -------------------------------------------------------------------------------------------


class KeyValueExtraction(GlobalMetric):
    """How well values by name are found: a metric for each name, and means over them.

    A name that only one of answer and reference has scores 0. ``…_micro`` is the mean over all values, ``…_macro`` over
    names, ``…_legal_keys_in_predictions`` the share of answered names that some reference has.

    Attributes:
        metric: What compares two values.
    """

    prediction_type: object = dict[str, str]
    main_score: str = ""
    metric: Metric

    def prepare(self) -> None:
        """Name the main score after the metric."""
        super().prepare()
        self.main_score = f"{self.metric.main_score}_micro"

    @property
    def unit(self) -> Unit | None:  # type: ignore[override]
        """The unit of the metric."""
        return self.metric.unit

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample.

        Raises:
            ScoringError: No reference has a name.
        """
        wanted = [each[0] for each in references]
        names = dict.fromkeys(name for each in wanted for name in each)
        scores = {name: list(self._scores(name, wanted, predictions)) for name in names}
        if not scores:
            raise ScoringError("no reference names a value", why="there is nothing to find")
        means = {name: sum(values) / len(values) for name, values in scores.items()}
        main = self.metric.main_score
        found = {f"{main}_{name}": mean for name, mean in means.items()}
        found[self.main_score] = sum(map(sum, scores.values())) / sum(map(len, scores.values()))
        found[f"{main}_macro"] = sum(means.values()) / len(means)
        answered = [name for each in predictions for name in each]
        legal = sum(name in names for name in answered)
        found[f"{main}_legal_keys_in_predictions"] = legal / len(answered) if answered else 0
        return found

    def _scores(self, name: str, wanted: Sequence[Mapping[str, Any]], given: Sequence[Any]) -> Iterator[float]:
        for right, answer in zip(wanted, given, strict=True):
            if name in right and name in answer:
                yield self._score(answer[name], right[name])
            elif name in right or name in answer:
                yield 0.0

    def _score(self, value: Any, right: Any) -> float:
        found = self.metric.measure(Columns([value], [[right]], [{}]), intervals=False)
        score = found.overall.get("score")
        if isinstance(score, float):
            return score
        raise ScoringError(f"{self.metric.name} has no score for a value", why=f"{value!r} against {right!r}")


class ToolCallKeyValueExtraction(KeyValueExtraction):
    """:class:`KeyValueExtraction` of tool calls: their name and each argument, nested ones by their path.

    Members of a list of dicts are named by their place; or by their one key, where each has one and no two the same.

    Attributes:
        flatten_list_of_dictionaries: Accepted for files that have it; lists are always taken apart.
    """

    prediction_type: object = ToolCall

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        return super().compute(
            [[flat_values(each) for each in group] for group in references],
            list(map(flat_values, predictions)),
            task_data,
        )


def flat_values(nested: Mapping[str, Any], parent: str = "") -> dict[str, Any]:
    """Return the values of nested dicts by their path: ``{"a": {"b": 1}}`` is ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        path = f"{parent}.{key}" if parent else key
        for name, member in _members(path, value):
            if isinstance(member, Mapping):
                flat.update(flat_values(member, name))
            else:
                flat[name] = member
    return flat


def _members(path: str, value: Any) -> list[tuple[str, Any]]:
    if not is_of_type(value, list[dict[Any, Any]]):
        return [(path, value)]
    keys = [next(iter(each)) for each in value if len(each) == 1]
    if len(keys) == len(value) == len(set(keys)):
        return [(path, each) for each in value]
    return [(f"{path}.{place}", each) for place, each in enumerate(value)]
