"""Functions of Unitxt take their arguments by Unitxt's names.

``unitxt_signatures.txt`` has the parameters of each function of Unitxt 1.26.10 that our table of names offers.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from proctor.guests.table import table_of

SIGNATURES = (Path(__file__).parent / "unitxt_signatures.txt").read_text().splitlines()


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_function_takes_what_unitxts_takes_by_name(signature: str) -> None:
    found = re.fullmatch(r"([\w.]+):(\w+)\((.*)\)", signature)
    assert found is not None
    table = table_of(found[1])
    assert table is not None
    function = table.find(found[1], found[2])
    taken = inspect.signature(function).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
        return
    also = getattr(function, "also_takes", frozenset())
    assert {name for name in found[3].split(", ") if name} <= taken.keys() | also
