"""Operators on the values of fields: copy, rename, cast, map, filter."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from proctor.artifacts.artifact import Artifact
from proctor.data.fields import Row, deleter, getter, is_subpath, setter
from proctor.data.operator import FieldOperator, InstanceOperator, MultiStreamOperator, Step, container_copy
from proctor.data.streams import INSTANCE_STREAM
from proctor.effects import Effect, has_scheme
from proctor.errors import DataError, ValidationError, did_you_mean, needed
from proctor.randomness import current_course, going_generator, random_stream

CASTS = {"int": int, "float": float, "str": str, "bool": bool, "tuple": tuple}
_UNDEFINED = "__UNDEFINED__"


class Copy(FieldOperator):
    """Copies values of fields to other fields: ``Copy(field="a/0", to_field="first")``."""

    @override
    def process_value(self, value: Any) -> Any:
        return value


class CopyFields(Copy):
    """The old name of :class:`Copy`."""

    _is_now: ClassVar[str] = "Copy"


class RecursiveCopy(FieldOperator):
    """Copies values with the dicts and lists inside them."""

    @override
    def process_value(self, value: Any) -> Any:
        return container_copy(value)


class Rename(FieldOperator):
    """Renames fields; the old one is removed, with containers that become empty.

    ``Rename(field_to_field={"b/c/e": "b/d"})`` makes ``{"b": {"c": {"f": 2}, "d": 1}}`` of
    ``{"b": {"c": {"e": 1, "f": 2}}}``.
    """

    @override
    def process_value(self, value: Any) -> Any:
        return value

    @override
    def compile(self, stream_name: str | None) -> Step:
        copy = super().compile(stream_name)
        removals = [
            deleter(old, missing_ok=self.not_exist_do_nothing, prune=True)
            for old, new in self.field_pairs()
            if not is_subpath(old, new) and not is_subpath(new, old)
        ]

        def step(row: Row) -> Row:
            row = copy(row)
            for remove in removals:
                remove(row)
            return row

        return step


class RenameFields(Rename):
    """The old name of :class:`Rename`."""

    _is_now: ClassVar[str] = "Rename"


class Move(InstanceOperator):
    """Moves the value of one field to another."""

    field: str
    to_field: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        get, remove, write = getter(self.field), deleter(self.field), setter(self.to_field)

        def step(row: Row) -> Row:
            value = get(row)
            remove(row)
            write(row, value)
            return row

        return step


class BytesToString(FieldOperator):
    """Python's ``str`` of values."""

    @override
    def process_value(self, value: Any) -> Any:
        return str(value)


class AddConstant(FieldOperator):
    """Adds a constant: ``add + value``."""

    add: Any

    @override
    def process_value(self, value: Any) -> Any:
        return self.add + value


class MapValues(FieldOperator):
    """Replaces values by what a mapping has for their ``str``."""

    mapping: dict[str, Any]

    @override
    def process_value(self, value: Any) -> Any:
        key = str(value)
        if key not in self.mapping:
            raise DataError(f"the value '{key}' is not in the mapping", hint=did_you_mean(key, self.mapping))
        return self.mapping[key]


class ShuffleFieldValues(FieldOperator):
    """Shuffles lists; equal lists are shuffled alike."""

    @override
    def process_value(self, value: Any) -> Any:
        shuffled = list(value)
        random_stream(shuffled).shuffle(shuffled)
        return shuffled


class JoinStr(FieldOperator):
    """Joins the members of lists to text.

    Attributes:
        separator: What stands between them.
    """

    separator: str = ","

    @override
    def process_value(self, value: Any) -> Any:
        return self.separator.join(map(str, value))


class GetItemByIndex(FieldOperator):
    """Takes from a fixed list what stands at the index in a field."""

    items_list: list[Any]

    @override
    def process_value(self, value: Any) -> Any:
        return self.items_list[value]


class Cast(FieldOperator):
    """Casts values.

    Attributes:
        to: ``int``, ``float``, ``str``, ``bool`` or ``tuple``.
        failure_default: What stands for values that cannot be cast; without it they are errors.
    """

    to: Literal["int", "float", "str", "bool", "tuple"]
    failure_default: Any = _UNDEFINED

    @override
    def process_value(self, value: Any) -> Any:
        try:
            return CASTS[self.to](value)
        except ValueError:
            if self.failure_default == _UNDEFINED:
                raise DataError(f"{value!r} cannot be cast to {self.to}", hint="set 'failure_default'") from None
            return self.failure_default


