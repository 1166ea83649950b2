"""``unitxt.settings_utils``: the settings, and beside them those that a program adds for itself.

What is a setting of Proctor's is read and assigned there. Any other name is the program's own, and kept here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self, cast

from proctor.errors import did_you_mean
from proctor.logs import get_logger
from proctor.settings import settings as known


class Settings:
    """The settings of this process; there is one object."""

    _single: ClassVar[Any] = None
    _own: dict[str, Any]

    def __new__(cls) -> Self:
        """Return the one object."""
        if cls._single is None:
            made = super().__new__(cls)
            object.__setattr__(made, "_own", {})
            cls._single = made
        return cast("Self", cls._single)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._own[name] if name in self._own else getattr(known, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in known:
            setattr(known, name, value)
            return
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
