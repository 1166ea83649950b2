"""Calls of functions that models write, compared with the acceptable ones (the Berkeley leaderboard, BFCL v3).

A prediction is a list of calls as a service returns them, ``[{"name of the function": "arguments as JSON"}]``, or a
text with calls in Python's notation, ``[add(a=1, b=2)]``. Sources: the package ``bfcl-eval`` 2025.6.14, AISBench's
``datasets/bfcl``.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import ProctorError, ScoringError
from proctor.regexes import SlowPatternError
from proctor.safe_python import compile_expression
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.foreign_values import JAVA_TYPES, JAVASCRIPT_TYPES, java_value, javascript_value

Call = Mapping[str, Any]
"""One call: the function's name, with its arguments by name."""


def right_calls(cases: Cases, category: str, is_fc_model: bool = True) -> Verdict:
    """Share of answers whose calls are the acceptable ones (``BFCLSingleTurnEvaluator``).

    Args:
        cases: Answers; references are JSON texts of what is acceptable, rows have the functions in ``function``.
        category: ``simple``, ``parallel``, ``live_multiple``, ``java`` … Names with ``parallel`` want all calls in any
            order, with ``multiple`` one call of one of several functions, all others one call.
        is_fc_model: Without effect: how an answer was given tells whether it has a service's calls or words.

    Raises:
        ScoringError: A row lacks its functions, or there are no answers.
    """
    del is_fc_model
    marks = [
        _is_right(given, gold, row, category)
        for given, gold, row in zip(cases.predictions, cases.references, cases.rows, strict=True)
    ]
    return _share(marks)


def called_at_all(cases: Cases, category: str = "", is_fc_model: bool = True) -> Verdict:
    """Share of answers that call a function where one is of use, and none where none is (``BFCLRelevanceEvaluator``).

    Args:
        cases: Answers; rows whose ``id`` has ``irrelevance`` in it want no call, all others want one.
        category: Without effect: the row's id says it.
        is_fc_model: Without effect: how an answer was given tells whether it has a service's calls or words.

    Raises:
        ScoringError: There are no answers.
    """
    del category, is_fc_model
    marks = []
    for given, row in zip(cases.predictions, cases.rows, strict=True):
        calls = _calls_of(given)
        is_call = bool(calls) and not (len(calls or ()) == 1 and not (calls or [{}])[0])
        marks.append(is_call is not ("irrelevance" in str(row.get("id", ""))))
    return _share(marks)


def _share(marks: Sequence[bool]) -> Verdict:
    scores = {"accuracy": sum(marks) / len(marks), "correct_count": sum(marks), "total_count": len(marks)}
    return Verdict(scores, {"accuracy": [float(mark) for mark in marks]}, described=True)


# -- reading calls ------------------------------------------------------------------------------------------------


def _calls_of(given: Any) -> list[Call] | None:
    """Return the calls of an answer; ``None`` where it is not calls."""
    try:
        found = _returned(given) if isinstance(given, list) else written_calls(str(given))
    except (ValueError, SyntaxError, TypeError, AttributeError, RecursionError, MemoryError, ProctorError):
        return None
    is_sound = all(isinstance(call, dict) and len(call) == 1 for call in found)
    return found if is_sound and all(isinstance(next(iter(call.values())), dict) for call in found) else None


def _returned(calls: Sequence[Any]) -> list[Call]:
    return [{name: json.loads(arguments) for name, arguments in list(call.items())[:1]} for call in calls]


