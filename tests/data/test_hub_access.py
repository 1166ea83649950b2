"""The hub is asked only where it may be, and where it answers."""

import contextlib

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from proctor.data import hub_access
from proctor.data.found_files import file_named
from proctor.data.hub_loaders import LoadFromHFSpace, TURLColumnTypeAnnotationLoader
from proctor.errors import DataError, DatasetNotFoundError
from proctor.settings import settings


@pytest.fixture
def connections(monkeypatch):
    tried = []

    def refuse(*arguments, **options):
        tried.append(arguments)
        raise OSError("no network")

    monkeypatch.setattr(hub_access.socket, "create_connection", refuse)
    for name in ("HF_HUB_OFFLINE", *hub_access._PROXIES):
        monkeypatch.delenv(name, raising=False)
    hub_access._answers.cache_clear()
    yield tried
    hub_access._answers.cache_clear()


def test_a_hub_that_does_not_answer_is_tried_once(connections):
    assert hub_access.is_local_only("nobody/nothing")
    assert hub_access.is_local_only("nobody/anything")
    assert len(connections) == 1


def test_a_hub_that_answers_is_asked(connections, monkeypatch):
    def connected(address, timeout):
        connections.append((address, timeout))
        return contextlib.nullcontext()

    monkeypatch.setattr(hub_access.socket, "create_connection", connected)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "https://hub.example:81")
    assert not hub_access.is_local_only("nobody/nothing")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "https://hub.example")
    assert not hub_access.is_local_only("nobody/nothing")
    assert connections == [(("hub.example", 81), 5.0), (("hub.example", 443), 5.0)]


def test_nobody_connects_for_a_folder_or_offline(connections, tmp_path, monkeypatch):
    assert not hub_access.is_local_only(str(tmp_path))
    with settings.context(offline=True):
        assert hub_access.is_local_only("nobody/nothing")
    monkeypatch.setenv("HF_HUB_OFFLINE", "yes")
    assert hub_access.is_local_only("nobody/nothing")
    assert connections == []


def test_behind_a_proxy_the_hub_is_asked(connections, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert not hub_access.is_local_only("nobody/nothing")


@pytest.mark.parametrize(
    "read",
    [
        lambda: list(TURLColumnTypeAnnotationLoader()()["test"]),
        lambda: list(LoadFromHFSpace(space_name="owner/space", data_files="rows.jsonl")()["train"]),
        lambda: list(LoadFromHFSpace(space_name="owner/space", data_files="*.jsonl")()["train"]),
        lambda: file_named("hf://datasets/owner/name/rows.csv"),
    ],
)
def test_offline_the_hub_is_not_asked_for_a_file(read, monkeypatch):
    def asked(*_arguments, **options):
        assert options["local_files_only"], "the hub is asked, and half a minute passes before it is given up"
        raise LocalEntryNotFoundError("it is not on this machine")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", asked)
    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_files", lambda *_, **__: pytest.fail("the hub is asked"))
    with settings.context(offline=True), pytest.raises(DatasetNotFoundError):
        read()


def test_the_token_of_a_space_is_that_of_its_variable_or_as_it_is_given(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hf_mine")
    monkeypatch.delenv("NO_TOKEN", raising=False)

    def token(**given):
        return LoadFromHFSpace(space_name="owner/space", data_files="a.jsonl", **given)._token()

    assert (token(), token(use_token=True), token(use_token="hf_given")) == (None, True, "hf_given")
    assert token(use_token=True, token_env="MY_TOKEN") == "hf_mine"
    assert not token(token_env="NO_TOKEN")
    with pytest.raises(DataError, match="the environment variable NO_TOKEN is not set"):
        token(use_token=True, token_env="NO_TOKEN")
