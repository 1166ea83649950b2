"""Formulas in plain notation."""

import pytest

from proctor.scoring.mathematics.plain_formulas import LimitError, UnreadableError, plain_formula, sides_of

sympy = pytest.importorskip("sympy")


@pytest.mark.parametrize(
    "text, meant",
    [
        ("2*x^2 + 1/3", "2*x**2 + Rational(1, 3)"),
        ("1,234.5", "Float('1234.5')"),
        ("-(3 - X)", "x - 3"),
        ("+7 % 4", "Integer(3)"),
        ("sqrt(2)/2", "sqrt(2)/2"),
        ("log(8, 2)", "Integer(3)"),
        ("ln(e)", "Integer(1)"),
        ("binomial(5, 2) + factorial(3)", "Integer(16)"),
        ("max(1, 3, 2) - min(1, 2)", "Integer(2)"),
        ("abs(-2) + ceil(1.5) + floor(1.5)", "Integer(5)"),
        ("sin(pi/2) + cos(0)", "Integer(2)"),
        ("3j", "3*I"),
        ("(1, 2)", "Tuple(1, 2)"),
        ("[1, 2]", "Tuple(1, 2)"),
        ("{1, 2}", "FiniteSet(1, 2)"),
    ],
)
def test_a_formula_means_what_its_notation_says(text, meant):
    wanted = sympy.sympify(meant, locals={"x": sympy.Symbol("x", real=True)})
    found = plain_formula(text, is_real=True).doit()
    assert found == wanted or sympy.simplify(found - wanted) == 0


@pytest.mark.parametrize(
    "text, meant",
    [
        ("x = 5", "Eq(x, 5)"),
        ("x != 5", "Ne(x, 5)"),
        ("1 < x <= 3", "And(1 < x, x <= 3)"),
        ("x >= 2", "x >= 2"),
        ("x > 2", "x > 2"),
    ],
)
def test_relations_are_kept(text, meant):
    x = sympy.Symbol("x", real=True)
    assert plain_formula(text, is_real=True).doit() == sympy.sympify(meant, locals={"x": x}).doit()


def test_symbols_are_real_where_that_is_said_and_the_same_in_any_case():
    assert plain_formula("X", is_real=True) == sympy.Symbol("x", real=True)
    assert plain_formula("X", is_real=False) == sympy.Symbol("x", real=False)


@pytest.mark.parametrize(
    "text",
    [
        *(
            r"\frac12",
            "x^{2}",
            "f(x)",
            "sqrt(1, 2)",
            "log(1, 2, 3)",
            "binomial(5)",
            "x.y",
            "a b",
            "x if y else z",
            "~x",
        ),
        *("'text'", "True", "f(x=1)", "x in y", "lambda: 1", "1e999", "", "__import__('os')", "x @ y"),
    ],
)
def test_what_is_no_formula_is_not_read(text):
    with pytest.raises(UnreadableError):
        plain_formula(text, is_real=True)


def test_numbers_beyond_any_answer_are_refused():
    with pytest.raises(LimitError):
        plain_formula("9" * 1_300, is_real=True)


@pytest.mark.parametrize(
    "text, sides",
    [
        ("x = 5", ("x ", " 5")),
        ("f(a=1) = 2", ("f(a=1) ", " 2")),
        ("a = b = c", None),
        ("a == b", None),
        ("a <= b", None),
        ("a != b", None),
        ("x", None),
        (") x = 1", (") x ", " 1")),
    ],
)
def test_an_equation_has_two_sides(text, sides):
    assert sides_of(text) == sides
