"""The rule of classes that people derive from: what they bring is called, or refused when it is brought.

A class of ours that stands for one of another package's calls its own methods. Those that the other package calls and
nothing here does are named in ``uncalled``, each with what to do instead: a class that overrides one is refused when it
is made. What programs put upon our classes themselves, in place of what was there, counts as what a class derived from
them says.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any, ClassVar, Final, Generic
from weakref import WeakKeyDictionary

from proctor.errors import UsageError

_AS_MADE: Final[WeakKeyDictionary[type, Mapping[str, Any]]] = WeakKeyDictionary()
"""What our classes held when they were made."""
_OF_CLASSES: Final = frozenset(("_abc_impl", "__abstractmethods__", "__annotations__", "__annotate_func__"))
"""Names in classes that Python changes by itself."""


class Obeyed:
    """A class that programs derive from.

    Attributes:
        uncalled: Methods that the class of its name in the other package calls and nothing here does, and what to do.
    """

    uncalled: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        """Keep what a class of ours holds; check one of a program."""
        super().__init_subclass__(**more)
        if _is_ours(cls):
            _AS_MADE[cls] = dict(vars(cls))
        else:
            check_brought(cls)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "proctor" or kind in (object, ABC, Generic)


def brought(kind: type) -> Iterator[tuple[type, str]]:
    """Yield the names that programs say in a class and in those above it, each with the class that says it.

    Names of classes of ours are among them where a program has replaced what was there.
    """
    for each in kind.__mro__:
        if not _is_ours(each):
            yield from ((each, name) for name in vars(each))
        elif each in _AS_MADE:
            names = vars(each).keys() | _AS_MADE[each].keys()
            yield from ((each, name) for name in names if _is_replaced(each, name))


def _is_replaced(kind: type, name: str) -> bool:
    """Whether a class of ours has something else under a name than it had, or inherited, when it was made."""
    if name in _OF_CLASSES:
        return False
    made = next((_AS_MADE[base][name] for base in kind.__mro__ if name in _AS_MADE.get(base, ())), _OF_CLASSES)
    now = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), _OF_CLASSES)
    return now is not made


def check_brought(kind: type) -> None:
    """See that what programs say in a class is called.

    Raises:
        UsageError: A method is not; the message says which, and what to do.
    """
    uncalled: Mapping[str, str] = getattr(kind, "uncalled", {})
    said = [(owner, name) for owner, name in brought(kind) if name in uncalled]
    called = set(called_by(kind)) if said else ()
    for owner, name in said:
        if name not in called:
            base = next((each for each in owner.__mro__ if _is_ours(each)), owner)
            why = f"{base.__name__} of Proctor does its work in another way"
            raise UsageError(f"{owner.__name__}.{name} would never be called", why=why, hint=uncalled[name])


def called_by(cls: type) -> Iterator[str]:
    """Yield what a class's own methods, and those of bases that are not ours, call or read besides themselves."""
    own = [each for each in cls.__mro__ if each.__module__.partition(".")[0] not in ("proctor", "pydantic", "builtins")]
    for name, member in [(name, member) for each in own for name, member in list(vars(each).items())]:
        for function in (getattr(member, "__func__", member), getattr(member, "fget", None)):
            if isinstance(function, FunctionType):
                yield from (each for each in function.__code__.co_names if each != name)