class CastFields(InstanceOperator):
    """Casts several fields, each to its own type.

    Attributes:
        fields: Fields with ``int``, ``float``, ``str`` or ``bool``.
        failure_defaults: What stands for values of a field that cannot be cast; without it they are errors.
        process_every_value: The fields are lists, and each member is cast.
    """

    fields: dict[str, Literal["int", "float", "str", "bool"]] = Field(default_factory=dict)
    failure_defaults: dict[str, Any] = Field(default_factory=dict)
    use_nested_query: bool | None = None
    process_every_value: bool = False

    @override
    def compile(self, stream_name: str | None) -> Step:
        casts = [(name, getter(name), setter(name), CASTS[kind]) for name, kind in self.fields.items()]
        defaults, every = dict(self.failure_defaults), self.process_every_value

        def cast(name: str, kind: Any, value: Any) -> Any:
            try:
                return kind(value)
            except (ValueError, TypeError, OverflowError):
                if name not in defaults:
                    raise DataError(
                        f"{value!r} in the field '{name}' cannot be cast to {kind.__name__}",
                        hint="give the field a value in 'failure_defaults'",
                    ) from None
                return defaults[name]

        def step(row: Row) -> Row:
            for name, get, write, kind in casts:
                value = get(row)
                if every and not isinstance(value, list):
                    raise DataError(f"the field '{name}' is not a list", why="'process_every_value' needs one")
                write(row, [cast(name, kind, each) for each in value] if every else cast(name, kind, value))
            return row

        return step


class Fillna(FieldOperator):
    """Replaces NaN.

    Attributes:
        value: What stands for it.
    """

    value: Any

    @override
    def process_value(self, value: Any) -> Any:
        try:
            return self.value if math.isnan(value) else value
        except TypeError:
            return value


_PERCENT = 100  # all of them, in percent


class Perturb(FieldOperator):
    """Spoils some values a little, as if a model had made mistakes.

    Attributes:
        select_from: Other values that a value in this list may become.
        percentage_to_perturb: How many values to spoil, in percent.
    """

    draws_on: ClassVar[bool] = True

    select_from: list[Any] = Field(default_factory=list)
    percentage_to_perturb: int = 1

    @override
    def verify(self) -> None:
        super().verify()
        if not 0 <= (given := self.percentage_to_perturb) <= _PERCENT:
            raise ValidationError(f"'percentage_to_perturb' should be in the range 0..100. Received {given}")

    @override
    def compile(self, stream_name: str | None) -> Step:
        self._random = random_stream("CopyWithPerturbation")
        return super().compile(stream_name)

    @override
    def prepare(self) -> None:
        super().prepare()
        self._random = self._of_single_rows = random_stream("CopyWithPerturbation")

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        step = self.compile(stream_name)
        self._random = self._of_single_rows  # which goes on from one row to the next
        return step(instance)

    @override
    def process_value(self, value: Any) -> Any:
        random = self._random if current_course() is None else going_generator(self, "CopyWithPerturbation")
        if random.randint(1, 100) > self.percentage_to_perturb:
            return value
        if value in self.select_from and random.random() < 0.8:  # noqa: PLR2004 - odds
            return random.choice(self.select_from)
        if isinstance(value, float):
            return value * (0.5 + random.random())
        if isinstance(value, int):
            return value + (1 if random.random() < 0.5 else -1)  # noqa: PLR2004 - odds
        if isinstance(value, str) and len(value) > 1:
            cut = random.randint(1, len(value) - 1)
            return value[:cut] + value[cut + 1 :]
        return value


