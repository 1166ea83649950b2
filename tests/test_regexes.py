import io
import json
import re
import signal
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor import regexes
from proctor.errors import ScoringError
from proctor.regexes import BoundedPattern, SlowPatternError, bounded, serve

CATASTROPHIC = [
    (r"(a+)+$", "a" * 40 + "b"),
    (r"(a|aa)+$", "a" * 60 + "b"),
    (r"(?:a{1,9})+$", "a" * 60 + "b"),
    (r"^(\w+\s?)*$", "word " * 12 + "!"),
    (r"(.*)(.*)(.*)(.*)(.*)x", "y" * 500),
    ("a?" * 32 + "a" * 32, "a" * 32),
    ("(?:a|aa)" * 40 + "c", "a" * 60),
    ("(?:a{1,3}){40}c", "a" * 80),
]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.2)
    monkeypatch.setattr(regexes, "WALL_SECONDS", 2.0)
    yield
    regexes._workers.close()


def elsewhere(action):
    """Return what an action gives, or raises, in another thread."""
    found = []

    def run():
        try:
            found.append(action())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


class TestSlowPatterns:
    @pytest.mark.parametrize("pattern, text", CATASTROPHIC)
    def test_stop_in_the_main_thread(self, pattern, text):
        began = time.process_time()
        with pytest.raises(SlowPatternError, match="does not end on a text of"):
            BoundedPattern(pattern).findall(text)
        assert in_time(time.process_time() - began, 2)

    def test_the_message_names_pattern_reason_and_remedy(self):
        with pytest.raises(SlowPatternError) as caught:
            BoundedPattern("(a+)+$").sub("", "a" * 40 + "b")
        problem = caught.value.diagnostics[0]
        assert "'(a+)+$'" in problem.what
        assert "processor time" in problem.why
        assert "write one repeat" in problem.hint

    def test_stop_in_other_threads(self, monkeypatch):
        monkeypatch.setattr(regexes, "WALL_SECONDS", 1.0)  # the process knows its own limit of 2 s
        error = elsewhere(lambda: BoundedPattern("(a+)+$").findall("a" * 40 + "b"))
        assert isinstance(error, SlowPatternError)
        assert elsewhere(lambda: BoundedPattern("(a+)(b*)").findall("aab a")) == [("aa", "b"), ("a", "")]

    def test_a_pattern_that_never_ends_is_not_tried_for_ever(self, monkeypatch):
        monkeypatch.setattr(regexes, "MOST_TIMEOUTS", 1)
        pattern = BoundedPattern("(a+)+$")
        with pytest.raises(SlowPatternError):
            pattern.findall("a" * 40 + "b")
        began = time.process_time()
        for _ in range(10):
            with pytest.raises(SlowPatternError, match="texts in a row"):
                pattern.findall("a" * 40 + "b")
        assert in_time(time.process_time() - began, 0.5)  # hundredths of a second, no longer fifths
        assert pattern.findall("short, and without that letter") == []

    def test_texts_that_go_well_in_between_count(self, monkeypatch):
        monkeypatch.setattr(regexes, "MOST_TIMEOUTS", 2)
        pattern = BoundedPattern("(a+)+$")
        for _ in range(3):
            with pytest.raises(SlowPatternError, match="processor time"):
                pattern.findall("a" * 40 + "b")
            assert pattern.findall("aa") == ["aa"]

    def test_the_timer_is_taken_back(self):
        BoundedPattern("(a+)+$").findall("aaa")
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
        assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL

    def test_a_timer_of_somebody_else_is_left_alone(self):
        before = signal.signal(signal.SIGVTALRM, lambda *_: None)
        try:
            assert BoundedPattern("(a+)+(b)").findall("aab") == [("aa", "b")]
            assert signal.getsignal(signal.SIGVTALRM) is not signal.SIG_DFL
        finally:
            signal.signal(signal.SIGVTALRM, before)


