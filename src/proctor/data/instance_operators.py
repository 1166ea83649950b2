"""Operators on rows: set, map, list, zip."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, ClassVar

from typing_extensions import override

from proctor.data.fields import Row, deleter, getter, setter
from proctor.data.operator import InstanceOperator, Step, writing
from proctor.data.policy import POLICY_FIELD
from proctor.data.streams import MultiStream
from proctor.errors import DataError, FieldTypeError, MissingFieldError, did_you_mean


class NormalizeListFields(InstanceOperator):
    """Writes lists as one text: nothing, the only member, or all members with a separator between.

    Attributes:
        fields: The lists.
        key_prefix: What stands before a field's name where its text is written.
        empty_value: The text of an empty list.
        separator: What stands between members.
    """

    fields: list[str]
    key_prefix: str = ""
    empty_value: str = ""
    separator: str = ", "

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        for name in self.fields:
            if name not in instance:
                raise MissingFieldError(f"the row has no field '{name}'", why=f"it has {', '.join(instance)}")
            members = instance[name]
            if not isinstance(members, list):
                raise FieldTypeError(f"'{name}' is not a list", why=f"it is {type(members).__name__}")
            text = members[0] if len(members) == 1 else self.separator.join(members) or self.empty_value
            instance[f"{self.key_prefix}{name}"] = text
        return instance


ROW_METADATA = (POLICY_FIELD, "recipe_metadata")
"""Fields of rows that are not data, and that operators on whole rows keep."""


class Set(InstanceOperator):
    """Sets fields to values; what is not there is made.

    Attributes:
        fields: Values by field; ``"span/start"`` reaches inside.
        use_deepcopy: Give each row a copy of its own.
    """

    fields: dict[str, Any]
    use_query: bool | None = None
    use_deepcopy: bool = False

    @override
    def compile(self, stream_name: str | None) -> Step:
        writes = [(setter(path), value) for path, value in self.fields.items()]
        if self.use_deepcopy:
            writes_copies = [(write, copy.deepcopy(value)) for write, value in writes]

            def step_with_copies(row: Row) -> Row:
                for write, value in writes_copies:
                    write(row, copy.deepcopy(value))
                return row

            return step_with_copies

        def step(row: Row) -> Row:
            for write, value in writes:
                write(row, value)
            return row

        return step


class AddFields(Set):
    """The old name of :class:`Set`."""

    _is_now: ClassVar[str] = "Set"


class MapInstanceValues(InstanceOperator):
    """Replaces values of fields by what mappings have for their ``str``.

    Attributes:
        mappers: A mapping for each field.
        strict: A value without an entry is an error; otherwise it stays.
        process_every_value: The fields are lists, and each member is mapped.
    """

    mappers: dict[str, dict[str, Any]]
    strict: bool = True
    process_every_value: bool = False

    @override
    def compile(self, stream_name: str | None) -> Step:
        plan = [(path, getter(path), setter(path), self._mapping(path, table)) for path, table in self.mappers.items()]
        every = self.process_every_value

        def step(row: Row) -> Row:
            for path, get, write, mapped in plan:
                value = get(row)
                if value is None:
                    continue
                if every and not isinstance(value, list):
                    raise DataError(
                        "'process_every_field' == True is allowed only for fields whose values are lists, "
                        f"but value of field '{path}' is '{value}'"
                    )
                write(row, [mapped(each) for each in value] if every else mapped(value))
            return row

        return step

    def _mapping(self, path: str, table: dict[str, Any]) -> Callable[[Any], Any]:
        strict = self.strict

        def mapped(value: Any) -> Any:
            key = str(value)
            if key in table:
                return copy.deepcopy(table[key]) if type(table[key]) in (dict, list) else table[key]
            if strict:
                raise DataError(
                    f"value '{key}', the string representation of the value in field '{path}', is not found in mapper",
                    why=f"it has {', '.join(list(table)[:20])}",
                    hint=did_you_mean(key, table) or "add it, or set strict=False",
                )
            return value

        return mapped


class FlattenInstances(InstanceOperator):
    """Makes fields of what is inside dicts: ``{"a": {"b": 1}}`` becomes ``{"a_b": 1}``.

    Attributes:
        parent_key: Starts every name.
        sep: Stands between the parts of a name.
    """

    parent_key: str = ""
    sep: str = "_"

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        return dict(self._flat(instance, self.parent_key))

    def _flat(self, data: Row, parent: str) -> Iterator[tuple[str, Any]]:
        for key, value in data.items():
            name = f"{parent}{self.sep}{key}" if parent else key
            if isinstance(value, dict):
                yield from self._flat(value, name)
            else:
                yield name, value


class RecursiveReplace(InstanceOperator):
    """Replaces values under a key, wherever the key is.

    Attributes:
        map_values: New values by old ones.
    """

    key: str
    map_values: dict[Any, Any]
    remove_values: list[Any] | None = None

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        replaced: Row = self._replaced(instance)
        return replaced

    def _replaced(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self._replaced(item) for item in data]
        if not isinstance(data, dict):
            return data
        made = {}
        for key, value in data.items():
            if key != self.key or isinstance(value, dict):
                made[key] = self._replaced(value)
            elif isinstance(value, list):
                made[key] = [
                    self._mapped(item) for item in value if not isinstance(item, dict) and not self._removed(item)
                ]
            elif not self._removed(value):
                made[key] = self._mapped(value)
        return made

    def _mapped(self, value: Any) -> Any:
        try:
            return self.map_values.get(value, value)
        except TypeError:  # lists and dicts are not keys
            return value

    def _removed(self, value: Any) -> bool:
        return self.remove_values is not None and value in self.remove_values


class RemoveFields(InstanceOperator):
    """Removes fields."""

    fields: list[str]

    @override
    def compile(self, stream_name: str | None) -> Step:
        removals = [deleter(path) for path in self.fields]

        def step(row: Row) -> Row:
            for remove in removals:
                remove(row)
            return row

        return step


class SelectFields(InstanceOperator):
    """Keeps only some fields, and the row's metadata."""

    fields: list[str]

    @override
    def compile(self, stream_name: str | None) -> Step:
        gets = [(name, getter(name)) for name in self.fields]

        def step(row: Row) -> Row:
            kept = {name: get(row) for name, get in gets}
            kept.update((name, row[name]) for name in ROW_METADATA if name in row)
            return kept

        return step


