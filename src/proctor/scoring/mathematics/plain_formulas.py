"""Formulas in plain notation (``2*x^2 + 1/3``, ``sqrt(2)/2``, ``{1, 2}``), read as Python and computed by sympy.

Nothing is evaluated while it is read: the syntax tree is walked, and what is not in the tables is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, Final

_MOST_BITS: Final = 4_096  # of a whole number: some 1,200 digits
_GROUPED: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_FUNCTIONS: Final = frozenset(
    "acos acosh asin asinh atan atanh cos cosh exp sin sinh tan tanh".split()  # noqa: SIM905 - names of sympy
)
_RENAMED: Final = {"abs": "Abs", "ceil": "ceiling", "floor": "floor", "factorial": "factorial", "max": "Max"} | {
    "min": "Min",
    "binomial": "binomial",
}
_CONSTANTS: Final = {"E": "E", "e": "E", "I": "I", "i": "I", "pi": "pi", "inf": "oo", "infinity": "oo"}
_RELATIONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "Eq",
    ast.NotEq: "Ne",
    ast.Lt: "StrictLessThan",
    ast.LtE: "LessThan",
    ast.Gt: "StrictGreaterThan",
    ast.GtE: "GreaterThan",
}


class UnreadableError(Exception):
    """A text is not a formula in plain notation."""


class LimitError(Exception):
    """A formula is larger than any answer."""


def sides_of(text: str) -> tuple[str, str] | None:
    """Return the sides of an equation with one equals sign outside brackets; ``None`` where a text is not one."""
    depth, found = 0, []
    for place, each in enumerate(text):
        depth = max(0, depth + (each in "([{") - (each in ")]}"))
        around = text[place - 1 : place] + text[place + 1 : place + 2]
        if each == "=" and not depth and "=" not in around and text[place - 1 : place] not in ("<", ">", "!"):
            found.append(place)
    return (text[: found[0]], text[found[0] + 1 :]) if len(found) == 1 else None


def plain_formula(text: str, *, is_real: bool) -> Any:
    """Return the sympy formula of a text.

    Args:
        text: In plain notation; ``^`` is a power.
        is_real: Whether its symbols stand for real numbers.

    Raises:
        UnreadableError: It is not one.
        LimitError: It is too large.
    """
    import sympy

    if "\\" in text or re.search(r"\^\s*\{", text):
        raise UnreadableError
    text = text.strip().replace("^", "**")
    text = text.replace(",", "") if _GROUPED.fullmatch(text) else text
    if (sides := sides_of(text)) is not None:
        left, right = (plain_formula(each, is_real=is_real) for each in sides)
        return sympy.Eq(left, right, evaluate=False)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError):
        raise UnreadableError from None
    return _Reader(is_real=is_real).read(tree.body)


class _Reader:
    """Turns a syntax tree into a formula."""

    def __init__(self, *, is_real: bool) -> None:
        import sympy

        self._sympy: Any = sympy
        self._is_real = is_real

    def read(self, node: ast.AST) -> Any:
        reader: Callable[[Any], Any] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise UnreadableError
        return reader(node)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool):
            if value.bit_length() > _MOST_BITS:
                raise LimitError
            return self._sympy.Integer(value)
        if isinstance(value, float) and abs(value) != float("inf"):
            return self._sympy.Float(repr(value))
        if isinstance(value, complex):
            return self._sympy.Mul(self._sympy.Float(repr(value.imag)), self._sympy.I, evaluate=False)
        raise UnreadableError

    def _name(self, node: ast.Name) -> Any:
        if node.id in _CONSTANTS:
            return getattr(self._sympy, _CONSTANTS[node.id])
        return self._sympy.Symbol(node.id.lower(), real=self._is_real)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.UAdd | ast.USub):
            raise UnreadableError
        value = self.read(node.operand)
        return value if isinstance(node.op, ast.UAdd) else self._sympy.Mul(-1, value, evaluate=False)

    def _binop(self, node: ast.BinOp) -> Any:
        left, right, sympy = self.read(node.left), self.read(node.right), self._sympy
        match node.op:
            case ast.Add():
                return sympy.Add(left, right, evaluate=False)
            case ast.Sub():
                return sympy.Add(left, sympy.Mul(-1, right, evaluate=False), evaluate=False)
            case ast.Mult():
                return sympy.Mul(left, right, evaluate=False)
            case ast.Div():
                return sympy.Mul(left, sympy.Pow(right, -1, evaluate=False), evaluate=False)
            case ast.Pow():
                return sympy.Pow(left, right, evaluate=False)
            case ast.Mod():
                return sympy.Mod(left, right, evaluate=False)
        raise UnreadableError

    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise UnreadableError
        name, values, sympy = node.func.id, [self.read(each) for each in node.args], self._sympy
        if name == "sqrt" and len(values) == 1:
            return sympy.Pow(values[0], sympy.S.Half, evaluate=False)
        if name in ("log", "ln") and len(values) in (1, 2):
            return sympy.log(*values, evaluate=False) if len(values) > 1 else sympy.log(values[0], evaluate=False)
        wanted = {"binomial": (2,), "max": range(1, 100), "min": range(1, 100)}.get(name, (1,))
        if len(values) not in wanted or name not in _FUNCTIONS | _RENAMED.keys():
            raise UnreadableError
        return getattr(sympy, _RENAMED.get(name, name))(*values, evaluate=False)

    def _tuple(self, node: ast.Tuple | ast.List) -> Any:
        return self._sympy.Tuple(*map(self.read, node.elts))

    _list = _tuple

    def _set(self, node: ast.Set) -> Any:
        return self._sympy.FiniteSet(*map(self.read, node.elts), evaluate=False)

    def _compare(self, node: ast.Compare) -> Any:
        values = [self.read(each) for each in (node.left, *node.comparators)]
        found = []
        for left, relation, right in zip(values, node.ops, values[1:], strict=False):
            if type(relation) not in _RELATIONS:
                raise UnreadableError
            found.append(getattr(self._sympy, _RELATIONS[type(relation)])(left, right, evaluate=False))
        return found[0] if len(found) == 1 else self._sympy.And(*found, evaluate=False)
