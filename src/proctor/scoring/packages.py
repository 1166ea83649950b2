"""Packages that scoring needs: what a machine lacks, said before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from zipfile import BadZipFile

from proctor.errors import Diagnostic

_DATA = "nltk:"


def lacking(name: str, requirements: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield what something needs and this machine lacks; data is looked for where NLTK is installed.

    Args:
        name: What needs it, for messages.
        requirements: What it needs.
    """
    for requirement in dict.fromkeys(requirements):
        needed, _, command = requirement.partition("=")
        if not needed.startswith(_DATA):
            if find_spec(needed) is None:
                yield Diagnostic(f"'{name}' needs the package '{needed}', which is not installed", hint=command)
        elif find_spec("nltk") is not None and not is_here(needed.removeprefix(_DATA)):
            what = f"'{name}' needs NLTK's data '{needed.rpartition('/')[2]}', which is not on this machine"
            yield Diagnostic(what, hint=f"{command}; the variable NLTK_DATA names a folder that has it")


def is_here(place: str) -> bool:
    """Return whether NLTK finds data (``corpora/wordnet``), unpacked or as it is fetched."""
    import nltk

    for form in (place, f"{place}.zip"):
        try:
            nltk.data.find(form)
        except (LookupError, BadZipFile):  # a download that was cut off is none
            continue
        return True
    return False
