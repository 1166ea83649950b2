"""What lines of samples.jsonl say of the usual question and answer is what they would say of any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Decoding, Failure, Generate, Prompt, Response, Scored, Timing
from proctor.jsonable import to_line
from proctor.running import sample_records
from proctor.scoring.columns import ABSENT
from proctor.scoring.grade import Grade

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
    assert to_line({"heard": sample_records._heard([response])}) == to_line(
        {"heard": sample_records._all_heard([response])}
    )


@given(
    TEXTS | st.just(({"role": "user", "content": "q"},)),
    st.builds(Decoding, st.none() | st.integers(1, 9), st.sampled_from([0.0, 0.5]), stop=st.tuples(TEXTS)),
)
def test_one_request_is_said_as_several_are(payload, decoding):
    decodings = sample_records.Decodings()
    request = Generate(Prompt(payload), decoding)
    one, any_ = sample_records._asked([request], decodings), sample_records._all_asked([request], decodings)
    assert to_line({"asked": one}) == to_line({"asked": any_})


@given(st.floats(0, 9), st.floats(0, 9))
def test_the_time_of_one_answer_is_that_of_one(started, seconds):
    timing = Timing(started, seconds)
    assert sample_records._timing([Response(timing=timing)]) == {"started": started, "seconds": seconds}
    assert sample_records._timing([Response(timing=timing)] * 2) == {"started": started, "seconds": 2 * seconds}
    assert sample_records._timing([]) == {"started": 0.0, "seconds": 0}


FAILURE = Failure("scoring", "no number")
COLUMN = st.lists(st.sampled_from(["a", 1.0, None, FAILURE]), max_size=6)
SCORES = st.lists(st.sampled_from([0.0, 1.0, None, FAILURE, ABSENT]), max_size=6)


@given(COLUMN, COLUMN, SCORES, SCORES, st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_lines_end_alike_however_many_are_made_at_once(predictions, references, first, second, sizes):
    grade = Grade(
        {},
        instance_scores={"first": first, "second": second},
        predictions=predictions,
        processed_predictions=references,
        processed_references=references,
        failures={1: FAILURE},
    )
    endings = sample_records.ScoredParts(grade)
    found = [dict(zip(*line, strict=True)) for size in sizes for line in endings.next(size)]
    assert found == [_ending(grade, place) for place in range(sum(sizes))]


def _ending(grade, place):
    def entry(column):
        value = column[place] if place < len(column) else None
        return None if value is FAILURE else value

    shown = {name: entry(column) for name, column in grade.instance_scores.items()}
    return {
        "prediction": entry(grade.predictions),
        "processed_prediction": entry(grade.processed_predictions),
        "processed_references": entry(grade.processed_references),
        "scores": {name: value for name, value in shown.items() if value is not ABSENT},
        **({"scoring_failure": FAILURE} if place == 1 else {}),
    }


def test_a_grade_without_scores_has_lines_without_them():
    (line,) = sample_records.ScoredParts(Grade({}, predictions=["a"])).next(1)
    assert dict(zip(*line, strict=True)) == {
        "prediction": "a",
        "processed_prediction": None,
        "processed_references": None,
        "scores": {},
    }
