"""What a request may cost is reckoned from its bytes, and from the answers of the model before."""

from types import SimpleNamespace

import pytest

from proctor.ir import Choose, Decoding, Failure, Generate, Likelihood, Pair, Prompt, Response, Rolling, Usage
from proctor.running.reckoning import Claim, Reckoner


def engine(counted=None, most=None):
    return SimpleNamespace(count_tokens=lambda prompt: counted, decoding_defaults=lambda: {"max_tokens": most})


PICTURE = [{"type": "text", "text": "abc"}, {"type": "image_url"}, "de"]


@pytest.mark.parametrize(
    "request_, size, answer",
    [
        (Generate(Prompt("abcd"), Decoding(max_tokens=5)), 4, 5),
        (Generate(Prompt("é" * 3), Decoding(max_tokens=5, count=3)), 6, 15),
        (Generate(Prompt("a")), 1, 7),
        (
            Generate(Prompt([{"role": "user", "content": "abc"}, {"role": "user", "content": "de"}, {"role": "x"}])),
            5,
            7,
        ),
        (Generate(Prompt([{"role": "user", "content": PICTURE}])), 4805, 7),
        (Choose((Pair(Prompt("ab"), "c"), Pair(Prompt("d"), "ef"))), 6, 2),
        (Rolling("abcde"), 5, 1),
    ],
)
def test_a_claim_is_the_most_that_a_request_may_cost(request_, size, answer):
    claim = Reckoner().claim(request_, engine(most=7))
    assert (claim.size, claim.answer, claim.prompt, claim.held, claim.usd) == (size, answer, -(-size // 3) + 16, 0, 0.0)
    assert claim.usage == Usage(claim.prompt, answer)


def test_what_an_engine_counts_is_believed_and_where_nobody_knows_the_longest_there_is_none():
    claim = Reckoner().claim(Generate(Prompt("abcdef")), engine(counted=9))
    assert (claim.prompt, claim.answer, claim.usage) == (25, None, Usage(25, 0))


def test_how_a_model_counts_is_learned_from_its_answers():
    reckoner = Reckoner()
    claim = reckoner.claim(Generate(Prompt("a" * 30)), engine())
    assert (claim.prompt, reckoner.longest) == (26, None)
    assert reckoner.usage(claim, Response(texts=("x",), usage=Usage(15, 4))) == Usage(15, 4)
    assert reckoner.longest == 4
    assert reckoner.claim(Generate(Prompt("a" * 31)), engine()).prompt == 16  # half a token each, rounded up
    reckoner.usage(claim, Response(texts=("x",), usage=Usage(3, 9)))
    assert reckoner.longest == 9
    assert reckoner.claim(Generate(Prompt("a" * 30)), engine()).prompt == 15  # the most that was counted
    lost = Usage(35, 12, lost_prompt_tokens=20, lost_completion_tokens=10)
    reckoner.usage(claim, Response(texts=("x",), usage=lost))
    assert (reckoner.longest, reckoner.claim(Generate(Prompt("a" * 30)), engine()).prompt) == (9, 15)


def test_where_nothing_was_counted_answers_count_by_their_length():
    reckoner, claim = Reckoner(), Claim(20, 50, 10)
    assert reckoner.usage(claim, Response(texts=("abcd", "é"))) == Usage(20, 3)
    assert reckoner.longest == 3
    assert reckoner.usage(claim, Response(texts=("abcd",), usage=Usage(0, 5))) == Usage(20, 5)
    failed = Response(failure=Failure("server_error", "away"))
    assert reckoner.usage(claim, failed) == Usage()
    assert reckoner.longest == 5
    assert Reckoner().usage(Claim(20, 50, 0), Response(texts=("",))) == Usage(20, 0)


def test_attempts_of_which_nobody_said_anything_count_as_whole_ones():
    claim = Claim(20, 50, 10)
    found = Reckoner().usage(claim, Response(texts=("x",), usage=Usage(7, 3, unknown_attempts=2)))
    assert (found.prompt_tokens, found.completion_tokens, found.unknown_attempts) == (47, 103, 2)
    open_ended = Reckoner().usage(
        claim._replace(answer=None), Response(texts=("x",), usage=Usage(7, 3, unknown_attempts=1))
    )
    assert (open_ended.prompt_tokens, open_ended.completion_tokens) == (27, 3)
    assert Likelihood(Prompt("a"), "b").pairs  # scored by a context and a continuation, as choices are
