"""A key goes to the hosts of its provider, and where the user said: nowhere else, whatever a file says."""

import base64
import json
import logging

import pytest
from tests_grants import granting

from proctor import effects
from proctor.artifacts import fetch_artifact
from proctor.artifacts.effects_of import effects_of
from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.effects import Author, written_by
from proctor.engines.engine_registry import make_engine
from proctor.engines.http.addresses import checked_address, is_loopback, split_login
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.transport import Reply
from proctor.engines.model_args import Origin
from proctor.errors import EngineError, NotAllowedError, ProctorError, UsageError, ValidationError
from proctor.ir import Generate, Prompt
from proctor.logs import get_logger
from proctor.secrets import redacted
from proctor.settings import settings
from proctor.testing import FaultServer

STRANGER = Author("/nowhere/card.json", "/nowhere")
KEY = "sk-the-users-own-key-0123456789"
KEYS = {
    "OPENAI_API_KEY": KEY,
    "ANTHROPIC_API_KEY": f"{KEY}-anthropic",
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": f"{KEY}-aws",
    "WATSONX_API_KEY": f"{KEY}-watsonx",
    "WATSONX_PROJECT_ID": "a-project-of-the-user",
    "AZURE_API_KEY": f"{KEY}-azure",
    "HF_TOKEN": f"{KEY}-hf",
    "OLLAMA_API_KEY": f"{KEY}-ollama",
    "GROQ_API_KEY": f"{KEY}-groq",
    "PROVIDER_API_KEY": f"{KEY}-custom",
    "VERTEX_ACCESS_TOKEN": f"{KEY}-vertex",
    "REPLICATE_API_TOKEN": f"{KEY}-replicate",
}
SAID = json.dumps({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}).encode()


class Recorder:
    def __init__(self, body=SAID, status=200):
        self.posts, self.reply = [], Reply(status, {}, body)

    async def post(self, url, body, headers, timeout_seconds):
        self.posts.append((url, body, dict(headers)))
        return self.reply

    async def close(self):
        pass


@pytest.fixture(autouse=True)
def _keys(monkeypatch, tmp_path):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_URL", "OPENAI_API_BASE", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def of_stranger(kind="open_ai_engine", **fields):
    with written_by(STRANGER):
        return fetch_artifact({"__type__": kind, "model": "m", "max_retries": 0, **fields})


def posted(engine, body=SAID, status=200):
    """Return the response to one question, and what was sent."""
    recorder = Recorder(body, status)
    engine._make_transport = lambda: recorder
    [(_, response)] = list(engine.generate([Generate(Prompt([{"role": "user", "content": "q"}]))]))
    return response, recorder.posts


def grants(engine):
    return [each.grant for each in engine.effects()]


def holds_a_key(posts):
    return any(KEY in repr(post) or "a-project-of" in repr(post) for post in posts)


# -- hosts of strangers -------------------------------------------------------------------------------------------

URLS = [
    "https://evil.example/v1",
    "http://evil.example/v1",
    "https://api.openai.com.evil.example/v1",
    "https://api.openai.com@evil.example/v1",
    "https://api.openai.com:pw@evil.example/v1",
    "https://api.openai.com:8443/v1",
    "https://evil.example:443/api.openai.com/v1",
    "https://API.OPENAI.COM.EVIL.EXAMPLE/v1",
    "http://127.0.0.1:8000/v1",
    "http://localhost:8000",
    "http://[::1]:8000/v1",
    "http://0.0.0.0:8000",
    "http://169.254.169.254/latest",
    "http://2130706433:8000",
    "127.0.0.1:8000",
    "evil.example",
    "user:password@evil.example",
    "https://evil.example./v1",
    "https://openai.com/v1",
    "https://x.openai.azure.com/v1",
    "https://\u0430pi.openai.com/v1",
    "https://xyz.endpoints.huggingface.cloud/v1",
]


