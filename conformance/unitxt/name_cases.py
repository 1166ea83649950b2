# ruff: noqa: E501 - a case a line
"""Calls of names in Unitxt's modules, as Python text: what to import, what to set up, and expressions.

Each expression is computed by Unitxt, and by Proctor under Unitxt's names; their values are compared as Python text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt import api_cases

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("from typing import *\nfrom unitxt.type_utils import *", "", (
        *(f"to_type_string({kind})" for kind in ("int", "List[int]", "Dict[str, Any]", "Optional[str]", "Union[int, str]", "Tuple[int, str]", "Any", "5", "Literal['a', 1]")),
    )),
)  # fmt: skip


def cases() -> Iterator[dict[str, Any]]:
    """Yield every expression with what it needs."""
    for imports, setup, expressions in (*GROUPS, *api_cases.GROUPS):
        for expression in expressions:
            yield {"kind": "call", "setup": f"{imports}\n{setup}", "expression": expression}


def called(case: dict[str, Any]) -> Any:
    """Return the value of an expression; whoever calls has the names of Unitxt."""
    place: dict[str, Any] = {"__name__": "names"}
    exec(case["setup"], place)  # noqa: S102 - the text is of this module
    return eval(case["expression"], place)  # noqa: S307 - so is this one