class ListFieldValues(InstanceOperator):
    """Makes a list of the values of several fields."""

    fields: list[str]
    to_field: str
    use_query: bool | None = None

    @override
    def compile(self, stream_name: str | None) -> Step:
        gets = [getter(path) for path in self.fields]
        return writing(self.to_field, lambda row: [get(row) for get in gets])


class ZipFieldValues(InstanceOperator):
    """Makes a list of tuples of the members of several lists.

    Attributes:
        longest: Go on to the end of the longest list, with ``None`` for what is missing.
    """

    fields: list[str]
    to_field: str
    longest: bool = False
    use_query: bool | None = None

    @override
    def compile(self, stream_name: str | None) -> Step:
        gets = [getter(path) for path in self.fields]
        join: Callable[..., Any] = zip_longest if self.longest else zip
        return writing(self.to_field, lambda row: list(join(*[get(row) for get in gets])))


class InterleaveListsToDialogOperator(InstanceOperator):
    """Makes a dialog of (role, text) pairs of the user's turns and the assistant's.

    Attributes:
        user_turns_field: The list of the user's turns; as long as the other list, or one longer.
        assistant_turns_field: The list of the assistant's turns.
    """

    user_turns_field: str
    assistant_turns_field: str
    user_role_label: str = "user"
    assistant_role_label: str = "assistant"
    to_field: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        user, assistant = getter(self.user_turns_field), getter(self.assistant_turns_field)

        def dialog(row: Row) -> list[tuple[str, Any]]:
            asked, answered = user(row), assistant(row)
            if len(asked) - len(answered) not in (0, 1):
                raise DataError(
                    "the turns of a dialog do not alternate",
                    why=f"{len(asked)} of the user, {len(answered)} of the assistant",
                )
            turns = []
            for i, turn in enumerate(asked):
                turns.append((self.user_role_label, turn))
                if i < len(answered):
                    turns.append((self.assistant_role_label, answered[i]))
            return turns

        return writing(self.to_field, dialog)


class IndexOf(InstanceOperator):
    """Finds the place of one field's value in another field's list.

    Attributes:
        search_in: The list (or text).
        index_of: The value.
    """

    search_in: str
    index_of: str
    to_field: str
    use_query: bool | None = None

    @override
    def compile(self, stream_name: str | None) -> Step:
        members, wanted = getter(self.search_in), getter(self.index_of)

        def place(row: Row) -> Any:
            value, where = wanted(row), members(row)
            try:
                return where.index(value)
            except ValueError:
                raise DataError(
                    f"{value!r} of '{self.index_of}' is not in '{self.search_in}'", why=f"that is {where!r}"
                ) from None

        return writing(self.to_field, place)


class TakeByField(InstanceOperator):
    """Takes the member of a list or dict that another field names.

    Attributes:
        field: The list or dict.
        index: The field with the index or key.
        to_field: Where to write; ``field`` itself where it is ``None``.
    """

    field: str
    index: str
    to_field: str | None = None
    use_query: bool | None = None

    @override
    def compile(self, stream_name: str | None) -> Step:
        members, index = getter(self.field), getter(self.index)
        return writing(self.to_field or self.field, lambda row: members(row)[index(row)])


class DivideAllFieldsBy(InstanceOperator):
    """Divides all decimals of a row, however deep inside.

    Attributes:
        divisor: By what.
        strict: Anything that is not a decimal is an error.
    """

    divisor: float = 1.0
    strict: bool = False

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        return {key: value if key in ROW_METADATA else self._divided(value) for key, value in instance.items()}

    def _divided(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._divided(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._divided(item) for item in value]
        if isinstance(value, float):
            return value / self.divisor
        if self.strict:
            raise DataError(f"Cannot divide instance of type {type(value)}", why=f"it is {value!r}")
        return value


class EncodeLabels(InstanceOperator):
    """Replaces values by numbers, in the order in which they first come.

    Attributes:
        fields: The fields that are numbered together; ``"b/*"`` for the members of a list.
    """

    fields: list[str]

    @override
    def __call__(self, multi_stream: MultiStream | None = None) -> MultiStream:
        self._numbers: dict[Any, int] = {}
        return super().__call__(multi_stream)

    @override
    def prepare(self) -> None:
        super().prepare()
        self._numbers = {}

    @override
    def compile(self, stream_name: str | None) -> Step:
        numbers = self._numbers
        plan = [
            (getter(path), setter(path, create=False), setter(path, create=False, each="*" in path))
            for path in self.fields
        ]

        def number(value: Any) -> int:
            return numbers.setdefault(value, len(numbers))

        def step(row: Row) -> Row:
            for get, write, write_each in plan:
                values = get(row)
                if isinstance(values, list):
                    (write_each if values else write)(row, [number(value) for value in values])
                else:
                    write(row, number(values))
            return row

        return step