@pytest.mark.parametrize("url", URLS)
def test_a_strangers_server_is_not_asked(url):
    engine = of_stranger(base_url=url)
    net, *_ = grants(engine)
    assert net.startswith("net:")
    recorder = Recorder()
    engine._make_transport = lambda: recorder
    with pytest.raises(NotAllowedError) as refused:
        list(engine.generate([Generate(Prompt("q"))]))
    assert f"--allow {net}" in str(refused.value)
    assert "password" not in str(refused.value)
    assert recorder.posts == []


@pytest.mark.parametrize("url", URLS)
def test_the_host_alone_gets_no_key(url, caplog, monkeypatch):
    monkeypatch.setattr(get_logger(), "propagate", True)
    engine = of_stranger(base_url=url)
    net, *keys = grants(engine)
    with granting(net), caplog.at_level(logging.WARNING):
        response, posts = posted(engine)
    assert response.text == "yes"
    assert not holds_a_key(posts)
    if keys:
        assert f"--allow {keys[0]}" in caplog.text


@pytest.mark.parametrize("url", [url for url in URLS if "@" not in url])
def test_the_host_gets_the_key_that_the_user_allows(url):
    engine = of_stranger(base_url=url)
    net, key = grants(engine)
    assert key.startswith("env:OPENAI_API_KEY@")
    with granting(net, key):
        _, [(_, _, headers)] = posted(engine)
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_effects_are_those_of_asking():
    engine = of_stranger(base_url="https://evil.example/v1")
    asked = effects.asking("https://evil.example/v1", "m", ["OPENAI_API_KEY"])
    assert grants(engine) == [each.grant for each in asked]


STRANGE = [
    {"kind": "open_ai_inference_engine", "base_url": "https://evil.example/v1"},
    {"kind": "open_ai_inference_engine", "credentials": {"api_url": "https://evil.example/v1"}},
    {"kind": "open_ai_inference_engine", "credentials": {"API_BASE": "https://evil.example/v1"}},
    {"kind": "open_ai_inference_engine", "provider_specific_args": {"open-ai": {"base_url": "https://evil.example"}}},
    {"kind": "cross_provider_inference_engine", "provider": "anthropic", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "aws", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "aws", "credentials": {"region": "x.evil.example/"}},
    {"kind": "cross_provider_inference_engine", "provider": "aws", "credentials": {"region": "x.s3"}},
    {"kind": "cross_provider_inference_engine", "provider": "watsonx", "credentials": {"url": "https://evil.example"}},
    {"kind": "cross_provider_inference_engine", "provider": "azure", "credentials": {"host": "https://evil.example"}},
    {"kind": "cross_provider_inference_engine", "provider": "azure", "credentials": {"api_base": "https://a.openai.azure.com"}},
    {"kind": "cross_provider_inference_engine", "provider": "hf-inference", "base_url": "https://x.hf.space"},
    {"kind": "cross_provider_inference_engine", "provider": "groq", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "replicate", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "custom", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "vllm-server", "base_url": "https://evil.example"},
    {"kind": "cross_provider_inference_engine", "provider": "open-ai", "base_url": "http://api.openai.com/v1"},
    {"kind": "cross_provider_inference_engine", "provider": "vertex-ai",
     "credentials": {"region": "evil.example/x", "project": "p"}},
    {"kind": "lite_llm_inference_engine", "model": "openai/gpt-4o", "base_url": "https://evil.example"},
    {"kind": "together_ai_inference_engine", "base_url": "https://evil.example"},
    {"kind": "azure_open_ai_inference_engine", "credentials": {"azure_openai_host": "https://evil.example"}},
    {"kind": "wml_inference_engine_chat", "credentials": {"url": "https://evil.example"}},
    {"kind": "vllm_remote_inference_engine"},
    {"kind": "ollama_inference_engine"},
    {"kind": "ollama_inference_engine", "credentials": {"api_base": "evil.example"}},
    {"kind": "generic_inference_engine", "default": '{"__type__":"open_ai_engine","model":"m","base_url":"https://evil.example"}'},
]  # fmt: skip


