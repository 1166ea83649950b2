"""``TemplateAPI``: models behind servers of one's own kind. What is posted was compared with lm-eval 0.4.13's."""

import json
import threading
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proctor.errors import EngineError, UsageError
from proctor.guests.lm_eval.api_model import JsonChatStr, TemplateAPI
from proctor.guests.lm_eval.foreign_model import ForeignModel
from proctor.guests.lm_eval.instance import Instance
from proctor.ir import Decoding, Generate, Prompt
from proctor.secrets import cleaned

KEY = "sk-of-this-test-alone"


class Words:
    """A tokenizer whose tokens are words."""

    bos_token_id, eos_token_id, eos_token = None, 0, "<end>"

    def __init__(self):
        self.known = ["<end>"]

    def encode(self, text, add_special_tokens=False):
        words = text.split()
        self.known += [word for word in words if word not in self.known]
        return [self.known.index(word) for word in words]

    def decode(self, tokens):
        return " ".join(self.known[token] for token in tokens)

    def apply_chat_template(self, messages, **more):
        return " ".join(each["content"] for each in messages)


class Mine(TemplateAPI):
    """Writes what it is asked, and scores each token by its place."""

    def _create_payload(self, messages, *, generate=True, gen_kwargs=None, seed=1234, eos=None, **kwargs):
        return {"ask": messages, "write": generate, "how": gen_kwargs, "seed": seed, "eos": eos}

    @staticmethod
    def parse_generations(outputs, **kwargs):
        return outputs["texts"]

    @staticmethod
    def parse_logprobs(outputs, tokens=None, ctxlens=None, **kwargs):
        pairs = [pair for reply in outputs for pair in zip(reply["scores"], ctxlens, strict=True)]
        return [(sum(scores[start:]), True) for scores, start in pairs]

    @cached_property
    def api_key(self):
        return KEY


@pytest.fixture
def server():
    """A server that keeps what is posted, refuses each kind of request once, and answers."""
    posted, refused = [], set()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            first = body["write"] not in refused
            refused.add(body["write"])
            if not first:
                posted.append((self.headers["Authorization"], body))
            many = body["ask"] if isinstance(body["ask"], list) else [body["ask"]]
            answers = {
                "texts": [f"to {each}" for each in many],
                "scores": [[-float(n) for n, _ in enumerate(each)] for each in many],
            }
            content = json.dumps(answers).encode()
            self.send_response(503 if first else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}/ask", posted
    listening.shutdown()
    listening.server_close()


def made(server, kind=Mine, *, words=True, **more):
    model = kind(model="m", base_url=server[0], tokenizer_backend=None, **more)
    if words:
        model.tokenizer, model.tokenizer_backend = Words(), "huggingface"
        model.tokenized_requests = more.get("tokenized_requests", True)
    return model


def asked(kind, *arguments):
    return [Instance(kind, {}, each, 0) for each in arguments]


def test_texts_are_posted_as_the_class_says(server):
    model = made(server, words=False, num_concurrent=3, seed=7)
    how, other = {"until": ["x"], "max_gen_toks": 5}, {"until": ["y"]}
    found = model.generate_until(asked("generate_until", ("a b", how), ("c", other), ("d", how)))
    assert found == ["to a b", "to c", "to d"]
    assert sorted((body["ask"], body["how"]["until"], body["seed"]) for _, body in server[1]) == [
        ("a b", ["x"], 7), ("c", ["y"], 7), ("d", ["x"], 7),
    ]  # fmt: skip
    assert {key for key, _ in server[1]} == {f"Bearer {KEY}"}
    assert KEY not in cleaned(f"it echoes {KEY}")


def test_several_texts_are_posted_together_where_they_are_written_alike(server):
    model, how = made(server, tokenized_requests=False, batch_size=2), {"until": ["x"]}
    model.generate_until(asked("generate_until", ("a", how), ("b", {"until": ["y"]}), ("c", how)))
    assert sorted(body["ask"] for _, body in server[1]) == [["a", "c"], ["b"]]


def test_tokens_are_posted_and_cut_so_that_the_answer_fits(server):
    model = made(server, max_length=6, max_gen_toks=3)
    model.generate_until(asked("generate_until", ("a b c d e", {})))
    assert [(body["ask"], body["eos"]) for _, body in server[1]] == [([[4, 5]], "<end>")]


def test_likelihoods_are_of_what_follows_the_context(server):
    pairs = ("a b", " c d"), ("", " a b c")
    found = made(server, batch_size=2).loglikelihood(asked("loglikelihood", *pairs))
    assert found == [(-5.0, True), (-6.0, True)]
    assert [body["ask"] for _, body in server[1]] == [[[1, 2, 3, 4], [0, 1, 2, 3]]]
    assert made(server, max_length=4).loglikelihood(asked("loglikelihood", *pairs[:1])) == [(-3.0, True)]


