"""A secret that this process uses is nowhere in what it writes, however a server spells it."""

import base64
import json
import logging
import re
from urllib.parse import quote, quote_plus

import pytest

from proctor import secrets
from proctor.errors import EngineError
from proctor.logs import get_logger
from proctor.running.spec import RunSpec
from proctor.secrets import (
    cleaned,
    is_secret,
    keep,
    keep_environment,
    redacted,
    variable,
    without_logins,
    without_secrets,
)

KEY = "sk-proj-4f/9+a=Zq\"x'\\Lm20ü-7yT"


SPELLINGS = {
    "as it is": KEY,
    "as Bearer": f"Bearer {KEY}",
    "in JSON": json.dumps({"authorization": KEY}),
    "in JSON with letters": json.dumps({"authorization": KEY}, ensure_ascii=False),
    "in JSON with slashes": json.dumps(KEY).replace("/", "\\/"),
    "in an address": f"https://x/?key={quote(KEY, safe='')}",
    "in an address, small": re.sub("%..", lambda each: each[0].lower(), f"https://x/?key={quote(KEY, safe='')}"),
    "in a form": f"key={quote_plus(KEY)}",
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64 for addresses": base64.urlsafe_b64encode(KEY.encode()).decode(),
    "twice": f"{KEY}{KEY}",
    "cut off": f"Incorrect API key provided: {KEY[:20]}...",
    "without its beginning": f"...{KEY[8:]}",
    "in the middle": f"****{KEY[5:19]}****",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_message_holds_no_secret(spelling):
    keep(KEY)
    said = redacted(f"the server says: {SPELLINGS[spelling]}")
    assert secrets.HIDDEN in said
    assert not any(KEY[start : start + 12] in said for start in range(len(KEY) - 11))
    assert said.startswith("the server says: ")


@pytest.mark.parametrize("spelling", [name for name in SPELLINGS if name not in ("cut off", "without its beginning", "in the middle")])  # fmt: skip
def test_an_answer_holds_no_whole_secret(spelling):
    keep(KEY)
    assert secrets.HIDDEN in cleaned(SPELLINGS[spelling])


@pytest.mark.parametrize("text", ["", "An honest answer.", "sk-proj-", "Bearer", "EMPTY", "a key is 32 characters"])
def test_what_holds_no_secret_stays_the_same_text(text):
    keep(KEY)
    assert cleaned(text) is text
    assert redacted(text) == text


@pytest.mark.parametrize(
    "value", [None, "", "k", "EMPTY", "1234567", "not-needed", "token-abc123", "sk-no-key-required"]
)
def test_words_are_no_secrets(value):
    keep(value)
    assert cleaned(f"the answer is {value}") == f"the answer is {value}"


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("http://user:password@host/v1", "http://host/v1"),
        ("see https://u:p%40@h:8000/x and ftp://a@b", "see https://h:8000/x and ftp://b"),
        ("http://host/path@x", "http://host/path@x"),
        ("mail me@example.org", "mail me@example.org"),
        ("http://:pw@host", "http://host"),
        ("http://a:b@c@host/", "http://host/"),
        ("postgresql://u:p@db/x", "postgresql://db/x"),
    ],
)
def test_addresses_lose_names_and_passwords(text, wanted):
    assert without_logins(text) == wanted
    assert redacted(text) == wanted


@pytest.mark.parametrize(
    "name",
    "api_key apikey OPENAI_API_KEY token HF_TOKEN Authorization X-Api-Key Cookie Set-Cookie password DB_PASSWORD secret "
    "AWS_SECRET_ACCESS_KEY credentials Ocp-Apim-Subscription-Key X-Auth auth_token access_token id_token".split(),
)
def test_names_of_secrets(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    "max_tokens tokenizer monkey keyboard tokens author stop_token_ids key_words add_bos_token think_end_token eos_token "
    "ice_eos_token image_token sep_token start_of_turn_token".split(),
)
def test_names_of_other_things(name):
    assert not is_secret(name)


def test_a_switch_is_no_secret():
    assert without_secrets({"use_token": True, "token": "abc", "inner": {"api_key": False}}) == {
        "use_token": True, "inner": {"api_key": False},
    }  # fmt: skip


def test_errors_logs_and_run_files_hold_no_secret(caplog):
    keep(KEY)
    error = EngineError(f"it says {KEY}", why=f"because of {KEY}", hint="http://u:pw@host/")
    assert KEY not in str(error)
    assert "pw" not in str(error)
    assert KEY not in error.diagnostics[0].why
    formatter = get_logger().handlers[0].formatter
    record = logging.LogRecord("proctor", logging.WARNING, "", 0, "the key %s", (KEY,), None)
    assert formatter.format(record) == "the key [secret]"
    args = {
        "api_key": KEY,
        "base_url": "http://user:password@host/v1",
        "extra_headers": {"X-Api-Key": "x", "X-Other": KEY, "X-Trace": "1"},
        "provider_specific_args": {"open-ai": {"api_key": KEY, "temperature": 0}},
        "hosts": ["http://u:p@a", "b"],
    }
    text = RunSpec(model="openai", tasks=("x",), model_args=args).to_yaml()
    assert KEY not in text
    assert "password" not in text
    assert "u:p" not in text
    spec = RunSpec.from_yaml(text)
    assert spec.model_args["base_url"] == "http://host/v1"
    assert spec.model_args["extra_headers"] == {"X-Other": secrets.HIDDEN, "X-Trace": "1"}


def test_variables_that_are_read_are_kept(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "value-of-some-key-1")
    monkeypatch.setenv("OTHER_TOKEN", "value-of-other-token-2")
    monkeypatch.setenv("SOME_WORDS", "value-of-some-words-3")
    assert variable("SOME_API_KEY") == "value-of-some-key-1"
    assert cleaned("value-of-some-key-1") == secrets.HIDDEN
    assert cleaned("value-of-other-token-2") == "value-of-other-token-2"
    keep_environment()
    assert cleaned("value-of-other-token-2") == secrets.HIDDEN
    assert cleaned("value-of-some-words-3") == "value-of-some-words-3"
