import msgspec
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Failure, Response, Scored, Timing, TokenLogProbability, Usage, total_usage

COUNTS = st.integers(0, 9)


@given(st.lists(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS)))
def test_tokens_of_many_answers_are_those_that_they_have_one_after_the_other(usages):
    assert total_usage(usages) == sum(usages, Usage())
    assert total_usage(iter(usages)) == sum(usages, Usage())


def test_tokens_of_thoughts_and_of_a_cache_are_named_where_there_are_some():
    assert Usage(3, 4).as_data() == {"prompt_tokens": 3, "completion_tokens": 4}
    assert Usage(3, 4, 2).as_data() == {"prompt_tokens": 3, "completion_tokens": 4, "thinking_tokens": 2}
    assert Usage(3, 4, cached_tokens=1).as_data() == {"prompt_tokens": 3, "completion_tokens": 4, "cached_tokens": 1}


def test_logs_leave_out_what_is_as_it_usually_is():
    usual = Response(
        ("a",),
        (Scored(-1.0, is_greedy=False, token_count=0),),
        tokens=((TokenLogProbability("a", -0.5, top=()),),),
        failure=Failure("timeout", "late", attempts=1, retryable=True),
    )
    assert msgspec.json.decode(msgspec.json.encode(usual)) == {
        "texts": ["a"],
        "scores": [{"log_likelihood": -1.0}],
        "tokens": [[{"token": "a", "log_probability": -0.5}]],
        "failure": {"kind": "timeout", "message": "late"},
    }


def test_a_token_is_data_for_metrics():
    token = TokenLogProbability("a", -0.5, (("a", -0.5), ("b", -1.0)))
    top = [{"text": "a", "logprob": -0.5}, {"text": "b", "logprob": -1.0}]
    assert token.as_data() == {"text": "a", "logprob": -0.5, "top_tokens": top}


def test_the_text_of_an_answer_is_the_first():
    assert (Response(("a", "b")).text, Response().text) == ("a", "")


def test_an_answer_that_nobody_timed_took_no_time():
    assert (Response(("a",)).timing.started, Response(("a",)).timing.seconds, Timing().piece_seconds) == (0.0, 0.0, ())


def test_lost_attempts_cost_tokens_and_are_no_part_of_the_answer():
    assert Usage(30, 8, lost_prompt_tokens=20, lost_completion_tokens=3).of_answer == (10, 5)
