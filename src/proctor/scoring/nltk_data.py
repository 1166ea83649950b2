"""Data that NLTK reads and does not bring along: whether it is on this machine, found out before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zipfile import BadZipFile

from proctor.errors import Diagnostic


def missing_data(name: str, resources: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the data that something needs and that is not on this machine.

    Args:
        name: What needs it, for messages.
        resources: NLTK's name of each, and the command that fetches it: ``corpora/wordnet=python -m …``.
    """
    for resource in resources:
        place, _, command = resource.partition("=")
        if not is_here(place):
            what = f"'{name}' needs NLTK's data '{place.rpartition('/')[2]}', which is not on this machine"
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
