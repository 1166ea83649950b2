"""The rules of HumanEval+ and MBPP+ (evalplus): how inputs are read, and when an answer is the reference's."""

from __future__ import annotations

import math
from typing import Any

_TUPLES = {
    1: "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
    2: "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780",
    3: "75 413 444 753",
    4: "106 750",
    5: "250 405 446 617 720 763 808 307",
    6: "259 401 445",
    7: "278",
    8: "580 615 791",
}
"""Problems of MBPP+ whose inputs have tuples, which JSON lacks: where they stand, by kind of problem."""
_AS_SETS = (
    *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum"),
    *("intersection_array", "find_dissimilar", "Diff"),
)
_IS_THERE = ("check_str", "text_match_three", "text_starta_endb")


def plus_inputs(problem: str, inputs: list[Any]) -> list[Any]:
    """Return the inputs of a problem of HumanEval+ or MBPP+ as its functions take them."""
    family, _, number = problem.partition("/")
    return [_plus_input(int(number), each) for each in inputs] if family == "Mbpp" else inputs


def _plus_input(number: int, given: Any) -> Any:
    read = _READ.get(number)
    return read(given) if read else given


def _all_tuples(value: Any) -> Any:
    return tuple(map(_all_tuples, value)) if isinstance(value, list) else value


_WITH_TUPLES: dict[int, Any] = {
    1: lambda given: [tuple(each) for each in given],
    2: lambda given: [[tuple(one) for one in each] for each in given],
    3: lambda given: [[tuple(each) for each in given[0]], given[1]],
    4: lambda given: [given[0], tuple(given[1])],
    5: lambda given: [tuple(given[0]), *given[1:]],
    6: lambda given: [tuple(tuple(one) for one in each) for each in given],
    7: lambda given: [tuple(tuple(one) if isinstance(one, list) else one for one in given[0])],
    8: _all_tuples,
}
_READ: dict[int, Any] = {
    **{int(number): _WITH_TUPLES[kind] for kind, numbers in _TUPLES.items() for number in numbers.split()},
    115: lambda given: [[set(each) if isinstance(each, list) and each else {} for each in given[0]]],
    124: lambda given: (float(given[0]), complex(given[1])),
    252: lambda given: [complex(given[0])],
    722: lambda given: [{key: tuple(value) for key, value in given[0].items()}, *given[1:]],
}
"""How the inputs of a problem of MBPP+ are read, by its number."""


def is_plus_answer(problem: str, entry: str, given: Any, found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether a function returned what the reference solution returns (evalplus's rules, with its exceptions)."""
    if problem.startswith("Mbpp/"):
        special = _special_of_mbpp(entry, given, found, wanted, tolerance)
    elif entry == "find_zero":
        special = abs(sum(factor * math.pow(found, place) for place, factor in enumerate(given[0]))) <= tolerance
    else:
        special = None
    if special is not None:
        return special
    equal = found == wanted
    if tolerance == 0 and _are_floats(wanted):
        tolerance = _PLUS_TOLERANCE
    if equal or not tolerance:
        return type(equal) is bool and equal
    return type(found) is type(wanted) and _all_close(found, wanted, tolerance)


def _special_of_mbpp(entry: str, given: Any, found: Any, wanted: Any, tolerance: float) -> bool | None:
    """Return whether an answer of a problem that has a rule of its own is right; ``None`` where it is as usual."""
    if entry == "are_equivalent":
        return True
    if entry in _AS_SETS:
        return bool(set(found) == set(wanted))
    if entry in _IS_THERE:
        return bool(found == wanted if isinstance(found, bool) else bool(wanted) == (found is not None))
    if (entry == "sum_div" and found == 0) or _is_other_answer(entry, given, found, tolerance):
        return True
    return None


_PLUS_TOLERANCE, _PLUS_RELATIVE = 1e-6, 1e-7


def _is_other_answer(entry: str, given: Any, found: Any, tolerance: float) -> bool:
    """Whether a problem of MBPP+ that can be read in two ways was read in the other."""
    if entry == "surface_Area":
        edge, height = given
        slant = math.sqrt((edge / 2) ** 2 + height**2)
        return bool(abs(found - round(edge**2 + 2 * edge * slant)) <= tolerance)
    if entry == "digit_distance_nums":
        first, second = map(str, given)
        length = max(len(first), len(second))
        pairs = zip(first.zfill(length), second.zfill(length), strict=True)
        return bool(found == sum(abs(int(one) - int(other)) for one, other in pairs))
    return False


def _are_floats(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, float) for each in value)
    )


def _all_close(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(
            _all_close(one, other, tolerance) for one, other in zip(found, wanted, strict=True)
        )
    if not isinstance(found, (int, float, complex)) or not isinstance(wanted, (int, float, complex)):
        return False
    return abs(found - wanted) <= tolerance + _PLUS_RELATIVE * abs(wanted)
