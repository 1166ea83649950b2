"""``Config`` and ``ConfigDict`` of mmengine; files are read as data and not run, unless code is trusted."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, Self

from proctor.dialects.aisbench.reader import read_config
from proctor.dialects.aisbench.values import dotted_name
from proctor.safe_files import write_text
from proctor.safe_python.values import Reference

_DELETES = "_delete_"  # beside other keys of a merged dictionary: it takes the place of the one that was there


class ConfigDict(dict[str, Any]):
    """A dictionary whose keys are attributes, too; dictionaries in it are such dictionaries."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__()
        for key, value in dict(*arguments, **named).items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, _wrapped(value))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the config has no '{name}'") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def update(self, *arguments: Any, **named: Any) -> None:
        """Take over keys, as a dictionary does."""
        for key, value in dict(*arguments, **named).items():
            self[key] = value

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, which is set where it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> Self:
        """Return a shallow copy."""
        return type(self)(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)({key: copy.deepcopy(value, memo) for key, value in self.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dictionaries and lists."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def merge_from_dict(self, options: Mapping[str, Any], allow_list_keys: bool = True) -> None:
        """Take over keys, dictionary by dictionary; ``a.b`` is ``b`` of ``a``, and ``_delete_`` replaces one whole.

        Args:
            options: What is taken over.
            allow_list_keys: Whether ``models.0`` is the first of a list.
        """
        for name, value in options.items():
            nested: Any = value
            for key in reversed(name.split(".")[1:]):
                nested = {key: nested}
            first = name.partition(".")[0]
            self[first] = _merged(self.get(first), nested, allow_list_keys)


class Config(ConfigDict):
    """A config: the names of a file, or a dictionary.

    Args:
        cfg_dict: The dictionary.
        filename: Where it was read.
        format_python_code: Without effect: :meth:`dump` writes one name a line.
    """

    def __init__(
        self, cfg_dict: Mapping[str, Any] | None = None, filename: str | None = None, format_python_code: bool = True
    ) -> None:
        del format_python_code
        super().__init__(cfg_dict or {})
        object.__setattr__(self, "_read_from", filename)

    @property
    def filename(self) -> str | None:
        """Where it was read."""
        return self.__dict__.get("_read_from")

    @classmethod
    def fromfile(cls, filename: str | Path, format_python_code: bool = True) -> Self:
        """Return the config of a file; classes that it imports are their dotted names.

        Raises:
            ProctorError: The file is not there, no config, or does what needs trust in its code.
        """
        return cls(_named(read_config(filename)), str(filename), format_python_code)

    @property
    def pretty_text(self) -> str:
        """The config as Python: one name a line."""
        return "".join(f"{key} = {_named(value)!r}\n" for key, value in self.to_dict().items())

    def dump(self, file: str | Path | None = None) -> str | None:
        """Write the config to a file, as Python; without one, return it."""
        if file is None:
            return self.pretty_text
        write_text(Path(file), self.pretty_text)
        return None


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, ConfigDict):
        return ConfigDict(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(_wrapped, value))
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, ConfigDict):
        return {key: _plain(each) for key, each in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _named(value: Any) -> Any:
    """Return a value with the dotted names of classes in place of them."""
    if isinstance(value, Mapping):
        return {key: _named(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_named, value))
    return dotted_name(value) if isinstance(value, (Reference, type)) else value


def _merged(there: Any, given: Any, allow_list_keys: bool) -> Any:
    if not isinstance(given, Mapping):
        return given
    if isinstance(there, list) and allow_list_keys and all(str(key).isdigit() for key in given):
        changed = list(there)
        for key, value in given.items():
            changed[int(key)] = _merged(changed[int(key)], value, allow_list_keys)
        return changed
    if not isinstance(there, MutableMapping) or given.get(_DELETES):
        return {key: value for key, value in given.items() if key != _DELETES}
    found = dict(there)
    for key, value in given.items():
        found[key] = _merged(found.get(key), value, allow_list_keys)
    return found
