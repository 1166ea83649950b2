"""An operator that writes lists as one text."""

from __future__ import annotations

from typing_extensions import override

from proctor.data.fields import Row
from proctor.data.operator import InstanceOperator
from proctor.errors import FieldTypeError, MissingFieldError


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
