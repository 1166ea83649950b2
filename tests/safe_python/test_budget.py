import time

import pytest

from proctor.safe_python import budget, text
from proctor.safe_python.budget import MAX_BITS, MAX_ITEMS, MAX_STEPS, MAX_TEXT, Budget, ExhaustedError, RefusalError
from proctor.safe_python.containers import consume
from proctor.safe_python.files import TextFile
from proctor.safe_python.operators import add
from proctor.safe_python.text import repr_of


def test_steps_end_exactly():
    spent = Budget()
    for _ in range(MAX_STEPS):
        spent.spend(1)
    assert spent.used[0] == MAX_STEPS
    with pytest.raises(ExhaustedError, match="more than 1,000,000 steps"):
        spent.spend(1)
    with pytest.raises(ExhaustedError):
        spent.spend(1)


def test_many_steps_at_once_are_as_many():
    with pytest.raises(ExhaustedError):
        Budget().spend(MAX_STEPS + 1)
    Budget().spend(MAX_STEPS)


def test_each_budget_is_its_own():
    spent = Budget()
    spent.spend(5_000)
    spent.hold(100)
    assert spent.used == (5_000, 100)
    assert Budget().used == (0, 0)


def test_the_clock_counts_processor_time_and_can_be_extended(monkeypatch):
    monkeypatch.setattr(budget, "MAX_SECONDS", 0.05)
    spent = Budget()
    spent.seconds_left()
    started = time.thread_time()
    while time.thread_time() - started < 0.06:
        pass
    with pytest.raises(ExhaustedError, match=r"more than 0\.05 seconds of processor time"):
        spent.spend(3_000)
    spent.extend(10)
    spent.spend(3_000)


@pytest.mark.parametrize(
    "use",
    [
        lambda budget: budget.hold(200 << 20),
        lambda budget: budget.hold_items(MAX_ITEMS + 1),
        lambda budget: budget.hold_text(MAX_TEXT + 1),
        lambda budget: budget.check_number(1 << MAX_BITS),
        lambda budget: [budget.hold_text(MAX_TEXT) for _ in range(5)],
    ],
)
def test_what_is_too_large_is_refused(use):
    with pytest.raises(ExhaustedError, match="makes"):
        use(Budget())


def test_a_value_that_holds_another_twice_counts_it_twice():
    value = [0]
    for _ in range(10):
        value = [value, value]
    assert Budget().measure(value) > 2**10
    for _ in range(50):
        value = [value, value]
    with pytest.raises(ExhaustedError):
        Budget().measure(value)


def test_deep_values_are_refused():
    value = []
    for _ in range(300):
        value = [value]
    with pytest.raises(RefusalError, match="nested more than 200 deep"):
        Budget().measure(value)


def test_items_of_an_iterator_are_counted_while_they_come():
    spent = Budget()
    assert len(consume(iter(range(5_000)), spent)) == 5_000
    assert spent.used[0] >= 5_000
    assert 64 * 4_096 <= spent.used[1] <= 64 * 5_200


@pytest.mark.parametrize("left, right", [("a" * 4_000, "a" * 4_000), ("", "a" * 8_000), ([0] * 4_000, [0] * 4_000)])
def test_a_sum_holds_as_much_as_its_parts(left, right):
    spent = Budget()
    assert len(add(left, right, spent)) == 8_000
    assert spent.used[1] >= 8_000


def test_a_text_is_counted_four_times_before_it_is_written_with_escapes():
    spent = Budget()
    assert len(repr_of("\0" * 1_000, spent)) == 4_002
    assert spent.used[1] >= 8_000
    with pytest.raises(ExhaustedError):
        repr_of("a" * (MAX_TEXT // 4 + 1), Budget())


def test_lines_of_a_file_are_read_once():
    file = TextFile("a.txt", "one\ntwo\nthree\nfour")
    assert next(file) == "one\n"
    assert file.readline() == "two\n"
    assert list(file) == ["three\n", "four"]
    assert (file.read(), file.readline(), file.readlines()) == ("", "", [])
    assert TextFile("a.txt", "one\ntwo").readlines() == ["one\n", "two"]


@pytest.mark.parametrize(
    "layout, is_refused", [("%Y-%m", False), ("%1000d", False), ("%1001d", True), ("%9999999999d", True)]
)
def test_a_wide_field_of_a_date_is_refused(monkeypatch, layout, is_refused):
    monkeypatch.setattr(text, "MAX_WIDTH", 1000)
    if not is_refused:
        text.check_layout(layout)
        return
    with pytest.raises(ExhaustedError, match="formats with a width of more than 1,000"):
        text.check_layout(layout)


def test_widths_are_added_up():
    assert text._check_widths(["3", "40"]) == 43
    assert text._check_widths([]) == 0
