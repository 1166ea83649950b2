"""Classes that derive from lm-eval's servers of OpenAI's kind. What they post and read was compared with lm-eval 0.4.13's."""

import json
import threading
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proctor.compat.lm_eval_names.models import get_model
from proctor.compat.lm_eval_names.openai_models import LocalChatCompletion, LocalCompletionsAPI, OpenAIChatCompletion
from proctor.engines import OpenAIEngine
from proctor.errors import UsageError
from proctor.guests.lm_eval.instance import Instance

CHAT = [{"role": "user", "content": "hi"}]
HOW = {"until": ["\n", "X"], "max_gen_toks": 7, "do_sample": False, "temperature": 0.0}
MANY = {"until": ["a", "b", "c", "d", "e"], "max_tokens": 3, "temperature": 0.5, "top_p": 0.9}


@pytest.fixture
def server():
    """A server that keeps what is posted with its key, and answers as OpenAI's does, the last choice first."""
    posted = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            posted.append((self.headers["Authorization"], body))
            content = json.dumps({"choices": choices(body)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}/v1/", posted
    listening.shutdown()
    listening.server_close()


def choices(body):
    if "messages" in body:
        return [{"index": 0, "message": {"content": "so</think>  it is"}}]
    found = []
    for index, tokens in enumerate(body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]):
        likely = [None, *(-float(place) for place in range(1, len(tokens) + 1))]
        best = [None, *({"a": max(each, -3.0)} for each in likely[1:])]
        found.append(
            {"index": index, "text": f"text {index}", "logprobs": {"token_logprobs": likely, "top_logprobs": best}}
        )
    return found[::-1]


class Keyed:
    @cached_property
    def api_key(self):
        return "sk-of-this-test-alone"


class Chat(Keyed, LocalChatCompletion):
    pass


class Completions(Keyed, LocalCompletionsAPI):
    pass


def chat(server, kind=Chat, **more):
    return kind(model="m", base_url=f"{server[0]}chat/completions", **more)


def completions(server, kind=Completions, **more):
    return kind(model="m", base_url=f"{server[0]}completions", tokenizer_backend=None, **more)


def written(lm, how, prompt=None):
    prompt = lm.apply_chat_template(CHAT) if prompt is None else prompt
    return lm.generate_until([Instance("generate_until", {}, (prompt, dict(how)), 0)])


def test_a_chat_is_posted_with_the_class_s_key_and_read_as_it_is(server):
    assert written(chat(server), HOW) == ["so</think>  it is"]
    assert written(chat(server, think_end_token="</think>"), MANY) == ["it is"]
    said = {"messages": CHAT, "model": "m", "seed": 1234}
    assert server[1] == [
        ("Bearer sk-of-this-test-alone", {**said, "max_tokens": 7, "temperature": 0.0, "stop": ["\n", "X"]}),
        (
            "Bearer sk-of-this-test-alone",
            {**said, "max_tokens": 3, "temperature": 0.5, "stop": ["a", "b", "c", "d"], "top_p": 0.9},
        ),
    ]


def test_openai_s_own_chat_has_other_names_and_reasoning_models_no_stops(server):
    kind = type("Own", (Keyed, OpenAIChatCompletion), {})
    written(chat(server, kind), HOW)
    written(kind(model="o1-mini", base_url=f"{server[0]}chat/completions"), MANY)
    plain, reasons = (body for _, body in server[1])
    assert (plain["stop"], plain["max_completion_tokens"]) == (["\n", "X"], 7)
    assert (reasons["temperature"], "stop" in reasons, "max_tokens" in reasons) == (1, False, False)