def written_calls(text: str) -> list[Call]:
    """Return calls in Python's notation, ``[f(a=1), g(b="x")]`` with or without brackets; nothing is executed.

    Raises:
        SyntaxError: It is not Python.
        ValueError: It is something else than calls with values.
        ProctorError: A sum in it cannot be computed.
    """
    words = text.strip("`\n ").strip("[]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python dislikes and reads
        tree = ast.parse(words, mode="eval").body
    if isinstance(tree, ast.Call):
        return [_call(tree)]
    if not isinstance(tree, ast.Tuple | ast.List | ast.Set) or not all(
        isinstance(each, ast.Call) for each in tree.elts
    ):
        raise ValueError("it is something else than calls")
    return [_call(each) for each in tree.elts if isinstance(each, ast.Call)]


def _call(node: ast.Call) -> dict[str, Any]:
    parts, part = list[str](), node.func
    while isinstance(part, ast.Attribute):
        parts.append(part.attr)
        part = part.value
    if isinstance(part, ast.Name):
        parts.append(part.id)
    arguments: dict[Any, Any] = {each.arg: _value(each.value) for each in node.keywords}
    return {".".join(reversed(parts)): arguments}


def _value(node: ast.expr | None) -> Any:
    """Return an argument; names and calls without arguments by name are texts, as the leaderboard reads them."""
    if node is None or (read := _VALUES.get(type(node))) is None:
        raise ValueError(f"a {type(node).__name__} is not a value")
    return read(node)


def _constant(node: ast.Constant) -> Any:
    return "..." if node.value is Ellipsis else node.value


def _negative(node: ast.UnaryOp) -> Any:
    """Return the number with the other sign: whatever the operator is, as the leaderboard takes it."""
    if not isinstance(node.operand, ast.Constant):
        raise TypeError("only constants have signs")
    found: Any = node.operand.value
    return -found


def _inner_call(node: ast.Call) -> Any:
    return _call(node) if node.keywords else ast.unparse(node)


_VALUES: Mapping[type[ast.expr], Callable[[Any], Any]] = {
    ast.Constant: _constant,
    ast.UnaryOp: _negative,
    ast.List: lambda node: [_value(each) for each in node.elts],
    ast.Tuple: lambda node: tuple(_value(each) for each in node.elts),
    ast.Dict: lambda node: {_value(key): _value(each) for key, each in zip(node.keys, node.values, strict=True)},
    ast.BinOp: lambda node: compile_expression(ast.unparse(node))({}),
    ast.Name: lambda node: node.id,
    ast.Call: _inner_call,
    ast.Subscript: lambda node: f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]",
}


# -- comparing calls ----------------------------------------------------------------------------------------------


def _is_right(given: Any, gold: Any, row: Mapping[str, Any], category: str) -> bool:
    if "function" not in row:
        raise ScoringError("the row has no column 'function' with the functions that may be called")
    functions, wanted = _data(row["function"]), _data(gold)
    calls = _calls_of(given)
    if calls is None:
        return False
    try:
        return _agree(functions, calls, wanted, category)
    except (TypeError, AttributeError, ValueError, SlowPatternError):
        return False  # a value of a shape that nothing acceptable has


