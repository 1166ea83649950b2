"""What passes between the tests' process and the program's, and the verdict that comes of it; with time that stands."""

import json
import threading

import pytest

from proctor.prison import trial as module
from proctor.prison.limits import Limits
from proctor.prison.trial import Outcome, PrisonError, Shield, _read, _Session


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Said:
    """A cell that says what it is given, a message for each round; an empty round costs a second."""

    def __init__(self, *messages, clock=None, complaint="", fills_disk=False):
        self.messages, self.posted, self.clock = [*messages], [], clock
        self.fills_disk, self._complaint = fills_disk, complaint
        self.has_outgoing = False

    @property
    def is_open(self):
        return bool(self.messages)

    def take(self):
        if not self.messages:
            return None
        message = self.messages.pop(0)
        if isinstance(message, (int, float)):
            if message:
                self.clock.now += message
            return None
        return message

    def post(self, message):
        self.posted.append(message)

    def complaint(self):
        return self._complaint


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    monkeypatch.setattr(_Session, "_exchange", lambda self, seconds: None)
    return found


def verdict(how="pass", why="", uncrossable="", **more):
    return b"V" + json.dumps({"how": how, "why": why, "uncrossable": uncrossable, **more}).encode()


def session(judge, candidate, stopped=None, **limits):
    return _Session(judge, candidate, Limits(**limits), stopped or threading.Event())


@pytest.mark.parametrize(
    "said, outcome, uncrossable, is_clean",
    [
        ([verdict(), b"E"], Outcome("pass"), False, True),
        ([verdict("wrong_answer", "no"), b"E"], Outcome("wrong_answer", "no"), False, True),
        ([verdict("failed", "x", "a list"), b"E"], Outcome("failed", "x"), True, True),
        ([verdict()], Outcome("pass"), False, False),
        ([b"E"], Outcome("failed", module._NO_VERDICT), False, False),
        ([verdict(), verdict("failed"), b"E"], Outcome("failed", "the tests' process said what it should not"), False, False),
        ([verdict(), b"Cx", b"E"], Outcome("failed", "the tests' process said what it should not"), False, False),
        ([b"?", b"E"], Outcome("failed", "the tests' process said what it should not"), False, False),
        ([b"Vnot json", b"E"], Outcome("failed", "the tests' process said what is not a verdict"), False, True),
        ([b'V{"how": "great", "why": "", "uncrossable": ""}', b"E"],
         Outcome("failed", "the tests' process said what is not a verdict"), False, True),
    ],
)  # fmt: skip
def test_what_the_tests_process_says_is_the_outcome(clock, said, outcome, uncrossable, is_clean):
    made = session(Said(*said), Said(b"R", b"x"))
    assert made.verdict() == (outcome, uncrossable)
    assert made.is_clean is is_clean


def test_each_question_is_carried_over_and_its_answer_back(clock):
    judge, candidate = Said(b"Cone", b"Ctwo", verdict(), b"E", b"x"), Said(b"R", b"1", b"2", b"x")
    judge.messages[1:1] = [0]  # a round in which the answer comes
    judge.messages[3:3] = [0]
    assert session(judge, candidate).verdict() == (Outcome("pass"), False)
    assert (candidate.posted, judge.posted) == ([b"one", b"two"], [b"1", b"2"])


def test_a_program_that_is_gone_answers_so(clock):
    judge = Said(b"Cone", 0, verdict("failed", "gone"), b"E", b"x")
    assert session(judge, Said(b"R")).verdict() == (Outcome("failed", "gone"), False)
    assert judge.posted == [b'{"gone":true}']


def test_two_questions_at_once_are_not_asked(clock):
    judge, candidate = Said(b"Cone", b"Ctwo", verdict(), b"E", b"x"), Said(b"R", b"x")
    assert session(judge, candidate).verdict()[0].why == "the tests' process said what it should not"
    assert candidate.posted == [b"one"]


