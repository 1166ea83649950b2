import re
import threading
import time

import pytest
from tests_pace import in_time

from proctor import regexes
from proctor.errors import DataError, ScoringError
from proctor.regexes import LargeResultError, bounded
from proctor.safe_python import compile_expression
from proctor.safe_python.budget import Budget, ExhaustedError
from proctor.safe_python.patterns import MAX_PATTERN, Match, safe_pattern


@pytest.mark.parametrize("pattern", ["(", "*a", "[z-a]", "a" * (MAX_PATTERN + 1), "(a+)+", "((ab)*c)*"])
def test_what_is_not_a_pattern_or_nests_is_refused(pattern):
    with pytest.raises(DataError, match="regular expression"):
        safe_pattern(pattern)


def test_a_search_within_a_budget_ends():
    started = time.process_time()
    with pytest.raises(ExhaustedError, match="does not end on a text of 40 characters"):
        safe_pattern("(a|a)*b").find("a" * 40, "search", Budget())
    assert in_time(time.process_time() - started, 1)


def test_without_a_budget_the_error_is_that_of_scoring():
    with pytest.raises(ScoringError, match="does not end"):
        safe_pattern("(a|a)*c").find("a" * 40)


def test_matches_of_long_texts_are_as_those_of_re():
    text = "x" * 3_000 + "key=value"
    found = safe_pattern(r"(?P<key>\w+?)=(\w+)(!)?").find(text)
    expected = re.search(r"(?P<key>\w+?)=(\w+)(!)?", text)
    assert isinstance(found, Match)
    assert found.groups() == expected.groups()
    assert found.group("key", 2) == expected.group("key", 2)
    assert found.groupdict() == expected.groupdict()
    assert (found.start(), found.end(2), found.span("key")) == (expected.start(), expected.end(2), expected.span("key"))
    for group in (4, -1, "none", 1.5):
        with pytest.raises(IndexError):
            found.group(group)


def test_other_threads_find_the_same():
    text, made = "ab12 " * 1_000, []
    pattern = safe_pattern(r"([a-z]+)(\d+)")

    def run():
        made.append((pattern.find(text).groups(), len(pattern.findall(text)), pattern.split(text)[:4]))
        made.append(pattern.sub(r"\2\1", text)[:10])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    regexes._workers.close()
    assert made == [(("ab", "12"), 1_000, ["", "ab", "12", " "]), "12ab 12ab "]


def test_many_slow_searches_in_another_thread_end():
    made = []

    def run():
        started = time.monotonic()
        try:
            compile_expression("[re.search('(a|a)*b', 'a' * 21) for x in range(1000)]", ["re"])({})
        except DataError as error:
            made.append((str(error), time.monotonic() - started))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    regexes._workers.close()
    assert "seconds of processor time" in made[0][0] or "does not end" in made[0][0]
    assert made[0][1] < 20


@pytest.mark.parametrize(
    "make",
    [
        lambda: bounded("(?=(.*))").findall("a" * 20_000),
        lambda: bounded("(?=(.*))").split("a" * 20_000),
        lambda: bounded("a").sub("b" * 10_000, "a" * 10_000),
        lambda: bounded("(?=(a*))").sub(r"\1", "a" * 20_000),
        lambda: bounded("(a*)").sub(r"\1" * 5_000, "a" * 20_000),
    ],
)
def test_results_far_longer_than_the_text_are_refused(make):
    with pytest.raises(LargeResultError, match="makes too much of a text"):
        make()


def test_large_results_within_bounds_are_those_of_re():
    text, wide = "ab," * 4_000, "<" * 1_000
    assert bounded(",").sub(wide, text) == re.sub(",", wide, text)
    assert bounded("(a)(b)").findall(text) == re.findall("(a)(b)", text)
    assert bounded("(,)").split(text) == re.split("(,)", text)
    assert bounded("(a)").sub(r"\1\1", text, 2) == re.sub("(a)", r"\1\1", text, count=2)


def test_a_repeated_group_is_not_run_over_millions_of_characters():
    with pytest.raises(ScoringError, match="takes memory for each"):
        bounded("(?:ab|b)*c").findall("b" * 1_000_001)
    assert bounded("b*").findall("b" * 1_000_001)[0] == "b" * 1_000_001


def test_named_groups():
    assert bounded(r"(?P<a>x)(?P<b>y)?").groupdict("xz") == {"a": "x", "b": None}
    assert bounded(r"(?P<a>x)").groupdict("yx") is None
