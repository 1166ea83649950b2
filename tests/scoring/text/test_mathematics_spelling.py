"""When two final answers of mathematics exams are one: the spellings of MATH, Minerva and OpenCompass."""

import pytest

from proctor.scoring.text.postprocessors import mathematics as m


@pytest.mark.parametrize(
    "first, second",
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\tfrac{1}{2}", r"\dfrac{1}{2}"),
        ("1/2", r"\frac{1}{2}"),
        ("0.5", r"\frac{1}{2}"),
        (".5", "0.5"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"5\text{ cm}", "5"),
        (r"30^\circ", "30"),
        (r"30^{\circ}", "30"),
        ("x=3", "3"),
        (r"\left(1, 2\right)", "(1,2)"),
        (r"\$5", "5"),
        (r"50\%", "50"),
        ("1 + 2", "1+2"),
    ],
)
def test_spellings_of_the_math_dataset_are_one(first, second):
    assert m.is_equivalent(first, second)
    assert m.is_equivalent_plain(first, second)
    assert m.is_equivalent(second, first)


@pytest.mark.parametrize(
    "first, second",
    [("1", "2"), (r"\frac12", r"\frac21"), ("x", "y"), ("1/2", "1/3"), ("(1,2)", "(2,1)"), ("abc=3", "3")],
)
def test_other_answers_stay_others(first, second):
    assert not m.is_equivalent(first, second)
    assert not m.is_equivalent_plain(first, second)
    assert not m.is_equivalent(first, second, "v2")


@pytest.mark.parametrize(
    "first, second",
    [
        ("5.0", "5"),
        ("5.00 ", "5"),
        ("(1.0,2)", "(1,2)"),
        (r"3\text{ apples}", "3"),
        ("infinity", r"\infty"),
        ("2j", "2i"),
        ("7.", "7"),
        (r"x\in[1,2]", "[1,2]"),
        (r"4\mbox{ inches}", "4"),
        ("50%", "50"),
        (r"\sqrtab", r"\sqrt{ab}"),
    ],
)
def test_the_second_version_knows_more_units_and_symbols(first, second):
    assert m.is_equivalent(first, second, "v2")


def test_no_answer_is_equal_to_no_answer_alone():
    for same in (m.is_equivalent, m.is_equivalent_plain):
        assert same(None, None)
        assert not same(None, "1")
        assert not same("1", None)
    assert not m.is_equivalent_intern(None, None)


@pytest.mark.parametrize("text", [r"a\text{ m}\text{ s}", "a/b"])
def test_a_formula_that_upstream_stumbles_over_is_compared_as_it_stands(text):
    with pytest.raises(ValueError, match=r"two units|invalid literal"):
        m.stripped_plain(text)
    assert m.is_equivalent(text, text)
    assert m.is_equivalent_plain(text, text)
    assert not m.is_equivalent(text, "7")


@pytest.mark.parametrize(
    "function, text, found",
    [
        (m.braced_roots, r"\sqrt2+\sqrt{3}", r"\sqrt{2}+\sqrt{3}"),
        (m.braced_fractions, r"\frac1{2}+\frac34", r"\frac{1}{2}+\frac{3}{4}"),
        (m.braced_fractions, r"\frac1", r"\frac1"),
        (m.slash_as_fraction, "3/4", r"\frac{3}{4}"),
        (m.slash_as_fraction, "03/4", "03/4"),
        (m.slash_as_fraction, "1/2/3", "1/2/3"),
        (m.final_answer, "First. The final answer is $1,250$. Done.", "1250"),
        (m.final_answer_boxed, r"so \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        (m.answer_line, "a\nANSWER: 7\n", "7"),
        (m.answer_line, "none", ""),
        (m.intern_answer, r"The final answer is $5$. Done", "5"),
        (m.intern_answer, "so #### 7", "7"),
        (m.intern_answer, "nothing", None),
    ],
)
def test_a_part_of_a_spelling(function, text, found):
    assert function(text) == found


def test_runs_of_digits_are_looked_at_once():
    assert m.stripped_more("1" * 20_000 + ".0") == "1" * 20_000
