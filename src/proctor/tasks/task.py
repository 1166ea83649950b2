"""Task: the schema of a problem.

``Task.bind(stream_name)`` returns the compiled step from a row to an instance: a dict with the keys
``input_fields``, ``metrics``, ``data_classification_policy``, ``media``, ``recipe_metadata``, then ``demos``,
``instruction`` and ``system_prompt`` where the row has them, and ``reference_fields`` last (not when producing, on the
stream ``INFERENCE_STREAM``). Everything else in the row is dropped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import UnionType
from typing import Any, ClassVar, Final, Literal, Union, get_args, get_origin

from typing_extensions import override

from proctor.artifacts.artifact import Artifact
from proctor.artifacts.types import compile_check, explain_mismatch, parse_type_string, to_type_string
from proctor.data.fields import Row
from proctor.data.operator import InstanceOperator, Step
from proctor.data.streams import INFERENCE_STREAM
from proctor.errors import FieldTypeError, MissingFieldError, ValidationError, did_you_mean

_FIELD_GROUPS = ("input_fields", "reference_fields", "inputs", "outputs")
_PASSED_ON = ("demos", "instruction", "system_prompt")

Fields = dict[str, Any] | list[str]


class Task(InstanceOperator):
    """The schema of a problem: inputs, references, prediction type, metrics.

    Attributes:
        input_fields: Names of the fields a prompt is made of, each with its type (a type, or its name as text).
        reference_fields: Names of the fields an answer is judged by, each with its type.
        inputs: The old name of ``input_fields``.
        outputs: The old name of ``reference_fields``.
        metrics: The metrics that judge answers, or their names.
        prediction_type: The type of a prediction; ``None`` means any.
        augmentable_inputs: Input fields that augmentors may change.
        defaults: Values for fields that a row does not have.
        default_template: The template to use where a recipe names none.
    """

    input_fields: Fields | None = None
    reference_fields: Fields | None = None
    inputs: Fields | None = None
    outputs: Fields | None = None
    metrics: list[str | Artifact] | str
    prediction_type: Any = None
    augmentable_inputs: list[str] = []
    defaults: dict[str, Any] | None = None
    default_template: Artifact | None = None

    @override
    def prepare(self) -> None:
        super().prepare()
        self._listed = [name for name in _FIELD_GROUPS if isinstance(getattr(self, name), list)]
        if isinstance(self.metrics, str):
            self.metrics = [self.metrics]
        self.input_fields = self._resolve("input_fields", self.input_fields, "inputs", self.inputs)
        self.reference_fields = self._resolve("reference_fields", self.reference_fields, "outputs", self.outputs)
        if self.inputs is not None:
            self.inputs = self.input_fields
        if self.outputs is not None:
            self.outputs = self.reference_fields
        if isinstance(self.prediction_type, str):
            self.prediction_type = parse_type_string(self.prediction_type)
        if self.prediction_type is None:
            self.prediction_type = Any

    def _resolve(self, name: str, fields: Fields | None, old_name: str, old: Fields | None) -> dict[str, Any]:
        if fields is not None and old is not None:
            both = f"'{name}' cannot be set simultaneously with '{old_name}'"
            raise ValidationError(f"Conflicting attributes: {both}. Use only '{name}'")
        if old is not None:
            warnings.warn(f"'{old_name}' of a task is called '{name}' now", DeprecationWarning, stacklevel=2)
            fields = old
        if fields is None:
            raise ValidationError(f"Missing attribute in task: '{name}' not set.", hint=f"{name}={{'name': type, …}}")
        if isinstance(fields, list):
            return dict.fromkeys(fields, Any)
        return {field: _field_type(kind) for field, kind in fields.items()}

    @override
    def verify(self) -> None:
        super().verify()
        for field in self.augmentable_inputs:
            if field not in self.input_types:
                raise ValidationError(
                    f"the augmentable input '{field}' is not an input field", hint=did_you_mean(field, self.input_types)
                )
        self.verify_defaults()

    def verify_defaults(self) -> None:
        """Check that the defaults are those of fields, and of their types.

        Raises:
            ValidationError: One is not.
        """
        known = {**self.reference_types, **self.input_types}
        for field, value in (self.defaults or {}).items():
            if field not in known:
                raise ValidationError(
                    "If specified, all keys of the 'defaults' must refer to a chosen key in either 'input_fields' or "
                    f"'reference_fields'. However, the name '{field}' was provided which does not match any of the "
                    "keys.",
                    hint=did_you_mean(field, known),
                )
            if problem := explain_mismatch(value, known[field]):
                raise ValidationError(
                    f"The value of '{field}' from the 'defaults' must be of type '{to_type_string(known[field])}', "
                    f"however, it is of type '{type(value).__name__}'.",
                    why=problem,
                )

    @property
    def input_types(self) -> dict[str, Any]:
        """The input fields with their types."""
        return self.input_fields if isinstance(self.input_fields, dict) else {}

    @property
    def reference_types(self) -> dict[str, Any]:
        """The reference fields with their types."""
        return self.reference_fields if isinstance(self.reference_fields, dict) else {}

    @property
    def metric_names(self) -> list[str | Artifact]:
        """The metrics as a list."""
        return [self.metrics] if isinstance(self.metrics, str) else list(self.metrics)

    def check_metrics_type(self) -> None:
        """Check that the metrics take what the task predicts.

        Raises:
            ValidationError: A metric takes values of another type.
        """
        for name in self.metric_names:
            for metric in _members(self.fetched(name)):
                check_taken(self.prediction_type, metric, str(name))

    def set_default_values(self, instance: Row) -> Row:
        """Return the row with the defaults of fields it does not have."""
        return {**self.defaults, **instance} if self.defaults else instance

    @override
    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        for name in self._listed:  # fields that were given without types
            if name in data:
                data[name] = list(data[name])
        return data

    @override
    def compile(self, stream_name: str | None) -> Step:
        inputs = _FieldPicker(self, self.input_types).compiled()
        is_asked = stream_name == INFERENCE_STREAM
        references = None if is_asked else _FieldPicker(self, self.reference_types).compiled()
        metrics, defaults = self.metric_names, dict(self.defaults or {})

        def step(row: Row) -> Row:
            if defaults:
                row = {**defaults, **row}
            get = row.get
            instance: Row = {
                "input_fields": inputs(row),
                "metrics": metrics,
                "data_classification_policy": get("data_classification_policy", []),
                "media": get("media") or {},
                "recipe_metadata": get("recipe_metadata", {}),
            }
            for name in _PASSED_ON:
                if name in row:
                    instance[name] = row[name]
            if references is not None:
                instance["reference_fields"] = references(row)
            return instance

        return step


def check_taken(predicted: Any, metric: Any, name: str) -> None:
    """Check that a metric takes what is predicted.

    Raises:
        ValidationError: It takes values of another type.
    """
    wanted = getattr(metric, "prediction_type", None) or Any
    wanted = parse_type_string(wanted) if isinstance(wanted, str) else wanted
    if not _takes(wanted, predicted):
        raise ValidationError(
            f"The task's prediction type ({to_type_string(predicted)}) and '{name}' metric's prediction type "
            f"({wanted}) are different.",
            hint="give the task another prediction_type, or another metric",
        )


def _takes(wanted: Any, predicted: Any) -> bool:
    """Whether what is predicted may be what is wanted; of ``list`` nobody knows what is in it."""
    if Any in (wanted, predicted):
        return True
    if get_origin(wanted) in (Union, UnionType):
        return any(_takes(each, predicted) for each in get_args(wanted))
    if get_origin(predicted) in (Union, UnionType):
        return any(_takes(wanted, each) for each in get_args(predicted))
    if get_origin(predicted) is Literal:
        return any(_takes(wanted, type(each)) for each in get_args(predicted))
    bare = {get_origin(wanted) or wanted, get_origin(predicted) or predicted}
    if len(bare) == 1 and not (get_args(wanted) and get_args(predicted)):
        return True
    return to_type_string(wanted) == to_type_string(predicted) or (wanted, predicted) == (float, int)


def _members(metric: Any) -> list[Any]:
    members = getattr(metric, "items", None)
    return list(members) if isinstance(members, (list, tuple)) else [metric]


class FormTask(Task):
    """The old name of :class:`Task`."""

    _is_now: ClassVar[str] = "Task"


_PLAIN: Final = (str, int, float, bool)  # types whose values are of no other type


class _FieldPicker:
    """Picks fields from a row and checks their types."""

    def __init__(self, task: Task, types: dict[str, Any]) -> None:
        self.name = task.artifact_id or type(task).__name__
        self.types = types
        self.checks = [(field, compile_check(kind)) for field, kind in types.items()]
        self.names = tuple(types)

    def compiled(self) -> Callable[[Row], Row]:
        """Return what picks the fields; values are nearly always as they are to be: nobody looks closer then."""
        names, kinds = self.names, [get_origin(kind) or kind for kind in self.types.values()]
        if not names or not all(kind in _PLAIN or kind is list for kind in kinds):
            return self
        lists = [(field, check) for field, check in self.checks if self.types[field] not in _PLAIN]
        if len(names) == 1 and not lists:
            (name,), (kind,) = names, kinds
            return lambda row: {name: value} if type(value := row.get(name)) is kind else self(row)

        def pick(row: Row) -> Row:
            values = list(map(row.get, names))
            if list(map(type, values)) != kinds:
                return self(row)
            picked = dict(zip(names, values, strict=True))
            return self(row) if lists and not all(check(picked[field]) for field, check in lists) else picked

        return pick

    def __call__(self, row: Row) -> Row:
        picked = {}
        for field, check in self.checks:
            try:
                value = row[field]
            except KeyError:
                raise self._missing(field, row) from None
            if not check(value):
                raise self._mismatch(field, value)
            picked[field] = value
        return picked

    def _missing(self, field: str, row: Row) -> MissingFieldError:
        return MissingFieldError(
            f"the task '{self.name}' needs the field '{field}', which the row does not have",
            why=f"the row has {', '.join(map(str, row))}",
            hint=did_you_mean(field, map(str, row)) or "add or rename fields in the card's preprocess_steps",
        )

    def _mismatch(self, field: str, value: Any) -> FieldTypeError:
        kind = self.types[field]
        return FieldTypeError(
            f"the field '{field}' of the task '{self.name}' has the wrong type",
            why=explain_mismatch(value, kind) or f"it is not of the type {to_type_string(kind)}",
        )


def _field_type(kind: Any) -> Any:
    if isinstance(kind, str):
        return parse_type_string(kind)
    if isinstance(kind, dict):
        return dict  # nested schemas are only known to be dicts
    compile_check(kind)
    return kind