@pytest.mark.parametrize("fields", STRANGE, ids=lambda fields: f"{fields['kind']} {[*fields.values()][-1]}")
def test_no_provider_leads_a_key_astray(fields, monkeypatch):
    made = {key: value for key, value in fields.items() if key != "kind"}
    if fields["kind"] == "generic_inference_engine":
        with written_by(STRANGER):
            engine = fetch_artifact({"__type__": fields["kind"], **made})
    else:
        engine = of_stranger(fields["kind"], **made)
    recorder = Recorder()
    monkeypatch.setattr("proctor.engines.http.http_engine.AiohttpTransport", lambda *_: recorder)
    wanted = effects.missing(effects_of(engine))
    assert wanted
    with pytest.raises(NotAllowedError):
        list(engine.generate([Generate(Prompt("q"))]))
    with granting(*(each.grant for each in wanted if each.kind == "net")), pytest.MonkeyPatch().context():
        try:
            list(engine.generate([Generate(Prompt("q"))]))
        except (NotAllowedError, EngineError):
            assert recorder.posts == []
    assert not holds_a_key(recorder.posts)


@pytest.mark.parametrize(
    "header", ["Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "a b", "x\n", "", "X: y", "\u00e9"]
)
def test_a_file_says_no_header_that_leads_elsewhere(header):
    with pytest.raises(ProctorError):
        of_stranger(extra_headers={header: "evil.example"})


@pytest.mark.parametrize("value", ["a\r\nHost: evil.example", "a\nb", "\x00"])
def test_no_header_holds_another(value):
    with pytest.raises(ProctorError):
        of_stranger(extra_headers={"X-A": value})
    with pytest.raises(ValidationError):
        OpenAIEngine(model="m", extra_headers={"X-A": value})


# -- what is the user's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["open-ai", "anthropic", "aws", "watsonx", "groq", "hf-inference", "replicate"])
def test_a_provider_gets_its_own_key_and_nobody_is_asked(provider):
    engine = of_stranger("cross_provider_inference_engine", provider=provider)
    wanted = effects_of(engine)
    assert {each.kind for each in wanted} == {"net", "env"}
    assert effects.missing(wanted) == []


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "https://API.openai.com./v1/", "https://api.openai.com:443"]
)
def test_the_same_by_its_address(url):
    engine = of_stranger(base_url=url)
    assert effects.missing(engine.effects()) == []
    _, [(_, _, headers)] = posted(engine)
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_what_a_program_builds_is_asked_with_its_key():
    engine = OpenAIEngine(model="m", base_url="https://any.example/v1")
    assert list(engine.effects()) == []
    _, [(_, _, headers)] = posted(engine)
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_the_address_in_the_users_variable_is_the_users(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu:8000/v1")
    engine = of_stranger()
    assert effects.missing(engine.effects()) == []
    _, [(url, _, headers)] = posted(engine)
    assert url.startswith("http://gpu:8000/v1/")
    assert headers["Authorization"] == f"Bearer {KEY}"


def catalog(tmp_path, monkeypatch, **fields):
    folder = tmp_path / "catalog" / "engines"
    folder.mkdir(parents=True)
    data = {"__type__": "open_ai_engine", "model": "m", "max_retries": 0, **fields}
    (folder / "mine.json").write_text(json.dumps(data))
    monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "catalog"))


def test_an_engine_of_a_catalog_is_its_files(tmp_path, monkeypatch):
    catalog(tmp_path, monkeypatch, base_url="https://evil.example/v1")
    engine = make_engine("engines.mine", {"temperature": 0})
    assert grants(engine) == ["net:evil.example", "env:OPENAI_API_KEY@evil.example"]
    with pytest.raises(NotAllowedError):
        posted(engine)


def test_but_for_the_address_that_the_user_types(tmp_path, monkeypatch):
    catalog(tmp_path, monkeypatch, base_url="https://evil.example/v1")
    engine = make_engine("engines.mine", {"base-url": "https://mine.example/v1"})
    assert grants(engine) == []
    _, [(url, _, headers)] = posted(engine)
    assert url == "https://mine.example/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_a_changed_engine_keeps_its_author_and_its_key():
    mine = make_engine(OpenAIEngine(model="m", base_url="http://u:password@h/v1", api_key="k"), {"temperature": 0.5})
    assert mine.author is None
    assert mine.api_key.get_secret_value() == "k"
    assert mine._login.password == "password"
    theirs = make_engine(of_stranger(base_url="https://evil.example"), {"temperature": 0.5})
    assert theirs.author == STRANGER
    assert grants(theirs)[0] == "net:evil.example"


