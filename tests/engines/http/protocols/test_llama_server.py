"""Likelihoods from llama.cpp's server: which tokens are asked for behind which, and what is made of the replies."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proctor.engines.engine_registry import make_engine
from proctor.errors import EngineError
from proctor.ir import Choose, Likelihood, Pair, Prompt, Rolling

BOS = 1


class LlamaServer:
    """A server that answers as the documented one: a token is a character, likelier the smaller it is.

    Args:
        adds_first: Whether the model's first token stands before texts.
        old: Whether it answers as before December 2024.
        forced: Whether it writes what ``logit_bias`` wants.
    """

    def __init__(self, *, adds_first=True, old=False, forced=True):
        self.adds_first, self.old, self.forced, self.asked = adds_first, old, forced, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.reply(self, {"bos_token": "<s>", "eos_token": "</s>"} if self.path == "/props" else None)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, body))
                outer.reply(self, {"/tokenize": outer.tokenize, "/completion": outer.complete}[self.path](body))

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reply(self, handler, value):
        content = json.dumps(value).encode()
        handler.send_response(404 if value is None else 200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def tokenize(self, body):
        text, ids = body["content"], []
        if text.startswith("<s>"):
            text, ids = text[3:], [BOS]
        ids += [ord(letter) for letter in text]
        return {"tokens": [BOS, *ids] if body["add_special"] and self.adds_first else ids}

    def complete(self, body):
        likeliest = ord("a")
        ((token, _),) = body.get("logit_bias") or [(likeliest, 0)]
        if self.old:
            return {"content": chr(token), "completion_probabilities": [{"content": chr(token), "probs": []}]}
        token = token if self.forced else likeliest
        top = [{"id": likeliest, "token": "a", "logprob": -likeliest / 2}]
        return {"completion_probabilities": [{"id": token, "logprob": -token / 2, "top_logprobs": top}]}


@pytest.fixture
def serve():
    made = []

    def start(**options):
        made.append(LlamaServer(**options))
        return made[-1]

    yield start
    for each in made:
        each.server.shutdown()
        each.server.server_close()


def scored(server, *requests):
    engine = make_engine("gguf", {"base_url": server.url, "num_concurrent": 1, "max_retries": 0})
    return [response for _, response in sorted(engine.score(requests), key=lambda each: each[0])]


def steps(server):
    return [(body["prompt"], body["logit_bias"][0][0]) for path, body in server.asked if "logit_bias" in body]


def test_each_token_of_a_continuation_is_asked_for_behind_those_before_it(serve):
    server = serve()
    [response] = scored(server, Likelihood(Prompt("x"), "ab"))
    assert steps(server) == [([BOS, ord("x")], ord("a")), ([BOS, ord("x"), ord("a")], ord("b"))]
    [score] = response.scores
    assert score.log_likelihood == -(ord("a") + ord("b")) / 2
    assert (score.is_greedy, score.token_count) == (False, 2)
    assert response.usage.as_data()["prompt_tokens"] == 2


def test_a_continuation_of_the_likeliest_tokens_is_greedy(serve):
    [response] = scored(serve(), Likelihood(Prompt("x"), "aa"))
    assert response.scores[0].is_greedy


def test_blanks_at_the_end_of_a_context_belong_to_the_continuation(serve):
    server = serve()
    scored(server, Likelihood(Prompt("x "), "a"))
    assert [token for _, token in steps(server)] == [ord(" "), ord("a")]


def test_every_choice_has_its_likelihood(serve):
    pairs = tuple(Pair(Prompt("x"), each) for each in ("a", "b", "c"))
    [response] = scored(serve(), Choose(pairs))
    assert [each.log_likelihood for each in response.scores] == [-ord(each) / 2 for each in "abc"]
    assert [each.is_greedy for each in response.scores] == [True, False, False]


def test_choices_of_one_token_are_asked_for_at_once_and_the_unlikely_ones_by_force(serve):
    server = serve()
    pairs = tuple(Pair(Prompt("x"), each) for each in ("a", "b"))
    [response] = scored(server, Choose(pairs))
    assert [body.get("n_probs") for path, body in server.asked if path == "/completion"] == [100, 1]
    assert steps(server) == [([BOS, ord("x")], ord("b"))]
    assert response.usage.prompt_tokens == 4


@pytest.mark.parametrize("adds_first", [True, False])
def test_nothing_before_a_text_is_the_models_first_token(serve, adds_first):
    server = serve(adds_first=adds_first)
    scored(server, Likelihood(Prompt(""), "ab"), Rolling("ab"))
    expected = [([BOS], ord("a")), ([BOS, ord("a")], ord("b"))]
    assert steps(server) == expected * 2


def test_the_loss_of_a_text_leaves_its_first_token_out(serve):
    server = serve(adds_first=False)
    [response] = scored(server, Rolling("abc", from_start=False))
    assert steps(server) == [([ord("a")], ord("b")), ([ord("a"), ord("b")], ord("c"))]
    assert response.scores[0].token_count == 2


def test_a_first_token_that_the_text_says_is_not_there_twice(serve):
    server = serve()
    scored(server, Likelihood(Prompt("<s>x"), "a"))
    assert steps(server) == [([BOS, ord("x")], ord("a"))]


def test_nothing_but_the_wanted_token_decides(serve):
    server = serve()
    scored(server, Likelihood(Prompt("x"), "a"))
    [body] = [body for path, body in server.asked if path == "/completion"]
    assert (body["n_predict"], body["n_probs"], body["temperature"], body["samplers"]) == (1, 1, 0.0, [])
    assert body["logit_bias"][0][1] > 1000


def test_an_old_server_is_refused_in_words(serve):
    [response] = scored(serve(old=True), Likelihood(Prompt("x"), "a"))
    assert "cannot be read" in response.failure.message


def test_another_token_than_the_wanted_one_is_no_likelihood(serve):
    [response] = scored(serve(forced=False), Likelihood(Prompt("x"), "b"))
    assert "another token" in response.failure.message


def test_a_continuation_without_tokens_is_a_failure(serve):
    [response] = scored(serve(), Likelihood(Prompt("x"), ""))
    assert "adds no tokens" in response.failure.message


def test_a_server_of_another_kind_is_told_at_once(serve):
    server = serve()
    engine = make_engine(
        "openai",
        {"model": "m", "base_url": f"{server.url}/other/v1", "endpoint": "completions", "scoring": "llamacpp"},
    )
    with pytest.raises(EngineError, match=r"llama\.cpp's server, and this is none"):
        list(engine.score([Likelihood(Prompt("x"), "a")]))
