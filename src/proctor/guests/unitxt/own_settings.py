"""``unitxt.settings_utils``: the settings, and beside them those that a program adds for itself.

What is a setting of Proctor's is read and assigned there. Any other name is the program's own: it is kept here, may
have a type (``settings.verbose = (bool, False)``), and is overridden by ``UNITXT_<NAME>``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self, cast

from proctor.errors import SettingsError, did_you_mean
from proctor.logs import get_logger
from proctor.settings import settings as known

_KEY = "_key"
"""The end of the attribute that says which variable overrides a setting."""
_TYPES = (bool, int, float)


def cast_to_type(value: Any, value_type: type) -> Any:
    """Return the value of a setting, from its text.

    Raises:
        ValueError: It is not of the type, or the type is not one of settings.
    """
    if value_type is bool:
        if value not in ("True", "False", True, False):
            raise SettingsError(f"a setting is True or False, not {value!r}")
        return value in ("True", True)
    if value_type in (int, float):
        return value_type(value)
    raise SettingsError(f"no setting is of the type {value_type.__name__}")


class Settings:
    """The settings of this process; there is one object."""

    _single: ClassVar[Any] = None
    _own: dict[str, Any]
    _types: dict[str, type]

    def __new__(cls) -> Self:
        """Return the one object."""
        if cls._single is None:
            made = super().__new__(cls)
            object.__setattr__(made, "_own", {})
            object.__setattr__(made, "_types", {})
            cls._single = made
        return cast("Self", cls._single)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._own:
            return self._read(name)
        if name.endswith(_KEY) and self._has(name.removesuffix(_KEY)):
            return self.environment_variable_key_name(name.removesuffix(_KEY))
        return getattr(known, name)

    def _has(self, name: str) -> bool:
        return name in self._own or name in known

    def environment_variable_key_name(self, key: str) -> str:
        """Return the variable that overrides a setting."""
        return f"UNITXT_{key.upper()}"

    def get_all_environment_variables(self) -> list[str]:
        """Return the variables that override settings."""
        return [self.environment_variable_key_name(name) for name in (*known.describe(), *self._own)]

    def _read(self, name: str) -> Any:
        value = os.environ.get(f"UNITXT_{name.upper()}", self._own[name])
        kind = self._types.get(name)
        return value if kind is None or value is None else cast_to_type(value, kind)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.endswith(_KEY) and self._has(name.removesuffix(_KEY)):
            raise AttributeError(f"'{name}' says which variable overrides a setting, and cannot be assigned")
        if name in known:
            setattr(known, name, value)
            return
        if isinstance(value, tuple) and len(value) == len(("type", "value")) and isinstance(value[0], type):
            kind, value = value
            if kind not in _TYPES:
                raise SettingsError(f"no setting is of the type {kind.__name__}")
            self._types[name] = kind
        if (kind := self._types.get(name)) is not None and value is not None:
            value = cast_to_type(value, kind)
        if name not in self._own and (hint := did_you_mean(name, known.describe())):
            get_logger().warning("'%s' is not a setting here, so it is kept for the program itself; %s", name, hint)
        self._own[name] = value

    @contextmanager
    def context(self, **values: Any) -> Iterator[Settings]:
        """Change settings inside a ``with`` block."""
        ours = {name: value for name, value in values.items() if name in known}
        before = dict(self._own)
        with known.context(**ours):
            for name in values.keys() - ours.keys():
                setattr(self, name, values[name])
            try:
                yield self
            finally:
                self._own.clear()
                self._own.update(before)

    def describe(self) -> dict[str, str]:
        """Return every setting of Proctor's with a line on what it does."""
        return known.describe()


def get_settings() -> Settings:
    """Return the settings of this process."""
    return Settings()


settings = get_settings()