def test_what_stands_in_for_an_engine_is_the_users():
    with settings.context(engine_map="*=scripted[answer=yes]"), written_by(STRANGER):
        engine = fetch_artifact({"__type__": "open_ai_engine", "model": "m", "base_url": "https://evil.example"})
        assert list(engine.effects()) == []
        assert engine.answering().author is None
        assert [*engine.answering().generate([Generate(Prompt("q"))])][0][1].text == "yes"


@pytest.mark.parametrize(
    "url, is_free",
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("http://127.8.9.1", True),
        ("http://localhost.evil.example", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://10.0.0.1:8000", False),
        ("https://evil.example", False),
    ],
)
def test_a_model_of_a_config_may_be_on_this_machine_without_a_key(url, is_free):
    engine = make_engine("openai", {"model": "m", "base_url": url}, Origin(STRANGER, is_config=True))
    if is_free:
        _, posts = posted(engine)
        assert len(posts) == 1
        assert not holds_a_key(posts)
    else:
        with pytest.raises(NotAllowedError):
            posted(engine)


# -- commands -----------------------------------------------------------------------------------------------------


def run(*arguments):
    return main(["run", "--limit", "2", *arguments])


def test_a_run_file_of_a_stranger_asks_nobody(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with FaultServer(answer=lambda _: "A") as server:
        text = (
            f"model: openai\nmodel_args: {{model: m, base_url: '{server.url}'}}\ntasks: [samples.science]\nlimit: 2\n"
        )
        (tmp_path / "stranger.yaml").write_text(text)
        assert main(["run", "stranger.yaml"]) == 2
        said = capsys.readouterr().err
        assert f"--allow net:127.0.0.1:{server.port}" in said
        assert f"env:OPENAI_API_KEY@127.0.0.1:{server.port}" in said
        assert server.statistics()["requests"] == 0


def test_a_run_of_the_users_own_is_repeated_without_a_question(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with FaultServer(answer=lambda _: "A", api_key=KEY) as server:
        args = f"model=m,base_url={server.url}"
        assert run("--model", "openai", "--model-args", args, "--tasks", "samples.science", "-o", "one") == 0
        text = (tmp_path / "one" / "run.yaml").read_text()
        assert KEY not in text
        assert main(["run", "one/run.yaml", "-o", "two", "--log", "other.db"]) == 0
        copied = text.replace(str(server.port), "1")
        (tmp_path / "copied.yaml").write_text(copied)
        assert main(["run", "copied.yaml"]) == 2
    assert "--allow net:127.0.0.1:1" in capsys.readouterr().err


def test_a_password_in_an_address_is_sent_and_nowhere_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wanted = base64.b64encode(b"somebody:pass-word-1").decode()
    with FaultServer(answer=lambda _: "A") as server:
        seen = []
        plan = server.behaviour.plan
        server.behaviour.plan = lambda path, authorization, content: (seen.append(authorization), plan(path, authorization, content))[1]  # fmt: skip
        url = server.url.replace("http://", "http://somebody:pass-word-1@")
        args = f"model=m,base_url={url}"
        code = run(
            "--model", "openai", "--model-args", args, "--tasks", "samples.science", "-o", "one", "--log", "l.db"
        )
        assert code == 0
    assert seen[0] == f"Basic {wanted}"
    out, err = capsys.readouterr()
    whole = out + err
    for path in tmp_path.rglob("*"):
        whole += path.read_bytes().decode("latin-1") if path.is_file() else ""
    assert "pass-word-1" not in whole
    assert wanted not in whole


def test_equal_engines_have_equal_identities_with_and_without_a_password():
    one = OpenAIEngine(model="m", base_url="http://a:secret-1@h/v1")
    two = OpenAIEngine(model="m", base_url="http://h/v1")
    assert one.identity == two.identity
    assert one == two
    assert "secret-1" not in repr(one) + one.to_json()
    for base in ("http://a:secret-1@h/v1", "http://h/v1"):
        ProviderEngine(model="m", provider="vllm-server", base_url=base)
    ones = [ProviderEngine(model="m", provider="vllm-server", base_url=b) for b in ("http://a:b@h/v1", "http://h/v1")]
    assert ones[0].identity == ones[1].identity


@pytest.mark.parametrize(
    "echo",
    [
        lambda key: key,
        lambda key: f"Bearer {key}",
        lambda key: json.dumps(json.dumps({"Authorization": f"Bearer {key}"})),
        lambda key: base64.b64encode(key.encode()).decode(),
        lambda key: f"Incorrect API key provided: {key[:20]}***",
        lambda key: "x" * 990 + key,
        lambda key: "\\u0073" + key[1:],
    ],
)
@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
def test_a_server_that_echoes_the_key_does_not_get_it_into_an_answer(echo, status):
    said = echo(KEY)
    bodies = [
        json.dumps({"error": {"message": said, "code": said, "type": said}}),
        json.dumps({"choices": [{"message": {"content": said}, "finish_reason": KEY}]}),
        json.dumps({"detail": [{"headers": {"authorization": said}}]}),
        f"<html>{said}</html>",
        said,
        json.dumps({"choices": [{"message": {"content": 1, said: said}}]}),
    ]
    for body in bodies:
        response, _ = posted(OpenAIEngine(model="m", max_retries=0), body.encode(), status)
        shown = repr(response)
        assert not any(KEY[start : start + 12] in shown for start in range(len(KEY) - 11)) or response.failure is None
        assert KEY not in shown
        assert base64.b64encode(KEY.encode()).decode() not in shown


def test_tokens_that_spell_the_key_together_say_nothing():
    tokens = [{"token": KEY[start : start + 3], "logprob": -1} for start in range(0, len(KEY), 3)]
    choice = {"message": {"content": KEY}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    response, _ = posted(OpenAIEngine(model="m"), json.dumps({"choices": [choice]}).encode())
    assert response.text == "[secret]"
    assert KEY not in "".join(token.token for token in response.tokens[0])


@pytest.mark.parametrize("status", [401, 500])
def test_an_echo_reaches_neither_log_nor_samples_nor_terminal(tmp_path, monkeypatch, capsys, status):
    monkeypatch.chdir(tmp_path)
    body = json.dumps({"error": {"message": f"Bearer {KEY} is wrong"}}).encode()
    recorder = Recorder(body, status)
    monkeypatch.setattr("proctor.engines.http.http_engine.AiohttpTransport", lambda *_: recorder)
    code = run("--model", "openai", "--model-args", "model=m,max_retries=0", "--tasks", "samples.science", "-o", "one",
               "--log", "l.db")  # fmt: skip
    assert code == 1
    assert KEY in repr(recorder.posts)
    out, err = capsys.readouterr()
    whole = out + err
    for path in tmp_path.rglob("*"):
        whole += path.read_bytes().decode("latin-1") if path.is_file() else ""
    assert "[secret]" in whole
    assert KEY not in whole


def test_errors_of_the_aws_file_do_not_quote_it(tmp_path, monkeypatch):
    (tmp_path / "credentials").write_text("aws_secret_access_key = SECRET/OF/THE/FILE\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(EngineError) as error:
        posted(ProviderEngine(model="m", provider="aws"))
    assert "SECRET/OF" not in str(error.value)


# -- judges -------------------------------------------------------------------------------------------------------

JUDGE = {
    "__type__": "llm_judge_direct",
    "criteria": {"__type__": "criteria_with_options", "name": "c", "description": "d",
                 "options": [{"name": "Yes", "description": "y"}, {"name": "No", "description": "n"}],
                 "option_map": {"Yes": 1.0, "No": 0.0}},
    "context_fields": ["question"],
}  # fmt: skip


def recipe_of(tmp_path, url):
    engine = {"__type__": "open_ai_engine", "model": "judge", "base_url": url, "max_retries": 0}
    task = {"__type__": "task", "input_fields": {"question": "str"}, "reference_fields": {}, "prediction_type": "str",
            "metrics": [{**JUDGE, "inference_engine": engine}]}  # fmt: skip
    rows = {"test": [{"question": "How late is it?"}]}
    card = {"__type__": "task_card", "loader": {"__type__": "load_from_dictionary", "data": rows}, "task": task}
    template = {"__type__": "input_output_template", "input_format": "{question}", "output_format": ""}
    path = tmp_path / "exam.json"
    path.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template": template}))
    return str(path)


def test_a_recipes_judge_is_seen_refused_and_allowed(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(get_logger(), "propagate", True)
    with FaultServer(answer=lambda _: "Yes") as server:
        seen = []
        plan = server.behaviour.plan
        server.behaviour.plan = lambda path, authorization, content: (seen.append(authorization), plan(path, authorization, content))[1]  # fmt: skip
        recipe = recipe_of(tmp_path, server.url)
        asked = ("--model", "scripted", "--model-args", "answer=six", "--tasks", recipe)
        assert main(["run", *asked]) == 2
        assert f"asks 127.0.0.1:{server.port}" in capsys.readouterr().err
        assert seen == []
        assert main(["run", *asked, "--allow", f"net:127.0.0.1:{server.port}", "-o", "one"]) == 0
        assert seen
        assert not any(KEY in each for each in seen)
        assert f"--allow env:OPENAI_API_KEY@127.0.0.1:{server.port} sends it" in caplog.text
        seen.clear()
        assert main(["run", *asked, "-o", "two", "--log", "other.db"]) == 0
        assert seen


# -- addresses ----------------------------------------------------------------------------------------------------

NO_ADDRESSES = [
    "http://", "https:///v1", "http://[::1", "http://[::1]x:1", "http://host:x", "http://host:99999", "http://host:-1",
    "http://host:0", "http://ho st/v1", "http://host/a b", "ftp://host", "file:///etc/passwd", "unix:///run/x",
    "http://host\n/v1", "http://host\\@evil.example", "http://host?x=1", "http://host/v1#x", "http://host/v1?a",
    "http://..", "http://a..b", "http://%65vil", "http://host\x00", "http://" + "a" * 300, "http://" + "a." * 500,
    "http://ho<st", "http://{host}", "http://host^", "http://\u2028", "javascript://x", "http://[1.2.3.4]", "://host",
    "http://:80", "http://user:pw@", "http://" + "x" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_address_is_one_message_when_the_engine_is_made(url):
    with pytest.raises(UsageError, match="is not the address of a server"):
        OpenAIEngine(model="m", base_url=url)
    with pytest.raises(UsageError):
        make_engine("openai", {"model": "m", "base_url": url})
    with pytest.raises(ProctorError):
        of_stranger(base_url=url)


def test_a_variable_that_holds_no_address_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL is not"):
        OpenAIEngine(model="m")


@pytest.mark.parametrize(
    "url",
    ["http://host", "https://host:8000/v1", "http://[::1]:8000/v1", "http://127.0.0.1", "http://ex\u00e4mple.org/v1",
     "http://under_score:80", "http://host./v1", "https://h/a%20b/v1", "http://a.b-c.d/~x/v1"],
)  # fmt: skip
def test_addresses_are_taken(url):
    assert checked_address(url) == url


@pytest.mark.parametrize(
    "address, clean, login",
    [
        ("http://u:p@h/v1", "http://h/v1", ("u", "p")),
        ("http://u@h", "http://h", ("u", "")),
        ("http://u:p%40x@h:1", "http://h:1", ("u", "p@x")),
        ("http://a@b@h/x@y", "http://h/x@y", ("a@b", "")),
        ("u:p@h:1/v1", "h:1/v1", ("u", "p")),
        ("http://h/x@y", "http://h/x@y", None),
    ],
)
def test_names_and_passwords_are_taken_out_of_addresses(address, clean, login):
    assert split_login(address) == (clean, login)


def test_a_password_of_an_address_is_kept_in_every_spelling():
    split_login("http://somebody:fine%40password@h/v1")
    pair = base64.b64encode(b"somebody:fine@password").decode()
    for spelling in ("fine@password", "fine%40password", pair):
        assert spelling not in redacted(f"<{spelling}>")


@pytest.mark.parametrize("host", ["localhost", "localhost.", "127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0"])
def test_loopback_is_what_is_written_so(host):
    assert is_loopback(f"http://{host}:1")


@pytest.mark.parametrize("host", ["localtest.me", "1.2.3.4", "127.0.0.1.com", "[2001::1]"])
def test_what_only_leads_to_this_machine_is_not_loopback(host):
    assert not is_loopback(f"http://{host}")


def test_a_program_may_ask_anybody():
    engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1")
    engine._make_transport = Recorder
    assert engine([{"source": "q"}]) == ["yes"]


CONFIG = """
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.datasets import generic_llmjudge_postprocess, CustomDataset
from opencompass.models import OpenAISDK

judge = dict(type=OpenAISDK, path="judge", {address} key="ENV", abbr="judge")
datasets = [dict(
    type=CustomDataset, abbr="mine", path="rows.jsonl",
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template="{{question}}"),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(
        type=GenericLLMEvaluator,
        prompt_template=dict(type=PromptTemplate, template="{{question}} {{prediction}}"),
        dict_postprocessor=dict(type=generic_llmjudge_postprocess), judge_cfg=judge)),
)]
"""


@pytest.mark.parametrize(
    "address, wanted",
    [
        ('openai_api_base="https://evil.example/v1",', ["net:evil.example", "env:OPENAI_API_KEY@evil.example"]),
        ('openai_api_base="http://127.0.0.1:8000/v1",', ["env:OPENAI_API_KEY@127.0.0.1:8000"]),
        ("", ["net:api.openai.com", "env:OPENAI_API_KEY@api.openai.com"]),
    ],
)
def test_the_judge_of_a_config_is_seen(tmp_path, address, wanted):
    (tmp_path / "rows.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "exam.py").write_text(CONFIG.format(address=address))
    [exam] = resolve_tasks([str(tmp_path / "exam.py")])
    asked = [each for each in exam.effects() if each.kind in ("net", "env")]
    assert [each.grant for each in asked] == wanted
    assert bool(effects.refusals(asked, exam.author)) == ("evil" in address)


def test_the_judge_of_a_task_file_is_seen(tmp_path):
    engine = {"__type__": "open_ai_engine", "model": "judge", "base_url": "https://evil.example/v1"}
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "mine.json").write_text(json.dumps({**JUDGE, "inference_engine": engine}))
    (tmp_path / "rows.json").write_text('[{"question": "q", "answer": "a"}]')
    (tmp_path / "exam.yaml").write_text(
        "task: exam\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.json}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n"
        "metric_list: [{metric: metrics.mine}]\n"
    )
    with settings.context(catalogs=str(tmp_path)):
        [exam] = resolve_tasks([str(tmp_path / "exam.yaml")])
        asked = [each.grant for each in exam.effects() if each.kind in ("net", "env")]
    assert asked == ["net:evil.example", "env:OPENAI_API_KEY@evil.example"]


@pytest.mark.parametrize(
    "args, refused",
    [('openai_api_base="https://evil.example/v1",', True), ('openai_api_base="{url}",', False)],
)
def test_a_model_of_a_config_asks_nobody_elsewhere(tmp_path, monkeypatch, capsys, args, refused):
    monkeypatch.chdir(tmp_path)
    with FaultServer(answer=lambda _: "A") as server:
        seen = []
        plan = server.behaviour.plan
        server.behaviour.plan = lambda path, authorization, content: (seen.append(authorization), plan(path, authorization, content))[1]  # fmt: skip
        args = args.format(url=server.url)
        text = f'from opencompass.models import OpenAISDK\nmodels = [dict(type=OpenAISDK, path="m", abbr="m", {args} key="ENV")]\n'  # fmt: skip
        (tmp_path / "models.py").write_text(text)
        code = run("--model", "models.py::m", "--tasks", "samples.science", "-o", "one")
        assert code == (2 if refused else 0)
        assert bool(seen) != refused
        assert not any(KEY in each for each in seen)
        if not refused:
            assert main(["run", "one", "--log", "other.db", "-o", "two"]) == 0