def test_completions_and_likelihoods_are_those_of_lm_eval(server):
    lm = completions(server)
    assert written(lm, MANY, "a b") == ["text 0"]
    assert server[1][0][1] == {
        "prompt": "a b", "model": "m", "max_tokens": 3, "temperature": 0.5, "seed": 1234, "stop": MANY["until"],
        "top_p": 0.9,
    }  # fmt: skip
    lm.tokenized_requests = True
    lm._batch_size, lm._eos_string = 2, "end"
    found = lm._loglikelihood_tokens([(("", ""), [1, 2], [3, 4]), (("", ""), [1], [2, 3])])
    assert server[1][1][1] == {
        "prompt": [[1, 2, 3, 4], [1, 2, 3]], "model": "m", "max_tokens": 1, "temperature": 0, "seed": 1234, "echo": True,
        "logprobs": 1,
    }  # fmt: skip
    assert found == [(-5.0, True), (-3.0, True)]
    assert lm._loglikelihood_tokens([(("", ""), [1, 2], [3, 4, 5])]) == [(-9.0, False)]


@pytest.mark.parametrize(
    "step", ["_create_payload", "parse_generations", "header", "model_call", "create_message", "eos_string"]
)
def test_each_step_that_a_class_overrides_is_taken(server, step):
    taken = []

    def noted(self, *given, **more):
        taken.append(step)
        base = getattr(LocalChatCompletion, step)
        return base.func(self) if isinstance(base, cached_property) else base(self, *given, **more)

    made = cached_property(noted) if isinstance(getattr(LocalChatCompletion, step), cached_property) else noted
    kind = type("Stepping", (LocalChatCompletion,), {step: made, "__module__": "a_program"})
    if isinstance(made, cached_property):
        made.__set_name__(kind, step)
    assert written(chat(server, kind), HOW) == ["so</think>  it is"]
    assert set(taken) == {step}


def test_what_changes_no_step_is_answered_by_the_engine(server):
    class Named(LocalChatCompletion):
        def __init__(self, **more):
            super().__init__(model="other", base_url=f"{server[0]}chat/completions", **more)

    assert isinstance(Named(num_concurrent=3).plain_engine, OpenAIEngine)
    assert Named(num_concurrent=3).plain_engine.max_concurrency == 3
    changed = Named()
    changed.model = "mine"
    assert changed.plain_engine is None
    written(changed, HOW)
    assert server[1][0][1]["model"] == "mine"


@pytest.mark.parametrize("kind", [LocalChatCompletion, Chat])
def test_a_chat_that_a_model_lays_out_is_asked_as_its_messages(server, kind):
    model = chat(server, kind)
    laid_out = model.apply_chat_template([{"role": "system", "content": "Be brief"}, *CHAT])
    model.generate_until([Instance("generate_until", {}, (laid_out, dict(HOW)), 0)])
    assert server[1][0][1]["messages"] == [{"role": "system", "content": "Be brief"}, *CHAT]


def test_a_step_is_called_as_programs_call_it_by_position(server):
    class Mine(LocalChatCompletion):
        def _create_payload(self, messages, generate=False, gen_kwargs=None, seed=1, eos=None, **kwargs):
            return {**super()._create_payload(messages, generate, gen_kwargs, seed, eos, **kwargs), "mine": True}

    written(chat(server, Mine), HOW)
    assert (server[1][0][1]["mine"], server[1][0][1]["seed"], server[1][0][1]["stop"]) == (True, 1234, ["\n", "X"])


def test_names_of_models_are_the_classes():
    assert get_model("local-chat-completions") is LocalChatCompletion
    assert issubclass(get_model("openai-chat-completions"), get_model("local-completions"))


def test_a_key_of_openai_s_goes_to_openai_or_where_the_user_said(server, monkeypatch, heard):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    kind = type("Plain", (LocalChatCompletion,), {"create_message": LocalChatCompletion.create_message})
    written(chat(server, kind), HOW)
    assert "OPENAI_API_KEY is not sent to" in heard.text
    written(chat(server, kind, auth_token="mine"), HOW)
    monkeypatch.setenv("OPENAI_BASE_URL", server[0])
    written(chat(server, kind), HOW)
    assert [key for key, _ in server[1]] == ["Bearer ", "Bearer mine", "Bearer sk-of-openai-alone"]


def test_a_chat_has_no_likelihoods_and_takes_no_texts(server):
    with pytest.raises(UsageError, match="no likelihoods"):
        chat(server).loglikelihood([Instance("loglikelihood", {}, ("a", " b"), 0)])
    with pytest.raises(UsageError, match="apply_chat_template"):
        written(chat(server), HOW, "a text")
