# ruff: noqa: E501 - a case a line
"""Calls of names in Unitxt's modules, as Python text: what to import, what to set up, and expressions.

Each expression is computed by Unitxt, and by Proctor under Unitxt's names; their values are compared as Python text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt import api_cases

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("from unitxt.parsing_utils import *", "", (
        *(f"parse_key_equals_value_string_to_dict({text!r})" for text in ("a=1,b=x", "a=[1,2],b={c=3}", "a=x[b=1]", "a=1,,b=2", "a", "a=None,b=true,c=1e3,d='x'", "a=1 2 3, b = x y ")),
    )),
    ("from typing import *\nfrom unitxt.type_utils import *", "", (
        *(f"parse_type_string({text!r})" for text in ("int", "List[int]", "Dict[str,Any]", "Optional[str]", "Union[int,str]", "Tuple[int,str]", "List[int,,]", "foo", "Literal[1,'a']")),
        *(f"{call}({kind})" for call in ("to_type_string", "is_type") for kind in ("int", "List[int]", "Dict[str, Any]", "Optional[str]", "Union[int, str]", "Tuple[int, str]", "Any", "5", "'x'", "Literal['a', 1]")),
    )),
    ("from unitxt.split_utils import *", "old = {'train': list(range(40)), 'test': list(range(10, 15))}", (
        *(f"{call}({text!r})" for call in ("parse_random_mix_string", "parse_slices_string") for text in ("a[90%]+b[0.7]+c", "a", "a[", "a[5]", "a[:5]", "o[:50]+j[24:]+t+o[5:10]")),
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
