"""Tells who defines a method, and whether a fast path still equals it in a derived class."""

from __future__ import annotations


def definer(cls: type, name: str) -> type:
    """Return the class that a method of a class comes from."""
    return next(base for base in cls.__mro__ if name in vars(base))


def still_holds(cls: type, quick: str, *plain: str) -> bool:
    """Whether a quick method still does what the plain ones say: no program overrides one of them further down.

    Args:
        cls: The class of the object that is asked.
        quick: The method that stands for the others.
        *plain: What programs override. Classes of this package keep both in step themselves.
    """
    own = definer(cls, quick)
    says = [definer(cls, name) for name in plain if hasattr(cls, name)]
    return all(each.__module__.startswith("proctor.") or issubclass(own, each) for each in says)
