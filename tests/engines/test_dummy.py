"""The engine that needs no model."""

from proctor.engines.dummy import DummyEngine
from proctor.engines.engine_registry import make_engine
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling


def test_it_says_the_same_to_everything():
    engine = make_engine("dummy", {"answer": "A b"})
    answers = dict(engine.generate([Generate(Prompt("x")), Generate(Prompt("y"), Decoding(count=2))]))
    assert [answers[0].texts, answers[1].texts] == [("A b",), ("A b", "A b")]


def test_likelihoods_derive_from_the_text():
    choose = Choose((Pair(Prompt("q"), " a"), Pair(Prompt("q"), " b")))
    requests = [choose, Likelihood(Prompt("q"), " a"), Rolling("text"), choose]
    scores = [response.scores for _, response in DummyEngine().score(requests)]
    assert scores[0] == scores[3]
    assert scores[0][0] == scores[1][0]
    assert len({each.log_likelihood for each in (*scores[0], *scores[2])}) == 3
    assert all(-1 <= each.log_likelihood <= 0 for response in scores for each in response)


def test_its_identity_is_what_it_says():
    assert DummyEngine().identity == DummyEngine().identity
    assert DummyEngine().identity != DummyEngine(answer="x").identity
    assert DummyEngine().label == "dummy"
