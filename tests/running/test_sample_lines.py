"""What lines of samples.jsonl say of the usual question and answer is what they would say of any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Decoding, Failure, Generate, Prompt, Response, Scored, Timing
from proctor.jsonable import to_line
from proctor.running import folder

TEXTS = st.text(max_size=4)
REASONS = st.sampled_from(["stop", "length", ""])
RESPONSES = st.builds(
    Response,
    texts=st.lists(TEXTS, max_size=2).map(tuple),
    scores=st.sampled_from([(), (Scored(-1.0, True, 2),)]),
    finish_reasons=st.lists(REASONS, max_size=2).map(tuple),
    thoughts=st.lists(TEXTS, max_size=1).map(tuple),
    written=st.lists(TEXTS, max_size=1).map(tuple),
    failure=st.sampled_from([None, Failure("timeout", "late")]),
)


@given(RESPONSES)
def test_one_answer_is_said_as_several_are(response):
    assert to_line(folder._heard([response])) == to_line(folder._all_heard([response]))


@given(
    TEXTS | st.just(({"role": "user", "content": "q"},)),
    st.builds(Decoding, st.none() | st.integers(1, 9), st.sampled_from([0.0, 0.5]), stop=st.tuples(TEXTS)),
)
def test_one_request_is_said_as_several_are(payload, decoding):
    decodings = folder._Decodings()
    request = Generate(Prompt(payload), decoding)
    assert to_line(folder._asked([request], decodings)) == to_line(folder._all_asked([request], decodings))


@given(st.floats(0, 9), st.floats(0, 9))
def test_the_time_of_one_answer_is_that_of_one(started, seconds):
    timing = Timing(started, seconds)
    assert folder._timing([Response(timing=timing)]) == {"started": started, "seconds": seconds}
    assert folder._timing([Response(timing=timing)] * 2) == {"started": started, "seconds": 2 * seconds}
    assert folder._timing([]) == {"started": 0.0, "seconds": 0}