def _data(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _agree(functions: Sequence[Any], calls: Sequence[Call], wanted: Sequence[Call], category: str) -> bool:
    language = "JavaScript" if "javascript" in category else "Java" if "java" in category else "Python"
    several = "parallel" in category
    if len(calls) != (len(wanted) if several or "multiple" in category else 1):
        return False
    if not several:
        described = _described(functions, wanted[0]) if "multiple" in category else functions[0]
        return _Check(described, language).accepts(calls[0], wanted[0])
    left = list(calls)
    for each in wanted:
        check = _Check(_described(functions, each), language)
        place = next((place for place, call in enumerate(left) if check.accepts(call, each)), None)
        if place is None:
            return False
        del left[place]
    return True


def _described(functions: Sequence[Any], wanted: Call) -> Mapping[str, Any]:
    name = next(iter(wanted))
    found: Mapping[str, Any] | None = next((each for each in functions if each["name"] == name), None)
    if found is None:
        raise ScoringError(f"the acceptable call is of '{name}', which is not among the row's functions")
    return found


_PYTHON_TYPES: Mapping[str, type] = {
    "string": str, "integer": int, "float": float, "boolean": bool, "array": list, "tuple": list, "dict": dict,
    "any": str,
}  # fmt: skip
_OTHERS = {"Java": (JAVA_TYPES, java_value), "JavaScript": (JAVASCRIPT_TYPES, javascript_value)}
_WITH_ELEMENTS = {"Python": ("array", "tuple")}
_ELSE_WITH_ELEMENTS = ("Array", "ArrayList", "array")


class _Check:
    """Whether a call is an acceptable one of a function.

    Args:
        function: The function's description.
        language: Whose notation and types its arguments have.
    """

    def __init__(self, function: Mapping[str, Any], language: str) -> None:
        self._name = str(function["name"]).replace(".", "_")  # services allow no dots in names
        self._described: Mapping[str, Any] = function["parameters"]["properties"]
        self._required: Sequence[str] = function["parameters"].get("required", ())
        self._language = language

    def accepts(self, call: Call, wanted: Call) -> bool:
        """Return whether a call has the name, no argument too few or too many, and acceptable values."""
        acceptable: Mapping[str, Sequence[Any]] = next(iter(wanted.values()))
        if self._name not in call:
            return False
        given: Mapping[str, Any] = call[self._name]
        if any(name not in given for name in self._required):
            return False
        if any(name not in self._described or name not in acceptable for name in given):
            return False
        if not all(self._accepts(self._described[name], value, acceptable[name]) for name, value in given.items()):
            return False
        return all(name in given or "" in values for name, values in acceptable.items())

    def _accepts(self, described: Mapping[str, Any], value: Any, acceptable: Sequence[Any]) -> bool:
        kind = described["type"]
        types, read = _OTHERS.get(self._language, (_PYTHON_TYPES, None))
        if kind not in types:
            raise ScoringError(f"there is no type '{kind}' in {self._language}")
        nested = kind in _WITH_ELEMENTS.get(self._language, _ELSE_WITH_ELEMENTS)
        inner = described["items"]["type"] if nested else None
        if read is not None:
            if not isinstance(value, str):
                return False
            value = read(value, kind, inner)
        elif kind == "tuple" and isinstance(value, tuple):
            value = list(value)
        elif kind == "float" and type(value) is int:
            value = float(value)
        return _is_acceptable(value, acceptable, types[kind], types[inner] if inner else None)


def _is_acceptable(value: Any, acceptable: Sequence[Any], kind: type, inner: type | None) -> bool:
    fits, is_variable = _fits(value, acceptable, kind, inner)
    if not fits:
        return False
    if is_variable or kind not in (dict, list, str):
        return value in acceptable
    if kind is dict:
        return _is_acceptable_object(value, acceptable)
    if kind is list and inner is dict:
        return any(
            len(value) == len(each) and all(_is_acceptable_object(*pair) for pair in _paired(value, each))
            for each in acceptable
        )
    if kind is str:
        return _spelling(value) in [_spelling(each) for each in acceptable if isinstance(each, str)]
    return _spellings(value) in [_spellings(each) for each in acceptable]


def _paired(values: Sequence[Any], acceptable: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    return [(value, [each]) for value, each in zip(values, acceptable, strict=True)]


def _fits(value: Any, acceptable: Sequence[Any], kind: type, inner: type | None) -> tuple[bool, bool]:
    """Return whether a value is of the right type, and whether it is the name of a variable instead of a value."""
    first = next((type(each) for each in acceptable if each != ""), None)
    if type(value) is not kind:
        return first is not None and type(value) is first, True
    is_variable = first is not None and first is not kind
    if inner is None:
        return True, is_variable
    elements: Any = value
    of_elements = (
        not isinstance(each, list) or all(_fits(one, each, inner, None)[0] for one in elements) for each in acceptable
    )
    return any(of_elements), is_variable


def _is_acceptable_object(value: Mapping[str, Any], acceptable: Sequence[Any]) -> bool:
    return any(each != "" and _is_that_object(value, each) for each in acceptable)


def _is_that_object(value: Mapping[str, Any], acceptable: Mapping[str, Sequence[Any]]) -> bool:
    for key, given in value.items():
        if key not in acceptable or _spelled(given) not in _spellings(acceptable[key]):
            return False
    return all(key in value or "" in each for key, each in acceptable.items())


def _spelling(text: str) -> str:
    """Return a text without what spellings of the same thing differ in."""
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def _spelled(value: Any) -> Any:
    return _spelling(value) if isinstance(value, str) else value


def _spellings(values: Sequence[Any]) -> list[Any]:
    return [_spelled(each) for each in values]