def test_whole_texts_are_cut_into_windows(server):
    found = made(server, max_length=5).loglikelihood_rolling(asked("loglikelihood_rolling", ("a b c d e",)))
    assert [body["ask"][0] for _, body in server[1]] == [[0, 1, 2, 3], [2, 3, 4, 5]]
    assert found == [-6.0 - 5.0]


def test_chats_are_messages_where_no_tokens_are_posted(server):
    model, chat = made(server, words=False), [{"role": "user", "content": "hi"}]
    laid_out = model.apply_chat_template(chat)
    assert isinstance(laid_out, JsonChatStr)
    model.generate_until(asked("generate_until", (laid_out, {})))
    assert server[1][0][1]["ask"] == chat
    assert made(server).apply_chat_template(chat) == "hi"


def test_likelihoods_without_a_tokenizer_say_what_is_missing(server):
    with pytest.raises(UsageError, match="no tokenizer"):
        made(server, words=False).loglikelihood(asked("loglikelihood", ("a", " b")))


@pytest.mark.parametrize(
    "more, word",
    [({"verify_certificate": False}, "certificates"), ({"revision": "v2"}, "revision"), ({"colour": 1}, "colour")],
)
def test_arguments_that_cannot_be_honoured_are_refused(server, more, word):
    with pytest.raises(UsageError, match=word):
        made(server, **more)


@pytest.mark.parametrize("name", ["batch_loglikelihood_requests", "get_batched_requests"])
def test_what_nothing_calls_cannot_be_changed(name):
    with pytest.raises(UsageError, match=f"{name} would never be called"):
        type("Changed", (Mine,), {name: None})


class Posting(Mine):
    """Posts by itself, and fails the first time."""

    calls = 0

    def model_call(self, messages, *, generate=True, gen_kwargs=None, **kwargs):
        type(self).calls += 1
        if type(self).calls == 1:
            raise OSError("not yet")
        return super().model_call(messages, generate=generate, gen_kwargs=gen_kwargs, **kwargs)


class Awaiting(Posting):
    async def amodel_call(self, session, sem, messages, *, gen_kwargs=None, ctxlens=None, **kwargs):
        assert hasattr(session, "post")
        return [f"{each} {ctxlens}" for each in messages] if gen_kwargs else [(-1.0 * ctxlens[0], False)]


def test_a_class_that_posts_by_itself_is_asked_to_and_again_where_it_fails(server, monkeypatch):
    monkeypatch.setattr("asyncio.sleep", lambda _: _nothing())
    Posting.calls = 0
    model = made(server, Posting, words=False)
    assert model.generate_until(asked("generate_until", ("a b", {"until": []}))) == ["to a b"]
    assert Posting.calls == 2
    assert made(server, Posting).loglikelihood(asked("loglikelihood", ("a b", " c d"))) == [(-5.0, True)]
    assert Posting.calls == 3


async def _nothing():
    pass


def test_many_at_once_are_posted_by_the_method_for_it(server):
    Awaiting.calls = 1
    model, how = made(server, Awaiting, num_concurrent=2), {"until": ["x"]}
    assert model.generate_until(asked("generate_until", ("a", how), ("b", how))) == ["[1] []", "[2] []"]
    assert model.loglikelihood(asked("loglikelihood", ("a b", " c"))) == [(-2.0, False)]
    assert (server[1], Awaiting.calls) == ([], 1)
    made(server, Awaiting).loglikelihood(asked("loglikelihood", ("a", " b")))
    assert Awaiting.calls == 2  # one at a time by the other


def test_a_reply_with_too_few_answers_is_an_error(server):
    short = type("Short", (Mine,), {"parse_generations": staticmethod(lambda outputs, **_: [])})
    with pytest.raises(EngineError, match="reads 0 answers in the reply to 1 requests"):
        made(server, short, words=False).generate_until(asked("generate_until", ("a", {})))


def test_an_answer_that_is_none_is_a_failure_of_its_request(server):
    empty = type("Empty", (Mine,), {"parse_generations": staticmethod(lambda outputs, **_: [None])})
    engine = ForeignModel(lm=made(server, empty, words=False))
    ((_, response),) = engine.generate([Generate(Prompt("a"), Decoding())])
    assert response.failure is not None
    assert "gave None" in response.failure.message


def test_a_batch_size_is_a_number_or_auto_which_is_one_and_said(server, heard):
    assert made(server, batch_size="auto:4")._batch_size == 1
    assert "one by one" in heard.text
    with pytest.raises(UsageError, match="batch_size cannot be 'many'"):
        made(server, batch_size="many")
