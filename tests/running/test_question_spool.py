"""What was asked comes back equal when it is graded, or is put in words once more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.ir import (
    Choose,
    Converse,
    Decoding,
    Exchange,
    Failure,
    Generate,
    Likelihood,
    Media,
    Pair,
    Prompt,
    Rolling,
    Span,
    Turn,
)
from proctor.ir.question import Question
from proctor.running import question_spool
from proctor.running.plan import wanted
from proctor.running.question_spool import QuestionSpool

DECODING = Decoding(max_tokens=7, stop=("\n", "Q:"))
CHAT = [{"role": "user", "content": "q"}]
EXCHANGE = Exchange(
    (Turn("user", (Span("a", "question"), Media("image", "x.png", "question")), "assistant"),),
    (Turn("system", (Span("s", "system"),)),),
    "Answer: ",
    "a",
    ("a", "b"),
    (" a", " b"),
    1,
)
INSTANCE = {"text": "ä\ud800", "list": [1, 2.5, None, (3,)], "flag": True, "nan": float("inf")}
REQUESTS = [
    Generate(Prompt("q"), DECODING),
    Generate(Prompt(CHAT), DECODING),
    Choose((Pair(Prompt("q"), " a"), Pair(Prompt("other"), " b"))),
    Likelihood(Prompt("q"), " a"),
    Rolling("text"),
    Rolling("text", from_start=True),
    Converse(("one", "two"), DECODING),
]


class _Exam:
    """Stands for an exam: the spool only knows it apart from others."""


def spooled(questions, spool=None):
    exam = _Exam()
    with spool or QuestionSpool() as used:
        recording = used.record(exam)
        for each in questions:
            recording.add([each], [wanted(each, "")])
        recording.finish()
        blocks = used.blocks(exam)
        return None if blocks is None else [pair for block in blocks for pair in zip(*block, strict=True)]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
def test_questions_come_back_equal(request_):
    processors = ["processors.lower_case", object()]
    failure = Failure("row", "why", attempts=3, retryable=False)
    question = Question(4, INSTANCE, EXCHANGE, (request_,), processors, ("a", 1), failure)
    ((found, entries),) = spooled([question])
    assert found == question
    assert found.processors is processors
    assert [type(each) for each in found.instance["list"]] == [int, float, type(None), tuple]
    assert entries == wanted(question, "")


def test_blocks_keep_their_order_and_exams_are_kept_apart():
    first, second = _Exam(), _Exam()
    questions = [Question(number, {"n": number}, Exchange(()), (Rolling(str(number)),)) for number in range(6)]
    with QuestionSpool() as spool:
        recordings = {first: spool.record(first), second: spool.record(second)}
        for place, each in enumerate(questions):
            recordings[second if place % 2 else first].add([each], [wanted(each, "")])
        for recording in recordings.values():
            recording.finish()
        assert [each.number for block, _ in spool.blocks(first) for each in block] == [0, 2, 4]
        assert [each.number for block, _ in spool.blocks(second) for each in block] == [1, 3, 5]
        assert spool.blocks(_Exam()) is None


def test_an_exam_that_was_not_asked_to_its_end_is_not_held():
    exam = _Exam()
    question = Question(0, {}, Exchange(()), (Rolling("x"),))
    with QuestionSpool() as spool:
        spool.record(exam).add([question], [wanted(question, "")])
        assert spool.blocks(exam) is None


@pytest.mark.parametrize("value", [object(), {1, 2}, bytes, pytest], ids=["object", "set", "class", "module"])
def test_a_row_that_is_not_plain_data_is_put_in_words_anew(value):
    question = Question(0, {"value": value}, Exchange(()), (Rolling("x"),))
    plain = replace(question, instance={})
    assert spooled([plain, question, plain]) is None
    assert spooled([plain, plain]) is not None


def test_a_file_that_has_no_room_holds_nothing(monkeypatch):
    question = Question(0, {"text": "x" * 100}, Exchange(()), (Rolling("x"),))
    monkeypatch.setattr(question_spool, "MOST_BYTES", 500)
    assert spooled([question]) is not None
    assert spooled([question] * 3) is None


def test_a_disk_that_is_full_loses_nothing(monkeypatch):
    question = Question(0, {}, Exchange(()), (Rolling("x"),))
    spool = QuestionSpool()

    def full(_data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool._file, "write", full)
    assert spooled([question], spool) is None


def test_decodings_of_their_own_for_each_row_are_too_many_to_share(monkeypatch):
    monkeypatch.setattr(question_spool, "MOST_SHARED", 3)
    questions = [
        Question(n, {}, Exchange(()), (Generate(Prompt("q"), Decoding(max_tokens=n + 1)),), DECODING.stop)
        for n in range(4)
    ]
    assert spooled(questions[:2]) is not None
    assert spooled(questions) is None


TURNS = [
    (),
    (Turn("user", (Span("one", "question"),)),),
    (Turn("user", (Span("other"),), "system"),),
    (Turn("user", ()),),
    (Turn("user", (Span("a"), Span("b"))),),
    (Turn("user", (Media("image", "x.png"),)),),
    (Turn("system", (Span("a"),)), Turn("user", (Span("b"),))),
]
ASKED = [(), *[(each,) for each in REQUESTS], (REQUESTS[0], REQUESTS[0]), (REQUESTS[1], REQUESTS[4])]
ALIKE = st.tuples(st.just(TURNS[1]), st.just(()), st.just(ASKED[1]))
FORMS = st.lists(st.tuples(*map(st.sampled_from, (TURNS, TURNS, ASKED))) | ALIKE, max_size=4) | st.lists(ALIKE)


@given(FORMS)
def test_questions_come_back_equal_whatever_stands_beside_them(forms):
    questions = [
        Question(number, {"n": number}, Exchange(asked, opening, references=("a",)), requests, digest=str(number))
        for number, (asked, opening, requests) in enumerate(forms)
    ]
    keys = [wanted(each, "") for each in questions]
    exam = _Exam()
    with QuestionSpool() as spool:
        recording = spool.record(exam)
        recording.add(questions, keys)
        recording.finish()
        assert list(spool.blocks(exam)) == [(questions, keys)]


def test_texts_that_only_look_like_texts_are_put_in_words_anew():
    class Text(str):
        __slots__ = ()

    plain = Question(0, {}, Exchange((Turn("user", (Span("a"),)),)), (Generate(Prompt("q")),))
    turn = Turn("user", (Span(Text("a")),))
    assert spooled([plain]) is not None
    assert spooled([replace(plain, exchange=Exchange((turn,)))]) is None


SHARED = {"template": {"name": "t", "list": [1]}}
NAME = st.sampled_from(["a", "b", "c"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from([0.0, -0.0, 1.0, "a"]) | st.just(SHARED),
    lambda each: st.lists(each, max_size=2) | st.dictionaries(NAME | st.sampled_from([1, True, 1.5]), each, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(NAME, VALUE, max_size=3) | st.fixed_dictionaries({"a": VALUE, "b": VALUE}), max_size=5))
def test_rows_come_back_equal_whatever_they_share(rows):
    questions = [
        Question(number, row, Exchange(()), (Rolling(str(number)),)) for number, row in enumerate([*rows, *rows[:1]])
    ]
    exam = _Exam()
    with QuestionSpool() as spool:
        recording = spool.record(exam)
        recording.add(questions, [wanted(each, "") for each in questions])
        recording.finish()
        found = [each.instance for block, _ in spool.blocks(exam) for each in block]
    assert repr(found) == repr([each.instance for each in questions])
