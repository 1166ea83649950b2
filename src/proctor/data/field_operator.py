"""Bases of operators on fields; import these names from :mod:`proctor.data.operator`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, ClassVar, cast

from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL
from proctor.data.fields import MISSING, Row, finder, missing_field, setter
from proctor.data.operator_bases import InstanceOperator, Step, undefined
from proctor.errors import ValidationError


class InstanceFieldOperator(InstanceOperator):
    """An operator on fields that sees the whole row; override ``process_instance_value(value, instance)``.

    Attributes:
        field: The field to read.
        to_field: The field to write; ``field`` itself where it is ``None``.
        field_to_field: Several fields to read, each with the field to write; instead of the two above.
        process_every_value: The field is a list, and each of its members is processed.
        set_every_value: Write one member of the result to each match of ``*`` in ``to_field``.
        not_exist_ok: Where there is no such field, process ``get_default`` in its place.
        not_exist_do_nothing: Where there is no such field, leave the row as it is.
    """

    field: str | None = None
    to_field: str | None = None
    field_to_field: list[list[str] | tuple[str, str]] | dict[str, str] | None = None
    use_query: bool | None = None
    process_every_value: bool = False
    set_every_value: Annotated[bool, NON_POSITIONAL] = False
    get_default: Any = None
    not_exist_ok: bool = False
    not_exist_do_nothing: bool = False

    def _filled_in(self, fields: dict[str, Any]) -> None:
        if isinstance(fields.get("field"), (list, dict)):  # pairs that a program gives first
            fields["field_to_field"] = fields.pop("field")
        super()._filled_in(fields)

    def field_pairs(self) -> list[tuple[str, str]]:
        """Return the fields to read, each with the field to write.

        Raises:
            ValidationError: No field or too many are named, or the result would depend on an order nobody gave.
        """
        if (self.field is None) == (self.field_to_field is None):
            raise ValidationError(f"{self.label()} needs either 'field' or 'field_to_field'")
        if self.field is not None:
            return [(self.field, self.field if self.to_field is None else self.to_field)]
        if self.to_field is not None:
            raise ValidationError(f"{self.label()} has both 'to_field' and 'field_to_field'")
        if not self.field_to_field:
            raise ValidationError(f"{self.label()} names no field", why="'field_to_field' is empty")
        if isinstance(self.field_to_field, dict):
            self._check_order(self.field_to_field)
            return list(self.field_to_field.items())
        if any(len(pair) != len(("from", "to")) for pair in self.field_to_field):
            raise ValidationError(f"{self.label()} needs pairs in 'field_to_field'")
        return [(pair[0], pair[1]) for pair in self.field_to_field]

    def _check_order(self, mapping: dict[str, str]) -> None:
        targets = list(mapping.values())
        for source, target in mapping.items():
            if targets.count(target) > 1 or (target != source and target in mapping):
                raise ValidationError(
                    f"{self.label()} depends on the order of its fields",
                    why=f"'{target}' is written and also read, or written twice",
                    hint="give 'field_to_field' as a list of pairs",
                )

    def process_instance_value(self, value: Any, instance: Row) -> Any:  # noqa: ARG002 - for those who override it
        """Return the new value of a field."""
        raise undefined(self, "process_instance_value(value, instance)")

    @override
    def compile(self, stream_name: str | None) -> Step:
        del stream_name
        pairs = [(path, finder(path), setter(to, each=self.set_every_value)) for path, to in self.field_pairs()]
        convert = self._converter()
        skip, default = self.not_exist_do_nothing, self.get_default
        required = not (skip or self.not_exist_ok)

        def step(row: Row) -> Row:
            for path, find, write in pairs:
                value = find(row)
                if value is MISSING:
                    if required:
                        raise missing_field(path, row)
                    if skip:
                        continue
                    value = default
                write(row, convert(value, row))
            return row

        return step

    def _converter(self) -> Callable[[Any, Row], Any]:
        convert = self.process_instance_value
        if self.process_every_value:
            return lambda value, row: [convert(each, row) for each in value]
        return convert

    def process_one(self, value: Any) -> Any:
        """Process a single value, outside of any row."""
        return self._converter()(value, {})


class FieldOperator(InstanceFieldOperator):
    """An operator on the values of fields; override ``process_value(value)``, or ``process(value)``."""

    _takes_value: ClassVar[bool] = False

    def process_value(self, value: Any) -> Any:
        """Return the new value of a field."""
        if self._takes_value:
            return cast("Any", self.process)(value)
        if type(self).process_value is not FieldOperator.process_value:
            return None  # somebody's own calls this one first
        raise undefined(self, "process_value(value)")

    @override
    def process_instance_value(self, value: Any, instance: Row) -> Any:
        del instance
        return self.process_value(value)

    def _converter(self) -> Callable[[Any, Row], Any]:
        if type(self).process_instance_value is not FieldOperator.process_instance_value:
            return super()._converter()
        convert = self.process_value
        if self.process_every_value:
            return lambda value, _: [convert(each) for each in value]
        return lambda value, _: convert(value)

    @override
    def _is_compiled(self) -> bool:
        return self._takes_value or super()._is_compiled()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if "process" in vars(cls):
            cls._takes_value = _takes_one_argument(vars(cls)["process"])


def _takes_one_argument(function: Callable[..., Any]) -> bool:
    parameters = list(signature(function).parameters.values())[1:]
    return (
        len(parameters) == 1 and parameters[0].kind is not Parameter.VAR_POSITIONAL and parameters[0].name != "instance"
    )