@pytest.mark.parametrize(
    "waits, limits, how",
    [
        ([4.9], {"seconds": 5.0}, "pass"),
        ([5.0], {"seconds": 5.0}, "timeout"),
        ([3, 3], {"seconds": 5.0}, "timeout"),
        ([3, 3], {"seconds": 9.0, "call_seconds": 2.0}, "pass"),  # nobody is asked meanwhile
    ],
)
def test_time_begins_when_the_program_is_ready_and_ends(clock, waits, limits, how):
    judge = Said(*waits, verdict(), b"E", b"x", clock=clock)
    candidate = Said(20, b"R", b"x", clock=clock)  # starting takes its own time
    assert session(judge, candidate, **limits).verdict()[0].how == how


@pytest.mark.parametrize("wait, call_seconds, how", [(1.9, 2.0, "pass"), (2.0, 2.0, "timeout"), (4.0, None, "pass")])
def test_one_answer_has_its_own_time(clock, wait, call_seconds, how):
    candidate = Said(b"R", wait, b"1", b"x", clock=clock)
    judge = Said(b"Cone", 0, 0, verdict(), b"E", b"x", clock=clock)
    assert session(judge, candidate, seconds=5.0, call_seconds=call_seconds).verdict()[0].how == how


def test_a_prisoner_that_does_not_start_is_an_error_with_what_it_said(clock):
    with pytest.raises(PrisonError, match="no namespaces"):
        session(Said(0, 0), Said(complaint="no namespaces")).verdict()
    with pytest.raises(PrisonError, match="a prisoner ended before it started"):
        session(Said(0), Said()).verdict()
    with pytest.raises(PrisonError, match="no tests"):
        session(Said(complaint="no tests"), Said(0, 0)).verdict()
    slow = Said(*[0] * 9)
    assert session(slow, Said(29.9, 0.2, b"x", clock=clock)).verdict() == (Outcome("timeout"), False)


def test_who_wants_no_verdict_any_more_gets_none(clock):
    stopped = threading.Event()
    stopped.set()
    assert session(Said(0, verdict()), Said(0, b"R"), stopped).verdict() == (Outcome("timeout"), False)


@pytest.mark.parametrize("which", ["judge", "candidate"])
def test_who_writes_more_than_it_may_has_failed(clock, which):
    judge = Said(0, 0, verdict(), b"E", fills_disk=which == "judge")
    candidate = Said(b"R", b"x", fills_disk=which == "candidate")
    assert session(judge, candidate).verdict() == (Outcome("failed", "the program wrote more than it may"), False)


def test_without_more_words_nothing_was_found(clock):
    assert session(Said(0), Said(b"R", b"x")).verdict() == (Outcome("failed", module._NO_VERDICT), False)


def test_in_one_process_the_first_verdict_counts_and_carries_the_word(clock):
    own = verdict(token="mine")
    assert session(Said(b"R", own, verdict("failed", token="mine")), None).verdict("mine") == (Outcome("pass"), False)
    forged = session(Said(b"R", verdict(token="other"), own), None).verdict("mine")
    assert forged == (Outcome("failed", "the program wrote a verdict of its own"), False)
    assert _read(b"{}", "mine")[0].why == "the tests' process said what is not a verdict"
    assert session(Said(b"R", b"Cx"), None).verdict("mine")[0].how == "failed"


def test_what_is_written_is_measured_now_and_then(clock):
    made = session(Said(), Said())
    found = []
    made._judge.fills_disk = True
    for pause in (0, 0.05, 0.05):
        clock.now += pause
        found.append(made._is_full())
    assert found == [True, False, True]


def test_a_shield_is_up_while_anybody_needs_it(monkeypatch):
    told = []
    monkeypatch.setattr(module.kernel, "MACHINE", "x")
    monkeypatch.setattr(module.kernel, "prctl", lambda *given: told.append(given[1]))
    one, other = Shield(), Shield()
    for each in (one.rise, one.rise, other.rise, one.lower, one.lower, other.lower):
        each()
    assert told == [0, 0, 0, 1]
