"""Mathematical answers: found in a completion, read as formulas without running anything, and compared.

What is looked at, and in which order, follows inspect's ``math`` scorer: the last box, what stands behind "answer is",
formulas in dollars or brackets, the whole text, its last line, its last number. LaTeX is read by
``latex2sympy2-extended``, plain notation by :mod:`~proctor.scoring.mathematics.plain_formulas`; both become formulas
of sympy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from proctor.errors import ScoringError, needed
from proctor.logs import get_logger
from proctor.scoring.answer_checks import RIGHT, WRONG, Verdict
from proctor.scoring.mathematics.formula_places import (
    DEEPEST,
    LONGEST,
    WORD,
    bare,
    is_words_with_formulas,
    places_in_answer,
    places_in_target,
)
from proctor.scoring.mathematics.plain_formulas import LimitError, UnreadableError, plain_formula, sides_of

_MOST_DIGITS: Final = 256
_MOST_PARTS: Final = 512
_LARGEST_EXPONENT: Final = 10_000
_LARGEST_FACTORIAL: Final = 10_000
_LONGEST_REASON: Final = 200  # characters of a reason: sympy quotes whole formulas
_MOST_REASONS: Final = 100  # reasons that are said: whoever reads a hundred knows
_CLOSE: Final = 1e-10  # difference of two numbers that have no exact form, relative or absolute, that is none
_PERCENT: Final = re.compile(
    r"(?:(?:(?<!\s)\s++)?(?:\\?%|\\text\s*\{\s*(?:percent(?:age)?|pct)\s*\})|(?<!\s)\s++(?:percent(?:age)?|pct))\s*$",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"__|\b(?:eval|exec|compile|getattr|setattr|globals|locals|open|import|breakpoint)\s*\(")
_EAGER: Final = re.compile(
    r"\\begin\{[vV]matrix\}|\\(?:det|gcd|lcm)\b|\\xrightarrow|\\\||\\operatorname\s*\{", re.IGNORECASE
)
"""What the parser computes while it reads; a stranger decides how long that takes."""
_GROUPED: Final = re.compile(r"\s*-?\d{1,3}(?:(?:,|\\,)\d{3})+(?:\.\d+)?\s*")
_SIZES: Final = re.compile(r"\\(?:left|right|Bigl|Bigr|bigl|bigr|Big|big|Large|large)\b")
_IMAGINARY: Final = re.compile(
    r"\\mathbb\{C\}|\\(?:i|imath)\b|(?<![A-Za-z])i(?![A-Za-z])|\\(?:arg|Re|Im)\b"
    r"|(?<![A-Za-z0-9_])I(?![A-Za-z0-9_])|\d[jJ](?![A-Za-z0-9_])"
)


@dataclass(frozen=True, slots=True)
class Formula:
    """What was read: a formula, or words where it is none.

    Attributes:
        source: As it stood there.
        value: The formula of sympy.
        words: The words in one spelling.
        is_large: Whether working on it may take for ever: it is only compared as it stands.
        is_real: Whether its symbols stand for real numbers.
    """

    source: str
    value: Any = None
    words: str | None = None
    is_large: bool = False
    is_real: bool = True


def check_packages() -> None:
    """Check that formulas can be read.

    Raises:
        MissingExtraError: A package is missing.
    """
    with needed("latex2sympy2-extended", "math", "the scorer 'math'"):
        import latex2sympy2_extended  # noqa: F401
        import sympy  # noqa: F401


def same_formula(completion: str, targets: Sequence[str]) -> Verdict:
    """Return whether the answer in a completion equals one of the targets.

    Raises:
        ScoringError: None of the targets can be read.
        MissingExtraError: A package is missing.
    """
    check_packages()
    wanted = [found for each in targets if (found := _first(places_in_target(each))) is not None]
    if not wanted:
        raise ScoringError(f"no target is a mathematical answer: {list(targets)}")
    candidates = list(places_in_answer(completion))
    given: Formula | None = None
    for real in dict.fromkeys(each.is_real for each in wanted):
        try:
            found = _first(candidates, real=real)
        except LimitError:
            return Verdict(WRONG, None)
        given = given or found
        if found is not None and any(_equal(each, found) for each in wanted if each.is_real == real):
            return Verdict(RIGHT, found.source)
    if given is not None and given.value is None and (hidden := _hidden(candidates, wanted)) is not None:
        return Verdict(RIGHT, hidden.source)
    return Verdict(WRONG, completion if given is None else given.source)


def _hidden(candidates: Sequence[str], wanted: Sequence[Formula]) -> Formula | None:
    """Return a formula that equals a target, where the first thing that was read is words: ``42, because …``."""
    for each in candidates:
        for target in wanted:
            found = _read(each, real=target.is_real)
            if found is not None and found.value is not None and _equal(target, found):
                return found
    return None


# -- finding ---------------------------------------------------------------------------------------------------------


# -- reading ---------------------------------------------------------------------------------------------------------


def _first(candidates: Sequence[str] | Iterator[str], *, real: bool | None = None) -> Formula | None:
    for each in candidates:
        if (found := _read(each, real=real)) is not None:
            return found
    return None


def _read(text: str, *, real: bool | None = None) -> Formula | None:
    """Return what a text is; ``None`` where it is nothing.

    Raises:
        LimitError: Reading it would take too long.
    """
    source = bare(text)
    if not source:
        return None
    _check_size(source)
    is_real = not _IMAGINARY.search(source) if real is None else real
    share = _PERCENT.search(source)
    if share is not None and (value := _parsed(source[: share.start()].rstrip(), is_real)) is not None:
        return Formula(source, _hundredth(value), is_large=_is_large(value), is_real=is_real)
    if share is None and (_is_prose(source) or is_words_with_formulas(source)):
        return Formula(source, words=_words(source), is_real=is_real)
    if (value := _parsed(source, is_real)) is not None:
        return Formula(source, value, is_large=_is_large(value), is_real=is_real)
    if (sides := sides_of(source)) is not None and (found := _read(sides[1], real=real)) is not None:
        return found
    words = _words(source)
    return Formula(source, words=words, is_real=is_real) if WORD.search(words) else None


def _check_size(text: str) -> None:
    depth = deepest = 0
    for each in text:
        depth += (each in "([{") - (each in ")]}")
        deepest = max(deepest, depth)
    runs = re.findall(r"\d+", text)
    if (
        len(text) > LONGEST
        or deepest > DEEPEST
        or any(len(each) > _MOST_DIGITS for each in runs)
        or _CODE.search(text)
        or _EAGER.search(text)
        or re.search(r"\^\s*\{[^{}a-zA-Z]*\^", text)
    ):
        raise LimitError


def _is_prose(text: str) -> bool:
    return not any(each in text for each in "\\=+-*/^<>[]{}()") and len(WORD.findall(text)) > 1


def _words(text: str) -> str:
    text = re.sub(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}", r"\1", bare(text)).replace(r"\ ", " ")
    return re.sub(r"\s+", " ", text).strip(" \t\r\n.,;:").casefold()


def _hundredth(value: Any) -> Any:
    import sympy

    return sympy.Mul(value, sympy.UnevaluatedExpr(sympy.Rational(1, 100)), evaluate=False)


@lru_cache(maxsize=4096)
def _parsed(text: str, real: bool) -> Any:
    """Return the formula of a text in plain notation, else in LaTeX; ``None`` where it is neither."""
    try:
        plain = plain_formula(text, is_real=real)
    except (UnreadableError, RecursionError):
        plain = None
    if plain is not None:
        return plain
    try:
        return _latex(text, real=real)
    except Exception as error:  # noqa: BLE001 - the parser raises whatever it stumbles over; the text is then no formula
        get_logger().debug("not a formula: %r (%s: %s)", text, type(error).__name__, error)
        return None


def _latex(text: str, *, real: bool) -> Any:
    import sympy
    from latex2sympy2_extended import NormalizationConfig, latex2sympy, normalize_latex
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    rules = NormalizationConfig(
        basic_latex=True, units=True, malformed_operators=True, nits=True, boxed="last", equations=False
    )
    text = normalize_latex(_SIZES.sub("", text), rules)
    if _GROUPED.fullmatch(text):
        number = text.replace(r"\,", "").replace(",", "").strip()
        return sympy.Float(number) if "." in number else sympy.Integer(number)
    reading = ConversionConfig(
        interpret_as_mixed_fractions=True,
        interpret_simple_eq_as_assignment=False,
        interpret_contains_as_eq=True,
        lowercase_symbols=True,
    )
    with sympy.evaluate(not re.search(r"\\(?:binom|gamma)\b", text, re.IGNORECASE)):
        return latex2sympy(
            text, is_real=real, convert_degrees=False, normalization_config=None, conversion_config=reading
        )


def _is_large(value: Any) -> bool:
    """Whether working on a formula may take for ever.

    Raises:
        LimitError: It is larger than any answer.
    """
    import sympy

    large = False
    parts = 0
    for part in sympy.preorder_traversal(value):
        parts += 1
        if parts > _MOST_PARTS:
            raise LimitError
        if isinstance(part, sympy.Pow):
            exponent = part.exp
            is_number = isinstance(exponent, sympy.Integer)
            large |= isinstance(exponent, sympy.Pow) or (is_number and abs(int(exponent)) > _LARGEST_EXPONENT)
        elif isinstance(part, sympy.factorial):
            number = part.args[0]
            if not isinstance(number, sympy.Integer):
                continue
            if abs(int(number)) > _LARGEST_FACTORIAL:
                raise LimitError
            large |= abs(int(number)) > 100  # noqa: PLR2004 - 158 digits, which no answer writes out
        elif isinstance(part, sympy.Derivative | sympy.Integral | sympy.Limit | sympy.Product | sympy.Sum):
            large = True
    return large


# -- comparing -------------------------------------------------------------------------------------------------------


def _equal(wanted: Formula, given: Formula) -> bool:
    if wanted.words is not None or given.words is not None:
        return wanted.words == given.words
    return _same(wanted.value, given.value, is_large=wanted.is_large or given.is_large)


def _same(one: Any, other: Any, *, is_large: bool) -> bool:
    import sympy

    one, other = _side(one, other), _side(other, one)
    if _decides(lambda: one == other):
        return True
    if is_large:
        return False
    if isinstance(one, sympy.MatrixBase) or isinstance(other, sympy.MatrixBase):
        is_one_shape = getattr(one, "shape", None) == getattr(other, "shape", None)
        return is_one_shape and all(_same(a, b, is_large=False) for a, b in zip(one, other, strict=True))
    return _decides(lambda: one.equals(other)) or _close(one, other)


def _decides(compare: Callable[[], Any]) -> bool:
    """Whether sympy finds something true; what it cannot decide, it says by raising whatever it stumbles over."""
    try:
        return compare() is True
    except Exception as error:  # noqa: BLE001 - see above
        _say_undecided(error)
        return False


def _say_undecided(error: Exception) -> None:
    """Say why two formulas count as different although nothing says that they are; each reason once."""
    reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
    if reason not in _said and len(_said) < _MOST_REASONS:
        _said.add(reason)
        get_logger().warning("two formulas could not be compared, and count as different: %s", reason)


_said: set[str] = set()


def _side(one: Any, other: Any) -> Any:
    """Return of ``x = 2`` the side with the value, where the other is not a relation."""
    import sympy

    if not isinstance(one, sympy.Equality) or getattr(other, "is_Relational", False):
        return one
    return one.lhs if one.rhs.is_Symbol and not one.lhs.is_Symbol else one.rhs


def _close(one: Any, other: Any) -> bool:
    """Return whether two numbers without an exact form are nearly equal; exact ones have been compared."""
    import sympy

    for each in (one, other):
        if not isinstance(each, sympy.Expr) or each.free_symbols:
            return False
    if all(each.is_number and each.is_algebraic for each in (one, other)):
        return False
    try:
        first, second = complex(sympy.N(one, 30)), complex(sympy.N(other, 30))
    except Exception as error:  # noqa: BLE001 - sympy says in many ways that something is not a number
        _say_undecided(error)
        return False
    apart = abs(first - second)
    return math.isfinite(apart) and apart < _CLOSE * max(abs(first), abs(second), 1.0)
