"""The names of the exams that ``proctor get`` can fetch: an unknown name may be one of them."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import Final

from proctor.errors import did_you_mean
from proctor.packages import COLLECTIONS, package_folder

FILE: Final = "known_names.txt.gz"
"""A line for each collection, written by ``tools/update_known_names.py``."""


@cache
def known_names() -> dict[str, frozenset[str]]:
    """Return the names of each collection of exams."""
    text = gzip.decompress(files("proctor.dialects").joinpath(FILE).read_bytes()).decode()
    found = {}
    for line in text.splitlines():
        name, _, names = line.partition(": ")
        found[name] = frozenset(names.split(" "))
    return found


def where_to_get(name: str) -> str:
    """Return the command that fetches an exam, or one that is nearly called so; empty where nobody has it."""
    base = name.partition("@")[0].partition("::")[0].rpartition("/")[2]
    absent = {each: names for each, names in known_names().items() if package_folder(COLLECTIONS[each].module) is None}
    has = [each for each, names in absent.items() if base in names]
    if has:
        return f"'{base}' is an exam of {' and of '.join(has)}: proctor get {has[0]} fetches them"
    near = did_you_mean(base, (each for names in absent.values() for each in names)) if absent else ""
    if not near:
        return ""
    closest = near.split("'")[1]
    first = next(each for each, names in absent.items() if closest in names)
    return f"{near} proctor get {first} fetches it"