def _listed(name: str) -> BeforeValidator:
    def checked(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise ValidationError(f"The {name} is not a list but '{value}'")
        return value

    return BeforeValidator(checked)


class Intersect(FieldOperator):
    """Keeps the members of lists that are allowed."""

    allowed_values: Annotated[list[Any], _listed("allowed_values")]

    @override
    def verify(self) -> None:
        super().verify()
        if self.process_every_value:
            raise ValidationError("Intersect works on whole lists", hint="leave 'process_every_value' off")

    @override
    def process_value(self, value: Any) -> Any:
        return [each for each in _as_list(value) if each in self.allowed_values]


class RemoveValues(FieldOperator):
    """Removes members of lists that are not allowed."""

    unallowed_values: Annotated[list[Any], _listed("unallowed_values")]

    @override
    def process_value(self, value: Any) -> Any:
        return [each for each in _as_list(value) if each not in self.unallowed_values]


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"The value in field is not a list but '{value}'")
    return value


class IntersectCorrespondingFields(InstanceOperator):
    """Keeps the allowed members of a list, and the members at the same places of other lists.

    Attributes:
        field: The list that decides.
        allowed_values: Its members to keep.
        corresponding_fields_to_intersect: The other lists, of the same length.
    """

    field: str
    allowed_values: list[Any]
    corresponding_fields_to_intersect: list[str]

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        names = [self.field, *self.corresponding_fields_to_intersect]
        lists = {name: _as_list(getter(name)(instance)) for name in names}
        deciding = lists[self.field]
        for name, members in lists.items():
            if len(members) != len(deciding):
                raise DataError(
                    f"the fields '{self.field}' and '{name}' have lists of different lengths",
                    why=f"{len(deciding)} and {len(members)}",
                )
        kept = [i for i, value in enumerate(deciding) if value in self.allowed_values]
        return {**instance, **{name: [members[i] for i in kept] for name, members in lists.items()}}


class AddID(InstanceOperator):
    """Adds an id that is made of the row's content, and so the same in every run.

    Attributes:
        id_field_name: The field to write.
    """

    id_field_name: str = "id"

    @override
    def compile(self, stream_name: str | None) -> Step:
        seen: dict[str, int] = {}
        write = setter(self.id_field_name)

        def step(row: Row) -> Row:
            content = repr(row)
            key = uuid.uuid5(uuid.NAMESPACE_OID, content).hex
            seen[key] = seen.get(key, 0) + 1
            write(row, key if seen[key] == 1 else uuid.uuid5(uuid.NAMESPACE_OID, f"{content}#{seen[key]}").hex)
            return row

        return step


class ReadFile(FieldOperator):
    """Replaces paths and URLs by the text of the file.

    Attributes:
        encoding: Of the text.
    """

    encoding: str = "utf-8"

    @override
    def process_value(self, value: str) -> str:
        from pathlib import Path

        from proctor.data.found_files import file_named

        content = Path(file_named(value, self.author, self.type_name())).read_bytes()
        return content.decode(self.encoding, errors="replace" if has_scheme(value) else "strict")


class WikipediaFetcher(FieldOperator):
    """Replaces addresses of Wikipedia articles by documents.

    Attributes:
        mode: The whole ``text``, or its ``summary``.
    """

    mode: Literal["summary", "text"] = "text"

    @override
    def effects(self) -> Iterable[Effect]:
        return [Effect("net", "en.wikipedia.org", self.type_name())]

    @override
    def process_value(self, value: str) -> dict[str, str]:
        with needed("Wikipedia-API", "loaders", "fetching articles"):
            import wikipediaapi
        self.act()
        page = wikipediaapi.Wikipedia("Proctor").page(value.rpartition("/")[2])
        return {"title": page.title, "body": getattr(page, self.mode)}


class ApplyOperatorsField(InstanceOperator):
    """Applies to each row the operators that a field of it names.

    Attributes:
        operators_field: The field; an operator or a list of them.
        default_operators: The operators of rows that name none; one or a list of them.
    """

    operators_field: str
    default_operators: str | list[Any] | None = None

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        names = instance.get(self.operators_field, self.default_operators)
        if names is None:
            raise DataError(
                f"No operators found in field '{self.operators_field}', and no default operators provided.",
                hint="set 'default_operators'",
            )
        for name in [names] if isinstance(names, (str, Artifact)) else names:
            operator = self.fetched(name)
            if not isinstance(operator, MultiStreamOperator):
                raise DataError(f"'{name}' is not an operator")
            instance = operator.process_instance(instance, stream_name or INSTANCE_STREAM)
        return instance