class TestCompiling:
    @pytest.mark.parametrize("pattern", ["[a-\uffff]" * 2_000, "(?i)" + "[a-z]" * 3_900, "(?i:[\\0-\uffff])" * 900])
    def test_sets_that_take_long_are_refused(self, pattern):
        began = time.process_time()
        with pytest.raises(ScoringError, match="does not compile"):
            BoundedPattern(pattern, re.IGNORECASE)
        assert in_time(time.process_time() - began, 1)

    def test_honest_sets_compile(self):
        assert BoundedPattern(r"(?i)[a-z]+[0-9]*[\u4e00-\u9fff]?").findall("Ab1") == ["Ab1"]


class TestWhatMayTakeLong:
    @pytest.mark.parametrize("pattern", ["abc", "a.*b", r"#### (\-?[0-9\.\,]+)", r"(\d{1,3}(,\d{3})*)", r"\((A|B)\)"])
    def test_simple_patterns_cost_nothing_extra(self, pattern):
        assert BoundedPattern(pattern)._longest_safe == regexes.SHORT_TEXT

    @pytest.mark.parametrize("pattern", [*[each for each, _ in CATASTROPHIC], r"(\w)\1+", "a*a*", "((?=a+)b)*"])
    def test_others_are_timed(self, pattern):
        assert BoundedPattern(pattern)._longest_safe == 0


class TestSameAsRe:
    PATTERNS = st.sampled_from([r"(a+)+b", r"a*(b|c)*", r"(a)(b)?", r"\w+\s*\w*", "(?i)A.*B", "", r"(x*)*"])
    TEXTS = st.text("abcx AB\n", max_size=12)

    @given(PATTERNS, TEXTS)
    def test_findall_sub_and_groups(self, pattern, text):
        ours, theirs = bounded(pattern), re.compile(pattern)
        assert ours.findall(text) == theirs.findall(text)
        assert ours.sub(r"<\g<0>>", text) == theirs.sub(r"<\g<0>>", text)
        assert ours.sub("-", text, 1) == theirs.sub("-", text, count=1)
        match = theirs.search(text)
        assert ours.groups(text) == (None if match is None else (match.group(), *match.groups()))

    def test_in_other_threads(self):
        pattern = BoundedPattern(r"(a+)+(é|b)?", re.IGNORECASE)
        text = "aAé \ud800 ab"
        assert elsewhere(lambda: pattern.findall(text)) == re.findall(r"(a+)+(é|b)?", text, re.IGNORECASE)
        assert elsewhere(lambda: pattern.sub(r"\2", text)) == re.sub(r"(a+)+(é|b)?", r"\2", text, flags=re.IGNORECASE)
        assert elsewhere(lambda: pattern.groups(text)) == ("aAé", "aA", "é")
        assert elsewhere(lambda: pattern.groups("x")) is None
        assert isinstance(elsewhere(lambda: pattern.sub(r"\7", text)), re.error)

    def test_a_process_that_died_is_replaced(self):
        pattern = BoundedPattern("(a+)+b")
        assert elsewhere(lambda: pattern.findall("ab")) == ["a"]
        regexes._workers._process.kill()
        regexes._workers._process.wait()
        assert elsewhere(lambda: pattern.findall("aab")) == ["aa"]


class TestProblems:
    @pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<1>a)", "a" + "{65536}" * 9])
    def test_a_pattern_that_does_not_compile(self, pattern):
        with pytest.raises(ScoringError, match="does not compile"):
            BoundedPattern(pattern)

    def test_the_process_reports_errors_and_goes_on(self):
        lines = [["(a)", 0, 1.0, "sub", "a", r"\9", 0], ["a", 0, 1.0, "findall", "aa"]]
        out = io.StringIO()
        serve(io.StringIO("\n".join(map(json.dumps, lines))), out)
        first, second = map(json.loads, out.getvalue().splitlines())
        assert first[0] == "error"
        assert second[:2] == ["found", ["a", "a"]]
