"""Numbers as people write them in any script."""

import math

import pytest

from proctor.scoring.mathematics.written_numbers import number_of

NUMBERS = {
    "12": 12, "-1.5": -1.5, "+5": 5, "1e3": 1000, "1E-2": 0.01,
    "−5": -5, "－５": -5, "负三": -3, "正五": 5, "−−5": 5, "- 5": -5,
    "½": 0.5, "3½": 3.5, "3 ½": 3.5, "−1¼": -1.25, "½¼": None, "3½x": None, "x½": None,
    "3²": 9, "2⁻¹": 0.5, "10 ³": 1000, "²": 2, "2⁺³": 8, "0⁻¹": None, "2¹⁰⁰⁰⁰": None,
    "１２": 12, "٣": 3, "٣٫٥": 3.5, "Ⅻ": 12, "१२": 12,
    "1.234,5": 1234.5, "1,234.5": 1234.5, "1,5": 1.5, "1 000": 1000, "1’000": 1000, "1,2345": 12345, "1.2.3": None,
    "1 000 000,5": 1000000.5, "5e": None, "e5": None, "1e2e3": None, "1e−2": 0.01,
    "二十五": 25, "三点五": 3.5, "二〇二四": 2024, "一百零五": 105, "三万二千": 32_000, "两亿": 200_000_000, "廿三": 23,
    "卅": 30, "十": 10, "千": 1000, "五千兆": 5000 * 10**12, "十二万三千四百五十六": 123_456, "一点x": None, "十x": None,
    "叁佰": 300, "点五": 0.5, "二 十": 20,
    "": None, " ": None, "abc": None, "1a": None, "-": None, "1e400": None, "nan": None, "inf": None, "9" * 3001: None,
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_read_in_the_script_in_which_it_is_written(text):
    found, wanted = number_of(text), NUMBERS[text]
    assert found is None if wanted is None else found is not None and math.isclose(found, wanted)
